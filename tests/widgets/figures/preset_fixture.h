// Shipped presets, evaluated, for the tests of figures that need a report that belongs to its scenario.
#pragma once

#include <string>

#include "tests/engine/fixtures.h"
#include "tests/widgets/figures/figure_fixture.h"

namespace roofscape::widgets::testing {

FigureCase preset_case(const std::string& id);

FigureCase calibrated_case(const std::string& preset);

// 405B as plain 1F1B with whole layers computed again.
FigureCase plain_405b(const std::string& id);

// The same, evaluated once a program.
const FigureCase& case_of(const char* preset);

// Checks that a figure cuts and covers no text and shows no key in place of one.
void check_clean(const FigureRow& row, const FigureCase& c, const Theme& theme, float em, float width, float height,
                 const FigureView& view, const TextTable& texts);

// The same at the sizes figures have: small, usual and large on the screen, projected, with long words, on paper,
// compact.
void check_clean_everywhere(const FigureRow& row, const FigureCase& c, FigureView view);

// Checks that a figure has a phrase and that its data are a table: as many fields in every line as in the first.
void check_takeaway_and_table(const FigureRow& row, const FigureCase& c);

}  // namespace roofscape::widgets::testing
