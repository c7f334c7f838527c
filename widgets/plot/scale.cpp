#include "widgets/plot/scale.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "widgets/plot/ticks.h"

namespace roofscape::widgets {
namespace {

constexpr double kLeastLog = 1e-9;  // a repaired logarithmic axis shows nine decades
constexpr double kLargestPosition = 1e6;

void repair(ScaleKind kind, double& from, double& to) {
  if (!std::isfinite(from)) from = std::isfinite(to) ? to - 1 : 0;
  if (!std::isfinite(to)) to = from + 1;
  if (kind == ScaleKind::linear) {
    if (from == to) {
      const double half = from == 0 ? 0.5 : std::abs(from) * 0.1;
      from -= half;
      to += half;
    }
    return;
  }
  if (from <= 0 && to <= 0) from = kLeastLog, to = 1;
  if (from <= 0) from = to * kLeastLog;
  if (to <= 0) to = from * kLeastLog;
  if (from == to) {
    from /= 2;
    to *= 2;
  }
}

}  // namespace

Scale::Scale(ScaleKind kind, double from, double to, double begin, double end)
    : kind_(kind), from_(from), to_(to), begin_(begin), end_(end), t_from_(0), t_to_(1) {
  repair(kind_, from_, to_);
  if (!std::isfinite(begin_)) begin_ = 0;
  if (!std::isfinite(end_)) end_ = begin_ + 1;
  t_from_ = transform(from_);
  t_to_ = transform(to_);
}

double Scale::transform(double value) const {
  switch (kind_) {
    case ScaleKind::log2:
      return std::log2(value);
    case ScaleKind::log10:
      return std::log10(value);
    case ScaleKind::linear:
      break;
  }
  return value;
}

double Scale::untransform(double t) const {
  switch (kind_) {
    case ScaleKind::log2:
      return std::exp2(t);
    case ScaleKind::log10:
      return std::pow(10.0, t);
    case ScaleKind::linear:
      break;
  }
  return t;
}

double Scale::position(double value) const {
  if (value == from_) return begin_;
  if (value == to_) return end_;
  // Zero and below lie infinitely far out on a logarithmic axis.
  if (logarithmic() && !(value > 0)) {
    if (std::isnan(value)) return value;
    return t_from_ < t_to_ ? begin_ - std::copysign(kLargestPosition, end_ - begin_)
                           : end_ + std::copysign(kLargestPosition, end_ - begin_);
  }
  return begin_ + (transform(value) - t_from_) / (t_to_ - t_from_) * (end_ - begin_);
}

double Scale::value(double position) const {
  if (position == begin_ || begin_ == end_) return from_;
  if (position == end_) return to_;
  return untransform(t_from_ + (position - begin_) / (end_ - begin_) * (t_to_ - t_from_));
}

float Scale::operator()(double value) const {
  const double p = position(value);
  return std::isnan(p) ? static_cast<float>(p)
                       : static_cast<float>(std::clamp(p, -kLargestPosition, kLargestPosition));
}

bool Scale::contains(double value) const { return value >= std::min(from_, to_) && value <= std::max(from_, to_); }

Scale Scale::zoomed(double about, double factor) const {
  if (!(factor > 0) || !std::isfinite(factor)) return *this;
  return {kind_, value(about + (begin_ - about) / factor), value(about + (end_ - about) / factor), begin_, end_};
}

Scale rounded(const Scale& s, int about_ticks) {
  double low = std::min(s.from(), s.to()), high = std::max(s.from(), s.to());
  if (s.kind() == ScaleKind::linear) {
    const double step = tick_step(high - low, about_ticks);
    low = std::floor(low / step + 1e-9) * step;
    high = std::ceil(high / step - 1e-9) * step;
  } else if (s.kind() == ScaleKind::log2) {
    low = std::exp2(std::floor(std::log2(low) + 1e-9));
    high = std::exp2(std::ceil(std::log2(high) - 1e-9));
  } else {
    low = std::pow(10.0, std::floor(std::log10(low) + 1e-9));
    high = std::pow(10.0, std::ceil(std::log10(high) - 1e-9));
  }
  if (s.from() > s.to()) std::swap(low, high);
  return {s.kind(), low, high, s.begin(), s.end()};
}

}  // namespace roofscape::widgets
