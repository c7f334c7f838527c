// Reading scenarios and flat maps.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "engine/io/json/files.h"
#include "engine/io/json/nearest.h"
#include "engine/io/presets/parts_file.h"
#include "engine/io/scenario/figure_file.h"
#include "engine/io/scenario/order_json.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/io/scenario/scenario_walk.h"
#include "engine/scenario/scenario_title.h"

namespace roofscape::io {
namespace {

using engine::Scenario;

constexpr std::string_view kPipelineMember = "pipeline";

Result<engine::TransformerShape> resolve_model(const Json& json, const PartContext& context) {
  if (!json.is_string()) return read_model(json, context);
  const std::string& name = json.get_ref<const std::string&>();
  if (const engine::TransformerShape* model = context.library.find_model(name)) return *model;
  return read_named_part<engine::TransformerShape>(name, PresetKind::model, context, read_model);
}

Result<engine::Cluster> resolve_cluster(const Json& json, const PartContext& context) {
  if (!json.is_string()) return read_cluster(json, context);
  const std::string& name = json.get_ref<const std::string&>();
  if (const engine::Cluster* cluster = context.library.find_cluster(name)) return *cluster;
  return read_named_part<engine::Cluster>(name, PresetKind::cluster, context, read_cluster);
}

// Fills what the field table knows from an object or list, member by member.
Failure read_members(const Json& json, const std::string& path, const PartContext& context, Scenario& scenario) {
  const std::vector<std::string_view> known = known_members(path);
  const bool list = json.is_array();
  // A list, and a switch that says whether there is one.
  for (const auto& [member, path_of_switch] :
       {std::pair{kLayersPath, engine::kLayersByHand}, std::pair{kOrderPath, engine::kGivenOrder}}) {
    const auto key = [&path](std::string_view whole) { return whole.substr(path.size() + 1); };
    if (path != kPipelineMember || !json.is_object() || !json.contains(key(member)) ||
        !json.contains(key(path_of_switch)))
      continue;
    return context.error(std::string(path_of_switch), engine::say("error.beside", in_quotes(key(member))),
                         engine::say("error.beside.remedy"));
  }
  for (const auto& member : json.items()) {
    const std::string& key = member.key();
    const std::string inner = path.empty() ? key : path + "." + key;
    constexpr std::array<std::string_view, 8> kElsewhere{"format", "version", "name",    "made_from",
                                                         "source", "model",   "cluster", "$schema"};
    if (path.empty() && std::find(kElsewhere.begin(), kElsewhere.end(), key) != kElsewhere.end()) continue;
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      if (list) return context.error(path, engine::say_count("error.entries", known.size()));
      return context.error(inner, engine::say("error.unknown_field"), unknown_field_remedy(path, key));
    }
    if (inner == kLayersPath) {
      if (auto failure = read_layers(member.value(), inner, context.file, scenario)) return failure;
    } else if (inner == kOrderSchedulePath) {
      if (!json.contains(kOrderMember))
        return context.error(inner, engine::say("error.without", in_quotes(kOrderMember)),
                             engine::say("error.without.remedy"));  // read with it
    } else if (inner == kOrderPath) {
      if (auto failure = read_order(member.value(), json, inner, context.file, scenario)) return failure;
    } else if (const engine::Field* field = engine::find_field(inner)) {
      if (auto failure = read_field(*field, member.value(), inner, context.file, scenario)) return failure;
    } else if (!member.value().is_structured()) {
      return context.error(inner, is_kind(member.value()), engine::say("error.expected.fields"));
    } else if (auto failure = read_members(member.value(), inner, context, scenario)) {
      return failure;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<Scenario> read_scenario(std::string_view text, std::string_view file_name, const PresetLibrary& library) {
  const auto parsed = parse_json(text, file_name);
  if (!parsed) return parsed.error();
  const Json& json = parsed.value();
  const PartContext context{file_name, {}, library, std::filesystem::path(file_name).parent_path(), {}};
  if (!json.is_object()) return context.error({}, is_kind(json), engine::say("error.scenario.remedy"));
  if (auto failure = check_format(json, "roofscape/scenario", context)) return *failure;

  Scenario scenario;
  std::string name, made_from;
  if (auto failure = read_text(json, "name", context, name)) return *failure;
  if (auto failure = read_text(json, "made_from", context, made_from)) return *failure;
  if (auto failure = read_text(json, "source", context, scenario.source)) return *failure;
  // Unknown members come first: a misspelled "cluster" is named, not replaced by the default.
  const std::vector<std::string_view> known = known_members("");
  for (const auto& member : json.items())
    if (std::find(known.begin(), known.end(), member.key()) == known.end())
      return context.error(member.key(), engine::say("error.unknown_field"), unknown_field_remedy("", member.key()));

  const auto model_member = json.find("model");
  auto model = resolve_model(model_member == json.end() ? Json(std::string(kDefaultModel)) : *model_member,
                             context.inner("model"));
  if (!model) return model.error();
  scenario.model = std::move(model).value();
  const auto cluster_member = json.find("cluster");
  auto cluster = resolve_cluster(cluster_member == json.end() ? Json(std::string(kDefaultCluster)) : *cluster_member,
                                 context.inner("cluster"));
  if (!cluster) return cluster.error();
  scenario.cluster = std::move(cluster).value();
  if (auto failure = read_members(json, "", context, scenario)) return *failure;
  if (made_from.empty())
    engine::set_name(scenario, std::move(name));
  else
    engine::set_title(scenario, name, std::move(made_from));
  return scenario;
}

Result<Scenario> scenario_in_file(std::string bytes, const std::string& file, const PresetLibrary& library) {
  if (!is_picture(bytes)) return read_scenario(bytes, file, library);
  const auto text = scenario_in_picture(bytes, file);
  return text ? read_scenario(text.value(), file, library) : text.error();
}

Result<Scenario> load_scenario(const std::string& id_or_path, const PresetLibrary& library) {
  const auto read_preset = [&library](const Preset& preset) {
    return read_scenario(*library.find_scenario_text(preset.id), preset.origin, library);
  };
  if (const Preset* preset = library.find_preset(PresetKind::scenario, id_or_path)) return read_preset(*preset);
  auto text = read_file(id_or_path);
  if (text) return scenario_in_file(std::move(text).value(), id_or_path, library);
  std::error_code ignored;
  if (looks_like_file(id_or_path) || std::filesystem::exists(id_or_path, ignored)) return text.error();
  if (const Preset* preset = library.meant(PresetKind::scenario, id_or_path)) return read_preset(*preset);
  const std::string_view near = library.nearest(PresetKind::scenario, id_or_path);
  return InputError{id_or_path,
                    {},
                    engine::say("error.scenario.none"),
                    near.empty() ? engine::say("error.preset.list") : did_you_mean(near)};
}

Result<std::map<std::string, std::string>> read_flat_map(std::string_view text, std::string_view file_name) {
  auto json = parse_json(text, file_name);
  if (!json) return json.error();
  if (!json->is_object())
    return InputError{std::string(file_name), {}, is_kind(json.value()), engine::say("error.expected.texts")};
  std::map<std::string, std::string> map;
  auto& members = json.value().get_ref<Json::object_t&>();
  while (!members.empty()) {  // in order
    auto member = members.extract(members.begin());
    Json& value = member.mapped();
    if (value.is_structured() || value.is_null())
      return InputError{std::string(file_name), member.key(), is_kind(value), engine::say("error.expected.text")};
    std::string words = value.is_string() ? std::move(value.get_ref<std::string&>()) : value.dump();
    map.emplace_hint(map.end(), std::move(member.key()), std::move(words));
  }
  return map;
}

}  // namespace roofscape::io
