// What is true of each checkpointing policy: the rows of checkpoint_policies.def as a table.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "engine/base/enum_table.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// The number of its own that a policy has: the member of Checkpointing of that name.
enum class CheckpointCount : std::uint8_t { none, k, blocks, segments };

// What of the forward pass runs again in the backward pass.
enum class Repeats : std::uint8_t {
  operations,     // some operations of a layer
  layers,         // whole layers, each once
  forward_pass,   // the same of all layers: in the 6 P convention the whole forward pass
  layers_counted  // whole layers, in the mean as often as recompute_times says (engine/model/checkpointing.h)
};

struct CheckpointFacts {
  CheckpointPolicy policy;
  std::string_view id;
  Repeats repeats = Repeats::operations;
  CheckpointCount count = CheckpointCount::none;
  bool searched = false;                      // by default, and tried as a single edit
  std::array<std::string_view, 2> also = {};  // other names: in published runs, and offered where one is typed
  constexpr bool repeats_layers() const { return repeats != Repeats::operations; }
};

inline constexpr std::array kCheckpointFacts{
#define POLICY(name, word, ...) CheckpointFacts{.policy = CheckpointPolicy::name, .id = word, __VA_ARGS__},
#include "engine/scenario/checkpoint_policies.def"
#undef POLICY
};

inline constexpr int kCheckpointPolicies = static_cast<int>(kCheckpointFacts.size());

inline constexpr std::array kCheckpointPolicyIds = [] {
  std::array<std::string_view, kCheckpointFacts.size()> ids;
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = kCheckpointFacts[i].id;
  return ids;
}();

constexpr const CheckpointFacts& facts_of(CheckpointPolicy policy) {
  return kCheckpointFacts[static_cast<std::size_t>(policy)];
}
constexpr std::string_view policy_id(CheckpointPolicy policy) { return facts_of(policy).id; }

// The policy of that other name.
constexpr std::optional<CheckpointPolicy> policy_also_called(std::string_view name) {
  for (const CheckpointFacts& facts : kCheckpointFacts)
    for (const std::string_view also : facts.also)
      if (!name.empty() && also == name) return facts.policy;
  return std::nullopt;
}
// The policy of that id or other name.
constexpr std::optional<CheckpointPolicy> parse_policy(std::string_view name) {
  for (const CheckpointFacts& facts : kCheckpointFacts)
    if (facts.id == name) return facts.policy;
  return policy_also_called(name);
}

// Whether what runs again counts as one whole forward pass of the model: 8 P for each token instead of 6 P.
constexpr bool repeats_forward_pass(CheckpointPolicy policy, FlopsConvention flops) {
  return facts_of(policy).repeats == Repeats::forward_pass && flops == FlopsConvention::six_p;
}

}  // namespace roofscape::engine
