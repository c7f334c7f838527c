#include "widgets/figures/common/parallel_axes_parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace roofscape::widgets::parallel {

namespace {

// Of ink, the pieces of lines that are neither of the best nor the plan's: one drawn for all that share it, a little
// stronger the more they are, and never so strong as to look like one of the best.
constexpr float kFaintInk = 0.05f, kFaintMost = 0.2f;
constexpr float kCrowd = 100;          // pieces between two axes, of more each is fainter
constexpr double kLeastBright = 0.45;  // of the shades, the last of the best

std::vector<Scaled> scaled_axes(const ParallelAxes& p) {
  std::vector<Scaled> out;
  for (std::size_t i = 0; i < p.axes.size(); ++i) {
    Scaled d{&p.axes[i], i, {}};
    for (const auto* lines : {&p.faint, &p.bright})
      for (const ParallelLine& l : *lines) d.values.push_back(l.values[i]);
    if (p.present) d.values.push_back(p.present->values[i]);
    if (d.values.empty()) d.values.push_back(1);
    std::sort(d.values.begin(), d.values.end());
    d.values.erase(std::unique(d.values.begin(), d.values.end()), d.values.end());
    if (d.axis->continuous) d.values = {d.values.front(), d.values.back()};
    out.push_back(std::move(d));
  }
  return out;
}

// Of the differences in what lines are coloured by, the share that the choice on this axis accounts for.
double effect_of(const Scaled& d, const Scaled& by, const ParallelAxes& p) {
  struct Group {
    double n = 0, sum = 0;
  };
  std::map<double, Group> groups;
  double n = 0, sum = 0, squares = 0;
  for (const auto* lines : {&p.faint, &p.bright})
    for (const ParallelLine& l : *lines) {
      const double value = by.place(l.values[by.at]);
      Group& g = groups[l.values[d.at]];
      g.n += 1, g.sum += value;
      n += 1, sum += value, squares += value * value;
    }
  const double all = n > 0 ? squares - sum * sum / n : 0;
  if (!(all > 0)) return 0;
  double between = -sum * sum / n;
  for (const auto& [value, g] : groups) between += g.sum * g.sum / g.n;
  return between / all;
}

// What decides most stands next to what it decides.
void order_by_effect(std::vector<Scaled>& axes, const Scaled& by, const ParallelAxes& p) {
  const auto choices =
      std::stable_partition(axes.begin(), axes.end(), [](const Scaled& d) { return !d.axis->continuous; });
  std::vector<std::pair<double, Scaled>> ranked;
  for (auto it = axes.begin(); it != choices; ++it) ranked.emplace_back(effect_of(*it, by, p), *it);
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(ranked.begin(), ranked.end(), axes.begin(), [](const auto& r) { return r.second; });
}

}  // namespace

std::vector<double> Scaled::levels() const {
  if (values.size() < 2) return {};
  if (!axis->continuous) return {values.begin() + 1, values.end() - 1};
  std::vector<double> out;
  const double low = values.front(), high = values.back();
  const double unit = std::pow(10, std::floor(std::log10(axis->logarithmic ? low : high)));
  if (!(low > 0) && axis->logarithmic) return {};
  if (axis->logarithmic) {
    for (double decade = unit; decade < high; decade *= 10)
      for (const double step : {1.0, 2.0, 5.0}) out.push_back(step * decade);
  } else {
    const double step = (high / unit >= 5 ? 2 : high / unit >= 2 ? 1 : 0.5) * unit;
    for (double v = step; v < high; v += step) out.push_back(v);
  }
  std::erase_if(out, [&](double v) { return v <= low || v >= high; });
  return out;
}

double Scaled::place(double v) const {
  const double low = values.front(), high = values.back();
  if (!(high > low)) return 0.5;
  return axis->logarithmic ? std::log(v / low) / std::log(high / low) : (v - low) / (high - low);
}

double Scaled::place_of(const ParallelLine& l) const { return std::clamp(place(l.values[at]), 0.0, 1.0); }

std::vector<Scaled> ordered_axes(const ParallelAxes& p) {
  std::vector<Scaled> axes = scaled_axes(p);
  if (axes.empty()) return axes;
  const Scaled by = axes[p.colour_axis];
  order_by_effect(axes, by, p);
  return axes;
}

std::string round_words(std::string words) {
  const std::size_t point = words.find('.');
  if (point == std::string::npos) return words;
  std::size_t end = point + 1;
  while (end < words.size() && words[end] >= '0' && words[end] <= '9') ++end;
  std::size_t keep = end;
  while (keep > point && (words[keep - 1] == '0' || words[keep - 1] == '.')) --keep;
  return words.erase(keep, end - keep);
}

BestShades::BestShades(const Theme& theme, const ParallelAxes& p, const std::vector<Scaled>& axes)
    : shades_(theme),
      by_(*std::find_if(axes.begin(), axes.end(), [&](const Scaled& d) { return d.at == p.colour_axis; })),
      low_is_best_(p.low_is_best) {
  for (const ParallelLine& line : p.bright) {
    const double place = by_.place(line.values[by_.at]);
    lowest_ = std::min(lowest_, place), highest_ = std::max(highest_, place);
  }
}

Colour BestShades::operator()(const ParallelLine& l) const {
  const double place = highest_ > lowest_ ? (by_.place(l.values[by_.at]) - lowest_) / (highest_ - lowest_)
                       : low_is_best_     ? 0
                                          : 1;
  return shades_(kLeastBright + (1 - kLeastBright) * (low_is_best_ ? 1 - place : place));
}

float faint_width(const Canvas& canvas, const Theme& theme) {
  return std::max(canvas.px(0.8f), theme.data_width * canvas.em() * 0.35f);
}

float bold_width(const Canvas& canvas, const Theme& theme, const ParallelLine& l) {
  return theme.data_width * canvas.em() * (l.index == 0 ? 1.3f : 0.8f);
}

float faint_ink(int n, std::size_t pieces) {
  const float crowd = std::clamp(std::sqrt(kCrowd / static_cast<float>(pieces + 1)), 0.5f, 1.0f);
  return std::min(kFaintMost, crowd * kFaintInk * (1 + std::log2(static_cast<float>(n)) / 2));
}

}  // namespace roofscape::widgets::parallel
