// Sentences as a person who reads English sees them: what tests compare messages with.
#pragma once

#include <string>

#include "engine/io/json/result.h"
#include "widgets/plot/text_table.h"

namespace roofscape::test {

const widgets::TextTable& english();
std::string in_english(const engine::Sentence& sentence);
std::string in_english(const io::InputError& error);  // one line, with file and path

}  // namespace roofscape::test
