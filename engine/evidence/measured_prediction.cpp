#include "engine/evidence/measured_prediction.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "engine/calibration/collectives.h"
#include "engine/evaluate/evaluate.h"
#include "engine/evidence/kernel_prediction.h"
#include "engine/evidence/measured_scenario.h"
#include "engine/evidence/stated_cluster.h"
#include "engine/hardware/collective.h"
#include "engine/hardware/switched_collective.h"

namespace roofscape::evidence {
namespace {

using engine::FlopsConvention;
using engine::Q;
using engine::Report;
using engine::say;
using engine::Scenario;
using engine::Sentence;

constexpr double kGibi = 1024.0 * 1024 * 1024;
constexpr double kLargestBatch = 2048;  // of sequences at a time: what servers are built with
constexpr int kTokensOfPass = 8192;     // and of tokens of prefill, where the source says nothing
constexpr std::string_view kDisaggregated = "disaggregated";
constexpr double kLargeMessage = 8 * kGibi;  // "the best bus bandwidth" without a size

bool has(std::string_view text, std::string_view words) { return text.find(words) != std::string_view::npos; }

bool is_training(const io::Measurement& entry) {
  constexpr std::array kTasks{"train", "pretrain", "sft", "lora"};
  return std::find(kTasks.begin(), kTasks.end(), entry.task) != kTasks.end();
}

struct FlopsCount {
  double model = 0, hardware = 0;  // of a step
};
FlopsCount count(Scenario scenario, FlopsConvention convention) {
  scenario.assumptions.flops = convention;
  const Report report = engine::evaluate(scenario);
  return {report.quantities.value_or(Q::flops_model_per_step, 0),
          report.quantities.value_or(Q::flops_hardware_per_step, 0)};
}
// Model FLOPs of a step by the convention that the words state; see validation.h.
double stated_flops(Scenario scenario, const std::string& words) {
  if (has(words, "without gates")) scenario.model.gated_mlp = false;
  if (has(words, "without windows")) scenario.model.local_attention = {};
  if (has(words, "hardware FLOPs")) return count(scenario, FlopsConvention::exact).hardware;
  if (has(words, "n_params") || has(words, "6N")) {
    const Report exact = engine::evaluate(scenario);
    const double products =
        6 * exact.quantities.value_or(Q::params_matmul, 0) * exact.quantities.value_or(Q::tokens_per_step, 0);
    return count(scenario, FlopsConvention::six_p).model + count(scenario, FlopsConvention::exact).model - products;
  }
  if (has(words, "causal") && !has(words, "non-causal")) return count(scenario, FlopsConvention::exact_causal).model;
  return count(scenario, FlopsConvention::exact).model;
}

double stage_memory(const Report& report, std::size_t stage, std::initializer_list<Q> parts) {
  if (stage >= report.stages.size()) return 0;
  double bytes = 0;
  for (std::size_t i = 0; i < engine::kMemoryParts.size(); ++i)
    for (const Q part : parts)
      if (engine::kMemoryParts[i] == part) bytes += report.stages[stage].memory_bytes[i];
  return bytes;
}

// Zero Bubble's measure (Qi et al. 2023): what the makespan is longer than the work of the slowest device.
Prediction bubble_of_slowest_stage(const Report& report) {
  if (!report.pipeline.drawn()) return say("evidence.unpredicted.not_simulated");
  double slowest = 0;
  for (const engine::StageRow& stage : report.stages) slowest = std::max(slowest, stage.forward_s + stage.backward_s);
  const double work = slowest * report.quantities.value_or(Q::microbatches, 0);
  const double span = report.quantities.value_or(Q::pipeline_makespan, 0);
  return span > 0 ? (span - work) / span : 0;
}

// FLOPs of a step that the value of this name is counted in; 0: it is not.
double counted_flops(const io::Measurement& entry, const Scenario& s, const std::string& quantity) {
  if (quantity == "tflops_per_chip") return stated_flops(s, entry.flops_basis);
  const std::string& basis = entry.mfu_basis.empty() ? entry.flops_basis : entry.mfu_basis;
  const std::string model = has(basis, "hardware FLOPs") ? std::string() : basis;
  if (quantity == "mfu") return stated_flops(s, model);
  if (quantity == "hfu") {
    const FlopsCount exact = count(s, FlopsConvention::exact);
    return stated_flops(s, model) + exact.hardware - exact.model;
  }
  if (quantity == "mfu_without_attention") return count(s, FlopsConvention::six_p).model;
  return 0;
}

// Why there is no time: the rule the plan breaks, else a figure that is not known.
Sentence no_time(const Report& report) {
  for (const engine::Diagnostic& d : report.diagnostics)
    if (d.severity == engine::Severity::error && d.code != "chip.missing_figure")
      return say("evidence.unpredicted.cannot_run", d.code);
  return say("evidence.unpredicted.no_time");
}

Prediction training_value(const io::Measurement& entry, const Scenario& s, const Report& report,
                          const std::string& quantity, double flops) {
  const double time = report.quantities.value_or(Q::step_time, 0);
  const double chips = report.quantities.value_or(Q::chips_used, 1);
  const double tokens = report.quantities.value_or(Q::tokens_per_step, 0);
  const double memory = report.quantities.value_or(Q::memory_total, 0);
  const double peak = report.quantities.value_or(Q::peak_flops, 0);
  if (!(time > 0) || !(peak > 0)) return no_time(report);
  if (quantity == "step_time_s" || quantity == "step_time_s_derived") return time;
  if (quantity == "tokens_per_s") return tokens / time;
  if (quantity == "tokens_per_s_per_chip") return tokens / time / chips;
  if (quantity == "samples_per_s_per_chip") return tokens / s.workload.sequence_length / time / chips;
  if (quantity == "tflops_per_chip") return flops / time / chips / kTera;
  // Counted as the scenario counts, it is the report's own.
  if (quantity == "mfu" && flops == report.quantities.value_or(Q::flops_model_per_step, 0))
    if (const auto mfu = report.quantities[Q::mfu]) return *mfu;
  if (flops > 0) return flops / time / chips / peak;
  if (quantity == "bubble_fraction_from_profile") {
    // A few percent of bubble are the order's own: another schedule in its place does not predict them.
    if (!engine::parse_schedule(entry.schedule)) return say("evidence.unpredicted.schedule_model");
    // From the times of operations that were profiled, by the rules of the schedule: no send is waited for.
    Scenario profiled = s;
    profiled.pipeline.sends = engine::StageSends::overlapped;
    return bubble_of_slowest_stage(engine::evaluate(profiled));
  }
  if (quantity == "memory_gb" || quantity == "memory_gb_nvidia_smi") return memory / kGiga;
  if (quantity == "memory_gib") return memory / kGibi;
  // What the framework hands out: no context, and nothing that it holds without using it.
  if (quantity == "max_allocated_gb")
    return (memory - stage_memory(report, static_cast<std::size_t>(report.fullest_stage), {Q::memory_reserve})) /
           kGiga;
  if (quantity == "completed") return report.quantities.value_or(Q::memory_free, 0) >= 0 ? 1.0 : 0.0;
  if (quantity == "params_and_optimizer_gib")
    return stage_memory(report, 0, {Q::memory_weights, Q::memory_gradients, Q::memory_optimizer}) / kGibi;
  if (quantity == "activations_gib") return stage_memory(report, 0, {Q::memory_activations}) / kGibi;
  return say("evidence.unpredicted.quantity");
}

// Mean time to the first token under a load of so many requests at a time: the prompt's own pass, on the mean half of
// the steps that a request waits to join, and of those that came all at once when the load began, which are one in
// `rounds`, half of the prompts that came with it.
double first_token_of_load(const io::Measurement& entry, const Scenario& s, const Report& report) {
  Scenario alone = s;
  alone.serving.prefill_prompts = 1;
  const Report own = engine::evaluate(alone);
  const double replicas = std::max(1.0, report.quantities.value_or(Q::replicas, 1));
  const double others = std::max(0.0, entry.batch->batch.value_or(1) / replicas - 1);
  const double each = report.quantities.value_or(Q::prefill_time, 0) / std::max(1, s.serving.prefill_prompts);
  const double rounds = entry.batch->rounds.value_or(1), steps = entry.batch->join_steps.value_or(1);
  return own.quantities.value_or(Q::ttft, 0) + steps / 2 * report.quantities.value_or(Q::decode_step, 0) +
         others / 2 * each / rounds;
}

// A batch runs from start to end: all prompts in one pass, which gives the first token, then a step for each of the
// others. With requests that join and leave, prompts are prefilled between the steps of those that decode, and a
// token takes the mean.
Prediction serving_value(const io::Measurement& entry, const Scenario& s, const Report& report,
                         const std::string& quantity) {
  const bool joins = engine::software_stack(s) == engine::SoftwareStack::inflight;
  // Nothing decodes yet between the chunks of a batch that starts as one.
  const double prefill =
      joins ? report.quantities.value_or(Q::ttft, 0)
            : report.quantities.value_or(Q::prefill_time, 0) + report.quantities.value_or(Q::ttft_host, 0);
  const double token = report.quantities.value_or(Q::time_per_output_token, 0);
  if (!(prefill > 0) || !(token > 0)) return no_time(report);
  const double batch = s.workload.batch;
  const double tokens = entry.batch->output_tokens.value_or(0);
  const bool decode_only = has(entry.what, "decode");
  const double later = entry.batch->decode_steps.value_or(decode_only ? tokens : std::max(0.0, tokens - 1));
  const double seconds = joins ? prefill + later * report.quantities.value_or(Q::mixed_token_time_q, token)
                               : (decode_only ? 0 : prefill) + later * token;
  if (quantity == "latency_ms") return seconds * 1e3;
  if (quantity == "latency_s") return seconds;
  if (quantity == "ttft_ms" && joins && !entry.batch->rounds && entry.batch->batch.value_or(1) > 1)
    return say("evidence.unpredicted.load");
  if (quantity == "ttft_ms") return (joins ? first_token_of_load(entry, s, report) : prefill) * 1e3;
  if (quantity == "itl_ms") return (joins ? report.quantities.value_or(Q::mixed_token_time_q, token) : token) * 1e3;
  const double rate = batch * tokens / seconds;
  if (quantity == "output_tokens_per_s") return rate;
  if (quantity == "weight_bandwidth_gb_s_per_chip")
    return report.quantities.value_or(Q::weight_read_bytes, 0) * rate / batch / kGiga;
  if (quantity == "memory_gb") return report.quantities.value_or(Q::memory_total, 0) / kGiga;
  return say("evidence.unpredicted.quantity");
}

// One layer of a model: of a training run what its report says of a layer, of decoding what a second one adds to a step.
Prediction layer_value(const Scenario& s, const Report& report, const std::string& quantity) {
  if (s.serves()) {
    if (quantity != "decode_ms") return say("evidence.unpredicted.quantity");
    const auto step = [&s](int layers) {
      Scenario of = s;
      of.model.n_layers = layers;
      return engine::evaluate(of).quantities.value_or(Q::decode_step, 0);
    };
    return (step(2) - step(1)) * 1e3;
  }
  const auto both = [](const Report& of) {
    return of.quantities.value_or(Q::layer_time_forward, 0) + of.quantities.value_or(Q::layer_time_backward, 0);
  };
  if (!(both(report) > 0)) return no_time(report);
  if (quantity == "forward_ms") return report.quantities.value_or(Q::layer_time_forward, 0) * 1e3;
  if (quantity == "backward_ms") return report.quantities.value_or(Q::layer_time_backward, 0) * 1e3;
  if (quantity != "recomputed_ms") return say("evidence.unpredicted.quantity");
  Scenario again = s;
  again.checkpointing.policy = engine::CheckpointPolicy::block;
  return both(engine::evaluate(again)) * 1e3;
}

// How many prompts a pass of prefill takes: all of a batch that runs from start to end; where requests come one by
// one, as many as fill a pass. Where only decoding was measured nothing says how prompts went in.
void set_prompts_together(const io::Measurement& entry, Scenario& s) {
  if (has(entry.what, "decode")) return;
  const int batch = std::max(1, s.workload.batch / std::max(1, s.parallelism.data * s.parallelism.fsdp));
  const bool joins = engine::software_stack(s) == engine::SoftwareStack::inflight;
  const int tokens = static_cast<int>(entry.batch->pass_tokens.value_or(kTokensOfPass));
  s.serving.prefill_prompts = joins ? std::clamp(tokens / s.workload.prompt_tokens, 1, batch) : batch;
  // A batch that starts as one goes in passes of no more tokens than its software cuts it into.
  if (!joins && entry.batch->pass_tokens) s.serving.prefill_chunk_tokens = tokens;
}

Prediction collective_value(const io::Measurement& entry, const engine::Cluster& cluster, int ranks,
                            engine::Mode mode, const std::string& quantity) {
  const io::MeasuredShape& op = *entry.operation;
  Scenario s;
  s.cluster = cluster;
  s.assumptions.mode = mode;
  s.parallelism.zero_stage = 0;
  s.parallelism.data = ranks;
  const bool exchange = op.op == "moe_all_to_all";
  if (exchange) s.parallelism.expert = ranks;
  const auto in = engine::make_inputs<double>(s, nullptr);
  const engine::Axis axis = exchange ? engine::Axis::expert : engine::Axis::data;
  const engine::AxisLinks& links = in.links[axis];
  const double bytes = op.bytes.value_or(kLargeMessage);
  if (exchange) {
    // What reaches a rank through the links that decide, a second.
    if (quantity != "dispatch_gb_s" && quantity != "combine_gb_s")
      return quantity == "bottleneck" ? say("evidence.unpredicted.not_a_number")
                                      : say("evidence.unpredicted.messages");
    if (quantity.empty()) return say("evidence.unpredicted.quantity");
    const double rate =
        links.tier == engine::LinkTier::nvlink ? in.achieved.nvlink : in.achieved.node / cluster.node_size;
    if (!(rate > 0)) return say("evidence.unpredicted.chip_figure");
    return rate / kGiga;
  }
  const double w = engine::gather_bandwidth(links, in.torus_axes[axis], engine::group_rates(in, links));
  if (!(w > 0)) return say("evidence.unpredicted.link_figure");
  const bool all_reduce = op.op == "all_reduce";
  if (!all_reduce && op.op != "reduce_scatter" && op.op != "all_gather") return say("evidence.unpredicted.operation");
  // An AllReduce is one call; its scatter and gather both step through the ring.
  const double latency = mode == engine::Mode::ideal ? 0 : engine::collective_latency(in, links);
  const double call = mode == engine::Mode::ideal ? 0 : in.calibration[engine::Calibrated::call_latency];
  double seconds = all_reduce ? engine::all_reduce_time(bytes, w) + 2 * latency - call
                              : engine::all_gather_time(bytes, w) + latency;
  if (all_reduce && links.tier == engine::LinkTier::nvlink && mode != engine::Mode::ideal && op.algorithm == "NVLS")
    if (const double switches = in.calibration[engine::Calibrated::switch_reduction]; switches > 0)
      seconds = engine::sharp_all_reduce_time(bytes, switches * in.chip.nvlink) + latency;
  if (quantity == "time_us") return seconds * 1e6;
  if (quantity == "time_ms") return seconds * 1e3;
  const double n = ranks;
  if (quantity == "busbw_gb_s") return (all_reduce ? 2 : 1) * bytes * (n - 1) / n / seconds / kGiga;
  return say("evidence.unpredicted.quantity");
}

}  // namespace

PreparedEntry prepare(const io::Measurement& entry, const io::PresetLibrary& library, engine::Mode mode) {
  PreparedEntry out;
  out.entry = &entry;
  out.mode = mode;
  out.flops.assign(entry.values.size(), 0);
  if (entry.ran_otherwise) {
    out.reason = say("evidence.unpredicted.otherwise");
    return out;
  }
  if (entry.operation) {
    out.ranks = entry.operation->ranks.value_or(entry.hardware && entry.hardware->count ? *entry.hardware->count : 1);
    auto cluster = build_cluster(entry, library, out.ranks);
    if (const Sentence* reason = std::get_if<Sentence>(&cluster)) {
      out.reason = *reason;
    } else {
      out.cluster = std::get<engine::Cluster>(std::move(cluster));
      if (entry.hardware->devices_per_chip > 1 && out.ranks == 1)
        keep_one_device(out.cluster->chip, entry.hardware->devices_per_chip);
    }
  } else if (is_training(entry) || (entry.task == "layer" && !has(entry.what, "decode"))) {
    BuiltScenario built = build_training_scenario(entry, library, mode);
    if (const Sentence* reason = std::get_if<Sentence>(&built)) {
      out.reason = *reason;
    } else {
      auto& [scenario, assumed] = std::get<MeasuredScenario>(built);
      for (std::size_t i = 0; i < entry.values.size(); ++i)
        out.flops[i] = counted_flops(entry, scenario, entry.values[i].quantity);
      out.scenario = std::move(scenario);
      out.assumed = std::move(assumed);
    }
  } else if (entry.task == "inference" || entry.task == "layer") {
    BuiltScenario built = build_serving_scenario(entry, library, mode);
    if (const Sentence* reason = std::get_if<Sentence>(&built)) {
      out.reason = *reason;
    } else {
      auto& [scenario, assumed] = std::get<MeasuredScenario>(built);
      if (entry.what == kDisaggregated) {
        out.reason = say("evidence.unpredicted.disaggregated");
        return out;
      }
      if (entry.batch->as_many_as_fit) {
        scenario.workload.batch = static_cast<int>(kLargestBatch);
        set_prompts_together(entry, scenario);
        const double most = engine::evaluate(scenario).quantities.value_or(Q::max_batch, 1);
        scenario.workload.batch = static_cast<int>(std::clamp(most, 1.0, kLargestBatch));
        assumed.push_back(say("evidence.assumed.what_fits", scenario.workload.batch));
      }
      set_prompts_together(entry, scenario);
      // Requests that find no memory wait: what decodes together is what fits. Of a model whose one layer was timed the
      // others are not there.
      if (engine::software_stack(scenario) == engine::SoftwareStack::inflight && entry.task == "inference") {
        const double most = engine::evaluate(scenario).quantities.value_or(Q::max_batch, 0);
        if (most >= 1 && most < scenario.workload.batch) {
          scenario.workload.batch = static_cast<int>(most);
          assumed.push_back(say("evidence.assumed.what_fits", scenario.workload.batch));
        }
      }
      out.scenario = std::move(scenario);
      out.assumed = std::move(assumed);
    }
  } else {
    out.reason = say("evidence.unpredicted.no_task", io::in_quotes(entry.task));
  }
  if (entry.short_run && out.scenario) run_at_boost_clock(out.scenario->cluster.chip);
  if (entry.short_run && out.cluster) run_at_boost_clock(out.cluster->chip);
  return out;
}

EntryPrediction predict(const PreparedEntry& prepared) {
  engine::EvaluationScratch scratch;
  Report report;
  return predict(prepared, scratch, report);
}

EntryPrediction predict(const PreparedEntry& prepared, engine::EvaluationScratch& scratch, Report& report) {
  EntryPrediction out;
  out.assumed = prepared.assumed;
  const io::Measurement& entry = *prepared.entry;
  if (prepared.scenario) {
    engine::evaluate(*prepared.scenario, scratch, report);
    const double free = report.quantities.value_or(Q::memory_free, 0),
                 total = report.quantities.value_or(Q::memory_total, 0);
    if (entry.task != "layer") out.fits = free >= 0;  // of a model, one layer was timed
    if (total + free > 0) out.excess = -free / (total + free);
  }
  for (std::size_t i = 0; i < entry.values.size(); ++i) {
    const std::string& quantity = entry.values[i].quantity;
    if (!prepared.reason.empty())
      out.values.emplace_back(prepared.reason);
    else if (!entry.values[i].value)
      out.values.emplace_back(say("evidence.unpredicted.measured_not_number"));
    else if (prepared.scenario && entry.task == "layer")
      out.values.push_back(layer_value(*prepared.scenario, report, quantity));
    else if (prepared.scenario && entry.task == "inference")
      out.values.push_back(serving_value(entry, *prepared.scenario, report, quantity));
    else if (prepared.scenario)
      out.values.push_back(training_value(entry, *prepared.scenario, report, quantity, prepared.flops[i]));
    else if (prepared.ranks > 1)
      out.values.push_back(collective_value(entry, *prepared.cluster, prepared.ranks, prepared.mode, quantity));
    else
      out.values.push_back(kernel_value(entry, *prepared.cluster, prepared.mode, quantity));
  }
  return out;
}

EntryPrediction predict(const io::Measurement& entry, const io::PresetLibrary& library, engine::Mode mode) {
  return predict(prepare(entry, library, mode));
}

bool in_points(const std::string& quantity) {
  return quantity == "bubble_fraction_from_profile" || quantity == "completed";
}

std::string kind_of(const io::Measurement& entry, const std::string& quantity) {
  if (entry.operation) return entry.operation->ranks || entry.family == "collectives" ? "collective" : "kernel";
  if (quantity == "completed") return "fits";
  if (in_points(quantity)) return "bubble";
  if (entry.kind == "analytic") return "analytic";
  if (has(quantity, "memory") || has(quantity, "_gib") || has(quantity, "allocated")) return "memory";
  if (is_training(entry)) return "training_time";
  if (entry.task == "inference" && quantity == "ttft_ms")
    return entry.batch && entry.batch->cold ? "first_token_cold" : "first_token";
  if (entry.task == "inference" && quantity == "itl_ms") return "token_time";
  return entry.task == "layer" ? "layer" : "inference";
}

}  // namespace roofscape::evidence
