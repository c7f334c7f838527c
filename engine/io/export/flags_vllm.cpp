// A plan for vLLM, as the command that starts its server.
#include <algorithm>

#include <fmt/format.h>

#include "engine/frameworks/rules.h"
#include "engine/io/export/flag_writers.h"
#include "engine/scenario/mesh_size.h"

namespace roofscape::io {

using engine::Dtype;
using engine::say;

namespace {

constexpr std::pair<std::string_view, std::string_view> kWeights[] = {
    {"llama2-7b", "meta-llama/Llama-2-7b-hf"},
    {"llama2-13b", "meta-llama/Llama-2-13b-hf"},
    {"llama2-70b", "meta-llama/Llama-2-70b-hf"},
    {"llama3-8b", "meta-llama/Llama-3.1-8B-Instruct"},
    {"llama3-70b", "meta-llama/Llama-3.1-70B-Instruct"},
    {"llama3-405b", "meta-llama/Llama-3.1-405B-Instruct"},
    {"llama4-scout", "meta-llama/Llama-4-Scout-17B-16E-Instruct"},
    {"llama4-maverick", "meta-llama/Llama-4-Maverick-17B-128E-Instruct"},
    {"mixtral-8x7b", "mistralai/Mixtral-8x7B-Instruct-v0.1"},
    {"mixtral-8x22b", "mistralai/Mixtral-8x22B-Instruct-v0.1"},
    {"mistral-7b", "mistralai/Mistral-7B-Instruct-v0.3"},
    {"deepseek-v3", "deepseek-ai/DeepSeek-V3"},
    {"kimi-k2", "moonshotai/Kimi-K2-Instruct"},
    {"glm-4.5", "zai-org/GLM-4.5"},
    {"glm-4.5-air", "zai-org/GLM-4.5-Air"},
    {"minimax-m2", "MiniMaxAI/MiniMax-M2"},
    {"deepseek-v2", "deepseek-ai/DeepSeek-V2"},
    {"deepseek-v2-lite", "deepseek-ai/DeepSeek-V2-Lite"},
    {"gpt-oss-20b", "openai/gpt-oss-20b"},
    {"gpt-oss-120b", "openai/gpt-oss-120b"},
    {"qwen3-0.6b", "Qwen/Qwen3-0.6B"},
    {"qwen3-1.7b", "Qwen/Qwen3-1.7B"},
    {"qwen3-4b", "Qwen/Qwen3-4B"},
    {"qwen3-8b", "Qwen/Qwen3-8B"},
    {"qwen3-14b", "Qwen/Qwen3-14B"},
    {"qwen3-32b", "Qwen/Qwen3-32B"},
    {"qwen3-30b-a3b", "Qwen/Qwen3-30B-A3B"},
    {"qwen3-235b-a22b", "Qwen/Qwen3-235B-A22B"},
    {"gemma2-9b", "google/gemma-2-9b-it"},
    {"gemma2-27b", "google/gemma-2-27b-it"},
};

}  // namespace

int longest_sequence(const engine::Workload& w) {
  int longest = w.prompt_tokens + w.output_tokens;
  if (!w.has_lengths()) return longest;
  longest = 0;
  for (const engine::LengthBin& bin : w.lengths)
    if (bin.share > 0) longest = std::max(longest, bin.prompt_tokens + bin.output_tokens);
  return longest;
}

std::string_view weights_of(std::string_view model_id) {
  for (const auto& [id, repository] : kWeights)
    if (id == model_id) return repository;
  return {};
}

std::string vllm_script(LaunchText& text, const std::string& job, const std::string& launcher) {
  const engine::Scenario& s = text.scenario();
  const engine::Parallelism& p = s.parallelism;
  std::vector<std::string> flags;
  const auto field = [&](std::string_view path) { flags.push_back("--" + text.key(path) + " " + text.value(path)); };
  field("parallelism.tensor");
  field("parallelism.pipeline");
  if (p.data > 1) field("parallelism.data");
  text.said(
      {"parallelism.data", "parallelism.fsdp", "parallelism.context", "parallelism.zero_stage", "workload.kind"});
  if (s.model.is_moe()) {
    if (p.expert > 1) flags.emplace_back("--enable-expert-parallel");
    if (p.expert > 1 || p.data * p.tensor == 1)
      text.said({"parallelism.expert", "parallelism.expert_tensor"});
    else if (p.expert_tensor == 0)
      text.said({"parallelism.expert", "parallelism.expert_tensor"});
  }
  const int heads = s.model.is_mla() ? 1 : s.model.n_kv_heads;
  if (p.tensor > heads && s.serving.kv_split == engine::KvSplit::sequence)
    flags.push_back(fmt::format("--decode-context-parallel-size {}", p.tensor / heads));
  text.said({"serving.kv_split"});
  const Dtype compute = s.precision.compute;
  flags.push_back(fmt::format("--dtype {}", compute == Dtype::fp16   ? "float16"
                                            : compute == Dtype::fp32 ? "float32"
                                                                     : "bfloat16"));
  if (s.precision.weights == Dtype::fp8) flags.emplace_back("--quantization fp8");
  if (s.precision.weights == Dtype::nvfp4) flags.emplace_back("--quantization modelopt_fp4");
  if (s.precision.weights == Dtype::mxfp4) flags.emplace_back("--quantization mxfp4");
  if (s.precision.kv_cache != Dtype::none) field("precision.kv_cache");
  flags.push_back(fmt::format("--max-model-len {}", longest_sequence(s.workload)));
  // Of the memory that vLLM leaves alone by default the plan says its own.
  const double hbm = s.cluster.chip[engine::ChipField::hbm_bytes].value.value_or(0);
  if (s.assumptions.reserve_bytes > 0 && hbm > s.assumptions.reserve_bytes)
    flags.push_back(fmt::format("--gpu-memory-utilization {:.3f}", 1 - s.assumptions.reserve_bytes / hbm));
  text.bent("assumptions.reserve_bytes");
  text.bent("model.max_context_tokens");  // the longest sequence is no matter of the model
  // Sequences of one replica.
  flags.push_back(
      fmt::format("--max-num-seqs {}", std::max<std::int64_t>(1, s.workload.batch / engine::data_ranks(p))));
  if (s.workload.batch % engine::data_ranks(p) == 0) text.said({"workload.batch"});
  field("serving.page_tokens");
  if (s.serving.prefill_chunk_tokens > 0) {
    flags.emplace_back("--enable-chunked-prefill");
    field("serving.prefill_chunk_tokens");
  } else {
    flags.emplace_back("--no-enable-chunked-prefill");
    text.bent("serving.prefill_chunk_tokens");
  }
  const bool drafts_itself = s.model.is_mla();  // DeepSeek's layers that predict further tokens
  if (s.serving.draft_tokens > 0) {
    // vLLM refuses a count without a method or a model that drafts.
    flags.push_back(fmt::format("--speculative-config '{{{}, \"num_speculative_tokens\": {}}}'",
                                drafts_itself ? "\"method\": \"mtp\"" : "\"model\": \"DRAFT_MODEL\"",
                                s.serving.draft_tokens));
  }
  if (s.serving.prefix_hit_rate > 0) flags.emplace_back("--enable-prefix-caching");
  const engine::JobSize size = engine::job_size(s);
  if (size.nodes > 1) {
    flags.push_back(fmt::format("--nnodes {}", size.nodes));
    flags.push_back(launcher.empty() ? "--node-rank ${NODE_RANK:-0}" : "--node-rank $SLURM_NODEID");
    flags.push_back(launcher.empty() ? "--master-addr ${MASTER_ADDR:-localhost}" : "--master-addr $MASTER_ADDR");
  }
  const std::string_view repository = weights_of(s.model.id);
  std::string out = "#!/bin/bash\n" + job + text.header();
  if (repository.empty()) out += text.comment(say("export.vllm.weights"));
  if (s.serving.draft_tokens > 0 && !drafts_itself) out += text.comment(say("export.vllm.draft"));
  std::string command = "vllm serve " + (repository.empty() ? std::string("$MODEL") : std::string(repository));
  for (const std::string& flag : flags) command += " \\\n    " + flag;
  return out + "\n" + start_server(command, launcher, size.nodes);
}

}  // namespace roofscape::io
