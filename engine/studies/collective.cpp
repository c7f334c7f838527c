#include "engine/studies/collective.h"

#include <algorithm>
#include <cmath>

#include "engine/calibration/collectives.h"
#include "engine/hardware/collective.h"
#include "engine/hardware/switched_collective.h"
#include "engine/model/expert_routing.h"
#include "engine/serving/serving_inputs.h"
#include "engine/studies/log_axis.h"

namespace roofscape::engine {

namespace {

constexpr double kLeastBytes = 1e3, kMostBytes = 1e10;  // of the axis, unless what is marked lies beyond

struct Group {
  std::optional<Axis> axis;
  AxisLinks links;
};

std::optional<Axis> busiest_axis(const Report& report) {
  AxisArray<double> busy{};
  for (const CollectiveRow& row : report.collectives)
    if (row.kind != CollectiveKind::send) busy[static_cast<std::size_t>(row.axis)] += row.calls_per_step * row.time_s;
  const auto most = std::max_element(busy.begin(), busy.end());
  if (*most <= 0) return std::nullopt;
  return static_cast<Axis>(most - busy.begin());
}

// All chips as one group, or those of a node.
AxisLinks all_of(const Scenario& s, bool node) {
  Parallelism plan;
  const auto chips =
      static_cast<int>(std::min<std::int64_t>(chip_count(s.cluster) / std::max(1, s.cluster.slices), 1 << 24));
  plan.fsdp = node ? std::min(s.cluster.node_size, chips) : chips;
  return place_mesh(s.cluster, plan, {}).state;
}

Group group_of(const Scenario& s, const Inputs<double>& in, const Report& report, CollectiveGroup asked) {
  using enum CollectiveGroup;
  const auto of = [&](Axis axis) { return Group{axis, in.links.group(axis)}; };
  switch (asked) {
    case busiest:
      if (const auto axis = busiest_axis(report)) return of(*axis);
      return {std::nullopt, all_of(s, false)};
    case fsdp:
      return of(Axis::fsdp);
    case tensor:
      return of(Axis::tensor);
    case data:
      return of(Axis::data);
    case context:
      return of(Axis::context);
    case expert:
      return of(Axis::expert);
    case node:
      return {std::nullopt, s.cluster.chip.interconnect == Interconnect::switched ? all_of(s, true) : AxisLinks{}};
    case cluster:
      break;
  }
  return {std::nullopt, all_of(s, false)};
}

}  // namespace

bool CollectiveStudy::exchanges() const {
  return !uses.empty() && lines.back().kind == CollectiveKind::all_to_all &&
         std::all_of(uses.begin(), uses.end(),
                     [](const CollectiveUse& u) { return u.kind == CollectiveKind::all_to_all; });
}

const CollectiveLine& CollectiveStudy::main_line() const { return exchanges() ? lines.back() : lines.front(); }

CollectiveStudy collective_study(const Scenario& s, const Report& report, const CollectiveQuestion& q) {
  const Inputs<double> in = make_inputs<double>(s, nullptr);
  const Group group = group_of(s, in, report, q.group);
  const AxisLinks& links = group.links;
  CollectiveStudy study;
  study.axis = group.axis;
  study.tier = links.tier;
  study.ranks = links.degree;
  study.torus_axes = links.torus_axes;
  if (links.degree <= 1) return study;
  // As link_rates() and pass_network() have them: a step gathers state over the whole of a node.
  study.calibrated = in.calibrated && !(q.hop_s > 0);
  const ChipRates<double> rates = !in.calibrated                            ? in.chip
                                  : group.axis == Axis::fsdp && !s.serves() ? in.achieved
                                                                            : group_rates(in, links);
  const double gather = gather_bandwidth(links, links.axes_worth(), rates);
  const double reduce = reduces_in_network(links) ? reduce_bandwidth(links, in.achieved) : gather;
  // Of one byte of all ranks together; of experts in groups that routing keeps to, as the plan sends them.
  const double copies = std::min(in.model.experts_per_token, double(links.degree));
  const double across = group.axis == Axis::expert ? copies_across_nodes(in.model, links, copies) : 1;
  const double exchange =
      exchange_time(links, 1.0 / links.degree, across / links.degree, s.serves() ? in.chip : in.achieved);
  if (!std::isfinite(gather) || !(gather > 0)) return study;
  study.bandwidth_bytes_per_s = gather;
  if (exchange > 0) study.exchange_bytes_per_s = 1.0 / links.degree / exchange;
  study.hops = collective_hops(links);
  if (!study.calibrated) {
    const Sourced& hop = s.cluster.chip[latency_field(s.cluster.chip.interconnect)];
    const bool own = s.serves() && s.assumptions.hop_latency_s > 0;
    study.assumed = q.hop_s > 0 || own || hop.assumed || !hop.value;
    if (q.hop_s > 0)
      study.hop_s = q.hop_s;
    else if (!q.published || !study.assumed)
      study.hop_s = in.hop_latency;
    study.as_step = !in.calibrated && study.hop_s == in.hop_latency;
  }
  // A served plan's tensor collectives are halves of an AllReduce (pass_latency).
  const double once = !study.calibrated          ? study.hop_s ? study.hops * *study.hop_s : 0
                      : s.serves() && group.axis ? pass_latency(in, *group.axis, links)
                                                 : collective_latency(in, links);
  const auto add = [&](CollectiveKind kind, double latency, double a_byte) {
    if (!(a_byte > 0) || !std::isfinite(a_byte)) return;
    CollectiveLine line{kind, {}, latency, a_byte, in.calibrated, std::nullopt};
    if (latency > 0) line.crossing_bytes = torus_crossover_bytes(latency, a_byte);
    study.lines.push_back(std::move(line));
  };
  add(CollectiveKind::all_gather, once, all_gather_time(1.0, gather));
  add(CollectiveKind::all_reduce, all_reduce_of_gather(once), all_reduce_time(1.0, reduce));
  if (links.tier != LinkTier::dcn) add(CollectiveKind::all_to_all, once, exchange);

  double low = once > 0 ? kLeastBytes : kLeastBytes * 100, high = kMostBytes;
  for (const CollectiveLine& line : study.lines)
    if (line.crossing_bytes)
      low = std::min(low, *line.crossing_bytes / 10), high = std::max(high, *line.crossing_bytes * 10);
  for (CollectiveRow row : report.collectives) {
    if (!group.axis || row.axis != *group.axis || row.kind == CollectiveKind::send || !(row.bytes > 0)) continue;
    // The halves of an AllReduce; what Muon gathers of its updates is none.
    if (row.axis == Axis::fsdp && !s.serves() && s.parallelism.zero_stage == 0 && !row.of_update) {
      row.kind = CollectiveKind::all_reduce;
      row.time_s *= 2, row.calls_per_step /= 2;
    }
    const bool apart = row.experts_bytes > 0;
    if (row.experts_bytes > study.experts_bytes) {
      study.experts_bytes = row.experts_bytes;
      study.experts_ranks = (row.axis == Axis::data ? in.links.expert_data : in.links.expert_state).degree;
    }
    row.bytes -= row.experts_bytes;
    if (!(row.bytes > 0)) continue;
    // A size that is sent both ways is one message.
    const auto same = [&](const CollectiveUse& u) {
      return u.kind == row.kind && std::abs(u.bytes / row.bytes - 1) < 1e-6;
    };
    const auto twin = std::find_if(study.uses.begin(), study.uses.end(), same);
    if (twin != study.uses.end()) {
      twin->calls_per_step += row.calls_per_step;
      continue;
    }
    // The report counts the bytes each rank exchanges, the axis those of all of them.
    const double bytes = row.kind == CollectiveKind::all_to_all ? row.bytes * links.degree : row.bytes;
    study.uses.push_back({row.kind, row.backward, bytes, row.time_s, row.calls_per_step});
    // At the end of a step a layer's worth has its share of the latency there: here it is one message.
    if (!study.as_step || apart || (row.end_of_step && !row.of_update))
      for (const CollectiveLine& line : study.lines)
        if (line.kind == (row.kind == CollectiveKind::reduce_scatter ? CollectiveKind::all_gather : row.kind))
          study.uses.back().seconds = apart ? line.time(bytes) : line.with_latency(row.sent_s());
    low = std::min(low, bytes / 10), high = std::max(high, bytes * 10);
  }
  study.bytes = log_axis(low, high);
  // A line that is drawn from sample to sample has its corner, and what the plan sends stands on it.
  for (const CollectiveLine& line : study.lines)
    if (line.crossing_bytes) study.bytes.push_back(*line.crossing_bytes);
  for (const CollectiveUse& use : study.uses) study.bytes.push_back(use.bytes);
  std::sort(study.bytes.begin(), study.bytes.end());
  study.bytes.erase(std::unique(study.bytes.begin(), study.bytes.end()), study.bytes.end());
  for (const double v : study.bytes) {
    for (CollectiveLine& line : study.lines) line.seconds.push_back(line.time(v));
  }
  return study;
}

}  // namespace roofscape::engine
