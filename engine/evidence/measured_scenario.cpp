#include "engine/evidence/measured_scenario.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "engine/evaluate/evaluate.h"
#include "engine/evidence/stated_cluster.h"
#include "engine/inputs/inputs.h"
#include "engine/io/presets/resources.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/checkpoint_policies.h"
#include "engine/scenario/mesh_size.h"

namespace roofscape::evidence {
namespace {

using engine::CheckpointPolicy;
using engine::ChipField;
using engine::Dtype;
using engine::OptimizerKind;
using engine::say;
using engine::Scenario;
using engine::ScheduleKind;
using engine::Sentence;

constexpr int kVocabulary = 51200;
constexpr double kTokensOfUnstatedBatch = 4 * 1024 * 1024;
constexpr double kTokensOfUnstatedMicrobatch = 8192;
constexpr double kLongSequence = 4096;
constexpr int kMostGuessedChunks = 8;
constexpr double kHostLink = 64e9;  // 16 lanes of 32 GT/s, one way: what hosts of chips since 2022 have

struct Precisions {
  std::string_view id;
  engine::Precision precision;
};
constexpr engine::Precision mixed(Dtype compute, Dtype gradients) {
  return {compute, Dtype::bf16, gradients, OptimizerKind::adam_fp32, Dtype::fp32};
}
constexpr std::array<Precisions, 11> kPrecisions{{
    {"bf16", mixed(Dtype::bf16, Dtype::bf16)},
    {"fp16", mixed(Dtype::bf16, Dtype::bf16)},  // 16-bit arithmetic has one rate
    {"bf16_pure", {Dtype::bf16, Dtype::bf16, Dtype::bf16, OptimizerKind::adam_bf16, Dtype::none}},
    {"bf16_fp32_weights", {Dtype::bf16, Dtype::fp32, Dtype::fp32, OptimizerKind::adam_fp32, Dtype::none}},
    {"fp32", {Dtype::fp32, Dtype::fp32, Dtype::fp32, OptimizerKind::adam_fp32, Dtype::none}},
    {"fp8", mixed(Dtype::fp8, Dtype::bf16)},
    {"fp8_fp32_weights", {Dtype::fp8, Dtype::fp32, Dtype::fp32, OptimizerKind::adam_fp32, Dtype::none}},
    {"fp8_blockwise", mixed(Dtype::fp8, Dtype::bf16)},
    {"mxfp8", mixed(Dtype::fp8, Dtype::bf16)},
    {"nvfp4", mixed(Dtype::nvfp4, Dtype::bf16)},
    {"mxfp4", mixed(Dtype::mxfp4, Dtype::bf16)},
}};

// A published run that moves its activations to the host keeps the layers' inputs there.
constexpr std::string_view kOffloadsActivations = "offload_activations";

std::optional<CheckpointPolicy> stated_policy(std::string_view id) {
  return id == kOffloadsActivations ? CheckpointPolicy::block : engine::parse_policy(id);
}

template <class Rows>
auto find_row(const Rows& rows, std::string_view id) {
  return std::find_if(rows.begin(), rows.end(), [id](const auto& row) { return row.id == id; });
}

bool fits(const Scenario& scenario) {
  const engine::Report report = engine::evaluate(scenario);
  return report.quantities.value_or(engine::Q::memory_free, 0) >= 0;
}

std::string whole(double number) { return fmt::format("{:.0f}", number); }

// Builds the scenario part by part; a part that cannot be built says why.
class Builder {
 public:
  Builder(const io::Measurement& entry, const io::PresetLibrary& library, engine::Mode mode)
      : entry_(entry), library_(library) {
    s_.assumptions.mode = mode;
    s_.assumptions.stack = stated_stack(entry);
    for (const engine::FieldEdit& edit : entry.kernels) engine::apply(s_, edit);
  }

  BuiltScenario build() {
    s_.name = entry_.id;
    s_.assumptions.flops = engine::FlopsConvention::exact;
    for (auto step : {&Builder::task, &Builder::model, &Builder::plan, &Builder::chips, &Builder::precision,
                      &Builder::batch, &Builder::pipeline, &Builder::checkpointing, &Builder::fitting})
      if (Sentence reason = (this->*step)(); !reason.empty()) return reason;
    return MeasuredScenario{std::move(s_), std::move(assumed_)};
  }

  BuiltScenario build_serving() {
    s_.name = entry_.id;
    s_.assumptions.flops = engine::FlopsConvention::exact;
    s_.workload.kind = engine::WorkloadKind::serving;
    for (auto step : {&Builder::model, &Builder::plan, &Builder::attention, &Builder::chips,
                      &Builder::serving_precision, &Builder::requests})
      if (Sentence reason = (this->*step)(); !reason.empty()) return reason;
    return MeasuredScenario{std::move(s_), std::move(assumed_)};
  }

 private:
  // Experts are on all ranks of a server, which share attention by heads or by requests; a source that states the one
  // and not the other leaves it open.
  Sentence attention() {
    const engine::Parallelism& plan = s_.parallelism;
    const bool all_ranks = !entry_.plan->expert_tensor || !s_.model.is_moe() ||
                           plan.expert_tensor * plan.expert == plan.tensor * plan.data * plan.fsdp;
    // An expert split over ranks that share attention by requests has no plan here.
    const bool across = s_.model.is_moe() && plan.expert_tensor > plan.tensor;
    if (all_ranks && !across && s_.model.n_heads % plan.tensor == 0) return {};
    return say("evidence.unpredicted.attention");
  }
  Sentence serving_precision() {
    struct Widths {
      std::string_view id;
      Dtype compute, weights;
    };
    constexpr std::array<Widths, 7> kWidths{{{"bf16", Dtype::bf16, Dtype::bf16},
                                             {"fp16", Dtype::bf16, Dtype::bf16},
                                             {"int8_weights", Dtype::bf16, Dtype::int8},
                                             {"int4_weights", Dtype::bf16, Dtype::int4},
                                             {"fp8", Dtype::fp8, Dtype::fp8},
                                             {"nvfp4", Dtype::nvfp4, Dtype::nvfp4},
                                             {"mxfp4", Dtype::fp8, Dtype::mxfp4}}};
    const auto row = find_row(kWidths, entry_.precision);
    // Experts that fewer ranks split than attention get tokens of their own from each rank.
    if (s_.parallelism.expert_tensor > 0 && s_.parallelism.expert_tensor < s_.parallelism.tensor)
      s_.parallelism.sequence_parallel = true;
    if (row == kWidths.end()) return say("evidence.unpredicted.serving_precision", io::in_quotes(entry_.precision));
    s_.precision.compute = row->compute;
    s_.precision.weights = row->weights;
    // Units that multiply four-bit floats take them with activations of four bits, or of eight.
    const bool widened =
        engine::is_block_float(row->weights) && engine::served_compute(row->weights, s_.cluster.chip) == Dtype::bf16;
    if (widened) s_.precision.compute = Dtype::bf16;
    return {};
  }
  Sentence requests() {
    const io::MeasuredBatch* b = entry_.batch ? &*entry_.batch : nullptr;
    if (b == nullptr || !b->prompt_tokens || !b->output_tokens || (!b->batch && !b->as_many_as_fit))
      return say("evidence.unpredicted.requests");
    const double mean = (1 + b->lengths_from.value_or(1)) / 2;
    s_.workload.prompt_tokens = static_cast<int>(std::max(1.0, mean * *b->prompt_tokens));
    s_.workload.output_tokens = static_cast<int>(std::max(1.0, mean * *b->output_tokens));
    s_.workload.batch = static_cast<int>(b->batch.value_or(1));
    // Without a flag that says otherwise vLLM, SGLang and TensorRT-LLM copy the cache to tensor ranks beyond its heads.
    if (engine::software_stack(s_) == engine::SoftwareStack::inflight) s_.serving.kv_split = engine::KvSplit::heads;
    return {};
  }
  void assume(Sentence guess) { assumed_.push_back(std::move(guess)); }

  // No source states them: NeMo's recipes of Megatron have a rank of 16 beside queries, keys and values, AutoModel's 8
  // beside all. How many there are decides little of a step.
  void adapters() {
    const bool all = entry_.family == "nemo";
    s_.adapter.rank = all ? 8 : 16;
    s_.adapter.targets = all ? engine::AdapterTargets::linear : engine::AdapterTargets::attention;
    assume(say("evidence.assumed.adapters", s_.adapter.rank));
  }

  Sentence task() {
    if (entry_.task == "lora") {
      adapters();
      return {};
    }
    constexpr std::array kTasks{"train", "pretrain", "sft", "layer"};
    if (std::find(kTasks.begin(), kTasks.end(), entry_.task) == kTasks.end())
      return say("evidence.unpredicted.task", io::in_quotes(entry_.task));
    return {};
  }

  Sentence model() {
    if (!entry_.model) return say("evidence.unpredicted.no_model");
    s_.model = entry_.model->shape;
    engine::TransformerShape& m = s_.model;
    const bool latent = m.is_mla();
    for (const std::string& size : entry_.model->missing) {
      if (size == "vocab_size") {
        m.vocab_size = kVocabulary;
        assume(say("evidence.assumed.vocabulary", kVocabulary));
      } else if (latent && (size == "n_kv_heads" || size == "d_head")) {
        m.n_kv_heads = m.n_heads;
        m.d_head = m.mla.qk_nope_head_dim;
      } else {
        return say("evidence.unpredicted.size", size);
      }
    }
    return {};
  }

  Sentence plan() {
    if (!entry_.plan || !entry_.hardware) return say("evidence.unpredicted.no_plan");
    const io::MeasuredPlan& p = *entry_.plan;
    const io::MeasuredHardware& h = *entry_.hardware;
    if (!h.count) return say("evidence.unpredicted.chips");
    if (!p.tensor || !p.pipeline) return say("evidence.unpredicted.split");
    engine::Parallelism& plan = s_.parallelism;
    plan.tensor = *p.tensor;
    plan.pipeline = *p.pipeline;
    plan.context = p.context.value_or(1);
    plan.sequence_parallel = p.sequence_parallel;
    plan.zero_stage = p.zero_stage.value_or(0);
    if (plan.zero_stage == 3 && plan.pipeline > 1) {  // torchtitan and Llama 3's trainer, which alone combine them
      plan.keep_gathered = engine::KeepGathered::step;
      assume(say("evidence.assumed.gathered"));
    }
    const std::int64_t others = std::int64_t{plan.tensor} * plan.pipeline * plan.context;
    // Devices of one chip count as one rank of as many times the microbatch.
    int data = p.data.value_or(0);
    if (data == 0) {
      data = static_cast<int>(std::int64_t{*h.count} * h.devices_per_chip / others);
      assume(say("evidence.assumed.data", data));
    }
    if (std::int64_t{data} * others != std::int64_t{*h.count} * h.devices_per_chip)
      return say("evidence.unpredicted.ranks", data, plan.tensor, plan.context, plan.pipeline,
                 *h.count * h.devices_per_chip);
    if (data % h.devices_per_chip != 0) return say("evidence.unpredicted.devices");
    data /= h.devices_per_chip;
    int shards = plan.zero_stage == 0 ? 1 : data;
    const int stated = p.fsdp.value_or(0) > 0 ? *p.fsdp : p.zero_group.value_or(0);
    if (plan.zero_stage > 0 && stated > 0) shards = std::max(1, std::min(data, stated / h.devices_per_chip));
    if (data % shards != 0) return say("evidence.unpredicted.groups", data, shards);
    plan.fsdp = shards;
    plan.data = data / shards;
    plan.expert = s_.model.is_moe() ? p.expert.value_or(1) : 1;
    if (p.expert_tensor) {
      plan.expert_tensor = *p.expert_tensor;
    } else if (plan.expert > 1 && (data * plan.context) % plan.expert != 0) {
      plan.expert_tensor = 1;
      assume(say("evidence.assumed.expert_tensor"));
    }
    return {};
  }

  Sentence chips() {
    auto cluster = build_cluster(entry_, library_, *entry_.hardware->count);
    if (Sentence* reason = std::get_if<Sentence>(&cluster)) return *reason;
    s_.cluster = std::get<engine::Cluster>(std::move(cluster));
    if (s_.assumptions.stack == engine::StackChoice::automatic &&
        s_.cluster.chip.interconnect == engine::Interconnect::switched)
      s_.assumptions.stack = engine::StackChoice::megatron;
    return {};
  }

  Sentence precision() {
    const auto row = find_row(kPrecisions, entry_.precision);
    if (row == kPrecisions.end())
      return entry_.precision.empty()
                 ? say("evidence.unpredicted.precision")
                 : say("evidence.unpredicted.training_precision", io::in_quotes(entry_.precision));
    s_.precision = row->precision;
    // Gradients of bf16 weights were added up and reduced in fp32 before recipes of Megatron-Core left them in 16
    // bits.
    const bool in_full = s_.assumptions.stack == engine::StackChoice::megatron_2021 ||
                         entry_.source.find("nanotron") != std::string::npos;
    if (in_full && entry_.precision == "bf16") s_.precision.gradients = Dtype::fp32;
    if (!s_.cluster.chip[engine::peak_field(s_.precision.compute)].value)
      return say("evidence.unpredicted.peak", entry_.precision);
    return {};
  }

  Sentence batch() {
    if (!entry_.batch || !entry_.batch->sequence_length) return say("evidence.unpredicted.length");
    const io::MeasuredBatch& b = *entry_.batch;
    s_.workload.sequence_length = static_cast<int>(*b.sequence_length);
    const auto ranks = static_cast<double>(engine::data_ranks(s_.parallelism));
    double micro = 0;
    if (b.micro) {
      // Per device; of a context-parallel sequence each device has a part.
      micro = *b.micro * entry_.hardware->devices_per_chip;
      if (micro < 1) micro *= s_.parallelism.context;
      micro = std::max(1.0, std::round(micro));
    } else if (s_.parallelism.keep_gathered == engine::KeepGathered::step && b.global) {
      // The default that torchtitan documents.
      const double stages = s_.parallelism.pipeline * entry_.plan->virtual_stages.value_or(1);
      micro = std::max(1.0, std::floor(*b.global / ranks / stages));
      assume(say("evidence.assumed.microbatches", whole(micro)));
    } else {
      const bool one = s_.parallelism.pipeline > 1 || *b.sequence_length >= kLongSequence;
      micro = one ? 1 : std::max(1.0, std::floor(kTokensOfUnstatedMicrobatch / *b.sequence_length));
      if (b.global) micro = std::min(micro, std::max(1.0, std::floor(*b.global / ranks)));
      guessed_micro_ = true;
      assume(say("evidence.assumed.microbatch", whole(micro)));
    }
    double global = b.global.value_or(0);
    if (!b.global) {
      const double unit = ranks * micro * s_.parallelism.pipeline;
      global = std::max(1.0, std::round(kTokensOfUnstatedBatch / *b.sequence_length / unit)) * unit;
      assume(say("evidence.assumed.batch", whole(global)));
    }
    if (global < ranks) return say("evidence.unpredicted.sequences", whole(global), whole(ranks));
    s_.workload.global_batch_sequences = static_cast<int>(global);
    s_.pipeline.microbatch_sequences = static_cast<int>(std::min(micro, std::ceil(global / ranks)));
    return {};
  }

  Sentence pipeline() {
    if (s_.parallelism.pipeline == 1) return {};
    const auto stated = entry_.plan->virtual_stages;
    if (const auto kind = engine::parse_schedule(entry_.schedule)) {
      s_.pipeline.schedule = *kind;
    } else if (entry_.schedule == "zb-2p") {
      // Its order is found by a search within the memory of ZB-H2, whose time and memory are near it. An order made
      // for the plan (studies/made_order.h) is farther: it counts activations whole until the weight gradient, while
      // theirs lets part of them go, and so is longer by the bubbles that this leaves.
      s_.pipeline.schedule = ScheduleKind::zb_h2;
      assume(say("evidence.assumed.zb_2p"));
    } else {
      s_.pipeline.schedule = stated.value_or(1) > 1 ? ScheduleKind::interleaved_1f1b : ScheduleKind::one_f_one_b;
      assume(say("evidence.assumed.schedule"));
    }
    int chunks = stated.value_or(1);
    if (s_.pipeline.schedule == ScheduleKind::interleaved_1f1b && !stated) {
      const int layers = (s_.model.n_layers + s_.parallelism.pipeline - 1) / s_.parallelism.pipeline;
      for (chunks = std::min(kMostGuessedChunks, layers); chunks > 1 && layers % chunks != 0;) --chunks;
      guessed_chunks_ = true;
      assume(say("evidence.assumed.chunks", chunks));
    } else if (s_.pipeline.schedule != ScheduleKind::interleaved_1f1b) {
      chunks = engine::default_virtual_stages(s_.pipeline.schedule);
    }
    s_.pipeline.virtual_stages = chunks;
    if (s_.pipeline.schedule == ScheduleKind::interleaved_1f1b && chunks == 1)
      s_.pipeline.schedule = ScheduleKind::one_f_one_b;
    const engine::Report report = engine::evaluate(s_);
    if (!report.pipeline.status.legal()) {
      // Megatron-LM takes batches that do not fill the stages in groups of its own; plain 1F1B is the nearest that is
      // legal.
      if (s_.pipeline.schedule != ScheduleKind::interleaved_1f1b) return say("evidence.unpredicted.schedule");
      s_.pipeline.schedule = ScheduleKind::one_f_one_b;
      s_.pipeline.virtual_stages = 1;
      assume(say("evidence.assumed.unfilled"));
    }
    return {};
  }

  // A run that completed fitted: of what was guessed, less is taken until it does.
  Sentence fitting() {
    while (guessed_chunks_ && s_.pipeline.virtual_stages > 1 && !fits(s_)) {
      const int layers = (s_.model.n_layers + s_.parallelism.pipeline - 1) / s_.parallelism.pipeline;
      int fewer = s_.pipeline.virtual_stages - 1;
      while (fewer > 1 && layers % fewer != 0) --fewer;
      s_.pipeline.virtual_stages = fewer;
      if (fewer == 1) s_.pipeline.schedule = ScheduleKind::one_f_one_b;
      assume(say("evidence.assumed.chunks_fit", fewer));
    }
    while (guessed_micro_ && s_.pipeline.microbatch_sequences > 1 && !fits(s_)) {
      s_.pipeline.microbatch_sequences /= 2;
      assume(say("evidence.assumed.microbatch_fit", s_.pipeline.microbatch_sequences));
    }
    if (s_.precision.optimizer == OptimizerKind::adam_fp32 && s_.assumptions.stack == engine::StackChoice::xla &&
        !fits(s_)) {
      s_.precision.optimizer = OptimizerKind::adam_bf16;
      s_.precision.master_weights = Dtype::none;
      if (!fits(s_)) {
        s_.precision.optimizer = OptimizerKind::adam_fp32;
        s_.precision.master_weights = Dtype::fp32;
      } else {
        assume(say("evidence.assumed.adam"));
      }
    }
    return {};
  }

  // What PyTorch calls selective keeps the outputs of matrix multiplications; torchtitan's "op" policy of every second
  // one (queries, values, gate, the MLP's output), and attention's own: as so many tensors of the stream's width.
  void selective_in_torch() {
    CheckpointPolicy& policy = s_.checkpointing.policy;
    if (policy == CheckpointPolicy::attention) policy = CheckpointPolicy::big_matmuls;
    if (policy != CheckpointPolicy::big_matmuls || entry_.source.find("torchtitan") == std::string::npos) return;
    const engine::TransformerShape& m = s_.model;
    const double queries = 1.0 * m.n_heads * m.d_head, values = 1.0 * m.n_kv_heads * m.d_head;
    const double kept = 2.0 * m.d_model + 2 * queries + values + m.d_ff;  // with the layer's input
    policy = CheckpointPolicy::k_per_layer;
    s_.checkpointing.k = std::max(1, static_cast<int>(std::lround(kept / m.d_model)));
  }

  Sentence checkpointing() {
    if (const auto policy = stated_policy(entry_.checkpointing)) {
      s_.checkpointing.policy = *policy;
      if (s_.assumptions.stack == engine::StackChoice::torch_fsdp) selective_in_torch();
      if (*policy == CheckpointPolicy::some_blocks) {
        // Half of them, and more where that does not fit.
        s_.checkpointing.blocks = (s_.model.n_layers + 1) / 2;
        while (s_.checkpointing.blocks < s_.model.n_layers && !fits(s_)) ++s_.checkpointing.blocks;
        assume(say("evidence.assumed.blocks", s_.checkpointing.blocks));
      }
      s_.offload.activations = entry_.checkpointing == kOffloadsActivations;
      if (auto& link = s_.cluster.chip[ChipField::host_pcie_bytes_per_s_per_chip];
          s_.offload.activations && !link.value) {
        link = {kHostLink, "assumed: PCIe 5.0 x16"};
        assume(say("evidence.assumed.host_link", whole(kHostLink / 1e9)));
      }
      return {};
    }
    constexpr std::array kOrder{CheckpointPolicy::none, CheckpointPolicy::attention, CheckpointPolicy::block};
    for (const CheckpointPolicy policy : kOrder) {
      s_.checkpointing.policy = policy;
      if (fits(s_)) break;
    }
    assume(s_.checkpointing.policy == CheckpointPolicy::none        ? say("evidence.assumed.keeps_all")
           : s_.checkpointing.policy == CheckpointPolicy::attention ? say("evidence.assumed.attention")
                                                                    : say("evidence.assumed.layers"));
    return {};
  }

  const io::Measurement& entry_;
  const io::PresetLibrary& library_;
  Scenario s_;
  std::vector<Sentence> assumed_;
  bool guessed_micro_ = false, guessed_chunks_ = false;
};

// The preset that is this run, as it ships: a user's file of its name does not change what was measured.
BuiltScenario preset_of(const io::Measurement& entry, const io::PresetLibrary& library, engine::Mode mode) {
  const std::string path = "presets/scenarios/" + entry.scenario + ".json";
  const std::string_view text = io::embedded_text(path);
  if (text.empty()) return say("evidence.unpredicted.preset", io::in_quotes(entry.scenario));
  auto scenario = io::read_scenario(text, path, library);
  if (!scenario) return scenario.error().message;
  scenario->assumptions.mode = mode;
  return MeasuredScenario{std::move(scenario).value(), {entry.assumed.begin(), entry.assumed.end()}};
}

}  // namespace

engine::StackChoice stated_stack(const io::Measurement& entry) {
  struct Words {
    std::string_view words;
    engine::StackChoice stack;
  };
  using enum engine::StackChoice;
  constexpr std::array<Words, 27> kWords{{
      {"as one graph", megatron_2026},
      {"2104.04473", megatron_2021},
      {"2205.05198", megatron_2021},
      {"vTrain", megatron_2021},
      {"bigscience", megatron_2021},
      {"MT-NLG", megatron_2021},
      {"GLM-130B", megatron_2021},
      {"Zero Bubble", megatron_2021},
      {"MaxText", xla},
      {"maxtext", xla},
      {"paxml", xla},
      {"JAX-Toolbox", xla},
      {"Levanter", xla},
      {"tpu-recipes", xla},
      {"PaLM", xla},
      {"torchtitan", torch_fsdp},
      {"llm-foundry", torch_fsdp},
      {"fms-fsdp", torch_fsdp},
      {"TinyLlama", torch_fsdp},
      {"Automodel", torch_fsdp},
      {"BloombergGPT", torch_fsdp},
      {"PyTorch FSDP", torch_fsdp},
      {"FasterTransformer", faster_transformer},
      {"gpt-fast", torch_compile},
      {"measured for Roofscape", torch_fsdp},
      {"TensorRT-LLM", inflight},
      {"NIM for LLMs", inflight},
  }};
  for (const Words& row : kWords)
    if (entry.source.find(row.words) != std::string::npos) return row.stack;
  return automatic;
}

BuiltScenario build_serving_scenario(const io::Measurement& entry, const io::PresetLibrary& library,
                                     engine::Mode mode) {
  return Builder(entry, library, mode).build_serving();
}

BuiltScenario build_training_scenario(const io::Measurement& entry, const io::PresetLibrary& library,
                                      engine::Mode mode) {
  if (!entry.scenario.empty()) return preset_of(entry, library, mode);
  return Builder(entry, library, mode).build();
}

}  // namespace roofscape::evidence
