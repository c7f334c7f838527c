#include "engine/search/torus_places.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "engine/inputs/placement.h"

namespace roofscape::engine {

namespace {

bool on_torus(const Scenario& s) { return s.cluster.chip.interconnect == Interconnect::torus; }

MeshLinks links_of(const Scenario& s, const Plan& plan) {
  Parallelism mesh = s.parallelism;
  mesh.data = plan.data, mesh.fsdp = plan.fsdp, mesh.tensor = plan.tensor, mesh.context = plan.context;
  mesh.pipeline = plan.pipeline, mesh.expert = plan.expert, mesh.expert_tensor = plan.expert_tensor;
  Placement placement = s.placement;
  placement.on = plan.on;
  return place_mesh(s.cluster, mesh, placement);
}

// Everything that sends over links of its own.
std::array<const AxisLinks*, kAxisCount + 3> groups_of(const MeshLinks& mesh) {
  std::array<const AxisLinks*, kAxisCount + 3> groups{};
  std::ranges::transform(mesh.axes, groups.begin(), [](const AxisLinks& of) { return &of; });
  std::ranges::copy(std::array{&mesh.state, &mesh.expert_state, &mesh.expert_data}, groups.begin() + kAxisCount);
  return groups;
}

unsigned axes_of(const AxisLinks& links) { return static_cast<unsigned>(links.on); }

bool has_own(int axis) { return axis == static_cast<int>(Axis::tensor) || axis == static_cast<int>(Axis::pipeline); }

}  // namespace

// Axes of which both close, or none, are alike: no time tells x from y.
TorusPlaces torus_places(const Scenario& s, const Plan& plan) {
  TorusPlaces out;
  if (!on_torus(s)) return out;
  const MeshLinks links = links_of(s, plan);
  const auto groups = groups_of(links);
  for (const AxisLinks* of : groups) out.on[static_cast<std::size_t>(of->axis)] |= axes_of(*of);
  const auto as_named = [&](const std::array<std::size_t, 3>& name) {
    int code = 0;
    for (const AxisLinks* of : groups) {
      code *= 8;
      for (std::size_t axis = 0; axis < name.size(); ++axis)
        if ((axes_of(*of) >> axis & 1u) != 0) code += 1 << name[axis];
    }
    return code;
  };
  out.code = std::numeric_limits<int>::max();
  std::array<std::size_t, 3> name{0, 1, 2};
  do {
    const auto alike = [&](std::size_t axis) { return links.closes[axis] == links.closes[name[axis]]; };
    if (alike(0) && alike(1) && alike(2)) out.code = std::min(out.code, as_named(name));
  } while (std::ranges::next_permutation(name).found);
  return out;
}

bool keeps_axes_apart(const Scenario& s, const Plan& plan, Axis axis) {
  if (!on_torus(s)) return true;
  const MeshLinks links = links_of(s, plan);
  const auto groups = groups_of(links);
  return std::ranges::all_of(groups, [&](const AxisLinks* mine) {
    return mine->axis != static_cast<int>(axis) || std::ranges::all_of(groups, [&](const AxisLinks* other) {
             const bool apart = (axes_of(*mine) & axes_of(*other)) == 0;
             return apart || other->axis == mine->axis || !(has_own(mine->axis) || has_own(other->axis));
           });
  });
}

std::optional<AxisArray<TorusAxes>> first_placed_as(const Scenario& s, const PlacesTried& tried, const Plan& plan) {
  const TorusPlaces wanted = torus_places(s, plan);
  const unsigned sides = torus_sides(s.cluster);
  // Of an axis that lies somewhere the places that come to as many torus axes, or may.
  AxisArray<std::array<TorusAxes, kTorusAxesIds.size()>> open{};
  AxisArray<std::size_t> count{}, at{};
  Plan one = plan;
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (wanted.on[i] == 0) {
      one.on[i] = tried[i].front();
      continue;
    }
    for (const TorusAxes places : tried[i]) {
      const unsigned named = static_cast<unsigned>(places) & sides;
      if (named == 0 || torus_axis_count(named) == torus_axis_count(wanted.on[i])) open[i][count[i]++] = places;
    }
    if (count[i] == 0) return std::nullopt;
    one.on[i] = open[i][0];
  }
  while (torus_places(s, one).code != wanted.code) {
    // The last changes fastest, as in settings_tried().
    std::size_t turn = open.size();
    while (turn > 0 && at[turn - 1] + 1 >= count[turn - 1]) --turn;
    if (turn == 0) return std::nullopt;
    ++at[turn - 1];
    std::fill(at.begin() + static_cast<std::ptrdiff_t>(turn), at.end(), 0);
    for (std::size_t i = turn - 1; i < open.size(); ++i)
      if (count[i] > 0) one.on[i] = open[i][at[i]];
  }
  return one.on;
}

}  // namespace roofscape::engine
