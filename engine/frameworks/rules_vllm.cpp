// The rules of vLLM, as of August 2026.
#include "engine/frameworks/rule_tables.h"

namespace roofscape::engine::rules {
namespace {

constexpr std::string_view kModel = "vLLM, vllm/config/model.py";
constexpr std::string_view kParallel = "vLLM, vllm/config/parallel.py";
constexpr std::string_view kExperts = "vLLM, docs/serving/expert_parallel_deployment.md";

constexpr Rule kVllmRules[] = {
    serves<Framework::vllm>(),
    served_model<Framework::vllm>("vLLM, vllm/model_executor/models/registry.py"),
    served_compute<Framework::vllm>(kModel),
    {.id = "kv_cache",
     .path = "precision.kv_cache",
     .reads = RuleReads::scenario,
     .broken =
         [](const Scenario& s) {
           const Dtype cache = s.precision.kv_cache;
           return cache == Dtype::int8 || cache == Dtype::int4 || cache == Dtype::fp32 || cache == Dtype::nvfp4 ||
                  cache == Dtype::mxfp4;
         },
     .words = [](const Scenario&) { return say("framework.rule.vllm.kv_cache"); },
     .source = "vLLM, vllm/config/cache.py",
     .mend = [](Scenario& s) { s.precision.kv_cache = Dtype::none; }},
    even_heads(kModel),
    even_kv_heads("vLLM, vllm/model_executor/models/llama.py"),
    whole_weights(kParallel),
    no_context(kParallel),
    own_rank_order<Framework::vllm, RankOrder::pipeline_last>("vLLM, vllm/distributed/parallel_state.py"),
    {.id = "experts",
     .path = "parallelism.expert",
     .reads = RuleReads::mesh,
     .broken =
         [](const Scenario& s) {
           const Parallelism& p = s.parallelism;
           if (!s.model.is_moe()) return p.expert > 1;
           const std::int64_t all = replicas(s) * p.tensor;
           if (p.expert == 1) return replicas(s) > 1;
           return p.expert != all || p.experts_tensor() != 1;
         },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.vllm.experts", static_cast<long long>(replicas(s) * s.parallelism.tensor),
                      s.parallelism.expert);
         },
     .source = kExperts,
     .mend = [](Scenario& s) { deal_experts(s, replicas(s) * s.parallelism.tensor); }},
    {.id = "kv_split",
     .path = "serving.kv_split",
     .reads = RuleReads::mesh,
     .broken = [](const Scenario& s) { return spare_ranks(s) && s.serving.kv_split == KvSplit::batch; },
     .words =
         [](const Scenario& s) { return say("framework.rule.vllm.kv_split", s.parallelism.tensor, kv_heads(s)); },
     .source = kParallel,
     .mend = [](Scenario& s) { s.serving.kv_split = KvSplit::sequence; }},
    no_draft_with_stages("vLLM, vllm/config/speculative.py"),
    {.id = "pages",
     .path = "serving.page_tokens",
     .reads = RuleReads::scenario,
     .broken = [](const Scenario& s) { return s.serving.page_tokens == 0 || !divides(8, s.serving.page_tokens); },
     .words = [](const Scenario& s) { return say("framework.rule.vllm.pages", s.serving.page_tokens); },
     .source = "vLLM, vllm/config/cache.py",
     .mend = [](Scenario& s) { s.serving.page_tokens = 16; }},
    even_nodes<Framework::vllm>(),
};

}  // namespace

std::span<const Rule> vllm() { return kVllmRules; }

}  // namespace roofscape::engine::rules
