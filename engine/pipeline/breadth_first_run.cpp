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
};

// What comes behind the results before it: as one run where all are equally far apart.
void append(PassRun next, std::vector<PassRun>& runs) {
  if (!runs.empty()) {
    PassRun& last = runs.back();
    if (last.count == 1) last.apart = next.first - last.first;
    const bool goes_on = next.first == last.after() && (next.count == 1 || next.apart == last.apart);
    if (goes_on) {
      last.count += next.count;
      return;
    }
  }
  runs.push_back(next);
}

// One virtual stage's passes, whose inputs arrive in this order; `out`: their results where they go to.
class StageRun {
 public:
  StageRun(const StagePasses& stage, Tick free, std::vector<PassRun>& out, Tick* starts)
      : stage_(stage),
        occupied_(stage.duration + (stage.blocking && stage.sends ? stage.hop_out : 0)),
        free_(free),
        out_(out),
        starts_(starts) {}

  void take(PassRun inputs) {
    if (!stage_.reads) return work(free_, occupied_, inputs.count);
    // They catch up with the device: until then it does not wait for them.
    if (inputs.first <= free_) {
      Tick queued = inputs.count;
      if (inputs.apart > occupied_)
        queued = std::min(queued, (free_ - inputs.first) / (inputs.apart - occupied_) + 1);
      work(free_, occupied_, queued);
      inputs.first += queued * inputs.apart, inputs.count -= queued;
      if (inputs.count == 0) return;
    }
    // Waits for the first, and for each of the others where they come more slowly than it works.
    const Tick each = std::max(inputs.apart, occupied_);
    in_transfer_ += std::min(inputs.first - free_, stage_.hop_in) +
                    (inputs.count - 1) * std::min(each - occupied_, stage_.hop_in);
    work(inputs.first, each, inputs.count);
  }
  Tick free() const { return free_; }  // when the device is, again
  Tick in_transfer() const { return in_transfer_; }

 private:
  void work(Tick begin, Tick apart, Tick count) {
    append({begin + stage_.duration + stage_.hop_out, apart, count}, out_);
    free_ = begin + (count - 1) * apart + occupied_;
    in_transfer_ += count * (occupied_ - stage_.duration);
    if (starts_ == nullptr) return;
    for (Tick n = 0; n < count; ++n) *starts_++ = begin + n * apart;
  }

  const StagePasses& stage_;
  Tick occupied_;  // by a pass, with its blocking send
  Tick free_, in_transfer_ = 0;
  std::vector<PassRun>& out_;
  Tick* starts_;
};

// `starts`: of all operations in the order of the devices' lists; null: not asked for.
StepSpan run_all(const ScheduleShape& shape, const PipelineTimes& times, BreadthFirstScratch& scratch, Tick* starts) {
  const std::size_t p = static_cast<std::size_t>(shape.stages), stages = times.forward.size();
  const auto m = static_cast<std::size_t>(shape.microbatches);
  scratch.arrives.assign(1, {0, 0, shape.microbatches});
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
    scratch.sent.clear();
    StageRun of_stage(passes, scratch.free[stage % p], scratch.sent,
                      starts == nullptr ? nullptr : starts + (stage % p * 2 * chunks + nth_run) * m);
    for (const PassRun& inputs : scratch.arrives) of_stage.take(inputs);
    scratch.free[stage % p] = of_stage.free();
    out.in_transfer += of_stage.in_transfer();
    std::swap(scratch.arrives, scratch.sent);
  };
  for (std::size_t s = 0; s < stages; ++s) {
    passes.duration = times.forward[s];
    passes.reads = s > 0, passes.sends = s + 1 < stages;
    passes.hop_in = passes.reads ? hop_to(s - 1, s) : 0;
    passes.hop_out = passes.sends ? hop_to(s, s + 1) : 0;
    run(s, s / p);
  }
  if (shape.backward_order == BackwardOrder::last_in) {
    std::ranges::reverse(scratch.arrives);
    for (PassRun& results : scratch.arrives) results.first = results.last(), results.apart = -results.apart;
  }
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
    room_for(out.start, 2 * times.forward.size() * m);
  }
  const StepSpan step = run_all(shape, times, scratch, starts ? out.start.data() : nullptr);
  out.makespan = step.makespan, out.in_transfer = step.in_transfer;
  out.busy_until = scratch.free;
  out.busy.assign(p, 0);
  for (std::size_t s = 0; s < times.forward.size(); ++s)
    out.busy[s % p] += shape.microbatches * (times.forward[s] + times.backward_input[s] + times.backward_weight[s]);
}

}  // namespace roofscape::engine
