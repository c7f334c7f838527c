#!/bin/bash
#SBATCH --job-name=plan
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --exclusive
# The file plan.json is what roofscape-cli export-flags --for deepspeed writes.
srun torchrun --nproc_per_node 8 --nnodes 1 --rdzv_id $SLURM_JOB_ID --rdzv_backend c10d --rdzv_endpoint $(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1):29500 train.py --deepspeed --deepspeed_config plan.json "$@"
