#include "engine/pipeline/breadth_first_run.h"

#include <algorithm>
#include <cstddef>

namespace roofscape::engine {
namespace {

// One virtual stage's passes in one direction.
struct StagePasses {
  Tick duration = 0, hop_in = 0, hop_out = 0;
  bool reads = false, sends = false;  // from and to another device
  bool blocking = false;              // the device is busy until what it sent has arrived
  bool reversed = false;              // the last microbatch first
};

// When the device is free again.
Tick run_stage(const StagePasses& stage, Tick free, std::vector<Tick>& arrives, Tick& in_transfer) {
  const std::size_t m = arrives.size();
  for (std::size_t n = 0; n < m; ++n) {
    Tick& arrival = arrives[stage.reversed ? m - 1 - n : n];
    const Tick begin = stage.reads ? std::max(free, arrival) : free;
    in_transfer += std::min(begin - free, stage.hop_in);
    free = begin + stage.duration;
    arrival = free + stage.hop_out;
    if (!stage.blocking || !stage.sends) continue;
    in_transfer += stage.hop_out;
    free = arrival;
  }
  return free;
}

}  // namespace

bool runs_breadth_first(const ScheduleShape& shape) {
  return shape.stages > 1 && !shape.order &&
         (shape.kind == ScheduleKind::gpipe || shape.kind == ScheduleKind::looped_bfs);
}

StepSpan breadth_first_span(const ScheduleShape& shape, const PipelineTimes& times, BreadthFirstScratch& scratch) {
  const std::size_t p = static_cast<std::size_t>(shape.stages), stages = times.forward.size();
  scratch.arrives.assign(static_cast<std::size_t>(shape.microbatches), 0);
  scratch.free.assign(p, 0);
  const auto hop_to = [&](std::size_t from, std::size_t to) {
    return times.hop(static_cast<std::uint32_t>(from % p), static_cast<std::uint32_t>(to % p));
  };
  StepSpan out;
  StagePasses passes;
  passes.blocking = times.blocking_send;
  const auto run = [&](std::size_t stage) {
    Tick& free = scratch.free[stage % p];
    free = run_stage(passes, free, scratch.arrives, out.in_transfer);
  };
  for (std::size_t s = 0; s < stages; ++s) {
    passes.duration = times.forward[s];
    passes.reads = s > 0, passes.sends = s + 1 < stages;
    passes.hop_in = passes.reads ? hop_to(s - 1, s) : 0;
    passes.hop_out = passes.sends ? hop_to(s, s + 1) : 0;
    run(s);
  }
  passes.reversed = shape.backward_order == BackwardOrder::last_in;
  for (std::size_t s = stages; s-- > 0;) {
    passes.duration = times.backward_input[s] + times.backward_weight[s];
    passes.reads = s + 1 < stages, passes.sends = s > 0;
    passes.hop_in = passes.reads ? hop_to(s + 1, s) : 0;
    passes.hop_out = passes.sends ? hop_to(s, s - 1) : 0;
    run(s);
  }
  out.makespan = *std::max_element(scratch.free.begin(), scratch.free.end());
  return out;
}

}  // namespace roofscape::engine
