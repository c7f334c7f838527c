// The known word nearest to a mistyped one, for error messages.
#pragma once

#include <span>
#include <string_view>

#include "engine/base/sentence.h"

namespace roofscape::io {

// Insertions, removals, replacements and swaps of neighbours, by byte; upper and lower case are the same. Words
// longer than 64 bytes count as far away.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest candidate, or empty when none is near enough to be meant (about a third of the word may differ).
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates);

// "did you mean X?" for a word that is near.
engine::Sentence did_you_mean(std::string_view near);
// "did you mean ..." for an unknown word, else the words that are known when they are few.
engine::Sentence did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace roofscape::io
