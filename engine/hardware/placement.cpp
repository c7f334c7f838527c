#include "engine/hardware/placement.h"

#include <algorithm>

namespace roofscape::engine {

namespace {

int torus_dims_of(const Chip& chip) {
  const auto& dims = chip[ChipField::ici_torus_dims].value;
  return dims ? static_cast<int>(*dims) : 3;
}

constexpr int kCubeSide = 4;       // of the cubes that 3D tori are built of
constexpr int kPlainPodSide = 16;  // of a 2D torus whose chip states no pod

// More than any cluster has; keeps products of absurd degrees in range.
constexpr std::int64_t kManyChips = std::int64_t{1} << 40;

// Ranks of a group, `stride` chips apart, below a switch that has `chips` below it.
int ranks_below(std::int64_t chips, int degree, std::int64_t stride) {
  return stride >= chips ? 1 : static_cast<int>(std::min<std::int64_t>(degree, std::max<std::int64_t>(1, chips / stride)));
}

void add_levels(const Cluster& cluster, std::int64_t stride, AxisLinks& links) {
  links.level_count = static_cast<int>(std::min(cluster.fabric.size(), kMaxFabricLevels));
  std::int64_t chips = cluster.node_size;
  for (int i = 0; i < links.level_count; ++i) {
    const FabricLevel& level = cluster.fabric[static_cast<std::size_t>(i)];
    LevelLinks& out = links.levels[static_cast<std::size_t>(i)];
    const bool top = i + 1 == links.level_count;
    const std::int64_t child = chips;
    chips = std::min<std::int64_t>(chips * level.degree, kManyChips);
    out.below_child = ranks_below(child, links.degree, stride);
    const int here = top ? links.degree : ranks_below(chips, links.degree, stride);
    out.children = (here + out.below_child - 1) / out.below_child;
    out.groups = static_cast<int>(std::clamp<std::int64_t>(child / out.below_child, 1, 1 << 30));
    out.reduces = level.in_network_reduction;
  }
}

AxisLinks switched_links(int degree, std::int64_t stride, const Cluster& cluster) {
  const int node_size = cluster.node_size;
  AxisLinks links;
  links.degree = degree;
  links.stride = stride;
  if (degree <= 1) return links;
  links.inside_node = ranks_below(node_size, degree, stride);
  links.across_nodes = (degree + links.inside_node - 1) / links.inside_node;
  links.groups_a_node = std::max(1, node_size / links.inside_node);
  links.tier = links.across_nodes > 1 ? LinkTier::fabric : LinkTier::nvlink;
  if (links.tier == LinkTier::fabric) add_levels(cluster, stride, links);
  return links;
}

MeshLinks place_on_switches(const Cluster& cluster, const Parallelism& plan) {
  MeshLinks mesh;
  std::int64_t stride = 1;
  for (const Axis axis : {Axis::tensor, Axis::context, Axis::fsdp, Axis::data, Axis::pipeline}) {
    const int degree = plan.degree(axis);
    mesh.axes[static_cast<std::size_t>(axis)] = switched_links(degree, stride, cluster);
    stride = std::min(stride * degree, kManyChips);
  }
  mesh.state = switched_links(plan.fsdp * plan.context, plan.tensor, cluster);
  // Experts are carved out of the tensor ranks that do not split one, context, fsdp and data, in this order.
  mesh.axes[static_cast<std::size_t>(Axis::expert)] = switched_links(plan.expert, plan.experts_tensor(), cluster);
  return mesh;
}

MeshLinks place_on_torus(const Cluster& cluster, const Parallelism& plan, const Placement& placement) {
  MeshLinks mesh;
  mesh.torus_dims = torus_dims_of(cluster.chip);
  mesh.wrapped = rings_close(cluster);
  const auto asked = [&](Axis axis) { return placement.axes[static_cast<std::size_t>(axis)]; };
  const auto span = [&](Axis axis, int fallback) {
    return std::min(mesh.torus_dims, asked(axis) > 0 ? asked(axis) : fallback);
  };
  const int tensor = plan.tensor > 1 ? span(Axis::tensor, 1) : 0;
  const int pipeline = plan.pipeline > 1 ? span(Axis::pipeline, 1) : 0;
  const int rest = std::max(1, mesh.torus_dims - tensor - pipeline);
  const auto links = [&](Axis axis, int axes) {
    AxisLinks l;
    l.degree = plan.degree(axis);
    if (l.degree > 1) {
      l.tier = LinkTier::ici;
      l.torus_axes = axes;
    }
    return l;
  };
  for (const Axis axis : {Axis::data, Axis::fsdp, Axis::tensor, Axis::context, Axis::expert, Axis::pipeline}) {
    const int fallback = axis == Axis::tensor || axis == Axis::pipeline || axis == Axis::context ||
                                 axis == Axis::expert
                             ? 1
                             : rest;
    mesh.axes[static_cast<std::size_t>(axis)] = links(axis, span(axis, fallback));
  }
  AxisLinks& data = mesh.axes[static_cast<std::size_t>(Axis::data)];
  if (cluster.slices > 1 && data.degree > 1) {
    data.tier = LinkTier::dcn;
    data.torus_axes = 0;
  }
  mesh.state.degree = plan.fsdp * plan.context;
  if (mesh.state.degree > 1) {
    mesh.state.tier = LinkTier::ici;
    mesh.state.torus_axes = span(Axis::fsdp, rest);
  }
  return mesh;
}

}  // namespace

bool rings_close(const Cluster& cluster) {
  const int dims = torus_dims_of(cluster.chip);
  for (int i = 0; i < dims; ++i) {
    const int side = cluster.slice[static_cast<std::size_t>(i)];
    const int pod = cluster.chip.pod_shape[static_cast<std::size_t>(i)];
    if (dims == 2 ? side != (pod > 1 ? pod : kPlainPodSide) : side % kCubeSide != 0) return false;
  }
  return true;
}

MeshLinks place_mesh(const Cluster& cluster, const Parallelism& plan, const Placement& placement) {
  return cluster.chip.interconnect == Interconnect::torus ? place_on_torus(cluster, plan, placement)
                                                          : place_on_switches(cluster, plan);
}

}  // namespace roofscape::engine
