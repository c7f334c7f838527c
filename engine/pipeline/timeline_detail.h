// What a picture of a long timeline needs so that a frame costs what it shows and not what the step holds: blocks of
// consecutive operations, at every level twice as many, with what a device does in them; and the critical path with
// its times. Both are made once per timeline. Preconditions as in timeline_analysis.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/pipeline/timeline_analysis.h"

namespace roofscape::engine {

// Consecutive operations of one device, from the start of the first to the start of what comes after the last.
struct TimelineBlock {
  Tick start = 0;
  // Forward; backward and input gradient; weight gradient. Halves of a pair share its time.
  std::array<Tick, 3> busy{};
  // Chunks of microbatches the device holds (kept until the weight gradient, and TimelineDetail::put_off more from
  // the input gradient on): before the first operation, and the most and the least at any time within. An overlapped
  // pair belongs to the block of its second half.
  double before = 0, most = 0, least = 0;
  Tick busy_ticks() const { return busy[0] + busy[1] + busy[2]; }
};

struct TimelineDetail {
  static constexpr std::uint32_t kLeastOps = 8;
  struct Level {
    // Of each device one more than it has: without operations, at the device's end.
    std::vector<TimelineBlock> blocks;
    std::vector<std::uint32_t> first;  // by device
    const TimelineBlock* of(std::size_t device) const { return blocks.data() + first[device]; }
    std::uint32_t count(std::size_t device) const { return first[device + 1] - first[device] - 1; }
  };
  // Blocks of kLeastOps operations, twice as many, and so on until a device has one. Block i of a level is made of
  // blocks 2i and 2i + 1 of the level before.
  std::vector<Level> levels;
  double put_off = 0;
  // Time a device computes, and the most it ever holds.
  const TimelineBlock& whole(std::size_t device) const { return *levels.back().of(device); }
};
// `put_off`: what a weight gradient that is put off needs beyond what is kept of its chunk, over that.
void make_detail(const Orders& orders, const PipelineTimes& times, const Timeline& timeline, TimelineDetail& out,
                 double put_off = 0);

// What the change of one operation does to the chunks of a device: taken at its start, freed at its end. Held is what
// chunks are counted in.
constexpr int held_at_start(OpKind kind) { return kind == OpKind::forward ? 1 : 0; }
template <class Held>
constexpr Held freed_at_end(OpKind kind, Held put_off) {
  if (kind == OpKind::backward_input) return -put_off;
  return kind == OpKind::backward ? 1 : kind == OpKind::backward_weight ? 1 + put_off : 0;
}

// The critical path with what is needed to draw a part of it. Starts ascend.
struct TimedStep {
  Tick start = 0, end = 0;
  std::uint32_t op = kNoOp, device = 0;
};
void timed_critical_path(const Orders& orders, const PipelineTimes& times, const Timeline& timeline,
                         std::vector<TimedStep>& out);

}  // namespace roofscape::engine
