#include "engine/hardware/collective.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "engine/hardware/switched_collective.h"
#include "engine/hardware/torus_collective.h"

namespace roofscape::engine {

namespace {

constexpr std::size_t at(int level) { return static_cast<std::size_t>(level); }
constexpr std::string_view kPlaced = "placement of the mesh on the links";

// The integers of a placement as the formulas name them: ranks and children of a group, by mesh axis and level.
template <Scalar S>
S count_of(Q q, int index, double count, const S& beside) {
  return input_leaf<S>(trace_of(beside), q, index, count, kPlaced);
}
constexpr int of_level(const AxisLinks& links, int level) { return level * kAxisCount + links.axis; }

template <Scalar S>
S inside_rate(const AxisLinks& links, const ChipRates<S>& chip) {
  const S ranks = count_of(Q::ranks_inside, links.axis, links.inside_node, chip.nvlink);
  return named(Q::inside_rate, links.axis, level_bandwidth(ranks, constant<S>(1), chip.nvlink));
}
template <Scalar S>
S across_rate(const AxisLinks& links, int level, double children, double groups, const S& link) {
  const int index = of_level(links, level);
  return named(Q::level_rate, index,
               level_bandwidth(count_of(Q::level_children, index, children, link),
                               count_of(Q::level_sharing, index, groups, link), link));
}
template <Scalar S>
S across_rate(const AxisLinks& links, int level, const S& link) {
  return across_rate(links, level, links.levels[at(level)].children, links.levels[at(level)].groups, link);
}

// The slowest of the levels that a group of several nodes spans, `rate` of each.
template <Scalar S, class F>
S slowest(const AxisLinks& links, const ChipRates<S>& chip, F&& rate) {
  S least{};
  bool any = false;
  const auto consider = [&](const S& w) {
    least = any ? min(least, w) : w;
    any = true;
  };
  if (links.inside_node > 1) consider(inside_rate(links, chip));
  for (int i = 0; i < links.level_count; ++i)
    if (links.levels[at(i)].children > 1) consider(rate(i, chip.levels[at(i)]));
  return any ? least : chip.levels[0];
}

// One link of a torus axis, one way.
template <Scalar S>
S torus_link(const AxisLinks& links, const ChipRates<S>& chip) {
  return links.slice_closes ? one_direction(chip.ici_axis) : S(chip.ici_axis);
}

template <Scalar S>
S torus_rate(const AxisLinks& links, const S& torus_axes, int ranks, const ChipRates<S>& chip) {
  const S port = torus_gather_bandwidth(torus_axes, chip.ici_axis);
  if (links.open_axes == 0) return port;
  return torus_open_bandwidth(port, count_of(Q::group_ranks, links.axis, ranks, chip.ici_axis));
}
// The data-centre links of all ranks that a group has in a slice.
template <Scalar S>
S slices_rate(const AxisLinks& links, const ChipRates<S>& chip) {
  return count_of(Q::ranks_in_slice, links.axis, links.inside_slice, chip.dcn) * chip.dcn;
}

// AllToAll over a torus: n ranks send n V; sides are taken as even.
template <Scalar S>
S torus_exchange(const AxisLinks& links, int degree, const S& bytes, const ChipRates<S>& chip) {
  const S ranks = count_of(Q::group_ranks, links.axis, degree, chip.ici_axis);
  const double n = degree;
  const double side = links.torus_axes == 1 ? n : links.torus_axes == 2 ? std::sqrt(n) : std::cbrt(n);
  const S longest = links.torus_axes == 1 ? ranks : count_of(Q::group_side, links.axis, side, chip.ici_axis);
  return torus_middle_time(ranks * bytes, longest, ranks,
                           links.open_axes == 0 ? S(chip.ici_axis) : torus_link(links, chip));
}
// What a rank sends to the other `parts` of a group.
template <Scalar S>
S share_sent(const S& bytes, const S& parts) {
  return bytes * (parts - constant<S>(1)) / parts;
}
template <Scalar S>
S exchange_inside(const AxisLinks& links, const S& bytes, const ChipRates<S>& chip) {
  return share_sent(bytes, count_of(Q::ranks_inside, links.axis, links.inside_node, chip.nvlink)) / chip.nvlink;
}
// All chips below a link of the fabric send through it what goes elsewhere.
template <Scalar S>
S exchange_across(const AxisLinks& links, const S& bytes, const ChipRates<S>& chip) {
  const bool levels = links.level_count > 0;
  const S& first = levels ? chip.levels[0] : chip.node;
  const double node_size = double(links.inside_node) * links.groups_a_node;
  S longest = share_sent(bytes, count_of(Q::group_nodes, links.axis, links.across_nodes, first)) *
              count_of(Q::chips_below, of_level(links, 0), node_size, first) / first;
  for (int i = 1; i < links.level_count; ++i) {
    const LevelLinks& level = links.levels[at(i)];
    const S& link = chip.levels[at(i)];
    if (level.children <= 1) continue;
    const int index = of_level(links, i);
    const S elsewhere = constant<S>(1) - count_of(Q::ranks_below, index, level.below_child, link) /
                                             count_of(Q::group_ranks, links.axis, links.degree, link);
    longest =
        max(longest, elsewhere * count_of(Q::chips_below, index, double(level.below_child) * level.groups, link) *
                         bytes / link);
  }
  return longest;
}
// Every rank of a group that spans slices has a data-centre link of its own.
template <Scalar S>
S exchange_slices(const AxisLinks& links, const S& bytes, const ChipRates<S>& chip) {
  return share_sent(bytes, count_of(Q::group_slices, links.axis, links.slices, chip.dcn)) / chip.dcn;
}

}  // namespace

template <Scalar S>
S gather_bandwidth(const AxisLinks& links, const S& torus_axes, const ChipRates<S>& chip) {
  switch (links.tier) {
    case LinkTier::ici:
      return torus_rate(links, torus_axes, links.degree, chip);
    case LinkTier::dcn:
      if (links.torus_axes == 0) return chip.dcn;
      return constant<S>(1) / (constant<S>(1) / named(Q::inside_rate, links.axis,
                                                      torus_rate(links, torus_axes, links.inside_slice, chip)) +
                               constant<S>(1) / slices_rate(links, chip));
    case LinkTier::nvlink:
      return inside_rate(links, chip);
    case LinkTier::fabric: {
      if (links.level_count > 0)
        return slowest(links, chip, [&](int level, const S& link) { return across_rate(links, level, link); });
      const S fabric = across_rate(links, 0, links.across_nodes, links.groups_a_node, chip.node);
      return links.inside_node == 1 ? fabric : min(inside_rate(links, chip), fabric);
    }
    case LinkTier::none:
      break;
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
  return slowest(links, chip, [&](int level, const S& link) {
    const LevelLinks& l = links.levels[at(level)];
    if (!l.reduces) return across_rate(links, level, link);
    return constant<S>(2) * link / count_of(Q::level_sharing, of_level(links, level), l.groups, link);
  });
}

int binding_level(const AxisLinks& links, const ChipRates<double>& chip) {
  if (links.level_count == 0) return -1;
  const double least = gather_bandwidth(links, 1.0, chip);
  for (int i = links.level_count - 1; i >= 0; --i)
    if (links.levels[at(i)].children > 1 && across_rate(links, i, chip.levels[at(i)]) <= least) return i;
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
S exchange_time(const AxisLinks& links, const S& bytes, const S& across, const ChipRates<S>& chip) {
  switch (links.tier) {
    case LinkTier::ici:
      return torus_exchange(links, links.degree, bytes, chip);
    case LinkTier::dcn: {
      const S slices = exchange_slices(links, bytes, chip);
      return links.torus_axes == 0 || links.inside_slice == 1
                 ? slices
                 : torus_exchange(links, links.inside_slice, bytes, chip) + slices;
    }
    case LinkTier::nvlink:
      return exchange_inside(links, bytes, chip);
    default:
      break;
  }
  const S inside = exchange_inside(links, bytes, chip), between = exchange_across(links, across, chip);
  return links.inside_node == 1 ? between : max(inside, between);
}
template <Scalar S>
S exchange_time(const AxisLinks& links, const S& bytes, const ChipRates<S>& chip) {
  return exchange_time(links, bytes, bytes, chip);
}

template <Scalar S>
TwoTiers<S> gather_tiers(const AxisLinks& links, const ChipRates<S>& chip) {
  const S one = constant<S>(1);
  AxisLinks outside = links;
  outside.inside_node = 1;  // leaves the fabric
  const S fabric =
      links.level_count > 0
          ? slowest(outside, chip, [&](int level, const S& link) { return across_rate(links, level, link); })
          : across_rate(links, 0, links.across_nodes, links.groups_a_node, chip.node);
  return {one / inside_rate(links, chip), one / fabric};
}

template <Scalar S>
TwoTiers<S> exchange_tiers(const AxisLinks& links, const ChipRates<S>& chip) {
  const S one = constant<S>(1);
  // As exchange_inside and exchange_across: all chips below a link share it.
  const double node_size = double(links.inside_node) * links.groups_a_node;
  S across = across_rate(links, 0, links.across_nodes, node_size, links.level_count > 0 ? chip.levels[0] : chip.node);
  for (int i = 1; i < links.level_count; ++i)
    if (const LevelLinks& level = links.levels[at(i)]; level.children > 1)
      across = min(across, across_rate(links, i, double(links.degree) / level.below_child,
                                       double(level.below_child) * level.groups, chip.levels[at(i)]));
  return {one / inside_rate(links, chip), one / across};
}

AxisLinks links_in_node(const AxisLinks& links) {
  AxisLinks node;
  node.axis = links.axis;
  const bool fabric = links.tier == LinkTier::fabric && links.inside_node > 1;
  const bool dcn = links.tier == LinkTier::dcn && links.inside_slice > 1 && links.torus_axes > 0;
  if (!fabric && !dcn) return node;
  node = links;
  node.tier = fabric ? LinkTier::nvlink : LinkTier::ici;
  node.degree = fabric ? links.inside_node : links.inside_slice;
  node.across_nodes = node.slices = 1;
  node.levels = {};
  node.level_count = 0;
  return node;
}

template <Scalar S>
S send_bandwidth(const AxisLinks& links, const ChipRates<S>& chip) {
  switch (links.tier) {
    case LinkTier::ici:
      return torus_link(links, chip);
    case LinkTier::dcn:
      return chip.dcn;
    case LinkTier::nvlink:
      return chip.nvlink;
    case LinkTier::fabric: {
      const S& node = links.level_count > 0 ? chip.levels[0] : chip.node;
      S rate =
          node / count_of(Q::chips_below, of_level(links, 0), double(links.inside_node) * links.groups_a_node, node);
      // Of the ranks below a child of a higher level one sends on to the next child.
      for (int i = 1; i < links.level_count; ++i)
        if (const LevelLinks& level = links.levels[at(i)]; level.children > 1)
          rate = min(rate, chip.levels[at(i)] /
                               count_of(Q::level_sharing, of_level(links, i), level.groups, chip.levels[at(i)]));
      return rate;
    }
    case LinkTier::none:
      break;
  }
  return constant<S>(0);
}

namespace {
double side_of_torus(double ranks, int axes) {
  return axes == 1   ? ranks
         : axes == 2 ? std::sqrt(ranks)
         : axes == 3 ? std::cbrt(ranks)
                     : std::pow(ranks, 1.0 / axes);
}
}  // namespace

int collective_hops(const AxisLinks& links) {
  switch (links.tier) {
    case LinkTier::none:
      return 0;
    case LinkTier::ici: {
      const int axes = std::max(1, links.torus_axes);
      const int side = static_cast<int>(std::lround(side_of_torus(links.degree, axes)));
      return std::max(1, axes * (links.open_axes == 0 ? side / 2 : side - 1));
    }
    case LinkTier::nvlink:
    case LinkTier::dcn:
      return 1;
    case LinkTier::fabric:
      return links.inside_node > 1 ? 3 : 2;
  }
  return 1;
}

template double gather_bandwidth<double>(const AxisLinks&, const double&, const ChipRates<double>&);
template Traced gather_bandwidth<Traced>(const AxisLinks&, const Traced&, const ChipRates<Traced>&);
template double reduce_bandwidth<double>(const AxisLinks&, const ChipRates<double>&);
template Traced reduce_bandwidth<Traced>(const AxisLinks&, const ChipRates<Traced>&);
template double slowest_link<double>(const AxisLinks&, const ChipRates<double>&);
template Traced slowest_link<Traced>(const AxisLinks&, const ChipRates<Traced>&);
template double exchange_time<double>(const AxisLinks&, const double&, const ChipRates<double>&);
template Traced exchange_time<Traced>(const AxisLinks&, const Traced&, const ChipRates<Traced>&);
template double exchange_time<double>(const AxisLinks&, const double&, const double&, const ChipRates<double>&);
template Traced exchange_time<Traced>(const AxisLinks&, const Traced&, const Traced&, const ChipRates<Traced>&);
template TwoTiers<double> gather_tiers<double>(const AxisLinks&, const ChipRates<double>&);
template TwoTiers<Traced> gather_tiers<Traced>(const AxisLinks&, const ChipRates<Traced>&);
template TwoTiers<double> exchange_tiers<double>(const AxisLinks&, const ChipRates<double>&);
template TwoTiers<Traced> exchange_tiers<Traced>(const AxisLinks&, const ChipRates<Traced>&);
template double send_bandwidth<double>(const AxisLinks&, const ChipRates<double>&);
template Traced send_bandwidth<Traced>(const AxisLinks&, const ChipRates<Traced>&);

}  // namespace roofscape::engine
