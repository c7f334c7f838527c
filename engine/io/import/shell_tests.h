// Tests of a script: what [ ... ] and [[ ... ]] come to, where that can be known without running anything. For the .cpp files
// of engine/io/import.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "engine/io/import/shell_text.h"

namespace roofscape::io {

// The words between the brackets: [ a = b ], [ -z a ], [ ! ... ], [ a -o b ]. None: it depends on what only a shell knows.
std::optional<bool> test_of(std::span<const ShellText> words);
// The text of a word of a test: what nothing sets is empty there, as it is where ${X:-word} is taken. None: as above.
std::optional<std::string> decided_text(const ShellText& text);
// A whole number as a shell writes it.
std::optional<std::int64_t> shell_whole(const std::string& text);

}  // namespace roofscape::io
