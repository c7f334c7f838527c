// What the sizes and flags of a family (hf_families.cpp) do not say: its experts, the windows of its attention, and what
// else is particular to it. Each reads the keys of one config into a model.
#pragma once

#include "engine/io/huggingface/hf_reader.h"

namespace roofscape::io {

// ---- experts ----
void mixtral_experts(HfReader&, const HfDefaults&, engine::TransformerShape&);
void olmoe_experts(HfReader&, const HfDefaults&, engine::TransformerShape&);
void gpt_oss_experts(HfReader&, const HfDefaults&, engine::TransformerShape&);
void qwen_experts(HfReader&, const HfDefaults&, engine::TransformerShape&);
void dbrx_experts(HfReader&, const HfDefaults&, engine::TransformerShape&);
void llama4_experts(HfReader&, const HfDefaults&, engine::TransformerShape&);
void ernie_experts(HfReader&, const HfDefaults&, engine::TransformerShape&);
void hunyuan_experts(HfReader&, const HfDefaults&, engine::TransformerShape&);
void qwen2_experts(HfReader&, const HfDefaults&, engine::TransformerShape&);
void deepseek_experts(HfReader&, const HfDefaults&, engine::TransformerShape&);
void deepseek_v2(HfReader&, const HfDefaults&, engine::TransformerShape&);
void deepseek_v3(HfReader&, const HfDefaults&, engine::TransformerShape&);
void corrected_experts(HfReader&, const HfDefaults&, engine::TransformerShape&);
void bailing_experts(HfReader&, const HfDefaults&, engine::TransformerShape&);
void minimax_experts(HfReader&, const HfDefaults&, engine::TransformerShape&);

// ---- windows ----
void all_local(HfReader&, const HfDefaults&, engine::TransformerShape&);
void every_other_local(HfReader&, const HfDefaults&, engine::TransformerShape&);
void groups_local(HfReader&, const HfDefaults&, engine::TransformerShape&);
void chunks_local(HfReader&, const HfDefaults&, engine::TransformerShape&);
void lettered_local(HfReader&, const HfDefaults&, engine::TransformerShape&);
void late_local(HfReader&, const HfDefaults&, engine::TransformerShape&);

// ---- what else is particular ----
void learned_positions(HfReader&, const HfDefaults&, engine::TransformerShape&);
void opt_positions(HfReader&, const HfDefaults&, engine::TransformerShape&);
void mosaic_attention(HfReader&, const HfDefaults&, engine::TransformerShape&);
void without_vision(HfReader&, const HfDefaults&, engine::TransformerShape&);
void bloom_norm(HfReader&, const HfDefaults&, engine::TransformerShape&);
void one_kv_head(HfReader&, const HfDefaults&, engine::TransformerShape&);
void falcon_heads(HfReader&, const HfDefaults&, engine::TransformerShape&);
void stablelm_norms(HfReader&, const HfDefaults&, engine::TransformerShape&);
void no_query_norms(HfReader&, const HfDefaults&, engine::TransformerShape&);

}  // namespace roofscape::io
