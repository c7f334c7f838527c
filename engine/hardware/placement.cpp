#include "engine/hardware/placement.h"

#include <algorithm>

namespace roofscape::engine {

namespace {

int torus_dims_of(const Chip& chip) {
  const auto& dims = chip[ChipField::ici_torus_dims].value;
  return dims ? static_cast<int>(*dims) : 3;
}

AxisLinks switched_links(int degree, int stride, int node_size) {
  AxisLinks links;
  links.degree = degree;
  if (degree <= 1) return links;
  links.inside_node = stride >= node_size ? 1 : std::min(degree, std::max(1, node_size / stride));
  links.across_nodes = (degree + links.inside_node - 1) / links.inside_node;
  links.groups_a_node = std::max(1, node_size / links.inside_node);
  links.tier = links.across_nodes > 1 ? LinkTier::fabric : LinkTier::nvlink;
  return links;
}

MeshLinks place_on_switches(const Cluster& cluster, const Parallelism& plan) {
  MeshLinks mesh;
  int stride = 1;
  for (const Axis axis : {Axis::tensor, Axis::context, Axis::fsdp, Axis::data, Axis::pipeline}) {
    const int degree = plan.degree(axis);
    mesh.axes[static_cast<std::size_t>(axis)] = switched_links(degree, stride, cluster.node_size);
    stride *= degree;
  }
  mesh.state = switched_links(plan.fsdp * plan.context, plan.tensor, cluster.node_size);
  // Experts are carved out of context, fsdp and data, in this order.
  mesh.axes[static_cast<std::size_t>(Axis::expert)] = switched_links(plan.expert, plan.tensor, cluster.node_size);
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
    if (dims == 2 ? side != 16 : side % 4 != 0) return false;
  }
  return true;
}

MeshLinks place_mesh(const Cluster& cluster, const Parallelism& plan, const Placement& placement) {
  return cluster.chip.interconnect == Interconnect::torus ? place_on_torus(cluster, plan, placement)
                                                          : place_on_switches(cluster, plan);
}

}  // namespace roofscape::engine
