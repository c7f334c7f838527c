#include "tests/engine/edited_scenario.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::tests {

namespace {

// Small numbers and powers of two are what plans have; the ends of a domain are where arithmetic breaks.
double any_value(const engine::Field& field, const Choose& choose) {
  const double low = field.minimum, high = field.maximum;
  if (field.kind == engine::FieldKind::boolean) return choose(2);
  if (field.kind == engine::FieldKind::choice) return choose(static_cast<std::uint32_t>(high) + 1);
  switch (choose(6)) {
    case 0:
      return low;
    case 1:
      return high;
    case 2:
      return std::min(low + choose(9), high);
    case 3:
      return std::clamp(std::ldexp(1.0, static_cast<int>(choose(31))), low, high);
    case 4:
      return std::clamp(static_cast<double>(choose(65536)), low, high);
    default: {
      const double share = choose(1001) / 1000.0;
      const double x = low > 0 ? low * std::pow(high / low, share) : low + (high - low) * share * share * share;
      return std::clamp(field.kind == engine::FieldKind::integer ? std::round(x) : x, low, high);
    }
  }
}

// A torus has no nodes, and nodes have no slices.
bool is_of_cluster(const engine::Field& field, const engine::Cluster& cluster) {
  const bool nodes = field.path.starts_with("cluster.node");
  return !field.path.starts_with("cluster.") ||
         nodes == (cluster.chip.interconnect == engine::Interconnect::switched);
}

}  // namespace

void edit_fields(engine::Scenario& s, int edits, const Choose& choose) {
  const auto fields = engine::scenario_fields();
  for (; edits > 0; --edits) {
    const engine::Field& field = fields[choose(static_cast<std::uint32_t>(fields.size()))];
    const double value = any_value(field, choose);
    if (is_of_cluster(field, s.cluster)) engine::apply(s, {&field, value});
  }
}

engine::Scenario edited_scenario(const io::PresetLibrary& library, int edits, const Choose& choose) {
  static const std::vector<engine::Scenario> presets = [&library] {
    std::vector<engine::Scenario> out;
    for (const io::Preset& preset : library.list(io::PresetKind::scenario))
      if (auto read = io::load_scenario(preset.id, library)) out.push_back(std::move(read).value());
    return out;
  }();
  const auto any_id = [&](io::PresetKind kind) {
    const auto& list = library.list(kind);
    return list[choose(static_cast<std::uint32_t>(list.size()))].id;
  };
  engine::Scenario s = presets[choose(static_cast<std::uint32_t>(presets.size()))];
  if (choose(3) == 0) s.model = *library.find_model(any_id(io::PresetKind::model));
  if (choose(3) == 0) s.cluster = *library.find_cluster(any_id(io::PresetKind::cluster));
  edit_fields(s, edits, choose);
  return s;
}

}  // namespace roofscape::tests
