#include "engine/hardware/collective.h"
#include "engine/hardware/placement.h"
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
