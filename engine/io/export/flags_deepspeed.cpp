// A plan for DeepSpeed, as its JSON. What that has no key for, the model among it, stands under "roofscape", which
// DeepSpeed does not read.
#include <nlohmann/json.hpp>

#include "engine/frameworks/rules.h"
#include "engine/io/export/flag_writers.h"
#include "engine/io/json/pretty.h"
#include "engine/scenario/mesh_size.h"
#include "engine/scenario/scenario_title.h"

namespace roofscape::io {

using engine::Dtype;
using engine::say;

std::string deepspeed_json_text(LaunchText& text) {
  const engine::Scenario& s = text.scenario();
  const engine::Parallelism& p = s.parallelism;
  OrderedJson json;
  json["train_batch_size"] = s.workload.global_batch_sequences;
  json["train_micro_batch_size_per_gpu"] = s.pipeline.microbatch_sequences;
  json["gradient_accumulation_steps"] = microbatch_count(s);
  text.said({"workload.global_batch_sequences", "pipeline.microbatch_sequences", "workload.kind", "parallelism.data",
             "parallelism.fsdp", "parallelism.tensor", "parallelism.sequence_parallel"});
  const int stage = engine::sharded_stage(s);
  OrderedJson zero;
  zero["stage"] = stage;
  if (stage > 0) zero["overlap_comm"] = true;
  // Groups of ranks that shard, with copies of them (MiCS).
  if (stage == 3 && p.data > 1) zero["mics_shard_size"] = p.fsdp;
  if (stage > 0) zero["offload_optimizer"]["device"] = s.offload.optimizer ? "cpu" : "none";
  text.said({"parallelism.zero_stage", "parallelism.keep_gathered", "offload.optimizer"});
  if (stage == 3 && s.offload.optimizer) {
    zero["offload_optimizer"]["ratio"] = s.offload.optimizer_fraction;
    text.said({"offload.optimizer_fraction"});
  }
  json["zero_optimization"] = std::move(zero);
  json["bf16"]["enabled"] = s.precision.compute == Dtype::bf16;
  json["fp16"]["enabled"] = s.precision.compute == Dtype::fp16;
  if (engine::is_muon(s.precision.optimizer)) {
    json["optimizer"]["type"] = "Muon";
    if (s.precision.optimizer == engine::OptimizerKind::muon_fp32) text.said({"precision.optimizer"});
  }
  if (p.tensor > 1) json["tensor_parallel"]["autotp_size"] = p.tensor;
  if (p.context > 1) json["sequence_parallel_size"] = p.context;
  text.said({"parallelism.context", "parallelism.context_method"});
  if (p.pipeline == 1) text.said({"parallelism.pipeline"});
  if (s.offload.activations) json["activation_checkpointing"]["cpu_checkpointing"] = true;
  text.said({"offload.activations"});
  OrderedJson& notes = json["roofscape"];
  notes["about"] =
      text.text(say("export.header", engine::scenario_title(s), framework_name(engine::Framework::deepspeed)));
  notes["notes"] = text.text(say("export.notes", framework_name(engine::Framework::deepspeed)));
  notes["set"] = text.notes();
  return pretty_text(json) + "\n";
}

}  // namespace roofscape::io
