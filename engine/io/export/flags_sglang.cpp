// A plan for SGLang, as the command that starts its server.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "engine/frameworks/rules.h"
#include "engine/io/export/flag_writers.h"
#include "engine/scenario/mesh_size.h"

namespace roofscape::io {

using engine::Dtype;
using engine::say;

std::string sglang_script(LaunchText& text, const std::string& job, const std::string& launcher) {
  const engine::Scenario& s = text.scenario();
  const engine::Parallelism& p = s.parallelism;
  std::vector<std::string> flags;
  const auto put = [&flags](std::string_view flag, auto value) {
    flags.push_back(fmt::format("--{} {}", flag, value));
  };
  const auto replicas = static_cast<int>(engine::data_ranks(p));
  // Attention that is shared out lies within the tensor ranks; the flags of a pass and of requests are of all groups.
  const bool shared = engine::shares_attention(s);
  const int groups = shared ? replicas : 1;
  put("tp-size", groups * p.tensor);
  put("pp-size", p.pipeline);
  if (replicas > 1) put("dp-size", replicas);
  if (shared) flags.emplace_back("--enable-dp-attention");
  text.said({"parallelism.tensor", "parallelism.pipeline", "parallelism.data", "parallelism.fsdp",
             "parallelism.context", "parallelism.zero_stage", "workload.kind", "serving.kv_split"});
  if (s.model.is_moe()) {
    if (p.expert > 1) put("ep-size", p.expert), text.said({"parallelism.expert"});
    if (p.expert > 1 ? p.expert_tensor > 0 : p.expert_tensor == 0)
      text.said({"parallelism.expert", "parallelism.expert_tensor"});
  }
  const Dtype compute = s.precision.compute;
  put("dtype", compute == Dtype::fp16 ? "float16" : compute == Dtype::fp32 ? "float32" : "bfloat16");
  if (s.precision.weights == Dtype::fp8) put("quantization", "fp8");
  if (s.precision.weights == Dtype::nvfp4) put("quantization", "modelopt_fp4");
  if (s.precision.weights == Dtype::mxfp4) put("quantization", "mxfp4");
  const Dtype cache = s.precision.kv_cache;
  if (const std::string_view word = cache == Dtype::fp8     ? "fp8_e4m3"
                                    : cache == Dtype::bf16  ? "bfloat16"
                                    : cache == Dtype::mxfp4 ? "fp4_e2m1"
                                                            : "";
      !word.empty())
    put("kv-cache-dtype", word), text.said({"precision.kv_cache"});
  put("context-length", longest_sequence(s.workload));
  text.bent("model.max_context_tokens");  // the longest sequence is no matter of the model
  // Of the memory that SGLang leaves alone by default the plan says its own.
  const double hbm = s.cluster.chip[engine::ChipField::hbm_bytes].value.value_or(0);
  if (s.assumptions.reserve_bytes > 0 && hbm > s.assumptions.reserve_bytes)
    flags.push_back(fmt::format("--mem-fraction-static {:.3f}", 1 - s.assumptions.reserve_bytes / hbm));
  text.bent("assumptions.reserve_bytes");
  put("max-running-requests", shared ? s.workload.batch : std::max(1, s.workload.batch / replicas));
  if (s.workload.batch % replicas == 0) text.said({"workload.batch"});
  put("page-size", s.serving.page_tokens);
  const std::int64_t chunk = s.serving.prefill_chunk_tokens;
  put("chunked-prefill-size", chunk > 0 ? chunk * groups : -1);
  text.said({"serving.page_tokens", "serving.prefill_chunk_tokens"});
  const bool drafts_itself = s.model.is_mla();  // DeepSeek's layers that predict further tokens
  if (const int drafts = s.serving.draft_tokens; drafts > 0) {
    put("speculative-algorithm", drafts_itself ? "NEXTN" : "EAGLE");
    if (!drafts_itself) put("speculative-draft-model-path", "DRAFT_MODEL");
    put("speculative-num-steps", drafts);
    put("speculative-eagle-topk", 1);
    put("speculative-num-draft-tokens", drafts + 1);
    text.said({"serving.draft_tokens"});
  }
  if (!(s.serving.prefix_hit_rate > 0)) flags.emplace_back("--disable-radix-cache");
  const engine::JobSize size = engine::job_size(s);
  if (size.nodes > 1) {
    put("nnodes", size.nodes);
    flags.emplace_back(launcher.empty() ? "--node-rank ${NODE_RANK:-0}" : "--node-rank $SLURM_NODEID");
    flags.push_back(launcher.empty() ? "--dist-init-addr ${MASTER_ADDR:-localhost}:${MASTER_PORT:-5000}"
                                     : "--dist-init-addr $MASTER_ADDR:${MASTER_PORT:-5000}");
  }
  const std::string_view repository = weights_of(s.model.id);
  std::string out = "#!/bin/bash\n" + job + text.header();
  if (repository.empty()) out += text.comment(say("export.vllm.weights"));
  if (s.serving.draft_tokens > 0 && !drafts_itself) out += text.comment(say("export.vllm.draft"));
  std::string command = "python3 -m sglang.launch_server \\\n    --model-path " +
                        (repository.empty() ? std::string("$MODEL") : std::string(repository));
  for (const std::string& flag : flags) command += " \\\n    " + flag;
  return out + "\n" + start_server(command, launcher, size.nodes);
}

}  // namespace roofscape::io
