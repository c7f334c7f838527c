#include "engine/hardware/wires.h"

#include <algorithm>
#include <cstddef>

#include "engine/hardware/collective.h"

namespace roofscape::engine {

namespace {

constexpr int kNode = 0, kFabric = 1, kSwitchedWires = 2;  // the wires of a switched cluster
constexpr int kDcn = 3, kTorusWires = 4;                   // of a torus: its axes, then the network between slices

template <Scalar S>
void add(Wires<S>& wires, int wire, std::size_t axis, bool whole) {
  auto& masks = whole ? wires.whole : wires.part;
  masks[static_cast<std::size_t>(wire)] |= static_cast<std::uint8_t>(1u << axis);
}

template <Scalar S>
void add_axis(Wires<S>& wires, const AxisLinks& links, Axis mesh_axis, bool exchanges, const ChipRates<S>& chip) {
  const auto axis = static_cast<std::size_t>(mesh_axis);
  switch (links.tier) {
    case LinkTier::none:
      break;
    case LinkTier::nvlink:
      add(wires, kNode, axis, true);
      break;
    case LinkTier::fabric: {
      if (links.inside_node == 1) {
        add(wires, kFabric, axis, true);
        break;
      }
      const TwoTiers<S> times = exchanges ? exchange_tiers(links, chip) : gather_tiers(links, chip);
      const bool outside = value_of(times.outer) >= value_of(times.inner);
      add(wires, outside ? kFabric : kNode, axis, true);
      add(wires, outside ? kNode : kFabric, axis, false);
      wires.share[axis] = named(Q::wire_share, static_cast<int>(axis),
                                outside ? times.inner / times.outer : times.outer / times.inner);
      break;
    }
    case LinkTier::ici:
      for (int i = 0; i < kDcn; ++i)
        if ((static_cast<unsigned>(links.on) >> i & 1u) != 0) add(wires, i, axis, true);
      break;
    case LinkTier::dcn:  // in a slice and between slices, one after the other
      add(wires, kDcn, axis, true);
      for (int i = 0; i < kDcn; ++i)
        if ((static_cast<unsigned>(links.on) >> i & 1u) != 0) add(wires, i, axis, true);
      break;
  }
}

}  // namespace

template <Scalar S>
Wires<S> wires_of(const MeshLinks& mesh, AxesOverlap overlap, const ChipRates<S>& chip) {
  Wires<S> wires;
  wires.share.fill(constant<S>(1));
  if (overlap != AxesOverlap::by_wire) {
    wires.count = overlap == AxesOverlap::max ? kAxisCount : 1;
    for (std::size_t i = 0; i < kAxisCount; ++i)
      add(wires, overlap == AxesOverlap::max ? static_cast<int>(i) : 0, i, true);
    return wires;
  }
  wires.count = mesh.torus_dims > 0 ? kTorusWires : kSwitchedWires;
  for (std::size_t i = 0; i < kAxisCount; ++i) {
    const auto axis = static_cast<Axis>(i);
    // What fsdp and, where that has one rank, context move of the training state goes over the ranks of both.
    if (axis == Axis::fsdp)
      add_axis(wires, mesh.group(axis), axis, false, chip);
    else if (axis == Axis::context && mesh[Axis::fsdp].degree == 1 && mesh.state.degree > 1)
      add_axis(wires, mesh.state, axis, mesh.context_exchanges, chip);
    else
      add_axis(wires, mesh[axis], axis, axis == Axis::expert || (axis == Axis::context && mesh.context_exchanges),
               chip);
  }
  return wires;
}
template Wires<double> wires_of<double>(const MeshLinks&, AxesOverlap, const ChipRates<double>&);
template Wires<Traced> wires_of<Traced>(const MeshLinks&, AxesOverlap, const ChipRates<Traced>&);

AxisArray<std::uint8_t> sharers(const Scenario& s) {
  const Inputs<double> in = make_inputs<double>(s, nullptr);
  const Wires<double> wires = wires_of(in.links, in.axes_overlap, in.achieved);
  AxisArray<std::uint8_t> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::uint8_t>(1u << i);
    for (const std::uint8_t wire : wires.whole)
      if ((wire >> i & 1u) != 0) out[i] |= wire;
  }
  return out;
}

bool transfers_add(const Scenario& s) {
  const AxesOverlap overlap = resolved(s.assumptions.axes_overlap, s.cluster.chip.interconnect);
  if (overlap != AxesOverlap::by_wire) return overlap == AxesOverlap::sum;
  if (s.cluster.chip.interconnect != Interconnect::torus) return false;
  const auto named_fsdp = static_cast<unsigned>(s.placement.on[Axis::fsdp]),
             named_tensor = static_cast<unsigned>(s.placement.on[Axis::tensor]);
  if (named_fsdp != 0 && named_tensor != 0) return (named_fsdp & named_tensor) != 0;
  const auto asked = [&](Axis axis, unsigned on, int book) {
    const int count = on != 0 ? torus_axis_count(on) : s.placement.axes[axis];
    return count > 0 ? count : book;
  };
  const int sides = torus_axis_count(torus_sides(s.cluster));
  return asked(Axis::fsdp, named_fsdp, std::max(1, sides - 1)) + asked(Axis::tensor, named_tensor, 1) > sides;
}

}  // namespace roofscape::engine
