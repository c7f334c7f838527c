#!/bin/bash
#SBATCH --job-name=plan
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --exclusive
# Serving LLaMA-3 70B on 16 NVIDIA H100 SXM 80 GB, for vLLM. Written by Roofscape.
# What vLLM has no key for stands in these lines, which Roofscape reads back:
# roofscape: model=llama3-70b
# roofscape: cluster={"chip":"h100-sxm","nodes":2,"node_size":8}
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

export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
srun bash -c 'vllm serve meta-llama/Llama-3.1-70B-Instruct \
    --tensor-parallel-size 8 \
    --pipeline-parallel-size 2 \
    --dtype bfloat16 \
    --quantization fp8 \
    --kv-cache-dtype fp8 \
    --max-model-len 2560 \
    --max-num-seqs 128 \
    --block-size 16 \
    --enable-chunked-prefill \
    --max-num-batched-tokens 2048 \
    --nnodes 2 \
    --node-rank $SLURM_NODEID \
    --master-addr $MASTER_ADDR \
    "$@"' server "$@"
