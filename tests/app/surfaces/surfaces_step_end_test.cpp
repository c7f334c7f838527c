// Gradients that are reduced at the end of a step are one thing on every surface: the report's table of collectives,
// the step's parts and its figure, the layer's figures, which have none of them, the pipeline and the trace. Over
// random plans with and without a pipeline, in all modes, however axes overlap.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/evaluation.h"
#include "engine/studies/layer_overlap.h"
#include "engine/studies/network.h"
#include "tests/app/surfaces/any_scenario.h"
#include "tests/engine/fixtures.h"
#include "tests/widgets/figures/figure_fixture.h"
#include "widgets/figures/figures.h"

using namespace roofscape;
using namespace roofscape::engine;

namespace {

using AxisSeconds = AxisArray<double>;
using Difference = std::string;  // empty: none

Difference compare(std::string_view what, double there, double here, double tolerance = 1e-9) {
  if (std::abs(there - here) <= tolerance * std::max({std::abs(here), std::abs(there), 1e-12})) return {};
  return fmt::format("{}: {} and {}", what, there, here);
}

struct Case {
  Scenario s;
  Report r;
  Evaluation<double> e;
  double q(Q id) const { return r.quantities.value_or(id, 0); }
  bool pipelined() const { return s.parallelism.pipeline > 1; }
  bool waits() const { return e.in.calibrated && waits_for_kernels(s); }
};

Case case_of(const Scenario& s) {
  Case plan{s, evaluate(s), {}};
  PipelineReport pipeline;
  plan.e = run_evaluation<double>(s, nullptr, pipeline);
  return plan;
}

// A random plan with something to reduce: replicas or shards that are not gathered for each microbatch.
Scenario reducing_scenario(std::mt19937& rng, int i) {
  tests::Dice dice(rng);
  Scenario s = tests::any_scenario(rng, WorkloadKind::training);
  constexpr std::array kOverlaps{AxesOverlap::by_wire, AxesOverlap::sum, AxesOverlap::max};
  s.assumptions.axes_overlap = kOverlaps[static_cast<std::size_t>(i / 3 % 3)];
  s.assumptions.mode = static_cast<Mode>(i % 3);
  s.parallelism.zero_stage = dice.pick(0, 3);
  if (dice.one_in(2)) s.parallelism.data *= 2, s.workload.global_batch_sequences *= 2;
  if (dice.one_in(2)) s.parallelism.fsdp *= 2, s.workload.global_batch_sequences *= 2;
  const auto& p = s.parallelism;
  const std::int64_t chips = std::int64_t{p.data} * p.fsdp * p.tensor * p.context * p.pipeline;
  while (chip_count(s.cluster) < chips) {
    if (s.cluster.chip.interconnect == Interconnect::torus)
      s.cluster.slices *= 2;
    else
      s.cluster.nodes *= 2;
  }
  return s;
}

// The time of the busiest wire, wire by wire.
double busiest_of(const Wires<double>& wires, const AxisSeconds& seconds) {
  double most = 0;
  for (std::size_t wire = 0; wire < static_cast<std::size_t>(wires.count); ++wire) {
    double carried = 0;
    for (std::size_t a = 0; a < seconds.size(); ++a)
      carried += seconds[a] * ((wires.whole[wire] >> a & 1u) != 0  ? 1
                               : (wires.part[wire] >> a & 1u) != 0 ? wires.share[a]
                                                                   : 0);
    most = std::max(most, carried);
  }
  return most;
}

double all_of(const AxisSeconds& seconds) {
  double sum = 0;
  for (const double x : seconds) sum += x;
  return sum;
}

AxisSeconds end_of(const Report& r) {
  AxisSeconds out{};
  for (std::size_t a = 0; a < out.size(); ++a) out[a] = r.transfers[a].step_end_s;
  return out;
}

// What the table of collectives has at the end of a step, by axis.
AxisSeconds end_of_table(const Case& plan) {
  AxisSeconds out{};
  for (const CollectiveRow& row : plan.r.collectives)
    if (row.end_of_step && !row.of_update) out[moves_over(plan.s, row)] += row.time_s * row.calls_per_step;
  return out;
}

double exposed_parts(const Report& r) {
  double sum = 0;
  for (const Q part : kExposedParts)
    if (part != Q::step_pipeline_transfer) sum += r.quantities.value_or(part, 0);
  return sum;
}

Difference the_table(const Case& plan) {
  const AxisSeconds table = end_of_table(plan), end = end_of(plan.r);
  for (std::size_t a = 0; a < end.size(); ++a)
    if (Difference d = compare(fmt::format("collectives at the end over {}", kAxisIds[a]), table[a], end[a]);
        !d.empty())
      return d;
  if (!plan.pipelined() && all_of(end) > 0) return "without a pipeline something is reduced after the last layer";
  return {};
}

// For how long a layer sends: on the busiest wire. Calibrated, so what is issued under the work; the rest follows it.
double sent_in_layer(const Case& plan, AxisSeconds seconds) {
  double alone = 0;
  if (plan.e.in.calibrated) {
    constexpr std::array kHidden{Calibrated::hidden_data, Calibrated::hidden_fsdp, Calibrated::hidden_tensor,
                                 Calibrated::hidden_context, Calibrated::hidden_expert};
    for (std::size_t a = 0; a < kHidden.size(); ++a) {
      const bool never = plan.waits() || (a == static_cast<std::size_t>(Axis::tensor) &&
                                          plan.e.in.links[Axis::tensor].tier == LinkTier::fabric);
      const double hidden = never ? 0 : plan.e.in.calibration[kHidden[a]];
      alone += (1 - hidden) * seconds[a];
      seconds[a] *= hidden;
    }
  }
  return alone + busiest_of(plan.e.layer.wires, seconds);
}

Difference the_wires(const Case& plan) {
  const Wires<double>& wires = plan.e.layer.wires;
  const AxisSeconds whole = end_of(plan.r);
  AxisSeconds exposed = whole;
  if (plan.e.in.calibrated && !plan.waits()) {
    const auto& c = plan.e.in.calibration;
    exposed[Axis::data] *= 1 - c[Calibrated::hidden_data];
    for (const Axis axis : {Axis::fsdp, Axis::context}) exposed[axis] *= 1 - c[Calibrated::hidden_fsdp];
  }
  // A host that waits for each of them starts none beside another.
  const auto taken = [&](const AxisSeconds& seconds) {
    return plan.waits() ? all_of(seconds) : busiest_of(wires, seconds);
  };
  if (Difference d = compare("the step's wait for its reductions and their busiest wire", plan.r.pipeline.reduction_s,
                             taken(exposed));
      !d.empty())
    return d;
  AxisSeconds forward{}, backward{};
  for (std::size_t a = 0; a < forward.size(); ++a)
    forward[a] = plan.r.transfers[a].forward_s, backward[a] = plan.r.transfers[a].backward_s;
  const auto& stage = plan.e.stage;
  const auto vocabulary = [&](const BlockTime<double>& b) {
    return plan.e.in.calibrated ? b.hidden_forward + b.exposed_forward + b.hidden_backward + b.exposed_backward
                                : b.network_forward + b.network_backward;
  };
  // What waits for what is judged in either kind of layers; the table has their mean.
  if (plan.e.in.calibrated && plan.e.layer.has_kinds) return {};
  double in_layer = sent_in_layer(plan, forward) + sent_in_layer(plan, backward);
  if (plan.e.layer.has_kinds) {  // whose busiest wires need not be the same
    in_layer = 0;
    const double dense = double(plan.s.model.moe.n_dense_layers) / plan.s.model.n_layers;
    for (const auto& [kind, share] : {std::pair{LayerKind::dense, dense}, std::pair{LayerKind::experts, 1 - dense}}) {
      const auto& of = stage.kind(kind);
      for (const auto* sent : {&of.comm_forward, &of.comm_backward}) {
        AxisSeconds seconds{};
        for (std::size_t axis = 0; axis < seconds.size(); ++axis) seconds[axis] = (*sent)[axis];
        in_layer += share * sent_in_layer(plan, seconds);
      }
    }
  }
  const double before = stage.layer_passes * in_layer +
                        stage.microbatches * (vocabulary(stage.embedding) + vocabulary(stage.head)) / stage.stages;
  double update = 0;  // what Muon sends follows the rest, axis by axis
  for (const AxisTransfers& axis : plan.r.transfers) update += axis.update_s;
  const double total = plan.q(Q::network_total), least = before + taken(whole) + update;
  // Without a pipeline, what is sent once a step is under way in one microbatch, apart from what each of them sends: the
  // wires are busy for longer than with the sums of both, but no longer than if no two axes ever shared the time.
  if (plan.e.in.calibrated && plan.s.parallelism.pipeline == 1) {
    double alone = least;
    for (std::size_t a = 0; a < forward.size(); ++a) alone += stage.layer_passes * (forward[a] + backward[a]);
    if (total >= least * (1 - 1e-12) && total <= alone * (1 + 1e-12)) return {};
  }
  return compare("the step's network and its wires'", total, least);
}

Difference the_parts(const Case& plan) {
  const auto& stage = plan.e.stage;
  const double left = stage.pairs ? stage.exposed_left : 1;  // by passes that are joined
  const double before = left * (stage.layer_passes * (stage.layer.exposed_forward + stage.layer.exposed_backward) +
                                stage.microbatches * all_of(stage.vocab_exposed) / stage.stages);
  if (Difference d = compare("the step's exposed parts", exposed_parts(plan.r),
                             before + plan.r.pipeline.reduction_s + plan.r.pipeline.update_exchange_s);
      !d.empty())
    return d;
  return compare("the end of the pipeline", plan.r.pipeline.step_end_s,
                 plan.r.pipeline.reduction_s + plan.r.pipeline.update_exchange_s + plan.q(Q::step_optimizer));
}

// What the step's figure has hidden is what its network takes and the step does not wait for.
Difference the_step(const Case& plan, const widgets::FigureInput& input) {
  const double hidden = plan.q(Q::network_total) - exposed_parts(plan.r);
  if (hidden < -1e-9 * plan.q(Q::network_total)) return "the step exposes more than its network takes";
  for (const AxisTransfers& axis : plan.r.transfers)
    if (axis.hidden_s < -1e-9 * plan.q(Q::network_total)) return "an axis exposes more than it takes";
  std::istringstream lines(widgets::find_figure("step")->data(input, {}));
  double drawn = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("hidden communication\t")) drawn = std::strtod(line.c_str() + line.find('\t'), nullptr);
  if (drawn == 0 && hidden < 1.001e-3 * plan.q(Q::step_time)) return {};
  return compare("hidden transfers in the step's figure", drawn, hidden, 1e-5);
}

Difference the_overlap(const Case& plan) {
  const LayerOverlap o = layer_overlap(plan.s, plan.r);
  for (const bool backward : {false, true}) {
    const LayerPass& pass = backward ? o.backward : o.forward;
    AxisSeconds seconds{};
    for (std::size_t a = 0; a < seconds.size(); ++a) {
      seconds[a] = pass.gather_s[a] + pass.transfer_s[a];
      const AxisTransfers& t = plan.r.transfers[a];
      if (Difference d = compare(fmt::format("overlap's {} {}", kAxisIds[a], backward ? "backward" : "forward"),
                                 seconds[a], backward ? t.backward_s : t.forward_s);
          !d.empty())
        return d;
    }
    if (Difference d = compare("a layer's network and its wires' in the overlap's figure", pass.network_s,
                               busiest_of(plan.e.layer.wires, seconds));
        !d.empty())
      return d;
  }
  // Once a step: the share of a microbatch. Behind a pipeline what moves once a step is no layer's.
  for (const Axis axis : {Axis::data, Axis::fsdp}) {
    const double carried = o.carried[axis];
    if (carried == 1) continue;
    const auto& p = plan.s.parallelism;
    const bool by_chunk = axis == Axis::fsdp && p.zero_stage == 3 && p.keep_gathered == KeepGathered::chunk;
    if (plan.pipelined() && !by_chunk) return "a layer of a pipeline carries a part of the step's reduction";
    if (Difference d = compare("share of a microbatch", carried, 1 / plan.q(Q::microbatches)); !d.empty()) return d;
  }
  return {};
}

// At the present batch the plan's line is the layer's network, with nothing of the step's end.
Difference the_network(const Case& plan) {
  const auto& p = plan.s.parallelism;
  const double microbatches = plan.q(Q::microbatches);
  if (double(p.data) * p.fsdp * plan.s.pipeline.microbatch_sequences * microbatches !=
      plan.s.workload.global_batch_sequences)
    return {};
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const bool backward = pass == Pass::backward;
    const NetworkStudy study = network_study(plan.s, {LayerCount::whole, pass});
    if (!study.known()) continue;
    const auto line = std::find_if(study.lines.begin(), study.lines.end(),
                                   [](const NetworkLine& l) { return l.strategy == NetworkStrategy::plan; });
    const double layer = plan.q(backward ? Q::layer_network_backward : Q::layer_network_forward);
    if (line == study.lines.end()) {
      if (layer > 0) return "the plan has no line in the network's figure";
      continue;
    }
    const double flops = plan.q(Q::layer_flops_forward) / plan.q(Q::peak_flops) * (backward ? 2 : 1);
    const double work =
        plan.e.in.calibrated ? plan.q(backward ? Q::layer_work_backward : Q::layer_work_forward) : flops;
    if (Difference d = compare(backward ? "the plan's line, backward" : "the plan's line, forward",
                               work / line->ratio_now, layer);
        !d.empty())
      return d;
    const bool gathers =
        p.zero_stage == 3 && p.keep_gathered == KeepGathered::microbatch && plan.e.in.links.state.degree > 1;
    if (study.plan_gathers != (gathers ? microbatches : 0)) return "gathers of weights in the network's figure";
  }
  return {};
}

template <class Check>
void over_random_plans(Check&& check) {
  std::mt19937 rng(20261122);
  struct Seen {
    int plans = 0, two_axes = 0, apart = 0, replicas = 0, spread = 0;
  } seen;
  const widgets::Theme theme = widgets::testing::theme("dark");
  for (int i = 0; i < 1200; ++i) {
    const Case plan = case_of(reducing_scenario(rng, i));
    if (plan.r.has_errors()) continue;
    widgets::StudyCache studies;
    const widgets::FigureInput input{plan.s, plan.r, widgets::testing::english(), theme, studies};
    const Difference d = check(plan, input);
    INFO("plan " << i << ": " << io::write_scenario(plan.s, tests::library()));
    REQUIRE(d == "");
    ++seen.plans;
    const AxisSeconds end = end_of(plan.r);
    const auto axes = std::count_if(end.begin(), end.end(), [](double x) { return x > 0; });
    seen.two_axes += axes > 1;
    seen.apart += axes > 1 && plan.r.pipeline.reduction_s < all_of(end) * 0.999;
    seen.replicas += end[Axis::data] > 0;
    seen.spread += !plan.pipelined() && plan.s.parallelism.zero_stage < 3 && plan.e.in.links.state.degree > 1;
  }
  CHECK(seen.plans > 500);
  CHECK(seen.two_axes > 30);
  CHECK(seen.apart > 10);
  CHECK(seen.replicas > 50);
  CHECK(seen.spread > 50);
}

}  // namespace

TEST_CASE("the collectives at the end of a step are what the step reduces there, embedding and head with it") {
  over_random_plans([](const Case& plan, const widgets::FigureInput&) { return the_table(plan); });
}

TEST_CASE("at the end of a step the busiest wire is waited for, hidden or not it counts as network") {
  over_random_plans([](const Case& plan, const widgets::FigureInput&) { return the_wires(plan); });
}

TEST_CASE("exposed parts of a step are those of its layers, its embedding and head, and its end") {
  over_random_plans([](const Case& plan, const widgets::FigureInput&) { return the_parts(plan); });
}

TEST_CASE("the step's figure hides what the network takes beyond the exposed parts") {
  over_random_plans([](const Case& plan, const widgets::FigureInput& input) { return the_step(plan, input); });
}

TEST_CASE(
    "the overlap's figure has a layer's transfers as they are evaluated, and none of a pipeline's last reduction") {
  over_random_plans([](const Case& plan, const widgets::FigureInput&) { return the_overlap(plan); });
}

TEST_CASE("the network's figure has the plan's layer, which hides or not whatever is reduced at the end") {
  over_random_plans([](const Case& plan, const widgets::FigureInput&) { return the_network(plan); });
}
