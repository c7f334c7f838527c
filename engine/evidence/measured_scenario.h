// The Scenario a measured training run was, as far as its entry states it. What an entry leaves open is filled by a
// rule (each said in `assumed`); what no rule can fill makes it "not buildable", with the reason.
//
// Rules:
//   microbatch        one sequence with a pipeline, or where a sequence has 4096 tokens or more; else as many sequences
//                     as make 8192 tokens, at most the rank's share
//   global batch      4 Mi tokens per step, in whole microbatches of all ranks (and of all stages)
//   virtual stages    interleaved: the most, up to 8, that divide a stage's layers; other schedules: what they need
//   checkpointing     the least recomputation that fits: nothing, attention, whole layers; of "some layers" half,
//                     or as many as it takes to fit
//   selective         of PyTorch FSDP: outputs of matrix multiplications; of torchtitan those of every second one, as
//                     the nearest number of tensors per layer
//   vocabulary        51,200 (GPT-2's, padded as Megatron-LM does)
//   nodes and fabric  as in stated_cluster.h
//
// The generation of software is what the source's words say: Megatron-LM and Megatron-DeepSpeed up to 2022 (before
// FlashAttention), JAX (MaxText, PaxML, tpu-recipes), PyTorch FSDP (torchtitan, llm-foundry, fms-fsdp, AutoModel
// ...), else Megatron-Core and its relatives. Mixed precision keeps 16-bit weights and gradients and, in 32 bits,
// Adam's state with a master copy; the older Megatrons and nanotron add up and reduce the gradients of bf16 weights
// in 32 bits too.
#pragma once

#include <variant>
#include <vector>

#include "engine/base/sentence.h"
#include "engine/io/presets/measurements.h"
#include "engine/io/presets/preset_library.h"
#include "engine/scenario/scenario.h"

namespace roofscape::evidence {

struct MeasuredScenario {
  engine::Scenario scenario;
  std::vector<engine::Sentence> assumed;  // one per guess: "microbatch of 1 sequence"
};

// Or why there is none.
using BuiltScenario = std::variant<MeasuredScenario, engine::Sentence>;

BuiltScenario build_training_scenario(const io::Measurement&, const io::PresetLibrary&, engine::Mode);
// Inference, batches and lengths as stated; with a batch of one where the entry says "as many as fit".
BuiltScenario build_serving_scenario(const io::Measurement&, const io::PresetLibrary&, engine::Mode);
// The software a source names; automatic: it names none that is known.
engine::StackChoice stated_stack(const io::Measurement&);

}  // namespace roofscape::evidence
