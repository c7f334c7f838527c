// Placement: how the logical mesh axes lie on the physical links.
//
// Torus: every mesh axis spans a number of torus axes. Unless the scenario says otherwise, tensor and pipeline take one
// each where they are used and data, fsdp and context share the rest (scaling book, chapter 5: FSDP over two axes and
// tensor over one on a 3D torus). With several slices, data runs over the data-centre network between them.
// Switched: ranks fill nodes in the order tensor, context, fsdp, data, pipeline, as training frameworks lay them out;
// expert ranks are the first of context x fsdp x data, and before them those tensor ranks that do not split an expert.
// Above the node a group spans the levels of the cluster's fabric from below, as far as its ranks reach.
#pragma once

#include <array>
#include <cstdint>

#include "engine/hardware/collective_kind.h"
#include "engine/scenario.h"

namespace roofscape::engine {

// What a group has of one fabric level.
struct LevelLinks {
  int children = 1;       // of the group, below the fullest switch; 1: the group does not use this level
  int below_child = 1;    // ranks of the group below one child
  int groups = 1;         // groups that share a child's link
  bool reduces = false;   // the switches add up what passes
};

struct AxisLinks {
  LinkTier tier = LinkTier::none;
  int degree = 1;
  int torus_axes = 0;     // ici
  int inside_node = 1;    // switched: ranks of one group in a node
  int across_nodes = 1;   // switched: nodes a group spans
  int groups_a_node = 1;  // switched: groups that share the node's fabric links
  std::array<LevelLinks, kMaxFabricLevels> levels{};  // of a cluster that states its fabric
  int level_count = 0;                                // 0: it does not
  std::int64_t stride = 1;                            // switched: ranks between two neighbours of a group
};

struct MeshLinks {
  std::array<AxisLinks, kAxisCount> axes;
  AxisLinks state;     // the group fsdp x context, over which training state is sharded
  bool wrapped = true; // torus: rings close, so both directions of a link carry a collective
  int torus_dims = 0;  // 0: switched

  const AxisLinks& operator[](Axis axis) const { return axes[static_cast<std::size_t>(axis)]; }
};

MeshLinks place_mesh(const Cluster&, const Parallelism&, const Placement&);

// Whether the rings of a slice close. 2D tori: an axis does at the full side of the pod (16 of v2, v5e and v6e, 32 of v3),
// so all must have it. 3D tori (v4p, v5p, TPU7x) are built of 4 x 4 x 4 cubes behind optical switches: they do if every
// side is a multiple of 4 (scaling book, chapter 2).
bool rings_close(const Cluster&);

}  // namespace roofscape::engine
