// Which transfers of a mesh wait for each other: what each physical link carries of each mesh axis. A wire is the links
// inside a node, the fabric (all its levels together), one axis of a torus, or the data-centre network. Transfers on
// one wire follow each other; wires work at the same time, so the busiest one decides (scaling book, chapter 5, whose
// two editions are the assumptions `sum`: all on one wire, and `max`: each mesh axis on a wire of its own).
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "engine/base/scalar.h"
#include "engine/inputs/inputs.h"
#include "engine/inputs/placement.h"

namespace roofscape::engine {

inline constexpr int kMostWires = kAxisCount;

template <Scalar S>
struct Wires {
  // By wire, mesh axes as bits: those whose transfers keep it busy all the time, and those that wait for another wire
  // and keep this one busy for `share` of their time.
  std::array<std::uint8_t, kMostWires> whole{}, part{};
  int count = 0;
  AxisArray<S> share{};

  // What it loads of the axes that talk, and whether some other wire carries at least as much of each of them.
  bool matters(int wire, unsigned talks) const {
    const auto at = [](int i) { return static_cast<std::size_t>(i); };
    const unsigned here = whole[at(wire)] & talks, some = part[at(wire)] & talks;
    if ((here | some) == 0) return false;
    for (int i = 0; i < count; ++i) {
      if (i == wire) continue;
      const unsigned there = whole[at(i)] & talks, there_some = part[at(i)] & talks;
      if ((here & ~there) != 0 || (some & ~(there | there_some)) != 0) continue;
      const bool same = here == there && some == there_some;
      if (!same || i < wire) return false;
    }
    return true;
  }
};

// Of the resolved assumption (sum, max or by_wire). Rates as collectives reach them.
template <Scalar S>
Wires<S> wires_of(const MeshLinks&, AxesOverlap, const ChipRates<S>&);
extern template Wires<double> wires_of<double>(const MeshLinks&, AxesOverlap, const ChipRates<double>&);
extern template Wires<Traced> wires_of<Traced>(const MeshLinks&, AxesOverlap, const ChipRates<Traced>&);

// For pictures: by axis, the axes (itself too, as bits) that keep some wire busy together with it, so that one of them
// waits for the other.
AxisArray<std::uint8_t> sharers(const Scenario&);

// Whether FSDP and tensor parallelism together take as long as both (scaling book, chapter 5: the mixed bound), or as
// the longer one. By wire: on a torus, whether what the scenario asks of the placement leaves them axes of their own.
bool transfers_add(const Scenario&);

// How long the busiest wire works, and which axes it carries.
template <Scalar S>
struct Busiest {
  S time;
  unsigned whole = 0, part = 0;                                                // of those that talk
  bool alone() const { return ((whole | part) & ((whole | part) - 1)) == 0; }  // one axis at most
};
// `times` of each axis on the wire it waits for; `talks`: the axes that move anything, as bits.
template <Scalar S>
Busiest<S> busiest(const Wires<S>& wires, const AxisArray<S>& times, unsigned talks, const S& zero) {
  Busiest<S> out{zero};
  if (talks == 0) return out;
  bool any = false;
  double longest = 0;
  for (int wire = 0; wire < wires.count; ++wire) {
    if (!wires.matters(wire, talks)) continue;
    const unsigned whole = wires.whole[static_cast<std::size_t>(wire)] & talks,
                   part = wires.part[static_cast<std::size_t>(wire)] & talks;
    S time = zero;
    bool first = true;
    for (unsigned left = whole | part; left != 0; left &= left - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(left));
      const bool all = (whole >> i & 1u) != 0;
      if (first)
        time = all ? S(times[i]) : wires.share[i] * times[i];
      else
        time = all ? time + times[i] : time + wires.share[i] * times[i];
      first = false;
    }
    const double seconds = value_of(time);
    if (!any || seconds > longest) longest = seconds, out.whole = whole, out.part = part;
    out.time = any ? max(out.time, time) : time;
    any = true;
  }
  return out;
}
// What axis `i` adds to the busiest wire.
template <Scalar S>
S load_of(const Wires<S>& wires, const Busiest<S>& wire, const AxisArray<S>& times, std::size_t i) {
  return (wire.whole >> i & 1u) != 0 ? S(times[i]) : wires.share[i] * times[i];
}

}  // namespace roofscape::engine
