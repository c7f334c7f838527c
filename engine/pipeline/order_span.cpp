// Why the multiplication is exact. An operation starts at the maximum of what it waits for plus constants that depend
// on the kinds of operations alone, so times that are all later by D give starts that are all later by D. Let `reach`
// be how many repetitions back an operation of the middle, or of the drain, waits at most. If the last `reach`
// repetitions are later by D than those `period` before them, on all devices, then the next repetition is later by D
// than the one `period` before it, and so on by induction; and the drain of a step with `period` more of them is
// later by D too, as is every device's end. The time spent in transfers is a sum of such differences, so it grows by
// the same amount with every period.
#include "engine/pipeline/order_span.h"

#include <algorithm>

#include "engine/pipeline/order_rules.h"

namespace roofscape::engine {
namespace {

constexpr std::size_t kKnown = 128;

bool later_by_a_constant(const RunPlan& plan, const Timeline& timeline, const RepeatedMiddle& middle, int repetitions,
                         int reach, int period) {
  const auto length = static_cast<std::size_t>(middle.length), back = length * static_cast<std::size_t>(period);
  const std::vector<Tick>& start = timeline.start;
  std::optional<Tick> shift;
  for (int r = 0; r < middle.stages; ++r) {
    const std::size_t first = r == 0 ? 0 : plan.last_op[static_cast<std::size_t>(r) - 1] + std::size_t{1};
    const std::size_t end =
        first + static_cast<std::size_t>(middle.before(r)) + length * static_cast<std::size_t>(repetitions);
    for (std::size_t i = end; i-- > end - length * static_cast<std::size_t>(reach);) {
      const Tick later = start[i] - start[i - back];
      if (!shift) shift = later;
      if (later != *shift) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<RepeatedMiddle> repeated_middle(const ScheduleShape& shape) {
  const auto middle = orders::rules_of(shape).middle;
  return middle != nullptr && shape.stages >= 2 ? middle(shape) : std::nullopt;
}

StepSpan OrderSpans::span(const ScheduleShape& shape, const PipelineTimes& times) {
  for (const Known& known : known_)
    if (known.shape == shape && known.times == times) return known.step;
  std::optional<StepSpan> step;
  if (runs_without_order(shape))
    step = one_f_one_b_span(shape, times, one_f_one_b_);
  else if (runs_breadth_first(shape))
    step = breadth_first_span(shape, times, breadth_first_);
  else
    step = run_repeated(shape, times);
  if (!step) step = run(shape, times);
  if (known_.size() < kKnown) known_.emplace_back();
  known_[next_] = {shape, times, *step};
  next_ = (next_ + 1) % kKnown;
  return *step;
}

StepSpan OrderSpans::run(const ScheduleShape& shape, const PipelineTimes& times) {
  const RunPlan& plan = cache_.plan(shape);
  simulate(plan, times, cache_.scratch, cache_.timeline);
  operations_run_ += plan.ops;
  return {cache_.timeline.makespan, cache_.timeline.in_transfer};
}

std::optional<StepSpan> OrderSpans::run_repeated(const ScheduleShape& shape, const PipelineTimes& times) {
  const std::optional<RepeatedMiddle> middle = repeated_middle(shape);
  if (!middle) return std::nullopt;
  const int all = middle->repetitions(shape.microbatches);
  const auto with = [&](int repetitions) {
    ScheduleShape few = shape;
    few.microbatches = middle->first_microbatches + repetitions * middle->microbatches_each;
    return few;
  };
  const auto repeats = [&](const ScheduleShape& few, int repetitions, int reach, int period) {
    return reach > 0 && reach + period <= repetitions &&
           later_by_a_constant(cache_.plan(few), cache_.timeline, *middle, repetitions, reach, period);
  };
  // Most pipelines settle while a few times as many microbatches as stages pass; a period is seldom longer than the
  // way of one.
  for (int repetitions = 4 * shape.stages + 8; repetitions < all / 2; repetitions *= 4) {
    const ScheduleShape few = with(repetitions);
    const int far = reach(few, *middle);
    run(few, times);
    int period = 1;
    while (period <= 2 * shape.stages && !repeats(few, repetitions, far, period)) ++period;
    if (period > 2 * shape.stages) continue;
    // As many more that whole periods are left, and one period more than that.
    const int shorter = repetitions + (all - repetitions) % period, longer = shorter + period;
    const StepSpan a = run(with(shorter), times), b = run(with(longer), times);
    if (!repeats(with(longer), longer, reach(with(longer), *middle), period) || reach(with(shorter), *middle) == 0)
      continue;
    const Tick periods = (all - shorter) / period;
    return StepSpan{a.makespan + periods * (b.makespan - a.makespan),
                    a.in_transfer + periods * (b.in_transfer - a.in_transfer)};
  }
  return std::nullopt;
}

// How many repetitions back the last repetition and the drain wait at most; at least 1. 0: for something in the
// warm-up.
int OrderSpans::reach(const ScheduleShape& shape, const RepeatedMiddle& middle) {
  for (const auto& [known, reach] : reaches_)
    if (known == shape) return reach;
  const RunPlan& plan = cache_.plan(shape);
  const int count = middle.repetitions(shape.microbatches);
  repetition_.assign(plan.ops, count);
  std::size_t i = 0;
  for (int r = 0; r < shape.stages; ++r) {
    for (int k = 0; k < middle.before(r); ++k) repetition_[i++] = -1;
    for (int n = 0; n < count; ++n)
      for (int k = 0; k < middle.length; ++k) repetition_[i++] = n;
    i = plan.last_op[static_cast<std::size_t>(r)] + std::size_t{1};
  }
  int reach = 1;
  const RunPlan::Step* step = plan.steps.data();
  for (const RunPlan::Turn& turn : plan.turns)
    for (std::uint32_t op = turn.first; op < turn.first + turn.count; ++op, ++step) {
      const int mine = repetition_[op];
      if (mine < count - 1) continue;
      const std::uint32_t before = op == turn.first && turn.first_of_device ? op : op - 1;
      for (const std::uint32_t other : {before, step->producer}) {
        const int theirs = repetition_[other];
        if (theirs < 0 || theirs > mine) {
          reaches_.emplace_back(shape, 0);
          return 0;
        }
        reach = std::max(reach, mine - theirs);
      }
    }
  reaches_.emplace_back(shape, reach);
  return reach;
}

}  // namespace roofscape::engine
