// Writing scenarios, and setting single fields.
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/read_number.h"
#include "engine/evaluate/custom_mode.h"
#include "engine/frameworks/synonyms.h"
#include "engine/io/json/files.h"
#include "engine/io/json/nearest.h"
#include "engine/io/json/pretty.h"
#include "engine/io/presets/parts_file.h"
#include "engine/io/scenario/layer_layout.h"
#include "engine/io/scenario/order_json.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/io/scenario/scenario_walk.h"
#include "engine/io/scenario/scenario_write.h"
#include "engine/scenario/scenario_title.h"
#include "engine/studies/made_order.h"

namespace roofscape::io {

using engine::say;
using engine::Scenario;
using engine::Sentence;

OrderedJson scenario_json(const Scenario& scenario, const PresetLibrary& library) {
  OrderedJson json;
  json["format"] = "roofscape/scenario";
  json["version"] = 1;
  // Of a plan alone that was edited the file keeps the name: that it was edited is what "made_from" says.
  const std::string title = engine::scenario_title(scenario);
  json["name"] = title == scenario.name + std::string(engine::kEditedSuffix) ? scenario.name : title;
  if (title != scenario.name) json["made_from"] = scenario.name;
  if (!scenario.source.empty()) json["source"] = scenario.source;
  json["model"] = model_json(scenario.model, library);
  json["cluster"] = cluster_json(scenario.cluster, library);
  const Scenario defaults;
  for (const engine::Field& field : engine::scenario_fields()) {
    if (field.path.starts_with("model.") || field.path.starts_with("cluster.")) continue;
    const double value = field.get(scenario);
    // 0: the engine chooses, no limit.
    if ((field.path.starts_with("placement.") || field.path.starts_with("workload.slo.")) &&
        value == field.get(defaults))
      continue;
    // What the other kind of workload reads is kept where it was set, and else left out.
    if (!engine::applies(field, scenario.workload.kind) && value == field.get(defaults)) continue;
    if (field.path.starts_with("workload.lengths.") || field.path == engine::kLayersByHand ||
        field.path == engine::kGivenOrder)
      continue;
    OrderedJson* at = &json;
    std::string_view rest = field.path;
    for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
      at = &(*at)[std::string(rest.substr(0, dot))];
      rest.remove_prefix(dot + 1);
    }
    (*at)[std::string(rest)] = field_json(field, value);
  }
  if (!scenario.pipeline.layers_per_stage.empty())
    json["pipeline"][std::string(kLayersMember)] = scenario.pipeline.layers_per_stage;
  if (scenario.pipeline.order) write_order(*scenario.pipeline.order, scenario.pipeline.schedule, json["pipeline"]);
  // Bins of the histogram up to the last that is used.
  const auto& bins = scenario.workload.lengths;
  std::size_t used = bins.size();
  while (used > 0 && bins[used - 1] == engine::LengthBin{}) --used;
  for (std::size_t i = 0; i < used; ++i) {
    OrderedJson bin;
    bin["share"] = number_json(bins[i].share);
    bin["prompt_tokens"] = bins[i].prompt_tokens;
    bin["output_tokens"] = bins[i].output_tokens;
    json["workload"]["lengths"].push_back(std::move(bin));
  }
  return json;
}

std::string write_scenario(const Scenario& scenario, const PresetLibrary& library) {
  return pretty_text(scenario_json(scenario, library));
}

namespace {

InputError set_error(std::string_view path, Sentence message, Sentence remedy = {}) {
  return {{}, std::string(path), std::move(message), std::move(remedy)};
}

// The value of an assignment as JSON would have it: true or false, a number with or without its unit, else a text.
Json value_json(std::string_view text, const engine::Unit& unit = engine::unit::count) {
  if (text == "true" || text == "on") return true;
  if (text == "false" || text == "off") return false;
  if (const engine::NumberReading number = engine::read_number(text, unit)) return number_json(*number);
  return std::string(text);
}

// What was typed for a number that is none.
Failure refuse_number(std::string_view path, std::string_view text, const engine::Unit& unit) {
  const engine::NumberReading read = engine::read_number(text, unit);
  if (read) return std::nullopt;
  return set_error(path, read.problem, read.remedy);
}

// What the field takes, after what such numbers look like; a whole number needs no example of its kind.
void add_domain(const engine::Field& field, Sentence& remedy) {
  Sentence domain = engine::domain_of(field);
  const bool by_example = remedy.key == "error.give" || remedy.key == "error.number.takes";
  if (field.kind == engine::FieldKind::integer && by_example) {
    remedy = say("error.give", std::move(domain));
    return;
  }
  if (const std::string_view symbol = field.unit.symbol; !symbol.empty() && symbol != "1" && symbol != "%")
    domain = say("error.with_unit", std::move(domain), symbol);
  remedy = say("error.both", std::move(remedy), std::move(domain));
}

// "16x20x28" or "16,20,28".
std::optional<Json> list_json(std::string_view text) {
  Json list = Json::array();
  while (true) {
    const std::size_t cut = text.find_first_of("x,");
    const Json item = value_json(text.substr(0, cut));
    if (!item.is_number()) return std::nullopt;
    list.push_back(item);
    if (cut == std::string_view::npos) return list;
    text.remove_prefix(cut + 1);
  }
}

Sentence remedy_of(engine::NoOrder reason) {
  switch (reason) {
    case engine::NoOrder::serves:
      return say("error.order.no_order.serves");
    case engine::NoOrder::no_pipeline:
      return say("error.order.no_order.no_pipeline");
    case engine::NoOrder::cannot_run:
      return say("error.order.no_order.cannot_run");
    case engine::NoOrder::too_long:
      return say("error.order.no_order.too_long");
    case engine::NoOrder::does_not_fit:
      return say("error.order.no_order.does_not_fit");
  }
  return {};
}

// "zb-1p, zb-2p or v-min".
Sentence recipe_words() {
  const auto ids = engine::kOrderRecipes.ids();
  return say("error.or", listed(ids.first(ids.size() - 1)), ids.back());
}

// The order of operations: a file as torch writes it, one that is made for the plan as it is so far, or "none" for the
// schedule's own.
Failure set_order(Scenario& scenario, std::string_view path, std::string_view text) {
  if (text == "none" || text.empty()) {
    scenario.pipeline.order = {};
    return std::nullopt;
  }
  if (const auto recipe = engine::kOrderRecipes.parse(text)) {
    const engine::MadeOrder made = engine::make_order(scenario, *recipe);
    if (made.reason) return set_error(path, say("error.order.no_order", in_quotes(text)), remedy_of(*made.reason));
    take_order(scenario, made.order);
    return std::nullopt;
  }
  const auto csv = read_file(std::filesystem::path(text));
  if (!csv)
    return set_error(path, say("error.unreadable_inside", in_quotes(text), csv.error().message),
                     say("error.order.give", recipe_words()));
  const Failure failure = take_order_csv(csv.value(), {}, scenario);
  return failure ? Failure(set_error(path, say("error.unreadable_inside", in_quotes(text), failure->message),
                                     failure->remedy))
                 : std::nullopt;
}

// Layers of each virtual stage: "8,8,9,8", a layout of Megatron-LM or torchtitan, or "even" to deal them.
Failure set_layers(Scenario& scenario, std::string_view path, std::string_view text) {
  if (text == "even" || text.empty()) {
    scenario.pipeline.layers_per_stage.clear();
    return std::nullopt;
  }
  if (is_layer_layout(text)) {
    const Failure failure = take_layer_layout(text, scenario);
    return failure ? Failure(set_error(path, failure->message, failure->remedy)) : std::nullopt;
  }
  const auto list = list_json(text);
  if (!list) return set_error(path, say("error.set.not_numbers", in_quotes(text)), say("error.set.layers.remedy"));
  return read_layers(*list, std::string(path), {}, scenario);
}

// A published figure of the chip, changed by hand: "cluster.chip.hbm_bytes=192e9".
Failure set_chip_figure(engine::Chip& chip, std::string_view path, std::string_view text) {
  const std::string_view member = path.substr(std::string_view("cluster.chip.").size());
  std::vector<std::string_view> known;
  for (const engine::ChipFieldRow& row : engine::kChipFields) {
    known.push_back(row.id);
    if (row.id != member) continue;
    if (Failure failure = refuse_number(path, text, row.unit)) return failure;
    return read_chip_figure(row, value_json(text, row.unit), std::string(path), chip);
  }
  return set_error(path, say("error.unknown_field"), did_you_mean(member, known));
}

Failure set_cluster(Scenario& scenario, std::string_view path, std::string_view text, const PresetLibrary& library) {
  const PartContext context{{}, "cluster", library, {}, {}};
  if (path == "cluster") {
    if (const Preset* preset = library.meant(PresetKind::cluster, text)) {
      scenario.cluster = *library.find_cluster(preset->id);
      return std::nullopt;
    }
    auto cluster = read_named_part<engine::Cluster>(std::string(text), PresetKind::cluster, context, read_cluster);
    if (!cluster) return cluster.error();
    scenario.cluster = std::move(cluster).value();
    return std::nullopt;
  }
  if (path == "cluster.chip") {
    const Preset* preset = library.meant(PresetKind::chip, text);
    auto chip = resolve_chip(Json(preset != nullptr ? preset->id : std::string(text)), context.inner("chip"));
    if (!chip) return chip.error();
    resize_for_chip(scenario.cluster, chip.value());
    return std::nullopt;
  }
  if (path.starts_with("cluster.chip.")) return set_chip_figure(scenario.cluster.chip, path, text);
  // The rest through the reader of clusters, which knows what applies to which chip.
  OrderedJson edited = cluster_json(scenario.cluster, library);
  const std::string member(path.substr(std::string_view("cluster.").size()));
  if (member == "slice") {
    const auto list = list_json(text);
    if (!list) return set_error(path, say("error.set.not_numbers", in_quotes(text)), say("error.set.slice.remedy"));
    edited["slice"] = *list;
  } else if (member.starts_with("slice.") && edited.contains("slice")) {
    const std::string_view number = std::string_view(member).substr(6);
    if (number != "0" && number != "1" && number != "2")
      return set_error(path, say("error.unknown_field"), did_you_mean("cluster.slice.0"));
    edited["slice"][static_cast<std::size_t>(number[0] - '0')] = value_json(text);
  } else {
    if (member == "chips") edited.erase("nodes");
    edited[member.substr(0, member.find('.'))] = value_json(text);
  }
  auto cluster = read_cluster(Json(edited), context);
  if (!cluster) {
    // An unknown member is reported at the path that was written.
    InputError error = cluster.error();
    if (error.message == say("error.unknown_field"))
      error = set_error(path, say("error.unknown_field"), unknown_field_remedy("cluster", member));
    return error;
  }
  engine::Chip chip = std::move(scenario.cluster.chip);  // the reader may have renamed an edited preset
  scenario.cluster = std::move(cluster).value();
  scenario.cluster.chip = std::move(chip);
  return std::nullopt;
}

// "tensor-model-parallel-size=8" as "parallelism.tensor=8": the choices of a framework by our words.
std::string framework_assignment(const engine::NamedField& named, std::string_view text) {
  const engine::Field* field = engine::find_field(named.path);
  std::string_view value = text;
  if (field != nullptr && field->kind == engine::FieldKind::choice) value = engine::choice_named(named, text);
  return std::string(named.path) + "=" + std::string(value);
}

}  // namespace

Failure set_field(Scenario& scenario, std::string_view assignment, const PresetLibrary& library) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return set_error({}, say("error.set.no_assignment", in_quotes(assignment)),
                     say("error.set.no_assignment.remedy"));
  const std::string_view path = assignment.substr(0, equals), text = assignment.substr(equals + 1);
  if (text.size() > 4096 || text.find('\0') != std::string_view::npos)
    return set_error(path, say("error.set.too_long"));
  if (!is_utf8(assignment)) return set_error({}, say("error.file.not_utf8"), say("error.set.utf8.remedy"));
  // A framework's own name, where it is no path of ours.
  if (const engine::NamedField* named = engine::find_named_field(path);
      named != nullptr && engine::find_field(path) == nullptr && path != named->path)
    return set_field(scenario, framework_assignment(*named, text), library);
  if (path == "name") {
    engine::set_name(scenario, std::string(text));
    return std::nullopt;
  }
  if (path == "model") {
    if (const Preset* preset = library.meant(PresetKind::model, text)) {
      scenario.model = *library.find_model(preset->id);
      return std::nullopt;
    }
    auto model = read_named_part<engine::TransformerShape>(std::string(text), PresetKind::model,
                                                           PartContext{{}, "model", library, {}, {}}, read_model);
    if (!model) return model.error();
    scenario.model = std::move(model).value();
    return std::nullopt;
  }
  if (path == kLayersPath) return set_layers(scenario, path, text);
  if (path == kOrderPath) return set_order(scenario, path, text);
  if (path == "cluster" || path.starts_with("cluster.")) return set_cluster(scenario, path, text, library);
  if (const engine::Field* field = engine::find_field(path)) {
    const bool number = field->kind == engine::FieldKind::integer || field->kind == engine::FieldKind::number;
    if (number)
      if (Failure failure = refuse_number(path, text, field->unit)) {
        add_domain(*field, failure->remedy);
        return failure;
      }
    const Json value =
        field->kind == engine::FieldKind::choice ? Json(std::string(text)) : value_json(text, field->unit);
    const engine::Mode mode = scenario.assumptions.mode;
    if (Failure failure = read_field(*field, value, std::string(path), {}, scenario)) return failure;
    if (mode != engine::Mode::custom && scenario.assumptions.mode == engine::Mode::custom)
      engine::start_custom(scenario, library.chips());
    return std::nullopt;
  }
  const std::size_t dot = path.rfind('.');
  const std::string_view parent = dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
  const std::string_view member = dot == std::string_view::npos ? path : path.substr(dot + 1);
  if (const std::vector<std::string_view> inside = known_members(path); !inside.empty())
    return set_error(path, say("error.set.group"),
                     say("error.set.group.remedy", std::string(path) + "." + std::string(inside.front())));
  if (!known_members(parent).empty())
    return set_error(path, say("error.unknown_field"), unknown_field_remedy(parent, member, scenario.workload.kind));
  std::vector<std::string_view> all;
  for (const engine::Field& field : engine::scenario_fields()) all.push_back(field.path);
  return set_error(path, say("error.unknown_field"), did_you_mean(path, all));
}

}  // namespace roofscape::io
