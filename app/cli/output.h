// What the commands of roofscape-cli say, and their exit status: 0 good; 1 the scenario was read and has an error
// diagnostic; 2 bad usage, unreadable file, unknown key, wrong type or out of domain.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/io/json/result.h"

namespace roofscape::app::cli {

inline constexpr int kGood = 0, kHasErrors = 1, kBadInput = 2;

// One line on stderr: "roofscape-cli: ...".
void complain(const engine::Words& words, const io::InputError& error);
// The same as the end of a command: kBadInput.
int refuse(const engine::Words& words, const io::InputError& error);
// Of --json and --csv given together.
int refuse_two_formats(const engine::Words& words);
// A text to stdout, what a terminal would take for a command left out; a failure (full disk, closed pipe) is complained
// about and gives kBadInput, else `code`.
int print(const engine::Words& words, const std::string& text, int code);
// The same for the bytes of a file.
int print_file(const engine::Words& words, const std::string& bytes, int code);
// To the file that -o names, replaced whole; to stdout where it is kStandardOutput.
inline constexpr std::string_view kStandardOutput = "-";
int write_output(const engine::Words& words, const std::string& file, const std::string& bytes, int code);

// Makes the folder that a command writes its files into, and those above it.
std::optional<io::InputError> make_folder(const std::string& folder);

}  // namespace roofscape::app::cli
