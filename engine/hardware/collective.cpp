#include "engine/hardware/collective.h"

#include <cstddef>

#include "engine/hardware/switched_collective.h"
#include "engine/hardware/torus_collective.h"

namespace roofscape::engine {

namespace {

constexpr std::size_t at(int level) { return static_cast<std::size_t>(level); }

// The slowest of the levels that a group of several nodes spans, `rate` of each.
template <Scalar S, class F>
S slowest(const AxisLinks& links, const ChipRates<S>& chip, F&& rate) {
  S least{};
  bool any = false;
  const auto consider = [&](const S& w) {
    least = any ? min(least, w) : w;
    any = true;
  };
  if (links.inside_node > 1) consider(level_bandwidth(constant<S>(links.inside_node), constant<S>(1), chip.nvlink));
  for (int i = 0; i < links.level_count; ++i)
    if (links.levels[at(i)].children > 1) consider(rate(links.levels[at(i)], chip.levels[at(i)]));
  return any ? least : chip.levels[0];
}

template <Scalar S>
S level_rate(const LevelLinks& level, const S& link) {
  return level_bandwidth(constant<S>(level.children), constant<S>(level.groups), link);
}

}  // namespace

template <Scalar S>
S gather_bandwidth(const AxisLinks& links, const S& torus_axes, const ChipRates<S>& chip) {
  switch (links.tier) {
    case LinkTier::ici: return torus_gather_bandwidth(torus_axes, chip.ici_axis);
    case LinkTier::dcn: return chip.dcn;
    case LinkTier::nvlink: return level_bandwidth(constant<S>(links.inside_node), constant<S>(1), chip.nvlink);
    case LinkTier::fabric: {
      if (links.level_count > 0) return slowest(links, chip, level_rate<S>);
      const S fabric =
          level_bandwidth(constant<S>(links.across_nodes), constant<S>(links.groups_a_node), chip.node);
      if (links.inside_node == 1) return fabric;
      return min(level_bandwidth(constant<S>(links.inside_node), constant<S>(1), chip.nvlink), fabric);
    }
    case LinkTier::none: break;
  }
  return constant<S>(0);
}

bool reduces_in_network(const AxisLinks& links) {
  for (int i = 0; i < links.level_count; ++i)
    if (links.levels[at(i)].reduces && links.levels[at(i)].children > 1) return true;
  return false;
}

template <Scalar S>
S reduce_bandwidth(const AxisLinks& links, const ChipRates<S>& chip) {
  return slowest(links, chip, [](const LevelLinks& level, const S& link) {
    return level.reduces ? constant<S>(2) * link / constant<S>(level.groups) : level_rate(level, link);
  });
}

int binding_level(const AxisLinks& links, const ChipRates<double>& chip) {
  if (links.level_count == 0) return -1;
  const double least = gather_bandwidth(links, 1.0, chip);
  for (int i = links.level_count - 1; i >= 0; --i)
    if (links.levels[at(i)].children > 1 && level_rate(links.levels[at(i)], chip.levels[at(i)]) <= least) return i;
  return -1;
}

template <Scalar S>
S slowest_link(const AxisLinks& links, const ChipRates<S>& chip) {
  if (links.tier == LinkTier::nvlink) return chip.nvlink;
  S least = links.level_count > 0 ? chip.levels[0] : chip.node;
  for (int i = 1; i < links.level_count; ++i)
    if (links.levels[at(i)].children > 1) least = min(least, chip.levels[at(i)]);
  return links.inside_node > 1 ? min(least, chip.nvlink) : least;
}

template <Scalar S>
S exchange_time(const AxisLinks& links, const S& bytes, const ChipRates<S>& chip) {
  if (links.tier == LinkTier::ici) {
    // n ranks send n V; the middle of the longest side decides: n V side / (4 n W).
    const S ranks = constant<S>(links.degree);
    const S side = links.torus_axes == 1 ? ranks : sqrt(ranks);
    return bytes * side / (constant<S>(4) * chip.ici_axis);
  }
  const double n_in = links.inside_node, n_out = links.across_nodes;
  const S inside = constant<S>((n_in - 1) / n_in) * bytes / chip.nvlink;
  if (links.tier == LinkTier::nvlink) return inside;
  const double node_size = n_in * links.groups_a_node;  // all of a node's chips send through its links
  const auto leaving = [&](double share, double senders, const S& link) {
    return constant<S>(share * senders) * bytes / link;
  };
  S longest = leaving((n_out - 1) / n_out, node_size, links.level_count > 0 ? chip.levels[0] : chip.node);
  for (int i = 1; i < links.level_count; ++i) {
    const LevelLinks& level = links.levels[at(i)];
    if (level.children > 1)
      longest = max(longest, leaving(1 - double(level.below_child) / links.degree,
                                     double(level.below_child) * level.groups, chip.levels[at(i)]));
  }
  return links.inside_node == 1 ? longest : max(inside, longest);
}

template <Scalar S>
S send_bandwidth(const AxisLinks& links, const ChipRates<S>& chip) {
  switch (links.tier) {
    case LinkTier::ici: return one_direction(chip.ici_axis);
    case LinkTier::dcn: return chip.dcn;
    case LinkTier::nvlink: return chip.nvlink;
    case LinkTier::fabric: {
      const S node = links.level_count > 0 ? chip.levels[0] : chip.node;
      S rate = node / constant<S>(links.inside_node * links.groups_a_node);
      // Of the ranks below a child of a higher level one sends on to the next child.
      for (int i = 1; i < links.level_count; ++i)
        if (const LevelLinks& level = links.levels[at(i)]; level.children > 1)
          rate = min(rate, chip.levels[at(i)] / constant<S>(level.groups));
      return rate;
    }
    case LinkTier::none: break;
  }
  return constant<S>(0);
}

template double gather_bandwidth<double>(const AxisLinks&, const double&, const ChipRates<double>&);
template Traced gather_bandwidth<Traced>(const AxisLinks&, const Traced&, const ChipRates<Traced>&);
template double reduce_bandwidth<double>(const AxisLinks&, const ChipRates<double>&);
template Traced reduce_bandwidth<Traced>(const AxisLinks&, const ChipRates<Traced>&);
template double slowest_link<double>(const AxisLinks&, const ChipRates<double>&);
template Traced slowest_link<Traced>(const AxisLinks&, const ChipRates<Traced>&);
template double exchange_time<double>(const AxisLinks&, const double&, const ChipRates<double>&);
template Traced exchange_time<Traced>(const AxisLinks&, const Traced&, const ChipRates<Traced>&);
template double send_bandwidth<double>(const AxisLinks&, const ChipRates<double>&);
template Traced send_bandwidth<Traced>(const AxisLinks&, const ChipRates<Traced>&);

}  // namespace roofscape::engine
