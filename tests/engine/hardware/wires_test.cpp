// Transfers of mesh axes that share links follow each other; those on different links run at the same time.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>

#include "engine/evaluate/evaluate.h"
#include "engine/hardware/wires.h"
#include "engine/inputs/inputs.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::preset;
using tests::value_of;
using tests::with;

TEST_CASE("left alone, axes overlap by wire on switches and add up on a torus") {
  CHECK(resolved(AxesOverlap::automatic, Interconnect::switched) == AxesOverlap::by_wire);
  CHECK(resolved(AxesOverlap::automatic, Interconnect::torus) == AxesOverlap::sum);
  for (const AxesOverlap own : {AxesOverlap::sum, AxesOverlap::max, AxesOverlap::by_wire})
    for (const Interconnect links : {Interconnect::switched, Interconnect::torus}) CHECK(resolved(own, links) == own);
  CHECK(Scenario{}.assumptions.axes_overlap == AxesOverlap::automatic);
}

TEST_CASE("layers of two kinds each wait for their own wire, and a step exposes no more than its network takes") {
  // The dense layer waits for tensor and context ranks, those with experts for these.
  const Scenario s =
      with(preset("deepseek-v3-2048-h800"),
           {"model=deepseek-v2-lite", "cluster.chip=b300", "cluster.nodes=256", "parallelism.pipeline=1",
            "parallelism.data=8", "parallelism.fsdp=16", "parallelism.tensor=8", "parallelism.context=2",
            "parallelism.expert=2", "parallelism.expert_tensor=0", "parallelism.sequence_parallel=false",
            "parallelism.context_method=ring", "parallelism.zero_stage=0", "pipeline.microbatch_sequences=2",
            "workload.global_batch_sequences=512", "workload.sequence_length=65536", "assumptions.mode=ideal",
            "assumptions.axes_overlap=max", "assumptions.overlap=0"});
  const Report report = evaluate(s);
  double exposed = 0;
  for (const Q part : {Q::step_data, Q::step_fsdp, Q::step_tensor, Q::step_context, Q::step_expert})
    exposed += value_of(report, part);
  CHECK(value_of(report, Q::step_tensor) > 0);
  CHECK(value_of(report, Q::step_expert) > 0);
  CHECK(value_of(report, Q::network_total) == doctest::Approx(exposed).epsilon(1e-12));  // nothing is hidden
}

TEST_CASE("hybrid sharding: gathers in the node hide the AllReduce between nodes") {
  const Scenario s = with(preset("llama3-8b-8-h100"), {"cluster.nodes=8", "parallelism.data=8", "parallelism.fsdp=8",
                                                       "workload.global_batch_sequences=64"});
  const Report wire = evaluate(s), sum = evaluate(with(s, {"assumptions.axes_overlap=sum"})),
               max = evaluate(with(s, {"assumptions.axes_overlap=max"}));
  CHECK(value_of(wire, Q::layer_network_backward) == value_of(max, Q::layer_network_backward));
  CHECK(value_of(wire, Q::layer_network_backward) < 0.9 * value_of(sum, Q::layer_network_backward));
}

TEST_CASE("FSDP over whole nodes keeps NVLink busy for the share that it has of the fabric's time") {
  const Scenario s = with(preset("llama3-8b-8-h100"),
                          {"cluster.nodes=8", "parallelism.fsdp=64", "workload.global_batch_sequences=64"});
  const Inputs<double> in = make_inputs<double>(s, nullptr);
  const Wires<double> wires = wires_of(in.links, AxesOverlap::by_wire, in.chip);
  // 7/8 of the array at 450 GB/s inside the node, 7/8 of it at 400 GB/s between eight nodes.
  CHECK(wires.share[Axis::fsdp] == doctest::Approx(400.0 / 450).epsilon(1e-12));
}

TEST_CASE("on a torus, axes that are placed on links of their own overlap and others add up") {
  const Scenario base = with(preset("llama3-70b-v5p-pod"), {"assumptions.axes_overlap=by_wire"});
  const Scenario apart = with(base, {"placement.fsdp.on=xy", "placement.context.on=xy", "placement.tensor.on=z"});
  const Inputs<double> in = make_inputs<double>(apart, nullptr);
  const Wires<double> wires = wires_of(in.links, AxesOverlap::by_wire, in.chip);
  const auto bit = [](Axis axis) { return 1u << static_cast<unsigned>(axis); };
  CHECK((wires.whole[2] & bit(Axis::tensor)) != 0);
  CHECK((wires.whole[2] & bit(Axis::fsdp)) == 0);
  CHECK((wires.whole[0] & bit(Axis::fsdp)) != 0);
  CHECK_FALSE(transfers_add(apart));
  CHECK(transfers_add(with(base, {"placement.fsdp.on=xz", "placement.tensor.on=z"})));
  CHECK(transfers_add(with(apart, {"assumptions.axes_overlap=sum"})));
}

TEST_CASE("by wire, a network takes at least the longest axis and at most all one after the other") {
  std::mt19937 rng(20251122);
  int between = 0;
  for (int i = 0; i < 600; ++i) {
    Scenario s = tests::random_scenario(rng);
    s.assumptions.mode = i % 3 == 0 ? Mode::calibrated : Mode::ideal;
    const auto assumed = [&s](AxesOverlap overlap) {
      s.assumptions.axes_overlap = overlap;
      return evaluate(s);
    };
    const Report wire = assumed(AxesOverlap::by_wire), sum = assumed(AxesOverlap::sum),
                 max = assumed(AxesOverlap::max);
    for (const Q part :
         {Q::layer_network_forward, Q::layer_network_backward, Q::layer_exposed_forward, Q::layer_exposed_backward}) {
      INFO("case " << i << " " << quantity(part).id);
      REQUIRE(value_of(wire, part) >= value_of(max, part) * (1 - 1e-12));
      REQUIRE(value_of(wire, part) <= value_of(sum, part) * (1 + 1e-12));
      between +=
          value_of(wire, part) > value_of(max, part) * 1.001 && value_of(wire, part) < value_of(sum, part) * 0.999;
    }
    // What the axes expose is what the layer exposes: the parts of the step are those of its layers.
    REQUIRE(value_of(wire, Q::step_time) <= value_of(sum, Q::step_time) * (1 + 1e-9));
  }
  CHECK(between > 20);
}

TEST_CASE(
    "what is reduced at the end of a step takes the busiest wire: the node's links and the fabric work at once") {
  const Scenario s = with(preset("llama3-8b-8-h100"),
                          {"cluster.nodes=16", "parallelism.pipeline=2", "parallelism.data=8", "parallelism.fsdp=8",
                           "parallelism.zero_stage=1", "workload.global_batch_sequences=256"});
  const auto ends = [&](const char* overlap) {
    const Report r = evaluate(with(s, {std::string("assumptions.axes_overlap=") + overlap}));
    return std::pair{value_of(r, Q::step_fsdp), value_of(r, Q::step_data)};
  };
  const auto [fsdp, data] = ends("sum");
  REQUIRE(fsdp > 0);
  REQUIRE(data > 0);
  for (const char* apart : {"by_wire", "max"}) {
    CAPTURE(apart);
    const auto [in_node, between] = ends(apart);
    CHECK(in_node + between == doctest::Approx(std::max(fsdp, data)).epsilon(1e-12));
  }
  // Shards over whole nodes and replicas beyond them share the fabric, which the shards keep busy for a share of
  // their time.
  const Scenario shared = with(s, {"parallelism.data=4", "parallelism.fsdp=16", "assumptions.axes_overlap=by_wire"});
  const Scenario added = with(shared, {"assumptions.axes_overlap=sum"});
  CHECK(value_of(evaluate(shared), Q::step_data) ==
        doctest::Approx(value_of(evaluate(added), Q::step_data)).epsilon(1e-12));
  const Inputs<double> in = make_inputs<double>(shared, nullptr);
  const double share = wires_of(in.links, AxesOverlap::by_wire, in.chip).share[Axis::fsdp];
  CHECK(share < 1);
  CHECK(value_of(evaluate(shared), Q::step_fsdp) ==
        doctest::Approx(share * value_of(evaluate(added), Q::step_fsdp)).epsilon(1e-12));
}
