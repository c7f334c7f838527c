#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/hardware/collective.h"
#include "engine/hardware/switched_collective.h"
#include "engine/inputs/placement.h"
#include "tests/cases_to_try.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::preset;
using tests::with;

namespace {

double bandwidth(const Scenario& s, Axis axis) {
  const Inputs<double> in = make_inputs<double>(s, nullptr);
  const AxisLinks& links = axis == Axis::fsdp ? in.links.state : in.links[axis];
  return gather_bandwidth(links, in.torus_axes[axis], in.chip);
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
TEST_CASE("a slice whose sides are not multiples of four gathers one way only, all but a rank's own part") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"cluster.slice=16x20x26"});
  CHECK(bandwidth(s, Axis::tensor) == doctest::Approx(9e10 * 4 / 3).epsilon(1e-15));
}

// Scaling book, chapter 2: a 2D torus wraps an axis at the full side of its pod, a 3D one all axes of whole cubes.
namespace {
std::array<bool, 3> closing(std::string_view chip, std::string_view slice) {
  return closing_axes(
      with(preset("llama3-70b-v5p-pod"), {"cluster.chip=" + std::string(chip), "cluster.slice=" + std::string(slice)})
          .cluster);
}
using Closing = std::array<bool, 3>;
}  // namespace
TEST_CASE("axes of v5e and v6e close at 16, each for itself") {
  for (const char* chip : {"tpu-v5e", "tpu-v6e", "tpu-v2"}) {
    CHECK(closing(chip, "16x16") == Closing{true, true, false});
    CHECK(closing(chip, "8x16") == Closing{false, true, false});
    CHECK(closing(chip, "4x4") == Closing{false, false, false});
  }
}
TEST_CASE("axes of v3 close at 32") {
  CHECK(closing("tpu-v3", "32x32") == Closing{true, true, false});
  CHECK(closing("tpu-v3", "16x32") == Closing{false, true, false});
  CHECK(closing("tpu-v3", "16x16") == Closing{false, false, false});
}
TEST_CASE("a 3D slice of whole cubes closes along all axes, any other along none") {
  for (const char* chip : {"tpu-v4p", "tpu-v5p", "tpu-7x"}) {
    CHECK(closing(chip, "4x4x4") == Closing{true, true, true});
    CHECK(closing(chip, "4x8x12") == Closing{true, true, true});
    for (const char* small : {"2x2x1", "2x2x2", "2x2x4", "4x4x6"}) CHECK(closing(chip, small) == Closing{});
  }
}

// 8 x 16 chips of v5e, 45 GB/s a link: the second axis closes, the first does not.
namespace {
Scenario half_pod(std::initializer_list<std::string_view> edits) {
  return with(with(preset("llama3-8b-8-h100"), {"cluster=tpu-v5e-pod", "cluster.slice=8x16", "parallelism.fsdp=16",
                                                "parallelism.tensor=8", "workload.global_batch_sequences=128"}),
              edits);
}
}  // namespace
TEST_CASE("by default tensor takes the axis that is as long as its degree, FSDP the other") {
  const MeshLinks mesh = make_inputs<double>(half_pod({}), nullptr).links;
  CHECK(mesh[Axis::tensor].on == TorusAxes::x);
  CHECK(mesh.state.on == TorusAxes::y);
}
TEST_CASE("on 8 x 16 of v5e a group on the closed axis gathers at 90 GB/s, on the open one at 45 less its own part") {
  CHECK(bandwidth(half_pod({}), Axis::fsdp) == 9e10);
  CHECK(bandwidth(half_pod({}), Axis::tensor) == doctest::Approx(4.5e10 * 8 / 7).epsilon(1e-15));
}
TEST_CASE("a placement by name puts tensor on the closed axis and FSDP on the open one") {
  const Scenario s = half_pod({"placement.tensor.on=y", "placement.fsdp.on=x"});
  CHECK(bandwidth(s, Axis::tensor) == 9e10);
  CHECK(bandwidth(s, Axis::fsdp) == doctest::Approx(4.5e10 * 16 / 15).epsilon(1e-15));
}
TEST_CASE("a group over both axes of 8 x 16 gathers over three links, as the link by link formula has it") {
  const Scenario s = half_pod({"parallelism.tensor=1", "parallelism.fsdp=128"});
  CHECK(bandwidth(s, Axis::fsdp) == doctest::Approx(3 * 4.5e10 * 128 / 127).epsilon(1e-15));
  const std::vector<TorusAxis<double>> axes{{8, 8, false}, {16, 16, true}};
  const TorusLinks<double> links{9e10, 4.5e10, 1e-6};
  CHECK(1e9 / bandwidth(s, Axis::fsdp) ==
        doctest::Approx(torus_gather_time<double>(1e9, axes, 128, links)).epsilon(1e-15));
}
TEST_CASE("a stage sends over one link of the axis, closed or not") {
  const Inputs<double> in =
      make_inputs<double>(half_pod({"parallelism.tensor=1", "parallelism.pipeline=8"}), nullptr);
  CHECK(in.links[Axis::pipeline].on == TorusAxes::x);
  CHECK(send_bandwidth(in.links[Axis::pipeline], in.chip) == 4.5e10);
  const Inputs<double> open =
      make_inputs<double>(half_pod({"parallelism.tensor=1", "parallelism.pipeline=8", "cluster.slice=8x8"}), nullptr);
  CHECK(send_bandwidth(open.links[Axis::pipeline], open.chip) == 4.5e10);
}
TEST_CASE("a side of one chip is no axis") {
  const Inputs<double> in = make_inputs<double>(half_pod({"cluster.slice=1x16", "parallelism.tensor=1"}), nullptr);
  CHECK(in.links.wrapped);
  CHECK(in.links.state.on == TorusAxes::y);
}
TEST_CASE("the report says on which axes a mesh axis lies, over how many links, and of which group") {
  const AxisPlacement row = evaluate(half_pod({"parallelism.fsdp=8", "parallelism.context=2"}))
                                .placement[static_cast<std::size_t>(Axis::fsdp)];
  CHECK(row.degree == 8);
  CHECK(row.group == 16);
  CHECK(row.on == TorusAxes::y);
  CHECK(row.open_axes == 0);
  CHECK(row.links() == 2);
}
TEST_CASE("two axes of a mesh that take the same torus axis, or more than there are, are said so") {
  const auto has = [](const Scenario& s, std::string_view code) {
    const Report report = evaluate(s);
    return std::any_of(report.diagnostics.begin(), report.diagnostics.end(),
                       [&](const Diagnostic& d) { return d.code == code; });
  };
  CHECK_FALSE(has(half_pod({}), "placement.shared_axis"));
  CHECK_FALSE(has(half_pod({}), "placement.shared_in_turn"));
  // Where every mesh axis is taken to have wires of its own, and else not.
  for (const std::string overlap : {"sum", "max", "by_wire"}) {
    const std::string assumed = "assumptions.axes_overlap=" + overlap;
    const Scenario shared = half_pod({"placement.tensor.on=x", "placement.fsdp.on=xy", assumed});
    CHECK(has(shared, "placement.shared_axis") == (overlap == "max"));
    CHECK(has(shared, "placement.shared_in_turn") == (overlap != "max"));
  }
  CHECK_FALSE(has(half_pod({"placement.tensor.on=x"}), "placement.not_as_asked"));
  CHECK(has(half_pod({"placement.tensor.on=z"}), "placement.not_as_asked"));
  CHECK(has(half_pod({"placement.fsdp.axes=3"}), "placement.not_as_asked"));
  CHECK(has(half_pod({"placement.fsdp.axes=1", "placement.fsdp.on=xy"}), "placement.not_as_asked"));
}
TEST_CASE("every torus axis closed, the bounds count axes, an open one beside closed ones counts half") {
  const auto value = [](const Scenario& s, Q q) { return evaluate(s).quantities.value_or(q, 0); };
  const Scenario full = half_pod({"cluster.slice=16x16"}), half = half_pod({});
  CHECK(value(full, Q::bound_fsdp_1) / value(full, Q::bound_fsdp_2) == 2);
  CHECK(value(half, Q::bound_fsdp_1) == value(full, Q::bound_fsdp_1));
  CHECK(value(half, Q::bound_fsdp_1) / value(half, Q::bound_fsdp_2) == doctest::Approx(1.5).epsilon(1e-15));
}
TEST_CASE("tensor 8 fills an H100 node and gathers at 8/7 of 450 GB/s") {
  CHECK(bandwidth(preset("llama3-405b-16k-h100"), Axis::tensor) == doctest::Approx(450e9 * 8 / 7).epsilon(1e-15));
}
TEST_CASE("a group with one GPU per node shares the node's 400 GB/s with the other seven") {
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

TEST_CASE("a mesh takes as few slices as hold it, and data in one of them stays on the torus") {
  const Scenario one =
      with(preset("llama3-70b-v5p-pod"), {"cluster.slices=3", "parallelism.data=16", "parallelism.fsdp=64"});
  CHECK(slices_used(one.cluster, one.parallelism) == 1);
  CHECK(make_inputs<double>(one, nullptr).links[Axis::data].tier == LinkTier::ici);
  const Scenario two = with(one, {"parallelism.data=32"});
  const AxisLinks data = make_inputs<double>(two, nullptr).links[Axis::data];
  CHECK(data.tier == LinkTier::dcn);
  CHECK(data.slices == 2);
}

TEST_CASE("FSDP over several pods pays their network, at least what data parallelism over it does") {
  // 4 pods of 8192 chips: the ranks of a group in a pod take in the weights together, 2048 x 6.25 GB/s at the most.
  const Scenario base =
      with(preset("llama3-70b-v5p-pod"), {"cluster.slice.0=16", "cluster.slice.1=16", "cluster.slice.2=16",
                                          "cluster.slices=4", "parallelism.tensor=4", "parallelism.context=1",
                                          "placement.fsdp.axes=0", "workload.global_batch_sequences=4096"});
  const Scenario across = with(base, {"parallelism.data=1", "parallelism.fsdp=4096"});
  const Scenario inside = with(base, {"parallelism.data=4", "parallelism.fsdp=1024"});
  const Inputs<double> in = make_inputs<double>(across, nullptr);
  CHECK(in.links.state.tier == LinkTier::dcn);
  CHECK(in.links.state.slices == 4);
  CHECK(in.links.state.inside_slice == 1024);
  CHECK(make_inputs<double>(inside, nullptr).links.state.tier == LinkTier::ici);
  const auto network = [](const Scenario& s) {
    const Report r = evaluate(s);
    return *r.quantities[Q::network_total];
  };
  CHECK(network(across) >= network(inside));
  // With slow links between pods that is what it waits for.
  const auto slow = [&](Scenario s) {
    s.cluster.chip[ChipField::dcn_bytes_per_s_per_chip].value = 1e7;
    const Report r = evaluate(s);
    return *r.quantities[Q::step_time];
  };
  CHECK(slow(across) >= slow(inside));
}
TEST_CASE("whatever has no room in a slice goes over the network between slices") {
  const Scenario s =
      with(preset("llama3-70b-v5p-pod"),
           {"cluster.slice.0=4", "cluster.slice.1=4", "cluster.slice.2=4", "cluster.slices=2", "parallelism.tensor=4",
            "parallelism.context=1", "parallelism.fsdp=16", "parallelism.pipeline=2"});
  const Inputs<double> in = make_inputs<double>(s, nullptr);
  CHECK(in.links[Axis::pipeline].tier == LinkTier::dcn);
  CHECK(in.links.state.tier == LinkTier::ici);
  CHECK(in.links[Axis::tensor].tier == LinkTier::ici);
}
TEST_CASE("stages in slices of their own leave the torus axes of a slice to the others, whichever they are named") {
  const Scenario s = with(preset("llama3-70b-v5p-4-pods"), {"parallelism.data=1", "parallelism.pipeline=4",
                                                            "placement.fsdp.axes=0", "placement.tensor.axes=0"});
  for (const TorusAxes named : {TorusAxes::automatic, TorusAxes::y, TorusAxes::xyz}) {
    Scenario placed = s;
    placed.placement.on[Axis::pipeline] = named;
    const Inputs<double> in = make_inputs<double>(placed, nullptr);
    CHECK(in.links[Axis::pipeline].tier == LinkTier::dcn);
    CHECK(in.links[Axis::tensor].on == TorusAxes::z);
    CHECK(in.links.state.on == TorusAxes::xy);
    const Report report = evaluate(placed);
    const auto told = std::ranges::find(report.diagnostics, "placement.between_slices", &Diagnostic::code);
    REQUIRE((told != report.diagnostics.end()) == (named != TorusAxes::automatic));
    if (told == report.diagnostics.end()) continue;
    CHECK(told->field_path == "placement.pipeline.on");
    Scenario mended = placed;
    for (const FieldEdit& edit : told->fix) apply(mended, edit);
    CHECK(mended == s);
  }
}
TEST_CASE("axes of 16 close on TPU v5e and v6e, shorter ones do not") {
  for (const char* chip : {"tpu-v5e", "tpu-v6e"})
    for (const int side : {4, 8, 16}) {
      CAPTURE(chip);
      CAPTURE(side);
      Cluster cluster;
      cluster.chip = *tests::library().find_chip(chip);
      cluster.slice = {side, 16, 1};
      CHECK(closing_axes(cluster)[0] == (side == 16));
      CHECK(closing_axes(cluster)[1]);
    }
}

// Chapter 12: a SuperPod of 1024 H100. Leaves of 32 nodes at 400 GB/s a node, a spine over 4 of them at 12.8 TB/s
// each.
namespace {
Scenario on_superpod(std::string_view fsdp) {
  return with(preset("llama3-8b-8-h100"), {"cluster=dgx-h100-superpod-1024", "parallelism.fsdp=" + std::string(fsdp),
                                           "workload.global_batch_sequences=1024"});
}
AxisPlacement placed(const Scenario& s, Axis axis) { return evaluate(s).placement[static_cast<std::size_t>(axis)]; }
}  // namespace

TEST_CASE(
    "in either order of ranks every group has as many in a node, and below a switch, as counting its ranks finds") {
  std::mt19937 rng(17);
  int around_stages = 0;
  for (int i = 0; i < tests::cases_to_try(2000); ++i) {
    tests::Dice dice(rng);
    Scenario s = preset("llama3-405b-16k-h100-8k");
    Parallelism& p = s.parallelism;
    p = {};
    p.data = dice.power(3), p.fsdp = dice.power(3), p.tensor = dice.power(3), p.context = dice.power(2);
    p.pipeline = dice.power(3);
    p.expert_tensor = p.tensor >> dice.pick(0, 3);
    p.expert_tensor = std::max(1, p.expert_tensor);
    const int carved = p.tensor / p.expert_tensor, shares = carved * p.context * p.fsdp * p.data;
    while (p.expert < shares && dice.one_in(2)) p.expert *= 2;
    s.placement.order = dice.one_in(2) ? RankOrder::data_last : RankOrder::pipeline_last;
    s.cluster.node_size = 1 << dice.pick(0, 4);
    s.cluster.nodes = 1 << 16;
    s.cluster.fabric = {{"leaf", 4, 1e11}, {"spine", 1 << 16, 1e11}};
    const MeshLinks links = place_mesh(s.cluster, p, s.placement);
    // Ranks by their coordinates, the nearest axis first.
    const bool data_last = s.placement.order == RankOrder::data_last;
    const std::vector<std::pair<char, int>> nest =
        data_last ? std::vector<std::pair<char, int>>{{'t', p.tensor},
                                                      {'c', p.context},
                                                      {'p', p.pipeline},
                                                      {'f', p.fsdp},
                                                      {'d', p.data}}
                  : std::vector<std::pair<char, int>>{
                        {'t', p.tensor}, {'c', p.context}, {'f', p.fsdp}, {'d', p.data}, {'p', p.pipeline}};
    const int ranks = p.tensor * p.context * p.pipeline * p.fsdp * p.data;
    const auto at = [&](int rank, char axis) {
      for (const auto& [name, degree] : nest) {
        if (name == axis) return rank % degree;
        rank /= degree;
      }
      return 0;
    };
    const auto group = [&](const auto& has) {
      std::vector<int> out;
      for (int rank = 0; rank < ranks; ++rank)
        if (has(rank)) out.push_back(rank);
      return out;
    };
    const auto only = [&](int rank, std::string_view axes) {
      for (const char axis : std::string_view("tcpfd"))
        if (axes.find(axis) == std::string_view::npos && at(rank, axis) != 0) return false;
      return true;
    };
    // Where a rank stands among those that experts are dealt to.
    const auto dealt = [&](int rank) {
      return ((at(rank, 'd') * p.fsdp + at(rank, 'f')) * p.context + at(rank, 'c')) * carved +
             at(rank, 't') / p.expert_tensor;
    };
    const auto expert_rank = [&](int rank) { return only(rank, "tcfd") && at(rank, 't') % p.expert_tensor == 0; };
    const int held = p.context * p.fsdp * carved;  // ranks that share training state
    CAPTURE(i);
    const auto agrees = [&](const AxisLinks& axis, const std::vector<int>& of) {
      REQUIRE(axis.degree == static_cast<int>(of.size()));
      if (of.size() < 2) return;
      const auto below = [&](int chips) {
        return static_cast<int>(std::ranges::count_if(of, [&](int rank) { return rank < chips; }));
      };
      CHECK(axis.inside_node == below(s.cluster.node_size));
      CHECK((axis.tier == LinkTier::fabric) == (below(s.cluster.node_size) < axis.degree));
      if (axis.tier != LinkTier::fabric) return;
      CHECK(axis.levels[0].below_child == below(s.cluster.node_size));
      CHECK(axis.levels[1].below_child == below(4 * s.cluster.node_size));
    };
    agrees(links[Axis::tensor], group([&](int rank) { return only(rank, "t"); }));
    agrees(links[Axis::context], group([&](int rank) { return only(rank, "c"); }));
    agrees(links[Axis::pipeline], group([&](int rank) { return only(rank, "p"); }));
    agrees(links[Axis::fsdp], group([&](int rank) { return only(rank, "f"); }));
    agrees(links[Axis::data], group([&](int rank) { return only(rank, "d"); }));
    agrees(links.state, group([&](int rank) { return only(rank, "cf"); }));
    agrees(links[Axis::expert], group([&](int rank) { return expert_rank(rank) && dealt(rank) < p.expert; }));
    if (p.expert == 1) continue;
    around_stages += data_last && p.pipeline > 1 && p.expert > carved * p.context ? 1 : 0;
    // The ranks with the experts of the first.
    const auto copies = [&](bool of_state) {
      return group([&](int rank) {
        return expert_rank(rank) && dealt(rank) % p.expert == 0 && (dealt(rank) < held) == of_state;
      });
    };
    agrees(links.expert_state, copies(true));
    if (p.expert >= held)
      agrees(links.expert_data, group([&](int rank) { return expert_rank(rank) && dealt(rank) % p.expert == 0; }));
  }
  CHECK(around_stages > 0);
}
TEST_CASE("degrees at the ends of their domains place more ranks than there are numbers for, without a fault") {
  Scenario s = preset("llama3-405b-16k-h100-8k");
  s.cluster.fabric = {{"leaf", 4, 1e11}, {"spine", 1 << 16, 1e11}};
  s.parallelism = {.data = kMostDataDegree,
                   .fsdp = kMostDataDegree,
                   .tensor = kMostTensorDegree,
                   .context = kMostContextDegree,
                   .pipeline = kMostPipelineDegree,
                   .expert = kMostExpertDegree,
                   .expert_tensor = 1};
  for (const RankOrder order : {RankOrder::pipeline_last, RankOrder::data_last})
    for (const int expert : {2, 3, kMostExpertDegree}) {
      s.placement.order = order, s.parallelism.expert = expert;
      const MeshLinks links = place_mesh(s.cluster, s.parallelism, s.placement);
      for (const AxisLinks* of : {&links.state, &links.expert_state, &links[Axis::expert], &links[Axis::data]}) {
        CHECK(of->degree > 0);
        CHECK(of->inside_node >= 1);
        CHECK(of->across_nodes >= 1);
      }
    }
}
TEST_CASE("ranks lie as training launchers have them, and replicas that serve each in nodes of its own") {
  Scenario s = preset("llama3-70b-serving-8-h100");
  s.cluster.nodes = 2;
  s.parallelism.tensor = 4, s.parallelism.pipeline = 2, s.parallelism.data = 2;
  const auto nodes = [&s](Axis axis) { return make_inputs<double>(s, nullptr).links[axis].across_nodes; };
  CHECK(nodes(Axis::pipeline) == 1);
  CHECK(nodes(Axis::data) == 2);
  s.placement.order = RankOrder::pipeline_last;
  CHECK(nodes(Axis::pipeline) == 2);
  CHECK(nodes(Axis::data) == 1);
  s.placement.order = RankOrder::automatic;
  s.workload.kind = WorkloadKind::training;
  CHECK(nodes(Axis::pipeline) == 2);
}
TEST_CASE("stages that come before data are neighbours in a node, and else each is in nodes of its own") {
  Scenario s = with(preset("llama3-405b-16k-h100-8k"), {"placement.order=tp-cp-pp-dp"});
  s.parallelism.tensor = 2, s.parallelism.pipeline = 4;
  const auto nodes = [&s](Axis axis) { return make_inputs<double>(s, nullptr).links[axis].across_nodes; };
  CHECK(nodes(Axis::pipeline) == 1);
  CHECK(nodes(Axis::fsdp) == s.parallelism.fsdp);
  s.placement.order = RankOrder::pipeline_last;
  CHECK(nodes(Axis::pipeline) == 4);
  CHECK(nodes(Axis::fsdp) == s.parallelism.fsdp / 4);
}
TEST_CASE("on the SuperPod the leaf decides: 32/31 of 400 GB/s, node 514, spine 17,067") {
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
TEST_CASE(
    "sharding over tensor ranks inside the node does not speed up the fabric, over two nodes it halves the time") {
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
  Scenario s = with(preset("llama3-8b-8-h100"),
                    {"cluster.nodes=128", "parallelism.fsdp=1024", "workload.global_batch_sequences=1024"});
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
    CHECK(both ==
          doctest::Approx(sharded.parallelism.zero_stage == 0 ? 1 / 50e9 : 2 * 31.0 / 32 / 50e9).epsilon(1e-12));
  }
}
TEST_CASE("72 GPUs of GB200 in 8 racks: NVLink decides, 900 x 72/71, before the leaf's 3600 x 8/7") {
  const Scenario s = with(preset("llama3-8b-8-h100"), {"cluster=gb200-superpod-576", "parallelism.fsdp=576",
                                                       "workload.global_batch_sequences=576"});
  CHECK(bandwidth(s, Axis::fsdp) == doctest::Approx(900e9 * 72 / 71).epsilon(1e-15));
  CHECK(placed(s, Axis::fsdp).fabric_level == -1);
}
TEST_CASE("above a pod of Meta's cluster seven share the bandwidth of one") {
  const Scenario s =
      with(preset("llama3-8b-8-h100"), {"cluster=meta-llama3-24k", "parallelism.tensor=8", "parallelism.fsdp=384",
                                        "parallelism.data=8", "workload.global_batch_sequences=3072"});
  CHECK(bandwidth(s, Axis::data) == doctest::Approx(50e9 / 7 * 8 / 7).epsilon(1e-12));
  CHECK(placed(s, Axis::data).fabric_level == 2);
}
