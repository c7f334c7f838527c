// What is true of every simulated step, on random shapes, even and uneven times, with and without transfers.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

#include "engine/pipeline/timeline_detail.h"
#include "tests/cases_to_try.h"
#include "tests/engine/pipeline/pipeline_fixture.h"

using namespace roofscape::engine;
using namespace roofscape::engine::test;

namespace {

const int kCases = roofscape::tests::cases_to_try(4000);

struct Case {
  ScheduleShape shape;
  Step step;
};

// Calls fact(case) for random cases of every schedule in turn; the fact names what it found wrong, or "".
template <class Fact>
void for_random_cases(std::uint64_t seed, Fact fact) {
  Random random(seed);
  for (int i = 0; i < kCases; ++i) {
    Case it;
    it.shape = random_shape(random, schedule_in_turn(i));
    const bool even = random_int(random, 0, 2) == 0;
    PipelineTimes times = random_times(random, it.shape, even, random_int(random, 0, 1) == 0);
    times.blocking_send = random_int(random, 0, 3) == 0;
    it.step = run_step(it.shape, times);
    const std::string wrong = it.step.status.finished() ? fact(it) : "did not finish";
    CAPTURE(i);
    CAPTURE(schedule_id(it.shape.kind));
    CAPTURE(it.shape.stages);
    CAPTURE(it.shape.microbatches);
    CAPTURE(it.shape.virtual_stages);
    CAPTURE(it.shape.group_size);
    CHECK(wrong == "");
  }
}

Tick end_of(const Step& step, std::uint32_t i) { return op_end(step.orders, step.times, step.timeline, i); }

}  // namespace

TEST_CASE("every legal schedule finishes") {
  for_random_cases(20, [](const Case&) { return std::string(); });
}

TEST_CASE("a device runs its list in order, one operation at a time") {
  for_random_cases(21, [](const Case& it) -> std::string {
    const Step& s = it.step;
    for (std::size_t r = 0; r < s.orders.devices(); ++r) {
      Tick free = 0;
      for (std::uint32_t i = s.orders.first[r]; i < s.orders.first[r + 1]; ++i) {
        const bool second = joined_with_previous(s.orders, i);
        if (second && s.timeline.start[i] != s.timeline.start[i - 1]) return "a pair does not start together";
        if (!second && s.timeline.start[i] < free) return "overlap";
        free = end_of(s, i);
      }
      if (s.timeline.busy_until[r] < free) return "free before its last operation ends";
    }
    return "";
  });
}

TEST_CASE("no operation starts before its inputs have arrived") {
  for_random_cases(22, [](const Case& it) -> std::string {
    const Step& s = it.step;
    const Orders& o = s.orders;
    std::map<std::tuple<OpKind, std::uint32_t, std::uint32_t>, Tick> ends;
    for (std::uint32_t i = 0; i < o.ops.size(); ++i) {
      OpKind kind = o.ops[i].kind();
      if (kind == OpKind::backward_input) kind = OpKind::backward;
      ends[{kind, o.ops[i].stage(), o.ops[i].microbatch()}] = end_of(s, i);
    }
    for (std::uint32_t i = 0; i < o.ops.size(); ++i) {
      const Op op = o.ops[i];
      const std::uint32_t stage = op.stage(), k = op.microbatch(), position = stage % o.route_length;
      const auto ready = [&](OpKind kind, std::uint32_t from) {
        return ends.at({kind, from, k}) + s.times.hop(o.device_of[from], o.device_of[stage]);
      };
      Tick needed = 0;
      if (op.kind() == OpKind::forward) {
        if (position > 0) needed = ready(OpKind::forward, stage - 1);
      } else if (op.kind() == OpKind::backward_weight) {
        needed = ready(OpKind::backward, stage);
      } else {
        needed = ready(OpKind::forward, stage);
        if (position + 1 < o.route_length) needed = std::max(needed, ready(OpKind::backward, stage + 1));
      }
      if (s.timeline.start[i] < needed) return "before an input";
    }
    return "";
  });
}

TEST_CASE("every operation starts as early as it can") {
  for_random_cases(23, [](const Case& it) -> std::string {
    const Step& s = it.step;
    for (std::uint32_t i = 0; i < s.orders.ops.size(); i += 3) {
      const WaitedFor waited = waited_for(s.orders, s.times, s.timeline, i);
      if (waited.kind == WaitKind::nothing && s.timeline.start[i] != 0) return "waited for nothing";
    }
    return "";
  });
}

TEST_CASE("no step is shorter than the work of its busiest device") {
  for_random_cases(24, [](const Case& it) -> std::string {
    for (const Tick idle : it.step.idle())
      if (idle < 0) return "negative idle time";
    return "";
  });
}

TEST_CASE("no step is shorter than one microbatch's way") {
  for_random_cases(25, [](const Case& it) -> std::string {
    const PipelineTimes& t = it.step.times;
    if (!t.overlapped.empty()) return "";
    Tick way = 0;
    for (std::size_t s = 0; s < it.step.orders.route_length; ++s) way += t.forward[s] + t.backward_input[s];
    return it.step.timeline.makespan < way ? "shorter" : "";
  });
}

TEST_CASE("the lower bound is never above the simulation") {
  for_random_cases(26, [](const Case& it) -> std::string {
    return pipeline_lower_bound(it.shape, it.step.times) > it.step.timeline.makespan ? "above" : "";
  });
}

TEST_CASE("activation memory is never negative and zero at the end") {
  for_random_cases(27, [](const Case& it) -> std::string {
    ActivationSizes sizes;
    for (std::size_t s = 0; s < it.step.orders.device_of.size(); ++s) {
      sizes.freed_after_input.push_back(static_cast<double>(s * 7 % 5));
      sizes.freed_after_weight.push_back(static_cast<double>(s * 3 % 4 + 1));
    }
    std::vector<MemoryPoint> trace;
    for (std::uint32_t r = 0; r < it.step.orders.devices(); ++r) {
      memory_trace(it.step.orders, it.step.times, it.step.timeline, sizes, r, trace);
      if (trace.back().amount != 0) return "not zero at the end";
      for (std::size_t i = 0; i < trace.size(); ++i) {
        if (trace[i].amount < 0) return "negative";
        if (i > 0 && trace[i].time <= trace[i - 1].time) return "time does not advance";
      }
    }
    return "";
  });
}

TEST_CASE("freeing with the input gradient never raises the peak") {
  for_random_cases(28, [](const Case& it) -> std::string {
    const auto safe = it.step.peaks(KeptUntil::weight_gradient), early = it.step.peaks(KeptUntil::input_gradient);
    for (std::size_t r = 0; r < safe.size(); ++r)
      if (early[r] > safe[r]) return "raised";
    return "";
  });
}

TEST_CASE("the critical path fills the step without a gap") {
  for_random_cases(29, [](const Case& it) -> std::string {
    const Step& s = it.step;
    std::vector<CriticalStep> path;
    critical_path(s.orders, s.times, s.timeline, path);
    if (path.empty()) return "empty";
    if (path.front().waited != WaitKind::nothing || s.timeline.start[path.front().op] != 0)
      return "does not start at 0";
    for (std::size_t i = 1; i < path.size(); ++i) {
      const bool travels = path[i].waited == WaitKind::transfer || path[i].waited == WaitKind::sending;
      const Tick gap = s.timeline.start[path[i].op] - end_of(s, path[i - 1].op);
      if (gap != 0 && !(travels && (gap == s.times.transfer || gap == s.times.transfer_in_node))) return "gap";
    }
    const Tick sending = s.timeline.makespan - end_of(s, path.back().op);
    const bool sends = s.times.blocking_send && (sending == s.times.transfer || sending == s.times.transfer_in_node);
    return sending == 0 || sends ? "" : "does not reach the end";
  });
}

TEST_CASE("blocks of every level hold all the work of their device and its peak") {
  for_random_cases(30, [](const Case& it) -> std::string {
    const Step& s = it.step;
    TimelineDetail detail;
    make_detail(s.orders, s.times, s.timeline, detail);
    const std::vector<Tick>& busy = s.timeline.busy;
    const std::vector<double> peaks = s.peaks(KeptUntil::weight_gradient);
    for (const TimelineDetail::Level& level : detail.levels)
      for (std::size_t r = 0; r < busy.size(); ++r) {
        const TimelineBlock* const blocks = level.of(r);
        Tick sum = 0;
        double most = 0;
        for (std::uint32_t i = 0; i < level.count(r); ++i) {
          sum += blocks[i].busy_ticks();
          most = std::max(most, blocks[i].most);
          if (blocks[i + 1].start < blocks[i].start) return "starts do not ascend";
          if (blocks[i].least < 0 || blocks[i].before > blocks[i].most) return "held out of range";
        }
        if (sum != busy[r]) return "work is lost";
        if (most != std::round(peaks[r] * s.orders.passes_per_device)) return "another peak";
        if (blocks[level.count(r)].start != end_of(s, s.orders.first[r + 1] - 1)) return "ends elsewhere";
      }
    return detail.levels.back().count(0) == 1 ? "" : "the last level has several blocks";
  });
}

TEST_CASE(
    "what weight gradients that are put off need more is in the peak of the blocks as in the memory over time") {
  for_random_cases(32, [](const Case& it) -> std::string {
    const Step& s = it.step;
    constexpr double kMore = 0.75;
    TimelineDetail detail;
    make_detail(s.orders, s.times, s.timeline, detail, kMore);
    ActivationSizes sizes;
    sizes.freed_after_input.assign(s.orders.device_of.size(), -kMore);
    sizes.freed_after_weight.assign(s.orders.device_of.size(), 1 + kMore);
    std::vector<MemoryPoint> points;
    for (std::size_t r = 0; r < s.orders.devices(); ++r) {
      memory_trace(s.orders, s.times, s.timeline, sizes, static_cast<std::uint32_t>(r), points);
      double peak = 0;
      for (const MemoryPoint& point : points) peak = std::max(peak, point.amount);
      // Of operations that take no time the trace keeps the last amount only.
      if (detail.whole(r).most < peak - 1e-9) return "the blocks hold less than the memory over time";
      bool instant = false;
      for (std::uint32_t i = s.orders.first[r]; i < s.orders.first[r + 1]; ++i)
        instant = instant || op_duration(s.orders, s.times, i) == 0;
      if (!instant && detail.whole(r).most > peak + 1e-9) return "the blocks hold more";
    }
    return "";
  });
}

TEST_CASE("a block of the finest level says what each kind of its operations takes") {
  for_random_cases(31, [](const Case& it) -> std::string {
    const Step& s = it.step;
    if (overlaps_forward_backward(it.shape.kind)) return "";
    TimelineDetail detail;
    make_detail(s.orders, s.times, s.timeline, detail);
    for (std::size_t r = 0; r < s.orders.devices(); ++r)
      for (std::uint32_t b = 0; b < detail.levels[0].count(r); ++b) {
        Tick forward = 0;
        const std::uint32_t from = s.orders.first[r] + b * TimelineDetail::kLeastOps;
        for (std::uint32_t i = from; i < std::min(from + TimelineDetail::kLeastOps, s.orders.first[r + 1]); ++i)
          if (s.orders.ops[i].kind() == OpKind::forward) forward += op_duration(s.orders, s.times, i);
        if (detail.levels[0].of(r)[b].busy[0] != forward) return "another forward";
        if (detail.levels[0].of(r)[b].start != s.timeline.start[from]) return "another start";
      }
    return "";
  });
}

TEST_CASE("a device that sends blocking does nothing else until the transfer is over") {
  for_random_cases(35, [](const Case& it) -> std::string {
    const Step& s = it.step;
    const Orders& o = s.orders;
    if (!s.times.blocking_send) return "";
    for (std::uint32_t i = 0; i + 1 < o.ops.size(); ++i) {
      const Op op = o.ops[i];
      const std::uint32_t position = op.stage() % o.route_length, device = device_of_op(o, i);
      std::uint32_t to = device;
      if (op.kind() == OpKind::forward)
        to = position + 1 < o.route_length ? o.device_of[op.stage() + 1] : device;
      else if (op.kind() != OpKind::backward_weight)
        to = position > 0 ? o.device_of[op.stage() - 1] : device;
      const std::uint32_t next = op.joined_with_next() ? i + 2 : i + 1;
      if (next < o.first[device + 1] && s.timeline.start[next] < end_of(s, i) + s.times.hop(device, to))
        return "starts while sending";
    }
    return "";
  });
}

TEST_CASE("the bubble is idle time over all devices") {
  for_random_cases(31, [](const Case& it) -> std::string {
    const std::vector<Tick> idle = it.step.idle();
    const Tick sum = std::accumulate(idle.begin(), idle.end(), Tick{0});
    return it.step.bubble().bubble_time == static_cast<double>(sum) / static_cast<double>(idle.size()) ? "" : "not";
  });
}

TEST_CASE("the span bubble is never above the longest idle time") {
  for_random_cases(32, [](const Case& it) -> std::string {
    const std::vector<Tick> idle = it.step.idle();
    return it.step.bubble().span_bubble <= *std::max_element(idle.begin(), idle.end()) ? "" : "above";
  });
}

TEST_CASE("a device is busy for as long as its operations last") {
  for_random_cases(34, [](const Case& it) -> std::string {
    const Step& s = it.step;
    for (std::size_t r = 0; r < s.orders.devices(); ++r) {
      Tick busy = 0;
      for (std::uint32_t i = s.orders.first[r]; i < s.orders.first[r + 1]; ++i)
        if (!joined_with_previous(s.orders, i)) busy += op_duration(s.orders, s.times, i);
      if (busy != s.timeline.busy[r]) return "not the sum";
    }
    return "";
  });
}

TEST_CASE("time in transfer is part of the idle time") {
  for_random_cases(35, [](const Case& it) -> std::string {
    Tick idle = 0;
    for (const Tick t : it.step.idle()) idle += t;
    return it.step.timeline.in_transfer >= 0 && it.step.timeline.in_transfer <= idle ? "" : "outside";
  });
}

TEST_CASE("with instant transfers no time is spent in transfer") {
  for_random_cases(36, [](const Case& it) -> std::string {
    PipelineTimes times = it.step.times;
    times.transfer = times.transfer_in_node = 0;
    return run_step(it.shape, times).timeline.in_transfer == 0 ? "" : "some is";
  });
}

TEST_CASE("an order that is kept gives the timeline of a fresh one when times change") {
  Random random(37);
  for (int i = 0; i < 300; ++i) {
    const ScheduleShape shape = random_shape(random, schedule_in_turn(i));
    SimulationScratch scratch;
    Orders orders;
    RunPlan plan;
    Timeline timeline;
    make_orders(shape, orders);
    REQUIRE(make_run_plan(orders, scratch.planning, plan));
    for (int change = 0; change < 3; ++change) {
      const Step fresh = run_step(shape, random_times(random, shape, false, change > 0));
      REQUIRE(simulate(plan, fresh.times, scratch, timeline));
      CHECK(timeline.start == fresh.timeline.start);
    }
  }
}

TEST_CASE("what was run before, to its end or not, changes no timeline") {
  Random random(35);
  SimulationScratch scratch;
  Timeline timeline;
  int stuck = 0;
  for_random_cases(36, [&](const Case& it) -> std::string {
    Orders broken = it.step.orders;
    std::reverse(broken.ops.begin(), broken.ops.end());
    stuck += simulate(broken, it.step.times, scratch, timeline).finished() ? 0 : 1;
    if (random_int(random, 0, 99) == 0) scratch.order.latest = kLongestRow + 1;  // after very long steps
    if (!simulate(it.step.orders, it.step.times, scratch, timeline).finished()) return "did not finish";
    if (timeline.start != it.step.timeline.start || timeline.makespan != it.step.timeline.makespan)
      return "other starts";
    if (timeline.busy != it.step.timeline.busy || timeline.busy_until != it.step.timeline.busy_until)
      return "other work";
    return timeline.in_transfer == it.step.timeline.in_transfer ? "" : "other waits";
  });
  CHECK(stuck > 100);
}

TEST_CASE("steps by level come after what they wait for, which is what they wait for in running order") {
  SimulationScratch scratch;
  RunPlan plan;
  StepsByLevel levels;
  for_random_cases(35, [&](const Case& it) -> std::string {
    make_run_plan(it.step.orders, scratch.planning, plan);
    order_by_level(plan, scratch.planning, levels);
    if (levels.steps.size() != plan.ops || levels.start_of.size() != plan.ops) return "another number of steps";
    std::vector<std::uint32_t> start_of = levels.start_of;
    for (const std::uint32_t op : plan.first_halves) {
      if (start_of[op] != start_of[op + 1]) return "halves of a pair start apart";
      start_of[op] = levels.steps[start_of[op + 1] / StepsByLevel::kStartTicks - 1].before;
    }
    const RunPlan::Step* step = plan.steps.data();
    for (const RunPlan::Turn& turn : plan.turns)
      for (std::uint32_t op = turn.first; op < turn.first + turn.count; ++op, ++step) {
        const bool is_first = turn.first_of_device && op == turn.first;
        const std::uint32_t at = start_of[op] / StepsByLevel::kStartTicks;
        if (at < 1 || at > plan.ops) return "no step";
        const StepsByLevel::Step& here = levels.steps[at - 1];
        const StepsByLevel::Step expected{is_first ? 0 : start_of[op - 1],
                                          step->producer == op ? 0 : start_of[step->producer],
                                          step->kind * StepsByLevel::kDelayTicks};
        if (here != expected) return "another step";
        if (here.before >= start_of[op] || here.producer >= start_of[op]) return "before what it waits for";
      }
    return "";
  });
}

TEST_CASE("two sets of times run in one pass are the two runs of that order") {
  Random random(33);
  SimulationScratch scratch;
  StepsByLevel levels;
  Timeline first, other;
  for_random_cases(34, [&](const Case& it) -> std::string {
    const PipelineTimes times = random_times(random, it.shape, false, true);
    const Step alone = run_step(it.shape, times);
    RunPlan plan;
    make_run_plan(it.step.orders, scratch.planning, plan);
    order_by_level(plan, scratch.planning, levels);
    if (!simulate_both(plan, levels, it.step.times, times, scratch, first, other).finished()) return "did not finish";
    if (first.start != it.step.timeline.start) return "other starts";
    if (first.makespan != it.step.timeline.makespan || other.makespan != alone.timeline.makespan)
      return "another length";
    if (first.busy != it.step.timeline.busy || other.busy != alone.timeline.busy) return "other work";
    if (first.busy_until != it.step.timeline.busy_until || other.busy_until != alone.timeline.busy_until)
      return "another end of a device";
    return first.in_transfer == it.step.timeline.in_transfer ? "" : "other waits";
  });
}

TEST_CASE("how the devices are numbered changes no time") {
  Random random(38);
  for_random_cases(39, [&random](const Case& it) -> std::string {
    if (it.step.times.node_devices > 1) return "";  // a number says which node a device is in
    const Orders& orders = it.step.orders;
    std::vector<std::uint32_t> old_of(orders.devices());  // by new number
    std::iota(old_of.begin(), old_of.end(), 0u);
    for (std::size_t r = old_of.size(); r-- > 1;)
      std::swap(old_of[r], old_of[static_cast<std::size_t>(random_int(random, 0, static_cast<int>(r)))]);

    Orders renumbered = orders;
    renumbered.ops.clear();
    renumbered.first = {0};
    std::vector<Tick> expected;
    for (std::uint32_t r = 0; r < old_of.size(); ++r) {
      for (std::uint32_t op = orders.first[old_of[r]]; op < orders.first[old_of[r] + 1]; ++op) {
        renumbered.ops.push_back(orders.ops[op]);
        expected.push_back(it.step.timeline.start[op]);
      }
      renumbered.first.push_back(static_cast<std::uint32_t>(renumbered.ops.size()));
      for (std::size_t s = 0; s < orders.device_of.size(); ++s)
        if (orders.device_of[s] == old_of[r]) renumbered.device_of[s] = static_cast<std::uint16_t>(r);
    }
    SimulationScratch scratch;
    Timeline timeline;
    if (!simulate(renumbered, it.step.times, scratch, timeline).finished()) return "did not finish";
    return timeline.start == expected ? "" : "other times";
  });
}

TEST_CASE("simulating again in the same working memory gives the same timeline") {
  SimulationScratch scratch;
  Timeline timeline;
  Random random(33);
  for (int i = 0; i < 300; ++i) {
    const ScheduleShape shape = random_shape(random, schedule_in_turn(random_int(random, 0, kScheduleKinds - 1)));
    const Step fresh = run_step(shape, random_times(random, shape, false, true));
    REQUIRE(simulate(fresh.orders, fresh.times, scratch, timeline).finished());
    CHECK(timeline.start == fresh.timeline.start);
    CHECK(timeline.makespan == fresh.timeline.makespan);
  }
}
