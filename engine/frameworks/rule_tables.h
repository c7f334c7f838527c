// For the rules_*.cpp files: the tables they define, and tests that several frameworks share.
#pragma once

#include "engine/frameworks/rules.h"
#include "engine/scenario/mesh_size.h"

namespace roofscape::engine::rules {

std::span<const Rule> megatron();
std::span<const Rule> torchtitan();
std::span<const Rule> deepspeed();
std::span<const Rule> maxtext();
std::span<const Rule> jax();
std::span<const Rule> vllm();

inline bool divides(std::int64_t part, std::int64_t whole) { return part > 0 && whole % part == 0; }

inline bool on_torus(const Scenario& s) { return s.cluster.chip.interconnect == Interconnect::torus; }

// Ranks among which the experts of a pipeline stage are dealt, beside those that split one expert.
inline std::int64_t expert_ranks(const Scenario& s) {
  const Parallelism& p = s.parallelism;
  return data_ranks(p) * p.context * p.tensor / p.experts_tensor();
}

// Rows that every framework of a kind has.
template <Framework framework>
constexpr Rule trains() {
  return {.id = "trains",
          .path = "workload.kind",
          .reads = RuleReads::scenario,
          .broken = [](const Scenario& s) { return s.serves(); },
          .words = [](const Scenario&) { return say("framework.rule.trains", framework_name(framework)); },
          .source = {}};
}
template <Framework framework>
constexpr Rule needs_gpus() {
  return {.id = "gpus",
          .path = "cluster.chip",
          .reads = RuleReads::scenario,
          .broken = on_torus,
          .words =
              [](const Scenario& s) {
                return say("framework.rule.gpus", framework_name(framework), s.cluster.chip.name);
              },
          .source = {}};
}
// An order of operations of one's own, which only torch's pipelines can be given.
template <Framework framework>
constexpr Rule own_order() {
  return {.id = "order",
          .path = "pipeline.order",
          .reads = RuleReads::plan,
          .broken = [](const Scenario& s) { return s.parallelism.pipeline > 1 && s.pipeline.order; },
          .words = [](const Scenario&) { return say("framework.rule.order", framework_name(framework)); },
          .source = {},
          .mend = [](Scenario& s) { s.pipeline.order = {}; }};
}

}  // namespace roofscape::engine::rules
