#include <doctest/doctest.h>

#include "engine/base/utf8.h"
#include "tests/widgets/support.h"
#include "widgets/canvas/canvas_cairo.h"

using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

TEST_CASE("widths of English, Korean, Russian and symbols equal those Cairo measures") {
  const auto cairo = CairoCanvas::pdf(fonts(), 9, 100, 100);
  for (const char* text : {kEnglish, kKorean, kRussian, kSymbols})
    for (const Weight weight : {Weight::regular, Weight::bold}) {
      CAPTURE(text);
      const double drift =
          static_cast<double>(fonts().width(text, 100, weight)) - cairo->measured_width(text, 100, weight);
      CHECK(std::abs(drift) < 0.01);
    }
}

TEST_CASE("digits are equally wide, so readouts do not jitter") {
  for (char c = '1'; c <= '9'; ++c) CHECK(fonts().advance(static_cast<char32_t>(c)) == fonts().advance(U'0'));
}

TEST_CASE("width grows in proportion to the em") {
  CHECK(fonts().width(kRussian, 30) == doctest::Approx(2 * fonts().width(kRussian, 15)));
}

TEST_CASE("half a character has the width of a replacement") {
  CHECK(fonts().width(std::string_view("\xe2", 1), 10) > 0);
}

TEST_CASE("a character no font has is a box, not a crash") {
  CHECK_FALSE(fonts().has_glyph(0xF1234));
  CHECK(fonts().width("\U000F1234", 10) > 0);
}

TEST_CASE("control characters take no room") { CHECK(fonts().width("a\n\tb", 10) == fonts().width("ab", 10)); }

TEST_CASE("each script comes from the family of the chain that has it") {
  if (!fonts().missing().empty()) {
    MESSAGE("skipped: install " << fonts().missing()[0].package);
    return;
  }
  CHECK(fonts().faces()[fonts().glyph(U'A').face].family == "Noto Sans");
  CHECK(fonts().faces()[fonts().glyph(U'Ж').face].family == "Noto Sans");
  CHECK(fonts().faces()[fonts().glyph(U'\u2212').face].family == "Noto Sans Math");
  CHECK(fonts().faces()[fonts().glyph(U'가').face].family == "Noto Sans CJK KR");
  CHECK(fonts().has_glyph(U'\u202f'));
  CHECK(fonts().has_glyph(U'가', Weight::bold));
}

TEST_CASE("a family that is not installed is named with its package, and text is still measured") {
  const FontStack stack(std::vector<std::string>{"No Such Family CJK", "Neither This"});
  REQUIRE(stack.missing().size() == 2);
  CHECK(stack.missing()[0].package == "fonts-noto-cjk");
  CHECK(stack.missing()[1].package == "fonts-noto-core");
  CHECK(stack.width("text", 10) > 0);
}

TEST_CASE("fit cuts between characters and stays within the room") {
  const float room = fonts().width(kKorean, 10) / 2;
  const std::string_view cut = fonts().fit(kKorean, 10, room);
  CHECK(!cut.empty());
  CHECK(fonts().width(cut, 10) <= room);
  for (std::size_t at = 0; at < cut.size();) CHECK(roofscape::engine::next_codepoint(cut, at) != 0xFFFD);
  CHECK(fonts().fit("abc", 10, 1000) == "abc");
}
