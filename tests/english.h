// Sentences as a person who reads English sees them: what tests compare messages with.
#pragma once

#include <string>
#include <string_view>

#include "engine/io/json/result.h"
#include "widgets/plot/text_table.h"

namespace roofscape::test {

const widgets::TextTable& english();
widgets::TextTable texts_in(std::string_view language);  // of those that ship
std::string in_english(const engine::Sentence& sentence);
std::string in_english(const io::InputError& error);  // one line, with file and path

}  // namespace roofscape::test
