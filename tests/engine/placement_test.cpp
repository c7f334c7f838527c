#include "engine/hardware/collective.h"
#include "engine/hardware/placement.h"
#include "engine/hardware/switched_collective.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::preset;
using tests::with;

namespace {

double bandwidth(const Scenario& s, Axis axis) {
  const Inputs<double> in = make_inputs<double>(s, nullptr);
  const AxisLinks& links = axis == Axis::fsdp ? in.links.state : in.links[axis];
  return gather_bandwidth(links, in.torus_axes[static_cast<std::size_t>(axis)], in.chip);
}

}  // namespace

TEST_CASE("FSDP over two torus axes of v5p gathers at twice 180 GB/s") {
  CHECK(bandwidth(preset("llama3-70b-v5p-pod"), Axis::fsdp) == 3.6e11);
}
TEST_CASE("tensor over one torus axis of v5p gathers at 180 GB/s") {
  CHECK(bandwidth(preset("llama3-70b-v5p-pod"), Axis::tensor) == 1.8e11);
}
TEST_CASE("pure FSDP takes all three torus axes when the scenario does not say") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"parallelism.tensor=1", "placement.fsdp.axes=0"});
  CHECK(bandwidth(s, Axis::fsdp) == 5.4e11);
}
TEST_CASE("a slice whose sides are not multiples of four gathers one way only") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"cluster.slice=16x20x26"});
  CHECK_FALSE(rings_close(s.cluster));
  CHECK(bandwidth(s, Axis::tensor) == 9e10);
}
TEST_CASE("the rings of a v5e slice close at 16, those of v3 at 32") {
  // Scaling book, chapter 2: a 2D torus wraps at the full side of its pod.
  const auto closes = [](std::string_view chip, std::string_view slice) {
    return rings_close(with(preset("llama3-70b-v5p-pod"), {"cluster.chip=" + std::string(chip), "cluster.slice=" + std::string(slice)}).cluster);
  };
  CHECK(closes("tpu-v5e", "16x16"));
  CHECK_FALSE(closes("tpu-v5e", "8x16"));
  CHECK(closes("tpu-v3", "32x32"));
  CHECK_FALSE(closes("tpu-v3", "16x16"));
}
TEST_CASE("tensor 8 fills an H100 node and gathers at 8/7 of 450 GB/s") {
  CHECK(bandwidth(preset("llama3-405b-16k-h100"), Axis::tensor) == doctest::Approx(450e9 * 8 / 7).epsilon(1e-15));
}
TEST_CASE("a group with one GPU a node shares the node's 400 GB/s with the other seven") {
  // Scaling book, chapter 12: 50 GB/s a GPU; 16 ranks move 15/16 of the array.
  CHECK(bandwidth(preset("llama3-405b-16k-h100"), Axis::context) == doctest::Approx(50e9 * 16 / 15).epsilon(1e-15));
}
TEST_CASE("a group of whole nodes gathers at what a node receives") {
  // Chapter 12: across nodes 400 GB/s, here of 2 nodes: each receives half, 800 GB/s, and the node's NVLink decides.
  const Scenario s = with(preset("llama3-8b-8-h100"), {"cluster.nodes=2", "parallelism.fsdp=16"});
  CHECK(bandwidth(s, Axis::fsdp) == doctest::Approx(450e9 * 8 / 7).epsilon(1e-15));
  const Scenario many = with(preset("llama3-8b-8-h100"), {"cluster.nodes=128", "parallelism.fsdp=1024"});
  CHECK(bandwidth(many, Axis::fsdp) == doctest::Approx(400e9 * 128 / 127).epsilon(1e-15));
}
TEST_CASE("data between slices runs over the data-centre network") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"cluster.slices=2", "parallelism.data=2"});
  CHECK(make_inputs<double>(s, nullptr).links[Axis::data].tier == LinkTier::dcn);
  CHECK(bandwidth(s, Axis::data) == 6.25e9);
}

// Chapter 12: a SuperPod of 1024 H100. Leaves of 32 nodes at 400 GB/s a node, a spine over 4 of them at 12.8 TB/s each.
namespace {
Scenario on_superpod(std::string_view fsdp) {
  return with(preset("llama3-8b-8-h100"), {"cluster=dgx-h100-superpod-1024", "parallelism.fsdp=" + std::string(fsdp),
                                           "workload.global_batch_sequences=1024"});
}
AxisPlacement placed(const Scenario& s, Axis axis) { return evaluate(s).placement[static_cast<std::size_t>(axis)]; }
}  // namespace

TEST_CASE("on the SuperPod the leaf decides: 32/31 of 400 GB/s; node 514, spine 17,067") {
  const Scenario s = on_superpod("1024");
  CHECK(bandwidth(s, Axis::fsdp) == doctest::Approx(400e9 * 32 / 31).epsilon(1e-15));
  CHECK(placed(s, Axis::fsdp).fabric_level == 0);
  const Inputs<double> in = make_inputs<double>(s, nullptr);
  const auto& levels = in.links.state.levels;
  CHECK(levels[0].children == 32);
  CHECK(levels[1].children == 4);
  CHECK(levels[1].below_child == 256);
  CHECK(level_bandwidth(4.0, 1.0, in.chip.levels[1]) == doctest::Approx(17067e9).epsilon(1e-4));
}
TEST_CASE("sharding over tensor ranks inside the node does not speed up the fabric, over two nodes it halves the time") {
  // Chapter 12: bytes shrink with the tensor degree, but up to a node's 8 so does the share of its links.
  const auto seconds = [](const char* tensor, const char* fsdp) {
    const Scenario s = with(on_superpod(fsdp), {std::string("parallelism.tensor=") + tensor});
    return 1 / (bandwidth(s, Axis::fsdp) * s.parallelism.tensor);  // of one byte over both axes
  };
  CHECK(seconds("8", "128") == doctest::Approx(1 / (400e9 * 32 / 31)).epsilon(1e-12));
  CHECK(seconds("2", "512") == doctest::Approx(seconds("8", "128")).epsilon(1e-12));
  CHECK(seconds("16", "64") == doctest::Approx(1 / (2 * 400e9 * 16 / 15)).epsilon(1e-12));
}
TEST_CASE("an oversubscribed spine decides") {
  Scenario s = on_superpod("1024");
  s.cluster.fabric[1].bytes_per_s_per_child /= 64;
  CHECK(bandwidth(s, Axis::fsdp) == doctest::Approx(200e9 * 4 / 3).epsilon(1e-15));
  CHECK(placed(s, Axis::fsdp).fabric_level == 1);
}
TEST_CASE("two nodes exchange halves, so their NVLink decides and no fabric level") {
  const Scenario s = on_superpod("16");
  CHECK(bandwidth(s, Axis::fsdp) == doctest::Approx(450e9 * 8 / 7).epsilon(1e-15));
  CHECK(placed(s, Axis::fsdp).fabric_level == -1);
}
TEST_CASE("a group with one GPU a leaf shares the leaf's link to the spine with 255 others") {
  // tensor 8 x context 8 x fsdp 4 fill a leaf, data 4 spans the leaves: 12.8 TB/s over 256 GPUs.
  const Scenario s = with(on_superpod("4"), {"parallelism.tensor=8", "parallelism.context=8", "parallelism.data=4"});
  CHECK(bandwidth(s, Axis::data) == doctest::Approx(12.8e12 / 256 * 4 / 3).epsilon(1e-15));
}
TEST_CASE("a fabric of one level at a node's bandwidth is the fabric of a cluster that states none") {
  Scenario s = with(preset("llama3-8b-8-h100"), {"cluster.nodes=128", "parallelism.fsdp=1024", "workload.global_batch_sequences=1024"});
  const Report plain = evaluate(s);
  s.cluster.fabric = {{"leaf", 128, 400e9, false}};
  CHECK(evaluate(s).quantities == plain.quantities);
}
TEST_CASE("switches that add up halve an AllReduce across nodes: V over W instead of 2 V over W") {
  // One GPU a node of 32: data ranks under one leaf, 50 GB/s each.
  Scenario s = with(on_superpod("1"), {"parallelism.tensor=8", "parallelism.data=32"});
  const auto seconds = [](const Scenario& scenario) {
    for (const CollectiveRow& row : evaluate(scenario).collectives)
      if (row.axis == Axis::data) return row.time_s / row.bytes;
    return 0.0;
  };
  CHECK(seconds(s) == doctest::Approx(2 * 31.0 / 32 / 50e9).epsilon(1e-12));
  s.cluster.fabric[0].in_network_reduction = true;
  CHECK(seconds(s) == doctest::Approx(1 / 50e9).epsilon(1e-12));
  // The same ranks as fsdp: without ZeRO an AllReduce too, with it gathers and scatters that no switch can add up.
  for (const char* zero : {"parallelism.zero_stage=0", "parallelism.zero_stage=2"}) {
    const Scenario sharded = with(s, {"parallelism.data=1", "parallelism.fsdp=32", zero});
    double both = 0;
    for (const CollectiveRow& row : evaluate(sharded).collectives)
      if (row.axis == Axis::fsdp) both += row.time_s / row.bytes;
    CHECK(both == doctest::Approx(sharded.parallelism.zero_stage == 0 ? 1 / 50e9 : 2 * 31.0 / 32 / 50e9).epsilon(1e-12));
  }
}
TEST_CASE("72 GPUs of GB200 in 8 racks: NVLink decides, 900 x 72/71, before the leaf's 3600 x 8/7") {
  const Scenario s = with(preset("llama3-8b-8-h100"), {"cluster=gb200-superpod-576", "parallelism.fsdp=576", "workload.global_batch_sequences=576"});
  CHECK(bandwidth(s, Axis::fsdp) == doctest::Approx(900e9 * 72 / 71).epsilon(1e-15));
  CHECK(placed(s, Axis::fsdp).fabric_level == -1);
}
TEST_CASE("above a pod of Meta's cluster seven share the bandwidth of one") {
  const Scenario s = with(preset("llama3-8b-8-h100"), {"cluster=meta-llama3-24k", "parallelism.tensor=8", "parallelism.fsdp=384",
                                                       "parallelism.data=8", "workload.global_batch_sequences=3072"});
  CHECK(bandwidth(s, Axis::data) == doctest::Approx(50e9 / 7 * 8 / 7).epsilon(1e-12));
  CHECK(placed(s, Axis::data).fabric_level == 2);
}
