// A tour as text: what `roofscape-cli tour NAME` prints, and the handout that an export writes.
#pragma once

#include <string>

#include "engine/io/tour/tour.h"
#include "widgets/plot/text_table.h"

namespace roofscape::app {

// Each scene with its question, choices, answer, sentence and source; the right choice is marked.
std::string tour_document(const io::Tour& tour, const io::PresetLibrary& library, const widgets::TextTable& texts);
// The same as Markdown: first all questions with their choices, then the answers, then the notes of the lecturer.
std::string tour_handout(const io::Tour& tour, const io::PresetLibrary& library, const widgets::TextTable& texts);

}  // namespace roofscape::app
