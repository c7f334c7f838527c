#include "engine/io/import/megatron_flags.h"

#include <algorithm>

#include <fmt/format.h>

namespace roofscape::io {

namespace {

constexpr FlagField kFields[] = {
    {"--num-layers", "model.n_layers"},
    {"--hidden-size", "model.d_model"},
    {"--ffn-hidden-size", "model.d_ff"},
    {"--num-attention-heads", "model.n_heads"},
    {"--kv-channels", "model.d_head"},
    {"--vocab-size", "model.vocab_size"},
    {"--pad-vocab-size-to", "model.vocab_size"},
    {"--padded-vocab-size", "model.vocab_size"},
    {"--max-position-embeddings", "model.max_context_tokens"},
    {"--num-experts", "model.moe.n_routed_experts"},
    {"--moe-router-topk", "model.moe.experts_per_token"},
    {"--moe-ffn-hidden-size", "model.moe.d_ff_expert"},
    {"--moe-router-num-groups", "model.moe.n_expert_groups"},
    {"--moe-router-group-topk", "model.moe.groups_per_token"},
    {"--q-lora-rank", "model.mla.q_lora_rank"},
    {"--kv-lora-rank", "model.mla.kv_lora_rank"},
    {"--qk-head-dim", "model.mla.qk_nope_head_dim"},
    {"--qk-pos-emb-head-dim", "model.mla.qk_rope_head_dim"},
    {"--v-head-dim", "model.mla.v_head_dim"},
    {"--seq-length", "workload.sequence_length"},
    {"--encoder-seq-length", "workload.sequence_length"},
    {"--global-batch-size", "workload.global_batch_sequences"},
    {"--micro-batch-size", "pipeline.microbatch_sequences"},
    {"--tensor-model-parallel-size", "parallelism.tensor"},
    {"--model-parallel-size", "parallelism.tensor"},
    {"--pipeline-model-parallel-size", "parallelism.pipeline"},
    {"--context-parallel-size", "parallelism.context"},
    {"--expert-model-parallel-size", "parallelism.expert"},
    {"--expert-tensor-parallel-size", "parallelism.expert_tensor"},
    {"--num-virtual-stages-per-pipeline-rank", "pipeline.virtual_stages"},
    {"--microbatch-group-size-per-virtual-pipeline-stage", "pipeline.group_size"},
    {"--optimizer-offload-fraction", "offload.optimizer_fraction"},
};

// Beginnings of names, and whole names, of what decides nothing here.
constexpr std::string_view kBeginnings[] = {
    "--adam-",
    "--async-",
    "--auto-detect-",
    "--bert-",
    "--check-",
    "--ckpt-",
    "--codecarbon-",
    "--config-logger-",
    "--create-attention-mask",
    "--data-",
    "--dataloader-",
    "--decoupled-",
    "--dist-ckpt-",
    "--distributed-",
    "--eod-",
    "--eval-",
    "--exit-",
    "--external-",
    "--ft-",
    "--inference-",
    "--init-method",
    "--kill-",
    "--legacy-",
    "--load",
    "--log",
    "--loss-scale",
    "--lr",
    "--manual-gc",
    "--master-",
    "--merge-file",
    "--min-lr",
    "--mmap-",
    "--mock-",
    "--moe-aux-loss",
    "--moe-input-jitter",
    "--moe-per-layer-logging",
    "--moe-router-bias-update",
    "--moe-router-dtype",
    "--moe-router-force",
    "--moe-router-load-balancing",
    "--moe-router-pre-softmax",
    "--moe-router-score",
    "--moe-router-topk-scaling",
    "--moe-z-loss",
    "--mscale",
    "--no-",
    "--norm-epsilon",
    "--num-workers",
    "--one-logger",
    "--onnx",
    "--muon-coefficient",
    "--muon-extra",
    "--muon-fp32",
    "--muon-momentum",
    "--muon-nesterov",
    "--muon-scal",
    "--muon-split-qkv",
    "--muon-use-nesterov",
    "--optimizer-",
    "--override-opt",
    "--profile",
    "--rank",
    "--record-memory",
    "--reset-",
    "--rerun-",
    "--result-",
    "--rotary-",
    "--rope-",
    "--save",
    "--seed",
    "--sgd-",
    "--split",
    "--straggler-",
    "--te-",
    "--tensorboard-",
    "--test-",
    "--tiktoken-",
    "--timing-",
    "--tokenizer-",
    "--train-data",
    "--train-weighted",
    "--valid-",
    "--vocab-file",
    "--vocab-extra",
    "--wandb-",
    "--weight-decay",
    "--use-checkpoint-",
    "--use-cpu-init",
    "--use-dist-ckpt",
    "--use-mcore-",
    "--use-legacy-",
    "--use-one-",
    "--use-persistent",
    "--use-pytorch-profiler",
    "--use-rope-",
    "--use-tokenizer-",
    "--yarn-",
    "--zero-bubble-pipeline-timers",
    "--fp4-param",
    "--fp8-amax",
    "--fp8-interval",
    "--fp8-margin",
    "--bf16-",
    "--cross-entropy-fusion-",
    "--context-parallel-ulysses",
};
constexpr std::string_view kNames[] = {
    "--abort-on-unmet-fused-kernel-constraints",
    "--apply-layernorm-1p",
    "--apply-query-key-layer-scaling",
    "--apply-residual-connection-post-layernorm",
    "--barrier-with-L1-time",
    "--calculate-per-token-loss",
    "--clip-grad",
    "--decrease-batch-size-if-needed",
    "--deepspeed",
    "--deepspeed-config",
    "--deepspeed-activation-checkpointing",
    "--deepspeed-mpi",
    "--enable-experimental",
    "--enable-optimizer-post-validation",
    "--enable-zb-runtime",
    "--end-weight-decay",
    "--error-injection-rate",
    "--finetune",
    "--full-validation",
    "--hysteresis",
    "--init-model-with-meta-device",
    "--initial-loss-scale",
    "--iterations-to-skip",
    "--linear-bias",
    "--local-rank",
    "--make-vocab-size-divisible-by",
    "--mtp-loss-scaling-factor",
    "--num-dataset-builder-threads",
    "--optimizer",
    "--query-in-block-prob",
    "--recompute-num-layers",
    "--retro-verify-neighbor-count",
    "--short-seq-prob",
    "--skip-train",
    "--skipped-train-samples",
    "--start-weight-decay",
    "--sync-tp-duplicated-parameters",
    "--titles-data-path",
    "--train-sync-interval",
    "--use-custom-fsdp",
    "--variable-seq-lengths",
    "--accumulate-allreduce-grads-in-fp32",
};

// What is moved under work, or out from under it: one share of assumptions stands for all of it.
constexpr std::string_view kOverlaps[] = {
    "--align-grad-reduce",   "--async-tensor", "--delay-grad-reduce",
    "--delay-wgrad-compute", "--overlap-",     "--tp-comm-",
};

// What changes time or memory and has no field: beginnings of names, and whole names, that are asked before those that
// decide nothing.
constexpr std::string_view kNotModelled[] = {
    "--attention-dropout",
    "--attention-softmax",
    "--cuda-graph-",
    "--ddp-",
    "--deterministic-",
    "--disable-jit",
    "--empty-unused-memory-level",
    "--first-last-layers-bf16",
    "--fp4-recipe",
    "--fp8-recipe",
    "--fp8-wgrad",
    "--fsdp-double-buffer",
    "--gradient-accumulation-fusion",
    "--hidden-dropout",
    "--high-priority-stream-groups",
    "--keep-fp8-transpose-cache",
    "--masked-softmax",
    "--megatron-fsdp-grad-comm-dtype",
    "--moe-enable-deepep",
    "--moe-expert-capacity-factor",
    "--moe-extended-tp",
    "--moe-flex-",
    "--moe-layer-recompute",
    "--moe-pad-expert-input-to-capacity",
    "--moe-permute-",
    "--moe-router-fusion",
    "--moe-token-dispatcher",
    "--moe-token-drop-policy",
    "--moe-use-legacy",
    "--nccl-",
    "--no-bias-",
    "--no-gradient-accumulation-fusion",
    "--no-masked-softmax",
    "--no-persist-layer-norm",
    "--no-rope-fusion",
    "--transformer-impl",
    "--use-bias-gelu-fusion",
    "--use-nccl-",
    "--use-ring-",
};

bool begins_as_one(std::string_view flag, std::span<const std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [flag](std::string_view beginning) { return flag.starts_with(beginning); });
}

}  // namespace

std::span<const FlagField> megatron_fields() { return kFields; }

std::string_view megatron_field_of(std::string_view flag) {
  for (const FlagField& row : kFields)
    if (row.flag == flag) return row.field;
  return {};
}

bool megatron_not_modelled(std::string_view flag) { return begins_as_one(flag, kNotModelled); }

bool megatron_overlaps(std::string_view flag) {
  constexpr std::string_view kNo = "--no-";
  return begins_as_one(flag, kOverlaps) ||
         (flag.starts_with(kNo) && begins_as_one(fmt::format("--{}", flag.substr(kNo.size())), kOverlaps));
}

bool megatron_without_effect(std::string_view flag) {
  return std::find(std::begin(kNames), std::end(kNames), flag) != std::end(kNames) ||
         begins_as_one(flag, kBeginnings);
}

}  // namespace roofscape::io
