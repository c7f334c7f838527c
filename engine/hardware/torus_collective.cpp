#include "engine/hardware/torus_collective.h"

#include <algorithm>

namespace roofscape::engine {

template <Scalar S>
S sum_of(const std::vector<S>& parts) {
  S sum = parts.empty() ? constant<S>(0) : parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) sum = sum + parts[i];
  return sum;
}

template <Scalar S>
S torus_ranks(std::span<const TorusAxis<S>> axes) {
  S ranks = axes.empty() ? constant<S>(1) : axes.front().size;
  for (std::size_t i = 1; i < axes.size(); ++i) ranks = ranks * axes[i].size;
  return ranks;
}

template <Scalar S>
S torus_hops(std::span<const TorusAxis<S>> axes) {
  std::vector<S> hops;
  const S one = constant<S>(1), two = constant<S>(2);
  for (const TorusAxis<S>& axis : axes) {
    if (!axis.wrapped)
      hops.push_back(axis.size - one);
    else
      hops.push_back(axis.n % 2 == 0 ? axis.size / two : (axis.size - one) / two);
  }
  return sum_of(hops);
}

template <Scalar S>
S torus_gather_time(const S& bytes, std::span<const TorusAxis<S>> axes, const S& ranks, const TorusLinks<S>& links) {
  const auto closed = std::count_if(axes.begin(), axes.end(), [](const auto& a) { return a.n > 1 && a.wrapped; });
  const auto lines = std::count_if(axes.begin(), axes.end(), [](const auto& a) { return a.n > 1 && !a.wrapped; });
  if (closed + lines == 0) return (bytes - bytes) / links.axis;
  const S rings = constant<S>(static_cast<double>(closed));
  if (lines == 0) return bytes / torus_gather_bandwidth(rings, links.axis);
  S port = constant<S>(static_cast<double>(lines)) * links.link;
  if (closed > 0) port = port + torus_gather_bandwidth(rings, links.axis);
  return bytes / torus_open_bandwidth(port, ranks);
}

template <Scalar S>
S torus_all_to_all_time(const S& bytes, std::span<const TorusAxis<S>> axes, const S& ranks,
                        const TorusLinks<S>& links) {
  S longest{};
  bool any = false, closed = true;
  for (const TorusAxis<S>& axis : axes) {
    if (axis.n <= 1) continue;
    longest = any ? max(longest, axis.size) : axis.size;
    closed = closed && axis.wrapped;
    any = true;
  }
  if (!any) return (bytes - bytes) / links.axis;
  return torus_middle_time(bytes, longest, ranks, closed ? links.axis : links.link);
}

template <Scalar S>
S ring_gather_link_bytes(const S& bytes, const S& ranks) {
  return bytes * (ranks - constant<S>(1)) / ranks;
}

template <Scalar S>
S shorter_way(const S& distance, const TorusAxis<S>& axis) {
  return axis.wrapped ? min(distance, axis.size - distance) : distance;
}

ROOFSCAPE_TORUS(, double)
ROOFSCAPE_TORUS(, Traced)

}  // namespace roofscape::engine
