// A plan for TensorRT-LLM: a script that writes the settings of the server and starts it with them.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "engine/io/export/flag_writers.h"
#include "engine/scenario/mesh_size.h"

namespace roofscape::io {

using engine::Dtype;
using engine::say;

namespace {

// The algorithm of checkpoints whose weights are stored in a format; empty: 16 bits and more.
std::string_view quantization_of(const engine::Precision& precision) {
  switch (precision.weights) {
    case Dtype::fp8:
      return "FP8";
    case Dtype::nvfp4:
      return "NVFP4";
    case Dtype::mxfp4:
      return precision.compute == Dtype::fp8 ? "W4A8_MXFP4_FP8" : "W4A16_MXFP4";
    case Dtype::int8:
      return "W8A16";
    case Dtype::int4:
      return "W4A16_AWQ";
    default:
      return {};
  }
}

}  // namespace

std::string trtllm_script(LaunchText& text, const std::string& job, const std::string& launcher) {
  const engine::Scenario& s = text.scenario();
  const engine::Parallelism& p = s.parallelism;
  std::string settings;
  const auto put = [&settings](std::string_view key, const auto& value) {
    settings += fmt::format("{}: {}\n", key, value);
  };
  // Attention is shared out by requests, or split: the server counts all chips of a stage.
  const auto shared = static_cast<int>(engine::data_ranks(p));
  put("tensor_parallel_size", shared * p.tensor);
  put("pipeline_parallel_size", p.pipeline);
  put("enable_attention_dp", shared > 1);
  text.said({"parallelism.tensor", "parallelism.pipeline", "parallelism.data", "parallelism.fsdp",
             "parallelism.context", "parallelism.zero_stage", "workload.kind", "serving.kv_split"});
  if (s.model.is_moe()) {
    put("moe_expert_parallel_size", p.expert);
    put("moe_tensor_parallel_size", p.experts_tensor());
    if (p.expert > 1) text.said({"parallelism.expert"});
    if (p.expert > 1 ? p.expert_tensor > 0 : p.expert_tensor == 0)
      text.said({"parallelism.expert", "parallelism.expert_tensor"});
  }
  // Of one chip where attention is shared out.
  put("max_batch_size", std::max(1, s.workload.batch / shared));
  if (s.workload.batch % shared == 0) text.said({"workload.batch"});
  put("max_seq_len", longest_sequence(s.workload));
  text.bent("model.max_context_tokens");  // the longest sequence is no matter of the model
  put("enable_chunked_prefill", s.serving.prefill_chunk_tokens > 0);
  if (s.serving.prefill_chunk_tokens > 0) put("max_num_tokens", s.serving.prefill_chunk_tokens);
  text.said({"serving.prefill_chunk_tokens"});
  put("dtype", s.precision.compute == Dtype::fp16   ? "float16"
               : s.precision.compute == Dtype::fp32 ? "float32"
                                                    : "bfloat16");
  if (const std::string_view algorithm = quantization_of(s.precision); !algorithm.empty())
    settings += fmt::format("quant_config:\n  quant_algo: {}\n", algorithm);
  settings += "kv_cache_config:\n";
  if (s.precision.kv_cache != Dtype::none) put("  dtype", text.value("precision.kv_cache"));
  put("  tokens_per_block", s.serving.page_tokens);
  put("  enable_block_reuse", s.serving.prefix_hit_rate > 0);
  text.said({"serving.page_tokens"});
  if (s.serving.draft_tokens > 0) {
    settings += fmt::format("speculative_config:\n  decoding_type: {}\n", s.model.is_mla() ? "MTP" : "Eagle");
    put(s.model.is_mla() ? "  num_nextn_predict_layers" : "  max_draft_len", s.serving.draft_tokens);
    if (!s.model.is_mla()) put("  speculative_model", "DRAFT_MODEL");
    text.said({"serving.draft_tokens"});
  }
  const std::string_view repository = weights_of(s.model.id);
  std::string out = "#!/bin/bash\n" + job + text.header();
  if (repository.empty()) out += text.comment(say("export.vllm.weights"));
  if (s.serving.draft_tokens > 0 && !s.model.is_mla()) out += text.comment(say("export.vllm.draft"));
  out += "\ncat > trtllm.yml << 'EOF'\n" + settings + "EOF\n\n";
  if (!launcher.empty()) out += launcher + " --mpi=pmix trtllm-llmapi-launch ";
  return out + "trtllm-serve " + (repository.empty() ? std::string("$MODEL") : std::string(repository)) +
         " --config trtllm.yml \"$@\"\n";
}

}  // namespace roofscape::io
