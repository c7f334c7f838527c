// The evidence figure and the words about evidence: what they must show.
#include <doctest/doctest.h>

#include <array>
#include <set>

#include "tests/widgets/figures/preset_fixture.h"
#include "widgets/figures/common/evidence_text.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {

FigureCase calibrated() {
  FigureCase c = sixteen_stages();
  c.scenario.assumptions.mode = engine::Mode::calibrated;
  c.report.quantities.set(engine::Q::step_time, 12);
  return c;
}

FigureHead head_of(const FigureCase& c, const FigureView& view = {}) {
  return find_figure("evidence")->head(input_of(c, theme("dark")), view);
}

const Readout& readout_of(const RecordCanvas& canvas, int index) {
  for (const TagRegion& tag : canvas.tags())
    if (tag.id == "evidence.point" && tag.index == index) return tag.readout;
  FAIL("no such point");
  return canvas.tags().front().readout;
}

std::string value_of(const Readout& r, std::string_view label) {
  for (const auto& [name, value] : r.rows)
    if (name == label) return value;
  return {};
}

}  // namespace

TEST_CASE("evidence draws a mark for every run of the quantity") {
  CHECK(drawn("evidence", calibrated(), "dark", 15, 900, 600)->count_tags("evidence.point") == 8);
  CHECK(drawn("evidence", calibrated(), "dark", 15, 900, 600, view_of("evidence", {{"quantity", "kernel"}}))
            ->count_tags("evidence.point") == 2);
}

TEST_CASE("evidence lists the sources with their runs, the one with the most first") {
  const auto canvas = drawn("evidence", calibrated(), "dark", 15, 900, 600);
  for (const char* text : {"Paper A, 3", "Recipes B, 3", "Thesis C, 2"}) CHECK(canvas->find_text(text));
}

TEST_CASE("on paper too narrow for the key of sources, marks have one form and no hue") {
  FigureView print;
  print.print = true;
  const auto hues = [&](float width) {
    const auto canvas = drawn("evidence", calibrated(), "print", 9, width, 240, print);
    std::set<std::array<int, 3>> out;
    for (const Primitive& p : canvas->primitives())
      if (p.kind == Primitive::Kind::fill && p.group != "key" && p.colour.a > 200 &&
          (p.colour.r != p.colour.g || p.colour.g != p.colour.b))
        out.insert({p.colour.r, p.colour.g, p.colour.b});
    return out;
  };
  CHECK(hues(238.1f).empty());
  CHECK(hues(425.2f).size() > 1);
}

TEST_CASE("evidence says how many runs are within 10 and 25 percent") {
  const auto canvas = drawn("evidence", calibrated(), "dark", 15, 900, 600);
  CHECK(canvas->find_text("within 10\u202f%: 62\u202f%"));
  CHECK(canvas->find_text("within 25\u202f%: 75\u202f%"));
}

TEST_CASE("evidence says the median error and that near the plan") {  // of 2, 4, 5, 10, 20, 30, 60 and 0 %
  CHECK(head_of(calibrated()).takeaway ==
        "7.5\u202f% off in the median of 8 runs; near this plan \u221228 to +45\u202f% (6 runs)");
}

TEST_CASE("evidence in ideal mode says how much longer measurements were") {  // errors of -50 % and a little about it
  CHECK(head_of(sixteen_stages()).takeaway ==
        "8 runs: median 1.87\u00d7 the ideal; near this plan 0.962\u00d7 to 3.95\u00d7 (6 runs)");
}

TEST_CASE("evidence of predictions in another mode is had by option") {
  CHECK(head_of(sixteen_stages(), view_of("evidence", {{"mode", "calibrated"}})).takeaway ==
        head_of(calibrated()).takeaway);
}

TEST_CASE("the plan is drawn where its mode is that of the predictions, and only there") {
  CHECK(drawn("evidence", calibrated(), "dark", 15, 900, 600)->count_tags("evidence.plan") == 1);
  CHECK(drawn("evidence", calibrated(), "dark", 15, 900, 600, view_of("evidence", {{"mode", "ideal"}}))
            ->count_tags("evidence.plan") == 0);
  FigureCase custom = calibrated();
  custom.scenario.assumptions.mode = engine::Mode::custom;
  CHECK(drawn("evidence", custom, "dark", 15, 900, 600)->count_tags("evidence.plan") == 0);
}

TEST_CASE("pointing at a run gives its name, both values, the error, what was published and where") {
  const auto canvas = drawn("evidence", calibrated(), "dark", 15, 900, 600);
  const Readout& r = readout_of(*canvas, 0);
  CHECK(r.title == "LLaMA-3.1 405B on 16\u202f384 H100 SXM");
  CHECK(value_of(r, "measured") == "10.0\u202fs");
  CHECK(value_of(r, "predicted") == "8.00\u202fs, \u221220\u202f%");
  CHECK(value_of(r, "published as") == "MFU 0.4000");
  CHECK(value_of(r, "source") == "A source of Paper A (arXiv 0000.00000) Table 5");
  CHECK(value_of(r, "entry") == "a-1");
  CHECK(value_of(r, "configuration").empty());
  CHECK(value_of(readout_of(*canvas, 3), "configuration") == "partly unstated, filled by rule");
}

TEST_CASE("a plan unlike all runs is not validated, and the figure says which feature is outside") {
  FigureCase c = calibrated();
  c.scenario.cluster.chip = *tests::library().find_chip("b200");
  CHECK(head_of(c).takeaway ==
        "7.5\u202f% off in the median of 8 runs; not validated here: no measured run on NVIDIA B200");
}

TEST_CASE("evidence that is not there yet is waited for in words") {
  const Theme dark = theme("dark");
  const FigureCase c = calibrated();
  FigureInput input = input_of(c, dark);
  input.evidence = nullptr;
  RecordCanvas canvas(fonts(), 15, {0, 0, 560, 400});
  find_figure("evidence")->draw(canvas, canvas.bounds(), input, {});
  CHECK(canvas.find_text("The published runs are being predicted."));
}

TEST_CASE("evidence is clean everywhere") {
  for (const FigureCase& c : {calibrated(), sixteen_stages()})
    for (const FigureView& view : views_of(*find_figure("evidence")))
      check_clean_everywhere(*find_figure("evidence"), c, view);
}

TEST_CASE("evidence gives a table") { check_takeaway_and_table(*find_figure("evidence"), calibrated()); }

TEST_CASE("a range has its unit once, or twice where the ends have two") {
  CHECK(range_text(english(), 8.9, 10.1, engine::unit::seconds) == "8.90 to 10.1\u202fs");
  CHECK(range_text(english(), 0.9, 1.1, engine::unit::seconds) == "900\u202fms to 1.10\u202fs");
  CHECK(range_text(english(), 2.0, 2.0, engine::unit::seconds) == "2.00\u202fs");
}

TEST_CASE("small errors have a decimal, larger ones none") {
  CHECK(error_text(0.0468) == "+4.7\u202f%");
  CHECK(error_text(-0.186) == "\u221219\u202f%");
  CHECK(error_text(0.0004) == "0\u202f%");
}
