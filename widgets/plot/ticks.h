// Ticks: where an axis is marked and what the marks say. Linear axes use steps of 1, 2 or 5; logarithmic ones whole
// decades (or powers of two) with minors between, and below one decade 1-2-5 multiples. An axis is never empty: there
// are at least two labelled ticks wherever two fit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "widgets/plot/scale.h"

namespace roofscape::widgets {

struct Tick {
  double value = 0;
  bool major = true;
  std::string label;  // empty for minors; the unit is in the axis title, not here
};

enum class TickLabels : std::uint8_t {
  plain,     // 0.1, 10, 8192, 16 384
  si,        // 1 k, 10 T
  counts,    // 8192, 10 M, 10 B: of things that are counted, in billions rather than giga
  duration,  // of seconds, with their unit: 100 ns, 10 µs, 1 ms
};

struct TickOptions {
  int about = 6;  // majors to aim at; never more than twice this
  TickLabels labels = TickLabels::plain;
  bool minors = true;  // only logarithmic axes have them
};

// In ascending order of value, all inside the domain of the scale.
std::vector<Tick> ticks(const Scale& scale, const TickOptions& options = {});

// A step of 1, 2 or 5 times a power of ten that divides `span` into about `about` parts.
double tick_step(double span, int about);

}  // namespace roofscape::widgets
