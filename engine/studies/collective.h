// Time of the four collectives over the bytes of the gathered array, on one group of ranks: a mesh axis of the plan,
// a node or all chips (scaling book, chapters 3 and 12), as evaluate() counts it. In ideal mode a collective takes the
// longer of its two regimes: bytes over bandwidth, or the chip's latency for every hop. In calibrated and custom mode the
// bytes at the rate that is reached come after the latency of the calibration.
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
  double hop_s = 0;        // latency of a hop that is asked for; 0: the chip's, or the calibration's of that mode
  bool published = false;  // leave out a chip's latency that is assumed
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

// A message the plan sends over this group; of state, without the experts that another group shares.
struct CollectiveUse {
  CollectiveKind kind = CollectiveKind::all_gather;
  bool backward = false;
  double bytes = 0, seconds = 0, calls_per_step = 0;  // seconds: as the report has it
};

struct CollectiveStudy {
  std::optional<Axis> axis;  // none: a node or the cluster
  LinkTier tier = LinkTier::none;
  int ranks = 1, torus_axes = 0;
  std::optional<double> hop_s;
  bool assumed = false;     // it is no published figure
  bool as_step = true;      // the latency is what the step counts
  bool calibrated = false;  // rates and latencies are those of the mode, as the step counts them
  // Of the plan's largest message, the bytes of experts: they go between the ranks that hold the same ones, another
  // group than this one, and are in no use.
  double experts_bytes = 0;
  int experts_ranks = 1;
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
