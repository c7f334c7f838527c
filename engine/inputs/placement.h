// Placement: how the logical mesh axes lie on the physical links.
//
// Torus: every mesh axis lies on one or more torus axes. What the scenario names comes first. Of the rest, tensor and
// then pipeline take one each (scaling book, chapter 5: FSDP over two axes and tensor over one on a 3D torus): of
// those that are free the one that is exactly as long as the degree, else one whose rings close, else the last. What
// they leave is shared by fsdp and data, which take all of it, and context and expert, which take one; rings that
// close first, else the first axis. A mesh takes as few slices as hold it. Where these are several, data runs over the
// data-centre network between them, and so does whatever has no room in one slice: ranks fill slices in the order
// tensor, context, fsdp, pipeline, data. An axis whose ranks are all in different slices takes no torus axis. Sides of
// a single chip are no axes. Switched: ranks fill nodes in the order tensor, context, fsdp, data, pipeline, as training
// frameworks lay them out, or with the pipeline before fsdp and data; expert ranks are the first of context x fsdp x
// data, and before them those tensor ranks that do not split an expert. Above the node a group spans the levels of the
// cluster's fabric from below, as far as its ranks reach.
#pragma once

#include <array>
#include <cstdint>

#include "engine/base/collective_kind.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// What a group has of one fabric level.
struct LevelLinks {
  int children = 1;      // of the group, below the fullest switch; 1: the group does not use this level
  int below_child = 1;   // ranks of the group below one child
  int groups = 1;        // groups that share a child's link
  bool reduces = false;  // the switches add up what passes
  friend bool operator==(const LevelLinks&, const LevelLinks&) = default;
};

struct AxisLinks {
  LinkTier tier = LinkTier::none;
  int axis = 0;  // of the mesh, as an index of quantities; of the group fsdp x context: fsdp
  int degree = 1;
  int torus_axes = 0;                   // ici: how many
  int open_axes = 0;                    // ici: of these, axes whose rings do not close
  TorusAxes on = TorusAxes::automatic;  // ici: which
  bool slice_closes = true;  // ici: some axis of the slice closes, so that links carry both directions of a ring
  int inside_node = 1;       // switched: ranks of one group in a node
  int across_nodes = 1;      // switched: nodes a group spans
  int groups_a_node = 1;     // switched: groups that share the node's fabric links
  std::array<LevelLinks, kMaxFabricLevels> levels{};  // of a cluster that states its fabric
  int level_count = 0;                                // 0: it does not
  std::int64_t stride = 1;                            // switched: ranks between two neighbours of a group
  int slices = 1;                                     // dcn: slices a group spans
  int inside_slice = 1;  // dcn: ranks it has in one; their torus axes are torus_axes, 0 where there is but one rank

  // Torus axes in those of the slice's best: beside axes that close, one that does not counts half.
  double axes_worth() const { return slice_closes ? torus_axes - open_axes / 2.0 : torus_axes; }
  friend bool operator==(const AxisLinks&, const AxisLinks&) = default;
};

struct MeshLinks {
  AxisArray<AxisLinks> axes;
  AxisLinks state;  // the group fsdp x context, over which training state is sharded
  // The ranks that hold the same experts where these are spread: of the state's group, called fsdp, and of the data
  // axis, if that group has not ranks enough for all experts.
  AxisLinks expert_state, expert_data;
  std::array<bool, 3> closes{};    // torus: which of its axes close, so that a collective goes both ways round
  int closing = 0;                 // torus: how many of them
  int torus_dims = 0;              // 0: switched
  bool wrapped = true;             // torus: all close
  bool context_exchanges = false;  // context ranks exchange heads (Ulysses) rather than gather keys and values

  const AxisLinks& operator[](Axis axis) const { return axes[axis]; }
  // The group over which an axis communicates: of fsdp, fsdp x context.
  const AxisLinks& group(Axis axis) const { return axis == Axis::fsdp && state.degree > 1 ? state : (*this)[axis]; }
  // As axes_worth of the best `count` axes of the slice.
  double best_axes_worth(int count) const {
    return closing == 0 || count <= closing ? count : closing + (count - closing) / 2.0;
  }
};

MeshLinks place_mesh(const Cluster&, const Parallelism&, const Placement&);

// Which axes of a slice close into rings. 2D tori: an axis does at the full side of the pod (16 of v2, v5e and v6e,
// 32 of v3), whatever the other one. 3D tori (v4p, v5p, TPU7x) are built of 4 x 4 x 4 cubes behind optical switches:
// all do if every side is a multiple of 4, else none (scaling book, chapter 2).
std::array<bool, 3> closing_axes(const Cluster&);
// Torus: the slices that the mesh takes, of those there are.
int slices_used(const Cluster&, const Parallelism&);
// Switched: whether groups of so many tensor ranks reach over the edge of a node.
bool crosses_nodes(const Cluster&, int tensor);
// Sides longer than one chip, as a set of bits like TorusAxes.
unsigned torus_sides(const Cluster&);
// How many such a set has: of three, without the call that counting the bits of a word is on a plain x86-64.
constexpr int torus_axis_count(unsigned axes) {
  return static_cast<int>((axes & 1u) + (axes >> 1 & 1u) + (axes >> 2 & 1u));
}

}  // namespace roofscape::engine
