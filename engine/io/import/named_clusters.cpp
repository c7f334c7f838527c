#include "engine/io/import/named_clusters.h"

#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "engine/base/text_pieces.h"
#include "engine/io/import/cluster_request.h"
#include "engine/io/import/document.h"
#include "engine/scenario/cluster_of_chips.h"

namespace roofscape::io {

using engine::cluster_of;
using engine::kMostClusterChips;
using engine::NamedCluster;
using engine::say;

namespace {

constexpr std::string_view kEveryChip = "every:";

std::optional<int> chips_in(std::string_view text) {
  const auto number = plain_number(text);
  if (!number || !(*number >= 1 && *number <= kMostClusterChips) || *number != std::floor(*number))
    return std::nullopt;
  return static_cast<int>(*number);
}

Result<NamedCluster> cluster_named(const std::string& name, std::string_view option, const PresetLibrary& library) {
  auto wanted = requested_cluster(name, {}, library);
  if (!wanted) {
    InputError error = wanted.error();
    if (error.file == "--cluster") error.file = option;
    return error;
  }
  if (!wanted.value().counted)
    return InputError{std::string(option),
                      {},
                      say("error.clusters.count", in_quotes(name)),
                      say("error.clusters.count.remedy", name + ":1024", name + ":256..4096")};
  return NamedCluster{name, std::move(wanted).value().cluster};
}

// The names that one of the list stands for.
Result<std::vector<std::string>> names_of(const std::string& name, std::string_view option) {
  const std::size_t colon = name.rfind(':');
  const std::size_t dots = colon == std::string::npos ? colon : name.find("..", colon);
  if (dots == std::string::npos) return std::vector<std::string>{name};
  const auto least = chips_in(std::string_view(name).substr(colon + 1, dots - colon - 1));
  const auto most = chips_in(std::string_view(name).substr(dots + 2));
  if (!least || !most || *most < *least)
    return InputError{
        std::string(option), {}, say("error.clusters.range", in_quotes(name)), say("error.clusters.range.remedy")};
  std::vector<std::string> names;
  for (int chips = *least; chips <= *most; chips *= 2)
    names.push_back(name.substr(0, colon + 1) + std::to_string(chips));
  return names;
}

// So many of each chip of the library, where that many can be put together.
std::optional<InputError> add_every_chip(const std::string& name, std::string_view option,
                                         const PresetLibrary& library, std::vector<NamedCluster>& into) {
  const auto chips = chips_in(std::string_view(name).substr(kEveryChip.size()));
  if (!chips)
    return InputError{std::string(option),
                      {},
                      say("error.clusters.count", in_quotes(name)),
                      say("error.clusters.count.remedy", std::string("every:1024"), std::string("every:256..4096"))};
  const std::size_t before = into.size();
  for (const Preset& preset : library.list(PresetKind::chip))
    if (auto cluster = cluster_of(*library.find_chip(preset.id), *chips))
      into.push_back({fmt::format("{}:{}", preset.id, *chips), *std::move(cluster)});
  if (into.size() > before) return std::nullopt;
  return InputError{
      std::string(option), {}, say("error.clusters.none", in_quotes(name)), say("error.clusters.none.remedy")};
}

}  // namespace

std::optional<InputError> add_named_clusters(std::string_view list, std::string_view option,
                                             const PresetLibrary& library, std::vector<NamedCluster>& into) {
  for (const std::string& item : engine::between_commas(list)) {
    const auto names = names_of(item, option);
    if (!names) return names.error();
    for (const std::string& name : names.value()) {
      if (name.starts_with(kEveryChip)) {
        if (auto error = add_every_chip(name, option, library, into)) return error;
        continue;
      }
      auto cluster = cluster_named(name, option, library);
      if (!cluster) return cluster.error();
      into.push_back(std::move(cluster).value());
    }
    if (into.size() > kMostNamedClusters)
      return InputError{
          std::string(option), {}, say("error.clusters.many", kMostNamedClusters), say("error.clusters.many.remedy")};
  }
  return std::nullopt;
}

std::vector<NamedCluster> clusters_around(const engine::Cluster& cluster, const PresetLibrary& library) {
  const Preset* preset = library.meant(PresetKind::chip, cluster.chip.name);
  return engine::clusters_around(cluster, preset != nullptr ? preset->id : cluster.chip.name);
}

}  // namespace roofscape::io
