// What is true of each checkpointing policy, one row each: ids, choices, the space of a search and the points of
// figures follow from these rows. engine/model/checkpointing.h defines what the policies keep. Their order is that of
// the enumeration, which menus show and which breaks ties between plans (earlier is easier to run).
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
    CheckpointFacts{.policy = CheckpointPolicy::none, .id = "none", .searched = true},
    CheckpointFacts{
        .policy = CheckpointPolicy::attention, .id = "attention", .searched = true, .also = {"selective"}},
    CheckpointFacts{.policy = CheckpointPolicy::big_matmuls,
                    .id = "big_matmuls",
                    .searched = true,
                    .also = {"dots", "selective_elementwise"}},
    CheckpointFacts{.policy = CheckpointPolicy::k_per_layer, .id = "k_per_layer", .count = CheckpointCount::k},
    CheckpointFacts{.policy = CheckpointPolicy::block,
                    .id = "block",
                    .repeats = Repeats::forward_pass,
                    .searched = true,
                    .also = {"full"}},
    CheckpointFacts{.policy = CheckpointPolicy::some_blocks,
                    .id = "some_blocks",
                    .repeats = Repeats::layers_counted,
                    .count = CheckpointCount::blocks,
                    .also = {"partial_block"}},
    CheckpointFacts{.policy = CheckpointPolicy::segments,
                    .id = "segments",
                    .repeats = Repeats::layers,
                    .count = CheckpointCount::segments},
    CheckpointFacts{.policy = CheckpointPolicy::segments_minimal,
                    .id = "segments_minimal",
                    .repeats = Repeats::layers_counted,
                    .count = CheckpointCount::segments},
};
static_assert(kCheckpointFacts.size() == kEnumCount<CheckpointPolicy>);
static_assert([] {
  for (std::size_t i = 0; i < kCheckpointFacts.size(); ++i)
    if (static_cast<std::size_t>(kCheckpointFacts[i].policy) != i) return false;
  return true;
}());

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
