// Keys and values against weights on a decoding chip, along the batch or along the length of the sequences: where the
// cache is as large as the weights, and where the memory is full (scaling book, chapter 7). Every point is a scenario
// that evaluate() would give these numbers; the mesh stays as it is.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

enum class CacheAxis : std::uint8_t { batch, length };
inline constexpr EnumTable<CacheAxis> kCacheAxisIds{"batch", "length"};

struct CachePoint {
  double at = 0;  // sequences of the batch, or tokens of a sequence
  double kv_bytes = 0, weight_bytes = 0, chip_bytes = 0;
  bool fits = false;
};

struct CacheLine {
  double held = 0;                 // what is the same along it: tokens of a sequence, or sequences of the batch
  bool own = false;                // the scenario's
  std::vector<CachePoint> points;  // by rising `at`
  double equal = 0;                // the first whole number with a cache no smaller than the weights; 0: nowhere
  double crossing = 0;             // where the two are the same, between whole numbers
  double last = 0;                 // the last that fits; 0: none
};

struct CacheStudy {
  CacheAxis axis = CacheAxis::batch;
  double own = 0;  // where the scenario is on the axis
  double kv_bytes = 0, weight_bytes = 0, capacity_bytes = 0;
  std::vector<CacheLine> lines;  // by rising `held`; empty: nothing is served, or figures are not known
};

CacheStudy cache_growth(const Scenario&, CacheAxis);

// The scenario with sequences that end at about so many tokens, prompts and outputs in the same proportion as they
// are.
Scenario with_length(const Scenario&, double tokens);

}  // namespace roofscape::engine
