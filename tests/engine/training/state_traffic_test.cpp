// When and over which ranks training state is moved: what is sent once a step hides under the work of one microbatch,
// and spread experts go over the ranks that hold the same ones.
#include <doctest/doctest.h>

#include "engine/evaluate/evaluate.h"
#include "engine/inputs/placement.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using namespace roofscape::tests;

namespace {

// LLaMA-3 8B over 512 H100s in data-parallel ranks: gradients of whole layers cross the fabric once a step.
Scenario replicas(Mode mode, int microbatches) {
  Scenario s = with(preset("llama3-405b-16k-h100"),
                    {"model=llama3-8b", "parallelism.data=512", "parallelism.fsdp=1", "parallelism.tensor=1",
                     "parallelism.context=1", "parallelism.pipeline=1", "parallelism.zero_stage=0",
                     "cluster.nodes=64", "pipeline.virtual_stages=1", "pipeline.layers_by_hand=false",
                     "pipeline.microbatch_sequences=1", "workload.sequence_length=512"});
  s.workload.global_batch_sequences = 512 * microbatches;
  s.assumptions.mode = mode;
  return s;
}

// DeepSeek-V3 on so many nodes of eight H800: experts over `expert` ranks of one group that shards the state.
Scenario experts(int nodes, int expert, int zero_stage) {
  Scenario s = with(preset("deepseek-v3-2048-h800"),
                    {"parallelism.data=1", "parallelism.tensor=1", "parallelism.pipeline=1", "parallelism.context=1",
                     "pipeline.schedule=1f1b", "pipeline.virtual_stages=1", "pipeline.layers_by_hand=false",
                     "pipeline.microbatch_sequences=1"});
  s.cluster.nodes = nodes;
  s.parallelism.fsdp = 8 * nodes;
  s.parallelism.expert = expert;
  s.parallelism.zero_stage = zero_stage;
  s.workload.global_batch_sequences = 8 * nodes;
  s.assumptions.mode = Mode::ideal;
  return s;
}

// Parameters of spread experts that one rank holds of a layer, mean of the layers.
double experts_of_rank(const Report& r) {
  return (value_of(r, Q::params_experts) - value_of(r, Q::params_absent)) / value_of(r, Q::n_layers);
}

}  // namespace

TEST_CASE("calibrated, a reduction once a step is exposed as much however many microbatches there are") {
  const double exposed = value_of(replicas(Mode::calibrated, 2), Q::step_data);
  CHECK(exposed > 0);
  for (const int microbatches : {3, 8, 64}) {
    CAPTURE(microbatches);
    CHECK(value_of(replicas(Mode::calibrated, microbatches), Q::step_data) == near(exposed));
  }
}

TEST_CASE("calibrated, one microbatch hides of a reduction what its backward pass takes") {
  // With every transfer issued under the work, what is left is the reduction over one backward pass, layer by layer.
  Scenario s = replicas(Mode::custom, 4);
  const Report report = evaluate(s);
  const double microbatches = value_of(report, Q::microbatches);
  const CollectiveRow* reduction = nullptr;
  for (const CollectiveRow& row : report.collectives)
    if (row.axis == Axis::data) reduction = &row;
  REQUIRE(reduction != nullptr);
  CHECK(microbatches == 4);
  const double layers = s.model.n_layers;
  const double late = layers * (reduction->time_s - value_of(report, Q::layer_work_backward));
  CHECK(late > 0);
  // Embedding and head have no work to speak of to hide under, so that they are exposed beside it.
  CHECK(value_of(report, Q::step_data) > late);
}

TEST_CASE("ideal, the reduction hides under all microbatches, as the book has it") {
  CHECK(value_of(replicas(Mode::ideal, 64), Q::step_data) < value_of(replicas(Mode::ideal, 2), Q::step_data));
}

TEST_CASE("experts that every node holds whole are shared by one rank of each node") {
  const Scenario s = experts(8, 8, 1);
  const MeshLinks links = place_mesh(s.cluster, s.parallelism, s.placement);
  CHECK(links.state.degree == 64);
  CHECK(links.state.inside_node == 8);
  CHECK(links.expert_state.degree == 8);
  CHECK(links.expert_state.inside_node == 1);
  CHECK(links.expert_state.across_nodes == 8);
  CHECK(links.expert_state.groups_a_node == 8);
}

TEST_CASE("experts over two nodes of eight are shared by every second node") {
  const Scenario s = experts(8, 16, 1);
  const MeshLinks links = place_mesh(s.cluster, s.parallelism, s.placement);
  CHECK(links.expert_state.degree == 4);
  CHECK(links.expert_state.stride == 16);
}

TEST_CASE("experts over more ranks than shard the state are repeated over data alone") {
  Scenario s = experts(8, 32, 0);
  s.parallelism.data = 8, s.parallelism.fsdp = 8;
  const MeshLinks links = place_mesh(s.cluster, s.parallelism, s.placement);
  CHECK(links.expert_state.degree == 1);
  CHECK(links.expert_data.degree == 2);
  CHECK(links.expert_data.stride == 32);
}

TEST_CASE("an expert that one rank holds alone is not reduced") {
  const Report report = evaluate(experts(8, 64, 1));
  const double alone = experts_of_rank(report) / value_of(report, Q::params_layer_rank);
  CHECK(alone > 0.1);
  int rows = 0;
  for (const CollectiveRow& row : report.collectives)
    if (row.axis == Axis::fsdp) {
      const Q all = row.kind == CollectiveKind::all_gather ? Q::gathered_weight_bytes : Q::gradient_bytes;
      CHECK(row.bytes == near(value_of(report, all) * (1 - alone)));
      ++rows;
    }
  CHECK(rows == 2);
}

TEST_CASE("state shards that hold other experts each keep them whole") {
  // Experts over 64 ranks of which 8 share the state: each holds a 64th of the experts, whatever the ZeRO stage.
  for (const int stage : {1, 2, 3}) {
    Scenario s = experts(8, 64, stage);
    s.parallelism.data = 8, s.parallelism.fsdp = 8;
    const Report a = evaluate(s);
    const double here = value_of(a, Q::params_experts) / 64;
    const double held = (value_of(a, Q::params_total) - value_of(a, Q::params_experts)) / 8 + here;
    CAPTURE(stage);
    CHECK(value_of(a, Q::memory_optimizer) == near(held * value_of(a, Q::optimizer_width_bytes)));
  }
}

TEST_CASE("spread experts cross the fabric by the link of their own rank, other state by all links of the node") {
  // Each node has all experts, so each of its ranks meets one rank of every other node.
  const Scenario s = experts(8, 8, 1);
  const Report r = evaluate(s);
  const double node = *s.cluster.chip[ChipField::scaleout_bytes_per_s_per_node_oneway].value;
  const double share = experts_of_rank(r) / value_of(r, Q::params_layer_rank);
  double rate = 0;
  for (const AxisPlacement& row : r.placement)
    if (row.axis == Axis::fsdp) rate = row.bandwidth_bytes_per_s;
  for (const CollectiveRow& row : r.collectives)
    if (row.axis == Axis::fsdp)
      CHECK(row.time_s == near(row.bytes * (1 - share) / rate + row.bytes * share * 7 / 8 * 8 / node));
}

// Zhao et al. 2023, PyTorch FSDP, section 4.4: weights of 32 bits that are sharded are cast before they are gathered.
// What each rank keeps
// whole is sent as it is kept.
TEST_CASE("32-bit weights are gathered as 16-bit ones and renewed as they are stored, in both modes") {
  for (const char* mode : {"assumptions.mode=ideal", "assumptions.mode=calibrated"})
    for (const int stage : {1, 2, 3}) {
      CAPTURE(mode);
      CAPTURE(stage);
      const Scenario narrow =
                         with(preset("llama3-8b-8-h100"), {mode, "parallelism.zero_stage=" + std::to_string(stage)}),
                     wide = with(narrow, {"precision.weights=fp32", "precision.master_weights=none"});
      const auto sent = [](const Scenario& s) { return value_of(s, Q::gathered_weight_bytes); };
      CHECK(sent(wide) == (stage == 3 ? sent(narrow) : 2 * sent(narrow)));
    }
}
