#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "tests/widgets/support.h"
#include "widgets/canvas/canvas_cairo.h"
#include "widgets/canvas/canvas_ink.h"
#include "widgets/canvas/canvas_record.h"
#include "widgets/canvas/canvas_svg.h"

using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {

constexpr float kEm = 9, kWidth = 400, kHeight = 260;

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++n;
  return n;
}

std::string svg() {
  SvgCanvas c(fonts(), kEm, kWidth, kHeight, {"A sample", "All verbs", true});
  draw_sample(c, theme("print"));
  return c.finish();
}

std::string pdf() {
  const auto c = CairoCanvas::pdf(fonts(), kEm, kWidth, kHeight, {"A sample", "Roofscape"});
  draw_sample(*c, theme("print"));
  return c->finish();
}

std::string png(const char* name, double scale = 2) {
  const Theme t = theme(name);
  const auto c = CairoCanvas::png(fonts(), kEm, kWidth, kHeight, scale, t.panel);
  draw_sample(*c, t);
  return c->finish();
}

// For people: the sample is left where this variable says.
void keep(const char* name, const std::string& bytes) {
  if (const char* folder = std::getenv("ROOFSCAPE_KEEP_SAMPLES"))
    std::ofstream(std::filesystem::path(folder) / name, std::ios::binary) << bytes;
}

}  // namespace

TEST_CASE("SVG draws every primitive of the record") {
  RecordCanvas r(fonts(), kEm, {0, 0, kWidth, kHeight});
  draw_sample(r, theme("print"));
  const std::string s = svg();
  keep("sample.svg", s);
  // Strokes of one look share an element, each with a move of its own.
  const std::size_t moves = count(s, "\"M") + count(s, "ZM") + [&] {
    std::size_t n = 0;
    for (std::size_t i = 1; i < s.size(); ++i) n += s[i] == 'M' && s[i - 1] >= '0' && s[i - 1] <= '9';
    return n;
  }();
  CHECK(moves == r.count(Primitive::Kind::stroke) + r.count(Primitive::Kind::fill));
  CHECK(count(s, "<path") < moves);
  CHECK(count(s, "<text") == r.count(Primitive::Kind::text));
  CHECK(count(s, "<g clip-path") == r.count(Primitive::Kind::push_clip));
  CHECK(count(s, "data-tag=") == r.tags().size());
}

TEST_CASE("SVG text stays text and carries its width") {
  const std::string s = svg();
  CHECK(s.find(kKorean) != std::string::npos);
  CHECK(count(s, "textLength=") == count(s, "<text"));
  CHECK(s.find("id=\"tag-part-3\"") != std::string::npos);
  CHECK(s.find("<title>activations\nshare: 52 %</title>") != std::string::npos);
}

TEST_CASE("SVG escapes what XML reserves and replaces what it forbids") {
  CHECK(xml_escaped("a<b>&\"'") == "a&lt;b&gt;&amp;&quot;&#39;");
  CHECK(xml_escaped("\x01\x1f") == "\uFFFD\uFFFD");
  CHECK(xml_escaped("\xff가") == "\uFFFD가");
  SvgCanvas c(fonts(), 9, 100, 50, {"<title>", "", true});
  c.text({5, 20}, "a < b & \"c\"", {});
  c.tag("x\"><script>", {0, 0, 10, 10});
  const std::string s = c.finish();
  CHECK(s.find("<script>") == std::string::npos);
  CHECK(s.find("a &lt; b &amp; &quot;c&quot;") != std::string::npos);
}

TEST_CASE("SVG coordinates have at most two decimals and ids are unique") {
  SvgCanvas c(fonts(), 9, 100, 50, {"", "", true});
  c.line({1.0f / 3, 2.0f / 3}, {10, 20.126f}, {{1, 2, 3, 255}, 0.55f, {}});
  c.line({-0.05f, -0.001f}, {-12.5f, 7}, {{1, 2, 3, 255}, 2, {}});
  c.tag("same", {0, 0, 1, 1});
  c.tag("same", {5, 0, 1, 1});
  const std::string s = c.finish();
  CHECK(s.find("d=\"M0.33 0.67L10 20.13\"") != std::string::npos);
  CHECK(s.find("d=\"M-0.05 0L-12.5 7\"") != std::string::npos);
  CHECK(count(s, " id=\"tag-same\"") == 1);
  CHECK(count(s, "data-tag=\"same\"") == 2);
}

TEST_CASE("SVG has no rectangles for the pointer unless they are asked for") {
  SvgCanvas c(fonts(), 9, 100, 50);
  draw_sample(c, theme("print"));
  const std::string s = c.finish();
  CHECK(count(s, "data-tag=") == 0);
  CHECK(count(s, "pointer-events") == 0);
}

TEST_CASE("SVG groups what a figure groups, under ids that XML allows and no two share") {
  SvgCanvas c(fonts(), 9, 100, 50);
  for (int i = 0; i < 2; ++i) {
    const auto series = c.group("bf16 \u00d7 fp8");
    const auto clip = c.clip({0, 0, 50, 50});
    c.line({0, 0}, {10, 10}, {{1, 2, 3, 255}, 1, {}});
  }
  c.line({0, 0}, {20, 20}, {{1, 2, 3, 255}, 1, {}});
  const std::string s = c.finish();
  CHECK(count(s, "<g id=\"bf16----fp8\">") == 1);
  CHECK(count(s, "<g id=\"bf16----fp8-2\">") == 1);
  CHECK(count(s, "<g") == count(s, "</g>"));
  CHECK(s.rfind("</g>") < s.find("L20 20"));  // what follows a group is outside it
}

TEST_CASE("SVG and PDF carry a text about themselves") {
  SvgOptions about;
  about.keyword = "roofscape";
  about.metadata = "{\"a\": \"<b>\"}";
  SvgCanvas c(fonts(), 9, 100, 50, about);
  CHECK(c.finish().find("<metadata id=\"roofscape\">{&quot;a&quot;: &quot;&lt;b&gt;&quot;}</metadata>") !=
        std::string::npos);
  PdfOptions words;
  words.keywords = "some words";
  const auto paper = CairoCanvas::pdf(fonts(), 9, 100, 50, words);
  CHECK(paper->finish().find("/Keywords") != std::string::npos);
}

TEST_CASE("PNG says its resolution and carries a text, each chunk with its check sum") {
  const auto picture = [](PngText text) {
    return CairoCanvas::png(fonts(), 9, 72, 36, 300.0 / 72, {255, 255, 255, 255}, std::move(text))->finish();
  };
  const std::string plain = picture({}), spoken = picture({"key", "word"});
  // 300 an inch are 11811 a metre; the check sum is that of the bytes behind the length.
  const std::string size("\0\0\0\x09pHYs\0\0\x2e\x23\0\0\x2e\x23\x01\x78\xa5\x3f\x76", 21);
  CHECK(plain.find(size) == 33);
  CHECK(plain.find("tEXt") == std::string::npos);
  CHECK(spoken.find(std::string("\0\0\0\x08tEXtkey\0word", 16)) != std::string::npos);
  CHECK(spoken.size() == plain.size() + 20);
}

TEST_CASE("ink is as far as what is drawn, cut to its clip") {
  InkCanvas c(fonts(), 9, {0, 0, 100, 50});
  CHECK(!c.ink());
  c.line({10, 20}, {30, 20}, {{1, 2, 3, 255}, 2, {}});
  CHECK(*c.ink() == Rect{9, 19, 22, 2});
  const auto clip = c.clip({0, 0, 50, 50});
  c.rect({40, 30, 40, 10}, {.colour = {1, 2, 3, 255}});
  CHECK(*c.ink() == Rect{9, 19, 41, 21});
}

TEST_CASE("SVG, PDF and PNG of the same drawing are the same bytes each time") {
  CHECK(svg() == svg());
  CHECK(pdf() == pdf());
  CHECK(png("dark") == png("dark"));
}

TEST_CASE("PDF is a PDF with a fixed date and text that can be searched") {
  const std::string p = pdf();
  keep("sample.pdf", p);
  CHECK(p.substr(0, 5) == "%PDF-");
  CHECK(p.find("20000101000000") != std::string::npos);
  CHECK(p.find("ToUnicode") != std::string::npos);
}

TEST_CASE("PNG is not blank in any theme") {
  for (const char* name : {"dark", "light", "print", "projector"}) {
    const std::string bytes = png(name);
    keep((std::string("sample_") + name + ".png").c_str(), bytes);
    CHECK(bytes.substr(1, 3) == "PNG");
    const auto blank = CairoCanvas::png(fonts(), kEm, kWidth, kHeight, 2, theme(name).panel);
    CHECK(bytes.size() > 4 * blank->finish().size());
  }
}

TEST_CASE("an absurd PNG size gives an error, not a crash") {
  const auto c = CairoCanvas::png(fonts(), 9, 1e6f, 1e6f, 10, {255, 255, 255, 255});
  c->text({10, 10}, "text", {});
  c->rect({0, 0, 10, 10}, {});
  CHECK(c->finish().empty());
  CHECK_FALSE(c->error().empty());
}

TEST_CASE("a character no font has, invalid bytes and control characters are drawn without failing") {
  for (const char* text : {"\U000F1234", "\xff\xfe", "a\nb\tc", "\xe2\x82"}) {
    const auto c = CairoCanvas::pdf(fonts(), 9, 100, 50);
    c->text({10, 20}, text, {});
    CHECK(c->finish().substr(0, 5) == "%PDF-");
    CHECK(c->error().empty());
  }
}

TEST_CASE("font stacks come and go without leaving Cairo freed faces") {
  // Cairo keeps faces cached: making and dropping stacks must not leave it with freed ones.
  for (int i = 0; i < 3; ++i) {
    const FontStack own;
    const auto c = CairoCanvas::png(own, 9, 60, 30, 1, {255, 255, 255, 255});
    c->text({5, 20}, "가 A −", {});
    CHECK_FALSE(c->finish().empty());
  }
}
