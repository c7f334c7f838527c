// The roofline of the network (scaling book, chapters 1, 5 and 12): what arithmetic a chip can do for a number of
// FLOPs a byte moved, link tier by link tier; and where each mesh axis of the plan stands. Bytes of an axis are those
// its links carry to a chip, so an axis stands on the roof of its tier: how far along says whether its transfers can
// hide.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

enum class RoofTier : std::uint8_t { hbm, ici, nvlink, fabric, pcie, dcn };
inline constexpr EnumTable<RoofTier> kRoofTierIds{"hbm", "ici", "nvlink", "fabric", "pcie", "dcn"};

struct LinkRoof {
  RoofTier tier = RoofTier::ici;
  int torus_axes = 0;      // ici
  int fabric_level = -1;   // fabric, of a cluster that states its levels
  double bytes_per_s = 0;  // of one chip
  double ridge = 0;        // FLOP a byte from which arithmetic decides
};

struct AxisDot {
  Axis axis = Axis::data;
  int degree = 1, roof = -1;      // index of its tier's roof; -1: none known
  double bytes = 0, seconds = 0;  // of a step, on one chip
  double intensity = 0;           // FLOP a byte
  double flop_per_s = 0;          // what its links let the chip reach, at most the peak
  double margin = 0;              // arithmetic time over its time, of a whole step; below 1 it caps the chip
  // The same of forward passes alone: they have a third of the arithmetic, or less, and may be capped where a whole
  // step would not be. 0: it moves nothing there.
  double forward_margin = 0;
};

struct CommRoofline {
  double peak = 0, flops = 0;   // of one chip; of a step
  std::vector<LinkRoof> roofs;  // fastest first
  std::vector<AxisDot> axes;
  bool known() const { return peak > 0 && flops > 0 && !roofs.empty(); }
};

CommRoofline comm_roofline(const Scenario&, const Report&);

}  // namespace roofscape::engine
