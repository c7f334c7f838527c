#!/bin/bash
# Serving LLaMA-3 70B on one node of 8 H100, for TensorRT-LLM. Written by Roofscape.
# What TensorRT-LLM has no key for stands in these lines, which Roofscape reads back:
# roofscape: model=llama3-70b
# roofscape: cluster=dgx-h100
# roofscape: model.max_context_tokens=8192
# roofscape: workload.prompt_tokens=2048
# roofscape: workload.output_tokens=512
# roofscape: workload.arrivals_per_s=0
# roofscape: workload.slo.ttft_s=0
# roofscape: workload.slo.time_per_output_token_s=0
# roofscape: precision.compute=fp8
# roofscape: precision.weights=fp8
# roofscape: precision.kv_cache=fp8
# roofscape: assumptions.mode=ideal
# roofscape: assumptions.flops=exact_causal

cat > trtllm.yml << 'EOF'
tensor_parallel_size: 8
pipeline_parallel_size: 1
enable_attention_dp: false
max_batch_size: 128
max_seq_len: 2560
enable_chunked_prefill: true
max_num_tokens: 2048
dtype: bfloat16
quant_config:
  quant_algo: FP8
kv_cache_config:
  dtype: fp8
  tokens_per_block: 16
  enable_block_reuse: false
EOF

trtllm-serve meta-llama/Llama-3.1-70B-Instruct --config trtllm.yml "$@"
