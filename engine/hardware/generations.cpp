#include "engine/hardware/generations.h"

#include <algorithm>
#include <cmath>

namespace roofscape::engine {
namespace {

// Least squares of log2(value) over the year, through the best chip of each year.
void fit(RateHistory& history) {
  std::vector<Generation> best;
  for (const Generation& g : history.chips)
    if (best.empty() || best.back().year != g.year)
      best.push_back(g);
    else
      best.back().value = std::max(best.back().value, g.value);
  constexpr std::size_t kFewestYears = 3;
  if (best.size() < kFewestYears) return;
  const auto n = static_cast<double>(best.size());
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const Generation& g : best) {
    const double year = g.year - best.front().year, log = std::log2(g.value);
    x += year;
    y += log;
    xx += year * year;
    xy += year * log;
  }
  const double slope = (n * xy - x * y) / (n * xx - x * x);  // doublings a year
  if (!(slope > 0)) return;
  history.doubling_years = 1 / slope;
  history.at_first_year = std::exp2((y - slope * x) / n);
}

}  // namespace

std::optional<double> rate_of(const Chip& chip, Rate rate) {
  const auto of = [&](ChipField field) { return chip[field].value; };
  switch (rate) {
    case Rate::fp32:
      return of(ChipField::peak_fp32_vector_flops_per_s);
    case Rate::half: {
      const auto bf16 = of(ChipField::peak_bf16_dense_flops_per_s);
      return bf16 ? bf16 : of(ChipField::peak_fp16_dense_flops_per_s);
    }
    case Rate::fp8:
      return of(ChipField::peak_fp8_dense_flops_per_s);
    case Rate::fp4:
      return of(ChipField::peak_fp4_dense_flops_per_s);
    case Rate::hbm:
      return of(ChipField::hbm_bytes_per_s);
    case Rate::links: {
      if (chip.interconnect == Interconnect::switched) return of(ChipField::scaleup_bytes_per_s_per_chip_oneway);
      const auto links = of(ChipField::ici_links_per_chip), each = of(ChipField::ici_bytes_per_s_per_link_oneway);
      return links && each ? std::optional<double>(*links * *each) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::array<RateHistory, kRateCount> generations(std::span<const Chip> chips) {
  std::array<RateHistory, kRateCount> out;
  for (std::size_t r = 0; r < kRateCount; ++r) {
    RateHistory& history = out[r];
    history.rate = static_cast<Rate>(r);
    for (std::size_t i = 0; i < chips.size(); ++i) {
      const auto year = chips[i][ChipField::launch_year].value, value = rate_of(chips[i], history.rate);
      if (year && value && *value > 0) history.chips.push_back({i, static_cast<int>(*year), *value});
    }
    std::stable_sort(history.chips.begin(), history.chips.end(), [](const Generation& a, const Generation& b) {
      return a.year != b.year ? a.year < b.year : a.value < b.value;
    });
    fit(history);
  }
  return out;
}

}  // namespace roofscape::engine
