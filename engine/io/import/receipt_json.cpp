// The receipt of an import as JSON.
#include <nlohmann/json.hpp>

#include "engine/io/import/import_launch.h"
#include "engine/io/json/pretty.h"
#include "engine/io/scenario/scenario_write.h"

namespace roofscape::io {

namespace {

// What is missing is null where it would stand.
void blank(OrderedJson& scenario, std::string_view path) {
  OrderedJson* at = &scenario;
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    const std::string step(path.substr(0, dot));
    if (!at->is_object()) return;
    at = &(*at)[step];
    path.remove_prefix(dot + 1);
  }
  if (at->is_object() || at->is_null()) (*at)[std::string(path)] = nullptr;
}

}  // namespace

std::string receipt_json(const Imported& imported, const PresetLibrary& library, const engine::Words& words) {
  OrderedJson out;
  OrderedJson scenario = scenario_json(imported.scenario, library);
  for (const MissingValue& value : imported.missing) blank(scenario, value.field);
  out["scenario"] = std::move(scenario);
  out["format"] = imported.format;
  out["read"] = OrderedJson::array();
  for (const ReadValue& value : imported.read) {
    OrderedJson row;
    row["key"] = value.key;
    row["line"] = value.line > 0 ? OrderedJson(value.line) : OrderedJson(nullptr);
    row["field"] = value.field;
    row["value"] = value.value;
    out["read"].push_back(std::move(row));
  }
  out["assumed"] = OrderedJson::array();
  for (const AssumedValue& value : imported.assumed) {
    OrderedJson row;
    row["field"] = value.field;
    row["value"] = value.value;
    row["why"] = words.write(value.why);
    out["assumed"].push_back(std::move(row));
  }
  out["missing"] = OrderedJson::array();
  for (const MissingValue& value : imported.missing) {
    OrderedJson row;
    row["field"] = value.field;
    row["option"] = value.option;
    out["missing"].push_back(std::move(row));
  }
  out["overridden"] = OrderedJson::array();
  for (const OverriddenValue& value : imported.overridden) {
    OrderedJson row;
    row["key"] = value.key;
    row["line"] = value.line > 0 ? OrderedJson(value.line) : OrderedJson(nullptr);
    row["field"] = value.field;
    row["value"] = value.value;
    row["by"] = value.by;
    out["overridden"].push_back(std::move(row));
  }
  out["ignored"] = OrderedJson::array();
  for (const IgnoredKey& key : imported.ignored) {
    OrderedJson row;
    row["key"] = key.key;
    row["line"] = key.line > 0 ? OrderedJson(key.line) : OrderedJson(nullptr);
    row["understood"] = key.understood;
    row["why"] = words.write(key.why);
    out["ignored"].push_back(std::move(row));
  }
  out["warnings"] = OrderedJson::array();
  out["errors"] = OrderedJson::array();
  for (const ImportNotice& notice : imported.notices) {
    std::string text = words.write(notice.text);
    if (notice.line > 0) text = words.write(engine::say("import.at_line", notice.line, text));
    out[notice.error ? "errors" : "warnings"].push_back(std::move(text));
  }
  return pretty_text(out);
}

}  // namespace roofscape::io
