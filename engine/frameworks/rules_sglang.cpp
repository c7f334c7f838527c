// The rules of SGLang, as of August 2026.
#include "engine/frameworks/rule_tables.h"

namespace roofscape::engine::rules {
namespace {

constexpr std::string_view kServerArguments = "SGLang, python/sglang/srt/server_args.py";
constexpr std::string_view kSglangModel = "SGLang, python/sglang/srt/models/llama.py";
constexpr std::string_view kRankLayout = "SGLang, python/sglang/srt/distributed/parallel_state.py";

// Chips that the experts of a layer lie on.
std::int64_t expert_ranks(const Scenario& s) {
  return std::int64_t{s.parallelism.expert} * s.parallelism.experts_tensor();
}

constexpr Rule kSglangRules[] = {
    serves<Framework::sglang>(),
    served_model<Framework::sglang>("SGLang, docs/supported_models"),
    served_compute<Framework::sglang>(kServerArguments),
    {.id = "kv_cache",
     .path = "precision.kv_cache",
     .reads = RuleReads::scenario,
     .broken =
         [](const Scenario& s) {
           const Dtype cache = s.precision.kv_cache;
           if (cache == Dtype::fp16) return s.precision.compute != Dtype::fp16;  // of the model alone
           return cache != Dtype::none && cache != Dtype::bf16 && cache != Dtype::fp8 && cache != Dtype::mxfp4;
         },
     .words = [](const Scenario&) { return say("framework.rule.sglang.kv_cache"); },
     .source = kServerArguments,
     .mend = [](Scenario& s) { s.precision.kv_cache = Dtype::none; }},
    even_heads(kSglangModel),
    even_kv_heads(kSglangModel),
    whole_weights(kServerArguments),
    no_context(kServerArguments),
    {.id = "experts",
     .path = "parallelism.expert",
     .reads = RuleReads::mesh,
     .broken =
         [](const Scenario& s) {
           const Parallelism& p = s.parallelism;
           if (!s.model.is_moe()) return p.expert > 1;
           return expert_ranks(s) != p.tensor && expert_ranks(s) != replicas(s) * p.tensor;
         },
     .words =
         [](const Scenario& s) {
           const Parallelism& p = s.parallelism;
           return say("framework.rule.sglang.experts", p.tensor, static_cast<long long>(replicas(s) * p.tensor),
                      p.expert, p.experts_tensor());
         },
     .source = kServerArguments,
     .mend = [](Scenario& s) { deal_experts(s, replicas(s) * s.parallelism.tensor); }},
    {.id = "replicas",
     .path = "parallelism.data",
     .reads = RuleReads::mesh,
     .broken = [](const Scenario& s) { return replicas(s) > 1 && job_size(s).nodes > 1 && !shares_attention(s); },
     .words = [](const Scenario& s) { return say("framework.rule.sglang.replicas", replicas(s)); },
     .source = kServerArguments,
     .mend =
         [](Scenario& s) {
           Parallelism& p = s.parallelism;
           p.tensor = static_cast<int>(replicas(s) * p.tensor);
           p.data = p.fsdp = 1;
         }},
    // Replicas are processes of their own; attention that is shared out lies within one stage.
    {.id = "rank_order",
     .path = "placement.order",
     .reads = RuleReads::mesh,
     .broken =
         [](const Scenario& s) {
           const RankOrder other = shares_attention(s) ? RankOrder::data_last : RankOrder::pipeline_last;
           return s.placement.order == other && rank_order_matters(s.cluster, s.parallelism);
         },
     .words =
         [](const Scenario& s) {
           return shares_attention(s) ? say("framework.rule.rank_order", framework_name(Framework::sglang))
                                      : say("framework.rule.replica_order", framework_name(Framework::sglang));
         },
     .source = kRankLayout,
     .mend = [](Scenario& s) { s.placement.order = RankOrder::automatic; }},
    copied_kv_heads(kSglangModel),
    no_draft_with_stages(kServerArguments),
    {.id = "pages",
     .path = "serving.page_tokens",
     .reads = RuleReads::scenario,
     .broken =
         [](const Scenario& s) {
           const int page = s.serving.page_tokens;
           return page == 0 || s.serving.prefill_chunk_tokens % page != 0;
         },
     .words =
         [](const Scenario& s) {
           if (s.serving.page_tokens == 0) return say("framework.rule.sglang.pages");
           return say("framework.rule.sglang.chunk", s.serving.prefill_chunk_tokens, s.serving.page_tokens);
         },
     .source = kServerArguments,
     .mend = [](Scenario& s) { s.serving.page_tokens = 1; }},
    even_nodes<Framework::sglang>(),
};

}  // namespace

std::span<const Rule> sglang() { return kSglangRules; }

}  // namespace roofscape::engine::rules
