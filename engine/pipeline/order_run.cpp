// As in run_plan.cpp; here an entry is when its result is done.
#include "engine/pipeline/order_run.h"

#include <algorithm>

#include "engine/base/kept_memory.h"
#include "engine/pipeline/order_check.h"
#include "engine/pipeline/turns.h"

namespace roofscape::engine {
namespace {

// Entries of a row: an odd number of lines of the cache. Where microbatches are a power of two, the entries of all
// rows for one of them would share a few places of the cache.
std::size_t row_of(const Orders& orders) { return ((std::size_t{orders.microbatches} + 7) / 8 | 1) * 8; }

class OrderRun {
 public:
  OrderRun(const Orders& orders, const PipelineTimes& times, OrderRunScratch& scratch, Timeline& out)
      : orders_(orders), times_(times), scratch_(scratch), out_(out) {}

  bool run() {
    begin();
    const auto turns = [this](auto&& turn) {
      take_turns(scratch_.line, orders_.devices(),
                 [&](std::uint32_t device) { return turn(scratch_.devices[device]); });
    };
    if (has_pairs(orders_))
      turns([this](Device& device) { return turn<true, true>(device); });
    else if (times_.blocking_send)
      turns([this](Device& device) { return turn<false, true>(device); });
    else
      turns([this](Device& device) { return turn<false, false>(device); });
    return finish();
  }

 private:
  using Route = OrderRunScratch::Route;
  using Device = OrderRunScratch::Device;

  void begin() {
    const ResultRows rows(orders_);
    const std::size_t row = row_of(orders_);
    give_back_unless_needed(scratch_.done, rows.count() * row);
    if (scratch_.latest > kLongestRow) scratch_.done.clear(), scratch_.latest = 0;
    scratch_.done.resize(std::max(scratch_.done.size(), rows.count() * row));
    begin_ = scratch_.latest + 1;
    for (std::size_t d = 0; d < rows.directions(); ++d)
      std::fill_n(scratch_.done.begin() + static_cast<std::ptrdiff_t>(rows.given(d) * row), row, begin_);
    fill_routes(rows, row);
    scratch_.devices.resize(orders_.devices());
    for (std::size_t r = 0; r < orders_.devices(); ++r)
      scratch_.devices[r] = {orders_.first[r], orders_.first[r + 1], begin_, 0};
    room_for(out_.start, orders_.ops.size());
  }

  void fill_routes(const ResultRows& rows, std::size_t row) {
    const std::size_t stages = orders_.device_of.size();
    scratch_.routes.resize(stages * 4);
    for (std::size_t s = 0; s < stages; ++s) {
      const std::uint32_t device = orders_.device_of[s];
      const Tick up = times_.hop(device, orders_.device_behind(s)),
                 down = times_.hop(device, orders_.device_before(s));
      const auto set = [&](OpKind kind, std::size_t input, std::size_t output, Tick latency, Tick sends) {
        Route& route = scratch_.routes[s * 4 + static_cast<std::size_t>(kind)];
        route.input = scratch_.done.data() + input * row;
        route.output = scratch_.done.data() + output * row;
        route.latency = latency;
        route.duration = duration_of(times_, static_cast<std::uint32_t>(s), kind);
        route.sends = times_.blocking_send ? sends : 0;
        route.paired_with = Route::kNone;
      };
      const std::size_t forth = rows.read_forth(s), back = rows.read_back(s);
      set(OpKind::forward, forth, forth + 1, down, up);
      set(OpKind::backward, back, back + 1, up, down);
      set(OpKind::backward_input, back, back + 1, up, down);
      // Looks whether its own input gradient has been done.
      set(OpKind::backward_weight, back + 1, rows.unread(), 0, 0);
    }
  }

  // Whether any operation ran. A pair has two inputs and two results.
  template <bool kPairs, bool kBlockingSend>
  bool turn(Device& at) {
    const Op* const ops = orders_.ops.data();
    Route* const routes = scratch_.routes.data();
    Tick* const start = out_.start.data();
    const Tick zero = begin_;
    const std::uint32_t from = at.next, until = std::min(at.end, from + kTurn);
    Tick free = at.free, busy = at.busy, in_transfer = in_transfer_;
    std::uint32_t i = from;
    for (; i < until; ++i) {
      const Op op = ops[i];
      Route& route = routes[kPairs ? op.stage_and_kind() : op.bits()];
      const Tick input = route.input[op.microbatch()];
      if (input < zero) break;
      Tick begin = std::max(free, input + route.latency);
      Tick waited = std::min(begin - free, route.latency);
      Tick duration = route.duration, sends = route.sends;
      if (kPairs && op.joined_with_next()) {
        const Op second = ops[i + 1];
        const Route& other = routes[second.stage_and_kind()];
        const Tick other_input = other.input[second.microbatch()];
        if (other_input < zero) break;
        const Tick but_for_second = begin;
        begin = std::max(begin, other_input + other.latency);
        waited += std::min(begin - but_for_second, other.latency);
        duration = pair_duration(route, op, second);
        sends = std::max(sends, other.sends);
        other.output[second.microbatch()] = begin + duration;
        start[i++] = begin - zero;
      }
      start[i] = begin - zero;
      free = begin + duration;
      busy += duration;
      route.output[op.microbatch()] = free;
      in_transfer += waited;
      if (kBlockingSend) {
        free += sends;
        in_transfer += sends;
      }
    }
    at.next = i;
    at.free = free;
    at.busy = busy;
    in_transfer_ = in_transfer;
    return i > from;
  }

  // Mostly the pair before of the same forward has the same stages.
  Tick pair_duration(Route& forward, Op first, Op second) const {
    if (forward.paired_with != second.stage()) {
      forward.paired_with = second.stage();
      forward.pair_duration = duration_of_pair(times_, first.stage(), second.stage());
    }
    return forward.pair_duration;
  }

  // False: some device has operations left that cannot run.
  bool finish() {
    out_.makespan = 0;
    out_.in_transfer = in_transfer_;
    out_.busy.resize(orders_.devices());
    out_.busy_until.resize(orders_.devices());
    bool all_ran = true;
    for (std::size_t r = 0; r < orders_.devices(); ++r) {
      const Device& device = scratch_.devices[r];
      all_ran = all_ran && device.next == device.end;
      scratch_.latest = std::max(scratch_.latest, device.free);
      out_.busy[r] = device.busy;
      out_.busy_until[r] = device.free - begin_;
      out_.makespan = std::max(out_.makespan, out_.busy_until[r]);
    }
    return all_ran;
  }

  const Orders& orders_;
  const PipelineTimes& times_;
  OrderRunScratch& scratch_;
  Timeline& out_;
  Tick begin_ = 0;  // of the step
  Tick in_transfer_ = 0;
};

}  // namespace

bool run_order(const Orders& orders, const PipelineTimes& times, OrderRunScratch& scratch, Timeline& out) {
  return OrderRun(orders, times, scratch, out).run();
}

}  // namespace roofscape::engine
