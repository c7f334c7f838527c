#include "tests/engine/invariants.h"

#include <array>
#include <cmath>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/evaluation.h"
#include "engine/evaluate/serving_evaluation.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/search/pricing.h"

namespace roofscape::tests {

using namespace engine;

namespace {

std::string with_id(const char* what, Q q) { return std::string(what) + ": " + std::string(quantity(q).id); }

// The sum in the order of the parts; nothing where one of them has no value.
template <class Parts>
std::optional<double> sum_of(const Report& r, const Parts& parts) {
  double sum = 0;
  bool first = true;
  for (const Q part : parts) {
    const auto value = r.quantities[part];
    if (!value) return std::nullopt;
    sum = first ? *value : sum + *value;
    first = false;
  }
  return sum;
}
template <class Parts>
bool adds_up(const Report& r, const Parts& parts, Q total) {
  const auto sum = sum_of(r, parts);
  const auto whole = r.quantities[total];
  return !sum || !whole || *sum == *whole;
}

bool is_amount(double x) { return std::isfinite(x) && x >= 0; }

// A figure that no source states is missing, and what would need it.
bool unpublished(Q q, bool serves) {
  if (q == Q::price) return true;
  if (serves) return q == Q::serving_cost || q == Q::sustained_cost;
  return q == Q::run_cost || q == Q::board_power || q == Q::run_energy || q == Q::pcie_bandwidth;
}

std::string unknown_fault(const Report& r, bool serves) {
  for (std::size_t i = 0; i < kReportQuantityCount; ++i) {
    const auto q = static_cast<Q>(i);
    if (r.quantities.absence(q) == Absence::unknown_input && !unpublished(q, serves)) return with_id("unknown", q);
  }
  return {};
}

std::string error_of(const Report& r) {
  for (const Diagnostic& d : r.diagnostics)
    if (d.severity == Severity::error) return "diagnosed as an error: " + std::string(d.code);
  return {};
}

template <class Edit>
Report after(const Scenario& s, Edit&& edit) {
  Scenario other = s;
  edit(other);
  return evaluate(other);
}

double value(const Report& r, Q q) { return r.quantities.value_or(q, std::nan("")); }

}  // namespace

std::string report_fault(const Report& r) {
  for (std::size_t i = 0; i < kReportQuantityCount; ++i) {
    const auto q = static_cast<Q>(i);
    const auto v = r.quantities[q];
    if (!v) continue;
    if (!std::isfinite(*v)) return with_id("not finite", q);
    if (q != Q::memory_free && *v < 0) return with_id("negative", q);
  }
  if (!adds_up(r, kStepParts, Q::step_time)) return "parts of the step do not add up";
  if (r.stages.empty() ? !adds_up(r, kServingMemoryParts, Q::memory_total)
                       : !adds_up(r, kMemoryParts, Q::memory_total))
    return "parts of memory do not add up";
  if (!adds_up(r, kDecodeParts, Q::decode_step)) return "parts of the decoding step do not add up";
  if (!adds_up(r, kPrefillParts, Q::prefill_time)) return "parts of prefill do not add up";
  for (const OperationRow& op : r.operations)
    for (const double x :
         {op.flops, op.hbm_bytes, op.intensity_flop_per_byte, op.achieved_flop_per_s, op.time_s, op.share_of_step})
      if (!is_amount(x)) return "an operation with a number that is none";
  for (const CollectiveRow& row : r.collectives)
    for (const double x : {row.bytes, row.calls_per_step, row.time_s, row.bandwidth_bytes_per_s})
      if (!is_amount(x)) return "a collective with a number that is none";
  for (const AxisTransfers& axis : r.transfers)
    for (const double x : {axis.forward_s, axis.backward_s, axis.step_end_s, axis.hidden_s})
      if (!is_amount(x)) return "a transfer with a number that is none";
  for (const AxisPlacement& row : r.placement)
    if (!is_amount(row.bandwidth_bytes_per_s)) return "an axis with a bandwidth that is none";
  double fullest = 0;
  for (const StageRow& stage : r.stages) {
    for (const double x : {stage.params, stage.forward_s, stage.backward_s, stage.in_flight_microbatches,
                           stage.kept_bytes, stage.postponed_bytes, stage.idle_s, stage.memory_total_bytes})
      if (!is_amount(x)) return "a stage with a number that is none";
    for (const double x : stage.memory_bytes)
      if (!is_amount(x)) return "a stage with a part of memory that is none";
    fullest = std::fmax(fullest, stage.memory_total_bytes);
  }
  if (!r.stages.empty() && r.stages.at(static_cast<std::size_t>(r.fullest_stage)).memory_total_bytes != fullest)
    return "the fullest stage is not";
  return {};
}

bool has_all_figures(const Scenario& s, const Report& r) { return unknown_fault(r, s.serves()).empty(); }

std::string training_fault(const Scenario& s, const Report& r) {
  if (std::string fault = report_fault(r); !fault.empty()) return fault;
  if (std::string fault = unknown_fault(r, false); !fault.empty()) return fault;
  const auto q = [&r](Q id) { return value(r, id); };
  if (!sum_of(r, kStepParts) || !sum_of(r, kMemoryParts)) return "parts without a value";
  if (!(q(Q::hfu) >= q(Q::mfu))) return "HFU below MFU";
  // Conventions of FLOPs count what kernels do not do: the masked half of attention, a multiplication by the embedding.
  const bool ideal = s.assumptions.mode == Mode::ideal;
  if (ideal && !(q(Q::hfu) <= 1 + 1e-9)) return "HFU above 1";
  for (const OperationRow& op : r.operations) {
    // Beside layers in 8 bits attention and the logits keep to 16, which few chips are faster at.
    if ((ideal || s.precision.compute != Dtype::fp8) && op.achieved_flop_per_s > q(Q::peak_flops) * (1 + 1e-12))
      return "above the peak";
    if (op.achieved_flop_per_s > op.intensity_flop_per_byte * q(Q::hbm_bandwidth) * (1 + 1e-12))
      return "above the HBM roof";
  }
  for (const CollectiveRow& row : r.collectives)
    if (!(row.bandwidth_bytes_per_s > 0)) return "a collective without bandwidth";
  int layers = 0;
  for (const StageRow& stage : r.stages) {
    layers += stage.layers;
    // A frozen embedding by itself has nothing to do backward.
    const bool frozen = s.adapter.rank > 0 && stage.layers == 0;
    if (!(stage.forward_s > 0 && (stage.backward_s > 0 || frozen))) return "a stage that takes no time";
  }
  // DualPipe's second direction holds the layers again; rows count those of the first.
  if (layers != s.model.n_layers) return "stages do not hold the layers";
  if (r.stages[static_cast<std::size_t>(r.fullest_stage)].memory_total_bytes != q(Q::memory_total))
    return "the fullest stage is not the chip memory";
  return error_of(r);
}

std::string serving_fault(const Scenario& s, const Report& r) {
  if (std::string fault = report_fault(r); !fault.empty()) return fault;
  if (std::string fault = unknown_fault(r, true); !fault.empty()) return fault;
  const auto q = [&r](Q id) { return value(r, id); };
  if (!sum_of(r, kDecodeParts) || !sum_of(r, kPrefillParts) || !sum_of(r, kServingMemoryParts))
    return "parts without a value";
  if (q(Q::decode_step) < q(Q::decode_weight_read)) return "faster than reading the weights";
  if (q(Q::decode_step) < q(Q::decode_kv_read)) return "faster than reading the cache";
  if (q(Q::ttft) < q(Q::prefill_time)) return "a first token before prefill is done";
  if (q(Q::sustained_tokens) > q(Q::serving_tokens_per_s) * (1 + 1e-12)) return "prefill speeds decoding up";
  if (q(Q::kv_copies) < 1 - 1e-12) return "less than one copy of the cache";
  const bool fits = q(Q::memory_free) >= 0, within = s.workload.batch <= q(Q::max_batch);
  const bool close = std::abs(q(Q::memory_free)) < 1e-6 * q(Q::hbm_capacity);
  if (fits != within && !close) return "the largest batch is not where memory ends";
  for (const CollectiveRow& row : r.collectives)
    if (!(row.time_s > 0 && row.calls_per_step > 0 && row.bandwidth_bytes_per_s > 0))
      return "a collective without bandwidth or time";
  return error_of(r);
}

std::string serving_not_monotone(const Scenario& s, const Report& r) {
  const auto grows = [&r](const Report& other, Q q) { return value(other, q) > value(r, q) * (1 + 1e-12); };
  const auto falls = [&r](const Report& other, Q q) { return value(other, q) < value(r, q) * (1 - 1e-12); };
  const Report more = after(s, [](Scenario& o) { o.workload.batch *= 2; });
  if (falls(more, Q::decode_step)) return "a larger batch has a faster step";
  if (value(more, Q::memory_total) < value(r, Q::memory_total)) return "a larger batch needs less memory";
  const Report longer = after(s, [](Scenario& o) {
    o.workload.prompt_tokens *= 2;
    for (LengthBin& bin : o.workload.lengths) bin.prompt_tokens *= 2;
  });
  if (falls(longer, Q::decode_step)) return "a longer prompt has a faster step";
  if (falls(longer, Q::prefill_time)) return "a longer prompt is prefilled faster";
  if (value(longer, Q::max_batch) > value(r, Q::max_batch)) return "longer sequences let more fit";
  if (s.precision.weights == Dtype::bf16) {
    const Report narrow = after(s, [](Scenario& o) { o.precision.weights = Dtype::int8; });
    if (grows(narrow, Q::decode_step) && s.parallelism.fsdp == 1) return "smaller weights slow the step down";
    if (value(narrow, Q::max_batch) < value(r, Q::max_batch)) return "smaller weights leave less room";
  }
  return {};
}

std::string training_not_monotone(const Scenario& s, const Report& r) {
  const Report reserved = after(s, [](Scenario& o) { o.assumptions.reserve_bytes += 1e9; });
  if (!(value(reserved, Q::memory_total) > value(r, Q::memory_total))) return "a reserve takes no memory";
  if (value(reserved, Q::step_time) != value(r, Q::step_time)) return "a reserve takes time";
  // One more step of as many tokens each: the run is as many times longer.
  const Report twice = after(s, [](Scenario& o) { o.workload.train_tokens *= 2; });
  if (value(twice, Q::step_time) != value(r, Q::step_time)) return "a longer run has another step";
  if (!(value(twice, Q::run_time) >= value(r, Q::run_time))) return "more tokens take less time";
  return {};
}

std::string traced_fault(const Scenario& s, const Report& r) {
  if (r.has_errors()) return {};  // what is of a run is withheld from its report
  Trace trace;
  std::string fault;
  const auto compare = [&](Q q, const Traced& traced) {
    const auto plain = r.quantities[q];
    if (fault.empty() && plain && traced.value() != *plain) fault = with_id("traced is another", q);
  };
  if (s.serves()) {
    const ServingEvaluation<Traced> run = run_serving<Traced>(s, &trace);
    compare(Q::decode_step, run.decode.step), compare(Q::serving_tokens_per_s, run.decode.tokens_per_s);
    compare(Q::prefill_time, run.prefill.time), compare(Q::kv_total_bytes, run.capacity.kv_total);
    compare(Q::ttft, run.steady.ttft), compare(Q::sustained_tokens, run.steady.sustained_tokens);
    compare(Q::request_time, run.steady.request_time), compare(Q::params_total, run.params.total);
  } else {
    PipelineReport pipeline;
    const Evaluation<Traced> run = run_evaluation<Traced>(s, &trace, pipeline);
    for_each_quantity(run, compare);
  }
  if (!trace.problems().empty()) return "a formula of another dimension: " + trace.problems().front();
  return fault;
}

Scenario without_plan(Scenario s) {
  apply(s, bare_plan(s));
  return s;
}

std::string price_fault(const Scenario& s, const Report& r) {
  const auto step = r.quantities[Q::step_time], memory = r.quantities[Q::memory_total];
  if (s.serves() || r.has_errors() || !step || !memory) return {};
  const Plan plan = plan_of(s);
  Pricer pricer(without_plan(s));
  const Price price = pricer.price(plan, true);
  if (price.step_time_s != *step) return "a search prices another step";
  if (price.memory_bytes != *memory) return "a search prices another memory";
  const Price bound = pricer.price(plan, false);
  if (bound.memory_bytes != *memory) return "the bound of a search has another memory";
  // Operations that take longer in a row than ticks count (simulate.h) are not simulated: such a step has no bubble.
  const bool counted = *step * s.parallelism.pipeline < 1e6;
  if (counted && bound.step_time_s > *step * (1 + 1e-12)) return "the bound of a search is above the step";
  return {};
}

std::string round_trip_fault(const Scenario& s, const io::PresetLibrary& library) {
  const auto again = io::read_scenario(io::write_scenario(s, library), "again.json", library);
  if (!again) return "what is written is not read: " + again.error().path;
  if (again.value() == s) return {};
  for (const Field& field : scenario_fields())
    if (field.get(again.value()) != field.get(s))
      return "what is written reads back as another: " + std::string(field.path);
  return "what is written reads back as another";
}

}  // namespace roofscape::tests
