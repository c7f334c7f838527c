#include "engine/io/presets/preset_json.h"

#include <nlohmann/json.hpp>

#include "engine/io/json/pretty.h"
#include "engine/io/presets/parts_json.h"

namespace roofscape::io {
namespace {

// What every preset file begins with, before its members.
OrderedJson headed(std::string_view format, std::string_view name) {
  OrderedJson json;
  json["format"] = format;
  json["version"] = 1;
  json["name"] = name;
  return json;
}

}  // namespace

std::string write_model_preset(const engine::TransformerShape& model, const PresetLibrary& library) {
  engine::TransformerShape unnamed = model;
  unnamed.id.clear();  // a preset's id is the name of its file
  OrderedJson json = headed("roofscape/model", model.name);
  json.update(model_json(unnamed, library));
  return pretty_text(json);
}

std::string write_cluster_preset(const engine::Cluster& cluster, std::string_view name,
                                 const PresetLibrary& library) {
  OrderedJson json = headed("roofscape/cluster", name);
  json.update(cluster_json(cluster, library));
  return pretty_text(json);
}

}  // namespace roofscape::io
