// What is wrong with a tour beyond what its reader sees: a figure that shows nothing, an answer outside of its range, a
// choice that is right under another reading, a claim that no longer holds. `roofscape-cli tour NAME --check` and the
// tests of all tours that ship.
#pragma once

#include <vector>

#include "engine/io/tour/tour.h"
#include "widgets/plot/text_table.h"

namespace roofscape::app {

// One finding each, with file and path ("scenes.3.choices.1"); empty: the tour is sound.
std::vector<io::InputError> check_tour(const io::Tour& tour, const io::PresetLibrary& library,
                                       const widgets::TextTable& texts);

}  // namespace roofscape::app
