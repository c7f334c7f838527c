#include "engine/studies/phase_roofline.h"

#include "engine/evaluate/evaluate.h"
#include "engine/hardware/roofline.h"
#include "engine/serving/serving_inputs.h"

namespace roofscape::engine {

namespace {

constexpr double kFurther = 1.3;  // intensity of a batch over that of the one before
constexpr int kMostDoublings = 20;

double sharing(const Parallelism& p) { return double(p.tensor) * p.context; }

}  // namespace

PhaseRoofline phase_roofline(const Scenario& scenario) {
  PhaseRoofline out;
  Scenario s = scenario;
  s.assumptions.mode = Mode::ideal;
  Scenario counted = s;  // with the FLOPs of attention
  if (counted.assumptions.flops == FlopsConvention::six_p) counted.assumptions.flops = FlopsConvention::exact;
  EvaluationScratch scratch;
  Report linear, attention, own;
  evaluate(s, scratch, linear);
  evaluate(counted, scratch, attention);
  evaluate(scenario, scratch, own);
  const auto q = [](const Report& r, Q id) { return r.quantities.value_or(id, 0); };
  // What is read follows from times and rates of peak; how fast, from those of the mode.
  const double peak = q(linear, Q::peak_flops), bandwidth = q(linear, Q::hbm_bandwidth);
  out.peak_flop_per_s = q(own, Q::peak_flops), out.hbm_bytes_per_s = q(own, Q::hbm_bandwidth);
  if (!s.serves() || own.has_errors() || !(peak > 0 && bandwidth > 0)) return {};
  if (!(out.peak_flop_per_s > 0 && out.hbm_bytes_per_s > 0)) return {};
  out.ideal_flop_per_s = peak, out.ideal_hbm_bytes_per_s = bandwidth;
  out.ridge_flop_per_byte = ridge_point(out.peak_flop_per_s, out.hbm_bytes_per_s);
  out.critical_batch = q(own, Q::critical_sequences);
  const auto add = [&](ServingPhase phase, LayerShare share, double flops, double bytes, double seconds) {
    if (!(flops > 0 && bytes > 0)) return;
    const double intensity = flops / bytes;
    const double reached =
        seconds > 0 ? flops / seconds : attainable(intensity, out.hbm_bytes_per_s, out.peak_flop_per_s);
    out.works.push_back({phase, share, flops, bytes, intensity, reached, 0});
  };
  const double prefill_ways = sharing(prefill_parallelism(s)), decode_ways = sharing(s.parallelism);
  const bool slower = scenario.assumptions.mode != Mode::ideal;
  add(ServingPhase::prefill, LayerShare::linear, q(linear, Q::prefill_linear_flops) / prefill_ways,
      q(linear, Q::prefill_weight_read) * bandwidth, 0);
  add(ServingPhase::prefill, LayerShare::attention, q(attention, Q::prefill_attention_flops) / prefill_ways,
      q(attention, Q::prefill_kv_read) * bandwidth, 0);
  add(ServingPhase::decode, LayerShare::linear, q(linear, Q::decode_flops) / decode_ways,
      q(own, Q::weight_read_bytes), 0);
  add(ServingPhase::decode, LayerShare::attention, q(attention, Q::decode_attention_math) * peak,
      q(attention, Q::decode_kv_read) * bandwidth, slower ? q(own, Q::decode_attention) : 0);
  for (PhaseWork& w : out.works) {
    double whole = 0;
    for (const PhaseWork& o : out.works)
      if (o.phase == w.phase) whole += o.flops / o.attainable_flop_per_s;
    w.share_of_phase = w.flops / w.attainable_flop_per_s / whole;
  }
  s.assumptions.mode = scenario.assumptions.mode;
  const Parallelism& plan = s.parallelism;
  const std::int64_t ranks = std::int64_t{plan.data} * plan.fsdp * plan.pipeline;
  Report report;
  for (int i = 0; i < kMostDoublings && ranks << i <= 1 << 24; ++i) {
    s.workload.batch = static_cast<int>(ranks << i);
    evaluate(s, scratch, report);
    const double flops = q(report, Q::decode_flops) / decode_ways, bytes = q(report, Q::weight_read_bytes);
    if (!(flops > 0 && bytes > 0)) break;
    const double intensity = flops / bytes;
    if (intensity > out.ridge_flop_per_byte) break;
    if (!out.batches.empty() && intensity < kFurther * out.batches.back().intensity_flop_per_byte) continue;
    out.batches.push_back({s.workload.batch, intensity,
                           attainable(intensity, out.hbm_bytes_per_s, out.peak_flop_per_s), report.fits()});
  }
  return out;
}

}  // namespace roofscape::engine
