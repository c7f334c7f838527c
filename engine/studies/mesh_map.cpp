#include "engine/studies/mesh_map.h"

#include <algorithm>
#include <string>

#include "engine/evaluate.h"
#include "engine/training/stage_cost.h"

namespace roofscape::engine {
namespace {

constexpr std::size_t kMostDegrees = 8;  // along an axis
constexpr int kMostInside = 64;          // of tensor, context and pipeline
constexpr double kMostOps = 1 << 15;     // of a pipeline

int& degree_of(Parallelism& plan, Axis axis) {
  switch (axis) {
    case Axis::data: return plan.data;
    case Axis::fsdp: return plan.fsdp;
    case Axis::tensor: return plan.tensor;
    case Axis::context: return plan.context;
    case Axis::expert: return plan.expert;
    case Axis::pipeline: return plan.pipeline;
  }
  return plan.data;
}

// Powers of two up to `most` and the plan's own degree; the largest where there are too many.
std::vector<int> degrees_up_to(int most, int own) {
  std::vector<int> out;
  for (int d = 1; d <= most; d *= 2) out.push_back(d);
  if (std::find(out.begin(), out.end(), own) == out.end()) out.push_back(own);
  std::sort(out.begin(), out.end());
  while (out.size() > kMostDegrees) out.erase(out.begin() + (out.front() == own ? 1 : 0));
  return out;
}

void exclude(const Scenario& s, const PlanSpace& space, double capacity_bytes, MeshCell& cell) {
  if (auto broken = broken_limit(s, space, plan_of(s))) cell.limit = std::move(*broken);
  else if (cell.memory_bytes > (1 - space.min_free) * capacity_bytes) cell.limit.dimension = "min_free";
  else return;
  cell.state = MeshCellState::excluded;
}

}  // namespace

MeshMap mesh_map(const Scenario& s, MeshPair pair, const PlanSpace* space) {
  MeshMap out;
  const Parallelism& plan = s.parallelism;
  if (pair == MeshPair::automatic) pair = plan.pipeline > 1 ? MeshPair::tensor_pipeline : MeshPair::tensor_fsdp;
  if (pair == MeshPair::tensor_pipeline) out.y = Axis::pipeline;
  if (pair == MeshPair::tensor_context) out.y = Axis::context;
  if (pair != MeshPair::tensor_fsdp) out.rest = plan.fsdp > 1 || plan.data == 1 ? Axis::fsdp : Axis::data;
  // Ranks the three axes share.
  const int shared = plan.degree(out.x) * plan.degree(out.y) * plan.degree(out.rest);
  out.x_degrees = degrees_up_to(std::min(shared, kMostInside), plan.degree(out.x));
  const int deepest = out.y == Axis::pipeline  ? std::min(kMostInside, s.model.n_layers)
                      : out.y == Axis::context ? kMostInside
                                               : shared;
  out.y_degrees = degrees_up_to(std::min(shared, deepest), plan.degree(out.y));

  Scenario edited = s;
  Report report;
  EvaluationScratch scratch;
  for (const int y : out.y_degrees)
    for (const int x : out.x_degrees) {
      MeshCell cell;
      cell.x_degree = x, cell.y_degree = y;
      cell.own = x == plan.degree(out.x) && y == plan.degree(out.y);
      const std::int64_t both = std::int64_t{x} * y;
      if (both <= shared && shared % both == 0) {
        cell.rest = static_cast<int>(shared / both);
        edited.parallelism = plan;
        degree_of(edited.parallelism, out.x) = x;
        degree_of(edited.parallelism, out.y) = y;
        degree_of(edited.parallelism, out.rest) = cell.rest;
        const Parallelism& mesh = edited.parallelism;
        const double ops = 3.0 * microbatch_count(edited) * mesh.pipeline * std::max(1, s.pipeline.virtual_stages);
        if (mesh.pipeline > 1 && !cell.own && ops > kMostOps) {
          cell.state = MeshCellState::too_long;
        } else {
          evaluate(edited, scratch, report);
          const auto value = [&report](Q q) { return report.quantities.value_or(q, 0); };
          cell.step_s = value(Q::step_time);
          cell.mfu = value(Q::mfu);
          cell.memory_bytes = value(Q::memory_total);
          cell.over_bytes = std::max(0.0, -value(Q::memory_free));
          // A rule that is broken first: what a plan holds that cannot run is not to be compared (a schedule that is
          // not possible keeps no second copy of the weights).
          for (const Diagnostic& d : report.diagnostics)
            if (d.severity == Severity::error && cell.problem.empty()) cell.problem = d.code;
          cell.state = !cell.problem.empty() ? MeshCellState::impossible
                       : !report.fits()      ? MeshCellState::too_full
                                             : MeshCellState::runs;
          if (space != nullptr && cell.state == MeshCellState::runs)
            exclude(edited, *space, value(Q::hbm_capacity), cell);
        }
      }
      out.cells.push_back(cell);
    }
  return out;
}

std::vector<FieldEdit> edits_of(const MeshMap& map, const MeshCell& cell) {
  std::vector<FieldEdit> out;
  if (cell.rest <= 0 || cell.own || cell.state == MeshCellState::excluded) return out;
  const auto add = [&out](Axis axis, int degree) {
    out.push_back({find_field("parallelism." + std::string(kAxisIds[static_cast<std::size_t>(axis)])),
                   static_cast<double>(degree)});
  };
  add(map.x, cell.x_degree);
  add(map.y, cell.y_degree);
  add(map.rest, cell.rest);
  return out;
}

}  // namespace roofscape::engine
