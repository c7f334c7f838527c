#include "widgets/plot/ticks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "widgets/canvas/number_format.h"

namespace roofscape::widgets {
namespace {

constexpr double kSlack = 1e-9;  // a tick that rounding put just outside its axis still belongs to it
constexpr int kMostTicks = 400;  // no request is worth more
constexpr int kFewTicks = 3;
constexpr int kPowerDigits = 3;   // of a power with a prefix: one is twice the other, so 1.05 M says which it is
constexpr double kShortAxis = 4;  // end over start of a logarithmic one

// 10^n as a literal of that power would be: pow(10, -3) need not be.
double power_of_ten(int n) { return n >= 0 ? std::pow(10.0, n) : 1.0 / std::pow(10.0, -n); }

std::string label_of(double value, TickLabels labels, int decimals, int significant = 6) {
  if (labels == TickLabels::si && std::abs(value) >= 1000)
    return format_si(value, "", {.trim_zeros = true, .significant = significant});
  if (labels == TickLabels::counts)
    for (const auto& [unit, letter] : {std::pair{1e12, "T"}, {1e9, "B"}, {1e6, "M"}})
      if (std::abs(value) >= unit)
        return format_significant(value / unit, significant, true) + std::string(kNarrowSpace) + letter;
  if (labels == TickLabels::duration) return format(value, engine::unit::seconds, {.trim_zeros = true});
  if (decimals >= 0) return format_fixed(value, decimals);
  return format_significant(value, 6, true);
}

void add_linear(double low, double high, const TickOptions& o, std::vector<Tick>& out) {
  const double step = tick_step(high - low, o.about);
  const int exponent = static_cast<int>(std::floor(std::log10(step) + kSlack));
  // Far from zero the steps may be finer than doubles are apart; then the ends must do.
  if (!(low + step > low) || !(high - step < high)) {
    for (const double v : {low, high}) out.push_back({v, true, label_of(v, o.labels, -1)});
    return;
  }
  const double first = std::ceil(low / step - kSlack), last = std::floor(high / step + kSlack);
  for (double k = first; k <= last && out.size() < kMostTicks; k += 1) {
    // Through an integer multiple, so that 3 * 0.1 is 0.3.
    const double mantissa = std::round(step / power_of_ten(exponent));
    const double v = exponent >= 0 ? k * mantissa * power_of_ten(exponent) : k * mantissa / power_of_ten(-exponent);
    const bool plain = o.labels == TickLabels::plain || std::abs(v) < 1000;
    const int decimals = plain && exponent > -7 && std::abs(v) < 1e15 ? std::max(0, -exponent) : -1;
    out.push_back({v, true, label_of(v, o.labels, v == 0 ? std::max(0, decimals) : decimals)});
  }
}

// 1-2-5 multiples across a logarithmic axis that has fewer than two decades marks on it.
void add_multiples(double low, double high, const TickOptions& o, std::vector<Tick>& out) {
  for (int n = static_cast<int>(std::floor(std::log10(low))); n <= static_cast<int>(std::ceil(std::log10(high))); ++n)
    for (const double m : {1.0, 2.0, 5.0}) {
      const double v = n >= 0 ? m * power_of_ten(n) : m / power_of_ten(-n);
      if (v >= low * (1 - kSlack) && v <= high * (1 + kSlack)) out.push_back({v, true, label_of(v, o.labels, -1)});
    }
}

void add_powers(const Scale& s, double low, double high, const TickOptions& o, std::vector<Tick>& out) {
  const bool ten = s.kind() == ScaleKind::log10;
  const auto log = [&](double v) { return ten ? std::log10(v) : std::log2(v); };
  const auto power = [&](int n) { return ten ? power_of_ten(n) : std::exp2(n); };
  const int first = static_cast<int>(std::ceil(log(low) - kSlack)),
            last = static_cast<int>(std::floor(log(high) + kSlack));
  const int every = std::max(1, (last - first + std::max(1, o.about)) / std::max(1, o.about));
  // Both ends are named where they can be; else powers are counted from zero, so that panning does not change which
  // are.
  const int anchor = last > first && (last - first) % every == 0 ? first : 0;
  for (int n = first; n <= last && out.size() < kMostTicks; ++n) {
    const bool major = ((n - anchor) % every + every) % every == 0;
    if (major)
      out.push_back({power(n), true, label_of(power(n), o.labels, -1, kPowerDigits)});
    else if (o.minors)
      out.push_back({power(n), false, {}});
  }
  if (!ten || !o.minors || every > 1) return;
  for (int n = first - 1; n <= last; ++n)
    for (int m = 2; m <= 9; ++m) {
      const double v = n >= 0 ? m * power_of_ten(n) : m / power_of_ten(-n);
      if (v > low && v < high) out.push_back({v, false, {}});
    }
}

}  // namespace

double tick_step(double span, int about) {
  if (!(span > 0) || !std::isfinite(span)) return 1;
  const double raw = span / std::clamp(about, 1, 100);
  const double decade = std::pow(10.0, std::floor(std::log10(raw)));
  const double ratio = raw / decade;
  return decade * (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10);
}

std::vector<Tick> ticks(const Scale& scale, const TickOptions& options) {
  TickOptions o = options;
  o.about = std::clamp(o.about, 1, 100);
  const double low = std::min(scale.from(), scale.to()), high = std::max(scale.from(), scale.to());
  std::vector<Tick> out;
  const auto majors = [&] { return std::count_if(out.begin(), out.end(), [](const Tick& t) { return t.major; }); };
  if (scale.logarithmic()) {
    add_powers(scale, low, high, o, out);
    if (majors() < 2) {
      out.clear();
      add_multiples(low, high, o, out);
    }
    // A short axis is nearly even, and two numbers are few to read it by.
    if (majors() < 2 || (majors() < kFewTicks && o.about >= kFewTicks && high < kShortAxis * low)) {
      out.clear();
      add_linear(low, high, o, out);
    }
  } else {
    add_linear(low, high, o, out);
  }
  for (int finer = o.about * 2; majors() < 2 && finer <= 100; finer *= 2) {
    out.clear();
    TickOptions fine = o;
    fine.about = finer;
    add_linear(low, high, fine, out);
  }
  std::sort(out.begin(), out.end(), [](const Tick& a, const Tick& b) { return a.value < b.value; });
  return out;
}

}  // namespace roofscape::widgets
