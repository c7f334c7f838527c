// The studies behind the book's figures against the book's numbers and the report's own.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "engine/evaluate/evaluate.h"
#include "engine/studies/collective.h"
#include "engine/studies/comm_roofline.h"
#include "engine/studies/matmul.h"
#include "engine/studies/network.h"
#include "engine/studies/sharded_matmul.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/serving_fixture.h"

using namespace roofscape;
using namespace roofscape::engine;
using namespace roofscape::tests;

namespace {

const NetworkLine* line_of(const NetworkStudy& study, NetworkStrategy kind, int axes = -1) {
  for (const NetworkLine& line : study.lines)
    if (line.strategy == kind && (axes < 0 || line.axes == axes)) return &line;
  return nullptr;
}

constexpr NetworkQuestion kBook{LayerCount::mlp, Pass::forward};

}  // namespace

// Scaling book, chapter 5: D = 8192, F = 32768 on 16 x 16 x 16 v5p crosses at 1.6 M tokens (2025 edition, transfers
// one after the other) and at 4e5 (2026, at the same time).
TEST_CASE("on 16x16x16 v5p FSDP with tensor becomes compute-bound at the book's batch") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"cluster.slice=16x16x16", "model.d_ff=32768"});
  const NetworkStudy study = network_study(s, kBook);
  CHECK(*line_of(study, NetworkStrategy::mixed_sum)->hidden_from * 4096 == doctest::Approx(1625625));
  CHECK(*line_of(study, NetworkStrategy::mixed_max)->hidden_from * 4096 == doctest::Approx(1625625 / 4.0));
}

// Chapter 5: FSDP on one, two and three axes of v5p needs 2550, 1275 and 850 tokens a chip, whatever the model.
TEST_CASE("FSDP needs 2550 tokens per chip over the axes it spans") {
  for (const NetworkQuestion& q : {kBook, NetworkQuestion{LayerCount::whole, Pass::forward},
                                   NetworkQuestion{LayerCount::whole, Pass::backward}}) {
    const NetworkStudy study = network_study(preset("llama3-70b-v5p-pod"), q);
    for (int axes = 1; axes <= 3; ++axes) {
      CAPTURE(axes);
      CHECK(*line_of(study, NetworkStrategy::fsdp, axes)->hidden_from == doctest::Approx(2550.0 / axes));
    }
  }
}

// Chapter 5, the ratio chart of 4 x 4 x 4 with F = 30000: tensor over all chips has M F / (alpha Y) at any batch.
TEST_CASE("tensor parallelism over a cube of 64 has the same ratio at any batch") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"cluster.slice=4x4x4", "model.d_ff=30000"});
  const NetworkStudy study = network_study(s, kBook);
  const NetworkLine* tensor = line_of(study, NetworkStrategy::tensor);
  REQUIRE(tensor);
  CHECK(tensor->degree == 64);
  for (const std::size_t i : {std::size_t{0}, study.tokens.size() - 1})
    CHECK(study.compute[i] / tensor->seconds[i] == doctest::Approx(3 * 30000 / (2550.0 * 64)));
  CHECK_FALSE(tensor->hidden_from);
}

TEST_CASE("crossings of the book's block are the report's bounds") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"cluster.slice=16x16x32"});  // as many chips as the mesh
  const Report report = evaluate(s);
  const NetworkStudy study = network_study(s, kBook);
  CHECK(*line_of(study, NetworkStrategy::mixed_sum)->hidden_from ==
        doctest::Approx(*report.quantities[Q::bound_mixed_sum]));
  CHECK(*line_of(study, NetworkStrategy::mixed_max)->hidden_from ==
        doctest::Approx(*report.quantities[Q::bound_mixed_max]));
  CHECK(study.tokens_now == *report.quantities[Q::bound_cluster_tokens]);
  CHECK(line_of(study, NetworkStrategy::mixed_sum)->ratio_now ==
        doctest::Approx(*report.quantities[Q::bound_ratio_sum]));
}

// Chapter 12: 2475 tokens a GPU beyond the node, for two bytes a weight.
TEST_CASE("FSDP over many H100 nodes needs 2475 tokens per GPU, less what a node has itself") {
  const NetworkStudy study = network_study(preset("llama3-405b-16k-h100"), kBook);
  CHECK(*line_of(study, NetworkStrategy::fsdp)->hidden_from == doctest::Approx(2475).epsilon(0.002));
}

TEST_CASE("at the present batch the plan's line is the layer of the report") {
  for (const char* id : {"llama3-70b-v5p-pod", "llama3-8b-8-h100"}) {
    CAPTURE(id);
    const Scenario s = with(preset(id), {"assumptions.axes_overlap=sum"});
    const Report report = evaluate(s);
    const auto q = [&](Q x) { return *report.quantities[x]; };
    const double microbatches = q(Q::microbatches);
    const NetworkStudy forward = network_study(s, {LayerCount::whole, Pass::forward}),
                       backward = network_study(s, {LayerCount::whole, Pass::backward});
    const auto plan_now = [&](const NetworkStudy& study) {
      const NetworkLine* plan = line_of(study, NetworkStrategy::plan);
      REQUIRE(plan);
      // Ratio at the present batch times communication is arithmetic: of all microbatches of a step.
      return plan->ratio_now;
    };
    const double compute = q(Q::layer_flops_forward) / q(Q::peak_flops) * microbatches;
    CHECK(plan_now(forward) * q(Q::layer_network_forward) * microbatches == doctest::Approx(compute));
    CHECK(plan_now(backward) * q(Q::layer_network_backward) * microbatches == doctest::Approx(2 * compute));
  }
}

// 1024 sequences of 4096 tokens on a mesh of 1024 x 4 x 2 chips; 768 of the pod's 8960 have no part in it.
// Of lines between two samples, which are straight but for where hops begin to count.
double seconds_at(const NetworkStudy& study, const NetworkLine& line, double tokens) {
  const auto after = std::upper_bound(study.tokens.begin(), study.tokens.end(), tokens);
  REQUIRE(after != study.tokens.begin());
  REQUIRE(after != study.tokens.end());
  const auto i = static_cast<std::size_t>(after - study.tokens.begin());
  const double share = (tokens - study.tokens[i - 1]) / (study.tokens[i] - study.tokens[i - 1]);
  return line.seconds[i - 1] + share * (line.seconds[i] - line.seconds[i - 1]);
}

TEST_CASE(
    "the plan's line at another batch is the line of the plan with that batch, in both modes and on all links") {
  std::mt19937 rng(17);
  int torus = 0, switched = 0;
  for (int i = 0; i < 300; ++i) {
    Scenario s = random_scenario(rng);
    for (const Mode mode : {Mode::ideal, Mode::calibrated})
      for (const Pass pass : {Pass::forward, Pass::backward}) {
        s.assumptions.mode = mode;
        Scenario larger = s;
        larger.pipeline.microbatch_sequences *= 2;
        larger.workload.global_batch_sequences *= 2;
        const NetworkStudy now = network_study(s, {LayerCount::whole, pass}),
                           then = network_study(larger, {LayerCount::whole, pass});
        const NetworkLine* of_now = line_of(now, NetworkStrategy::plan);
        const NetworkLine* of_then = line_of(then, NetworkStrategy::plan);
        REQUIRE((of_now == nullptr) == (of_then == nullptr));
        if (of_now == nullptr) continue;
        CAPTURE(i);
        CAPTURE(static_cast<int>(mode));
        CAPTURE(static_cast<int>(pass));
        for (const double tokens : {now.tokens_now, then.tokens_now})
          CHECK(seconds_at(now, *of_now, tokens) ==
                doctest::Approx(seconds_at(then, *of_then, tokens)).epsilon(0.02));
        (s.cluster.chip.interconnect == Interconnect::torus ? torus : switched) += 1;
      }
  }
  CHECK(torus > 100);
  CHECK(switched > 100);
}

TEST_CASE("chips that idle count for no tokens: those of a step are the mesh's chips'") {
  const NetworkStudy study = network_study(preset("llama3-70b-v5p-pod"), {});
  CHECK(study.chips == 8192);
  CHECK(study.tokens_now == 512);
}

// Microbatches of one sequence: 16 gathers of ZeRO-3 cost 16 times FSDP's one, and so many tokens more hide them.
TEST_CASE("a plan of ZeRO-3 needs the tokens of FSDP times its microbatches") {
  const NetworkStudy study = network_study(preset("llama3-8b-8-h100"), {});
  CHECK(study.plan_gathers == 16);
  CHECK(*line_of(study, NetworkStrategy::plan)->hidden_from ==
        doctest::Approx(16 * *line_of(study, NetworkStrategy::fsdp)->hidden_from));
}

TEST_CASE("a line is over the arithmetic before its crossing and under it after") {
  std::mt19937 rng(5);
  for (int i = 0; i < 60; ++i) {
    const Scenario s = random_scenario(rng);
    for (const LayerCount count : {LayerCount::whole, LayerCount::mlp})
      for (const Pass pass : {Pass::forward, Pass::backward}) {
        const NetworkStudy study = network_study(s, {count, pass});
        for (const NetworkLine& line : study.lines)
          for (std::size_t k = 0; k < study.tokens.size(); ++k) {
            REQUIRE(std::isfinite(line.seconds[k]));
            if (!line.hidden_from || std::abs(study.tokens[k] / std::max(1e-9, *line.hidden_from) - 1) < 1e-6)
              continue;
            CHECK((study.compute[k] >= line.seconds[k]) == (study.tokens[k] > *line.hidden_from));
          }
      }
  }
}

// Chapter 12: 295 rows on H100 from bytes of weights alone, half as many with int8 weights.
TEST_CASE("the critical batch is near the ridge, and halves with the bytes of a weight") {
  for (const OperationKind kind :
       {OperationKind::gate_up, OperationKind::down, OperationKind::qkv, OperationKind::attention_out}) {
    const MatmulStudy study = matmul_study(
        with(preset("llama3-8b-8-h100"),
             {"model.d_model=1000000", "model.d_ff=1000000", "model.n_heads=8192", "model.n_kv_heads=8192"}),
        kind);
    CAPTURE(kOperationIds[kind]);
    CHECK(*study.lines[0].critical_rows == doctest::Approx(989.0 / 3.35).epsilon(0.002));
    CHECK(*study.lines[1].critical_rows == doctest::Approx(989.0 / 3.35 / 2).epsilon(0.002));
  }
}

TEST_CASE("a matmul reaches its peak from its critical batch on and not before") {
  const MatmulStudy study = matmul_study(preset("deepseek-v3-2048-h800"), OperationKind::down);
  for (const MatmulLine& line : study.lines)
    for (std::size_t i = 0; i < study.rows.size(); ++i)
      CHECK((line.flop_per_s[i] < line.peak * (1 - 1e-9)) == (study.rows[i] < *line.critical_rows * (1 - 1e-9)));
}

TEST_CASE("a chip without a faster fp8 has no line for it") {
  for (const MatmulLine& line : matmul_study(preset("llama3-70b-v5p-pod"), OperationKind::gate_up).lines)
    CHECK(line.mix != DtypeMix::fp8);
}

// Chapter 3: an axis of 4 with a microsecond a hop and 180 GB/s is bound by latency below 2 x 180 kB.
TEST_CASE("a gather over four v5p chips is latency-bound below two hops' worth of bytes") {
  const Scenario s = preset("llama3-70b-v5p-pod");
  const CollectiveStudy study = collective_study(s, evaluate(s), {CollectiveGroup::tensor, 0});
  CHECK(study.hops == 2);
  CHECK(*study.lines[0].crossing_bytes == doctest::Approx(360e3));
  // Chapter 3: an AllReduce takes twice a gather; on one ring an AllToAll of the same bytes takes a quarter.
  CHECK(study.lines[1].seconds_a_byte == doctest::Approx(2 * study.lines[0].seconds_a_byte));
  CHECK(study.lines[2].seconds_a_byte == doctest::Approx(study.lines[0].seconds_a_byte / 4));
}

// Chapter 3: V bytes of all ranks together take V / (4 W), a quarter of their gather.
TEST_CASE("Ulysses over a ring of n ranks passes what each of them has at 4 W / n, in figure and report") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"),
                          {"parallelism.tensor=1", "parallelism.context=8", "parallelism.context_method=ulysses"});
  const Report report = evaluate(s);
  const CollectiveStudy study = collective_study(s, report, {CollectiveGroup::context, 0});
  CHECK(study.exchanges());
  CHECK(study.exchange_bytes_per_s == doctest::Approx(4 * 180e9 / 8));
  for (const CollectiveRow& row : report.collectives)
    if (row.axis == Axis::context) {
      CHECK(row.kind == CollectiveKind::all_to_all);
      CHECK(row.bytes / row.time_s == doctest::Approx(4 * 180e9 / 8));
    }
}

// Eight GPUs of a node: a rank has an eighth already.
TEST_CASE("Ulysses in a node passes what each rank has at its NVLink rate over 7/8") {
  const Scenario s = with(preset("llama3-8b-8-h100"),
                          {"parallelism.fsdp=1", "parallelism.context=8", "parallelism.context_method=ulysses"});
  for (const CollectiveRow& row : evaluate(s).collectives)
    if (row.axis == Axis::context) CHECK(row.bytes / row.time_s == doctest::Approx(450e9 * 8 / 7));
}

TEST_CASE("state that is sharded over context alone stands with context in the network's roofline") {
  const Scenario s = with(preset("llama3-8b-8-h100"), {"parallelism.fsdp=1", "parallelism.context=8"});
  const CommRoofline study = comm_roofline(s, evaluate(s));
  REQUIRE(study.axes.size() == 1);
  CHECK(study.axes[0].axis == Axis::context);
  CHECK(study.axes[0].degree == 8);
}

TEST_CASE("under ZeRO-0 gradients are reduced by an AllReduce, and what Muon gathers of its updates is a gather") {
  const Scenario s = with(preset("llama3-8b-8-h100"),
                          {"parallelism.zero_stage=0", "precision.optimizer=muon_fp32", "muon.homes=distributed"});
  const Report report = evaluate(s);
  const CollectiveStudy study = collective_study(s, report, {CollectiveGroup::fsdp, 0});
  std::set<CollectiveKind> kinds;
  for (const CollectiveUse& use : study.uses) kinds.insert(use.kind);
  CHECK(kinds == std::set{CollectiveKind::all_reduce, CollectiveKind::all_gather});
  for (const CollectiveRow& row : report.collectives)
    if (row.of_update)
      CHECK(std::any_of(study.uses.begin(), study.uses.end(), [&](const CollectiveUse& use) {
        return use.kind == row.kind && use.seconds == doctest::Approx(row.time_s);
      }));
}

namespace {

// Whether what the plan sends over the study's group goes at the rate of that group: what experts that are spread keep
// to groups of their own is left out.
void check_uses(const Scenario& s, CollectiveGroup group) {
  const Report report = evaluate(s);
  const CollectiveStudy study = collective_study(s, report, {group, 0});
  CHECK(study.as_step);
  double most = 0;
  for (const CollectiveRow& row : report.collectives) {
    CHECK(row.experts_bytes >= 0);
    CHECK(row.experts_bytes <= row.bytes * (1 + 1e-12));
    if (study.axis && row.axis == *study.axis && study.known()) most = std::max(most, row.experts_bytes);
  }
  CHECK(study.experts_bytes == most);
  for (const CollectiveUse& use : study.uses)
    for (const CollectiveLine& line : study.lines)
      if (line.kind == use.kind ||
          (line.kind == CollectiveKind::all_gather && use.kind == CollectiveKind::reduce_scatter))
        CHECK_MESSAGE(line.time(use.bytes) == doctest::Approx(use.seconds), kCollectiveGroupIds[group]);
}

}  // namespace

TEST_CASE("a message of the plan takes in the collective figure what the report says, in every mode") {
  std::mt19937 rng(41);
  for (int i = 0; i < 400; ++i) {
    Scenario s = i % 2 == 0 ? random_scenario(rng) : random_serving_scenario(rng);
    for (const Mode mode : {Mode::ideal, Mode::calibrated}) {
      s.assumptions.mode = mode;
      CAPTURE(i);
      CAPTURE(static_cast<int>(mode));
      for (const CollectiveGroup group : {CollectiveGroup::tensor, CollectiveGroup::context, CollectiveGroup::expert,
                                          CollectiveGroup::fsdp, CollectiveGroup::data})
        check_uses(s, group);
    }
  }
}

TEST_CASE("calibrated, a collective of a decoding step takes in the figure what it takes in the report") {
  Scenario s = preset("llama3-70b-serving-8-h100");
  s.assumptions.mode = Mode::calibrated;
  const Report report = evaluate(s);
  const CollectiveStudy study = collective_study(s, report, {});
  REQUIRE(!study.uses.empty());
  CHECK(study.lines.front().latency_s > 0);
  for (const CollectiveRow& row : report.collectives)
    if (row.axis == *study.axis && row.kind == CollectiveKind::all_gather)
      CHECK(study.lines.front().time(row.bytes) == doctest::Approx(row.time_s));
}

TEST_CASE("calibrated, an AllReduce or gather adds its latency to the bytes, as a layer of the step has it") {
  Scenario s = preset("llama3-405b-16k-h100");
  s.assumptions.mode = Mode::calibrated;
  const Report report = evaluate(s);
  const CollectiveStudy study = collective_study(s, report, {CollectiveGroup::tensor, 0});
  const CollectiveLine& gather = study.lines.front();
  for (const CollectiveUse& use : study.uses)
    if (use.kind == CollectiveKind::all_gather) CHECK(gather.time(use.bytes) == doctest::Approx(use.seconds));
  CHECK(gather.time(0) == gather.latency_s);
}

TEST_CASE("a node's hop is chip data, marked as assumed, and left out where only published figures are asked for") {
  const Scenario s = preset("llama3-8b-8-h100");
  CHECK(s.cluster.chip[ChipField::scaleup_hop_latency_s].assumed);
  const Report report = evaluate(s);
  const CollectiveStudy study = collective_study(s, report, {CollectiveGroup::node, 0});
  CHECK(study.assumed);
  CHECK(study.hops == 1);
  CHECK(*study.lines[0].crossing_bytes == doctest::Approx(1e-6 * 8 / 7 * 450e9));
  CHECK_FALSE(collective_study(s, report, {CollectiveGroup::node, 0, true}).lines[0].crossing_bytes);
  CHECK_FALSE(collective_study(preset("llama3-70b-v5p-pod"), report, {CollectiveGroup::cluster, 0, true}).assumed);
}

// Chapter 3: 8 tokens of 8192 in bf16 are 131 kB, below the 360 kB at which two hops of a v5p ring take as long.
TEST_CASE("a small gather takes its hops in the report, in the figure and in calc") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"),
                          {"workload.sequence_length=16", "parallelism.context=2", "parallelism.tensor=4"});
  for (const CollectiveRow& row : evaluate(s).collectives)
    if (row.axis == Axis::tensor) {
      CHECK(row.bytes < 360e3);
      CHECK(row.time_s == doctest::Approx(2e-6));
    }
  check_uses(s, CollectiveGroup::tensor);
  const Scenario gpus =
      with(preset("llama3-8b-8-h100"), {"workload.sequence_length=16", "parallelism.fsdp=1", "parallelism.tensor=8"});
  for (const CollectiveRow& row : evaluate(gpus).collectives)
    if (row.axis == Axis::tensor) CHECK(row.time_s == doctest::Approx(1e-6));
}

// 64 expert ranks in 8 nodes of 8: of what a rank has 7/8 leave the node, over 50 GB/s (chapter 12).
TEST_CASE("a rank of an exchange over nodes has its bytes out at 8/7 of its share of the node's links") {
  Scenario s = preset("deepseek-v3-2048-h800");
  const auto rate = [&s] {
    const CollectiveStudy study = collective_study(s, evaluate(s), {});
    CHECK(study.exchanges());
    return study.exchange_bytes_per_s;
  };
  CHECK(rate() == doctest::Approx(100e9 * 8 / 7));  // four of a token's eight copies go between nodes
  s.model.moe.groups_per_token = 0;
  // Eight experts drawn from all are on 8 (1 - (7/8)^8) of the eight nodes.
  CHECK(rate() == doctest::Approx(50e9 * 8 / 7 / (1 - std::pow(7.0 / 8, 8))));
}

// The same forward pass: of the plan's transfers those of the experts are all that grows with the tokens.
TEST_CASE("the margin of the experts' forward passes is the network figure's ratio") {
  const Scenario s = preset("deepseek-v3-2048-h800");
  const CommRoofline roofline = comm_roofline(s, evaluate(s));
  const NetworkStudy network = network_study(s, {LayerCount::whole, Pass::forward});
  for (const AxisDot& dot : roofline.axes)
    if (dot.axis == Axis::expert)
      CHECK(dot.forward_margin == doctest::Approx(line_of(network, NetworkStrategy::plan)->ratio_now).epsilon(0.01));
}

TEST_CASE("a mesh axis stands on the roof of its tier") {
  std::mt19937 rng(11);
  for (int i = 0; i < 40; ++i) {
    const Scenario s = i < 2 ? preset(i == 0 ? "llama3-70b-v5p-pod" : "llama3-405b-16k-h100") : random_scenario(rng);
    const Report report = evaluate(s);
    const CommRoofline study = comm_roofline(s, report);
    for (const AxisDot& dot : study.axes) {
      const LinkRoof& roof = study.roofs[static_cast<std::size_t>(dot.roof)];
      const double on_roof = std::min(study.peak, dot.intensity * roof.bytes_per_s);
      CHECK(dot.flop_per_s <= on_roof * (1 + 1e-9));
      // But where hops take longer than the bytes.
      const bool waits = std::any_of(report.collectives.begin(), report.collectives.end(),
                                     [](const CollectiveRow& r) { return r.time_s > r.sent_s() * (1 + 1e-9); });
      if (dot.axis != Axis::pipeline && !waits) CHECK(dot.flop_per_s == doctest::Approx(on_roof));
    }
  }
}

// Chapter 3: gathering weights is limited by the network below 2550 rows on one v5p axis; reducing wins there iff D >
// 2 B.
TEST_CASE("below 2550 rows reducing sums beats gathering weights exactly where the sum is longer than two batches") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"parallelism.context=1", "parallelism.fsdp=1024"});
  for (const int rows : {1024, 2048}) {
    for (const int d_model : {1024, 2000, 4000, 8192}) {
      const Scenario at =
          with(s, {"workload.sequence_length=" + std::to_string(rows), "model.d_model=" + std::to_string(d_model)});
      const ShardedMatmulStudy study = sharded_matmul_study(at);
      CAPTURE(rows);
      CAPTURE(d_model);
      REQUIRE(study.rows == rows);
      const std::vector<MatmulWay>& ways = study.cases[1].ways;
      CHECK(ways[0].seconds > ways[0].math_s);
      CHECK((ways[1].seconds < ways[0].seconds) == (d_model > 2 * rows));
    }
  }
}

// Chapter 5: columns, then rows moves twice tokens x d_model, both matrices by columns tokens x (d_model + d_ff).
TEST_CASE("splitting columns then rows moves the residual stream twice and never the hidden activations") {
  const Scenario s = preset("llama3-70b-v5p-pod");
  const ShardedMatmulStudy study = sharded_matmul_study(s);
  CHECK(study.gathered.moves_s / study.column_row.moves_s == doctest::Approx((8192.0 + 28672) / (2 * 8192)));
}
