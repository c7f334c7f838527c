// How measured pairs of runs went of which one thing was changed: what a person needs to know before one plan is taken for
// another. Where the pairs come from is engine/evidence/one_change_pairs.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/base/enum_table.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

enum class PlanChange : std::uint8_t {
  schedule,       // and virtual stages
  mesh,           // degrees, on as many chips; what shards its state
  recomputation,  // checkpointing
  batch,          // sequences of a step or of a microbatch
  length,         // of a sequence, with the batch that goes with it
  format,         // of numbers
  chips,          // more data-parallel ranks
};
inline constexpr EnumTable<PlanChange> kPlanChangeIds{"schedule", "mesh",   "recomputation", "batch",
                                                      "length",   "format", "chips"};
inline constexpr std::size_t kPlanChanges = kEnumCount<PlanChange>;
constexpr bool is_choice(PlanChange change) {
  return change == PlanChange::schedule || change == PlanChange::mesh || change == PlanChange::recomputation;
}

// The one thing in which two training plans differ; none if there are several, or nothing.
std::optional<PlanChange> change_between(const Scenario&, const Scenario&);

// Pairs whose rates differ by less have no direction to predict.
inline constexpr double kApart = 0.05;
// Of fewer pairs with a direction nothing is said.
inline constexpr std::size_t kFewestPairs = 5;

struct PairSummary {
  std::size_t pairs = 0;
  std::size_t apart = 0,
              right = 0;  // that differ by more than kApart, and of them those predicted to differ that way
  double error = 0;       // median of |predicted - measured|, of the ratio of both rates
};

// Of all published pairs, by what was changed.
struct PairRecord {
  std::array<PairSummary, kPlanChanges> by_change{};
  PairSummary choices;  // all of which a choice was changed that a search makes (is_choice)

  // How far apart two plans of a list have to be predicted before that says which is faster: the error of choices.
  // Nothing: too few pairs.
  std::optional<double> margin() const {
    return choices.pairs < kFewestPairs ? std::nullopt : std::optional(choices.error);
  }

  struct Like {
    PlanChange change{};
    PairSummary pairs;
  };
  // Those that differ as these two plans do: none where the plans differ in several things, or too few pairs are apart.
  std::optional<Like> like(const Scenario& from, const Scenario& to) const;
};

}  // namespace roofscape::engine
