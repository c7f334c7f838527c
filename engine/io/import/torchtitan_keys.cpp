#include "engine/io/import/torchtitan_keys.h"

namespace roofscape::io {

using engine::say;

void finish_titan_keys(KeyReader& keys) {
  keys.without_effect({"parallelism.enable_async_tensor_parallel", "experimental.enable_async_tensor_parallel"},
                      say("import.ignored.overlap"));
  keys.without_effect(
      {"compile.*", "training.compile", "parallelism.enable_compiled_autograd",
       "experimental.enable_compiled_autograd", "parallelism.enable_fsdp_symm_mem", "float8.*", "quantize.*", "mx.*",
       "parallelism.expert_parallel_comm_backend", "parallelism.pipeline_parallel_expert_parallel_overlap",
       "parallelism.context_parallel_load_balancer", "parallelism.context_parallel_ptrr_mask_key",
       "activation_checkpoint.*", "experimental.enable_loss_parallel", "parallelism.disable_loss_parallel",
       "training.enable_loss_parallel", "fault_tolerance.*", "model.print_after_conversion"},
      say("import.ignored.not_modelled"));
  keys.without_effect({"optimizer.implementation", "parallelism.spmd_backend", "loss.*"},
                      say("import.ignored.not_modelled"));
  keys.not_modelled_when_on({"training.deterministic", "debug.deterministic*"});
  keys.without_effect({"job.*",
                       "profiling.*",
                       "metrics.*",
                       "model",
                       "model.*",
                       "model_spec.*",
                       "optimizer.*",
                       "lr_scheduler.*",
                       "training.max_norm",
                       "training.dataset*",
                       "training.warmup_steps",
                       "training.gc_freq",
                       "training.gc_debug",
                       "training.seed",
                       "training.dataloader*",
                       "training.mixed_precision_reduce",
                       "training.checkpoint_*",
                       "training.fp8_linear",
                       "checkpoint.*",
                       "validation.*",
                       "comm.*",
                       "memory_estimation.*",
                       "debug.*",
                       "dataloader.*",
                       "profiler.*",
                       "tokenizer.*",
                       "experimental.custom_*",
                       "parallelism.num_pp_microbatches"},
                      say("import.ignored.no_effect"));
  keys.finish({{"*local_batch_size", "workload.global_batch_sequences"},
               {"training.batch_size", "workload.global_batch_sequences"},
               {"training.num_tokens*", "workload.global_batch_sequences"},
               {"training.global_batch_size", "workload.global_batch_sequences"},
               {"*enable_sequence_parallel", "parallelism.sequence_parallel"},
               {"*rotate_method", "parallelism.context_method"},
               {"*pipeline_parallel*", "pipeline.virtual_stages"},
               {"*module_fqns*", "pipeline.layers_per_stage"},
               {"*fp8_linear", "precision.compute"},
               {"model.converters", "precision.compute"},
               {"*enable_float8_linear", "precision.compute"},
               {"training.dtype", "precision.weights"},
               {"training.enable_selective_ac", "checkpointing.policy"},
               {"optimizer.early_step_in_backward", "precision.gradients"},
               {"activation_checkpoint.*", "checkpointing.policy"},
               {"model.*", "model"}});
}

}  // namespace roofscape::io
