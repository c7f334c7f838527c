#!/bin/bash
# The file plan.toml is what roofscape-cli export-flags --for torchtitan writes.
torchrun --nproc_per_node 8 --nnodes 1 -m torchtitan.train --job.config_file plan.toml "$@"
