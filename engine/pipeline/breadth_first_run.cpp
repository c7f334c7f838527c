#include "engine/pipeline/breadth_first_run.h"

#include <algorithm>
#include <cstddef>

#include "engine/base/kept_memory.h"

namespace roofscape::engine {
namespace {

// One virtual stage's passes in one direction.
struct StagePasses {
  Tick duration = 0, hop_in = 0, hop_out = 0;
  bool reads = false, sends = false;  // from and to another device
  bool blocking = false;              // the device is busy until what it sent has arrived
  bool reversed = false;              // the last microbatch first
};

// When the device is free again. `starts`: of each pass; null: not asked for.
Tick run_stage(const StagePasses& stage, Tick free, std::vector<Tick>& arrives, Tick& in_transfer, Tick* starts) {
  const std::size_t m = arrives.size();
  for (std::size_t n = 0; n < m; ++n) {
    Tick& arrival = arrives[stage.reversed ? m - 1 - n : n];
    const Tick begin = stage.reads ? std::max(free, arrival) : free;
    if (starts != nullptr) starts[n] = begin;
    in_transfer += std::min(begin - free, stage.hop_in);
    free = begin + stage.duration;
    arrival = free + stage.hop_out;
    if (!stage.blocking || !stage.sends) continue;
    in_transfer += stage.hop_out;
    free = arrival;
  }
  return free;
}

// `starts`: of all operations in the order of the devices' lists; null: not asked for.
StepSpan run_all(const ScheduleShape& shape, const PipelineTimes& times, BreadthFirstScratch& scratch, Tick* starts) {
  const std::size_t p = static_cast<std::size_t>(shape.stages), stages = times.forward.size();
  const auto m = static_cast<std::size_t>(shape.microbatches);
  scratch.arrives.assign(m, 0);
  scratch.free.assign(p, 0);
  const auto hop_to = [&](std::size_t from, std::size_t to) {
    return times.hop(static_cast<std::uint32_t>(from % p), static_cast<std::uint32_t>(to % p));
  };
  StepSpan out;
  StagePasses passes;
  passes.blocking = times.blocking_send;
  // A device has as many runs of m passes as it holds stages, forth and then back.
  const std::size_t chunks = stages / p;
  const auto run = [&](std::size_t stage, std::size_t nth_run) {
    Tick& free = scratch.free[stage % p];
    free = run_stage(passes, free, scratch.arrives, out.in_transfer,
                     starts == nullptr ? nullptr : starts + (stage % p * 2 * chunks + nth_run) * m);
  };
  for (std::size_t s = 0; s < stages; ++s) {
    passes.duration = times.forward[s];
    passes.reads = s > 0, passes.sends = s + 1 < stages;
    passes.hop_in = passes.reads ? hop_to(s - 1, s) : 0;
    passes.hop_out = passes.sends ? hop_to(s, s + 1) : 0;
    run(s, s / p);
  }
  passes.reversed = shape.backward_order == BackwardOrder::last_in;
  for (std::size_t s = stages; s-- > 0;) {
    passes.duration = times.backward_input[s] + times.backward_weight[s];
    passes.reads = s + 1 < stages, passes.sends = s > 0;
    passes.hop_in = passes.reads ? hop_to(s + 1, s) : 0;
    passes.hop_out = passes.sends ? hop_to(s, s - 1) : 0;
    run(s, 2 * chunks - 1 - s / p);
  }
  out.makespan = *std::max_element(scratch.free.begin(), scratch.free.end());
  return out;
}

}  // namespace

bool runs_breadth_first(const ScheduleShape& shape) {
  return shape.stages > 1 && !shape.order &&
         (shape.kind == ScheduleKind::gpipe || shape.kind == ScheduleKind::looped_bfs);
}

StepSpan breadth_first_span(const ScheduleShape& shape, const PipelineTimes& times, BreadthFirstScratch& scratch) {
  return run_all(shape, times, scratch, nullptr);
}

void breadth_first_timeline(const ScheduleShape& shape, const PipelineTimes& times, bool starts,
                            BreadthFirstScratch& scratch, Timeline& out) {
  const auto p = static_cast<std::size_t>(shape.stages), m = static_cast<std::size_t>(shape.microbatches);
  if (starts) {
    give_back_unless_needed(out.start, 2 * times.forward.size() * m);
    out.start.resize(2 * times.forward.size() * m);
  }
  const StepSpan step = run_all(shape, times, scratch, starts ? out.start.data() : nullptr);
  out.makespan = step.makespan, out.in_transfer = step.in_transfer;
  out.busy_until = scratch.free;
  out.busy.assign(p, 0);
  for (std::size_t s = 0; s < times.forward.size(); ++s)
    out.busy[s % p] += shape.microbatches * (times.forward[s] + times.backward_input[s] + times.backward_weight[s]);
}

}  // namespace roofscape::engine
