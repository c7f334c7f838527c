#include "engine/frameworks/rules.h"

#include <algorithm>

#include "engine/frameworks/rule_tables.h"

namespace roofscape::engine {

std::span<const Rule> rules_of(Framework framework) {
  switch (framework) {
    case Framework::megatron:
      return rules::megatron();
    case Framework::megatron_bridge:
      return rules::megatron_bridge();
    case Framework::torchtitan:
      return rules::torchtitan();
    case Framework::maxtext:
      return rules::maxtext();
    case Framework::jax:
      return rules::jax();
    case Framework::deepspeed:
      return rules::deepspeed();
    case Framework::vllm:
      return rules::vllm();
    case Framework::sglang:
      return rules::sglang();
    case Framework::trtllm:
      return rules::trtllm();
  }
  return {};
}

const Rule* broken_rule(Framework framework, const Scenario& s) {
  for (const Rule& rule : rules_of(framework))
    if (rule.broken(s)) return &rule;
  return nullptr;
}

bool breaks_any(Framework framework, const Scenario& s, RuleReads exactly) {
  const std::span<const Rule> all = rules_of(framework);
  return std::any_of(all.begin(), all.end(),
                     [&](const Rule& rule) { return rule.reads == exactly && rule.broken(s); });
}

WhoRuns who_runs(const Scenario& s) {
  WhoRuns out;
  for (std::size_t i = 0; i < kFrameworks; ++i) {
    const auto framework = static_cast<Framework>(i);
    if (breaks_any(framework, s, RuleReads::scenario)) continue;
    (broken_rule(framework, s) == nullptr ? out.can : out.cannot).push_back(framework);
  }
  return out;
}

void mend_for(Framework framework, Scenario& s) {
  for (const Rule& rule : rules_of(framework))
    if (rule.mend != nullptr && rule.broken(s)) rule.mend(s);
}

JobSize job_size(const Scenario& s) {
  const Cluster& c = s.cluster;
  const auto chips = static_cast<std::int64_t>(mesh_chips(s.parallelism));
  const bool torus = rules::on_torus(s);
  const int size = torus ? 4 : c.node_size;
  if (chips <= size) return {1, static_cast<int>(chips)};
  const std::int64_t most = torus ? (chip_count(c) + size - 1) / size : c.nodes;
  for (std::int64_t nodes = (chips + size - 1) / size; nodes <= most; ++nodes)
    if (chips % nodes == 0) return {static_cast<int>(nodes), static_cast<int>(chips / nodes)};
  return {};
}

bool shares_attention(const Scenario& s) {
  const Parallelism& p = s.parallelism;
  const std::int64_t replicas = data_ranks(p);
  return replicas > 1 && s.model.is_moe() && std::int64_t{p.expert} * p.experts_tensor() == replicas * p.tensor;
}

int sharded_stage(const Scenario& s) {
  return s.parallelism.fsdp * s.parallelism.context > 1 ? s.parallelism.zero_stage : 0;
}

}  // namespace roofscape::engine
