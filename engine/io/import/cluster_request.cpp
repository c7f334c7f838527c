#include "engine/io/import/cluster_request.h"

#include <algorithm>
#include <array>

#include "engine/io/import/document.h"
#include "engine/io/json/nearest.h"
#include "engine/io/presets/parts_file.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::io {

using engine::say;

namespace {

// The most cube-like slice of so many chips inside a pod.
std::optional<std::array<int, 3>> slice_of(const std::array<int, 3>& pod, int chips) {
  std::optional<std::array<int, 3>> best;
  int longest = 0;
  for (int x = 1; x <= pod[0] && x <= chips; ++x) {
    if (chips % x != 0) continue;
    for (int y = 1; y <= pod[1] && y <= chips / x; ++y) {
      if (chips / x % y != 0) continue;
      const int z = chips / x / y;
      if (z > pod[2]) continue;
      const int side = std::max({x, y, z});
      if (best && side >= longest) continue;
      best = {x, y, z};
      longest = side;
    }
  }
  return best;
}

}  // namespace

std::optional<engine::Cluster> cluster_of(const engine::Chip& chip, int chips, int chips_per_node, int asked_slices) {
  engine::Cluster out;
  out.chip = chip;
  if (chips < 1) return std::nullopt;
  if (chip.interconnect == engine::Interconnect::torus) {
    const int pod = chip.pod_shape[0] * chip.pod_shape[1] * chip.pod_shape[2];
    if (pod < 1) return std::nullopt;
    for (int slices = std::max(asked_slices, (chips + pod - 1) / pod); slices <= chips && slices <= 1024; ++slices) {
      if (chips % slices != 0) continue;
      if (const auto slice = slice_of(chip.pod_shape, chips / slices)) {
        out.slice = *slice;
        out.slices = slices;
        return out;
      }
    }
    return std::nullopt;
  }
  const int domain = static_cast<int>(chip[engine::ChipField::scaleup_domain_chips].value.value_or(out.node_size));
  // A launcher's node is a host; where the chips of several hosts are one domain of links, that is the node.
  int size = chips_per_node > 0 && domain <= 8 ? chips_per_node : std::max(1, domain);
  size = std::min(size, chips);
  while (chips % size != 0) --size;
  out.node_size = size;
  out.nodes = chips / size;
  if (out.nodes > engine::find_field("cluster.nodes")->maximum) return std::nullopt;
  return out;
}

Result<RequestedCluster> requested_cluster(std::string_view wish, const LaunchPlan& plan,
                                           const PresetLibrary& library) {
  const auto refuse = [&](engine::Sentence message, engine::Sentence remedy) {
    return InputError{"--cluster", {}, std::move(message), std::move(remedy)};
  };
  const auto no_such_number = [&](int chips, const engine::Chip& chip) {
    return refuse(say("error.import.no_such_number", chips, chip.name), say("error.import.no_such_number.remedy"));
  };
  const PresetLibrary::Called clusters = library.called(PresetKind::cluster, wish);
  if (clusters.in_full && clusters.presets.size() == 1)
    return RequestedCluster{*library.find_cluster(clusters.presets.front()->id)};
  const std::size_t colon = wish.rfind(':');
  const std::string_view chip_word = wish.substr(0, colon);
  const Preset* chip_preset = library.meant(PresetKind::chip, chip_word);
  if (colon != std::string_view::npos && !looks_like_file(wish) && !wish.starts_with('{')) {
    if (chip_preset == nullptr) {
      InputError error = library.not_meant(PresetKind::chip, chip_word);
      error.file = "--cluster";
      return error;
    }
    const auto number = plain_number(wish.substr(colon + 1));
    if (!number || *number < 1 || *number > (1 << 20) || *number != static_cast<int>(*number))
      return refuse(say("error.import.chip_count", in_quotes(wish.substr(colon + 1))),
                    say("error.import.chip_count.remedy"));
    const engine::Chip& chip = *library.find_chip(chip_preset->id);
    const int chips = static_cast<int>(*number);
    const auto cluster = cluster_of(chip, chips, plan.chips_per_node ? plan.chips_per_node->value : 0, plan.slices);
    if (!cluster) return no_such_number(chips, chip);
    return RequestedCluster{*cluster};
  }
  if (chip_preset != nullptr && !looks_like_file(wish)) {
    const engine::Chip& chip = *library.find_chip(chip_preset->id);
    RequestedCluster out{{}, true, false};
    out.cluster.chip = chip;
    if (!plan.chips) {
      out.counted = false;
      return out;
    }
    const int devices = plan.devices_of != nullptr ? plan.devices_of(chip) : plan.devices_per_chip;
    const int chips = std::max(1, plan.chips->value / devices);
    const auto cluster = cluster_of(chip, chips, plan.chips_per_node ? plan.chips_per_node->value : 0, plan.slices);
    if (!cluster) return no_such_number(chips, chip);
    out.cluster = *cluster;
    return out;
  }
  if (const Preset* preset = library.meant(PresetKind::cluster, wish))
    return RequestedCluster{*library.find_cluster(preset->id)};
  auto cluster = read_named_part<engine::Cluster>(std::string(wish), PresetKind::cluster,
                                                  PartContext{{}, "cluster", library, {}, {}}, read_cluster);
  if (!cluster) {
    InputError error = cluster.error();
    error.file = "--cluster";
    error.path.clear();
    return error;
  }
  return RequestedCluster{std::move(cluster).value()};
}

}  // namespace roofscape::io
