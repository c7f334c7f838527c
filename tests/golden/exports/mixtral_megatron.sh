#!/bin/bash
# Mixtral 8x7B on 64 H100, for Megatron-LM. Written by Roofscape.
# What Megatron-LM has no key for stands in these lines, which Roofscape reads back:
# roofscape: model=mixtral-8x7b
# roofscape: cluster={"chip":"h100-sxm","nodes":8,"node_size":8}
# roofscape: assumptions.mode=ideal
# roofscape: assumptions.flops=exact_causal

export CUDA_DEVICE_MAX_CONNECTIONS=1

MODEL_ARGS=(
    --use-mcore-models
    --num-layers 32
    --hidden-size 4096
    --ffn-hidden-size 14336
    --num-attention-heads 32
    --group-query-attention
    --num-query-groups 8
    --kv-channels 128
    --vocab-size 32000
    --make-vocab-size-divisible-by 1
    --max-position-embeddings 32768
    --position-embedding-type rope
    --normalization RMSNorm
    --swiglu
    --untie-embeddings-and-output-weights
    --disable-bias-linear
    --num-experts 8
    --moe-router-topk 2
    --moe-ffn-hidden-size 14336
    --moe-token-dispatcher-type alltoall
    --moe-grouped-gemm
)
PARALLEL_ARGS=(
    --tensor-model-parallel-size 2
    --pipeline-model-parallel-size 4
    --context-parallel-size 1
    --sequence-parallel
    --expert-model-parallel-size 8
    --expert-tensor-parallel-size 2
    --use-distributed-optimizer
    --overlap-grad-reduce
    --overlap-param-gather
)
TRAINING_ARGS=(
    --seq-length 4096
    --micro-batch-size 1
    --global-batch-size 256
    --train-samples 244140625
    --recompute-granularity full
    --recompute-method uniform
    --recompute-num-layers 1
    --bf16
    --accumulate-allreduce-grads-in-fp32
)

# Data, tokenizer, learning rate and whatever else the plan does not decide follow as arguments of this script.
torchrun --nproc_per_node 8 --nnodes 8 --node_rank ${NODE_RANK:-0} --master_addr ${MASTER_ADDR:-localhost} --master_port ${MASTER_PORT:-29500} pretrain_gpt.py \
    "${MODEL_ARGS[@]}" \
    "${PARALLEL_ARGS[@]}" \
    "${TRAINING_ARGS[@]}" \
    "$@"
