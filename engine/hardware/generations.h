// How chips grew over the years: peak arithmetic by number type and the rates of memory and links, each against the
// year the chip was announced, with the time in which a rate doubles. What the memory wall is made of: arithmetic
// grows faster than the bytes that feed it (CS231n lecture on large-scale training; scaling book, chapter 1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/scenario/chip.h"

namespace roofscape::engine {

enum class Rate : std::uint8_t {
  fp32,  // vector units
  half,  // matrix units: bf16, or fp16 where there is no bf16
  fp8,
  fp4,    // matrix units
  hbm,    // bytes/s
  links,  // bytes/s of one chip to its neighbours, one way: NVLink and its like, or all ICI links
};
inline constexpr std::size_t kRateCount = kEnumCount<Rate>;
inline constexpr EnumTable<Rate> kRateIds{"fp32", "half", "fp8", "fp4", "hbm", "links"};
constexpr bool is_bandwidth(Rate rate) { return rate >= Rate::hbm; }

// Of one chip; absent where a figure it needs is not known.
std::optional<double> rate_of(const Chip&, Rate);

struct Generation {
  std::size_t chip = 0;  // index in what was given
  int year = 0;
  double value = 0;  // FLOP/s or bytes/s
};

struct RateHistory {
  Rate rate = Rate::half;
  std::vector<Generation> chips;  // by year, then by value
  // Of the line through the best chip of each year; three years at least, growing.
  std::optional<double> doubling_years;
  double at_first_year = 0;  // value of that line in the year of the first chip
};

// In the order of Rate; chips without a year or without the figure are left out.
std::array<RateHistory, kRateCount> generations(std::span<const Chip> chips);

}  // namespace roofscape::engine
