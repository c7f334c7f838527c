#include "engine/pipeline/timeline_detail.h"

#include <algorithm>
#include <array>

namespace roofscape::engine {
namespace {

std::size_t part_of(Op op) {
  switch (op.kind()) {
    case OpKind::forward:
      return 0;
    case OpKind::backward:
    case OpKind::backward_input:
      return 1;
    case OpKind::backward_weight:
      return 2;
  }
  return 0;
}

// Held is what chunks are counted in: whole numbers, where an addition need not wait long for the one before it, or
// doubles where a part of a chunk is put off.
template <class Held>
void make_least_blocks(const Orders& orders, const PipelineTimes& times, const Timeline& timeline, Held put_off,
                       TimelineDetail::Level& out) {
  out.blocks.clear();
  out.blocks.reserve(orders.ops.size() / TimelineDetail::kLeastOps + 2 * orders.devices());
  out.first.assign(1, 0);
  // One look-up an operation; pairs are rare enough to be asked for.
  std::vector<Tick> durations(4 * times.forward.size());
  for (std::size_t s = 0; s < times.forward.size(); ++s) {
    durations[4 * s] = times.forward[s];
    durations[4 * s + 1] = times.backward_input[s] + times.backward_weight[s];
    durations[4 * s + 2] = times.backward_input[s];
    durations[4 * s + 3] = times.backward_weight[s];
  }
  // A forward holds from its start on, anything else changes what is held at its end.
  std::array<Held, 4> change{};
  for (const OpKind kind : {OpKind::forward, OpKind::backward, OpKind::backward_input, OpKind::backward_weight})
    change[static_cast<std::size_t>(kind)] = held_at_start(kind) - freed_at_end(kind, put_off);
  // Of the pair before: the same stages are joined many times in a row.
  std::uint32_t forward_stage = 0, backward_stage = 0;
  Tick of_pair = duration_of_pair(times, 0, 0);
  for (std::size_t d = 0; d < orders.devices(); ++d) {
    const std::uint32_t begin = orders.first[d], end = orders.first[d + 1];
    Held held = 0;
    Tick until = 0;
    bool second = false;
    for (std::uint32_t from = begin; from < end; from += TimelineDetail::kLeastOps) {
      TimelineBlock block;
      block.start = timeline.start[from];
      block.before = static_cast<double>(held);
      Held most = held, least = held;
      const std::uint32_t to = std::min(end, from + TimelineDetail::kLeastOps);
      for (std::uint32_t i = from; i < to; ++i) {
        const Op op = orders.ops[i];
        if (op.joined_with_next()) {
          second = true;
          continue;
        }
        Tick duration = 0;
        if (second) {
          const Op first = orders.ops[i - 1];
          if (first.stage() != forward_stage || op.stage() != backward_stage) {
            forward_stage = first.stage(), backward_stage = op.stage();
            of_pair = duration_of_pair(times, forward_stage, backward_stage);
          }
          duration = of_pair;
          block.busy[part_of(first)] += duration / 2;
          block.busy[part_of(op)] += duration - duration / 2;
          held += held_at_start(first.kind()) + held_at_start(op.kind());
          most = std::max(most, held);
          held -= freed_at_end(first.kind(), put_off) + freed_at_end(op.kind(), put_off);
          second = false;
        } else {
          duration = durations[op.stage_and_kind()];
          block.busy[part_of(op)] += duration;
          held += change[static_cast<std::size_t>(op.kind())];
          most = std::max(most, held);
        }
        least = std::min(least, held);
        until = timeline.start[i] + duration;
      }
      block.most = static_cast<double>(most);
      block.least = static_cast<double>(least);
      out.blocks.push_back(block);
    }
    TimelineBlock rest;
    rest.start = until;
    rest.before = rest.most = rest.least = static_cast<double>(held);
    out.blocks.push_back(rest);
    out.first.push_back(static_cast<std::uint32_t>(out.blocks.size()));
  }
}

void join(const TimelineDetail::Level& fine, TimelineDetail::Level& out) {
  out.blocks.clear();
  out.blocks.reserve(fine.blocks.size() / 2 + fine.first.size());
  out.first.assign(1, 0);
  for (std::size_t d = 0; d + 1 < fine.first.size(); ++d) {
    const TimelineBlock* const blocks = fine.of(d);
    const std::uint32_t count = fine.count(d);
    for (std::uint32_t i = 0; i < count; i += 2) {
      TimelineBlock block = blocks[i];
      if (i + 1 < count) {
        const TimelineBlock& other = blocks[i + 1];
        for (std::size_t k = 0; k < block.busy.size(); ++k) block.busy[k] += other.busy[k];
        block.most = std::max(block.most, other.most);
        block.least = std::min(block.least, other.least);
      }
      out.blocks.push_back(block);
    }
    out.blocks.push_back(blocks[count]);
    out.first.push_back(static_cast<std::uint32_t>(out.blocks.size()));
  }
}

}  // namespace

void make_detail(const Orders& orders, const PipelineTimes& times, const Timeline& timeline, TimelineDetail& out,
                 double put_off) {
  out.levels.clear();
  out.put_off = put_off;
  TimelineDetail::Level& least = out.levels.emplace_back();
  if (put_off == 0)
    make_least_blocks<std::int32_t>(orders, times, timeline, 0, least);
  else
    make_least_blocks<double>(orders, times, timeline, put_off, least);
  const auto longest = [&] {
    std::uint32_t most = 0;
    for (std::size_t d = 0; d < orders.devices(); ++d) most = std::max(most, out.levels.back().count(d));
    return most;
  };
  while (longest() > 1) {
    TimelineDetail::Level coarse;
    join(out.levels.back(), coarse);
    out.levels.push_back(std::move(coarse));
  }
}

void timed_critical_path(const Orders& orders, const PipelineTimes& times, const Timeline& timeline,
                         std::vector<TimedStep>& out) {
  std::vector<CriticalStep> path;
  critical_path(orders, times, timeline, path);
  out.clear();
  out.reserve(path.size());
  for (const CriticalStep& step : path)
    out.push_back(
        {timeline.start[step.op], op_end(orders, times, timeline, step.op), step.op, device_of_op(orders, step.op)});
}

}  // namespace roofscape::engine
