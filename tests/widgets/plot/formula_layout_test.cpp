// Formulas: where their parts stand, whatever canvas they are drawn on.
#include <doctest/doctest.h>

#include "tests/widgets/support.h"
#include "widgets/canvas/canvas_record.h"
#include "widgets/plot/formula_layout.h"

using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {

constexpr Colour kBlack{0, 0, 0, 255};
const FormulaSetter kSet(fonts(), 20);

// Everything lies in the box the formula claims, but for the descenders of letters.
void check_inside(const Formula& f) {
  for (const Formula::Run& r : f.runs) {
    CHECK(r.at.x >= -0.01f);
    CHECK(r.at.x + fonts().width(r.text, r.em, r.weight) <= f.width + 0.01f);
    CHECK(r.at.y - fonts().cap_height() * r.em >= -f.above);
    CHECK(r.at.y <= f.below);
  }
  for (const Formula::Rule& r : f.rules) {
    CHECK(r.rect.x >= -0.01f);
    CHECK(r.rect.right() <= f.width + 0.01f);
    CHECK(r.rect.bottom() <= f.below + 0.01f);
  }
  for (const Formula::Radical& r : f.radicals)
    for (const Point& p : r.points) {
      CHECK(p.x <= f.width + 0.01f);
      CHECK(p.y >= -f.above);
      CHECK(p.y <= f.below);
    }
}

}  // namespace

TEST_CASE("a row is as wide as its parts and as high as the highest") {
  Formula row = kSet.text("a", kBlack);
  append(row, kSet.fraction(kSet.text("b", kBlack), kSet.text("c", kBlack), kBlack), 5);
  CHECK(row.width ==
        doctest::Approx(kSet.text("a", kBlack).width + 5 + kSet.text("b", kBlack).width + 0.6f * 20).epsilon(0.02));
  CHECK(row.above > kSet.text("a", kBlack).above);
  check_inside(row);
}

TEST_CASE("a fraction: the upper part over the bar, the lower under it, the narrower centred") {
  const Formula f = kSet.fraction(kSet.text("8 P B", kBlack), kSet.text("N", kBlack), kBlack);
  REQUIRE(f.runs.size() == 2);
  REQUIRE(f.rules.size() == 1);
  CHECK(f.runs[0].at.y < f.rules[0].rect.y);
  CHECK(f.runs[1].at.y - fonts().cap_height() * 20 > f.rules[0].rect.bottom());
  const auto middle = [&](const Formula::Run& r) { return r.at.x + fonts().width(r.text, r.em, r.weight) / 2; };
  CHECK(middle(f.runs[0]) == doctest::Approx(f.width / 2));
  CHECK(middle(f.runs[1]) == doctest::Approx(f.width / 2));
  CHECK(f.rules[0].rect.centre().y == doctest::Approx(0));
  check_inside(f);
}

TEST_CASE("what follows an underscore is a smaller subscript") {
  const Formula f = kSet.symbol("T_step", kBlack);
  REQUIRE(f.runs.size() == 2);
  CHECK(f.runs[0].text == "T");
  CHECK(f.runs[1].text == "step");
  CHECK(f.runs[1].em < f.runs[0].em);
  CHECK(f.runs[1].at.y > f.runs[0].at.y);
  CHECK(f.runs[1].at.x >= fonts().width("T", 20));
  check_inside(f);
  check_inside(kSet.symbol("N", kBlack));
}

TEST_CASE("a superscript stands higher, and makes room above") {
  const Formula f = kSet.scripts(kSet.text("10", kBlack), {}, kSet.smaller().text("9", kBlack));
  REQUIRE(f.runs.size() == 2);
  CHECK(f.runs[1].at.y < f.runs[0].at.y);
  CHECK(f.above > kSet.text("10", kBlack).above);
  check_inside(f);
}

TEST_CASE("the bar of a root covers what is under it") {
  const Formula inside = kSet.fraction(kSet.text("a", kBlack), kSet.text("bc", kBlack), kBlack);
  const Formula f = kSet.root(inside, kBlack);
  REQUIRE(f.radicals.size() == 1);
  const auto& points = f.radicals[0].points;
  CHECK(points.back().y < -inside.above);
  CHECK(points.back().x >= points[points.size() - 2].x + inside.width);
  check_inside(f);
}

TEST_CASE("a formula is drawn the same wherever it stands, and its texts keep apart") {
  Formula f = kSet.symbol("T_math", kBlack);
  append(f, kSet.text(" = ", kBlack));
  append(f, kSet.root(kSet.fraction(kSet.text("8 P B", kBlack), kSet.symbol("W_hbm", kBlack), kBlack), kBlack));
  RecordCanvas canvas(fonts(), 20, {0, 0, 300, 100});
  draw_formula(canvas, f, {10, 50});
  CHECK(canvas.audit_text() == "");
  CHECK(canvas.texts().size() == 6);
  CHECK(canvas.count(Primitive::Kind::stroke) == 1);
}

TEST_CASE("operands can be pointed at where they stand") {
  Formula operand = kSet.text("P", kBlack);
  operand.areas.push_back({"params.total", {0, -operand.above, operand.width, operand.height()}});
  const Formula f = kSet.fraction(kSet.text("1", kBlack), operand, kBlack);
  REQUIRE(f.areas.size() == 1);
  CHECK(f.areas[0].rect.y > 0);
  CHECK(f.areas[0].rect.contains(f.runs[1].at - Point{0, 1}));
}
