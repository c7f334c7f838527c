// A pipeline with several stages in a node, or in a slice: those hops go over the links inside it.
#include <doctest/doctest.h>

#include "engine/evaluate/evaluate.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using namespace roofscape::tests;

namespace {

// GPT-3 on nodes of 8 A100, so many tensor ranks each stage.
Scenario piped(int tensor, int stages, Mode mode) {
  Scenario s = with(preset("gpt3-175b-1024-a100"), {"parallelism.data=1", "parallelism.fsdp=1"});
  s.parallelism.tensor = tensor, s.parallelism.pipeline = stages;
  s.cluster.nodes = (tensor * stages + 7) / 8;
  s.assumptions.mode = mode;
  return with(s, {"workload.global_batch_sequences=64", "pipeline.schedule=1f1b", "pipeline.virtual_stages=1"});
}

}  // namespace

TEST_CASE("stages of one node send over its own links, others over the fabric") {
  // Narayanan et al. 2021: an A100 has 300 GB/s of NVLink one way, and 25 GB/s of InfiniBand.
  const Report r = evaluate(piped(4, 8, Mode::ideal));
  REQUIRE_FALSE(r.has_errors());
  const double far = *r.quantities[Q::pipeline_transfer], in_node = *r.quantities[Q::pipeline_transfer_in_node];
  CHECK(in_node == near(far * 25 / 300));
  CHECK(r.pipeline.times.node_devices == 2);
  CHECK(r.pipeline.times.hop(0, 1) == r.pipeline.times.transfer_in_node);
  CHECK(r.pipeline.times.hop(1, 2) == r.pipeline.times.transfer);
  CHECK(r.pipeline.times.hop(7, 0) == r.pipeline.times.transfer);
}

TEST_CASE("a pipeline with one stage per node, or within a node, has hops of one kind") {
  for (const Mode mode : {Mode::ideal, Mode::calibrated})
    for (const auto& [tensor, stages] : {std::pair{8, 8}, {2, 4}, {1, 8}}) {
      const Report r = evaluate(piped(tensor, stages, mode));
      CHECK(r.pipeline.times.node_devices == 1);
      CHECK_FALSE(r.quantities[Q::pipeline_transfer_in_node].has_value());
    }
}

TEST_CASE("the first microbatch is on its way as long as its hops take together") {
  for (const Mode mode : {Mode::ideal, Mode::calibrated}) {
    const Report r = evaluate(piped(4, 8, mode));
    const PipelineReport& p = r.pipeline;
    REQUIRE_FALSE(p.timeline.start.empty());
    Tick at = 0;
    for (std::uint32_t d = 0; d + 1 < 8; ++d) at += p.times.forward[d] + p.times.hop(d, d + 1);
    CHECK(p.timeline.start[p.orders.first[7]] == at);
    const Tick far = p.times.transfer, in_node = p.times.transfer_in_node;
    CHECK(hops_along(p.times, 8) == 3 * far + 4 * in_node);
  }
}

TEST_CASE("a token decoded in stages takes the node's links where stages share a node, and the fabric elsewhere") {
  // 4 stages of 4 ranks on nodes of 8 H100: of four hops two are in a node, at 450 GB/s, and two, with the way back,
  // between nodes, at 50 GB/s. A stage of 8 ranks fills a node, and each of its ranks sends half as much.
  const Scenario serving =
      with(preset("llama3-70b-serving-8-h100"), {"workload.batch=4096", "parallelism.pipeline=4"});
  const double shared = value_of(with(serving, {"cluster.nodes=2", "parallelism.tensor=4"}), Q::decode_transfer);
  const double alone = value_of(with(serving, {"cluster.nodes=4", "parallelism.tensor=8"}), Q::decode_transfer);
  CHECK(shared / alone == near(1 + 50.0 / 450));
}
