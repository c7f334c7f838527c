// Passes: a device runs n = m v forwards and n backwards, in groups of p microbatches through one chunk after the
// other; pass i is of the same chunk and microbatch on all devices. Device r runs A(r) forwards, then pairs of
// forward A(r)+k and backward k, then the backwards that are left. Forward i waits for forward i of device r-1, on
// device 0 for forward i-p of device p-1 unless its chunk is the first; backward j for that of device r+1, on device
// p-1 for backward j-p of device 0 unless its chunk is the last. Operations are run in lines. Interleaved, A falls by
// 2 from a device to the next and line t has forward t+A(0)-r and backward t+r of every device; otherwise A falls by
// 1 and line t has forward (t-r)/2+p-1 and backward (t+r)/2 of every other device. Put in, everything an operation
// waits for is in the line before, on the neighbour; so one result of each device and direction is all that is kept.
// What would be before the first or behind the last pass is not there.
//
// Once the devices' state differs from that some lines before by nothing but a constant, and what is run since is run
// again, so do all states that follow, and the rest is a multiplication (order_span.h does the same for orders). It is
// looked for twice: from line to line, as a line mostly has the operations of the one before, with chunks of as many
// layers; and each time the chunks come again.
#include "engine/pipeline/one_f_one_b_run.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace roofscape::engine {
namespace {

using Int = std::int64_t;

struct Passes {
  Int devices, count, lead;  // lead: A(0), or 2 A(0) where a line has every other device
  Int repeat;                // lines after which chunks come again
};

// Of which operations a line has one of every device.
enum class LineOf : std::uint8_t { forwards, pairs, backwards, neither };

// Finds that a state repeats, by Brent's way: it is compared with one that is replaced after 1, 2, 4 ... looks.
class Repetition {
 public:
  Repetition(OneFOneBScratch& scratch, std::vector<Tick>& known, Int devices)
      : scratch_(scratch), known_(known), devices_(static_cast<std::size_t>(devices)) {
    known_.resize(3 * devices_);
  }
  // Forgets what it saw. `of`: all lines between looks. The results that they neither read nor make are no part of the
  // state.
  void begin(LineOf of) { of_ = of, since_ = limit_ = 0; }
  // At a look: after how many looks the state was the same but for advance_, or 0.
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
    each_row([later, this](Tick* row) {
      for (Tick* const end = row + devices_; row != end; ++row) *row += later;
      return true;
    });
    return repetitions * in_transfer_;
  }

 private:
  // Until one says no. Without what a line sets before it is read: forward[0] and backward[devices].
  template <class F>
  bool each_row(F&& f) {
    return f(scratch_.free.data()) && (of_ == LineOf::backwards || f(scratch_.forward.data() + 1)) &&
           (of_ == LineOf::forwards || f(scratch_.backward.data()));
  }
  bool same_but_for_time() {
    const Tick* before = known_.data();
    advance_ = scratch_.free[0] - *before;
    return each_row([&before, this](const Tick* now) {
      for (const Tick* const end = now + devices_; now != end; ++now, ++before)
        if (*now - *before != advance_) return false;
      return true;
    });
  }
  void keep(Tick in_transfer) {
    Tick* to = known_.data();
    each_row([&to, this](const Tick* row) {
      to = std::copy_n(row, devices_, to);
      return true;
    });
    in_transfer_ = in_transfer;
  }

  OneFOneBScratch& scratch_;
  std::vector<Tick>& known_;
  std::size_t devices_;
  LineOf of_ = LineOf::pairs;
  Int since_ = 0, limit_ = 0;
  Tick advance_ = 0, in_transfer_ = 0;
};

// For each line of a repetition, how many lines later one comes that is not like the line before it. In a line one
// device goes on to its next chunk (forward i of device r is in line i + r, backward j in line j - r), which makes a
// difference where its operations last longer or shorter, or where a stage at one end waits or sends otherwise.
template <bool forwards>
void count_alike(const std::vector<Tick>& times, std::size_t devices, std::vector<std::uint8_t>& differs,
                 std::vector<std::uint32_t>& alike) {
  constexpr std::uint32_t kEndless = 1u << 30;
  const std::size_t p = devices, repeat = times.size(), chunks = repeat / p;
  alike.assign(repeat, kEndless);
  if (chunks == 1) return;
  differs.assign(repeat + 1, false);
  for (std::size_t turn = 0; turn < chunks; ++turn) {
    const std::size_t turn_before = turn > 0 ? turn - 1 : chunks - 1;
    const Tick* const now = &times[p * (forwards ? turn : chunks - 1 - turn)];
    const Tick* const before = &times[p * (forwards ? turn_before : chunks - 1 - turn_before)];
    const std::size_t line = p * (forwards || turn > 0 ? turn : chunks);
    for (std::size_t r = 0; r < p; ++r) differs[forwards ? line + r : line - r] = now[r] != before[r];
  }
  // Where the first and the last stage are entered and left.
  for (const std::size_t line : forwards ? std::array{std::size_t{0}, p, repeat - 1, p - 1}
                                         : std::array{repeat - p, repeat, repeat - p + 1, std::size_t{1}})
    differs[line] = true;
  differs[0] |= differs[repeat];
  auto lines = static_cast<std::uint32_t>(1 + (std::ranges::find(differs, true) - differs.begin()));
  for (std::size_t line = repeat; line-- > 0;) {
    alike[line] = lines;
    lines = differs[line] ? 1 : lines + 1;
  }
}

void prepare(const ScheduleShape& shape, const PipelineTimes& times, const Passes& passes, OneFOneBScratch& scratch) {
  const auto p = static_cast<std::size_t>(passes.devices);
  scratch.whole_backward.resize(times.forward.size());
  for (std::size_t s = 0; s < times.forward.size(); ++s)
    scratch.whole_backward[s] = times.backward_input[s] + times.backward_weight[s];
  scratch.forward.assign(p + 1, 0);
  scratch.backward.assign(p + 1, 0);
  scratch.free.assign(p, 0);
  if (times.node_devices > 1) {
    scratch.hop_before.resize(p + 1);
    for (std::size_t d = 0; d <= p; ++d)
      scratch.hop_before[d] =
          times.hop(static_cast<std::uint32_t>((d + p - 1) % p), static_cast<std::uint32_t>(d % p));
  }
  if (shape.kind != ScheduleKind::interleaved_1f1b) return;
  const std::size_t repeat = times.forward.size();
  scratch.chunk.resize(2 * repeat);
  for (std::size_t i = 0, first = 0; i < 2 * repeat; first = first + p < repeat ? first + p : 0)
    for (const std::size_t end = i + p; i < end; ++i) scratch.chunk[i] = static_cast<std::uint32_t>(first);
  count_alike<true>(times.forward, p, scratch.differs, scratch.forwards_alike);
  count_alike<false>(scratch.whole_backward, p, scratch.differs, scratch.backwards_alike);
}

// Runs lines. `stride`: devices from one of a line to the next: 1 interleaved, else 2. `blocking`: a device is busy
// until what it sent has arrived; the last stage sends no forward, the first no backward. `alike`: all hops take the
// same time.
template <Int stride, bool blocking, bool alike>
class Lines {
 public:
  Lines(const PipelineTimes& times, const Passes& passes, OneFOneBScratch& scratch)
      : times_(times), passes_(passes), scratch_(scratch) {
    go_to(-passes.lead);
  }
  Int line() const { return line_; }  // the next
  Tick in_transfer() const { return in_transfer_; }
  // In a repetition, where device 0's passes of the next line are; those of device r are r before it and r behind it.
  std::size_t forward_at() const { return static_cast<std::size_t>(forward_at_); }
  std::size_t backward_at() const { return static_cast<std::size_t>(backward_at_); }

  // Up to before `end`.
  void run(LineOf of, Int end) {
    switch (of) {
      case LineOf::forwards:
        return run<LineOf::forwards>(end);
      case LineOf::pairs:
        return run<LineOf::pairs>(end);
      case LineOf::backwards:
        return run<LineOf::backwards>(end);
      case LineOf::neither:
        return run<LineOf::neither>(end);
    }
  }
  // As often as there is room before `end` for a repetition of so many lines.
  void skip(Repetition& repetition, Int lines, Int end) {
    const Int times_more = (end - line_) / lines;
    in_transfer_ += repetition.skip(times_more);
    go_to(line_ + times_more * lines);
  }

 private:
  void go_to(Int line) {
    line_ = line;
    if (stride == 2) return;
    forward_at_ = (line + passes_.lead) % passes_.repeat;
    backward_at_ = (line % passes_.repeat + passes_.repeat) % passes_.repeat;
  }

  template <LineOf of>
  void run(Int end_line) {
    // All in locals: what is stored could else be any of what is read.
    const Int p = passes_.devices, lead = passes_.lead, repeat = passes_.repeat;
    const Int longest = stride * passes_.count;
    const Tick transfer = times_.transfer;
    const Tick* const hops = scratch_.hop_before.data();
    const auto hop_before = [transfer, hops](Int r) { return alike ? transfer : hops[r]; };
    const Tick* const forward_time = times_.forward.data();
    const Tick* const backward_time = scratch_.whole_backward.data();
    const std::uint32_t* const chunk = scratch_.chunk.data();
    const Int last_chunk = static_cast<Int>(times_.forward.size()) - p;
    // When results arrive: forwards of device r at r + 1, what device 0 waits for at 0; backwards of device r at r,
    // what the last device waits for at p.
    Tick* const forwards = scratch_.forward.data();
    Tick* const backwards = scratch_.backward.data();
    Tick* const free = scratch_.free.data();
    Tick in_transfer = in_transfer_;
    const auto perform = [&in_transfer](Tick start, Tick arrives, Tick hop, Tick duration) {
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
    Int forward_at = forward_at_, backward_at = backward_at_;
    for (Int line = line_; line < end_line; ++line) {
      const auto chunk_forward = [&](Int r) { return stride == 2 ? 0 : Int{chunk[repeat + forward_at - r]}; };
      const auto chunk_backward = [&](Int r) { return stride == 2 ? 0 : last_chunk - Int{chunk[backward_at + r]}; };
      // Devices that run a forward: from f0 to before f1; a backward: from b0 to before b1. Forwards alone are below b0.
      Int f0 = 0, f1 = p, b0 = 0, b1 = p;
      if (of == LineOf::neither) {
        f0 = std::clamp<Int>(line + lead - longest + 1, 0, p), f1 = std::min(p, line + lead + 1);
        b0 = std::max<Int>(0, -line), b1 = std::min(p, longest - line);
      }
      if (of == LineOf::forwards) b1 = 0;
      if (of == LineOf::backwards) f1 = 0;
      if (f0 == 0 && f1 > 0) forwards[0] = chunk_forward(0) > 0 ? forwards[p] : 0;
      if (b1 == p && b0 < p) backwards[p] = chunk_backward(p - 1) < last_chunk ? backwards[0] : 0;
      Tick gradient = backwards[b1 < p ? b1 : p];  // from device r+1, as it was before this line
      const auto forward = [&](Int r, Tick start) {
        const Int stage = chunk_forward(r) + r;
        const Tick end = perform(start, forwards[r], hop_before(r), forward_time[stage]);
        forwards[r + 1] = end + hop_before(r + 1);
        return after(end, hop_before(r + 1), stage + 1 < last_chunk + p);
      };
      const auto backward = [&](Int r, Tick start) {
        const Tick arrives = stride == 1 ? gradient : backwards[r + 1];
        gradient = backwards[r];
        const Int stage = chunk_backward(r) + r;
        const Tick end = perform(start, arrives, hop_before(r + 1), backward_time[stage]);
        backwards[r] = end + hop_before(r);
        return after(end, hop_before(r), stage > 0);
      };
      // The highest device of the line at or below `r`.
      const auto of_line = [&](Int r) { return stride == 1 ? r : r - ((line + r) & 1); };
      if (of == LineOf::forwards) {
        for (Int r = p - 1; r >= 0; --r) free[r] = forward(r, free[r]);
      } else if (of == LineOf::backwards) {
        for (Int r = p - 1; r >= 0; --r) free[r] = backward(r, free[r]);
      } else if (of == LineOf::pairs) {
        for (Int r = p - 1; r >= 0; --r) free[r] = backward(r, forward(r, free[r]));
      } else {
        const Int both = std::max(f0, b0);
        Int r = of_line(std::min(f1, b1) - 1);
        for (; r >= both; r -= stride) free[r] = backward(r, forward(r, free[r]));
        for (r = of_line(std::min(b1, f0) - 1); r >= b0; r -= stride) free[r] = backward(r, free[r]);
        for (r = of_line(std::min(f1, b0) - 1); r >= f0; r -= stride) free[r] = forward(r, free[r]);
      }
      if (++forward_at == repeat) forward_at = 0;
      if (++backward_at == repeat) backward_at = 0;
    }
    line_ = end_line, in_transfer_ = in_transfer;
    forward_at_ = forward_at, backward_at_ = backward_at;
  }

  const PipelineTimes& times_;
  const Passes& passes_;
  OneFOneBScratch& scratch_;
  Int line_ = 0, forward_at_ = 0, backward_at_ = 0;
  Tick in_transfer_ = 0;
};

template <Int stride, bool blocking, bool alike>
StepSpan run_lines(const PipelineTimes& times, const Passes& passes, OneFOneBScratch& scratch) {
  const Int p = passes.devices, lead = passes.lead, repeat = passes.repeat;
  const Int longest = stride * passes.count;  // lines from a device's first forward to behind its last
  // Before it every device runs a forward and a backward, from line 0 on.
  const Int drain = std::min(longest - lead, longest - p + 1);
  // Where every device runs what it runs.
  const struct {
    LineOf of;
    Int from, end;
  } stretches[] = {{LineOf::forwards, p - 1 - lead, 1 - p},
                   {LineOf::pairs, 0, drain},
                   {LineOf::backwards, longest - lead + p - 1, longest - p + 1}};
  Lines<stride, blocking, alike> lines(times, passes, scratch);
  // What the lines from here on are of, and the first that is not like them or where chunks are looked at.
  const auto alike_lines = [&](Int look) -> std::pair<LineOf, Int> {
    const Int line = lines.line();
    LineOf of = LineOf::neither;
    Int end = look > line ? std::min(look, longest) : longest;
    if (stride == 2) return {of, end};
    for (const auto& stretch : stretches) {
      if (line >= stretch.from && line < stretch.end) of = stretch.of;
      for (const Int bound : {stretch.from, stretch.end})
        if (line < bound) end = std::min(end, bound);
    }
    if (of == LineOf::neither) return {of, end};
    if (of != LineOf::backwards) end = std::min(end, line + scratch.forwards_alike[lines.forward_at()]);
    if (of != LineOf::forwards) end = std::min(end, line + scratch.backwards_alike[lines.backward_at()]);
    return {of, end};
  };
  Repetition of_chunks(scratch, scratch.known, p), of_lines(scratch, scratch.known_line, p);
  // Where chunks come again. Before the first at least what the first ones wait for is still on its way.
  Int look = p;
  while (true) {
    if (lines.line() == look && look < drain) {
      look += repeat;
      if (const Int looks = of_chunks.looks(lines.in_transfer()); looks > 0) {
        lines.skip(of_chunks, looks * repeat, drain);
        look = longest;  // what is left is shorter than a repetition
      }
    }
    if (lines.line() >= longest) break;
    const auto [of, end] = alike_lines(look);
    // A wave of forwards or backwards alone comes to a device again after p lines.
    const Int apart = of == LineOf::pairs ? 1 : p;
    of_lines.begin(of);
    while (of != LineOf::neither && lines.line() + 2 * apart < end) {
      if (const Int looks = of_lines.looks(lines.in_transfer()); looks > 0) {
        lines.skip(of_lines, looks * apart, end);
        break;
      }
      lines.run(of, lines.line() + apart);
    }
    lines.run(of, end);
  }
  return {*std::ranges::max_element(scratch.free), lines.in_transfer()};
}

}  // namespace

bool runs_without_order(const ScheduleShape& shape) {
  if (shape.stages < 2 || shape.order) return false;
  return shape.kind == ScheduleKind::one_f_one_b || runs_in_groups_of_stages(shape);
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
  const Passes passes{p, n, looped ? (shape.virtual_stages - 1) * p + 2 * (p - 1) : 2 * (p - 1),
                      looped ? shape.virtual_stages * p : 2};
  prepare(shape, times, passes, scratch);
  return looped ? run_lines<1>(times, passes, scratch) : run_lines<2>(times, passes, scratch);
}

}  // namespace roofscape::engine
