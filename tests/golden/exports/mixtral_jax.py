# Mixtral 8x7B on 64 H100, for JAX. Written by Roofscape.
# What JAX has no key for stands in these lines, which Roofscape reads back:
# roofscape: model=mixtral-8x7b
# roofscape: cluster={"chip":"h100-sxm","nodes":8,"node_size":8}
# roofscape: workload.train_tokens=1000000000000
# roofscape: pipeline.schedule=1f1b
# roofscape: pipeline.virtual_stages=1
# roofscape: pipeline.embedding_as_layers=0
# roofscape: pipeline.head_as_layers=0
# roofscape: precision.gradients=fp32
# roofscape: precision.optimizer=adam_fp32
# roofscape: precision.master_weights=fp32
# roofscape: offload.optimizer=false
# roofscape: offload.activations=false
# roofscape: assumptions.mode=ideal
# roofscape: assumptions.flops=exact_causal
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

# The devices of all hosts as a mesh. To try it on one host: XLA_FLAGS=--xla_force_host_platform_device_count=N.
axes = {
    "pipeline": 4,
    "data": 1,
    "fsdp": 1,
    "expert": 8,
    "context": 1,
    "tensor": 2,
}
mesh = jax.make_mesh(tuple(axes.values()), tuple(axes))

global_batch = 256
microbatch = 8
microbatches = 32
sequence_length = 4096
compute_dtype = jnp.bfloat16
weight_dtype = jnp.bfloat16
remat_policy = jax.checkpoint_policies.nothing_saveable

# Every weight with its shape and how it is split. Those of layers are stacked, layers first.
weights = {
    "embedding": ((32000, 4096), P("tensor", None)),
    "layers.norms": ((32, 2, 4096), P("pipeline", None, None)),
    "layers.q": ((32, 4096, 32, 128), P("pipeline", None, "tensor", None)),
    "layers.k": ((32, 4096, 8, 128), P("pipeline", None, "tensor", None)),
    "layers.v": ((32, 4096, 8, 128), P("pipeline", None, "tensor", None)),
    "layers.o": ((32, 32, 128, 4096), P("pipeline", "tensor", None, None)),
    "layers.router": ((32, 4096, 8), P("pipeline", None, None)),
    "layers.expert_gate": ((32, 8, 4096, 14336), P("pipeline", "expert", None, "tensor")),
    "layers.expert_up": ((32, 8, 4096, 14336), P("pipeline", "expert", None, "tensor")),
    "layers.expert_down": ((32, 8, 14336, 4096), P("pipeline", "expert", "tensor", None)),
    "final_norm": ((4096,), P(None)),
    "unembedding": ((4096, 32000), P(None, "tensor")),
}

# ZeRO 1: the optimizer's state of each weight is split further.
optimizer_state = {
    "embedding": ((32000, 4096), P("tensor", ("fsdp", "expert", "context"))),
    "layers.norms": ((32, 2, 4096), P("pipeline", None, None)),
    "layers.q": ((32, 4096, 32, 128), P("pipeline", ("fsdp", "expert", "context"), "tensor", None)),
    "layers.k": ((32, 4096, 8, 128), P("pipeline", ("fsdp", "expert", "context"), "tensor", None)),
    "layers.v": ((32, 4096, 8, 128), P("pipeline", ("fsdp", "expert", "context"), "tensor", None)),
    "layers.o": ((32, 32, 128, 4096), P("pipeline", "tensor", None, ("fsdp", "expert", "context"))),
    "layers.router": ((32, 4096, 8), P("pipeline", ("fsdp", "expert", "context"), None)),
    "layers.expert_gate": ((32, 8, 4096, 14336), P("pipeline", "expert", ("fsdp", "context"), "tensor")),
    "layers.expert_up": ((32, 8, 4096, 14336), P("pipeline", "expert", ("fsdp", "context"), "tensor")),
    "layers.expert_down": ((32, 8, 14336, 4096), P("pipeline", "expert", "tensor", ("fsdp", "context"))),
    "final_norm": ((4096,), P(None)),
    "unembedding": ((4096, 32000), P(("fsdp", "expert", "context"), "tensor")),
}

# What flows between the operations of one microbatch, over all ranks.
activations = {
    "tokens": ((8, 4096), P(("data", "fsdp", "expert"), "context")),
    "residual": ((8, 4096, 4096), P(("data", "fsdp", "expert"), ("context", "tensor"), None)),
    "queries": ((8, 4096, 32, 128), P(("data", "fsdp", "expert"), "context", "tensor", None)),
    "keys": ((8, 4096, 8, 128), P(("data", "fsdp", "expert"), "context", "tensor", None)),
    "values": ((8, 4096, 8, 128), P(("data", "fsdp", "expert"), "context", "tensor", None)),
    "attention": ((8, 4096, 32, 128), P(("data", "fsdp", "expert"), "context", "tensor", None)),
    "expert_mlp": ((8, 8192, 14336), P("expert", None, "tensor")),
    "logits": ((8, 4096, 32000), P(("data", "fsdp", "expert"), "context", "tensor")),
}


def sharding(spec):
    return NamedSharding(mesh, spec)


def main():
    for arrays in (weights, activations):
        for name, (shape, spec) in arrays.items():
            print(f"{name:28} {str(shape):32} {str(spec):64} {sharding(spec).shard_shape(shape)}")


if __name__ == "__main__":
    main()
