// The rules of vLLM, as of August 2026.
#include "engine/frameworks/rule_tables.h"

namespace roofscape::engine::rules {
namespace {

constexpr std::string_view kModel = "vLLM, vllm/config/model.py";
constexpr std::string_view kParallel = "vLLM, vllm/config/parallel.py";
constexpr std::string_view kExperts = "vLLM, docs/serving/expert_parallel_deployment.md";

int kv_heads(const Scenario& s) { return s.model.is_mla() ? 1 : s.model.n_kv_heads; }
bool spare_ranks(const Scenario& s) { return s.parallelism.tensor > kv_heads(s); }
std::int64_t replicas(const Scenario& s) { return data_ranks(s.parallelism); }

constexpr Rule kVllmRules[] = {
    {.id = "serves",
     .path = "workload.kind",
     .reads = RuleReads::scenario,
     .broken = [](const Scenario& s) { return !s.serves(); },
     .words = [](const Scenario&) { return say("framework.rule.serves", framework_name(Framework::vllm)); },
     .source = {}},
    {.id = "model",
     .path = "model",
     .reads = RuleReads::scenario,
     .broken = [](const Scenario& s) { return s.model.rel_pos_projection; },
     .words =
         [](const Scenario&) {
           return say("framework.rule.model", framework_name(Framework::vllm), say("framework.part.rel_pos"));
         },
     .source = "vLLM, vllm/model_executor/models/registry.py"},
    {.id = "compute",
     .path = "precision.compute",
     .reads = RuleReads::scenario,
     .broken = [](const Scenario& s) { return s.precision.compute == Dtype::int4; },
     .words = [](const Scenario&) { return say("framework.rule.compute", framework_name(Framework::vllm)); },
     .source = kModel,
     .mend = [](Scenario& s) { s.precision.compute = Dtype::bf16; }},
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
    {.id = "heads",
     .path = "parallelism.tensor",
     .reads = RuleReads::mesh,
     .broken = [](const Scenario& s) { return !divides(s.parallelism.tensor, s.model.n_heads); },
     .words = [](const Scenario& s) { return say("framework.rule.heads", s.parallelism.tensor, s.model.n_heads); },
     .source = kModel},
    {.id = "kv_heads",
     .path = "parallelism.tensor",
     .reads = RuleReads::mesh,
     .broken =
         [](const Scenario& s) {
           return !s.model.is_mla() && !divides(s.parallelism.tensor, s.model.n_kv_heads) &&
                  !divides(s.model.n_kv_heads, s.parallelism.tensor);
         },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.kv_heads_either", s.parallelism.tensor, s.model.n_kv_heads);
         },
     .source = "vLLM, vllm/model_executor/models/llama.py"},
    {.id = "sharding",
     .path = "parallelism.fsdp",
     .reads = RuleReads::mesh,
     .broken = [](const Scenario& s) { return s.parallelism.fsdp > 1; },
     .words = [](const Scenario&) { return say("framework.rule.vllm.sharding"); },
     .source = kParallel,
     .mend =
         [](Scenario& s) {
           s.parallelism.data *= s.parallelism.fsdp;
           s.parallelism.fsdp = 1;
         }},
    {.id = "context",
     .path = "parallelism.context",
     .reads = RuleReads::mesh,
     .broken = [](const Scenario& s) { return s.parallelism.context > 1; },
     .words = [](const Scenario&) { return say("framework.rule.vllm.context"); },
     .source = kParallel},
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
     .mend =
         [](Scenario& s) {
           Parallelism& p = s.parallelism;
           const auto all = static_cast<int>(replicas(s) * p.tensor);
           const bool deals = s.model.is_moe() && divides(all, s.model.moe.n_routed_experts) && all > 1;
           p.expert = deals ? all : 1;
           p.expert_tensor = deals ? 1 : 0;
         }},
    {.id = "kv_split",
     .path = "serving.kv_split",
     .reads = RuleReads::mesh,
     .broken = [](const Scenario& s) { return spare_ranks(s) && s.serving.kv_split == KvSplit::batch; },
     .words =
         [](const Scenario& s) { return say("framework.rule.vllm.kv_split", s.parallelism.tensor, kv_heads(s)); },
     .source = kParallel,
     .mend = [](Scenario& s) { s.serving.kv_split = KvSplit::sequence; }},
    {.id = "draft",
     .path = "serving.draft_tokens",
     .reads = RuleReads::mesh,
     .broken = [](const Scenario& s) { return s.serving.draft_tokens > 0 && s.parallelism.pipeline > 1; },
     .words = [](const Scenario&) { return say("framework.rule.vllm.draft"); },
     .source = "vLLM, vllm/config/speculative.py",
     .mend = [](Scenario& s) { s.serving.draft_tokens = 0; }},
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
