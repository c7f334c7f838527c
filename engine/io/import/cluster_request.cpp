#include "engine/io/import/cluster_request.h"

#include <algorithm>

#include "engine/io/import/document.h"
#include "engine/io/json/nearest.h"
#include "engine/io/presets/parts_file.h"
#include "engine/scenario/cluster_of_chips.h"

namespace roofscape::io {

using engine::cluster_of;
using engine::kMostClusterChips;
using engine::say;

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
    if (!number || *number < 1 || *number > kMostClusterChips || *number != static_cast<int>(*number))
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
