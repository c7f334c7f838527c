#include "engine/studies/memory_timeline.h"

#include <algorithm>
#include <cmath>

#include "engine/pipeline/timeline_analysis.h"
#include "engine/training/stage_time.h"

namespace roofscape::engine {
namespace {

constexpr int kMostAlike = 3;  // microbatches shown of those that run one after the other

std::size_t activations_part() {
  for (std::size_t i = 0; i < kMemoryParts.size(); ++i)
    if (kMemoryParts[i] == Q::memory_activations) return i;
  return 0;
}

// Forward fills, backward empties, microbatch by microbatch. What goes to the host leaves two layers behind.
MemoryTimeline one_stage(const Scenario& s, const Report& report, const StageRow& row, double most) {
  MemoryTimeline out;
  out.holds = false;
  out.microbatches = static_cast<int>(report.quantities.value_or(Q::microbatches, 1));
  out.microbatches_shown = std::min(out.microbatches, kMostAlike);
  const double full =
      s.offload.activations && row.layers > 2 ? 2.0 / row.layers : 1.0;  // of a pass, until it is full
  double at = 0;
  out.points.push_back({0, 0});
  for (int i = 0; i < out.microbatches_shown; ++i) {
    const double turn = at + row.forward_s, end = turn + row.backward_s;
    if (full < 1) out.points.push_back({at + full * row.forward_s, most});
    out.points.push_back({turn, most});
    if (full < 1) out.points.push_back({end - full * row.backward_s, most});
    out.points.push_back({end, 0});
    at = end;
  }
  out.peak_s = full * row.forward_s;
  if (out.microbatches_shown == out.microbatches) at += report.pipeline.step_end_s;
  out.end_s = at;
  if (out.points.back().seconds < at) out.points.push_back({at, 0});
  return out;
}

}  // namespace

std::optional<MemoryTimeline> memory_timeline(const Scenario& s, const Report& report, int stage) {
  if (stage < 0 || stage >= static_cast<int>(report.stages.size())) return std::nullopt;
  const StageRow& row = report.stages[static_cast<std::size_t>(stage)];
  const double most = row.memory_bytes[activations_part()];
  if (report.stages.size() == 1) {
    if (!(row.forward_s + row.backward_s > 0)) return std::nullopt;
    return one_stage(s, report, row, most);
  }
  const PipelineReport& p = report.pipeline;
  if (!p.drawn() || static_cast<std::size_t>(stage) >= p.orders.devices()) return std::nullopt;
  // In chunks: those held, and a large number for each of them whose weight gradient is put off.
  constexpr double kPutOff = 1 << 24;
  ActivationSizes sizes;
  sizes.freed_after_input.assign(p.orders.device_of.size(), -kPutOff);
  sizes.freed_after_weight.assign(p.orders.device_of.size(), kPutOff + 1);
  std::vector<MemoryPoint> trace;
  memory_trace(p.orders, p.times, p.timeline, sizes, static_cast<std::uint32_t>(stage), trace);
  // Of a microbatch in one chunk; a device without layers keeps nothing to draw.
  const double chunks = p.orders.passes_per_device;
  const double kept = row.kept_bytes > 0 ? row.kept_bytes / chunks : 1, needed = row.postponed_bytes / chunks;
  const auto put_off_at = [](const MemoryPoint& point) { return std::floor(point.amount / kPutOff); };
  double most_put_off = 0;
  for (const MemoryPoint& point : trace) most_put_off = std::max(most_put_off, put_off_at(point));
  // Checkpoints on their way to the host leave two layers' on the chip, however many microbatches there are: what the
  // peak has beside the weight gradients that are put off.
  const double two_layers = most - most_put_off * needed;
  const auto amount_of = [&](const MemoryPoint& point) {
    const double put_off = put_off_at(point), held = point.amount - put_off * kPutOff;
    if (s.offload.activations) return (held > 0 ? two_layers : 0) + put_off * needed;
    return held * kept + put_off * std::max(0.0, needed - kept);
  };
  // The report says how many bytes the peak is.
  double peak = 0;
  for (const MemoryPoint& point : trace) peak = std::max(peak, amount_of(point));
  if (!(peak > 0)) return std::nullopt;
  MemoryTimeline out;
  out.microbatches = out.microbatches_shown = p.shape.microbatches;
  out.points.reserve(trace.size() + 1);
  bool found = false;
  for (const MemoryPoint& point : trace) {
    const double seconds = static_cast<double>(point.time) * kTickSeconds;
    const double amount = amount_of(point);
    if (!found && amount == peak) out.peak_s = seconds, found = true;
    out.points.push_back({seconds, most * (amount / peak)});
  }
  out.stage = stage;
  out.end_s = static_cast<double>(p.timeline.makespan) * kTickSeconds + p.step_end_s;
  return out;
}

}  // namespace roofscape::engine
