// Placements on a torus that a search tries: one of each kind that times can tell apart, and whose axes it keeps apart.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "engine/inputs/placement.h"
#include "engine/search/plan_dimensions.h"
#include "engine/search/torus_places.h"
#include "tests/capture_binding.h"
#include "tests/cases_to_try.h"
#include "tests/engine/search/random_space.h"

using namespace roofscape::engine;
using namespace roofscape;
using tests::any_of;
using tests::Dice;

namespace {

MeshLinks links_of(Scenario s, const Plan& plan) {
  apply(s, plan);
  return place_mesh(s.cluster, s.parallelism, s.placement);
}
std::vector<AxisLinks> senders(const MeshLinks& mesh) {
  std::vector<AxisLinks> out(mesh.axes.begin(), mesh.axes.end());
  out.insert(out.end(), {mesh.state, mesh.expert_state, mesh.expert_data});
  return out;
}

// Whether the torus axes of one can be renamed, each as one that closes as it does, so that it is the other.
bool alike(const MeshLinks& a, const MeshLinks& b) {
  std::array<unsigned, 3> name{0, 1, 2};
  do {
    const auto renamed = [&](unsigned axes) {
      unsigned out = 0;
      for (unsigned i = 0; i < 3; ++i)
        if ((axes >> i & 1u) != 0) out |= 1u << name[i];
      return out;
    };
    bool fits = true;
    for (std::size_t i = 0; i < 3; ++i) fits = fits && a.closes[i] == a.closes[name[i]];
    const std::vector<AxisLinks> of_a = senders(a), of_b = senders(b);
    for (std::size_t i = 0; i < of_a.size(); ++i)
      fits = fits && renamed(static_cast<unsigned>(of_a[i].on)) == static_cast<unsigned>(of_b[i].on);
    if (fits) return true;
  } while (std::ranges::next_permutation(name).found);
  return false;
}

}  // namespace

TEST_CASE("of placements that no time tells apart a mesh has the first that is tried, and no other") {
  std::mt19937 rng(7);
  const std::array places{&PlanSpace::data_on,    &PlanSpace::fsdp_on,   &PlanSpace::tensor_on,
                          &PlanSpace::context_on, &PlanSpace::expert_on, &PlanSpace::pipeline_on};
  int meshes = 0, several = 0;
  for (int i = 0; i < tests::cases_to_try(100); ++i) {
    Dice dice(rng);
    Scenario s = tests::random_small_scenario(rng);
    while (s.cluster.chip.interconnect != Interconnect::torus) s = tests::random_small_scenario(rng);
    PlanSpace space = space_of(s);
    for (int k = 0; k < 3; ++k) {
      std::vector<double>& values = space.*places[static_cast<std::size_t>(dice.pick(0, 5))];
      values.clear();
      for (int n = dice.pick(1, 4); n > 0; --n) values.push_back(dice.pick(0, 7));
    }
    const Plan own = bare_plan(s);
    struct One {
      Plan setting;
      Scenario scenario;
    };
    std::vector<One> tried;
    for (const Plan& setting : settings_tried(s, space)) tried.push_back({setting, with_settings_of(s, setting)});
    const SpaceChoices first(tried[0].scenario, space, own);
    for (int k = 0; k < 6; ++k) {
      Plan mesh =
          first.groups[static_cast<std::size_t>(dice.pick(0, static_cast<int>(first.groups.size()) - 1))].mesh;
      const std::vector<int>& divide = first.data_divisors;
      const int stages = divide[static_cast<std::size_t>(dice.pick(0, static_cast<int>(divide.size()) - 1))];
      if (mesh.data % stages != 0) continue;
      mesh.pipeline = stages, mesh.data /= stages;
      if (dice.one_in(2)) std::swap(mesh.data, mesh.fsdp);
      CAPTURE(i);
      CAPTURE(k);
      ++meshes;
      std::vector<MeshLinks> seen;
      std::vector<Plan> firsts;
      for (const One& one : tried) {
        Plan plan = mesh;
        plan.on = one.setting.on;
        const MeshLinks links = links_of(s, plan);
        const auto like = std::ranges::find_if(seen, [&](const MeshLinks& other) { return alike(links, other); });
        bool apart = true;
        for (const Axis axis : {Axis::data, Axis::fsdp, Axis::tensor, Axis::context, Axis::expert, Axis::pipeline})
          apart = apart && (plan.on[axis] == own.on[axis] || keeps_axes_apart(s, plan, axis));
        const bool is_first = like == seen.end();
        CHECK(SpaceChoices(one.scenario, space, own).has_mesh(plan) == (is_first && apart));
        if (is_first) seen.push_back(links), firsts.push_back(plan);
        // Whichever of them a plan names, it is found as the first.
        const Plan& found = is_first ? plan : firsts[static_cast<std::size_t>(like - seen.begin())];
        PlacesTried values;
        for (const One& other : tried)
          for (std::size_t axis = 0; axis < values.size(); ++axis)
            if (std::ranges::find(values[axis], other.setting.on[axis]) == values[axis].end())
              values[axis].push_back(other.setting.on[axis]);
        const auto placed = first_placed_as(s, values, plan);
        REQUIRE(placed);
        CHECK(*placed == found.on);
      }
      several += firsts.size() > 1;
    }
  }
  CHECK(meshes > 0);
  CHECK(several > 0);
}
