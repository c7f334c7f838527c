#include "engine/pipeline/critical_chain.h"

#include <algorithm>

namespace roofscape::engine {

void find_chain(const RunPlan& plan, const SimulationScratch::Tables& tables, const Timeline& timeline,
                std::vector<ChainLink>& out) {
  out.clear();
  const auto last = std::find(timeline.busy_until.begin(), timeline.busy_until.end(), timeline.makespan);
  if (last == timeline.busy_until.end()) return;
  const auto device = static_cast<std::size_t>(last - timeline.busy_until.begin());
  if (plan.last_work[device] == RunPlan::kNoWork) return;
  out.push_back({ChainLink::kEnd, plan.last_work[device], RunPlan::kNoDevice});
  std::uint32_t op = plan.last_op[device];
  std::size_t step_end = plan.steps.size();
  // What an operation waits for stands before it.
  for (auto turn = plan.turns.rbegin(); turn != plan.turns.rend(); ++turn) {
    const std::size_t step_begin = step_end - turn->count;
    step_end = step_begin;
    while (op >= turn->first && op - turn->first < turn->count) {
      const RunPlan::Step& step = plan.steps[step_begin + (op - turn->first)];
      const RunPlan::Kind& kind = plan.kinds[step.kind];
      const Tick start = timeline.start[op];
      const SimulationScratch::Delays& delay = tables.delays[step.kind];
      const bool came_last =
          kind.producer != RunPlan::kNoWork && timeline.start[step.producer] + delay.producer == start;
      const bool has_before = op > turn->first || !turn->first_of_device;
      // The halves of a pair start together: its second waited for the first half's wait, or for its own.
      const bool second_half = has_before && kind.before == RunPlan::kNoWork;
      if (has_before && !(second_half && came_last) && timeline.start[op - 1] + delay.before == start) {
        if (!second_half) out.push_back({op, kind.before, RunPlan::kNoDevice});
        --op;
      } else if (came_last) {
        out.push_back({op, kind.producer, kind.device});
        op = step.producer;
      } else {
        return;
      }
    }
  }
}

ChainCounts::ChainCounts(const RunPlan& plan, const PipelineTimes& times, const std::vector<ChainLink>& links,
                         const RepeatedLinks& repeated)
    : blocking_send_(times.blocking_send) {
  struct OfWork {
    Tick lasts = 0, to_first = 0, to_second = 0;
  };
  std::vector<OfWork> counts(plan.works.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    const ChainLink& link = links[i];
    const RunPlan::Work& work = plan.works[link.work];
    const Tick count = 1 + (i >= repeated.first && i < repeated.end ? repeated.times_more : 0);
    OfWork& of = counts[link.work];
    of.lasts += count;
    const auto hop_to = [&](std::uint32_t device) {
      return device == RunPlan::kNoDevice ? 0 : times.hop(work.device, device);
    };
    bool first = link.to == work.receiver;
    if (link.to == RunPlan::kNoDevice) {
      if (!blocking_send_) continue;
      first = hop_to(work.receiver) >= hop_to(work.second_receiver);
    }
    (first ? of.to_first : of.to_second) += count;
  }
  for (std::size_t w = 0; w < counts.size(); ++w) {
    const RunPlan::Work& work = plan.works[w];
    const OfWork& of = counts[w];
    if (of.lasts > 0) operations_.push_back({work.first, work.second, of.lasts});
    const auto add = [&](std::uint32_t to, Tick count) {
      if (count > 0 && to != RunPlan::kNoDevice) hops_.push_back({work.device, to, count});
    };
    add(work.receiver, of.to_first);
    add(work.second_receiver, of.to_second);
  }
  std::sort(hops_.begin(), hops_.end(),
            [](const Hop& a, const Hop& b) { return a.from < b.from || (a.from == b.from && a.to < b.to); });
  std::size_t kept = 0;
  for (const Hop& hop : hops_) {
    if (kept > 0 && hops_[kept - 1].from == hop.from && hops_[kept - 1].to == hop.to)
      hops_[kept - 1].count += hop.count;
    else
      hops_[kept++] = hop;
  }
  hops_.resize(kept);
}

Tick ChainCounts::length(const PipelineTimes& times) const {
  if (blocking_send_ && !times.blocking_send) return 0;
  Tick length = 0;
  for (const Operation& operation : operations_) {
    const Tick lasts = operation.second == RunPlan::kNoWork
                           ? duration_of(times, operation.first / 4, static_cast<OpKind>(operation.first % 4))
                           : duration_of_pair(times, operation.first / 4, operation.second / 4);
    length += operation.count * lasts;
  }
  for (const Hop& hop : hops_) length += hop.count * times.hop(hop.from, hop.to);
  return length;
}

}  // namespace roofscape::engine
