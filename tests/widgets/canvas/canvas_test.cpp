#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "tests/widgets/support.h"
#include "widgets/canvas/canvas_record.h"

using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using Kind = Primitive::Kind;

namespace roofscape::widgets::testing {

void draw_sample(Canvas& canvas, const Theme& theme) {
  const float em = canvas.em();
  Fill ground;
  ground.colour = theme.panel;
  canvas.rect(canvas.bounds(), ground);
  TextStyle style;
  style.colour = theme.ink;
  style.valign = VAlign::top;
  style.weight = Weight::bold;
  canvas.text({10, 8}, kEnglish, style);
  style.weight = Weight::regular;
  canvas.text({10, 28}, kKorean, style);
  canvas.text({10, 48}, kRussian, style);
  canvas.text({300, 28}, kSymbols, style);
  for (std::size_t i = 0; i < kMemoryPartCount; ++i) {
    const auto part = static_cast<MemoryPart>(i);
    const Rect box{10 + 48 * static_cast<float>(i), 72, 44, 26};
    canvas.rect(box, fill_of(theme, part, em));
    canvas.tag("part", static_cast<int>(i), box, {std::string(name_of(part)), {{"share", "52 %"}}});
  }
  for (std::size_t i = 0; i < kTimelinePartCount; ++i)
    canvas.rect({10 + 48 * static_cast<float>(i), 104, 44, 26},
                chunk_of(theme, fill_of(theme, static_cast<TimelinePart>(i), em), 1, 3));
  float y = 144;
  for (std::size_t i = 0; i < kStepPartCount; ++i, y += 8)
    canvas.line({10, y}, {190, y}, stroke_of(theme, static_cast<StepPart>(i), em, true));
  canvas.marker({215, 150}, Marker::circle, 14, fill_of(theme, Roof::matmul, em));
  canvas.marker({240, 150}, Marker::diamond, 14, fill_of(theme, Roof::attention, em));
  canvas.marker({265, 150}, Marker::square, 14, fill_of(theme, Roof::vector, em));
  Fill slanted = fill_of(theme, MemoryPart::activations, em);
  canvas.polygon({{290, 170}, {340, 135}, {385, 150}, {360, 185}}, slanted);
  canvas.arrow({205, 180}, {280, 180}, {theme.ink3, canvas.px(1.2f), {}});
  {
    const auto clip = canvas.clip({205, 195, 90, 40});
    canvas.polyline({{200, 240}, {250, 190}, {300, 240}}, {theme.err, canvas.px(2), {6, 3}});
  }
  style.angle = -0.5f;
  style.valign = VAlign::baseline;
  canvas.line({305, 250}, {393, 250 - 88 * std::tan(0.5f)}, {theme.ink, canvas.px(1), {}});
  canvas.text({308, 245}, "HBM 3.35 TB/s", style);
  style.angle = 0;
  style.vertical = true;
  canvas.text({396, 120}, "vertical", style);
  canvas.rect({205, 240, 60, 16}, ground, 4);
  canvas.frame({205, 240, 60, 16}, {theme.edge, canvas.px(1), {}}, 4);
}

}  // namespace roofscape::widgets::testing

namespace {

constexpr Colour kInk{20, 30, 40, 255};

RecordCanvas canvas(float em = 15, Rect bounds = {0, 0, 400, 260}) { return {fonts(), em, bounds}; }

Fill plain(Hatch hatch = Hatch::none) {
  Fill f;
  f.colour = kInk;
  f.hatch = hatch;
  f.hatch_ink = {255, 255, 255, 80};
  return f;
}

}  // namespace

TEST_CASE("a dashed line becomes solid strokes of the dash lengths") {
  auto c = canvas();
  c.line({0, 10}, {100, 10}, {kInk, 2, {10, 4}});
  REQUIRE(c.count(Kind::stroke) == 8);
  CHECK(c.primitives()[0].points[1].x == doctest::Approx(10));
  CHECK(c.primitives()[1].points[0].x == doctest::Approx(14));
  CHECK(c.primitives()[7].points[0].x == doctest::Approx(98));
  CHECK(c.primitives()[7].points[1].x == doctest::Approx(100));
}

TEST_CASE("a dash goes on round the corner of a polyline") {
  auto c = canvas();
  c.polyline({{0, 10}, {7, 10}, {7, 40}}, {kInk, 1, {10, 4}});
  REQUIRE(c.count(Kind::stroke) >= 3);
  CHECK(c.primitives()[1].points[1].y == doctest::Approx(13));  // 7 along, 3 down
  CHECK(c.primitives()[2].points[0].y == doctest::Approx(17));
}

TEST_CASE("a dashed line far outside the clip costs only what is seen") {
  auto c = canvas();
  c.line({-1e6f, 10}, {1e6f, 10}, {kInk, 1, {3, 3}});
  CHECK(c.count(Kind::stroke) > 60);
  CHECK(c.count(Kind::stroke) < 75);
}

TEST_CASE("every hatch becomes plain strokes or dots inside its rectangle") {
  for (const Hatch h : {Hatch::slash, Hatch::backslash, Hatch::horizontal, Hatch::vertical, Hatch::cross, Hatch::dots,
                        Hatch::sparse_slash}) {
    auto c = canvas();
    const Rect r{20, 30, 60, 40};
    c.rect(r, plain(h));
    CHECK(c.primitives().size() > 8);
    // Half the width of a stroke to either side, as it will be seen.
    for (const Primitive& p : c.primitives()) {
      if (p.kind == Kind::fill) {
        for (const Point& q : p.points) CHECK(r.inset(-0.01f).contains(q));
        continue;
      }
      const Point v = p.points[1] - p.points[0];
      const Point side = Point{-v.y, v.x} * (p.width / 2 / std::hypot(v.x, v.y));
      for (const Point& q : p.points) {
        CHECK(r.inset(-0.01f).contains(q + side));
        CHECK(r.inset(-0.01f).contains(q - side));
      }
    }
  }
}

TEST_CASE("slash and backslash hatches lean opposite ways") {
  auto c = canvas();
  c.rect({0, 0, 40, 40}, plain(Hatch::slash));
  auto d = canvas();
  d.rect({0, 0, 40, 40}, plain(Hatch::backslash));
  const auto lean = [](const RecordCanvas& canvas) {
    const Point v = canvas.primitives()[3].points[1] - canvas.primitives()[3].points[0];
    return v.x * v.y;
  };
  CHECK(lean(c) < 0);  // rising to the right, y grows downwards
  CHECK(lean(d) > 0);
}

TEST_CASE("the hatch of an area in pieces is that of the whole area, piece by piece") {
  const Rect area{20, 30, 90, 60};
  // What a hatch inks along a horizontal cut, wherever its lines are divided.
  const auto crossings = [](const RecordCanvas& c, float y) {
    std::vector<float> at;
    for (const Primitive& p : c.primitives()) {
      if (p.kind != Kind::stroke) continue;
      const Point a = p.points[0], b = p.points[1];
      if (std::min(a.y, b.y) <= y && y <= std::max(a.y, b.y))
        at.push_back(a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y));
    }
    std::sort(at.begin(), at.end());
    return at;
  };
  auto whole = canvas();
  Fill fill = plain(Hatch::slash);
  fill.hatch_area = area;
  whole.rect(area, fill);
  auto pieces = canvas();
  for (float x = area.x; x < area.right(); x += 3) pieces.rect({x, area.y, 3, area.h}, fill);
  const auto expected = crossings(whole, 61.3f), found = crossings(pieces, 61.3f);
  REQUIRE(expected.size() > 8);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-4));
}

TEST_CASE("a small block has no hatch, and an edge of at most an eighth of its width") {
  auto c = canvas();
  Fill f = plain(Hatch::slash);
  f.edge = kInk;
  f.edge_width = 1;
  c.rect({0, 0, 4.5f, 20}, f);
  CHECK(c.primitives().size() == 2);  // fill and edge
  c.rect({0, 0, 2, 20}, f);
  REQUIRE(c.primitives().size() == 4);
  CHECK(c.primitives().back().width == 0.25f);
}

TEST_CASE("a hatch on a huge rectangle is drawn only where it is seen") {
  auto c = canvas();
  c.rect({-1e6f, 0, 2e6f, 50}, plain(Hatch::vertical));
  CHECK(c.count(Kind::stroke) > 70);
  CHECK(c.count(Kind::stroke) < 90);
}

TEST_CASE("fills reach the destination clockwise on screen whatever their winding") {
  auto c = canvas();
  c.polygon({{10, 10}, {10, 50}, {50, 50}, {50, 10}}, plain());
  c.polygon({{10, 10}, {50, 10}, {50, 50}, {10, 50}}, plain());
  c.marker({30, 30}, Marker::circle, 12, plain());
  for (const Primitive& p : c.primitives()) {
    float area = 0;
    for (std::size_t i = 0; i < p.points.size(); ++i) {
      const Point a = p.points[i], b = p.points[(i + 1) % p.points.size()];
      area += a.x * b.y - b.x * a.y;
    }
    CHECK(area > 0);
  }
}

TEST_CASE("shapes that are not finite or have no size are left out") {
  auto c = canvas();
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  c.line({nan, 0}, {1, 1}, {kInk, 1, {}});
  c.line({0, 0}, {inf, 1}, {kInk, 1, {4, 2}});
  c.rect({0, nan, 10, 10}, plain());
  c.rect({0, 0, 0, 10}, plain());
  c.rect({0, 0, -5, 10}, plain());
  c.marker({nan, 1}, Marker::square, 5, plain());
  c.marker({1, 1}, Marker::square, nan, plain());
  c.polygon({{0, 0}, {1, 1}}, plain());
  c.polygon({{0, 0}, {1, 1}, {2, 2}}, plain());
  c.text({nan, 0}, "x", {});
  c.text({0, 0}, "", {});
  c.tag("x", {nan, 0, 1, 1});
  CHECK(c.primitives().empty());
  CHECK(c.tags().empty());
}

TEST_CASE("markers of one size have one area") {
  const auto area = [](Marker m) {
    auto c = canvas();
    c.marker({50, 50}, m, 40, plain());
    const auto& p = c.primitives()[0].points;
    float sum = 0;
    for (std::size_t i = 0; i < p.size(); ++i)
      sum += p[i].x * p[(i + 1) % p.size()].y - p[(i + 1) % p.size()].x * p[i].y;
    return sum / 2;
  };
  CHECK(area(Marker::square) == doctest::Approx(area(Marker::diamond)).epsilon(1e-4));
  CHECK(area(Marker::square) == doctest::Approx(area(Marker::circle)).epsilon(0.01));
}

TEST_CASE("a clip ends with its scope and nested clips are cut to one another") {
  auto c = canvas();
  {
    const auto outer = c.clip({0, 0, 50, 50});
    const auto inner = c.clip({30, 30, 100, 100});
    CHECK(c.clip_rect() == Rect{30, 30, 20, 20});
  }
  CHECK(c.clip_rect() == c.bounds());
  CHECK(c.count(Kind::push_clip) == 2);
  CHECK(c.count(Kind::pop_clip) == 2);
}

TEST_CASE("text is placed by its alignment and its angle") {
  auto c = canvas();
  TextStyle s;
  s.halign = HAlign::right;
  s.valign = VAlign::middle;
  c.text({200, 100}, "0.85", s);
  CHECK(c.primitives()[0].points[0].x == doctest::Approx(200 - fonts().width("0.85", 15)));
  CHECK(c.primitives()[0].points[0].y == doctest::Approx(100 + fonts().cap_height() * 7.5f));
  s.vertical = true;
  c.text({200, 100}, "0.85", s);
  CHECK(c.primitives()[1].angle == doctest::Approx(-std::numbers::pi / 2));
  CHECK(c.primitives()[1].points[0].x == doctest::Approx(200 + fonts().cap_height() * 7.5f));
  CHECK(c.primitives()[1].points[0].y == doctest::Approx(100 + fonts().width("0.85", 15)));
}

TEST_CASE("a later tag wins, a near one is found within reach, a clipped one is not found") {
  auto c = canvas();
  c.tag("plot", {0, 0, 100, 100});
  c.tag("bar", 3, {10, 10, 20, 20}, {"stage 3", {{"weights", "12 GB"}}});
  {
    const auto clip = c.clip({0, 0, 50, 50});
    c.tag("hidden", {60, 60, 10, 10});
  }
  REQUIRE(c.hit({15, 15}));
  CHECK(c.hit({15, 15})->index == 3);
  CHECK(c.hit({15, 15})->readout.rows[0].second == "12 GB");
  CHECK(c.hit({65, 65})->id == "plot");
  CHECK(c.hit({104, 50}) == nullptr);
  CHECK(c.hit({104, 50}, 8)->id == "plot");
}

TEST_CASE("near the pointer only the tags there are kept, and readouts of others are never made") {
  auto c = canvas();
  c.set_tagging(Tagging::near_pointer);
  c.set_pointer({105, 5}, 0);
  int made = 0;
  for (int i = 0; i < 100; ++i)
    c.tag_with("block", i, {static_cast<float>(i) * 10, 0, 10, 10}, [&] {
      ++made;
      return Readout{"block", {}};
    });
  CHECK(made <= 2);
  REQUIRE(c.hit({105, 5}));
  CHECK(c.hit({105, 5})->index == 10);
  c.set_tagging(Tagging::none);
  c.tag("x", {100, 0, 10, 10});
  CHECK(c.find_tag("x") == nullptr);
}

TEST_CASE("opacity multiplies that of every colour drawn") {
  auto c = canvas();
  CHECK(c.set_opacity(0.5f) == 1);
  c.rect({0, 0, 10, 10}, plain());
  CHECK(int{c.primitives()[0].colour.a} == 128);
}

TEST_CASE("the text audit finds text over text, text outside its clip, and missing glyphs") {
  auto c = canvas();
  TextStyle s;
  c.text({10, 50}, "one label", s);
  c.text({200, 50}, "another", s);
  CHECK(c.audit_text() == "");
  c.text({30, 52}, "over it", s);
  c.text({390, 100}, "cut at the edge", s);
  c.text({10, 100}, "\U000F1234", s);
  REQUIRE(c.audit().size() == 3);
  CHECK(c.audit()[0].other == "one label");
  CHECK(c.audit()[1].kind == TextProblem::Kind::outside_clip);
  CHECK(c.audit()[2].kind == TextProblem::Kind::missing_glyph);
}

TEST_CASE("the text audit finds a bold line through a word, not one under its halo or under its ground") {
  const Stroke bold{{0, 0, 0, 255}, 3, {}}, thin{{0, 0, 0, 255}, 1, {}};
  const auto crossed = [](const RecordCanvas& c) {
    std::size_t n = 0;
    for (const TextProblem& p : c.audit()) n += p.kind == TextProblem::Kind::crossed;
    return n;
  };
  TextStyle plain, haloed;
  haloed.halo = {255, 255, 255, 255};
  auto under = canvas(), over = canvas(), clear = canvas();
  under.line({0, 46}, {300, 46}, bold);
  under.text({10, 50}, "word", plain);
  CHECK(crossed(under) == 1);
  over.text({10, 50}, "word", haloed);
  over.line({0, 46}, {300, 46}, bold);
  CHECK(crossed(over) == 1);
  clear.line({0, 46}, {300, 46}, bold);
  clear.text({10, 50}, "word", haloed);
  clear.rect({100, 20, 100, 60}, {.colour = {255, 255, 255, 255}});
  clear.text({120, 50}, "word", plain);
  clear.line({0, 146}, {300, 146}, thin);
  clear.text({10, 150}, "word", plain);
  {
    const Canvas::Clip aside = clear.clip({200, 200, 100, 100});
    clear.line({0, 246}, {300, 246}, bold);
  }
  clear.text({10, 250}, "word", plain);
  CHECK(crossed(clear) == 0);
}

TEST_CASE("the text audit finds a bold line that the halo of another's name breaks") {
  const Stroke bold{{200, 0, 0, 255}, 3, {}}, thin{{0, 0, 0, 255}, 1, {}};
  TextStyle style;
  style.colour = {0, 0, 0, 255}, style.halo = {255, 255, 255, 255};
  const auto problems = [&](const char* of, const Stroke& stroke, Colour colour, const char* group) {
    auto c = canvas();
    {
      const auto line = c.group(of);
      c.line({0, 46}, {300, 46}, stroke);
    }
    const auto words = c.group(group);
    style.colour = colour;
    c.text({10, 50}, "word", style);
    return c.audit_text();
  };
  const Colour ink{0, 0, 0, 255};
  CHECK(problems("curve", bold, ink, "names") == "\"word\" is crossed by a bold line of curve\n");
  CHECK(problems("curve", bold, bold.colour, "names") == "");
  CHECK(problems("curve", bold, ink, "letters") == "");
  CHECK(problems("curve", bold, ink, "levels") == "");
  CHECK(problems("curve", thin, ink, "names") == "");
}

TEST_CASE("texts along two close parallel roofs do not count as overlapping") {
  auto c = canvas();
  TextStyle s;
  s.angle = -0.6f;
  c.text({100, 200}, "L2 5.5 TB/s", s);
  c.text({100, 222}, "HBM 3.35 TB/s", s);
  CHECK(c.audit_text() == "");
}

TEST_CASE("the record is the same text for the same drawing") {
  auto a = canvas();
  auto b = canvas();
  draw_sample(a, theme("print"));
  draw_sample(b, theme("print"));
  CHECK(a.to_text() == b.to_text());
  CHECK(a.to_text().size() > 10'000);
  CHECK(a.audit_text() == "");
}
