#include "engine/studies/measured_run.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "engine/evaluate/evaluate.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::engine {

namespace {

// The parts of a predicted step, by the line they belong to.
struct TermParts {
  StepTerm term;
  std::span<const Q> training, serving;
};
constexpr std::array kArithmeticParts{Q::step_matmul, Q::step_attention, Q::step_recompute};
constexpr std::array kVectorParts{Q::step_hbm};
constexpr std::array kOptimizerParts{Q::step_optimizer};
constexpr std::array kOffloadParts{Q::step_offload};
constexpr std::array kCommunicationParts{Q::step_data, Q::step_fsdp, Q::step_tensor, Q::step_context, Q::step_expert};
constexpr std::array kPipelineParts{Q::step_bubble, Q::step_pipeline_transfer};
constexpr std::array kHostParts{Q::step_host};
constexpr std::array kDecodeWork{Q::decode_attention, Q::decode_linear, Q::decode_draft};
constexpr std::array kDecodeNetwork{Q::decode_exposed};
constexpr std::array kDecodePipeline{Q::decode_transfer};
constexpr std::array kDecodeHost{Q::decode_host};
constexpr std::array<TermParts, kEnumCount<StepTerm>> kTermParts{{
    {StepTerm::arithmetic, kArithmeticParts, kDecodeWork},
    {StepTerm::vector, kVectorParts, {}},
    {StepTerm::optimizer, kOptimizerParts, {}},
    {StepTerm::offload, kOffloadParts, {}},
    {StepTerm::communication, kCommunicationParts, kDecodeNetwork},
    {StepTerm::pipeline, kPipelineParts, kDecodePipeline},
    {StepTerm::host, kHostParts, kDecodeHost},
    {StepTerm::unknown_kernels, {}, {}},
}};

std::optional<double> measured_term(StepTerm term, const MeasuredKernels& kernels, bool pipelined, bool offloads) {
  const auto own = [&](WorkKind kind) { return kernels.work[static_cast<std::size_t>(kind)].own_s; };
  const auto exposed = [&](MeasuredCollective kind) {
    return kernels.collectives[static_cast<std::size_t>(kind)].exposed_s;
  };
  switch (term) {
    case StepTerm::arithmetic:
      return own(WorkKind::matmul) + own(WorkKind::attention);
    case StepTerm::vector:  // copies to the host, where the plan has none, are a kernel like others
      return own(WorkKind::vector) + (offloads ? 0 : own(WorkKind::host_copy));
    case StepTerm::optimizer:
      return own(WorkKind::optimizer);
    case StepTerm::offload:
      return offloads ? own(WorkKind::host_copy) : 0;
    case StepTerm::unknown_kernels:
      return own(WorkKind::unknown);
    default:
      break;
  }
  if (!kernels.timeline) return std::nullopt;  // how much of it ran beside work is not in sums
  switch (term) {
    case StepTerm::communication: {
      double all = 0;
      for (const CollectiveTime& one : kernels.collectives) all += one.exposed_s;
      return pipelined ? all - exposed(MeasuredCollective::send_recv) : all;
    }
    case StepTerm::pipeline:  // a stage that waits is in a receive
      return pipelined ? exposed(MeasuredCollective::send_recv) : 0;
    default:
      return kernels.idle_host_s + kernels.idle_launch_s + kernels.idle_s;
  }
}

Q step_of(const Scenario& s) { return s.serves() ? Q::decode_step : Q::step_time; }

}  // namespace

void MeasuredKernels::keep_longest_unknown() {
  constexpr std::size_t kMostUnknown = 8;
  std::stable_sort(unknown.begin(), unknown.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  if (unknown.size() > kMostUnknown) unknown.resize(kMostUnknown);
}

MeasuredComparison compare_measured(const Scenario& s, const Report& report, const MeasuredRun& run) {
  MeasuredComparison out;
  const QuantityValues& q = report.quantities;
  if (!report.has_errors()) out.predicted_s = q[step_of(s)];
  const auto chips = q[Q::chips_used], tokens = q[Q::tokens_per_step], flops = q[Q::flops_per_token],
             peak = q[Q::peak_flops];
  if (!s.serves() && chips && *chips > 0 && tokens && flops) out.model_flops = *flops * *tokens / *chips;
  out.measured_s = run.step_s;
  if (!out.measured_s && !s.serves() && chips && *chips > 0) {
    if (run.tokens_per_chip_per_s && tokens)
      out.measured_s = *tokens / *chips / *run.tokens_per_chip_per_s;
    else if (run.mfu && out.model_flops && peak && *peak > 0)
      out.measured_s = *out.model_flops / (*peak * *run.mfu);
    else if (run.flops_per_chip_per_s && out.model_flops)
      out.measured_s = *out.model_flops / *run.flops_per_chip_per_s;
    out.step_follows = out.measured_s.has_value();
  }
  if (run.flops_per_chip_per_s && run.step_s) out.framework_flops = *run.flops_per_chip_per_s * *run.step_s;
  if (!s.serves()) {
    out.predicted_mfu = out.predicted_s ? q[Q::mfu] : std::nullopt;
    if (out.measured_s && out.model_flops && peak && *peak > 0)
      out.measured_mfu = *out.model_flops / *out.measured_s / *peak;
  }
  out.predicted_bytes = q[Q::memory_total];
  out.capacity_bytes = q[Q::hbm_capacity];

  const bool pipelined = s.parallelism.pipeline > 1;
  const bool offloads = q.value_or(Q::step_offload, 0) > 0;
  double explained = 0;
  for (const TermParts& parts : kTermParts) {
    StepTermRow row{parts.term, s.serves() ? parts.serving : parts.training, 0, {}};
    for (const Q part : row.parts) row.predicted_s += q.value_or(part, 0);
    if (run.kernels) row.measured_s = measured_term(parts.term, *run.kernels, pipelined, offloads);
    if (row.measured_s) explained += *row.measured_s - row.predicted_s;
    if (row.predicted_s > 0 || row.measured_s.value_or(0) > 0) out.terms.push_back(row);
  }
  if (out.predicted_s && out.measured_s) out.unexplained_s = *out.measured_s - *out.predicted_s - explained;
  // What rounding leaves of a sum is nothing.
  if (out.measured_s && std::abs(out.unexplained_s) < 1e-9 * *out.measured_s) out.unexplained_s = 0;
  return out;
}

std::vector<ClosingAssumption> closing_assumptions(const Scenario& scenario, double wanted) {
  std::vector<ClosingAssumption> out;
  Scenario s = scenario;
  const Q step = step_of(s);
  EvaluationScratch scratch;
  Report report;
  const auto step_at = [&](const Field& field, double value) -> std::optional<double> {
    const double before = field.get(s);
    field.set(s, value);
    evaluate(s, scratch, report);
    field.set(s, before);
    return report.has_errors() ? std::nullopt : report.quantities[step];
  };
  if (s.assumptions.mode != Mode::custom) {
    s.assumptions.custom = s.assumptions.mode == Mode::ideal ? CalibrationValues{} : applied_calibration(s);
    s.assumptions.mode = Mode::custom;
  }
  evaluate(s, scratch, report);
  const auto now = report.has_errors() ? std::nullopt : report.quantities[step];
  if (!now || !(wanted > 0) || !std::isfinite(wanted)) return out;
  for (const Field& field : scenario_fields()) {
    if (field.kind != FieldKind::number || !applies(field, s.workload.kind)) continue;
    if (!field.path.starts_with("assumptions.custom.") && field.path != "assumptions.overlap") continue;
    ClosingAssumption row{&field, field.get(s), {}, 0, 0};
    const auto low = step_at(field, field.minimum), high = step_at(field, field.maximum);
    if (!low || !high) continue;
    // The end that lies towards the measured step.
    const bool longer = wanted > *now;
    const bool to_high = longer ? *high > *low : *high < *low;
    row.furthest = to_high ? field.maximum : field.minimum;
    row.furthest_step_s = to_high ? *high : *low;
    const double moves = longer ? row.furthest_step_s - *now : *now - row.furthest_step_s;
    if (moves < 1e-3 * *now) continue;
    if (longer ? row.furthest_step_s >= wanted : row.furthest_step_s <= wanted) {
      double inside = row.now, outside = row.furthest;
      for (int i = 0; i < 50; ++i) {
        const double middle = inside + (outside - inside) / 2;
        const auto there = step_at(field, middle);
        if (!there) break;
        ((longer ? *there < wanted : *there > wanted) ? inside : outside) = middle;
      }
      row.needed = outside;
    }
    out.push_back(row);
  }
  const auto share = [](const ClosingAssumption& row) {
    return std::abs(*row.needed - row.now) / (row.field->maximum - row.field->minimum);
  };
  std::stable_sort(out.begin(), out.end(), [&](const ClosingAssumption& a, const ClosingAssumption& b) {
    if (a.needed.has_value() != b.needed.has_value()) return a.needed.has_value();
    if (a.needed) return share(a) < share(b);
    return std::abs(a.furthest_step_s - wanted) < std::abs(b.furthest_step_s - wanted);
  });
  return out;
}

}  // namespace roofscape::engine
