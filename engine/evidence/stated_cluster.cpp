#include "engine/evidence/stated_cluster.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace roofscape::evidence {
namespace {

using engine::ChipField;
using engine::say;
using engine::Sentence;

// The number that ends where `end` points, and where it begins.
std::optional<double> number_before(std::string_view text, std::size_t end, std::size_t& begin) {
  while (end > 0 && text[end - 1] == ' ') --end;
  begin = end;
  while (begin > 0 && (std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0 || text[begin - 1] == '.'))
    --begin;
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, value);
  if (begin == end || error != std::errc() || stop != text.data() + end) return std::nullopt;
  return value;
}

// Bytes a second of one node into the fabric, one way, from words such as "8x200 Gb/s InfiniBand per node" and
// "400 Gb/s per GPU".
std::optional<double> stated_fabric(std::string_view cluster, int node_size) {
  constexpr std::string_view kUnit = "Gb/s";
  const std::size_t unit = cluster.find(kUnit);
  if (unit == std::string_view::npos) return std::nullopt;
  std::size_t begin = 0;
  const auto rate = number_before(cluster, unit, begin);
  if (!rate || !(*rate > 0)) return std::nullopt;
  double links = 1;
  if (begin > 0 && cluster[begin - 1] == 'x') {
    std::size_t ignored = 0;
    links = number_before(cluster, begin - 1, ignored).value_or(1);
  }
  const std::string_view rest = cluster.substr(unit);
  const std::size_t node = rest.find("per node"), chip = rest.find("per GPU");
  if (node == std::string_view::npos && chip == std::string_view::npos && links == 1) return std::nullopt;
  const bool per_chip = chip != std::string_view::npos && chip < node;
  return *rate * 1e9 / 8 * links * (per_chip ? node_size : 1);
}

// A slice of so many chips: sides near each other, in 3D multiples of 4 where that is possible.
std::array<int, 3> slice_of(int chips, int dims) {
  std::array<int, 3> best{chips, 1, 1};
  int least = chips + 2;
  for (int a = 1; a <= chips; ++a) {
    if (chips % a != 0) continue;
    for (int b = a; b <= chips / a; ++b) {
      if ((chips / a) % b != 0 || (dims == 2 && a != 1)) continue;
      const int c = chips / a / b;
      if (c < b) continue;
      const int off = (dims == 3 && a % 4 != 0 ? chips : 0) + a + b + c;
      if (off < least) least = off, best = dims == 2 ? std::array<int, 3>{b, c, 1} : std::array<int, 3>{a, b, c};
    }
  }
  return best;
}

}  // namespace

std::variant<engine::Cluster, Sentence> build_cluster(const io::Measurement& entry, const io::PresetLibrary& library,
                                                      int ranks) {
  const Sentence unknown = say("evidence.unpredicted.chip");
  if (!entry.hardware || entry.hardware->chip_id.empty()) return unknown;
  const io::MeasuredHardware& h = *entry.hardware;
  const engine::Chip* chip = library.find_chip(h.chip_id);
  if (chip == nullptr) return unknown;
  engine::Cluster cluster;
  cluster.chip = *chip;
  if (h.hbm_bytes_per_s) cluster.chip[ChipField::hbm_bytes_per_s] = {h.hbm_bytes_per_s, "measurement"};
  if (chip->interconnect == engine::Interconnect::torus) {
    cluster.slices = h.slices.value_or(1);
    const int chips = h.chips_per_slice.value_or(std::max(1, ranks / cluster.slices));
    cluster.slice = slice_of(chips, static_cast<int>(cluster.chip[ChipField::ici_torus_dims].value.value_or(3)));
    return cluster;
  }
  cluster.node_size = std::min(h.node_size.value_or(8), std::max(1, ranks));
  cluster.nodes = (ranks + cluster.node_size - 1) / cluster.node_size;
  if (const auto fabric = stated_fabric(h.cluster, h.node_size.value_or(8)))
    cluster.chip[ChipField::scaleout_bytes_per_s_per_node_oneway] = {fabric, "measurement: " + h.cluster};
  // A job on a part of a node's chips has its links to itself; a larger domain's figure is for the whole domain.
  else if (const auto domain = cluster.chip[ChipField::scaleup_domain_chips].value;
           domain && *domain > cluster.node_size && cluster.nodes > 1) {
    auto& node = cluster.chip[ChipField::scaleout_bytes_per_s_per_node_oneway];
    if (node.value) *node.value *= cluster.node_size / *domain;
  }
  return cluster;
}

}  // namespace roofscape::evidence
