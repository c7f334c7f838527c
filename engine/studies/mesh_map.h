// The plans around a plan: two mesh axes take every power of two, a third takes what is left so that the number of
// chips stays; all else is the plan's. A cell knows the edits that adopt it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/report.h"
#include "engine/scenario.h"
#include "engine/scenario_fields.h"
#include "engine/search/plan_space.h"

namespace roofscape::engine {

enum class MeshPair : std::uint8_t {
  automatic,        // tensor x pipeline where the plan has a pipeline, else tensor x fsdp
  tensor_fsdp,      // data takes the rest
  tensor_pipeline,  // fsdp takes the rest, or data where the plan has replicas alone
  tensor_context,   // the same
};
inline constexpr std::array<std::string_view, 4> kMeshPairIds{"automatic", "tensor-fsdp", "tensor-pipeline",
                                                              "tensor-context"};

enum class MeshCellState : std::uint8_t {
  runs,
  too_full,    // does not fit in the memory of a chip
  impossible,  // `problem` says why
  no_mesh,     // the chips do not divide by the two degrees
  too_long,    // the schedule has too many operations to be priced while something moves
  excluded,    // runs, but a search does not look at it: `limit` says why
};

struct MeshCell {
  int x_degree = 1, y_degree = 1;
  int rest = 0;                      // degree of the axis that takes what is left
  MeshCellState state = MeshCellState::no_mesh;
  std::string_view problem;          // code of an error diagnostic
  double step_s = 0, mfu = 0, memory_bytes = 0, over_bytes = 0;
  bool own = false;                  // the plan itself
  BrokenLimit limit;                 // its dimension is "min_free" where too little memory is left
};

struct MeshMap {
  Axis x = Axis::tensor, y = Axis::fsdp, rest = Axis::data;
  std::vector<int> x_degrees, y_degrees;  // rising
  std::vector<MeshCell> cells;            // row by row of y
  const MeshCell& cell(std::size_t xi, std::size_t yi) const { return cells[yi * x_degrees.size() + xi]; }
};

// `space`: what is searched, of which the cells outside are excluded; null: nothing is.
MeshMap mesh_map(const Scenario& scenario, MeshPair pair, const PlanSpace* space = nullptr);
// The changes that turn the scenario into the cell's plan; none for a cell without a mesh or outside of what is
// searched, or the plan itself.
std::vector<FieldEdit> edits_of(const MeshMap& map, const MeshCell& cell);

}  // namespace roofscape::engine
