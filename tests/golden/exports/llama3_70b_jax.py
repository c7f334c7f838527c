# LLaMA-3 70B on one v5p pod, for JAX. Written by Roofscape.
# What JAX has no key for stands in these lines, which Roofscape reads back:
# roofscape: model=llama3-70b
# roofscape: cluster=tpu-v5p-pod
# roofscape: workload.train_tokens=15000000000000
# roofscape: parallelism.data=1
# roofscape: parallelism.fsdp=1024
# roofscape: parallelism.keep_gathered=microbatch
# roofscape: checkpointing.policy=k_per_layer
# roofscape: checkpointing.k=4
# roofscape: precision.gradients=none
# roofscape: precision.optimizer=adam_fp32
# roofscape: precision.master_weights=none
# roofscape: offload.optimizer=false
# roofscape: offload.activations=false
# roofscape: assumptions.mode=ideal
# roofscape: assumptions.axes_overlap=sum
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

# The devices of all hosts as a mesh. To try it on one host: XLA_FLAGS=--xla_force_host_platform_device_count=N.
axes = {
    "pipeline": 1,
    "data": 1,
    "fsdp": 1024,
    "context": 2,
    "tensor": 4,
}
mesh = jax.make_mesh(tuple(axes.values()), tuple(axes))

global_batch = 1024
microbatch = 1024
microbatches = 1
sequence_length = 4096
compute_dtype = jnp.bfloat16
weight_dtype = jnp.bfloat16

# Every weight with its shape and how it is split. Those of layers are stacked, layers first.
weights = {
    "embedding": ((128256, 8192), P("tensor", ("fsdp", "context"))),
    "layers.norms": ((80, 2, 8192), P("pipeline", None, None)),
    "layers.q": ((80, 8192, 64, 128), P("pipeline", ("fsdp", "context"), "tensor", None)),
    "layers.k": ((80, 8192, 8, 128), P("pipeline", ("fsdp", "context"), "tensor", None)),
    "layers.v": ((80, 8192, 8, 128), P("pipeline", ("fsdp", "context"), "tensor", None)),
    "layers.o": ((80, 64, 128, 8192), P("pipeline", "tensor", None, ("fsdp", "context"))),
    "layers.mlp_gate": ((80, 8192, 28672), P("pipeline", ("fsdp", "context"), "tensor")),
    "layers.mlp_up": ((80, 8192, 28672), P("pipeline", ("fsdp", "context"), "tensor")),
    "layers.mlp_down": ((80, 28672, 8192), P("pipeline", "tensor", ("fsdp", "context"))),
    "final_norm": ((8192,), P(None)),
    "unembedding": ((8192, 128256), P(("fsdp", "context"), "tensor")),
}

# What flows between the operations of one microbatch, over all ranks.
activations = {
    "tokens": ((1024, 4096), P(("data", "fsdp"), "context")),
    "residual": ((1024, 4096, 8192), P(("data", "fsdp"), ("context", "tensor"), None)),
    "queries": ((1024, 4096, 64, 128), P(("data", "fsdp"), "context", "tensor", None)),
    "keys": ((1024, 4096, 8, 128), P(("data", "fsdp"), "context", "tensor", None)),
    "values": ((1024, 4096, 8, 128), P(("data", "fsdp"), "context", "tensor", None)),
    "attention": ((1024, 4096, 64, 128), P(("data", "fsdp"), "context", "tensor", None)),
    "mlp": ((1024, 4096, 28672), P(("data", "fsdp"), "context", "tensor")),
    "logits": ((1024, 4096, 128256), P(("data", "fsdp"), "context", "tensor")),
}


def sharding(spec):
    return NamedSharding(mesh, spec)


def main():
    for arrays in (weights, activations):
        for name, (shape, spec) in arrays.items():
            print(f"{name:28} {str(shape):32} {str(spec):64} {sharding(spec).shard_shape(shape)}")


if __name__ == "__main__":
    main()
