// Why the multiplication is exact. An operation starts at the maximum of what it waits for plus constants that depend
// on the kinds of operations alone, so times that are all later by D give starts that are all later by D. Let `reach`
// be how many repetitions back an operation of the middle, or of the drain, waits at most. If the last `reach`
// repetitions are later by D than those `period` before them, on all devices, then the next repetition is later by D
// than the one `period` before it, and so on by induction; and the drain of a step with `period` more of them is
// later by D too, as is every device's end. The time spent in transfers is a sum of such differences, so it grows by
// the same amount with every period.
#include "engine/pipeline/order_span.h"

#include <algorithm>

#include "engine/base/kept_memory.h"
#include "engine/pipeline/order_rules.h"

namespace roofscape::engine {
namespace {

constexpr std::size_t kKnown = 128;
constexpr std::size_t kChainsOfShape = 4;
constexpr std::size_t kChainsBytes = std::size_t{8} << 20;  // then all are forgotten

std::size_t first_op(const RunPlan& plan, int device) {
  return device == 0 ? 0 : plan.last_op[static_cast<std::size_t>(device) - 1] + std::size_t{1};
}

// Behind the last repetition of a device's list.
std::size_t middle_end(const RunPlan& plan, const ScheduleShape& shape, const RepeatedMiddle& middle, int repetitions,
                       int device) {
  return first_op(plan, device) + static_cast<std::size_t>(middle.before(shape, device)) +
         static_cast<std::size_t>(middle.length) * static_cast<std::size_t>(repetitions);
}

bool later_by_a_constant(const RunPlan& plan, const Timeline& timeline, const ScheduleShape& shape,
                         const RepeatedMiddle& middle, int repetitions, int reach, int period) {
  const auto length = static_cast<std::size_t>(middle.length), back = length * static_cast<std::size_t>(period);
  const std::vector<Tick>& start = timeline.start;
  std::optional<Tick> shift;
  for (int r = 0; r < shape.stages; ++r) {
    const std::size_t end = middle_end(plan, shape, middle, repetitions, r);
    for (std::size_t i = end; i-- > end - length * static_cast<std::size_t>(reach);) {
      const Tick later = start[i] - start[i - back];
      if (!shift) shift = later;
      if (later != *shift) return false;
    }
  }
  return true;
}

// Before `at` stand `period` times; behind them, that often, the same again, each time later.
Tick* repeat(Tick* at, std::size_t period, std::size_t often, Tick later) {
  constexpr std::size_t kLongRun = 1024;  // copied at once, once as many are there
  Tick* const end = at + period * often;
  std::size_t back = period;
  while (at < end) {
    const std::size_t count = std::min(back, static_cast<std::size_t>(end - at));
    at = std::transform(at - back, at - back + count, at, [later](Tick start) { return start + later; });
    if (back < kLongRun) back *= 2, later *= 2;
  }
  return end;
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
  const bool needs_no_order = runs_without_order(shape) || runs_breadth_first(shape);
  const std::size_t ops = std::size_t{2} * static_cast<std::size_t>(shape.stages) *
                          static_cast<std::size_t>(shape.virtual_stages) *
                          static_cast<std::size_t>(shape.microbatches);
  if (!needs_no_order || ops >= kLongStep)
    if (const auto settled = settle(shape, times)) {
      add_totals(*settled, totals_);
      step = StepSpan{totals_.makespan, totals_.in_transfer};
      keep_chain(shape, times, &*settled, step->makespan);
    }
  if (!step && needs_no_order) {
    step = runs_without_order(shape) ? one_f_one_b_span(shape, times, one_f_one_b_)
                                     : breadth_first_span(shape, times, breadth_first_);
    operations_run_ += ops;
  }
  if (!step) {
    if (worth_a_plan(shape))
      run(shape, times);
    else
      run_without_plan(shape, times);
    step = StepSpan{cache_.timeline.makespan, cache_.timeline.in_transfer};
    keep_chain(shape, times, nullptr, step->makespan);
  }
  if (known_.size() < kKnown) known_.emplace_back();
  known_[next_] = {shape, times, *step};
  next_ = (next_ + 1) % kKnown;
  return *step;
}

Tick OrderSpans::least_makespan(const ScheduleShape& shape, const PipelineTimes& times) const {
  const auto found = chains_.find(shape);
  if (found == chains_.end()) return 0;
  Tick least = 0;
  for (const ChainCounts& chain : found->second.all) least = std::max(least, chain.length(times));
  return least;
}

void OrderSpans::keep_chain(const ScheduleShape& shape, const PipelineTimes& times, const Settled* settled,
                            Tick makespan) {
  if (least_makespan(shape, times) == makespan) return;  // one of those kept has decided this step too
  const Orders& orders = cache_.orders(settled != nullptr ? settled->few : shape);
  critical_path(orders, times, cache_.timeline, path_);
  if (path_.empty()) return;
  RepeatedPath repeated;
  if (settled != nullptr && settled->periods_left > 0) {
    repeated = repeated_path(*settled, orders);
    if (repeated.times_more == 0) return;
  }
  if (chains_bytes_ > kChainsBytes) chains_.clear(), chains_bytes_ = 0;
  Chains& of_shape = chains_[shape];
  if (of_shape.all.size() < kChainsOfShape) of_shape.all.emplace_back();
  ChainCounts& to = of_shape.all[of_shape.next];
  of_shape.next = (of_shape.next + 1) % kChainsOfShape;
  chains_bytes_ -= to.bytes();
  to = ChainCounts(orders, times, path_, repeated);
  chains_bytes_ += to.bytes();
}

void OrderSpans::learn(const OrderSpans& other) {
  for (const auto& [shape, chains] : other.chains_) {
    if (chains_bytes_ > kChainsBytes) return;
    if (!chains_.try_emplace(shape, chains).second) continue;
    for (const ChainCounts& chain : chains.all) chains_bytes_ += chain.bytes();
  }
}

// The part of the path between the same operation of two repetitions, as often as makes up for the repetitions that
// are missing: with it the path is one of the whole step, since the repetitions between differ by the microbatch alone.
RepeatedPath OrderSpans::repeated_path(const Settled& settled, const Orders& orders) const {
  const auto missing = settled.periods_left * settled.period;
  struct Visit {
    int slot = -1, repetition = 0;  // in the middle of its device's list; -1: before or behind it
  };
  const auto visit = [&](std::uint32_t op) {
    const auto device = static_cast<int>(device_of_op(orders, op)), length = settled.middle.length;
    const int at = static_cast<int>(op - orders.first[static_cast<std::size_t>(device)]) -
                   settled.middle.before(settled.few, device);
    if (at < 0 || at >= length * settled.repetitions) return Visit{};
    return Visit{device * length + at % length, at / length};
  };
  // From behind: where the steps are most alike.
  std::unordered_map<int, std::pair<std::size_t, int>> seen;  // by slot: the place in the path and its repetition
  for (std::size_t i = path_.size(); i-- > 0;) {
    const Visit here = visit(path_[i].op);
    if (here.slot < 0) continue;
    const auto [at, is_new] = seen.try_emplace(here.slot, i, here.repetition);
    if (is_new) continue;
    const auto [last, repetition] = at->second;
    const int apart = repetition - here.repetition;
    if (apart > 0 && missing % apart == 0) return {i, last, missing / apart};
  }
  return {};
}

// Two runs without a plan take as much longer than two with one as it takes to make it.
bool OrderSpans::worth_a_plan(const ScheduleShape& shape) {
  constexpr int kRunsWithoutPlan = 2;
  constexpr std::size_t kShapes = 4096;  // then all are forgotten
  if (cache_.has_plan(shape)) return true;
  if (runs_.size() > kShapes) runs_.clear();
  return runs_[shape]++ >= kRunsWithoutPlan;
}

void OrderSpans::run_without_plan(const ScheduleShape& shape, const PipelineTimes& times) {
  const Orders& orders = cache_.orders(shape);
  run_order(orders, times, cache_.scratch.order, cache_.timeline);
  operations_run_ += orders.ops.size();
}

void OrderSpans::run(const ScheduleShape& shape, const PipelineTimes& times) {
  const RunPlan& plan = cache_.plan(shape);
  simulate(plan, times, cache_.scratch, cache_.timeline);
  operations_run_ += plan.ops;
}

std::optional<OrderSpans::Settled> OrderSpans::settle(const ScheduleShape& shape, const PipelineTimes& times) {
  const std::optional<RepeatedMiddle> middle = repeated_middle(shape);
  if (!middle) return std::nullopt;
  const int all = middle->repetitions(shape.microbatches);
  const auto with = [&](int repetitions) {
    ScheduleShape few = shape;
    if (facts_of(shape.kind).takes_groups) few.group_size = group_size_of(shape);
    few.microbatches = middle->first_microbatches + repetitions * middle->microbatches_each;
    return few;
  };
  const auto repeats = [&](const ScheduleShape& few, int repetitions, int reach, int period) {
    return reach > 0 && reach + period <= repetitions &&
           later_by_a_constant(cache_.plan(few), cache_.timeline, few, *middle, repetitions, reach, period);
  };
  // Most pipelines settle while a few times as many microbatches as stages pass; a period is seldom longer than the
  // way of one.
  const int each = middle->microbatches_each;
  for (int repetitions = (4 * shape.stages + 8 + each - 1) / each + 2; repetitions < all / 2; repetitions *= 4) {
    const ScheduleShape few = with(repetitions);
    const int far = reach(few, *middle);
    run(few, times);
    int period = 1;
    while (period <= 2 * shape.stages && !repeats(few, repetitions, far, period)) ++period;
    if (period > 2 * shape.stages) continue;
    // As many more that whole periods are left.
    const int enough = repetitions + (all - repetitions) % period;
    const Settled settled{*middle, with(enough), enough, period, (all - enough) / period};
    if (enough != repetitions) {
      run(settled.few, times);
      if (!repeats(settled.few, enough, reach(settled.few, *middle), period)) continue;
    }
    sum_period(settled);
    return settled;
  }
  return std::nullopt;
}

void OrderSpans::sum_period(const Settled& settled) {
  const RunPlan& plan = cache_.plan(settled.few);
  const std::size_t period =
      static_cast<std::size_t>(settled.middle.length) * static_cast<std::size_t>(settled.period);
  in_period_.clear();
  for (int r = 0; r < settled.few.stages; ++r) {
    const std::size_t end = middle_end(plan, settled.few, settled.middle, settled.repetitions, r);
    in_period_.push_back({end - period, end});
  }
  const std::vector<Tick>& start = cache_.timeline.start;
  const OpRange& of_first = in_period_.front();
  period_.lasts = start[of_first.end - 1] - start[of_first.first - 1];
  sum_part(plan, cache_.scratch.tables, cache_.timeline, in_period_, period_.totals);
}

void OrderSpans::add_totals(const Settled& settled, Timeline& out) const {
  const Timeline& few = cache_.timeline;
  const PartTotals& period = period_.totals;
  out.makespan = few.makespan + settled.periods_left * period_.lasts;
  out.in_transfer = few.in_transfer + settled.periods_left * period.in_transfer;
  out.busy.resize(few.busy.size());
  out.busy_until.resize(few.busy.size());
  for (std::size_t r = 0; r < few.busy.size(); ++r) {
    out.busy[r] = few.busy[r] + settled.periods_left * period.busy[r];
    out.busy_until[r] = few.busy_until[r] + settled.periods_left * period_.lasts;
  }
}

bool OrderSpans::fill_totals(const ScheduleShape& shape, const PipelineTimes& times, Timeline& out) {
  if (runs_breadth_first(shape)) {
    breadth_first_timeline(shape, times, false, breadth_first_, out);
    return true;
  }
  const std::optional<Settled> settled = settle(shape, times);
  if (settled) add_totals(*settled, out);
  return settled.has_value();
}

bool OrderSpans::fill_timeline(const ScheduleShape& shape, const PipelineTimes& times, Timeline& out) {
  if (runs_breadth_first(shape)) {
    breadth_first_timeline(shape, times, true, breadth_first_, out);
    return true;
  }
  const std::optional<Settled> settled = settle(shape, times);
  if (!settled) return false;
  add_totals(*settled, out);
  const RunPlan& plan = cache_.plan(settled->few);
  const Tick later = period_.lasts;
  const auto often = static_cast<std::size_t>(settled->periods_left);
  const std::size_t period =
      static_cast<std::size_t>(settled->middle.length) * static_cast<std::size_t>(settled->period);
  const std::size_t ops = plan.ops + plan.last_op.size() * period * often;
  Tick* to = room_for(out.start, ops);
  for (int r = 0; r < shape.stages; ++r) {
    const Tick* from = cache_.timeline.start.data() + first_op(plan, r);
    const Tick* const end = cache_.timeline.start.data() + first_op(plan, r + 1);
    const Tick* const drain = cache_.timeline.start.data() + in_period_[static_cast<std::size_t>(r)].end;
    to = repeat(std::copy(from, drain, to), period, often, later);
    to = std::transform(drain, end, to, [&](Tick start) { return start + settled->periods_left * later; });
  }
  return true;
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
    for (int k = 0; k < middle.before(shape, r); ++k) repetition_[i++] = -1;
    for (int n = 0; n < count; ++n)
      for (int k = 0; k < middle.length; ++k) repetition_[i++] = n;
    i = first_op(plan, r + 1);
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

PipelineTimeResult pipeline_time(const ScheduleShape& shape, const PipelineTimes& times, OrderSpans& spans) {
  PipelineTimeResult result;
  result.schedule = check_schedule(shape);
  if (!result.schedule) return result;
  result.times = check_times(times, static_cast<std::size_t>(virtual_stage_count(shape)),
                             static_cast<std::uint32_t>(shape.microbatches));
  if (!result.ok()) return result;
  if (const std::optional<Tick> exact = closed_form_time(shape, times))
    result.step.makespan = *exact, result.closed_form = true;
  else
    result.step = spans.span(shape, times);
  return result;
}

}  // namespace roofscape::engine
