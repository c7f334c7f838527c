// Collectives: their regimes, what must hold between them, and that the engine's evaluation uses the same functions.
#include <doctest/doctest.h>

#include "engine/hardware/collective.h"
#include "engine/hardware/switched_collective.h"
#include "engine/hardware/torus_collective.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::near;
using tests::preset;
using tests::with;

namespace {

using Axis1 = TorusAxis<double>;
const TorusLinks<double> kLinks{1.8e11, 9e10, 1e-6};

double gather(std::vector<Axis1> axes, double bytes) {
  const double ranks = torus_ranks<double>(axes);
  return torus_gather_time<double>(bytes, axes, ranks, kLinks);
}
double all_to_all(std::vector<Axis1> axes, double bytes) {
  const double ranks = torus_ranks<double>(axes);
  return torus_all_to_all_time<double>(bytes, axes, ranks, kLinks);
}
double bandwidth(const Scenario& s, Axis axis) {
  const Inputs<double> in = make_inputs<double>(s, nullptr);
  return gather_bandwidth(in.links[axis], in.torus_axes[axis], in.chip);
}

}  // namespace

TEST_CASE("closed rings gather in V / W, whatever their size") {
  for (const int n : {2, 4, 16, 64}) CHECK(gather({{double(n), n, true}}, 1e9) == near(1e9 / 1.8e11));
}
TEST_CASE("a line takes nearly twice as long as a ring, the closer the longer it is") {
  double last = 0;
  for (const int n : {2, 4, 16, 256}) {
    const double ratio = gather({{double(n), n, false}}, 1e9) / gather({{double(n), n, true}}, 1e9);
    CHECK(ratio == near(2.0 * (n - 1) / n));
    CHECK(ratio > last);
    last = ratio;
  }
  CHECK(last > 1.99);
}
TEST_CASE("axes add their bandwidth") {
  CHECK(gather({{4, 4, true}, {8, 8, true}, {2, 2, true}}, 1e9) == near(gather({{4, 4, true}}, 1e9) / 3));
}
TEST_CASE("a ring beside a line is faster than two lines and slower than two rings") {
  const double rings = gather({{8, 8, true}, {8, 8, true}}, 1e9), mixed = gather({{8, 8, true}, {8, 8, false}}, 1e9),
               lines = gather({{8, 8, false}, {8, 8, false}}, 1e9);
  CHECK(rings < mixed);
  CHECK(mixed < lines);
}
TEST_CASE("AllReduce is a ReduceScatter and an AllGather") {
  CHECK(all_reduce_of_gather(gather({{8, 8, true}}, 1e9)) ==
        gather({{8, 8, true}}, 1e9) + gather({{8, 8, true}}, 1e9));
}
TEST_CASE("hops: half a ring, rounded down, all but one of a line, axes added") {
  CHECK(torus_hops<double>(std::vector<Axis1>{{16, 16, true}}) == 8);
  CHECK(torus_hops<double>(std::vector<Axis1>{{5, 5, true}}) == 2);
  CHECK(torus_hops<double>(std::vector<Axis1>{{4, 4, false}}) == 3);
  CHECK(torus_hops<double>(std::vector<Axis1>{{4, 4, true}, {4, 4, false}}) == 5);
}
TEST_CASE("an AllToAll on one ring is a quarter of a gather, on a line half of one") {
  CHECK(all_to_all({{8, 8, true}}, 1e9) == near(gather({{8, 8, true}}, 1e9) / 4));
  CHECK(all_to_all({{8, 8, false}}, 1e9) == near(2 * all_to_all({{8, 8, true}}, 1e9)));
}
TEST_CASE("an AllToAll over several axes is limited by the longest") {
  CHECK(all_to_all({{4, 4, true}, {4, 4, true}, {8, 8, true}}, 1 << 30) ==
        near((1 << 30) * 8.0 / (4 * 128 * 1.8e11)));
}
TEST_CASE("a one-way ring moves half as much in an AllToAll as in an AllGather") {
  CHECK(ring_all_to_all_link_bytes(1e6, 8.0) == near(ring_gather_link_bytes(1e6, 8.0) / 2));
}
TEST_CASE("one rank gathers and exchanges nothing, and an axis of one rank carries nothing") {
  CHECK(gather({{1, 1, true}}, 1e9) == 0);
  CHECK(all_to_all({{1, 1, true}, {1, 1, false}}, 1e9) == 0);
  CHECK(gather({{8, 8, true}, {1, 1, true}}, 1e9) == gather({{8, 8, true}}, 1e9));
  CHECK(gather({{8, 8, true}, {1, 1, false}}, 1e9) == gather({{8, 8, true}}, 1e9));
  CHECK(all_to_all({{8, 8, true}, {1, 1, false}}, 1e9) == all_to_all({{8, 8, true}}, 1e9));
}
TEST_CASE("chunk hops of an AllToAll on an even ring are N^2 / 4 together") {
  for (const int n : {2, 8, 32}) CHECK(ring_chunk_hops(n / 2.0) + ring_chunk_hops(n / 2.0 - 1) == n * n / 4.0);
}
TEST_CASE("the shorter way round a closed ring") {
  CHECK(shorter_way(3.0, Axis1{4, 4, true}) == 1);
  CHECK(shorter_way(3.0, Axis1{4, 4, false}) == 3);
}
TEST_CASE("node, leaf and spine of an H100 cluster gather at 514, 413 and 17,067 GB/s") {
  CHECK(level_bandwidth(8.0, 1.0, 450e9) == near(8.0 / 7 * 450e9));
  CHECK(level_bandwidth(32.0, 1.0, 400e9) == near(32.0 / 31 * 400e9));
  CHECK(level_bandwidth(4.0, 1.0, 12.8e12) == near(4.0 / 3 * 12.8e12));
}
TEST_CASE("inner shards that fit a node leave the fabric's time unchanged, more divide it") {
  const double rate = level_bandwidth(16.0, 1.0, 400e9);
  const double alone = level_gather_time(1e9, rate, 8.0, 1.0);
  CHECK(level_gather_time(1e9, rate, 8.0, 8.0) == alone);
  CHECK(level_gather_time(1e9, rate, 8.0, 32.0) == near(alone / 4));
}
TEST_CASE("reducing in the switches is never slower, 1.75 times as fast for eight ranks") {
  for (const double n : {2.0, 4.0, 8.0, 72.0}) {
    const double ring = all_reduce_of_gather(level_gather_time(1e9, level_bandwidth(n, 1.0, 450e9), 1.0, 1.0));
    CHECK(sharp_all_reduce_time(1e9, 450e9) <= ring * (1 + 1e-12));
    if (n == 8) CHECK(ring / sharp_all_reduce_time(1e9, 450e9) == near(1.75));
  }
}
TEST_CASE("the bus bandwidth of a ring AllReduce is the link's") {
  const double t = all_reduce_of_gather(level_gather_time(1e9, level_bandwidth(8.0, 1.0, 450e9), 1.0, 1.0));
  CHECK(bus_bandwidth(1e9, 8.0, t) == near(450e9));
  CHECK(bus_all_reduce_time(1e9, 8.0, 450e9) == near(t));
}
TEST_CASE("estimates of an AllToAll exceed the exact time by N / (N - 1)") {
  CHECK(switch_all_to_all_estimate(1e9, 8.0, 450e9) == near(switch_all_to_all_time(1e9, 8.0, 450e9) * 8 / 7));
}
TEST_CASE("evaluation gathers FSDP over wrapped torus axes at the rings' bandwidth") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"parallelism.context=1", "parallelism.fsdp=2048"});
  const double axes = 2;
  CHECK(bandwidth(s, Axis::fsdp) == torus_gather_bandwidth(axes, 1.8e11));
  CHECK(1e9 / bandwidth(s, Axis::fsdp) == near(gather({{32, 32, true}, {64, 64, true}}, 1e9)));
}
TEST_CASE("evaluation gathers inside a node at the level's bandwidth") {
  CHECK(bandwidth(preset("llama3-405b-16k-h100-8k"), Axis::tensor) == level_bandwidth(8.0, 1.0, 450e9));
}
TEST_CASE("evaluation gathers across nodes as the tree does with the inner shards") {
  // fsdp over nodes, tensor 8 filling each: every GPU of a node gathers its own part through the node's links.
  const Scenario s = preset("llama3-405b-16k-h100-8k");
  const double nodes = s.parallelism.fsdp;
  CHECK(1e9 / 8 / bandwidth(s, Axis::fsdp) ==
        near(level_gather_time(1e9, level_bandwidth(nodes, 1.0, 400e9), 8.0, 8.0)));
}
TEST_CASE("traced collectives have the value of plain ones") {
  Trace trace;
  const auto in = [&trace](Q q, double x) { return trace.input(q, -1, x, "test"); };
  const Traced size = in(Q::mesh_fsdp, 6), bytes = in(Q::collective_bytes, 12345);
  const TorusLinks<Traced> links{in(Q::ici_axis_bandwidth, 1.8e11), in(Q::transfer_link, 9e10),
                                 in(Q::collective_hop, 1e-6)};
  for (const bool wrapped : {true, false}) {
    const std::vector<TorusAxis<Traced>> axes{{size, 6, wrapped}};
    const Traced ranks = torus_ranks<Traced>(axes);
    CHECK(torus_gather_time<Traced>(bytes, axes, ranks, links).value() == gather({{6, 6, wrapped}}, 12345));
    CHECK(torus_all_to_all_time<Traced>(bytes, axes, ranks, links).value() == all_to_all({{6, 6, wrapped}}, 12345));
  }
  CHECK(trace.problems().empty());
}
