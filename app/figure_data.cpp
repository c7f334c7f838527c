#include "app/figure_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/training/schedule_comparison.h"

namespace roofscape::app {

namespace {

std::string_view pass_name(engine::OpKind kind) {
  switch (kind) {
    case engine::OpKind::forward: return "forward";
    case engine::OpKind::backward: return "backward";
    case engine::OpKind::backward_input: return "backward_input";
    case engine::OpKind::backward_weight: return "backward_weight";
  }
  return "";
}

std::string memory_data(const engine::Report& report) {
  std::string out = "stage";
  for (const engine::Q part : engine::kMemoryParts) out += fmt::format("\t{}", engine::quantity(part).id);
  out += fmt::format("\t{}\n", engine::quantity(engine::Q::memory_total).id);
  for (std::size_t i = 0; i < report.stages.size(); ++i) {
    out += fmt::format("{}", i);
    for (const double bytes : report.stages[i].memory_bytes) out += fmt::format("\t{}", bytes);
    out += fmt::format("\t{}\n", report.stages[i].memory_total_bytes);
  }
  return out;
}

std::string roofline_data(const engine::Report& report, const widgets::TextTable& texts) {
  std::string out = "operation\tFLOP\tHBM bytes\tFLOP/byte\tFLOP/s\ttime s\tshare of step\n";
  for (const engine::OperationRow& row : report.operations)
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n",
                       texts.text("operation." + std::string(engine::kOperationIds[static_cast<std::size_t>(row.kind)])), row.flops,
                       row.hbm_bytes, row.intensity_flop_per_byte, row.achieved_flop_per_s, row.time_s, row.share_of_step);
  return out;
}

std::string pipeline_data(const engine::Report& report) {
  std::string out = "device\tvirtual stage\tmicrobatch\tpass\tstart s\n";
  const engine::PipelineReport& p = report.pipeline;
  constexpr std::size_t kMost = 200000;  // a clipboard is no place for more
  for (std::size_t device = 0; device < p.orders.devices(); ++device)
    for (std::size_t i = p.orders.first[device]; i < p.orders.first[device + 1] && i < p.timeline.start.size() && i < kMost; ++i) {
      const engine::Op op = p.orders.ops[i];
      out += fmt::format("{}\t{}\t{}\t{}\t{}\n", device, op.stage(), op.microbatch(), pass_name(op.kind()),
                         static_cast<double>(p.timeline.start[i]) * 1e-12);
    }
  return out;
}

// What both figures of schedules compare, at the plan's microbatches or over their number. Empty but for the head where
// the plan has no pipeline or a schedule that cannot run.
std::string schedules_data(const engine::Report& report) {
  std::string out = "schedule\tchunks\tlegal\tmakespan s\tidle share\tmost microbatches held\n";
  const auto work = engine::step_work(report);
  if (!work) return out;
  for (const engine::ScheduleVariant& v : engine::compare_schedules(*work)) {
    const auto& peaks = v.pipeline.peak_microbatches;
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", engine::schedule_id(v.pipeline.shape.kind), v.pipeline.shape.virtual_stages,
                       v.legal() ? "yes" : "no", static_cast<double>(v.makespan) * 1e-12, v.idle_fraction,
                       peaks.empty() ? 0.0 : *std::max_element(peaks.begin(), peaks.end()));
  }
  return out;
}

std::string bubble_data(const engine::Report& report) {
  std::string out = "schedule\tmicrobatches\tidle share\tmakespan s\n";
  const auto work = engine::step_work(report);
  if (!work) return out;
  for (const engine::BubbleCurve& curve : engine::bubble_curves(*work, engine::microbatches_to_show(*work)))
    for (const engine::BubblePoint& p : curve.points)
      out += fmt::format("{}\t{}\t{}\t{}\n", engine::schedule_id(curve.shape.kind), p.microbatches, p.idle_fraction,
                         static_cast<double>(p.makespan) * 1e-12);
  return out;
}

}  // namespace

std::string figure_data(std::string_view figure, const engine::Report& report, const widgets::TextTable& texts) {
  if (figure == "memory") return memory_data(report);
  if (figure == "pipeline") return pipeline_data(report);
  if (figure == "schedules") return schedules_data(report);
  if (figure == "bubble") return bubble_data(report);
  return roofline_data(report, texts);
}

}  // namespace roofscape::app
