#include "widgets/plot/particles.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "engine/base/utf8.h"

namespace roofscape::widgets {
namespace {

struct Particle {
  std::string_view written, after_consonant, after_vowel;
};
constexpr std::array kParticles{Particle{"은(는)", "은", "는"},   Particle{"이(가)", "이", "가"},
                                Particle{"을(를)", "을", "를"},   Particle{"과(와)", "과", "와"},
                                Particle{"(으)로", "으로", "로"}, Particle{"(이)라", "이라", "라"}};
constexpr std::string_view kAfterL = "(으)로";  // "로" after l too

bool is(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }
bool letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool capital(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

FinalSound of_digit(char c) {  // 영 일 이 삼 사 오 육 칠 팔 구
  if (is("178", c)) return FinalSound::l;
  return is("036", c) ? FinalSound::consonant : FinalSound::vowel;
}

FinalSound of_letter(char c) {  // the letter's name: 엘 엠 엔 알
  if (is("lLrR", c)) return FinalSound::l;
  return is("mMnN", c) ? FinalSound::consonant : FinalSound::vowel;
}

// A word in small letters, as it is usually transcribed: 파이프라인, 스케줄, 스텝, 블록.
FinalSound of_word(std::string_view word) {
  static constexpr std::string_view kVowels = "aeiouy";
  if (std::none_of(word.begin(), word.end(), [](char c) { return is(kVowels, c); })) return of_letter(word.back());
  if (word.back() == 'e' && word.size() > 3) {  // silent
    const char before = word[word.size() - 2];
    if (before == 'l') return FinalSound::l;
    return is("nm", before) ? FinalSound::consonant : FinalSound::vowel;
  }
  if (word.ends_with("ng") || word.ends_with("ck") || is("nm", word.back())) return FinalSound::consonant;
  if (word.back() == 'l') return FinalSound::l;
  const bool after_vowel = word.size() > 1 && is(kVowels, word[word.size() - 2]);
  return after_vowel && is("pkbc", word.back()) ? FinalSound::consonant : FinalSound::vowel;
}

std::optional<char32_t> last_character(std::string_view text) {
  if (text.empty()) return {};
  const std::size_t at = engine::previous_character(text, text.size());
  const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[i])); };
  switch (text.size() - at) {
    case 1:
      return byte(at);
    case 2:
      return (byte(at) & 0x1f) << 6 | (byte(at + 1) & 0x3f);
    case 3:
      return (byte(at) & 0x0f) << 12 | (byte(at + 1) & 0x3f) << 6 | (byte(at + 2) & 0x3f);
    default:
      return {};
  }
}

}  // namespace

FinalSound final_sound(std::string_view text) {
  // Marks that are not read stand between a word and its particle.
  for (bool trimmed = true; trimmed && !text.empty();) {
    trimmed = false;
    for (const std::string_view mark : {"”", "’", "\"", "'", ")", "]", "`", " ", "†", "…", "."})
      if (text.ends_with(mark)) {
        text.remove_suffix(mark.size());
        trimmed = true;
      }
  }
  const auto last = last_character(text);
  if (!last) return FinalSound::unknown;
  if (*last >= 0xAC00 && *last <= 0xD7A3) {  // a syllable: the final consonant is in its number
    const char32_t tail = (*last - 0xAC00) % 28;
    return tail == 0 ? FinalSound::vowel : tail == 8 ? FinalSound::l : FinalSound::consonant;
  }
  const char c = text.back();
  if (digit(c)) return of_digit(c);
  if (c == '%' || text.ends_with("×")) return FinalSound::vowel;  // 퍼센트, 배
  if (!letter(c)) return FinalSound::unknown;
  std::size_t start = text.size();
  while (start > 0 && letter(text[start - 1])) --start;
  const std::string_view word = text.substr(start);
  return word.size() == 1 || capital(c) ? of_letter(c) : of_word(word);
}

std::string settle_particles(std::string text) {
  std::size_t at = 0;
  while ((at = text.find('(', at)) != std::string::npos) {
    const std::string_view all = text;
    bool settled = false;
    for (const Particle& p : kParticles) {
      const std::size_t bracket = p.written.find('(');
      if (at < bracket || all.substr(at - bracket, p.written.size()) != p.written) continue;
      const FinalSound sound = final_sound(all.substr(0, at - bracket));
      if (sound == FinalSound::unknown) break;
      const bool vowel = sound == FinalSound::vowel || (sound == FinalSound::l && p.written == kAfterL);
      const std::string_view form = vowel ? p.after_vowel : p.after_consonant;
      text.replace(at - bracket, p.written.size(), form);
      at = at - bracket + form.size();
      settled = true;
      break;
    }
    if (!settled) ++at;
  }
  return text;
}

}  // namespace roofscape::widgets
