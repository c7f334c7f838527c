// The mark of numbers that rest on figures nobody has verified, on every surface of a figure: its headline, what is
// read when it is pointed at and what it copies. eval marks the same numbers.
#pragma once

#include <string>
#include <string_view>

#include "engine/provenance.h"
#include "widgets/figure.h"

namespace roofscape::widgets {

inline constexpr std::string_view kDoubtMark = " \u2020";

// Of the scenario; null where every figure that it uses is verified.
const engine::Provenance* doubts_of(const FigureInput& input);
// Whether a quantity with this id is among those reached.
bool doubted(const engine::Provenance& doubts, std::string_view id);

// Marks the claims that rest on such figures: those of quantities that are reached; the figure's own where the plan's
// time is.
void mark_doubts(FigureHead& head, const FigureInput& input);
// Marks ids in the first row and in the first column.
std::string marked_data(std::string_view data, const engine::Provenance& doubts);

}  // namespace roofscape::widgets
