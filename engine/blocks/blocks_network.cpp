// Networks: collectives over a torus and over switches, point to point, collectives under the arithmetic they feed.
#include <algorithm>
#include <map>

#include "engine/blocks/spec.h"
#include "engine/hardware/sharded_matmul.h"
#include "engine/hardware/switched_collective.h"
#include "engine/hardware/torus_collective.h"

namespace roofscape::engine::block_table {

namespace {

// Levels of a tree of switches, from the GPUs up.
constexpr std::string_view kTreeLevels[] = {"node", "cross", "spine", "core", "top"};

// The axes of an input list of sizes; `wrapped` has one flag for all, one for each, or none: all closed.
template <Scalar S>
std::vector<TorusAxis<S>> axes_of(BlockRun<S>& io, Q sizes) {
  const auto list = io.list(sizes);
  const auto n = io.integers(sizes);
  const auto& wrapped = io.value("wrapped").numbers;
  std::vector<TorusAxis<S>> axes;
  if (wrapped.size() > 1 && wrapped.size() != list.size())
    io.fail("wrapped", say("error.block.axes"), say("error.block.axes.remedy"));
  else
    for (std::size_t i = 0; i < list.size(); ++i)
      axes.push_back({list[i], n[i], wrapped.empty() || wrapped[wrapped.size() == 1 ? 0 : i] > 0.5});
  return axes;
}

template <Scalar S>
void collective(BlockRun<S>& io) {
  const std::vector<TorusAxis<S>> axes = axes_of(io, Q::collective_axes);
  const S V = io[Q::collective_bytes], hop = io[Q::collective_hop];
  const TorusLinks<S> links{io[Q::ici_axis_bandwidth], io[Q::transfer_link], hop};
  io.out(Q::collective_hop_bytes, links.link * hop);
  if (axes.empty()) return io.rest_needs("axes");
  const std::string_view kind = io.choice("kind");
  const S ranks = io.out(Q::collective_ranks, torus_ranks<S>(axes));
  const S shard = io.out(Q::collective_shard, V / ranks);
  io.out(Q::collective_shard_time, shard / links.link);
  const S hops = io.out(Q::collective_hops, torus_hops<S>(axes));
  const S gather_latency = named(Q::collective_gather_latency, hops * hop);
  const bool all_to_all = kind == "all_to_all", reduces = kind == "all_reduce";
  const S once = named(Q::collective_once, all_to_all ? torus_all_to_all_time<S>(V, axes, ranks, links)
                                                      : torus_gather_time<S>(V, axes, ranks, links));
  const S bandwidth = io.out(Q::collective_bandwidth_time, reduces ? all_reduce_of_gather(once) : once);
  const S latency = io.out(Q::collective_latency, reduces ? all_reduce_of_gather(gather_latency) : gather_latency);
  const S time = io.out(Q::collective_time, max(bandwidth, latency));
  io.out(Q::collective_regime, bandwidth / latency);
  io.out(Q::collective_crossover, V * latency / bandwidth);
  io.out(Q::collective_rate, V / time);
  if (axes.size() == 1) {
    // A ring that sends in one direction only; and how far chunks of an AllToAll travel in one that sends in both.
    const S ring = io.out(Q::collective_ring_bytes, ring_gather_link_bytes(V, ranks));
    const S half = io.out(Q::collective_ring_a2a_bytes, ring_all_to_all_link_bytes(V, ranks));
    io.out(Q::collective_ring_ratio, half / ring);
    const S far = ranks - one<S>(), two = constant<S>(2);
    const bool even = axes[0].n % 2 == 0;
    const S right = io.out(Q::collective_hops_right, ring_chunk_hops(even ? ranks / two : far / two));
    const S left = io.out(Q::collective_hops_left, ring_chunk_hops(even ? ranks / two - one<S>() : far / two));
    io.out(Q::collective_chunk_hops, right + left);
  } else {
    io.without({Q::collective_ring_bytes, Q::collective_ring_a2a_bytes, Q::collective_ring_ratio,
                Q::collective_hops_right, Q::collective_hops_left, Q::collective_chunk_hops},
               "one_axis_only");
  }
}

// (1 - 1/Z)^k by halving, each power with its name: the chance that none of k choices hits a shard.
template <Scalar S>
S miss_after(BlockRun<S>& io, const S& miss, int choices, std::map<int, S>& known) {
  if (const auto found = known.find(choices); found != known.end()) return found->second;
  const S value = choices == 1
                      ? miss
                      : miss_after(io, miss, choices / 2, known) * miss_after(io, miss, choices - choices / 2, known);
  return known.emplace(choices, named(Q::gpucoll_miss, choices, value)).first->second;
}

template <Scalar S>
void collective_gpu(BlockRun<S>& io) {
  const S V = io[Q::collective_bytes], gpu = io[Q::nvlink_bandwidth];
  const S N = io[Q::gpucoll_gpus], M = io[Q::gpucoll_nodes], Y = io[Q::gpucoll_inner];
  const S node = io.out(Q::gpucoll_node_rate, io[Q::node_bandwidth] / io[Q::gpucoll_oversubscription]);
  const std::string_view kind = io.choice("kind");
  const bool all_to_all = kind == "all_to_all", reduces = kind == "all_reduce", sharp = io.flag("sharp");
  if (sharp && !reduces) return io.fail("sharp", say("error.block.sharp"), std::string("kind=all_reduce"));
  const S k = io[Q::gpucoll_choices], Z = io[Q::gpucoll_shards];
  const S estimate_hits = io.out(Q::gpucoll_hit_estimate, hit_estimate(k, Z));
  if (io.knows(Q::gpucoll_choices) && io.knows(Q::gpucoll_shards)) {
    std::map<int, S> known;
    const S miss = miss_after<S>(io, (Z - one<S>()) / Z, io.integer(Q::gpucoll_choices), known);
    io.out(Q::gpucoll_hit, hit_fraction(miss));
  } else {
    io.needs(Q::gpucoll_hit, io.knows(Q::gpucoll_choices) ? "shards" : "choices");
  }
  // The tree, from the GPUs up: as given, else one node, and nodes if there are several.
  std::vector<SwitchLevel<S>> levels;
  const auto degrees = io.list(Q::gpucoll_degrees), rates = io.list(Q::gpucoll_rates);
  if (degrees.size() != rates.size())
    return io.fail("level_bytes_per_s", say("error.block.levels"), say("error.block.levels.remedy"));
  for (std::size_t i = 0; i < degrees.size(); ++i) levels.push_back({degrees[i], rates[i]});
  if (levels.empty()) {
    if (io.integer(Q::gpucoll_gpus) > 1) levels.push_back({N, gpu});
    if (io.integer(Q::gpucoll_nodes) > 1) levels.push_back({M, node});
  }
  if (levels.empty() && !io.knows(Q::gpucoll_gpus)) return io.rest_needs("gpus");
  if (levels.empty()) return io.fail("nodes", say("error.block.nodes"), say("error.block.nodes.remedy"));
  for (const auto& level : levels)
    if (value_of(level.degree) < 2)
      return io.fail("level_degrees", say("error.block.one_child"), say("error.block.one_child.remedy"));
  // Children of every level over the whole tree: an AllToAll exchanges among all of them.
  std::vector<S> parts(levels.size());
  for (std::size_t i = levels.size(); i-- > 0;)
    parts[i] = named(Q::gpucoll_parts, static_cast<int>(i),
                     i + 1 == levels.size() ? levels[i].degree : levels[i].degree * parts[i + 1]);
  S below = one<S>();
  S time = constant<S>(0), slowest = constant<S>(0);
  std::vector<S> times;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const int at = static_cast<int>(i);
    const SwitchLevel<S>& level = levels[i];
    const S rate = io.out(Q::gpucoll_level_rate, at, level_bandwidth(level.degree, one<S>(), level.link));
    const S t =
        io.out(Q::gpucoll_level_time, at,
               all_to_all ? switch_all_to_all_time(V, parts[i], level.link) : level_gather_time(V, rate, below, Y));
    time = i == 0 ? t : max(time, t);
    slowest = i == 0 ? rate : min(slowest, rate);
    times.push_back(t);
    below = named(Q::gpucoll_below, at, below * level.degree);
  }
  const S ranks = io.out(Q::collective_ranks, below);
  io.out(Q::gpucoll_gather_rate, slowest);
  std::size_t binding = 0;
  for (std::size_t i = 1; i < times.size(); ++i)
    if (value_of(times[i]) > value_of(times[binding])) binding = i;
  std::size_t least = 0;
  for (std::size_t i = 1; i < levels.size(); ++i)
    if (value_of(level_bandwidth(levels[i].degree, one<S>(), levels[i].link)) <
        value_of(level_bandwidth(levels[least].degree, one<S>(), levels[least].link)))
      least = i;
  io.say("binding", std::string(kTreeLevels[value_of(V) > 0 ? binding : least]));
  const S once = named(Q::collective_once, time);
  const S ring = reduces ? all_reduce_of_gather(once) : once;
  const S sharp_time = io.out(Q::gpucoll_sharp, levels.size() == 1 ? sharp_all_reduce_time(V, levels[0].link) : once);
  if (reduces)
    io.out(Q::gpucoll_sharp_gain, ring / sharp_time);
  else
    io.without({Q::gpucoll_sharp_gain, Q::gpucoll_bus}, "all_reduce_only");
  // Hops as evaluate() counts them (collective_hops): one through the switches of a node, two more between nodes.
  const double crossed = levels.size() > 1 ? 3 : io.integer(Q::gpucoll_gpus) > 1 ? 1 : 2;
  const S hops = io.out(Q::collective_hops, constant<S>(crossed));
  const S latency = named(Q::collective_gather_latency, hops * io[Q::collective_hop]);
  const S floor = io.out(Q::collective_latency, reduces ? all_reduce_of_gather(latency) : latency);
  const S total = io.out(Q::collective_time, max(reduces && sharp ? sharp_time : ring, floor));
  io.out(Q::collective_rate, V / total);
  if (reduces) io.out(Q::gpucoll_bus, bus_bandwidth(V, ranks, total));
  const S measured = io.out(Q::gpucoll_bus_time, bus_all_reduce_time(V, ranks, io[Q::gpucoll_measured_bus]));
  io.out(Q::gpucoll_bus_rate, V / measured);
  // Rules of thumb for many ranks. A reduction is a gather and its reverse, unless the switches do it.
  const auto estimate = [&](const S& once_over) {
    return reduces && !sharp ? all_reduce_of_gather(once_over) : once_over;
  };
  const S in_node = io.out(Q::gpucoll_node_estimate,
                           all_to_all ? switch_all_to_all_estimate(V, N, gpu) : node_gather_estimate(V, gpu, Y, N));
  if (io.integer(Q::gpucoll_nodes) > 1) {
    const S fabric = io.out(Q::gpucoll_fabric_estimate, all_to_all ? switch_all_to_all_estimate(V, M, node)
                                                                   : fabric_gather_estimate(V, node, Y, N));
    const S both = named(Q::gpucoll_estimate_once, max(in_node, fabric));
    io.out(Q::gpucoll_estimate, estimate(both));
    io.out(Q::gpucoll_fabric_to_node, fabric / in_node);
  } else {
    io.out(Q::gpucoll_estimate, estimate(in_node));
    io.without({Q::gpucoll_fabric_estimate, Q::gpucoll_fabric_to_node}, "one_node");
  }
  if (all_to_all)
    io.out(Q::gpucoll_sparse_estimate, in_node * estimate_hits);
  else
    io.without(Q::gpucoll_sparse_estimate, "all_to_all_only");
  // What passes the switches: of a node up and down, and of the top of the tree.
  if (levels.size() == 1 && reduces && sharp) {
    io.out(Q::gpucoll_ingress, V * ranks);
    io.out(Q::gpucoll_egress, V * ranks);
    io.without(Q::gpucoll_top_egress, "one_node");
  } else if (all_to_all) {
    io.without({Q::gpucoll_ingress, Q::gpucoll_egress, Q::gpucoll_top_egress}, "not_of_all_to_all");
  } else {
    io.out(Q::gpucoll_ingress, V * one<S>());
    io.out(Q::gpucoll_egress, V * levels[0].degree);
    io.out(Q::gpucoll_top_egress, V * (levels.back().degree - one<S>()));
  }
}

template <Scalar S>
void p2p(BlockRun<S>& io) {
  const auto distances = io.list(Q::p2p_distances);
  const auto sizes = axes_of(io, Q::p2p_sizes);
  if (distances.empty()) return io.rest_needs("distance");
  if (!sizes.empty() && sizes.size() != distances.size())
    return io.fail("sizes", say("error.block.distances"), say("error.block.distances.remedy"));
  std::vector<S> hops;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    if (!sizes.empty() && value_of(distances[i]) >= value_of(sizes[i].size))
      return io.fail("distance", say("error.block.distance"), say("error.block.distance.remedy"));
    hops.push_back(named(Q::p2p_axis_hops, static_cast<int>(i),
                         sizes.empty() ? distances[i] : shorter_way(distances[i], sizes[i])));
  }
  const S total = io.out(Q::p2p_hops, sum_of(hops));
  const S first = io.out(Q::p2p_first, total * io[Q::collective_hop]);
  const S moving = io.out(Q::p2p_transfer, io[Q::collective_bytes] / (io[Q::transfer_link] * io[Q::p2p_ports]));
  io.out(Q::p2p_time, first + moving);
}

template <Scalar S>
void overlap(BlockRun<S>& io) {
  const S comms = io[Q::overlap_comms], math = io[Q::overlap_math];
  const S exposed = io.out(Q::overlap_exposed, overlapped_exposed_time(comms, math, io[Q::overlap_chunks]));
  const S blocking = io.out(Q::overlap_blocking, math + comms);
  const S overlapped = io.out(Q::overlap_time, math + exposed);
  io.out(Q::overlap_perfect, max(math, comms));
  io.out(Q::overlap_speedup, blocking / overlapped);
  io.out(Q::overlap_overhead, overlapped / math - one<S>());
  io.out(Q::overlap_measured_speedup, io[Q::overlap_given_blocking] / io[Q::overlap_given_overlapped]);
  io.out(Q::overlap_measured_overhead, io[Q::overlap_given_overlapped] / io[Q::overlap_given_alone] - one<S>());
}

}  // namespace

std::vector<BuildingBlock> network_blocks() {
  const auto bytes = [] { return number("bytes", Q::collective_bytes); };
  return {
      {"collective",
       "scaling book ch. 3 and 7",
       inputs(choice("kind", {"all_gather", "reduce_scatter", "all_reduce", "all_to_all"}), bytes(),
              wholes("axes", Q::collective_axes).entries(3), flags("wrapped"), axis_input(), link_input(),
              hop_input()),
       {out("ranks", Q::collective_ranks), out("time_s", Q::collective_time),
        out("bandwidth_s", Q::collective_bandwidth_time), out("latency_s", Q::collective_latency),
        out_word("regime", Q::collective_regime, 1, "bandwidth", "latency"), out("hops", Q::collective_hops),
        out("bytes_per_device", Q::collective_shard), out("hop_transfer_s", Q::collective_shard_time),
        out("crossover_bytes", Q::collective_crossover), out("hop_latency_bytes", Q::collective_hop_bytes),
        out("bytes_per_s", Q::collective_rate), out("one_way_ring_all_gather_link_bytes", Q::collective_ring_bytes),
        out("one_way_ring_all_to_all_link_bytes", Q::collective_ring_a2a_bytes),
        out("one_way_ring_ratio", Q::collective_ring_ratio),
        out("all_to_all_chunk_hops_right", Q::collective_hops_right),
        out("all_to_all_chunk_hops_left", Q::collective_hops_left),
        out("all_to_all_chunk_hops", Q::collective_chunk_hops)},
       collective<double>,
       collective<Traced>},
      {"collective-gpu",
       "scaling book ch. 12",
       inputs(choice("kind", {"all_gather", "reduce_scatter", "all_reduce", "all_to_all"}), bytes(),
              whole("gpus", Q::gpucoll_gpus).def(8).of("scaleup_domain_chips"),
              whole("nodes", Q::gpucoll_nodes).def(1),
              number("gpu_bytes_per_s", Q::nvlink_bandwidth).of("scaleup_bytes_per_s_per_chip_oneway"),
              number("node_bytes_per_s", Q::node_bandwidth).of("scaleout_bytes_per_s_per_node_oneway"),
              number("oversubscription", Q::gpucoll_oversubscription).def(1).at_least(1), flag("sharp", false),
              whole("inner_ways", Q::gpucoll_inner).def(1), wholes("level_degrees", Q::gpucoll_degrees),
              numbers("level_bytes_per_s", Q::gpucoll_rates),
              number("hop_s", Q::collective_hop).def(0).at_least(0).of("scaleup_hop_latency_s"),
              number("measured_bus_bytes_per_s", Q::gpucoll_measured_bus),
              whole("choices", Q::gpucoll_choices).up_to(4096),
              whole("shards", Q::gpucoll_shards)
                  .from("gpus x nodes",
                        [](const BlockCall& c) { return std::optional(c.number("gpus") * c.number("nodes")); })),
       {out("ranks", Q::collective_ranks),
        out("time_s", Q::collective_time),
        out("latency_s", Q::collective_latency),
        out("hops", Q::collective_hops),
        out("bytes_per_s", Q::collective_rate),
        out("bus_bytes_per_s", Q::gpucoll_bus),
        out_list("level_times_s", Q::gpucoll_level_time),
        out_list("level_bytes_per_s", Q::gpucoll_level_rate),
        out("gather_bytes_per_s", Q::gpucoll_gather_rate),
        out_said("binding", kTreeLevels),
        out("estimate_s", Q::gpucoll_estimate),
        out("node_estimate_s", Q::gpucoll_node_estimate),
        out("fabric_estimate_s", Q::gpucoll_fabric_estimate),
        out("fabric_to_node_estimate", Q::gpucoll_fabric_to_node),
        out("sharp_s", Q::gpucoll_sharp),
        out("sharp_speedup", Q::gpucoll_sharp_gain),
        out("hit_fraction", Q::gpucoll_hit),
        out("hit_estimate", Q::gpucoll_hit_estimate),
        out("sparse_estimate_s", Q::gpucoll_sparse_estimate),
        out("measured_time_s", Q::gpucoll_bus_time),
        out("measured_bytes_per_s", Q::gpucoll_bus_rate),
        out("switch_ingress_bytes", Q::gpucoll_ingress),
        out("switch_egress_bytes", Q::gpucoll_egress),
        out("top_egress_bytes", Q::gpucoll_top_egress)},
       collective_gpu<double>,
       collective_gpu<Traced>},
      {"p2p",
       "scaling book ch. 2",
       inputs(bytes(), wholes("distance", Q::p2p_distances).at_least(0).entries(3),
              wholes("sizes", Q::p2p_sizes).entries(3), flags("wrapped"), axis_input(), link_input(),
              whole("ports", Q::p2p_ports).def(1), hop_input()),
       {out("hops", Q::p2p_hops), out("first_byte_s", Q::p2p_first), out("transfer_s", Q::p2p_transfer),
        out("time_s", Q::p2p_time)},
       p2p<double>,
       p2p<Traced>},
      {"overlap",
       "scaling book ch. 3 and 10",
       inputs(number("comms_s", Q::overlap_comms), number("math_s", Q::overlap_math),
              whole("chunks", Q::overlap_chunks).def(4), number("measured_blocking_s", Q::overlap_given_blocking),
              number("measured_overlapped_s", Q::overlap_given_overlapped),
              number("measured_without_comms_s", Q::overlap_given_alone)),
       {out("blocking_s", Q::overlap_blocking), out("overlapped_s", Q::overlap_time),
        out("exposed_s", Q::overlap_exposed), out("perfect_s", Q::overlap_perfect),
        out("speedup", Q::overlap_speedup), out("overhead", Q::overlap_overhead),
        out("measured_speedup", Q::overlap_measured_speedup), out("measured_overhead", Q::overlap_measured_overhead)},
       overlap<double>,
       overlap<Traced>},
  };
}

}  // namespace roofscape::engine::block_table
