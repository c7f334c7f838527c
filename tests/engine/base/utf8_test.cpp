#include "engine/base/utf8.h"

#include <random>

#include <doctest/doctest.h>

using namespace roofscape::engine;

TEST_CASE("an invalid byte is read as one replacement, and nothing is read past the end") {
  std::size_t at = 0;
  CHECK(next_codepoint("\xff\x41", at) == 0xFFFD);
  CHECK(at == 1);
  for (const std::string_view bad :
       {"\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\xaf", "\xe2\x82", "\xf0\x9f"}) {
    at = 0;
    CHECK(next_codepoint(bad, at) == 0xFFFD);
    CHECK(at == 1);
    CHECK(first_invalid_utf8(bad) == 0);
  }
}

TEST_CASE("a character written as UTF-8 is read back whole, in every plane") {
  for (const char32_t c : {U'A', U'\x7f', U'\x80', U'\u07ff', U'\u0800', U'\uac00', U'\uffff', U'\U00010000',
                           U'\U0001f600', U'\U00020000', U'\U0010ffff'}) {
    std::string text;
    append_utf8(text, c);
    std::size_t at = 0;
    CHECK(next_codepoint(text, at) == c);
    CHECK(at == text.size());
    CHECK(first_invalid_utf8(text) == std::string_view::npos);
    CHECK(count_characters(text) == 1);
    CHECK(previous_character(text, text.size()) == 0);
    CHECK(next_character(text, 0) == text.size());
  }
}

TEST_CASE("what is no character is written as the replacement character") {
  for (const auto c :
       {static_cast<char32_t>(0xD800), static_cast<char32_t>(0xDFFF), static_cast<char32_t>(0x110000)}) {
    std::string text;
    append_utf8(text, c);
    CHECK(text == "\xef\xbf\xbd");
  }
}

TEST_CASE("the first invalid byte of any bytes is where reading them meets the first replacement") {
  std::mt19937 rng(20);
  // Bytes that begin and go on with characters of every length, and some that never do.
  constexpr std::string_view kBytes = "a\x80\xbf\xc2\xdf\xe0\xa0\xed\x9f\xf0\x90\xf4\x8f\xff\xc0";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::size_t n = rng() % 9; n > 0; --n) text += kBytes[rng() % kBytes.size()];
    std::size_t at = 0, bad = std::string_view::npos;
    while (at < text.size() && bad == std::string_view::npos) {
      const std::size_t start = at;
      if (next_codepoint(text, at) == 0xFFFD && at == start + 1) bad = start;
    }
    REQUIRE(first_invalid_utf8(text) == bad);
  }
}
