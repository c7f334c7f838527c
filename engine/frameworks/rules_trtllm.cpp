// The rules of TensorRT-LLM's PyTorch backend, as of August 2026.
#include "engine/frameworks/rule_tables.h"

namespace roofscape::engine::rules {
namespace {

constexpr std::string_view kLlmArguments = "TensorRT-LLM, tensorrt_llm/llmapi/llm_args.py";
constexpr std::string_view kMapping = "TensorRT-LLM, tensorrt_llm/mapping.py";
constexpr std::string_view kAttention = "TensorRT-LLM, tensorrt_llm/_torch/modules/attention.py";

// One server's chips of a stage, whichever way they share attention.
std::int64_t ranks(const Scenario& s) { return data_ranks(s.parallelism) * s.parallelism.tensor; }

constexpr Rule kTrtllmRules[] = {
    serves<Framework::trtllm>(),
    needs_gpus<Framework::trtllm>(),
    served_model<Framework::trtllm>("TensorRT-LLM, docs/source/models/supported-models.md"),
    served_compute<Framework::trtllm>(kLlmArguments),
    {.id = "kv_cache",
     .path = "precision.kv_cache",
     .reads = RuleReads::scenario,
     .broken =
         [](const Scenario& s) {
           const Dtype cache = s.precision.kv_cache;
           return cache == Dtype::int8 || cache == Dtype::int4 || cache == Dtype::fp32 || cache == Dtype::mxfp4;
         },
     .words = [](const Scenario&) { return say("framework.rule.trtllm.kv_cache"); },
     .source = kLlmArguments,
     .mend = [](Scenario& s) { s.precision.kv_cache = Dtype::none; }},
    whole_weights(kMapping),
    {.id = "replicas",
     .path = "parallelism.data",
     .reads = RuleReads::mesh,
     .broken =
         [](const Scenario& s) {
           return data_ranks(s.parallelism) > 1 && (!s.model.is_moe() || s.parallelism.tensor > 1);
         },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.trtllm.replicas", static_cast<long long>(data_ranks(s.parallelism)),
                      s.parallelism.tensor);
         },
     .source = kMapping,
     .mend =
         [](Scenario& s) {
           Parallelism& p = s.parallelism;
           p.tensor = static_cast<int>(ranks(s));
           p.data = p.fsdp = 1;
         }},
    even_heads(kAttention),
    even_kv_heads(kAttention),
    no_context(kMapping),
    {.id = "experts",
     .path = "parallelism.expert",
     .reads = RuleReads::mesh,
     .broken =
         [](const Scenario& s) {
           const Parallelism& p = s.parallelism;
           return s.model.is_moe() ? std::int64_t{p.expert} * p.experts_tensor() != ranks(s) : p.expert > 1;
         },
     .words =
         [](const Scenario& s) {
           return say("framework.rule.trtllm.experts", static_cast<long long>(ranks(s)), s.parallelism.expert,
                      s.parallelism.experts_tensor());
         },
     .source = kMapping,
     .mend = [](Scenario& s) { deal_experts(s, ranks(s)); }},
    copied_kv_heads(kAttention),
    {.id = "pages",
     .path = "serving.page_tokens",
     .reads = RuleReads::scenario,
     .broken =
         [](const Scenario& s) {
           const int tokens = s.serving.page_tokens;
           return tokens < 2 || (tokens & (tokens - 1)) != 0;
         },
     .words = [](const Scenario& s) { return say("framework.rule.trtllm.pages", s.serving.page_tokens); },
     .source = kLlmArguments,
     .mend = [](Scenario& s) { s.serving.page_tokens = 32; }},
    even_nodes<Framework::trtllm>(),
};

}  // namespace

std::span<const Rule> trtllm() { return kTrtllmRules; }

}  // namespace roofscape::engine::rules
