// Time of the four collectives over the bytes of the gathered array, on one group of ranks: a mesh axis of the plan,
// a node or all chips (scaling book, chapters 3 and 12). In ideal mode a collective takes the longer of its two regimes:
// bytes over bandwidth, as evaluate() has it, or a fixed latency for every hop, which a training step in that mode does
// not count. In calibrated and custom mode it takes what evaluate() counts: the bytes at the rate that is reached, after
// the latency of the calibration.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/base/scalar.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

enum class CollectiveGroup : std::uint8_t { busiest, fsdp, tensor, data, context, expert, node, cluster };
inline constexpr EnumTable<CollectiveGroup> kCollectiveGroupIds{"busiest", "fsdp",   "tensor", "data",
                                                                "context", "expert", "node",   "cluster"};

struct CollectiveQuestion {
  CollectiveGroup group = CollectiveGroup::busiest;  // the axis of the plan that is busy longest, or all chips
  double hop_s = 0;  // latency of a hop that is assumed; 0: the published one, or the calibration's of that mode
  friend bool operator==(const CollectiveQuestion&, const CollectiveQuestion&) = default;
};

struct CollectiveLine {
  CollectiveKind kind = CollectiveKind::all_gather;
  std::vector<double> seconds;  // by CollectiveStudy::bytes
  double latency_s = 0;         // 0: not known
  double seconds_a_byte = 0;
  bool adds = false;                     // the latency comes before the bytes rather than in their place
  std::optional<double> crossing_bytes;  // below it hops take longer than bytes
  double time(double byte_count) const { return with_latency(byte_count * seconds_a_byte); }
  // Of a collective whose bytes alone take `sent_s`.
  double with_latency(double sent_s) const { return adds ? latency_s + sent_s : max(latency_s, sent_s); }
};

// A message the plan sends over this group.
struct CollectiveUse {
  CollectiveKind kind = CollectiveKind::all_gather;
  bool backward = false;
  double bytes = 0, seconds = 0, calls_per_step = 0;
};

struct CollectiveStudy {
  std::optional<Axis> axis;  // none: a node or the cluster
  LinkTier tier = LinkTier::none;
  int ranks = 1, torus_axes = 0;
  std::optional<double> hop_s;
  bool calibrated = false;  // rates and latencies are those of the mode, as the step counts them
  double hops = 0;
  double bandwidth_bytes_per_s = 0;   // of a gather: the whole array over its time, with the part a rank has already
  double exchange_bytes_per_s = 0;    // of an AllToAll: what one rank has for all of them over its time
  std::vector<double> bytes;          // ascending, even in the logarithm; crossings and uses lie on it
  std::vector<CollectiveLine> lines;  // gather and scatter (which take the same), reduce, exchange
  std::vector<CollectiveUse> uses;
  bool known() const { return !lines.empty(); }
  // Whether all that the plan sends over this group are AllToAlls.
  bool exchanges() const;
  const CollectiveLine& main_line() const;  // of the gather, or of the AllToAll where the plan exchanges
};

CollectiveStudy collective_study(const Scenario&, const Report&, const CollectiveQuestion&);

}  // namespace roofscape::engine
