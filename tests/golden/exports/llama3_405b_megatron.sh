#!/bin/bash
# LLaMA-3.1 405B on 16 384 H100, 131 072 tokens per sequence, for Megatron-LM. Written by Roofscape.
# What Megatron-LM has no key for stands in these lines, which Roofscape reads back:
# roofscape: model=llama3-405b
# roofscape: cluster=h100-16k
# roofscape: workload.train_tokens=800000000000
# roofscape: assumptions.mode=calibrated
# roofscape: assumptions.flops=exact
# roofscape: assumptions.stated_mfu=0.38

MODEL_ARGS=(
    --use-mcore-models
    --num-layers 126
    --hidden-size 16384
    --ffn-hidden-size 53248
    --num-attention-heads 128
    --group-query-attention
    --num-query-groups 8
    --kv-channels 128
    --vocab-size 128256
    --make-vocab-size-divisible-by 1
    --max-position-embeddings 131072
    --position-embedding-type rope
    --normalization RMSNorm
    --swiglu
    --untie-embeddings-and-output-weights
    --disable-bias-linear
)
PARALLEL_ARGS=(
    --tensor-model-parallel-size 8
    --pipeline-model-parallel-size 16
    --context-parallel-size 16
    --cp-comm-type all_gather
    --sequence-parallel
    --use-tp-pp-dp-mapping
    --pipeline-model-parallel-layout "E|(t|)*126L"
    --use-distributed-optimizer
    --overlap-grad-reduce
    --overlap-param-gather
    --use-megatron-fsdp
    --data-parallel-sharding-strategy optim_grads
    --ckpt-format fsdp_dtensor
)
TRAINING_ARGS=(
    --seq-length 131072
    --micro-batch-size 1
    --global-batch-size 128
    --train-samples 6103516
    --bf16
    --accumulate-allreduce-grads-in-fp32
)

# Data, tokenizer, learning rate and whatever else the plan does not decide follow as arguments of this script.
torchrun --nproc_per_node 8 --nnodes 2048 --node_rank ${NODE_RANK:-0} --master_addr ${MASTER_ADDR:-localhost} --master_port ${MASTER_PORT:-29500} pretrain_gpt.py \
    "${MODEL_ARGS[@]}" \
    "${PARALLEL_ARGS[@]}" \
    "${TRAINING_ARGS[@]}" \
    "$@"
