#!/bin/bash
# Serving LLaMA-3 70B on one node of 8 H100, for SGLang. Written by Roofscape.
# What SGLang has no key for stands in these lines, which Roofscape reads back:
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

python3 -m sglang.launch_server \
    --model-path meta-llama/Llama-3.1-70B-Instruct \
    --tp-size 8 \
    --pp-size 1 \
    --dtype bfloat16 \
    --quantization fp8 \
    --kv-cache-dtype fp8_e4m3 \
    --context-length 2560 \
    --max-running-requests 128 \
    --page-size 16 \
    --chunked-prefill-size 2048 \
    --disable-radix-cache \
    "$@"
