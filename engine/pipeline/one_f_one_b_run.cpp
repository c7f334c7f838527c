// Passes: a device runs n = m v forwards and n backwards, in groups of p microbatches through one chunk after the
// other; pass i is of the same chunk and microbatch on all devices. Device r runs A(r) forwards, then pairs of
// forward A(r)+k and backward k, then the backwards that are left. Forward i waits for forward i of device r-1, on
// device 0 for forward i-p of device p-1 unless its chunk is the first; backward j for that of device r+1, on device
// p-1 for backward j-p of device 0 unless its chunk is the last. Operations are run in lines. Interleaved, A falls by
// 2 from a device to the next and line t has forward t+A(0)-r and backward t+r of every device; otherwise A falls by
// 1 and line t has forward (t-r)/2+p-1 and backward (t+r)/2 of every other device. Put in, everything an operation
// waits for is in the line before, on the neighbour; so one result of each device and direction is all that is kept.
// What would be before the first or behind the last pass is not there. Lines on which every device runs both repeat
// their chunks; once the devices' state differs from that some repetitions before by nothing but a constant, so do all
// states that follow, and what is left of such lines is a multiplication (order_span.h does the same for orders).
#include "engine/pipeline/one_f_one_b_run.h"

#include <algorithm>
#include <cstddef>

namespace roofscape::engine {
namespace {

using Int = std::int64_t;

struct Passes {
  Int devices, count, lead;  // lead: A(0), or 2 A(0) where a line has every other device
  Int stride;                // devices from one of a line to the next: 1 interleaved, else 2
  Int repeat;                // lines after which chunks come again
};

// Finds that a state repeats, by Brent's way: it is compared with one that is replaced after 1, 2, 4 ... looks.
class Repetition {
 public:
  Repetition(OneFOneBScratch& scratch, Int devices)
      : scratch_(scratch), devices_(static_cast<std::size_t>(devices)), known_(scratch.known) {}
  // At a look: after how many looks the state was the same but for advance(), or 0.
  Int looks(Tick in_transfer) {
    if (since_ > 0 && same_but_for_time()) {
      in_transfer_ = in_transfer - in_transfer_;
      return since_;
    }
    if (since_ == limit_) {
      keep(in_transfer);
      limit_ = std::max<Int>(1, 2 * limit_);
      since_ = 0;
    }
    ++since_;
    return 0;
  }
  // All times so many repetitions later; what is added to the time in transfers.
  Tick skip(Int repetitions) {
    const Tick later = repetitions * advance_;
    for (Tick& t : scratch_.free) t += later;
    for (Tick& t : scratch_.forward) t += later;
    for (Tick& t : scratch_.backward) t += later;
    return repetitions * in_transfer_;
  }

 private:
  // Without what a line sets before it is read: forward[0] and backward[devices].
  bool same_but_for_time() {
    const Tick* before = known_.data();
    advance_ = scratch_.free[0] - *before;
    const auto same = [&before, this](const Tick* now) {
      for (const Tick* const end = now + devices_; now != end; ++now, ++before)
        if (*now - *before != advance_) return false;
      return true;
    };
    return same(scratch_.free.data()) && same(scratch_.forward.data() + 1) && same(scratch_.backward.data());
  }
  void keep(Tick in_transfer) {
    known_.clear();
    known_.insert(known_.end(), scratch_.free.begin(), scratch_.free.end());
    known_.insert(known_.end(), scratch_.forward.begin() + 1, scratch_.forward.end());
    known_.insert(known_.end(), scratch_.backward.begin(), scratch_.backward.end() - 1);
    in_transfer_ = in_transfer;
  }

  OneFOneBScratch& scratch_;
  std::size_t devices_;
  std::vector<Tick>& known_;
  Int since_ = 0, limit_ = 0;
  Tick advance_ = 0, in_transfer_ = 0;
};

void prepare(const ScheduleShape& shape, const PipelineTimes& times, const Passes& passes, OneFOneBScratch& scratch) {
  const auto p = static_cast<std::size_t>(passes.devices), n = static_cast<std::size_t>(passes.count);
  const auto chunks = static_cast<std::size_t>(shape.virtual_stages);
  scratch.whole_backward.resize(times.forward.size());
  for (std::size_t s = 0; s < times.forward.size(); ++s)
    scratch.whole_backward[s] = times.backward_input[s] + times.backward_weight[s];
  scratch.forward.assign(p + 1, 0);
  scratch.backward.assign(p + 1, 0);
  scratch.free.assign(p, 0);
  scratch.hop_before.resize(p + 1);
  for (std::size_t d = 0; d <= p; ++d)
    scratch.hop_before[d] = times.hop(static_cast<std::uint32_t>((d + p - 1) % p), static_cast<std::uint32_t>(d % p));
  scratch.forward_chunk.resize(n);
  scratch.backward_chunk.resize(n);
  for (std::size_t i = 0, chunk = 0; i < n; chunk = chunk + 1 < chunks ? chunk + 1 : 0)
    for (const std::size_t end = chunks == 1 ? n : i + p; i < end; ++i) {
      scratch.forward_chunk[i] = static_cast<std::uint32_t>(chunk * p);
      scratch.backward_chunk[i] = static_cast<std::uint32_t>((chunks - 1 - chunk) * p);
    }
}

// `blocking`: a device is busy until what it sent has arrived. The last stage sends no forward, the first no backward.
// `alike`: all hops take the same time.
template <Int stride, bool blocking, bool alike>
StepSpan run_lines(const PipelineTimes& times, const Passes& passes, OneFOneBScratch& scratch) {
  // All in locals: what is stored could else be any of what is read.
  const Int p = passes.devices, n = passes.count, lead = passes.lead;
  const Tick transfer = times.transfer;
  const Tick* const hops = scratch.hop_before.data();
  const auto hop_before = [transfer, hops](Int r) { return alike ? transfer : hops[r]; };
  const Tick* const forward_time = times.forward.data();
  const Tick* const backward_time = scratch.whole_backward.data();
  const std::uint32_t* const forward_chunk = scratch.forward_chunk.data();
  const std::uint32_t* const backward_chunk = scratch.backward_chunk.data();
  const Int last_chunk = static_cast<Int>(times.forward.size()) - p;
  // When results arrive: forwards of device r at r + 1, what device 0 waits for at 0; backwards of device r at r,
  // what the last device waits for at p.
  Tick* const forwards = scratch.forward.data();
  Tick* const backwards = scratch.backward.data();
  Tick* const free = scratch.free.data();
  Tick in_transfer = 0;
  const auto run = [&in_transfer](Tick start, Tick arrives, Tick hop, Tick duration) {
    const Tick begin = std::max(start, arrives);
    in_transfer += std::min(begin - start, hop);
    return begin + duration;
  };
  // When the device is free again behind an operation that ends then.
  const auto after = [&in_transfer](Tick end, Tick hop, bool sends) {
    if (!blocking || !sends) return end;
    in_transfer += hop;
    return end + hop;
  };
  const Int longest = stride * n;  // lines from a device's first forward to behind its last
  // Before it every device runs a forward and a backward, from line 0 on.
  const Int drain = std::min(longest - lead, longest - p + 1);
  Repetition repetition(scratch, p);
  // Before that at least what the first ones wait for is still on its way through the devices.
  Int look = p;
  for (Int line = -lead; line < longest; ++line) {
    if (line == look && line < drain) {
      look += passes.repeat;
      if (const Int looks = repetition.looks(in_transfer); looks > 0) {
        const Int lines = looks * passes.repeat, times_more = (drain - line) / lines;
        in_transfer += repetition.skip(times_more);
        line += times_more * lines;
        look = longest;  // what is left is shorter than a repetition
      }
    }
    // Devices that run a forward: from f0 to before f1; a backward: from b0 to before b1. Forwards alone are below
    // b0.
    const Int f0 = std::clamp<Int>(line + lead - longest + 1, 0, p), f1 = std::min(p, line + lead + 1);
    const Int b0 = std::max<Int>(0, -line), b1 = std::min(p, longest - line);
    const auto pass_forward = [&](Int r) { return (line + lead - r) / stride; };
    const auto pass_backward = [&](Int r) { return (line + r) / stride; };
    if (f0 == 0 && line + lead >= 0) forwards[0] = forward_chunk[pass_forward(0)] > 0 ? forwards[p] : 0;
    if (b1 == p && line + p - 1 >= 0)
      backwards[p] = backward_chunk[pass_backward(p - 1)] < last_chunk ? backwards[0] : 0;
    Tick gradient = backwards[p];  // from device r+1, as it was before this line
    const auto forward = [&](Int r, Tick start) {
      const Int stage = forward_chunk[pass_forward(r)] + r;
      const Tick end = run(start, forwards[r], hop_before(r), forward_time[stage]);
      forwards[r + 1] = end + hop_before(r + 1);
      return after(end, hop_before(r + 1), stage + 1 < last_chunk + p);
    };
    const auto backward = [&](Int r, Tick start) {
      const Tick arrives = stride == 1 ? gradient : backwards[r + 1];
      gradient = backwards[r];
      const Int stage = backward_chunk[pass_backward(r)] + r;
      const Tick end = run(start, arrives, hop_before(r + 1), backward_time[stage]);
      backwards[r] = end + hop_before(r);
      return after(end, hop_before(r), stage > 0);
    };
    // The highest device of the line at or below `r`.
    const auto of_line = [&](Int r) { return stride == 1 ? r : r - ((line + r) & 1); };
    const Int both = std::max(f0, b0);
    if (stride == 1 && b1 < p) gradient = backwards[b1];
    Int r = of_line(std::min(f1, b1) - 1);
    for (; r >= both; r -= stride) free[r] = backward(r, forward(r, free[r]));
    for (r = of_line(std::min(b1, f0) - 1); r >= b0; r -= stride) free[r] = backward(r, free[r]);
    for (r = of_line(std::min(f1, b0) - 1); r >= f0; r -= stride) free[r] = forward(r, free[r]);
  }
  return {*std::max_element(free, free + p), in_transfer};
}

}  // namespace

bool runs_without_order(const ScheduleShape& shape) {
  if (shape.stages < 2 || shape.order) return false;
  return shape.kind == ScheduleKind::one_f_one_b ||
         (shape.kind == ScheduleKind::interleaved_1f1b && group_size_of(shape) == shape.stages);
}

namespace {

template <Int stride>
StepSpan run_lines(const PipelineTimes& times, const Passes& passes, OneFOneBScratch& scratch) {
  const bool blocking = times.blocking_send && times.longest_hop() > 0;
  if (times.node_devices > 1)
    return blocking ? run_lines<stride, true, false>(times, passes, scratch)
                    : run_lines<stride, false, false>(times, passes, scratch);
  return blocking ? run_lines<stride, true, true>(times, passes, scratch)
                  : run_lines<stride, false, true>(times, passes, scratch);
}

}  // namespace

StepSpan one_f_one_b_span(const ScheduleShape& shape, const PipelineTimes& times, OneFOneBScratch& scratch) {
  const bool looped = shape.kind == ScheduleKind::interleaved_1f1b;
  const Int p = shape.stages, n = Int{shape.microbatches} * shape.virtual_stages;
  const Passes passes{p, n, looped ? (shape.virtual_stages - 1) * p + 2 * (p - 1) : 2 * (p - 1), looped ? 1 : 2,
                      looped ? shape.virtual_stages * p : 2};
  prepare(shape, times, passes, scratch);
  return looped ? run_lines<1>(times, passes, scratch) : run_lines<2>(times, passes, scratch);
}

}  // namespace roofscape::engine
