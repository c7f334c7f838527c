// Does the ranking hold? People choose between plans, so what counts is the difference between two of them. Of all
// published training runs, those pairs in which a source changed one thing and measured again: which of both was
// faster, by how much, and what is predicted of that; by a calibration that saw no run of their model, where there is
// one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/io/presets/measurements.h"
#include "engine/io/presets/preset_library.h"
#include "engine/scenario/scenario.h"

namespace roofscape::evidence {

enum class PlanChange : std::uint8_t {
  schedule,       // and virtual stages
  mesh,           // degrees, on as many chips; what shards its state
  recomputation,  // checkpointing
  batch,          // sequences of a step or of a microbatch
  length,         // of a sequence, with the batch that goes with it
  format,         // of numbers
  chips,          // more data-parallel ranks
};
inline constexpr engine::EnumTable<PlanChange> kPlanChangeIds{"schedule", "mesh",   "recomputation", "batch",
                                                              "length",   "format", "chips"};

// The one thing in which two training plans differ; none if there are several, or nothing.
std::optional<PlanChange> change_between(const engine::Scenario&, const engine::Scenario&);

struct OneChangePair {
  std::string first, second;  // ids of the runs
  PlanChange change{};
  double measured = 0, predicted = 0;  // ln of the second's tokens per chip and second over the first's
};
std::vector<OneChangePair> one_change_pairs(std::span<const io::Measurement>, const io::PresetLibrary&, engine::Mode);

// Pairs whose rates differ by less have no direction to predict.
inline constexpr double kApart = 0.05;

struct PairSummary {
  std::size_t pairs = 0;
  std::size_t apart = 0,
              right = 0;  // that differ by more than kApart, and of them those predicted to differ that way
  double error = 0;       // median of |predicted - measured|, of the ratio of both rates
};
PairSummary pair_summary(std::span<const OneChangePair>);
PairSummary pair_summary(std::span<const OneChangePair>, PlanChange);

}  // namespace roofscape::evidence
