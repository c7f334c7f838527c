#include "tests/engine/io/launch_cases.h"

namespace roofscape::test {

const std::string_view kTitan = R"([model]
name = "llama3"
flavor = "70B"

[training]
local_batch_size = 8
global_batch_size = 256
seq_len = 32_768

[parallelism]
data_parallel_replicate_degree = 2
data_parallel_shard_degree = 8
tensor_parallel_degree = 4
pipeline_parallel_degree = 4
pipeline_parallel_schedule = "Interleaved1F1B"
pipeline_parallel_microbatch_size = 2
context_parallel_degree = 2

[activation_checkpoint]
mode = "selective"
selective_ac_option = "4"
)";
const std::string_view kTitanStages = R"([model]
name = "llama3"
flavor = "405B"
[training]
local_batch_size = 32
[parallelism]
data_parallel_shard_degree = 4
fsdp_reshard_after_forward = "always"
tensor_parallel_degree = 8
pipeline_parallel_degree = 16
pipeline_parallel_layers_per_stage = 4
pipeline_parallel_schedule = "Interleaved1F1B"
)";
const std::string_view kMaxtext = R"(base_config: "base.yml"
model_name: llama3.1-70b
hardware: gpu
dcn_data_parallelism: 4
dcn_fsdp_parallelism: 16
ici_fsdp_parallelism: 8
per_device_batch_size: 2
max_target_length: 8192
remat_policy: minimal_with_context
quantization: fp8
)";
const std::string_view kMaxtextExperts =
    "python3 -m MaxText.train MaxText/configs/base.yml model_name=mixtral-8x7b per_device_batch_size=4 \\\n"
    "  max_target_length=4096 ici_expert_parallelism=8 ici_fsdp_parallelism=-1 dcn_data_parallelism=2 \\\n"
    "  remat_policy=custom query_proj=offload key_proj=device run_name=$RUN steps=30\n";
const std::string_view kDeepspeed = R"({
  "train_batch_size": 64,
  "gradient_accumulation_steps": 2,
  "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu", "ratio": 0.25}, "sub_group_size": 1e14},
  "bf16": {"enabled": true}
})";
const std::string_view kDeepspeedOld = R"({
  "train_micro_batch_size_per_gpu": 4, "train_batch_size": 64, "gradient_accumulation_steps": 2,
  "zero_optimization": {"stage": 2, "cpu_offload": true},
  "fp16": {"enabled": true}, "bf16": {"enabled": false}
})";
const std::string_view kNanotron = R"(general: {project: x, run: y}
model:
  dtype: bfloat16
  model_config: {hidden_size: 2048, intermediate_size: 8192, is_llama_config: true, num_attention_heads: 32,
    num_hidden_layers: 24, num_key_value_heads: 32, vocab_size: 49152, tie_word_embeddings: true, hidden_act: silu,
    max_position_embeddings: 8192, rms_norm_eps: 1.0e-05}
optimizer: {accumulate_grad_in_fp32: true, zero_stage: 1}
parallelism: {dp: 8, tp: 4, pp: 2, pp_engine: 1f1b, tp_mode: REDUCE_SCATTER}
tokens: {batch_accumulation_per_replica: 16, micro_batch_size: 2, sequence_length: 4096}
)";
const std::string_view kTitanLine =
    "torchrun --nproc_per_node 8 --nnodes 2 -m torchtitan.train --model.name llama3 --model.flavor 8B \\\n"
    "  --parallelism.tensor_parallel_degree 2 --training.local-batch-size=4 --activation_checkpoint.mode full "
    "--compile.enable\n";
const std::string_view kVllm =
    "vllm serve meta-llama/Llama-3.1-70B-Instruct -tp 4 --data-parallel-size=2 --max-model-len 32K \\\n"
    "  --max-num-seqs 128 --quantization fp8 --kv-cache-dtype fp8_e4m3 --max_num_batched_tokens 4096 --port 8000\n";

namespace {

constexpr std::string_view kTitanExperts = R"([model]
name = "deepseek_v3"
flavor = "16B"
converters = ["quantize.linear.float8"]
[training]
local_batch_size = 4
seq_len = 4096
[parallelism]
data_parallel_shard_degree = -1
expert_parallel_degree = 8
[activation_checkpoint]
mode = "selective"
selective_ac_option = 'op'
[quantize.linear.float8]
filter_fqns = ["output"]
)";
constexpr std::string_view kTitanMiddle = R"([model]
name = "llama2"
flavor = "13B"
[training]
batch_size = 16
seq_len = 4096
data_parallel_shard_degree = -1
tensor_parallel_degree = 2
[experimental]
pipeline_parallel_degree = 4
pipeline_parallel_schedule = "interleaved_1f1b"
pipeline_parallel_split_points = "layers.4,layers.10,layers.15,layers.20,layers.25,layers.30,layers.35"
pipeline_parallel_microbatches = 8
[activation_checkpoint]
mode = 'full'
[float8]
enable_float8_linear = true
)";
constexpr std::string_view kTitanFirst = R"([model]
name = "llama"
flavor = "7B"
[training]
batch_size = 8
seq_len = 2048
data_parallel_degree = -1
sequence_parallel_degree = 2
pipeline_parallel_degree = 1
fp8_linear = ""
[activation_checkpoint]
mode = 'none'
)";
constexpr std::string_view kTitanPrinted = R"({"model": {"name": "qwen3", "flavor": "8B"},
 "training": {"max_context_length": 8192, "num_tokens_per_microbatch_per_dp_rank": 16384, "num_tokens_per_train_step": -1},
 "parallelism": {"data_parallel_shard_degree": 8, "tensor_parallel_degree": 2, "enable_sequence_parallel": false}})";
constexpr std::string_view kMaxtextPipeline = R"(model_name: llama3-8b
per_device_batch_size: 4
ici_pipeline_parallelism: 4
ici_fsdp_parallelism: 4
num_layers_per_pipeline_stage: 2
num_pipeline_microbatches: 8
gradient_accumulation_steps: 2
)";
constexpr std::string_view kMaxtextSizes = R"(base_config: base.yml
base_emb_dim: 1024
base_num_decoder_layers: 8
global_parameter_scale: 16
per_device_batch_size: 0.5
ici_tensor_sequence_parallelism: 4
max_target_length: 1024
)";
constexpr std::string_view kMaxtextModel = R"(base_emb_dim: 7168
base_num_query_heads: 128
base_num_kv_heads: 128
base_mlp_dim: 18432
base_moe_mlp_dim: 2048
base_num_decoder_layers: 61
first_num_dense_layers: 3
mlp_activations: ["silu","linear"]
vocab_size: 129280
num_experts: 256
num_experts_per_tok: 8
shared_experts: 1
routed_bias: true
decoder_block: "deepseek"
attention_type: "mla"
q_lora_rank: 1536
rope_max_timescale: 10_000
)";
constexpr std::string_view kMaxtextTpu7x =
    "python3 -m MaxText.train MaxText/configs/base.yml model_name=gpt-oss-120b per_device_batch_size=10.0 \\\n"
    "  ici_fsdp_parallelism=64 ici_data_parallelism=8 dcn_data_parallelism=-1\n";
constexpr std::string_view kDeepspeedAuto = R"({
  "train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto",
  "zero_optimization": {"stage": 1}, "fp16": {"enabled": "auto"}, "bf16": {"enabled": "auto"}
})";
constexpr std::string_view kAccelerate = R"(compute_environment: LOCAL_MACHINE
distributed_type: FSDP
mixed_precision: bf16
num_machines: 4
num_processes: 32
fsdp_config:
  fsdp_sharding_strategy: HYBRID_SHARD
  fsdp_activation_checkpointing: true
  fsdp_offload_params: false
  fsdp_version: 1
)";
constexpr std::string_view kTrainer = R"(base_model: meta-llama/Llama-3.1-8B
micro_batch_size: 2
gradient_accumulation_steps: 4
sequence_len: 4096
bf16: true
gradient_checkpointing: true
)";
constexpr std::string_view kAdapters = R"(base_model: meta-llama/Llama-3.1-8B
micro_batch_size: 2
gradient_accumulation_steps: 4
sequence_len: 4096
bf16: true
gradient_checkpointing: true
adapter: qlora
lora_r: 32
lora_alpha: 64
lora_target_modules: [q_proj, k_proj, v_proj, o_proj]
)";
constexpr std::string_view kXpk =
    "python3 xpk.py workload create --tpu-type=v5p-256 --num-slices=2 \\\n"
    "  --command \"export X=1 && python3 MaxText/train.py MaxText/configs/base.yml model_name=llama2-70b "
    "per_device_batch_size=4 max_target_length=4096 remat_policy=full\"\n";
constexpr std::string_view kAccelerateLine =
    "accelerate launch --num_processes 16 --num_machines 2 --mixed_precision bf16 --use_fsdp \\\n"
    "  --fsdp_sharding_strategy SHARD_GRAD_OP train.py --model_name_or_path Qwen/Qwen2.5-7B-Instruct \\\n"
    "  --per_device_train_batch_size 2 --gradient_accumulation_steps 8 --max_seq_length 4096 "
    "--gradient_checkpointing\n";
constexpr std::string_view kVllmExperts =
    "docker run --gpus all -p 8000:8000 vllm/vllm-openai:latest --model deepseek-ai/DeepSeek-V3 "
    "--tensor-parallel-size 8 "
    "--data-parallel-size 4 --enable-expert-parallel --max-num-seqs 64 --trust-remote-code\n";
constexpr std::string_view kSglang =
    "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp 16 --dp 4 --enable-dp-attention \\\n"
    "  --ep-size 16 --nnodes 2 --max-running-requests 512 --chunked-prefill-size 4096 --host 0.0.0.0\n";

constexpr std::string_view kTrtllm = R"(#!/usr/bin/env bash
TP=8
cat > extra.yml << EOF
enable_attention_dp: false
moe_expert_parallel_size: ${EP:-4}
kv_cache_config:
  dtype: fp8
  tokens_per_block: 64
  free_gpu_memory_fraction: 0.8
EOF
cat << EOF >> extra.yml
enable_chunked_prefill: true
speculative_config:
  decoding_type: MTP
  num_nextn_predict_layers: 3
EOF
mpirun -n 1 --allow-run-as-root trtllm-serve deepseek-ai/DeepSeek-R1 --tp_size=$TP --ep_size 8 --backend pytorch \
  --max_batch_size 256 --max_num_tokens=$((1024 + 64 > 4096 ? 1088 : 4096)) --extra_llm_api_options extra.yml > log 2>&1 &
)";
constexpr std::string_view kTrtllmShared =
    "trtllm-bench --model nvidia/DeepSeek-R1-FP4 throughput --tp 8 --ep 8 --enable_attention_dp --max_batch_size 128 "
    "\\\n"
    "  --concurrency 512 --target_input_len 1000 --target_output_len 2000 --dataset d.txt\n";
constexpr std::string_view kVllmSettings =
    "cat > config.yaml << 'EOF'\nkv-cache-dtype: fp8\nno-enable-prefix-caching: true\nmax-num-batched-tokens: 4096\n"
    "max-num-seqs: 16\nEOF\nvllm serve openai/gpt-oss-120b --config /workspace/config.yaml -tp 2 --max-num-seqs 64\n";
constexpr std::string_view kTitanSettings =
    "cat <<EOF > /tmp/run.toml\n[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 2\n"
    "seq_len = 4096\n[parallelism]\ntensor_parallel_degree = 2\nEOF\n"
    "torchrun --nproc_per_node=8 -m torchtitan.train --job.config_file /tmp/run.toml --compile.enable\n";
constexpr std::string_view kAccelerateSettings =
    "cat > fsdp.yaml <<EOF\ndistributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 16\nnum_machines: 2\n"
    "fsdp_config:\n  fsdp_sharding_strategy: FULL_SHARD\nEOF\n"
    "accelerate launch --config_file fsdp.yaml train.py --model_name_or_path Qwen/Qwen2.5-7B-Instruct \\\n"
    "  --per_device_train_batch_size 2 --gradient_accumulation_steps 8 --max_seq_length 4096\n";

}  // namespace

const std::vector<LaunchCase>& launch_cases() {
  static const std::vector<LaunchCase> all{
      {"torchtitan, all under [parallelism]",
       kTitan,
       "h100-sxm",
       "torchtitan",
       {"model=LLaMA-3 70B",
        "parallelism.data=2",
        "parallelism.fsdp=8",
        "parallelism.tensor=4",
        "parallelism.pipeline=4",
        "parallelism.context=2",
        "parallelism.context_method=all_gather",
        "parallelism.sequence_parallel=1",
        "parallelism.zero_stage=2",
        "pipeline.schedule=interleaved-1f1b",
        "pipeline.virtual_stages=2",
        "pipeline.microbatch_sequences=2",
        "pipeline.embedding_as_layers=1",
        "workload.global_batch_sequences=256",
        "workload.sequence_length=32768",
        "checkpointing.policy=some_blocks",
        "checkpointing.blocks=20",
        "precision.weights=bf16",
        "precision.gradients=fp32",
        "precision.master_weights=fp32",
        "cluster.nodes=64"},
       {}},
      {"torchtitan, experts folded",
       kTitanExperts,
       "h100-sxm:64",
       "torchtitan",
       {"model=DeepSeek-V2-Lite 16B", "parallelism.fsdp=64", "parallelism.data=1", "parallelism.expert=8",
        "parallelism.expert_tensor=1", "parallelism.zero_stage=3", "precision.compute=fp8", "precision.weights=fp32",
        "precision.gradients=fp32", "precision.master_weights=none", "checkpointing.policy=big_matmuls",
        "workload.global_batch_sequences=256", "pipeline.microbatch_sequences=4"},
       {}},
      {"torchtitan, no chips",
       kTitanExperts,
       "",
       "torchtitan",
       {"parallelism.data=1", "parallelism.expert=8"},
       {"cluster", "parallelism.fsdp", "workload.global_batch_sequences"}},
      {"torchtitan, degrees under [experimental]",
       kTitanMiddle,
       "h100-sxm:64",
       "torchtitan",
       {"model=LLaMA-2 13B", "parallelism.fsdp=8", "parallelism.tensor=2", "pipeline.virtual_stages=2",
        "pipeline.microbatch_sequences=2", "pipeline.embedding_as_layers=0", "workload.global_batch_sequences=128",
        "precision.compute=fp8", "checkpointing.policy=block"},
       {}},
      {"torchtitan, the first layout",
       kTitanFirst,
       "h100-sxm:8",
       "torchtitan",
       {"model=LLaMA-2 7B", "parallelism.fsdp=4", "parallelism.tensor=2", "checkpointing.policy=none",
        "workload.global_batch_sequences=32", "precision.compute=bf16"},
       {}},
      {"torchtitan, layers per stage",
       kTitanStages,
       "h100-sxm",
       "torchtitan",
       {"pipeline.virtual_stages=2", "parallelism.zero_stage=3", "pipeline.microbatch_sequences=1",
        "workload.global_batch_sequences=128", "workload.sequence_length=2048", "cluster.nodes=64"},
       {}},
      {"torchtitan, printed",
       kTitanPrinted,
       "h100-sxm",
       "torchtitan",
       {"model=Qwen3 8B", "parallelism.sequence_parallel=0", "workload.sequence_length=8192",
        "pipeline.microbatch_sequences=2", "workload.global_batch_sequences=16", "parallelism.fsdp=8"},
       {}},
      {"MaxText, axes across and inside slices",
       kMaxtext,
       "h100-sxm",
       "maxtext",
       {"model=LLaMA-3 70B", "parallelism.data=4", "parallelism.fsdp=128", "parallelism.zero_stage=3",
        "precision.compute=fp8", "workload.global_batch_sequences=1024", "pipeline.microbatch_sequences=2",
        "checkpointing.policy=big_matmuls", "cluster.nodes=64"},
       {}},
      {"MaxText, expert multiplies into fsdp",
       kMaxtextExperts,
       "h100-sxm:512",
       "maxtext",
       {"model=Mixtral 8x7B", "parallelism.data=2", "parallelism.fsdp=256", "parallelism.expert=8",
        "parallelism.tensor=1", "workload.global_batch_sequences=2048", "checkpointing.policy=k_per_layer",
        "checkpointing.k=2", "offload.activations=1"},
       {}},
      {"MaxText, a pipeline of repeats",
       kMaxtextPipeline,
       "h100-sxm",
       "maxtext",
       {"parallelism.pipeline=4", "parallelism.fsdp=4", "pipeline.virtual_stages=4", "pipeline.schedule=looped-bfs",
        "pipeline.microbatch_sequences=2", "workload.global_batch_sequences=128", "workload.sequence_length=2048"},
       {}},
      {"MaxText, sizes over base.yml",
       kMaxtextSizes,
       "h100-sxm:8",
       "maxtext",
       {"model.d_model=2048", "model.n_layers=16", "model.n_heads=64", "model.d_ff=28672", "model.vocab_size=32000",
        "parallelism.tensor=4", "parallelism.fsdp=2", "parallelism.sequence_parallel=1",
        "pipeline.microbatch_sequences=2", "workload.global_batch_sequences=4", "checkpointing.policy=block"},
       {}},
      {"MaxText, two slices",
       kMaxtextSizes,
       "tpu-v5e:512",
       "maxtext",
       {"parallelism.data=2", "parallelism.fsdp=64", "cluster.slices=2"},
       {}},
      {"MaxText, a model",
       kMaxtextModel,
       "",
       "maxtext",
       {"model.n_layers=61", "model.d_model=7168", "model.moe.n_routed_experts=256", "model.moe.d_ff_expert=2048",
        "model.moe.n_dense_layers=3", "model.moe.router_bias=1", "model.mla.q_lora_rank=1536",
        "model.mla.kv_lora_rank=512"},
       {"cluster", "parallelism.data", "parallelism.fsdp"}},
      {"MaxText, two devices a chip",
       kMaxtextTpu7x,
       "tpu-7x",
       "maxtext",
       {"parallelism.data=8", "parallelism.fsdp=32", "pipeline.microbatch_sequences=20",
        "workload.global_batch_sequences=5120", "workload.sequence_length=2048"},
       {}},
      {"DeepSpeed, the microbatch follows",
       kDeepspeed,
       "h100-sxm:16",
       "deepspeed",
       {"parallelism.zero_stage=3", "parallelism.fsdp=16", "pipeline.microbatch_sequences=2", "offload.optimizer=1",
        "offload.optimizer_fraction=0.25", "precision.compute=bf16", "precision.master_weights=fp32",
        "workload.global_batch_sequences=64"},
       {"model", "workload.sequence_length"}},
      {"DeepSpeed, all three batches give the ranks",
       kDeepspeedOld,
       "h100-sxm",
       "deepspeed",
       {"parallelism.zero_stage=2", "parallelism.fsdp=8", "parallelism.data=1", "pipeline.microbatch_sequences=4",
        "precision.compute=fp16", "offload.optimizer=1", "cluster.nodes=1"},
       {"model", "workload.sequence_length"}},
      {"DeepSpeed, auto",
       kDeepspeedAuto,
       "h100-sxm:8",
       "deepspeed",
       {"parallelism.zero_stage=1", "parallelism.fsdp=8"},
       {"model", "pipeline.microbatch_sequences", "precision.compute", "workload.global_batch_sequences",
        "workload.sequence_length"}},
      {"Accelerate, sharded inside nodes",
       kAccelerate,
       "h100-sxm",
       "accelerate",
       {"parallelism.fsdp=8", "parallelism.data=4", "parallelism.zero_stage=3", "precision.compute=bf16",
        "checkpointing.policy=block", "offload.optimizer=0", "cluster.nodes=4"},
       {"model", "pipeline.microbatch_sequences", "workload.global_batch_sequences", "workload.sequence_length"}},
      {"training arguments",
       kTrainer,
       "h100-sxm:8",
       "accelerate",
       {"model=LLaMA-3 8B", "pipeline.microbatch_sequences=2", "workload.global_batch_sequences=64",
        "workload.sequence_length=4096", "checkpointing.policy=block"},
       {}},
      {"adapters",
       kAdapters,
       "h100-sxm:8",
       "accelerate",
       {"model=LLaMA-3 8B", "adapter.rank=32", "adapter.targets=attention", "precision.weights=int4",
        "precision.compute=bf16", "precision.optimizer=adam_fp32"},
       {}},
      {"nanotron",
       kNanotron,
       "h100-sxm",
       "nanotron",
       {"parallelism.fsdp=8", "parallelism.data=1", "parallelism.tensor=4", "parallelism.pipeline=2",
        "parallelism.zero_stage=1", "parallelism.sequence_parallel=1", "pipeline.schedule=1f1b",
        "pipeline.microbatch_sequences=2", "workload.global_batch_sequences=256", "model.n_layers=24",
        "model.tied_embeddings=1", "precision.gradients=fp32", "precision.master_weights=fp32",
        "checkpointing.policy=none", "cluster.nodes=8"},
       {}},
      {"MaxText, in a command of xpk",
       kXpk,
       "",
       "maxtext",
       {"model=LLaMA-2 70B", "parallelism.data=2", "parallelism.fsdp=128", "cluster.slices=2",
        "checkpointing.policy=block", "workload.global_batch_sequences=1024"},
       {}},
      {"torchtitan, a line",
       kTitanLine,
       "h100-sxm",
       "torchtitan",
       {"model=LLaMA-3 8B", "parallelism.tensor=2", "parallelism.fsdp=8", "pipeline.microbatch_sequences=4",
        "checkpointing.policy=block", "cluster.nodes=2"},
       {}},
      {"Accelerate, a line",
       kAccelerateLine,
       "h100-sxm",
       "accelerate",
       {"model=Qwen2.5 7B", "parallelism.fsdp=16", "parallelism.zero_stage=2", "pipeline.microbatch_sequences=2",
        "workload.global_batch_sequences=256", "checkpointing.policy=block", "precision.compute=bf16",
        "cluster.nodes=2"},
       {}},
      {"vLLM",
       kVllm,
       "h100-sxm",
       "vllm",
       {"model=LLaMA-3 70B", "workload.kind=serving", "parallelism.tensor=4", "parallelism.data=2",
        "precision.weights=fp8", "precision.compute=fp8", "precision.kv_cache=fp8", "workload.batch=256",
        "serving.prefill_chunk_tokens=4096", "model.max_context_tokens=32768", "serving.kv_split=heads",
        "cluster.node_size=8"},
       {"workload.output_tokens", "workload.prompt_tokens"}},
      {"vLLM, experts over all ranks",
       kVllmExperts,
       "h200",
       "vllm",
       {"model=DeepSeek-V3 671B", "parallelism.tensor=8", "parallelism.data=4", "parallelism.expert=32",
        "parallelism.expert_tensor=1", "precision.weights=fp8", "precision.compute=fp8", "workload.batch=256",
        "cluster.nodes=4"},
       {"workload.output_tokens", "workload.prompt_tokens"}},
      {"SGLang, attention shared out",
       kSglang,
       "h200",
       "sglang",
       {"parallelism.tensor=4", "parallelism.data=4", "parallelism.expert=16", "parallelism.expert_tensor=1",
        "workload.batch=512", "serving.prefill_chunk_tokens=1024", "cluster.nodes=2"},
       {"workload.output_tokens", "workload.prompt_tokens"}},
      {"TensorRT-LLM, settings go over flags",
       kTrtllm,
       "h200",
       "trtllm",
       {"model=DeepSeek-V3 671B", "workload.kind=serving", "parallelism.tensor=8", "parallelism.data=1",
        "parallelism.expert=4", "parallelism.expert_tensor=2", "precision.weights=fp8", "precision.compute=fp8",
        "precision.kv_cache=fp8", "workload.batch=256", "serving.prefill_chunk_tokens=4096", "serving.page_tokens=64",
        "serving.draft_tokens=3", "serving.kv_split=heads"},
       {"workload.output_tokens", "workload.prompt_tokens"}},
      {"TensorRT-LLM, attention shared out",
       kTrtllmShared,
       "b200",
       "trtllm",
       {"parallelism.tensor=1", "parallelism.data=8", "parallelism.expert=8", "parallelism.expert_tensor=1",
        "precision.weights=nvfp4", "precision.compute=nvfp4", "workload.batch=512", "workload.prompt_tokens=1000",
        "workload.output_tokens=2000", "serving.prefill_chunk_tokens=0", "serving.page_tokens=32"},
       {}},
      {"vLLM, settings that the script writes",
       kVllmSettings,
       "h100-sxm",
       "vllm",
       {"model=gpt-oss 120B", "parallelism.tensor=2", "precision.kv_cache=fp8", "workload.batch=64",
        "serving.prefill_chunk_tokens=4096"},
       {"workload.output_tokens", "workload.prompt_tokens"}},
      {"torchtitan, settings that the script writes",
       kTitanSettings,
       "h100-sxm",
       "torchtitan",
       {"model=LLaMA-3 8B", "parallelism.tensor=2", "parallelism.fsdp=4", "workload.sequence_length=4096",
        "pipeline.microbatch_sequences=2"},
       {}},
      {"Accelerate, settings that the script writes",
       kAccelerateSettings,
       "h100-sxm",
       "accelerate",
       {"model=Qwen2.5 7B", "parallelism.fsdp=16", "parallelism.zero_stage=3", "pipeline.microbatch_sequences=2",
        "workload.global_batch_sequences=256", "precision.compute=bf16", "cluster.nodes=2"},
       {}},
  };
  return all;
}

}  // namespace roofscape::test
