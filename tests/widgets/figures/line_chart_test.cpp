// Where the charts of lines put their names: on no line where there is room beside it.
#include <doctest/doctest.h>

#include <string>

#include "tests/widgets/figures/figure_fixture.h"
#include "widgets/figures/common/line_chart.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {

std::unique_ptr<RecordCanvas> charted(const Chart& chart, float width = 600, float height = 400) {
  const Theme dark = theme("dark");
  auto canvas = std::make_unique<RecordCanvas>(fonts(), 15.0f, Rect{0, 0, width, height});
  draw_line_chart(*canvas, canvas->bounds(), dark, chart);
  return canvas;
}

// A line that rises from corner to corner.
Chart rising() {
  Chart chart;
  chart.x_title = "x", chart.y_title = "y";
  chart.x_from = 1, chart.x_to = 1000, chart.y_from = 1, chart.y_to = 1000;
  chart.x_kind = ScaleKind::log10;
  ChartLine line;
  line.points = {{1, 1}, {1000, 1000}};
  line.stroke = {theme("dark").ink, 2, {}};
  chart.lines.push_back(std::move(line));
  return chart;
}

}  // namespace

TEST_CASE("the number of a dot on a rising line stands on no line, however large the dot is") {
  for (const float size : {4.0f, 10.0f, 16.0f}) {
    CAPTURE(size);
    Chart chart = rising();
    ChartDot dot;
    dot.at = {30, 30};
    dot.text = "critical 30";
    dot.size = size;
    chart.dots.push_back(dot);
    const auto canvas = charted(chart);
    REQUIRE(canvas->find_text("critical 30"));
    CHECK(strokes_through(*canvas, "critical 30") == 0);
  }
}
TEST_CASE("no name breaks a bold line, however close dots are") {
  for (const float width : {260.0f, 320.0f, 600.0f})
    for (int dots = 2; dots < 8; ++dots) {
      CAPTURE(width);
      CAPTURE(dots);
      Chart chart = rising();
      chart.lines.front().stroke = {theme("dark").ok, 4, {}};
      for (int i = 0; i < dots; ++i) {
        ChartDot dot;
        dot.at = {20.0 + 9 * i, 25.0 + 7 * i};
        dot.text = "name of dot " + std::to_string(i);
        dot.colour = theme("dark").ink;
        chart.dots.push_back(dot);
      }
      const auto canvas = charted(chart, width, 260);
      CHECK(canvas->audit_text() == "");
      CHECK(canvas->find_text("name of dot 0"));
    }
}
TEST_CASE("a dot that no line passes has its name at its right") {
  Chart chart = rising();
  ChartDot dot;
  dot.at = {200, 3};
  dot.text = "alone";
  dot.tag = "dot";
  chart.dots.push_back(dot);
  const auto canvas = charted(chart);
  const TextRun* name = canvas->find_text("alone");
  REQUIRE(name);
  CHECK(name->bounds.x > canvas->find_tag("dot")->rect.centre().x);
  CHECK(name->bounds.centre().y == doctest::Approx(canvas->find_tag("dot")->rect.centre().y).epsilon(0.01));
}
TEST_CASE("the name of a region keeps off the leader of a line that stops early") {
  Chart chart = rising();
  chart.lines[0].points = {{1, 1.3}, {100, 1.3}};  // at the height where a region's name would be
  chart.lines[0].label = "stops";
  chart.bands.push_back({300, 1000, 0.1f, "beyond"});
  const auto canvas = charted(chart);
  REQUIRE(canvas->find_text("beyond"));
  CHECK(strokes_through(*canvas, "beyond") == 0);
}
TEST_CASE("a name along a line keeps off the number of a dot on it") {
  Chart chart = rising();
  chart.lines[0].along = "640 tokens";
  for (const double x : {10.0, 30.0, 100.0}) {
    ChartDot dot;
    dot.at = {x, x};
    dot.text = "43";
    chart.dots.push_back(dot);
  }
  const auto canvas = charted(chart);
  const TextRun* along = canvas->find_text("640 tokens");
  REQUIRE(along);
  for (const TextRun& run : canvas->texts()) {
    if (run.text != "43") continue;
    for (const Point& corner : along->corners) CHECK_FALSE(run.bounds.inset(-3).contains(corner));
  }
}
