// Results are looked up by who reads them (ResultRows): an entry is which operation made it. Where the input of the next
// operation is not there yet, a device's turn ends.
#include "engine/pipeline/run_plan.h"

#include <algorithm>

#include "engine/base/kept_memory.h"
#include "engine/pipeline/order_check.h"
#include "engine/pipeline/timeline_analysis.h"
#include "engine/pipeline/turns.h"

namespace roofscape::engine {
namespace {

constexpr std::uint32_t kNotYet = 0xffffffffu;  // as an entry: not made yet
constexpr std::uint32_t kGiven = 0xfffffffeu;   // the input of the first stage
constexpr std::uint32_t kNoWork = RunPlan::kNoWork;
constexpr std::uint32_t kNoKind = 0xffffffffu;

void fill_routes(const Orders& orders, const ResultRows& rows, std::vector<RunPlanScratch::Route>& routes) {
  const std::size_t stages = orders.device_of.size(), row = orders.microbatches;
  routes.resize(stages * 4);
  for (std::size_t s = 0; s < stages; ++s) {
    const std::uint32_t device = orders.device_of[s], up = orders.device_behind(s), down = orders.device_before(s);
    const auto if_other = [device](std::uint32_t to) { return to != device ? to : RunPlan::kNoDevice; };
    RunPlanScratch::Route route;
    route.device = device;
    route.count = 0;
    route.latest_kind = route.newest_kind = kNoKind;
    route.latest_before = kNoWork - 1;  // of no operation
    route.newest_pair = kNoWork;

    route.input = rows.read_forth(s) * row;
    route.output = route.input + row;
    route.receiver = if_other(up);
    route.from_other_device = down != device;
    routes[s * 4 + static_cast<std::size_t>(OpKind::forward)] = route;

    route.input = rows.read_back(s) * row;
    route.output = route.input + row;
    route.receiver = if_other(down);
    route.from_other_device = up != device;
    routes[s * 4 + static_cast<std::size_t>(OpKind::backward)] = route;
    routes[s * 4 + static_cast<std::size_t>(OpKind::backward_input)] = route;

    // The weight gradient looks whether its own input gradient has been done; nobody waits for it.
    route.input = route.output;
    route.output = rows.unread() * row;
    route.receiver = RunPlan::kNoDevice;
    route.from_other_device = false;
    routes[s * 4 + static_cast<std::size_t>(OpKind::backward_weight)] = route;
  }
}

// The op whose result an op waits for: the one a position before it.
Op producer_of(const Orders& orders, Op op) {
  const std::uint32_t s = op.stage(), position = s % orders.route_length;
  switch (op.kind()) {
    case OpKind::forward:
      return {OpKind::forward, s - 1, op.microbatch()};
    case OpKind::backward_weight:
      return {OpKind::backward_input, s, op.microbatch()};
    default:
      break;
  }
  if (position + 1 == orders.route_length) return {OpKind::forward, s, op.microbatch()};
  // The backward of the next stage, whole or split as that stage runs it; if it is in no list, named as here.
  const std::uint32_t listed = find_op(orders, OpKind::backward, s + 1, op.microbatch());
  return {listed == kNoOp ? op.kind() : orders.ops[listed].kind(), s + 1, op.microbatch()};
}

class Planner {
 public:
  Planner(const Orders& orders, RunPlanScratch& scratch, RunPlan& out)
      : orders_(orders), scratch_(scratch), out_(out) {}

  SimulationStatus run() {
    if (!has_pairs(orders_)) {
      begin();
      if (run_plain()) return finish();
    }
    begin();
    return run_any();
  }

 private:
  using Route = RunPlanScratch::Route;

  void begin() {
    const std::size_t devices = orders_.devices(), row = orders_.microbatches;
    const ResultRows rows(orders_);
    fill_routes(orders_, rows, scratch_.routes);
    give_back_unless_needed(scratch_.producers, rows.count() * row);
    scratch_.producers.assign(rows.count() * row, kNotYet);
    for (std::size_t d = 0; d < rows.directions(); ++d)
      std::fill_n(scratch_.producers.begin() + static_cast<std::ptrdiff_t>(rows.given(d) * row), row, kGiven);
    scratch_.devices.resize(devices);
    for (std::size_t r = 0; r < devices; ++r)
      scratch_.devices[r] = {orders_.first[r], orders_.first[r], orders_.first[r + 1], kNoWork};
    scratch_.chain.clear();
    scratch_.pair_chain.clear();
    out_.kinds.clear();
    give_back_unless_needed(out_.turns, orders_.ops.size());
    out_.turns.clear();
    out_.first_halves.clear();
    out_.works.assign(orders_.device_of.size() * 4, {});
    for (std::size_t w = 0; w < out_.works.size(); ++w) {
      const Route& route = scratch_.routes[w];
      out_.works[w] = {static_cast<std::uint32_t>(w), kNoWork, route.device, 0, route.receiver};
    }
    next_ = room_for(out_.steps, orders_.ops.size());
    out_.ops = orders_.ops.size();
    out_.stages = orders_.device_of.size();
    out_.microbatches = orders_.microbatches;
  }

  SimulationStatus finish() {
    for (std::size_t w = 0; w < scratch_.routes.size(); ++w) out_.works[w].count = scratch_.routes[w].count;
    out_.steps.resize(static_cast<std::size_t>(next_ - out_.steps.data()));
    for (std::uint32_t r = 0; r < orders_.devices(); ++r) {
      const bool any = orders_.first[r] < orders_.first[r + 1];
      const std::uint32_t last = any ? orders_.first[r + 1] - 1 : 0;
      out_.last_op.push_back(last);
      out_.last_work.push_back(any ? work_of(last) : kNoWork);
    }
    return {};
  }

  // The first device with operations left that did not run; as many as there are devices: all ran.
  std::uint32_t first_waiting() const {
    std::uint32_t r = 0;
    while (r < orders_.devices() && scratch_.devices[r].next == orders_.first[r + 1]) ++r;
    return r;
  }
  bool all_ran() const { return first_waiting() == orders_.devices(); }

  // Nearly all orders have no overlapped pairs, and a stage splits all of its backwards or none. Then what an
  // operation reads is always of the same stage and kind, which one look-up a kind of steps tells. False: the order is
  // of another kind, or its devices wait for each other, and run_any() says for what.
  bool run_plain() {
    pairs_ = false;
    take_turns(scratch_.line, orders_.devices(),
               [this](std::uint32_t device) { return run_plain(scratch_.devices[device]); });
    if (!all_ran()) return false;
    const auto& routes = scratch_.routes;
    for (std::size_t s = 0; s < routes.size(); s += 4)
      if (routes[s + static_cast<std::size_t>(OpKind::backward)].count > 0 &&
          routes[s + static_cast<std::size_t>(OpKind::backward_input)].count > 0)
        return false;
    return true;
  }

  bool run_plain(RunPlanScratch::Device& at) {
    const Op* const ops = orders_.ops.data();
    Route* const routes = scratch_.routes.data();
    std::uint32_t* const producers = scratch_.producers.data();
    const std::uint32_t from = at.next, until = std::min(at.end, from + kTurn);
    std::uint32_t before = at.before;
    std::uint32_t i = from;
    RunPlan::Step* next = next_;
    for (; i < until; ++i) {
      const Op op = ops[i];
      const std::uint32_t work = op.bits(), k = op.microbatch();
      Route& route = routes[work];
      const std::uint32_t producer = producers[route.input + k];
      if (producer == kNotYet) break;
      ++route.count;
      const bool travels = route.from_other_device;
      if (route.latest_before != before) kind_of(route, before, travels ? ops[producer].stage_and_kind() : kNoWork);
      *next++ = {travels ? producer : i, route.latest_kind};
      deliver(route, k, i);
      before = work;
    }
    next_ = next;
    return end_turn(at, i, before);
  }

  SimulationStatus run_any() {
    pairs_ = true;
    room_for(scratch_.work_of, orders_.ops.size());
    take_turns(scratch_.line, orders_.devices(),
               [this](std::uint32_t device) { return run(scratch_.devices[device]); });
    return all_ran() ? finish() : deadlock(first_waiting());
  }

  std::uint32_t work_of(std::uint32_t op) const {
    return pairs_ ? scratch_.work_of[op] : orders_.ops[op].stage_and_kind();
  }

  // A turn of a device.
  bool run(RunPlanScratch::Device& at) {
    const Op* const ops = orders_.ops.data();
    Route* const routes = scratch_.routes.data();
    std::uint32_t* const producers = scratch_.producers.data();
    std::uint32_t* const work_of = scratch_.work_of.data();
    const std::uint32_t from = at.next, until = std::min(at.end, from + kTurn);
    std::uint32_t before = at.before;
    std::uint32_t i = from;
    for (; i < until; ++i) {
      const Op op = ops[i];
      const std::uint32_t work = op.stage_and_kind(), k = op.microbatch();
      Route& route = routes[work];
      const std::uint32_t producer = producers[route.input + k];
      if (producer == kNotYet) break;
      if (op.joined_with_next()) [[unlikely]] {
        if (!run_pair(i, before, producer)) break;
        before = work_of[++i];
        continue;
      }
      ++route.count;
      work_of[i] = work;
      append(i, before, route, producer);
      deliver(route, k, i);
      before = work;
    }
    return end_turn(at, i, before);
  }

  // `next` is the first operation that did not run, `before` the work of the one before it. Whether any ran.
  bool end_turn(RunPlanScratch::Device& at, std::uint32_t next, std::uint32_t before) {
    const std::uint32_t from = at.next;
    if (next > from) out_.turns.push_back({from, static_cast<std::uint16_t>(next - from), from == at.begin});
    at.next = next;
    at.before = before;
    return next > from;
  }

  // False: what its second half reads is not there yet.
  bool run_pair(std::uint32_t i, std::uint32_t before, std::uint32_t producer) {
    const Op first = orders_.ops[i], second = orders_.ops[i + 1];
    Route& route = scratch_.routes[first.stage_and_kind()];
    Route& other = scratch_.routes[second.stage_and_kind()];
    const std::uint32_t other_producer = scratch_.producers[other.input + second.microbatch()];
    if (other_producer == kNotYet) return false;
    const std::uint32_t work = pair_work(first, second, route.device);
    ++out_.works[work].count;
    scratch_.work_of[i] = scratch_.work_of[i + 1] = work;
    append(i, before, route, producer);
    append(i + 1, kNoWork, other, other_producer);
    out_.first_halves.push_back(i);
    deliver(route, first.microbatch(), i + 1);
    deliver(other, second.microbatch(), i + 1);
    return true;
  }

  // What its own device made is there when the operation before is over, so only what travels counts as an input.
  void append(std::uint32_t op, std::uint32_t before, Route& route, std::uint32_t producer) {
    const bool travels = route.from_other_device;
    *next_++ = {travels ? producer : op, kind_of(route, before, travels ? scratch_.work_of[producer] : kNoWork)};
  }

  std::uint32_t kind_of(Route& route, std::uint32_t before, std::uint32_t producer) {
    if (route.latest_before == before && route.latest_producer == producer) return route.latest_kind;
    route.latest_before = before;
    route.latest_producer = producer;
    const std::uint64_t key = (std::uint64_t{before} << 32) | producer;
    const auto& chain = scratch_.chain;
    for (std::uint32_t k = route.newest_kind; k != kNoKind; k = chain[k].next)
      if (chain[k].key == key) return route.latest_kind = k;
    const auto made = static_cast<std::uint32_t>(out_.kinds.size());
    out_.kinds.push_back({before, producer, route.device});
    scratch_.chain.push_back({key, route.newest_kind});
    return route.latest_kind = route.newest_kind = made;
  }

  // The row of pairs of these two stages. They are few, and mostly the one before is meant again.
  std::uint32_t pair_work(Op first, Op second, std::uint32_t device) {
    auto& works = out_.works;
    Route& route = scratch_.routes[first.stage_and_kind()];
    const std::size_t single = scratch_.routes.size();  // works of one operation come first
    for (std::uint32_t w = route.newest_pair; w != kNoWork; w = scratch_.pair_chain[w - single])
      if (works[w].second == second.stage_and_kind()) return w;
    const auto made = static_cast<std::uint32_t>(works.size());
    const Route& other = scratch_.routes[second.stage_and_kind()];
    works.push_back({first.stage_and_kind(), second.stage_and_kind(), device, 0, route.receiver, other.receiver});
    scratch_.pair_chain.push_back(route.newest_pair);
    return route.newest_pair = made;
  }

  void deliver(const Route& route, std::uint32_t k, std::uint32_t i) { scratch_.producers[route.output + k] = i; }

  // The device at which a chain of waiting devices ends: the one that waits for itself, for an op that is in no list,
  // or, where devices wait in a circle, one of the circle.
  SimulationStatus deadlock(std::uint32_t device) const {
    SimulationStatus status = stuck_at(device);
    for (std::size_t hops = 0; hops < orders_.devices(); ++hops) {
      const std::uint32_t next = orders_.device_of[status.missing.stage()];
      if (next == status.device || scratch_.devices[next].next == orders_.first[next + 1]) break;
      status = stuck_at(next);
    }
    return status;
  }

  SimulationStatus stuck_at(std::uint32_t device) const {
    SimulationStatus status{SimulationOutcome::deadlock, device, scratch_.devices[device].next, Op{}};
    Op op = orders_.ops[status.op];
    // Of an overlapped pair, the half whose input is missing.
    if (scratch_.producers[scratch_.routes[op.stage_and_kind()].input + op.microbatch()] != kNotYet)
      op = orders_.ops[++status.op];
    status.missing = producer_of(orders_, op);
    return status;
  }

  const Orders& orders_;
  RunPlanScratch& scratch_;
  RunPlan& out_;
  RunPlan::Step* next_ = nullptr;
  bool pairs_ = false;  // run_any(): works are those of scratch_.work_of
};

}  // namespace

SimulationStatus make_run_plan(const Orders& orders, RunPlanScratch& scratch, RunPlan& out) {
  out.clear();
  const SimulationStatus checked = check_order(orders);
  return checked ? Planner(orders, scratch, out).run() : checked;
}

}  // namespace roofscape::engine
