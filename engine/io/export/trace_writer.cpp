#include "engine/io/export/trace_writer.h"

#include <nlohmann/json.hpp>

#include "engine/io/json/json_text.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/scenario/scenario_title.h"

namespace roofscape::io::trace {
namespace {

std::string_view mode_word(const engine::Scenario& s) {
  const engine::Field& mode = *engine::find_field("assumptions.mode");
  return mode.choices[static_cast<std::size_t>(mode.get(s))];
}

}  // namespace

Writer::Writer(const engine::Scenario& s) {
  const auto text = [](const std::string& t) { return Json(t).dump(-1, ' ', false, Json::error_handler_t::replace); };
  text_ = fmt::format(
      "{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"program\":\"Roofscape\",\"mode\":\"{}\",\"scenario\":{},"
      "\"model\":{},"
      "\"chip\":{}}},\n\"traceEvents\":[",
      mode_word(s), text(engine::scenario_title(s)), text(engine::model_title(s.model)),
      text(engine::chip_title(s.cluster.chip)));
}

}  // namespace roofscape::io::trace
