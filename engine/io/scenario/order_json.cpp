#include "engine/io/scenario/order_json.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "engine/io/json/field_json.h"
#include "engine/io/scenario/scenario_walk.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::io {

using engine::say;

namespace {

InputError error_of(const engine::OrderFault& fault, std::string file, std::string where) {
  return {std::move(file), std::move(where), engine::in_words(fault), say("error.order.row.remedy")};
}

}  // namespace

Failure read_order(const Json& json, const Json& pipeline, std::string where, std::string_view file,
                   engine::Scenario& scenario) {
  const auto fail = [&](std::string at, engine::Sentence message) {
    return InputError{std::string(file), std::move(at), std::move(message), say("error.order.remedy")};
  };
  if (!json.is_array()) return fail(std::move(where), say("error.not_list", shown(json)));
  std::string csv;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (!json[i].is_string()) return fail(where + "." + std::to_string(i), say("error.not_text", shown(json[i])));
    csv += json[i].get<std::string>() + '\n';
  }
  std::optional<engine::ScheduleKind> wanted = scenario.pipeline.schedule;
  if (const auto schedule = pipeline.find("schedule"); schedule != pipeline.end() && schedule->is_string())
    wanted = engine::parse_schedule(schedule->get<std::string>());
  const auto stated = pipeline.find(kOrderScheduleMember);
  if (stated != pipeline.end()) {
    engine::Scenario only_schedule;
    if (auto failure = read_field(*engine::find_field("pipeline.schedule"), *stated, std::string(kOrderSchedulePath),
                                  file, only_schedule))
      return failure;
    wanted = only_schedule.pipeline.schedule;
  }
  engine::ListedOrderResult read = engine::read_listed_order(csv, wanted);
  if (read.fault) return error_of(*read.fault, std::string(file), std::move(where));
  if (stated != pipeline.end() && read.order->kind != *wanted)
    return InputError{std::string(file), std::string(kOrderSchedulePath),
                      say("error.order.other_schedule", in_quotes(engine::schedule_id(*wanted))),
                      say("error.give", in_quotes(engine::schedule_id(read.order->kind)))};
  scenario.pipeline.order = std::move(read.order);
  return std::nullopt;
}

void write_order(const engine::ListedOrder& order, engine::ScheduleKind schedule, OrderedJson& pipeline) {
  OrderedJson rows = OrderedJson::array();
  std::string_view rest = order.csv;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    rows.push_back(std::string(rest.substr(0, end)));
    rest.remove_prefix(std::min(end, rest.size() - 1) + 1);
  }
  if (engine::stood_for(order.orders, schedule) != order.kind)
    pipeline[std::string(kOrderScheduleMember)] = engine::schedule_id(order.kind);
  pipeline[std::string(kOrderMember)] = std::move(rows);
}

bool is_order_csv(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n,\"");
  if (first == std::string_view::npos) return false;
  text.remove_prefix(first);
  if (text.front() == '(') text.remove_prefix(1);
  const std::size_t letter = text.find_first_not_of("0123456789");
  if (letter == 0 || letter == std::string_view::npos) return false;
  // A stage, then F B I W, or SEND, RECV, UNSHARD, RESHARD, REDUCE.
  return std::string_view("FBIWSRU").find(text[letter]) != std::string_view::npos;
}

Failure take_order_csv(std::string_view csv, std::string file, engine::Scenario& scenario) {
  const engine::ListedOrderResult read = engine::read_listed_order(csv, scenario.pipeline.schedule);
  if (read.fault) return error_of(*read.fault, std::move(file), {});
  take_order(scenario, read.order);
  return std::nullopt;
}

}  // namespace roofscape::io
