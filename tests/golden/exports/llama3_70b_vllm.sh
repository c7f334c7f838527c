#!/bin/bash
# Serving LLaMA-3 70B on one node of 8 H100, for vLLM. Written by Roofscape.
# What vLLM has no key for stands in these lines, which Roofscape reads back:
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
# roofscape: assumptions.mode=ideal
# roofscape: assumptions.flops=exact_causal
# roofscape: assumptions.reserve_bytes=0

vllm serve meta-llama/Llama-3.1-70B-Instruct \
    --tensor-parallel-size 8 \
    --pipeline-parallel-size 1 \
    --dtype bfloat16 \
    --quantization fp8 \
    --kv-cache-dtype fp8 \
    --max-model-len 2560 \
    --max-num-seqs 128 \
    --block-size 16 \
    --enable-chunked-prefill \
    --max-num-batched-tokens 2048 \
    "$@"
