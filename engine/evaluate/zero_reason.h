// Why a part of the step or of memory is zero: a derivation of zeros does not say it.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/enum_table.h"
#include "engine/base/quantity.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

enum class ZeroKind : std::uint8_t {
  convention,           // the FLOP convention counts none of it
  one_rank,             // the mesh axis has one rank: nothing is sent
  hidden,               // what is sent runs beside work
  nothing_sent,         // ranks there are, but they have nothing to send each other
  one_stage,            // no pipeline
  hbm_hidden,           // memory traffic ends before the arithmetic of its layer
  keeps_all,            // nothing is computed again
  not_offloaded,        // neither optimizer nor activations are on the host
  ideal_mode,           // counted in calibrated and custom mode only
  gradients_not_stored  // consumed as they are made
};
inline constexpr EnumTable<ZeroKind> kZeroKindIds{
    "convention", "one_rank",  "hidden",        "nothing_sent", "one_stage",
    "hbm_hidden", "keeps_all", "not_offloaded", "ideal_mode",   "gradients_not_stored"};

struct ZeroReason {
  ZeroKind kind = ZeroKind::convention;
  Axis axis = Axis::data;  // one_rank, hidden and nothing_sent
  double hidden_s = 0;     // hidden: seconds of a step
};

// Empty where the quantity is not zero, or is none of those that people ask this of.
std::optional<ZeroReason> zero_reason(const Scenario&, const Report&, Q);

}  // namespace roofscape::engine
