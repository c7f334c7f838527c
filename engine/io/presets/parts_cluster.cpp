// Clusters as JSON: torus chips in slices, switched chips in nodes.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/io/json/files.h"
#include "engine/io/presets/parts_file.h"
#include "engine/io/presets/parts_json.h"
#include "engine/scenario/domains.h"

namespace roofscape::io {

using engine::say;
using engine::Sentence;

namespace {

using engine::Cluster;
using engine::Interconnect;

constexpr std::string_view kTorusMembers[] = {"slice", "slices"};
constexpr std::string_view kSwitchedMembers[] = {"nodes", "node_size", "chips", "fabric"};

Failure read_table_field(const std::string& path, const Json& json, const PartContext& context, std::string where,
                         engine::Scenario& scenario) {
  const engine::Field* field = engine::find_field(path);
  if (field == nullptr) return context.error(std::move(where), say("error.cluster.cannot_be_set"));
  return read_field(*field, json, std::move(where), context.file, scenario);
}

Failure read_slice(const Json& json, const PartContext& context, engine::Scenario& scenario) {
  const std::string where = context.at("slice");
  if (!json.is_array() || json.empty() || json.size() > 3)
    return context.error(where,
                         json.is_array() ? say("error.is", say("error.kind.list_of", json.size())) : is_kind(json),
                         say("error.cluster.slice.remedy"));
  scenario.cluster.slice = {1, 1, 1};
  for (std::size_t i = 0; i < json.size(); ++i)
    if (auto failure = read_table_field("cluster.slice." + std::to_string(i), json[i], context,
                                        where + "." + std::to_string(i), scenario))
      return failure;
  return std::nullopt;
}

// "chips": N instead of "nodes".
Failure read_chips(const Json& json, const PartContext& context, engine::Scenario& scenario) {
  const std::string where = context.at("chips");
  const engine::Field* nodes = engine::find_field("cluster.nodes");
  const int size = scenario.cluster.node_size;
  const Sentence remedy = say("error.cluster.nodes_of", size);
  if (!json.is_number()) return context.error(where, say("error.not_a_number", shown(json)), remedy);
  const double count = json.get<double>() / size;
  if (nodes == nullptr || !(count > 0) || count > nodes->maximum)
    return context.error(where, say("error.out_of_range", json.dump()), remedy);
  if (count != std::floor(count))
    return context.error(where, say("error.cluster.not_whole_nodes", json.dump()), remedy);
  scenario.cluster.nodes = static_cast<int>(count);
  return std::nullopt;
}

Failure read_fabric_level(const Json& json, const PartContext& context, engine::FabricLevel& level) {
  if (!json.is_object()) return context.error(context.path, is_kind(json), say("error.cluster.level.remedy"));
  constexpr std::string_view kLevelMembers[] = {"name", "degree", "bytes_per_s_per_child", "in_network_reduction"};
  if (auto failure = check_members(json, kLevelMembers, context)) return failure;
  if (auto failure = read_text(json, "name", context, level.name)) return failure;
  const auto degree = json.find("degree");
  if (degree == json.end())
    return context.error(context.at("degree"), say("error.missing"), say("error.cluster.degree.remedy"));
  if (!degree->is_number_integer() || *degree < 1 || *degree > engine::kMostFabricDegree)
    return context.error(context.at("degree"), say("error.out_of_range", shown(*degree)),
                         say("error.number.whole_between", 1, engine::kMostFabricDegree));
  level.degree = degree->get<int>();
  const auto rate = json.find("bytes_per_s_per_child");
  if (rate == json.end())
    return context.error(context.at("bytes_per_s_per_child"), say("error.missing"), say("error.cluster.rate.remedy"));
  if (!rate->is_number() || !(rate->get<double>() >= engine::kLeastFabricRate) ||
      rate->get<double>() > engine::kMostFabricRate)
    return context.error(context.at("bytes_per_s_per_child"), say("error.out_of_range", shown(*rate)),
                         say("error.number.between", 1, std::string("1e18")));
  level.bytes_per_s_per_child = rate->get<double>();
  if (const auto reduces = json.find("in_network_reduction"); reduces != json.end()) {
    if (!reduces->is_boolean())
      return context.error(context.at("in_network_reduction"), say("error.cluster.neither_boolean", shown(*reduces)));
    level.in_network_reduction = reduces->get<bool>();
  }
  return std::nullopt;
}

Failure read_fabric(const Json& json, const PartContext& context, std::vector<engine::FabricLevel>& fabric) {
  if (!json.is_array() || json.size() > engine::kMaxFabricLevels)
    return context.error(context.path,
                         json.is_array() ? say("error.is", say("error.kind.list_of", json.size())) : is_kind(json),
                         say("error.cluster.fabric.remedy"));
  fabric.resize(json.size());
  for (std::size_t i = 0; i < json.size(); ++i)
    if (auto failure = read_fabric_level(json[i], context.inner(std::to_string(i)), fabric[i])) return failure;
  return std::nullopt;
}

// A count as a field of the table can hold it.
int clamped(std::string_view path, double value) {
  const engine::Field* field = engine::find_field(path);
  return static_cast<int>(std::clamp(value, field->minimum, field->maximum));
}

std::array<int, 3> one_pod(const engine::Chip& chip) {
  return {clamped("cluster.slice.0", chip.pod_shape[0]), clamped("cluster.slice.1", chip.pod_shape[1]),
          clamped("cluster.slice.2", chip.pod_shape[2])};
}

}  // namespace

void resize_for_chip(Cluster& cluster, const engine::Chip& chip) {
  const bool was_torus = cluster.chip.interconnect == Interconnect::torus;
  const std::int64_t chips = engine::chip_count(cluster);
  const Interconnect now = chip.interconnect;
  cluster.chip = chip;
  const Cluster fresh;
  if (now == Interconnect::switched) {
    if (!was_torus) return;
    const double domain = chip[engine::ChipField::scaleup_domain_chips].value.value_or(fresh.node_size);
    cluster.node_size = clamped("cluster.node_size", domain);
    cluster.nodes = clamped("cluster.nodes", static_cast<double>(chips / cluster.node_size));
    cluster.slice = fresh.slice;
    cluster.slices = fresh.slices;
  } else if (!was_torus) {
    cluster.slice = one_pod(chip);
    const std::int64_t pod = slice_chips(cluster);
    cluster.slices = clamped("cluster.slices", static_cast<double>((chips + pod - 1) / pod));
    cluster.nodes = fresh.nodes;
    cluster.node_size = fresh.node_size;
    cluster.fabric.clear();
  }
}

Result<engine::Chip> resolve_chip(const Json& json, const PartContext& context) {
  if (!json.is_string()) return read_chip(json, context);
  const std::string& name = json.get_ref<const std::string&>();
  if (const engine::Chip* chip = context.library.find_chip(name)) return *chip;
  return read_named_part<engine::Chip>(name, PresetKind::chip, context, read_chip);
}

Result<Cluster> read_cluster(const Json& json, const PartContext& context) {
  if (!json.is_object()) return context.error(context.path, is_kind(json), say("error.cluster.remedy"));
  constexpr std::string_view kMembers[] = {"format", "version", "name",  "source",    "chip",  "slice",
                                           "slices", "nodes",   "chips", "node_size", "fabric"};
  if (auto failure = check_members(json, kMembers, context)) return *failure;
  if (auto failure = check_format(json, "roofscape/cluster", context)) return *failure;
  std::string ignored;
  for (const std::string_view text : {"name", "source"})
    if (auto failure = read_text(json, text, context, ignored)) return *failure;
  const auto chip_member = json.find("chip");
  if (chip_member == json.end())
    return context.error(context.at("chip"), say("error.missing"), say("error.cluster.chip.remedy"));
  auto chip = resolve_chip(*chip_member, context.inner("chip"));
  if (!chip) return chip.error();

  engine::Scenario scenario;
  scenario.cluster.chip = std::move(chip).value();
  const bool torus = scenario.cluster.chip.interconnect == Interconnect::torus;
  const std::span<const std::string_view> foreign =
      torus ? std::span<const std::string_view>(kSwitchedMembers) : std::span<const std::string_view>(kTorusMembers);
  for (const std::string_view member : foreign)
    if (json.contains(member))
      return context.error(
          context.at(member), torus ? say("error.cluster.not_on_torus") : say("error.cluster.not_in_nodes"),
          torus ? say("error.cluster.not_on_torus.remedy") : say("error.cluster.not_in_nodes.remedy"));
  if (torus) {
    if (const auto found = json.find("slice"); found != json.end())
      if (auto failure = read_slice(*found, context, scenario)) return *failure;
    if (!json.contains("slice")) scenario.cluster.slice = one_pod(scenario.cluster.chip);
    if (const auto found = json.find("slices"); found != json.end())
      if (auto failure = read_table_field("cluster.slices", *found, context, context.at("slices"), scenario))
        return *failure;
    return scenario.cluster;
  }
  if (const auto& domain = scenario.cluster.chip[engine::ChipField::scaleup_domain_chips].value)
    scenario.cluster.node_size = clamped("cluster.node_size", *domain);
  if (const auto found = json.find("node_size"); found != json.end())
    if (auto failure = read_table_field("cluster.node_size", *found, context, context.at("node_size"), scenario))
      return *failure;
  const auto chips = json.find("chips");
  if (const auto nodes = json.find("nodes"); nodes != json.end()) {
    if (chips != json.end())
      return context.error(context.at("chips"), say("error.cluster.beside_nodes"),
                           say("error.cluster.beside_nodes.remedy"));
    if (auto failure = read_table_field("cluster.nodes", *nodes, context, context.at("nodes"), scenario))
      return *failure;
  } else if (chips != json.end()) {
    if (auto failure = read_chips(*chips, context, scenario)) return *failure;
  }
  if (const auto found = json.find("fabric"); found != json.end())
    if (auto failure = read_fabric(*found, context.inner("fabric"), scenario.cluster.fabric)) return *failure;
  return scenario.cluster;
}

namespace {

OrderedJson fabric_json(const std::vector<engine::FabricLevel>& fabric) {
  OrderedJson out = OrderedJson::array();
  for (const engine::FabricLevel& level : fabric) {
    OrderedJson entry;
    entry["name"] = level.name;
    entry["degree"] = level.degree;
    entry["bytes_per_s_per_child"] = number_json(level.bytes_per_s_per_child);
    entry["in_network_reduction"] = level.in_network_reduction;
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace

OrderedJson cluster_json(const Cluster& cluster, const PresetLibrary& library) {
  OrderedJson json;
  json["chip"] = chip_json(cluster.chip, library);
  if (cluster.chip.interconnect == Interconnect::torus) {
    json["slice"] = cluster.slice;
    json["slices"] = cluster.slices;
  } else {
    json["nodes"] = cluster.nodes;
    json["node_size"] = cluster.node_size;
    if (!cluster.fabric.empty()) json["fabric"] = fabric_json(cluster.fabric);
  }
  return json;
}

}  // namespace roofscape::io
