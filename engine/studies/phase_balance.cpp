#include "engine/studies/phase_balance.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/evaluate/evaluate.h"
#include "engine/serving/serving_inputs.h"

namespace roofscape::engine {

namespace {

constexpr int kMostSplits = 40;
constexpr double kBeyondBalance = 4;  // prefill chips over those of the balance at which the study ends
constexpr int kLeastGroups = 8;
constexpr double kFineBalance = 4;  // groups of prefill replicas at the balance that make a split fine enough
constexpr int kMostCopies = 64;
constexpr int kMostReplicas = 65536;

}  // namespace

int prefill_group(const Scenario& s) {
  return std::max(1, s.serving.disaggregated ? s.serving.prefill.expert : s.parallelism.expert);
}

Scenario with_prefill_replicas(const Scenario& scenario, int replicas, int decode_copies) {
  Scenario s = scenario;
  if (!s.serving.disaggregated) {
    s.serving.disaggregated = true;
    s.serving.prefill = {1, s.parallelism.tensor, s.parallelism.context, s.parallelism.pipeline,
                         s.parallelism.expert};
  }
  s.serving.prefill.data = replicas;
  s.parallelism.data *= decode_copies;
  s.workload.batch *= decode_copies;
  const double chips = serving_chips(s), there = static_cast<double>(chip_count(s.cluster));
  int& copies = s.cluster.chip.interconnect == Interconnect::torus ? s.cluster.slices : s.cluster.nodes;
  if (chips > there) copies = static_cast<int>(std::ceil(chips / (there / copies)));
  return s;
}

PhaseBalance phase_balance(const Scenario& scenario) {
  PhaseBalance out;
  if (!scenario.serves()) return out;
  EvaluationScratch scratch;
  Report report;
  const int group = prefill_group(scenario);
  const int own = scenario.serving.disaggregated ? scenario.serving.prefill.data : 0;
  const auto q = [&report](Q id) { return report.quantities.value_or(id, 0); };
  const auto price = [&](int replicas) {
    evaluate(with_prefill_replicas(scenario, replicas, out.decode_copies), scratch, report);
    PhaseSplit p;
    p.prefill_replicas = replicas, p.own = replicas == own;
    p.prefill_chips = q(Q::prefill_chips), p.decode_chips = q(Q::decode_chips);
    p.prefill_requests_per_s = q(Q::prefill_requests), p.decode_requests_per_s = q(Q::decode_requests);
    p.requests_per_s = q(Q::capacity_requests), p.ttft_s = q(Q::ttft);
    return p;
  };
  PhaseSplit first = price(group);
  if (report.has_errors() || !(first.prefill_requests_per_s > 0 && first.decode_requests_per_s > 0)) return out;
  double balance = first.decode_requests_per_s / first.prefill_requests_per_s;  // groups
  if (!scenario.serving.disaggregated) {
    const bool more = balance < kFineBalance && scenario.workload.batch <= (1 << 24) / kMostCopies &&
                      scenario.parallelism.data <= kMostReplicas / kMostCopies;
    if (more) out.decode_copies = static_cast<int>(std::min<double>(std::ceil(kFineBalance / balance), kMostCopies));
    if (out.decode_copies > 1) {  // priced on the cluster that holds them, as the splits are
      first = price(group);
      balance = first.decode_requests_per_s / first.prefill_requests_per_s;
    }
    evaluate(scenario, scratch, report);
    if (q(Q::decode_chips) > 0) out.shared_requests_per_chip = q(Q::capacity_requests) / q(Q::decode_chips);
  }
  out.balance_chips = balance * first.prefill_chips;
  // Groups: all of a few, else spread over the range, always those next to the balance and the scenario's own.
  const int most = kMostReplicas / group;
  const int last = static_cast<int>(
      std::clamp(std::max(kBeyondBalance * balance, 1.3 * own / group), double(kLeastGroups), double(most)));
  std::set<int> groups;
  for (int i = 0; i < kMostSplits; ++i)
    groups.insert(last <= kMostSplits ? std::min(i + 1, last)
                                      : static_cast<int>(std::lround(std::pow(last, i / (kMostSplits - 1.0)))));
  for (const double beside : {std::floor(balance), std::ceil(balance)})
    if (beside >= 1 && beside <= most) groups.insert(static_cast<int>(beside));
  std::set<int> replicas;
  for (const int g : groups) replicas.insert(g * group);
  if (own > 0) replicas.insert(own);
  for (const int r : replicas) {
    out.splits.push_back(price(r));
    const PhaseSplit& p = out.splits.back();
    const auto i = static_cast<int>(out.splits.size()) - 1;
    const auto rate = [&](int at) {
      return out.splits[static_cast<std::size_t>(at)].requests_per_s /
             out.splits[static_cast<std::size_t>(at)].chips();
    };
    if (p.requests_per_s > 0 && (out.best < 0 || rate(i) > rate(out.best))) out.best = i;
  }
  return out;
}

}  // namespace roofscape::engine
