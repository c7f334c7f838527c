// The plan of a Megatron-LM launch: batch, mesh, stages, recomputation, precision, offload.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "engine/io/import/document.h"
#include "engine/io/import/megatron_flags.h"
#include "engine/io/import/megatron_reader.h"
#include "engine/io/import/repeated_list.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::io {

using engine::say;

namespace {

// Norms and activation functions alone: what is kept are the outputs of matrix multiplications.
bool has_no_product(const Argument* modules) {
  return modules != nullptr && !modules->values.empty() &&
         std::all_of(modules->values.begin(), modules->values.end(),
                     [](const auto& value) { return value.text == "layernorm" || value.text == "moe_act"; });
}

}  // namespace

void MegatronReader::batch() {
  if (!has("workload.global_batch_sequences") && has("pipeline.microbatch_sequences"))
    // One microbatch a rank.
    plan_.accumulation = {1, {"--global-batch-size", 0}};
  for (const auto& [name, length] : {std::pair{std::string_view("--train-samples"), &plan_.train_sequences},
                                     {"--train-iters", &plan_.train_steps}}) {
    const Argument* argument = find(name);
    if (argument == nullptr || argument->values.empty() || !argument->values.front().open.empty()) continue;
    const auto count = plain_number(argument->values.front().text);
    if (count && *count >= 1) *length = {*count, argument->origin()};
  }
  for (const std::string_view name : {"--rampup-batch-size", "--step-batch-size-schedule"})
    if (const Argument* argument = find(name)) plan_.warn(say("import.ramp", argument->written), argument->line);
}

void MegatronReader::mesh() {
  plan_.groups_of_stages = true;
  const int tensor = value("parallelism.tensor", 1);
  for (const std::string_view field :
       {"parallelism.tensor", "parallelism.pipeline", "parallelism.context", "parallelism.expert"})
    if (!has(field)) plan_.assume(field, 1, say("import.why.megatron"));
  if (has("model.moe.n_routed_experts") && !has("parallelism.expert_tensor"))
    plan_.assume("parallelism.expert_tensor", tensor, say("import.why.megatron_expert_tensor"));
  if (const Argument* argument = find("--sequence-parallel")) {
    plan_.state("parallelism.sequence_parallel", tensor > 1 ? 1 : 0, argument->origin(), written(argument->flag));
    if (tensor == 1) plan_.warn(say("import.sequence_parallel_alone", argument->written), argument->line);
  } else {
    plan_.assume("parallelism.sequence_parallel", 0, say("import.why.megatron"));
  }
  if (value("parallelism.context", 1) > 1) context_method();
  if (const Argument* argument = find("--use-tp-pp-dp-mapping"))
    plan_.state_choice("placement.order", engine::kRankOrders[engine::RankOrder::data_last], argument->origin(),
                       argument->switch_text());
  zero();
}

void MegatronReader::context_method() {
  const std::string method = word("--cp-comm-type");
  if (method.empty()) {
    plan_.assume_choice("parallelism.context_method", "ring", say("import.why.megatron"));
    return;
  }
  const std::string_view first = std::string_view(method).substr(0, method.find(' '));
  const std::string_view known = first == "a2a"                                  ? "ulysses"
                                 : first == "allgather" || first == "all_gather" ? "all_gather"
                                                                                 : "ring";
  plan_.state_choice("parallelism.context_method", known, origin("--cp-comm-type"), method);
  if (first != "a2a" && first != "allgather" && first != "all_gather" && first != "p2p")
    plan_.warn(say("import.nearest", "--cp-comm-type " + method, known), origin("--cp-comm-type").line);
}

void MegatronReader::zero() {
  const bool distributed = flag("--use-distributed-optimizer");
  const Argument* fsdp = find("--use-megatron-fsdp");
  if (fsdp == nullptr) fsdp = find("--use-custom-fsdp");
  const Argument* torch = find("--use-torch-fsdp2");
  if (fsdp == nullptr && torch == nullptr && !given_.contains("--overlap-grad-reduce"))
    plan_.note_on_reduction = say("import.not_overlapped", std::string("--overlap-grad-reduce"));
  const Argument* stage = find("--zero-stage");
  int zero = 0;
  const Argument* because = nullptr;
  if (torch != nullptr) {
    const Argument* kept = find("--no-torch-fsdp2-reshard-after-forward");
    zero = kept != nullptr ? 2 : 3;  // weights that stay gathered from forward to backward
    because = kept != nullptr ? kept : torch;
  } else if (fsdp != nullptr) {
    const std::string strategy = word("--data-parallel-sharding-strategy");
    zero = strategy == "optim" ? 1 : strategy == "optim_grads" ? 2 : strategy == "optim_grads_params" ? 3 : 0;
    because = strategy.empty() ? fsdp : find("--data-parallel-sharding-strategy");
    if (zero == 0 && distributed) zero = 1;
  } else if (stage != nullptr && !stage->values.empty() && plain_number(stage->values.front().text)) {
    zero = static_cast<int>(std::clamp(*plain_number(stage->values.front().text), 0.0, 3.0));
    because = stage;
    if (zero == 0 && flag("--bf16")) plan_.warn(say("import.zero_of_fork", stage->written), stage->line);
  } else if (distributed) {
    zero = 1;
    because = find("--use-distributed-optimizer");
  } else if (layer_wise()) {
    zero = 1;
    because = find("--use-layer-wise-distributed-optimizer");
    if (because == nullptr) because = find("--optimizer");
  }
  if (because != nullptr)
    plan_.state("parallelism.zero_stage", zero, because->origin(), because->switch_text());
  else
    plan_.assume("parallelism.zero_stage", 0, say("import.why.megatron_zero"));
  plan_.rest = zero > 0 ? RestAxis::fsdp : RestAxis::data;
  if (const Argument* copies = find("--num-distributed-optimizer-instances"); copies != nullptr && zero > 0) {
    if (const auto number = whole("--num-distributed-optimizer-instances", "parallelism.data", 1, 65536);
        number && number.value())
      plan_.data = {*number.value(), copies->origin()};
  }
}

Failure MegatronReader::stages() {
  const int pipeline = value("parallelism.pipeline", 1);
  const auto per_stage = whole("--num-layers-per-virtual-pipeline-stage", "pipeline.virtual_stages", 1, 10000);
  if (!per_stage) return per_stage.error();
  if (per_stage.value())
    plan_.layers_per_virtual_stage = {*per_stage.value(), origin("--num-layers-per-virtual-pipeline-stage")};
  if (const Argument* layout = find("--pipeline-model-parallel-layout")) {
    std::string text = layout->value_text();
    // Layers that predict further tokens are not part of the model here; a stage of one alone stays empty.
    if (text.find('m') != std::string::npos) {
      plan_.warn(say("import.layout_further", layout->written), layout->line);
      for (std::size_t i = text.find('m'); i != std::string::npos; i = text.find('m', i)) {
        std::size_t end = i + 1;
        if (end < text.size() && text[end] == '*')
          for (++end; end < text.size() && text[end] >= '0' && text[end] <= '9';) ++end;
        text.erase(i, end - i);
      }
    }
    plan_.layout = {std::move(text), layout->origin()};
  }
  const auto first = whole("--decoder-first-pipeline-num-layers", "pipeline.layers_per_stage", 0, 10000);
  if (!first) return first.error();
  const auto last = whole("--decoder-last-pipeline-num-layers", "pipeline.layers_per_stage", 0, 10000);
  if (!last) return last.error();
  if ((first.value() || last.value()) && pipeline > 1) uneven(pipeline, first.value(), last.value());
  const bool embedding = flag("--account-for-embedding-in-pipeline-split"),
             loss = flag("--account-for-loss-in-pipeline-split");
  if (embedding)
    plan_.state("pipeline.embedding_as_layers", 1, origin("--account-for-embedding-in-pipeline-split"),
                written("--account-for-embedding-in-pipeline-split"));
  if (loss)
    plan_.state("pipeline.head_as_layers", 1, origin("--account-for-loss-in-pipeline-split"),
                written("--account-for-loss-in-pipeline-split"));
  if (const Argument* partition = find("--pp-partition-method");
      partition != nullptr && word("--pp-partition-method").find("embedding") != std::string::npos) {
    plan_.state("pipeline.embedding_as_layers", 1, partition->origin(), partition->value_text());
    plan_.state("pipeline.head_as_layers", 1, partition->origin(), partition->value_text());
  }
  schedule(pipeline);
  return std::nullopt;
}

void MegatronReader::uneven(int pipeline, std::optional<int> first, std::optional<int> last) {
  const int layers = value("model.n_layers", 0);
  const int between = pipeline - (first ? 1 : 0) - (last ? 1 : 0);
  const int rest = layers - first.value_or(0) - last.value_or(0);
  const Origin from = origin(first ? "--decoder-first-pipeline-num-layers" : "--decoder-last-pipeline-num-layers");
  const int chunks = value("pipeline.virtual_stages", 1);
  if (layers == 0 || between < 0 || rest < 0 || (between > 0 && rest % between != 0) || (between == 0 && rest != 0) ||
      plan_.layers_per_virtual_stage || chunks > 1) {
    plan_.fail(say("import.uneven_stages", from.key, layers, pipeline), from.line);
    return;
  }
  std::vector<int> list;
  for (int i = 0; i < pipeline; ++i)
    list.push_back(i == 0 && first ? *first : i == pipeline - 1 && last ? *last : rest / std::max(1, between));
  plan_.layers_per_stage = {std::move(list), from};
}

void MegatronReader::schedule(int pipeline) {
  if (const Argument* argument = find("--zero-bubble-v-schedule")) {
    plan_.state_choice("pipeline.schedule", "zb-v", argument->origin(), written(argument->flag));
    plan_.state("pipeline.virtual_stages", 2, argument->origin(), written(argument->flag));
  } else if (const Argument* zero_bubble = find("--enable-zero-bubble")) {
    // 2 x pipeline backwards may wait: without a bubble of the span; as many as pipeline: with the memory of 1F1B.
    const std::string pending = word("--zero-bubble-max-pending-backward");
    const auto number = plain_number(pending);
    const bool twice = number && *number >= 2.0 * pipeline;
    plan_.state_choice("pipeline.schedule", twice ? "zb-h2" : "zb-h1", zero_bubble->origin(), "true");
    if (number && !twice && *number > pipeline)
      plan_.warn(say("import.nearest", "--zero-bubble-max-pending-backward " + pending, std::string("zb-h1")),
                 zero_bubble->line);
  } else if (const Argument* overlap = find("--overlap-moe-expert-parallel-comm");
             overlap != nullptr && pipeline > 1) {
    plan_.state_choice("pipeline.schedule", "overlapped-1f1b", overlap->origin(), "true");
  }
  // Without a flag it is 1F1B, interleaved where there are virtual stages.
  if (const Argument* waits = find("--no-overlap-p2p-communication"); waits != nullptr && pipeline > 1)
    plan_.state_choice("pipeline.sends", "blocking", waits->origin(), "true");
}

void MegatronReader::checkpointing() {
  const int layers = value("model.n_layers", 1), pipeline = value("parallelism.pipeline", 1);
  // Its older names first.
  for (const std::string_view name : {"--checkpoint-activations", "--activations-checkpoint-method"})
    if (const Argument* argument = find(name)) {
      plan_.state_choice("checkpointing.policy", "block", argument->origin(), argument->switch_text());
      if (const std::string count = word("--checkpoint-num-layers") + word("--activations-checkpoint-num-layers");
          !count.empty() && count != "1")
        plan_.warn(say("import.layers_of_checkpoints", count), argument->line);
      return;
    }
  const std::string granularity = word("--recompute-granularity");
  if (granularity == "full") {
    const Origin from = origin("--recompute-granularity");
    const auto count = plain_number(word("--recompute-num-layers"));
    const int n = count && *count >= 1 && *count <= layers ? static_cast<int>(*count) : 1;
    if (word("--recompute-method") == "block") {
      // The first n layers of each stage, or of each chunk of it.
      int chunks = value("pipeline.virtual_stages", 1);
      if (plan_.layers_per_virtual_stage)
        chunks = std::max(1, layers / pipeline / std::max(1, plan_.layers_per_virtual_stage->value));
      const int blocks = static_cast<int>(std::min<std::int64_t>(std::int64_t{n} * pipeline * chunks, layers));
      plan_.state_choice("checkpointing.policy", blocks == layers ? "block" : "some_blocks", from, "full, block");
      if (blocks < layers)
        plan_.state("checkpointing.blocks", blocks, origin("--recompute-num-layers"), word("--recompute-num-layers"));
    } else if (n > 1) {
      plan_.state_choice("checkpointing.policy", "segments", from, "full, uniform");
      plan_.state("checkpointing.segments", std::max(1, (layers + n - 1) / n), origin("--recompute-num-layers"),
                  word("--recompute-num-layers"));
    } else {
      plan_.state_choice("checkpointing.policy", "block", from, granularity);
    }
  } else if (granularity == "selective" || flag("--recompute-activations")) {
    const Origin from = origin(granularity.empty() ? "--recompute-activations" : "--recompute-granularity");
    const std::string modules = word("--recompute-modules");
    if (has_no_product(find("--recompute-modules"))) {
      plan_.state_choice("checkpointing.policy", "big_matmuls", origin("--recompute-modules"), modules);
      return;
    }
    plan_.state_choice("checkpointing.policy", "attention", from, granularity.empty() ? "true" : granularity);
    if (!modules.empty() && modules != "core_attn")
      plan_.warn(say("import.recompute_modules", modules), origin("--recompute-modules").line);
  } else if (!granularity.empty()) {
    plan_.fail(say("import.unknown_word", "--recompute-granularity " + granularity),
               origin("--recompute-granularity").line);
  } else {
    plan_.assume_choice("checkpointing.policy", "none", say("import.why.megatron"));
  }
}

// Without a flag they are as those of its generation.
void MegatronReader::kernels() {
  const std::string backend = word("--attention-backend");
  if (backend == "unfused" || backend == "local")
    plan_.state_choice("kernels.attention", "unfused", origin("--attention-backend"), backend);
  else if (backend == "flash" || backend == "fused")
    plan_.state_choice("kernels.attention", "fused", origin("--attention-backend"), backend);
  else if (flag("--use-flash-attn"))
    plan_.state_choice("kernels.attention", "fused", origin("--use-flash-attn"), written("--use-flash-attn"));
  if (flag("--cross-entropy-loss-fusion"))
    plan_.state_choice("kernels.loss", "fused", origin("--cross-entropy-loss-fusion"),
                       written("--cross-entropy-loss-fusion"));
  graphs();
}

// Parts of layers as graphs, or the whole step as one.
void MegatronReader::graphs() {
  for (const std::string_view name : {"--cuda-graph-impl", "--enable-cuda-graph", "--external-cuda-graph"}) {
    if (!flag(name)) continue;
    if (const std::string how = word(name); name == "--cuda-graph-impl" && (how.empty() || how == "none")) continue;
    plan_.state_choice("kernels.launch", "graphs", origin(name), written(name));
    for (const std::string_view whole : {"--cuda-graph-impl", "--cuda-graph-scope"})
      if (word(whole) == "full_iteration")
        plan_.state_choice("assumptions.stack", "megatron-2026", origin(whole), word(whole));
    return;
  }
}

void MegatronReader::precision() {
  const bool bf16 = flag("--bf16"), fp16 = flag("--fp16");
  const std::string_view half = bf16 ? "bf16" : fp16 ? "fp16" : "fp32";
  const std::string_view name = bf16 ? "--bf16" : "--fp16";
  const Argument* fp8 = find("--fp8-format");
  if (fp8 == nullptr) fp8 = find("--fp8-hybrid");
  // Its one format of four bits is NVFP4 (e2m1); where both are given, layers multiply in four.
  if (const Argument* fp4 = find("--fp4-format"))
    plan_.state_choice("precision.compute", "nvfp4", fp4->origin(), fp4->value_text());
  else if (fp8 != nullptr)
    plan_.state_choice("precision.compute", "fp8", fp8->origin(), fp8->value_text());
  else if (bf16 || fp16)
    plan_.state_choice("precision.compute", half, origin(name), written(name));
  else
    plan_.assume_choice("precision.compute", half, say("import.why.megatron_fp32"));
  if (bf16 || fp16)
    plan_.state_choice("precision.weights", half, origin(name), written(name));
  else
    plan_.assume_choice("precision.weights", half, say("import.why.megatron_fp32"));
  if (const Argument* gather = find(flag("--fp8-param") ? "--fp8-param" : "--fp8-param-gather"))
    plan_.warn(say("import.fp8_weights", gather->written), gather->line);
  // Gradients are added up in fp32 for bf16, in their own precision for fp16.
  const std::string main_grads = word("--megatron-fsdp-main-grads-dtype"), kept_grads = word("--main-grads-dtype");
  if (flag("--grad-reduce-in-bf16"))
    plan_.state_choice("precision.gradients", "bf16", origin("--grad-reduce-in-bf16"),
                       written("--grad-reduce-in-bf16"));
  else if (main_grads == "bf16" || main_grads == "fp16" || main_grads == "fp32")
    plan_.state_choice("precision.gradients", main_grads, origin("--megatron-fsdp-main-grads-dtype"), main_grads);
  else if (flag("--accumulate-allreduce-grads-in-fp32"))
    plan_.state_choice("precision.gradients", "fp32", origin("--accumulate-allreduce-grads-in-fp32"),
                       written("--accumulate-allreduce-grads-in-fp32"));
  else if (kept_grads == "bf16" || kept_grads == "fp32")
    plan_.state_choice("precision.gradients", kept_grads, origin("--main-grads-dtype"), kept_grads);
  else
    plan_.assume_choice("precision.gradients", fp16 ? "fp16" : "fp32", say("import.why.megatron"));
  if (const std::string master = word("--main-params-dtype");
      (bf16 || fp16) && (master == "fp16" || master == "fp32"))
    plan_.state_choice("precision.master_weights", master, origin("--main-params-dtype"), master);
  else
    plan_.assume_choice("precision.master_weights", bf16 || fp16 ? "fp32" : "none", say("import.why.megatron"));
  for (const auto& [also, field] :
       {std::pair{"--main-grads-dtype", "precision.gradients"}, {"--main-params-dtype", "precision.master_weights"}})
    if (const StatedField* stated = plan_.stated(field); stated == nullptr || stated->origin.key != origin(also).key)
      read_too(also, field);
  moments();
  if (const std::string optimizer = word("--optimizer"); optimizer == "muon" || optimizer == "dist_muon")
    muon(optimizer);
  else if (!optimizer.empty() && optimizer != "adam")
    plan_.warn(say("import.nearest", "--optimizer " + optimizer, std::string("adam")), origin("--optimizer").line);
}

// A flag beside the one that the field was taken from.
void MegatronReader::read_too(std::string_view flag_name, std::string_view field) {
  if (const Argument* argument = find(flag_name))
    plan_.read.push_back({argument->origin().key, argument->line, std::string(field), written(flag_name)});
}

// Of Adam, each of its own format; Roofscape has one for both.
void MegatronReader::moments() {
  const auto format = [this](std::string_view flag) {
    const std::string stated = word(flag);
    return stated.empty() ? std::string("fp32") : stated;
  };
  const std::string mean = format("--exp-avg-dtype"), square = format("--exp-avg-sq-dtype");
  std::string taken = "adam_fp32";
  if (mean == "bf16" || mean == "fp16") taken = "adam_bf16";
  if (mean == "fp8") taken = "adam_8bit";
  if (taken != "adam_fp32")
    plan_.state_choice("precision.optimizer", taken, origin("--exp-avg-dtype"), mean);
  else
    plan_.assume_choice("precision.optimizer", taken, say("import.why.megatron"));
  if (mean != square)
    plan_.warn(say("import.nearest", fmt::format("--exp-avg-dtype {} --exp-avg-sq-dtype {}", mean, square), taken),
               std::max(origin("--exp-avg-dtype").line, origin("--exp-avg-sq-dtype").line));
  for (const std::string_view also : {"--exp-avg-sq-dtype", "--use-precision-aware-optimizer"})
    read_too(also, "precision.optimizer");
}

// "dist_muon" was the name of Muon with the layer-wise optimizer before that had a flag of its own.
void MegatronReader::muon(const std::string& optimizer) {
  plan_.state_choice("precision.optimizer", "muon_fp32", origin("--optimizer"), optimizer);
  if (const Argument* homes = find("--use-layer-wise-distributed-optimizer"))
    plan_.state_choice("muon.homes", "distributed", homes->origin(), "true");
  else if (layer_wise())
    plan_.state_choice("muon.homes", "distributed", origin("--optimizer"), optimizer);
  if (const Argument* steps = find("--muon-num-ns-steps"); steps != nullptr && !steps->values.empty())
    if (const auto number = plain_number(steps->values.front().text))
      plan_.state("muon.newton_schulz_steps", *number, steps->origin(), steps->value_text());
  const Argument* mode = find("--muon-tp-mode");
  const std::string slices = mode == nullptr || mode->values.empty() ? std::string() : mode->values.front().text;
  if (slices.empty()) {
    plan_.assume_choice("muon.tensor", "blockwise", say("import.why.megatron"));
  } else {
    plan_.state_choice("muon.tensor", slices == "blockwise" ? "blockwise" : "gathered", mode->origin(), slices);
    if (slices != "blockwise" && slices != "duplicated")
      plan_.warn(say("import.nearest", "--muon-tp-mode " + slices, std::string("duplicated")), mode->line);
  }
}

// Whole matrices are dealt to the ranks of data parallelism, with all that the optimizer keeps of them.
bool MegatronReader::layer_wise() {
  const std::string optimizer = word("--optimizer");
  return optimizer == "dist_muon" || (optimizer == "muon" && (flag("--use-layer-wise-distributed-optimizer") ||
                                                              flag("--use-distributed-optimizer")));
}

void MegatronReader::offload() {
  if (const Argument* argument = find("--optimizer-cpu-offload")) {
    plan_.state("offload.optimizer", 1, argument->origin(), written(argument->flag));
    if (!has("offload.optimizer_fraction")) plan_.assume("offload.optimizer_fraction", 1, say("import.why.megatron"));
  }
  for (const std::string_view name : {"--cpu-offloading", "--fine-grained-activation-offloading"})
    if (const Argument* argument = find(name))
      plan_.state("offload.activations", 1, argument->origin(), written(argument->flag));
  if (const Argument* argument = find("--cpu-offloading-num-layers");
      argument != nullptr && flag("--cpu-offloading")) {
    plan_.read.push_back({argument->origin().key, argument->line, "offload.activations", argument->value_text()});
    // The last layer's are needed again at once.
    const auto layers = plain_number(argument->value_text());
    if (layers && *layers < value("model.n_layers", 1) - 1)
      plan_.warn(say("import.nearest", "--cpu-offloading-num-layers " + argument->value_text(),
                     std::string("offload.activations")),
                 argument->line);
  }
}

}  // namespace roofscape::io
