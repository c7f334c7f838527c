// What holds for the drawing of every figure: halos that cut nothing, keys of what is drawn, one look for the plan, one
// hue for each mesh axis and part of memory, no bar longer than it is, the same meaning at every level of detail.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/capture_binding.h"
#include "tests/widgets/figures/preset_fixture.h"
#include "widgets/canvas/canvas_svg.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/bar_rows.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using engine::ScheduleKind;

namespace {

constexpr const char* kPresets[]{"llama3-405b-16k-h100-8k", "llama3-70b-v5p-pod", "deepseek-v3-2048-h800",
                                 "llama3-8b-8-h100", "llama3-70b-serving-8-h100"};

FigureView printed() {
  FigureView view;
  view.print = true;
  return view;
}

using Shade = std::array<int, 3>;
Shade shade(Colour c) { return {c.r, c.g, c.b}; }

// Colours of fills in the key, and of all others; hollow ticks stand for bars too short to have any.
struct Fills {
  std::set<Shade> key, drawn;
  bool ticks = false;
};
Fills fills_of(const RecordCanvas& canvas) {
  Fills out;
  for (const Primitive& p : canvas.primitives())
    if (p.kind == Primitive::Kind::fill && p.colour.a == 255 && p.points.size() != 8)  // dots of a hatch are octagons
      (p.group == "key" ? out.key : out.drawn).insert(shade(p.colour));
  for (const Primitive& p : canvas.primitives())
    out.ticks = out.ticks || (p.kind == Primitive::Kind::stroke && p.closed && p.group != "key" &&
                              p.points.size() == 4 && std::abs(p.points[1].x - p.points[0].x) < 2.5f);
  return out;
}

double area_of(const Primitive& p) {
  double twice = 0;
  for (std::size_t i = 0, j = p.points.size() - 1; i < p.points.size(); j = i++)
    twice += static_cast<double>(p.points[j].x) * static_cast<double>(p.points[i].y) -
             static_cast<double>(p.points[i].x) * static_cast<double>(p.points[j].y);
  return std::abs(twice) / 2;
}

// A pipeline whose backward is half recomputation.
FigureCase half_computed_again() {
  FigureCase c = scheduled({ScheduleKind::one_f_one_b, 4, 8, 1, 0}, 2 * kMs);
  engine::PipelineReport& p = c.report.pipeline;
  p.recompute = p.times.backward_input;
  return c;
}

// Of what is drawn of backwards, the part that is recomputation.
double drawn_recompute(const RecordCanvas& canvas, const Theme& t) {
  const Colour again = fill_of(t, TimelinePart::recompute, 9).colour,
               back = fill_of(t, TimelinePart::backward, 9).colour;
  double first = 0, whole = 0;
  for (const Primitive& p : canvas.primitives()) {
    if (p.kind != Primitive::Kind::fill || p.group == "key") continue;
    if (p.colour == again) first += area_of(p);
    if (p.colour == back) whole += area_of(p);
  }
  return first / whole;
}

}  // namespace

TEST_CASE("a label's halo is no box and lies below its text") {
  SvgCanvas canvas(fonts(), 9, 100, 40);
  TextStyle style;
  style.colour = {0, 0, 0, 255};
  style.halo = {250, 250, 250, 255};
  canvas.text({10, 20}, "peak", style);
  const std::string svg = canvas.finish();
  const std::size_t halo = svg.find("stroke=\"#FAFAFA\" stroke-width=\"2.4\""), text = svg.find(">peak</text>");
  REQUIRE(halo != std::string::npos);
  REQUIRE(text != std::string::npos);
  CHECK(halo < text);
  CHECK(svg.find("<rect") == std::string::npos);
  CHECK(svg.find("fill=\"none\" stroke=\"#FAFAFA\"") != std::string::npos);
}

TEST_CASE("the audit finds a halo over an axis, a marker and the end of a line, and none beside them") {
  const auto problems = [](auto&& draw) {
    RecordCanvas canvas(fonts(), 9, {0, 0, 100, 40});
    draw(canvas);
    TextStyle style;
    style.colour = {0, 0, 0, 255};
    style.halo = {255, 255, 255, 255};
    canvas.text({20, 20}, "label", style);
    return canvas.audit_text();
  };
  const Stroke thin{{0, 0, 0, 255}, 1, {}};
  CHECK(problems([](Canvas&) {}) == "");
  CHECK(problems([&](Canvas& c) {
          const auto axes = c.group("axes");
          c.line({0, 16}, {90, 16}, thin);
        }) == "\"label\" covers an axis\n");
  CHECK(problems([&](Canvas& c) {
          const auto grid = c.group("grid");
          c.line({0, 16}, {90, 16}, thin);
        }) == "");
  CHECK(problems([&](Canvas& c) { c.line({0, 16}, {30, 16}, thin); }) == "\"label\" covers the end of a line\n");
  CHECK(problems([&](Canvas& c) { c.line({0, 16}, {90, 16}, thin); }) == "");
  CHECK(problems([&](Canvas& c) {
          c.marker({25, 17}, Marker::circle, 4, {.colour = thin.colour});
        }) == "\"label\" covers a marker\n");
}

TEST_CASE("what a key names is drawn") {
  for (const char* preset : kPresets)
    for (const FigureRow& row : figures()) {
      const FigureCase& c = case_of(preset);
      if (!shows(row, c.scenario) || row.needs == Needs::baseline || is_searched(row.needs) ||
          row.about == About::runs)
        continue;
      for (const float width : {238.1f, row.width_pt}) {
        const auto canvas =
            drawn(std::string(row.name), c, "print", 9, width, row.height_pt * width / row.width_pt, printed());
        const Fills fills = fills_of(*canvas);
        for (const Shade& s : fills.key) {
          CAPTURE(preset);
          CAPTURE(row.name);
          CAPTURE(width);
          CAPTURE(s[0]);
          CAPTURE(s[1]);
          CAPTURE(s[2]);
          CHECK((fills.drawn.contains(s) || fills.ticks || s == shade(theme("print").panel)));
        }
      }
    }
}

TEST_CASE("every kind of operation that a pipeline draws is in its key, at every width") {
  const Theme print = theme("print");
  for (const char* preset : {"llama3-405b-16k-h100-8k", "deepseek-v3-2048-h800"})
    for (const std::string name : {"pipeline", "schedules"})
      for (const float width : {238.1f, 320.0f, 425.2f, 900.0f}) {
        const auto canvas = drawn(name, case_of(preset), "print", 9, width, width * 0.7f, printed());
        const Fills fills = fills_of(*canvas);
        for (std::size_t i = 0; i < kTimelinePartCount; ++i) {
          const Shade s = shade(fill_of(print, static_cast<TimelinePart>(i), 9).colour);
          if (static_cast<TimelinePart>(i) == TimelinePart::idle || !fills.drawn.contains(s)) continue;
          CAPTURE(preset);
          CAPTURE(name);
          CAPTURE(width);
          CAPTURE(i);
          CHECK(fills.key.contains(s));
        }
      }
}

TEST_CASE("recomputation has its share of a backward at every level of detail") {
  const FigureCase c = half_computed_again();
  const Theme print = theme("print");
  // Before the rest of the backward where it has room, then sharing its height.
  for (const float width : {900.0f, 300.0f, 120.0f, 80.0f}) {
    CAPTURE(width);
    const auto canvas = drawn("pipeline", c, "print", 9, width, 200, printed());
    CHECK(drawn_recompute(*canvas, print) == doctest::Approx(0.5).epsilon(0.08));
    if (width >= 238) CHECK(fills_of(*canvas).key.contains(shade(fill_of(print, TimelinePart::recompute, 9).colour)));
  }
}

TEST_CASE("this plan is ink, broader than other curves, and bold, in every chart that has it") {
  const Theme print = theme("print");
  const auto checked = [&](const char* figure, const char* preset, const char* name) {
    CAPTURE(figure);
    const auto canvas = drawn(figure, case_of(preset), "print", 9, 425, 283, printed());
    const TextRun* label = canvas->find_text(name);
    REQUIRE(label);
    CHECK(label->style.weight == Weight::bold);
    CHECK(label->style.colour == print.ink);
    const auto& all = canvas->primitives();
    CHECK(std::any_of(all.begin(), all.end(), [&](const Primitive& p) {
      return p.kind == Primitive::Kind::stroke && p.colour == print.ink && std::abs(p.width - 2.2f) < 0.01f;
    }));
  };
  checked("network", "llama3-70b-v5p-pod", "this plan");
  checked("scaling", "llama3-70b-v5p-pod", "this plan");
  checked("bubble", "llama3-405b-16k-h100-8k", "interleaved \u00d78");
  checked("latency-throughput", "llama3-70b-serving-8-h100", "tensor 8");
}

TEST_CASE("a collective has the hue of the mesh axis it runs over") {
  const Theme print = theme("print");
  for (const auto& [group, part] : {std::pair{"tensor", StepPart::tensor}, std::pair{"fsdp", StepPart::fsdp}}) {
    CAPTURE_BINDING(group);
    FigureView view = view_of("collective", {{"group", group}});
    view.print = true;
    const auto canvas = drawn("collective", case_of("llama3-405b-16k-h100-8k"), "print", 9, 425, 283, view);
    for (const char* name : {"AllReduce", "AllToAll"}) {
      const TextRun* label = canvas->find_text(name);
      REQUIRE(label);
      CHECK(label->style.colour == readable(line_of(print, part), print.panel));
    }
  }
}

TEST_CASE("activations, weights and communication of a sharded matmul look as in memory and on the mesh") {
  const Theme print = theme("print");
  const auto canvas = drawn("sharded-matmul", case_of("llama3-405b-16k-h100-8k"), "print", 9, 425, 283, printed());
  const Fills fills = fills_of(*canvas);
  CHECK(fills.drawn.contains(shade(fill_of(print, MemoryPart::activations, 9).colour)));
  CHECK(fills.drawn.contains(shade(fill_of(print, MemoryPart::weights, 9).colour)));
  CHECK(fills.drawn.contains(shade(fill_of(print, StepPart::tensor, 9).colour)));
  CHECK_FALSE(fills.drawn.contains(shade(print.fill(Hue::green))));
  CHECK_FALSE(fills.drawn.contains(shade(print.fill(Hue::purple))));
}

TEST_CASE("no bar is drawn longer than it is: what is too short to be seen is a hollow tick") {
  const Theme print = theme("print");
  RecordCanvas canvas(fonts(), 9, {0, 0, 300, 100});
  std::vector<BarRow> rows(2);
  rows[0].name = "all", rows[1].name = "hardly any";
  rows[0].parts = {{0, 100, {.colour = print.fill(Hue::blue)}}};
  rows[1].parts = {{0, 0.01, {.colour = print.fill(Hue::orange)}}};
  BarAxis axis;
  axis.to = 100;
  const BarRowsPlot plot = draw_bar_rows(canvas, print, canvas.bounds(), rows, axis);
  int filled = 0, outlined = 0;
  for (const Primitive& p : canvas.primitives()) {
    filled += p.kind == Primitive::Kind::fill && p.colour == print.fill(Hue::orange);
    outlined += p.kind == Primitive::Kind::stroke && p.closed;
  }
  CHECK(filled == 0);
  CHECK(outlined == 1);
  CHECK(plot.bar(1, rows[1].parts[0]).w < 0.1f);
}
