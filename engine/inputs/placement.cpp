#include "engine/inputs/placement.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/scenario/mesh_size.h"

namespace roofscape::engine {

namespace {

int torus_dims_of(const Chip& chip) {
  const auto& dims = chip[ChipField::ici_torus_dims].value;
  return dims ? static_cast<int>(std::clamp(*dims, 1.0, 3.0)) : 3;
}

constexpr int kCubeSide = 4;       // of the cubes that 3D tori are built of
constexpr int kPlainPodSide = 16;  // of a 2D torus whose chip states no pod

// More than any cluster has; keeps products of absurd degrees in range.
constexpr std::int64_t kManyChips = std::int64_t{1} << 40, kManyRanks = std::int64_t{1} << 30;

// Ranks of a group, `stride` chips apart, below a switch that has `chips` below it.
int ranks_below(std::int64_t chips, int degree, std::int64_t stride) {
  return stride >= chips
             ? 1
             : static_cast<int>(std::min<std::int64_t>(degree, std::max<std::int64_t>(1, chips / stride)));
}

// The ranks of a group on switches: so many, so far apart, and all of these again, farther apart. Most have one run.
class RankGroup {
 public:
  RankGroup() = default;
  RankGroup(int degree, std::int64_t stride) { add(degree, stride); }
  void add(int degree, std::int64_t stride) {
    if (degree <= 1) return;
    degree_ = product(degree_, degree);
    Run* const last = count_ > 0 ? &runs_[count_ - 1] : nullptr;
    const bool goes_on =
        last != nullptr && last->degree <= kManyChips / last->stride && last->stride * last->degree == stride;
    if (goes_on)
      last->degree = product(last->degree, degree);
    else
      runs_[count_++] = {degree, stride};
  }
  int degree() const { return degree_; }
  std::int64_t stride() const { return count_ > 0 ? runs_[0].stride : 1; }
  int below(std::int64_t chips) const {
    int ranks = 1;
    for (std::size_t i = 0; i < count_; ++i)
      ranks = product(ranks, ranks_below(chips, runs_[i].degree, runs_[i].stride));
    return ranks;
  }

 private:
  struct Run {
    int degree = 1;
    std::int64_t stride = 1;
  };
  static int product(int a, int b) {
    return static_cast<int>(std::min<std::int64_t>(std::int64_t{a} * b, kManyRanks));
  }
  std::array<Run, kAxisCount> runs_{};
  std::size_t count_ = 0;
  int degree_ = 1;
};

void add_levels(const Cluster& cluster, const RankGroup& group, AxisLinks& links) {
  links.level_count = static_cast<int>(std::min(cluster.fabric.size(), kMaxFabricLevels));
  std::int64_t chips = cluster.node_size;
  for (int i = 0; i < links.level_count; ++i) {
    const FabricLevel& level = cluster.fabric[static_cast<std::size_t>(i)];
    LevelLinks& out = links.levels[static_cast<std::size_t>(i)];
    const bool top = i + 1 == links.level_count;
    const std::int64_t child = chips;
    chips = std::min<std::int64_t>(chips * level.degree, kManyChips);
    out.below_child = group.below(child);
    const int here = top ? links.degree : group.below(chips);
    out.children = (here + out.below_child - 1) / out.below_child;
    out.groups = static_cast<int>(std::clamp<std::int64_t>(child / out.below_child, 1, kManyRanks));
    out.reduces = level.in_network_reduction;
  }
}

// How spread experts are repeated: each expert rank holds others, so among the ranks that are one for all other state
// there are fewer copies of one expert, that much farther apart.
struct ExpertCopies {
  int state, data;  // ranks with the same experts in fsdp x context (and tensor), and over data
  std::int64_t state_stride, data_stride;
};
ExpertCopies expert_copies(const Parallelism& plan) {
  const std::int64_t split = std::max(1, plan.experts_tensor());
  const std::int64_t state = std::int64_t{plan.fsdp} * plan.context * plan.tensor / split;
  const std::int64_t others = std::max<std::int64_t>(1, plan.expert / std::max<std::int64_t>(1, state));
  const std::int64_t stride = std::min(split * plan.expert, kManyChips);
  const auto whole = std::min(std::int64_t{plan.fsdp} * plan.context * plan.tensor, kManyChips);
  return {static_cast<int>(std::clamp<std::int64_t>(state / plan.expert, 1, kManyRanks)),
          static_cast<int>(std::max<std::int64_t>(1, plan.data / others)), stride, std::max(stride, whole)};
}

AxisLinks switched_links(Axis axis, const RankGroup& group, const Cluster& cluster) {
  const int node_size = cluster.node_size;
  AxisLinks links;
  links.axis = static_cast<int>(axis);
  links.degree = group.degree();
  links.stride = group.stride();
  if (links.degree <= 1) return links;
  links.inside_node = group.below(node_size);
  links.across_nodes = (links.degree + links.inside_node - 1) / links.inside_node;
  links.groups_a_node = std::max(1, node_size / links.inside_node);
  links.tier = links.across_nodes > 1 ? LinkTier::fabric : LinkTier::nvlink;
  if (links.tier == LinkTier::fabric) add_levels(cluster, group, links);
  return links;
}

// Experts where the stages of a pipeline come before fsdp and data: as else carved out of the tensor ranks that do not
// split one, context, fsdp and data, in this order, each as far as it goes.
void place_experts_around_stages(const Cluster& cluster, const Parallelism& plan,
                                 const AxisArray<std::int64_t>& stride, MeshLinks& mesh) {
  RankGroup experts, state, data;
  int left = plan.expert;
  const auto carve = [&](int degree, std::int64_t apart, RankGroup& copies) {
    const int here = std::gcd(left, degree);
    left /= here;
    experts.add(here, apart);
    copies.add(degree / here, apart * here);
  };
  const int split = std::max(1, plan.experts_tensor());
  carve(plan.tensor / split, split, state);
  carve(plan.context, stride[Axis::context], state);
  carve(plan.fsdp, stride[Axis::fsdp], state);
  carve(plan.data, stride[Axis::data], data);
  mesh.axes[Axis::expert] = switched_links(Axis::expert, experts, cluster);
  mesh.expert_state = switched_links(Axis::fsdp, state, cluster);
  mesh.expert_data = switched_links(Axis::data, data, cluster);
}

MeshLinks place_on_switches(const Cluster& cluster, const Parallelism& plan, RankOrder order) {
  constexpr std::array kPipelineLast{Axis::tensor, Axis::context, Axis::fsdp, Axis::data, Axis::pipeline},
      kDataLast{Axis::tensor, Axis::context, Axis::pipeline, Axis::fsdp, Axis::data};
  MeshLinks mesh;
  AxisArray<std::int64_t> stride{};
  std::int64_t before = 1;
  for (const Axis axis : order == RankOrder::data_last ? kDataLast : kPipelineLast) {
    stride[axis] = before;
    mesh.axes[axis] = switched_links(axis, {plan.degree(axis), before}, cluster);
    before = std::min(before * plan.degree(axis), kManyChips);
  }
  RankGroup state(plan.context, stride[Axis::context]);
  state.add(plan.fsdp, stride[Axis::fsdp]);
  mesh.state = switched_links(Axis::fsdp, state, cluster);
  if (order == RankOrder::data_last && rank_order_matters(cluster, plan) && plan.expert > 1) {
    place_experts_around_stages(cluster, plan, stride, mesh);
    return mesh;
  }
  // Experts are carved out of the tensor ranks that do not split one, context, fsdp and data, in this order.
  mesh.axes[Axis::expert] = switched_links(Axis::expert, {plan.expert, plan.experts_tensor()}, cluster);
  if (plan.expert > 1) {
    const ExpertCopies copies = expert_copies(plan);
    mesh.expert_state = switched_links(Axis::fsdp, {copies.state, copies.state_stride}, cluster);
    mesh.expert_data = switched_links(Axis::data, {copies.data, copies.data_stride}, cluster);
  }
  return mesh;
}

// The torus axes of a slice, and which of them the mesh may take. Asked for each report twice and more, so an axis is
// ranked once and not each time that one is chosen.
class TorusRoom {
 public:
  explicit TorusRoom(const Cluster& cluster)
      : side_(cluster.slice),
        closes_(closing_axes(cluster)),
        sides_(torus_sides(cluster)),
        count_(torus_axis_count(sides_)) {}

  int count() const { return count_; }
  const std::array<bool, 3>& closing() const { return closes_; }
  // What the scenario names, as far as there are such axes.
  unsigned named(TorusAxes on) const { return static_cast<unsigned>(on) & sides_; }
  // So many axes outside `taken`; where that leaves too few, others too. `degree` has a direction of its own.
  unsigned own(int count, int degree, unsigned taken) const {
    return choose(count, taken, [&](std::size_t axis) {
      return (side_[axis] == degree ? 16 : 0) + (closes_[axis] ? 8 : 0) + static_cast<int>(axis);
    });
  }
  unsigned shared(int count, unsigned taken) const {
    if (count >= count_) return sides_;
    return choose(count, taken, [&](std::size_t axis) { return (closes_[axis] ? 8 : 0) - static_cast<int>(axis); });
  }

 private:
  template <class Preference>
  unsigned choose(int count, unsigned taken, Preference&& preference) const {
    constexpr int kFree = 32;  // more than any preference
    std::array<int, 3> rank{};
    for (std::size_t axis = 0; axis < rank.size(); ++axis)
      rank[axis] = preference(axis) + ((taken >> axis & 1u) == 0 ? kFree : 0);
    unsigned chosen = 0;
    for (int n = std::min(count, count_); n > 0; --n) {
      std::size_t best = rank.size();
      for (std::size_t axis = 0; axis < rank.size(); ++axis)
        if (((sides_ & ~chosen) >> axis & 1u) != 0 && (best == rank.size() || rank[axis] > rank[best])) best = axis;
      chosen |= 1u << best;
    }
    return chosen;
  }

  std::array<int, 3> side_;
  std::array<bool, 3> closes_;
  unsigned sides_;
  int count_;
};

MeshLinks place_on_torus(const Cluster& cluster, const Parallelism& plan, const Placement& placement) {
  MeshLinks mesh;
  mesh.torus_dims = torus_dims_of(cluster.chip);
  const TorusRoom room(cluster);
  mesh.closes = room.closing();
  for (int axis = 0; axis < mesh.torus_dims; ++axis) mesh.closing += mesh.closes[static_cast<std::size_t>(axis)];
  mesh.wrapped = mesh.closing == room.count();

  const std::int64_t chips_of_slice = slice_chips(cluster);
  const auto leaves_slice = [&](int ranks, std::int64_t stride) {
    return cluster.slices > 1 && stride * ranks > chips_of_slice;
  };
  AxisArray<int> degree;
  for (int i = 0; i < kAxisCount; ++i) degree[static_cast<Axis>(i)] = plan.degree(static_cast<Axis>(i));
  AxisArray<std::int64_t> stride;
  AxisArray<bool> between_slices{};  // all of its ranks, so that it needs no torus axis
  std::int64_t before = 1;
  for (const Axis axis : {Axis::tensor, Axis::context, Axis::fsdp, Axis::pipeline, Axis::data}) {
    stride[axis] = before;
    between_slices[axis] =
        leaves_slice(degree[axis], before) && ranks_below(chips_of_slice, degree[axis], before) == 1;
    before = std::min(before * degree[axis], kManyChips);
  }
  const int slices = slices_used(cluster, plan);
  between_slices[Axis::data] = between_slices[Axis::data] || (slices > 1 && plan.data > 1);
  AxisArray<unsigned> on{};
  const auto asked = [&](Axis axis, int fallback) {
    const int axes = placement.axes[axis];
    return axes > 0 ? axes : fallback;
  };
  unsigned taken = 0;
  for (int i = 0; i < kAxisCount; ++i) {
    const auto axis = static_cast<Axis>(i);
    on[axis] = room.named(placement.on[axis]);
    if (degree[axis] > 1 && !between_slices[axis]) taken |= on[axis];
  }
  int left = room.count();
  unsigned own = 0;
  for (const Axis axis : {Axis::tensor, Axis::pipeline}) {
    if (degree[axis] <= 1 || between_slices[axis]) continue;
    if (on[axis] == 0) on[axis] = room.own(asked(axis, 1), degree[axis], taken);
    left -= torus_axis_count(on[axis]);
    taken |= on[axis], own |= on[axis];
  }
  const bool expert = plan.expert > 1;
  for (const Axis axis : {Axis::data, Axis::fsdp, Axis::context, Axis::expert}) {
    const bool spreads = axis == Axis::data || axis == Axis::fsdp;
    // Of training state, which these two shard, there are groups of other degrees.
    const bool used = degree[axis] > 1 || (spreads && (expert || plan.context > 1));
    if (used && on[axis] == 0) on[axis] = room.shared(asked(axis, spreads ? std::max(1, left) : 1), own);
  }

  const auto lay = [&](AxisLinks& l, Axis axis, int ranks, std::int64_t apart) {
    l.axis = static_cast<int>(axis);
    l.degree = ranks;
    if (ranks <= 1) return;
    l.tier = LinkTier::ici;
    if (leaves_slice(ranks, apart)) {
      l.tier = LinkTier::dcn;
      l.inside_slice = ranks_below(chips_of_slice, ranks, apart);
      l.slices = (ranks + l.inside_slice - 1) / l.inside_slice;
      if (l.inside_slice == 1) return;
    }
    l.on = static_cast<TorusAxes>(on[axis]);
    l.torus_axes = torus_axis_count(on[axis]);
    for (int i = 0; i < mesh.torus_dims; ++i)
      l.open_axes += (on[axis] >> i & 1u) != 0 && !mesh.closes[static_cast<std::size_t>(i)];
    l.slice_closes = mesh.closing > 0;
  };
  for (const Axis axis : {Axis::tensor, Axis::context, Axis::fsdp, Axis::pipeline, Axis::data})
    lay(mesh.axes[axis], axis, degree[axis], stride[axis]);
  lay(mesh.axes[Axis::expert], Axis::expert, plan.expert, plan.experts_tensor());
  AxisLinks& data = mesh.axes[Axis::data];
  if (slices > 1 && data.degree > 1) {
    data = {};
    data.tier = LinkTier::dcn;
    data.axis = static_cast<int>(Axis::data);
    data.degree = plan.data;
    data.slices = std::min(plan.data, slices);
  }
  lay(mesh.state, Axis::fsdp, plan.fsdp * plan.context, plan.tensor);
  if (expert) {
    const ExpertCopies copies = expert_copies(plan);
    lay(mesh.expert_state, Axis::fsdp, copies.state, copies.state_stride);
    if (copies.data > 1 && data.tier == LinkTier::dcn) {
      mesh.expert_data = data;
      mesh.expert_data.degree = copies.data;
      mesh.expert_data.slices = std::min(copies.data, slices);
    } else {
      lay(mesh.expert_data, Axis::data, copies.data, copies.data_stride);
    }
  }
  return mesh;
}

}  // namespace

std::array<bool, 3> closing_axes(const Cluster& cluster) {
  const int dims = torus_dims_of(cluster.chip);
  std::array<bool, 3> closes{};
  bool cubes = true;
  for (int i = 0; i < dims; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const int side = cluster.slice[at], pod = cluster.chip.pod_shape[at];
    cubes = cubes && side % kCubeSide == 0;
    closes[at] = side == (pod > 1 ? pod : kPlainPodSide);
  }
  if (dims == 3) closes.fill(cubes);
  return closes;
}

int slices_used(const Cluster& cluster, const Parallelism& plan) {
  if (cluster.slices == 1) return 1;
  const double slices = std::ceil(mesh_chips(plan) / static_cast<double>(slice_chips(cluster)));
  return static_cast<int>(std::min<double>(slices, cluster.slices));
}

bool crosses_nodes(const Cluster& cluster, int tensor) {
  return cluster.chip.interconnect == Interconnect::switched &&
         (tensor > cluster.node_size || cluster.node_size % tensor != 0);
}

unsigned torus_sides(const Cluster& cluster) {
  const int dims = torus_dims_of(cluster.chip);
  unsigned sides = 0;
  for (int i = 0; i < dims; ++i)
    if (cluster.slice[static_cast<std::size_t>(i)] > 1) sides |= 1u << i;
  return sides != 0 ? sides : (1u << dims) - 1;
}

MeshLinks place_mesh(const Cluster& cluster, const Parallelism& plan, const Placement& placement) {
  MeshLinks mesh = cluster.chip.interconnect == Interconnect::torus
                       ? place_on_torus(cluster, plan, placement)
                       : place_on_switches(cluster, plan, placement.order);
  mesh.context_exchanges = plan.context > 1 && plan.context_method == ContextMethod::ulysses;
  return mesh;
}

}  // namespace roofscape::engine
