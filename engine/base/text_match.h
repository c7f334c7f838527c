// How what is typed is found in names: the one rule of every list that is searched by typing (drop-downs, the presets
// of the editor, the command palette, the command line), so that "H200" is the H200 everywhere and never the GH200.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace roofscape::engine {

// Better is larger.
enum class Match : std::uint8_t { none, inside, word_start, prefix, exact };

// Case (of the Latin and the Cyrillic alphabet) and everything but letters, digits and decimal points do not count: "qwen3-32b" is
// "Qwen3 32B". Several words may come in any order; then it is the worst of them that counts, at most a word's start.
// `id` is another name of the same thing; the better match of both is taken. Nothing typed is found everywhere,
// inside; what is longer than any name (256 bytes) is found nowhere.
Match match_of(std::string_view typed, std::string_view name, std::string_view id = {});

// The text in small letters, Latin and Cyrillic, and with \u0435 for \u0451, as people type it. The bytes keep their places.
std::string small_letters(std::string_view text);

// Whether what is typed is some whole words of a name, one after the other: "h100" and "H100 SXM" of "h100-sxm", not
// "h10".
bool names(std::string_view typed, std::string_view name);

}  // namespace roofscape::engine
