#include "engine/scenario/cluster_of_chips.h"

#include <algorithm>
#include <array>

#include "engine/scenario/scenario_fields.h"

namespace roofscape::engine {

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

std::optional<Cluster> cluster_of(const Chip& chip, int chips, int chips_per_node, int asked_slices) {
  Cluster out;
  out.chip = chip;
  if (chips < 1) return std::nullopt;
  if (chip.interconnect == Interconnect::torus) {
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
  const int domain = static_cast<int>(chip[ChipField::scaleup_domain_chips].value.value_or(out.node_size));
  // A launcher's node is a host; where the chips of several hosts are one domain of links, that is the node.
  int size = chips_per_node > 0 && domain <= 8 ? chips_per_node : std::max(1, domain);
  size = std::min(size, chips);
  while (chips % size != 0) --size;
  out.node_size = size;
  out.nodes = chips / size;
  if (out.nodes > find_field("cluster.nodes")->maximum) return std::nullopt;
  return out;
}

}  // namespace roofscape::engine
