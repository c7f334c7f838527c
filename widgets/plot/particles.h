#pragma once

// Particles of Korean, whose form follows the sound before them: "텐서를" but "레이어 수를", "8로" but "3으로". A text
// that ends a place in a particle writes both forms, "{0}을(를)", and the one that fits what stands in the place is kept.

#include <cstdint>
#include <string>
#include <string_view>

namespace roofscape::widgets {

// How the last word of a text ends when it is read aloud in Korean. Numbers are read as numbers, words in capitals
// letter by letter; of other words in Latin letters the usual transcription is guessed.
enum class FinalSound : std::uint8_t { unknown, vowel, consonant, l };
FinalSound final_sound(std::string_view text);

// The text with 은(는), 이(가), 을(를), 과(와), (으)로 and (이)라 settled; after an unknown sound both forms stay.
std::string settle_particles(std::string text);

}  // namespace roofscape::widgets
