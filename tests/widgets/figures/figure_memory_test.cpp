#include <doctest/doctest.h>

#include <algorithm>

#include "tests/widgets/figures/figure_fixture.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using engine::Q;

namespace {

struct GbAxis {
  float zero = 0, per_gb = 0;
  float at(double gb) const { return zero + per_gb * static_cast<float>(gb); }
};

GbAxis axis_of(const RecordCanvas& canvas, const char* mark, float gb) {
  const TextRun* far = canvas.find_text(mark);
  REQUIRE(far);
  const TextRun* origin = nullptr;  // "0" is also the number of a stage: the tick stands at the height of the others
  for (const TextRun& run : canvas.texts())
    if (run.text == "0" && run.anchor.y == far->anchor.y) origin = &run;
  REQUIRE(origin);
  return {origin->anchor.x, (far->anchor.x - origin->anchor.x) / gb};
}

}  // namespace

TEST_CASE("the parts of a stage add up to its total, side by side") {
  const FigureCase c = sixteen_stages();
  const auto canvas = drawn("memory", c, "dark", 15, 900, 500);
  const GbAxis axis = axis_of(*canvas, "60", 60);
  for (int stage = 0; stage < 16; ++stage) {
    CAPTURE(stage);
    float from = axis.zero;
    for (const Q q : engine::kMemoryParts) {
      const TagRegion* tag = canvas->find_tag(engine::quantity(q).id, stage);
      REQUIRE(tag);
      CHECK(tag->rect.x == doctest::Approx(from).epsilon(0.0005));
      from = tag->rect.right();
    }
    CHECK(from == doctest::Approx(axis.at(c.report.stages[static_cast<std::size_t>(stage)].memory_total_bytes / 1e9))
                      .epsilon(0.0005));
  }
}

TEST_CASE("the capacity is a line at its place with its label") {
  const auto canvas = drawn("memory", sixteen_stages(), "dark", 15, 900, 500);
  const GbAxis axis = axis_of(*canvas, "60", 60);
  const TextRun* label = canvas->find_text("80\u202fGB");
  REQUIRE(label);
  CHECK(label->anchor.x == doctest::Approx(axis.at(80)).epsilon(0.0005));
  CHECK(label->style.colour == theme("dark").err);
  int lines = 0;
  for (const Primitive& p : canvas->primitives())
    if (p.kind == Primitive::Kind::stroke && p.colour == theme("dark").err) {
      ++lines;
      CHECK(p.points[0].x == doctest::Approx(axis.at(80)).epsilon(0.0005));
    }
  CHECK(lines == 1);
}

TEST_CASE("the fullest stage is bold, every stage has its total where rows are high enough") {
  const auto canvas = drawn("memory", sixteen_stages(), "dark", 15, 900, 500);
  int bold = 0;
  for (const TextRun& run : canvas->texts()) bold += run.style.weight == Weight::bold;
  CHECK(bold == 1);
  CHECK(canvas->find_text("74.8"));
  CHECK(canvas->count_tags("memory.chip_total_bytes") == 16);
  FigureView compact;
  compact.compact = true;
  CHECK(drawn("memory", sixteen_stages(), "dark", 15, 900, 500, compact)->count_tags("memory.chip_total_bytes") == 1);
}

TEST_CASE("where rows are lower than numbers, rows with a stage number have a total, and give way to the fullest") {
  // 16 rows of some 10 pixels: a number every second row.
  const auto canvas = drawn("memory", sixteen_stages(), "dark", 15, 560, 240);
  CHECK(canvas->find_text("14"));
  CHECK_FALSE(canvas->find_text("15"));
  CHECK(canvas->find_tag("memory.chip_total_bytes", 1));  // the fullest
  CHECK_FALSE(canvas->find_tag("memory.chip_total_bytes", 0));
  CHECK_FALSE(canvas->find_tag("memory.chip_total_bytes", 2));
  CHECK(canvas->find_tag("memory.chip_total_bytes", 4));
  CHECK(canvas->audit_text() == "");
}

TEST_CASE("the line of the axis is whole under the totals") {
  const Theme print = theme("print");
  const FigureRow& row = *find_figure("memory");
  FigureView paper;
  paper.print = true;
  const auto canvas = drawn("memory", too_full(), "print", 9, row.width_pt, row.height_pt, paper);
  float axis = -1;
  for (const Primitive& p : canvas->primitives())
    if (p.kind == Primitive::Kind::stroke && p.points.size() == 2 && p.points[0].y == p.points[1].y &&
        std::abs(p.points[1].x - p.points[0].x) > row.width_pt / 2)
      axis = p.points[0].y - p.width / 2;  // its upper edge
  REQUIRE(axis > 0);
  for (const Primitive& p : canvas->primitives()) {
    if (p.kind != Primitive::Kind::fill || p.colour != print.panel) continue;
    const auto [top, bottom] =
        std::minmax_element(p.points.begin(), p.points.end(), [](Point a, Point b) { return a.y < b.y; });
    CHECK_FALSE((top->y < axis && bottom->y > axis));
  }
}

TEST_CASE("what does not fit stands past the line with its amount") {
  const FigureCase c = too_full();
  const auto canvas = drawn("memory", c, "dark", 15, 900, 500);
  const GbAxis axis = axis_of(*canvas, "60", 60);
  CHECK(canvas->find_text("+29"));
  const TagRegion* excess = canvas->find_tag("memory.free_bytes", 1);
  REQUIRE(excess);
  CHECK(excess->rect.x == doctest::Approx(axis.at(80)).epsilon(0.0005));
  CHECK(excess->rect.right() == doctest::Approx(axis.at(*c.report.quantities[Q::memory_total] / 1e9)).epsilon(0.001));
  CHECK(find_figure("memory")->head(input_of(c, theme("dark")), {}).takeaway == "28.7\u202fGB too much");
}

TEST_CASE("the memory takeaway names what is free and where") {
  CHECK(find_figure("memory")->head(input_of(sixteen_stages(), theme("dark")), {}).takeaway ==
        "5.24\u202fGB free on stage 1");
  CHECK(find_figure("memory")->head(input_of(one_stage(), theme("dark")), {}).takeaway == "91.6\u202fGB free");
}

TEST_CASE("one stage lists every part with its value and share") {
  const auto canvas = drawn("memory", one_stage(), "dark", 15, 560, 400);
  for (const char* text : {"weights", "optimizer", "activations", "buffers", "total", "2.68", "60\u202f%",
                           "4.44\u202fGB", "91.6\u202fGB free", "96\u202fGB"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
  CHECK_FALSE(canvas->find_text("gradients"));  // none are stored
}

TEST_CASE("the enlarged rows of one stage have the ends of their scale, and their lens is off the axis numbers") {
  const auto canvas = drawn("memory", one_stage(), "dark", 15, 900, 500);
  int zeros = 0;
  float numbers = 1e6f;  // of the axis: over those of the rows
  for (const TextRun& run : canvas->texts())
    if (run.text == "0") {
      ++zeros;
      numbers = std::min(numbers, run.bounds.bottom());
    }
  CHECK(zeros == 2);
  for (const Primitive& p : canvas->primitives()) {
    if (p.kind != Primitive::Kind::fill || p.points.size() != 4 || p.points[1].x == p.points[2].x) continue;
    CHECK(p.points[0].y >= numbers);  // the one shape with slanted sides
  }
}

TEST_CASE("one stage keeps every part's row in the smallest window") {
  const auto canvas = drawn("memory", one_stage(), "dark", 15, 320, 206);
  for (const char* text : {"weights", "optimizer", "activations", "buffers"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
}

TEST_CASE("a segment says its stage, size and share") {
  const auto canvas = drawn("memory", sixteen_stages(), "dark", 15, 900, 500);
  const TagRegion* tag = canvas->find_tag("memory.activations_bytes", 6);
  REQUIRE(tag);
  CHECK(tag->readout.title == "stage 6, activations 45.3\u202fGB");
  CHECK(tag->readout.rows[0] == std::pair<std::string, std::string>{"in flight", "10 microbatches"});
  CHECK(tag->readout.rows[1] == std::pair<std::string, std::string>{"of this stage", "87\u202f%"});
}

TEST_CASE("stages stand at the same height in memory and pipeline") {
  for (const int stages : {2, 4, 16, 64}) {
    CAPTURE(stages);
    const FigureCase c = scheduled({engine::ScheduleKind::one_f_one_b, stages, stages, 1, 0}, 1000000);
    const auto memory = drawn("memory", c, "dark", 15, 560, 400),
               pipeline = drawn("pipeline", c, "dark", 15, 700, 400);
    for (int stage = 0; stage < stages; ++stage) {
      const Rect a = memory->find_tag("memory.weights_bytes", stage)->rect;
      const Rect b = pipeline->find_tag("pipeline.bubble_fraction", stage)->rect;
      CHECK(a.y == doctest::Approx(b.y));
      CHECK(a.h == doctest::Approx(b.h));
    }
  }
}

TEST_CASE("the hovered stage is tinted over the whole width, in both figures") {
  FigureView view;
  view.hovered_stage = 6;
  const Theme dark = theme("dark");
  for (const char* name : {"memory", "pipeline"}) {
    CAPTURE(name);
    const auto canvas = drawn(name, sixteen_stages(), "dark", 15, 560, 400, view);
    int tints = 0;
    for (const Primitive& p : canvas->primitives())
      if (p.kind == Primitive::Kind::fill && p.colour.a < 60 && p.colour.r == dark.ink.r) {
        ++tints;
        CHECK(p.points[0].x == doctest::Approx(0));
        CHECK(p.points[1].x == doctest::Approx(560));
      }
    CHECK(tints == 1);
    const TextRun* number = nullptr;
    for (const TextRun& run : canvas->texts())
      if (run.text == "6" && run.style.weight == Weight::bold) number = &run;
    CHECK(number);
  }
}

TEST_CASE("the baseline is a dashed line at its totals, in every stage or around the bar") {
  FigureCase now = sixteen_stages();
  now.baseline = std::make_shared<const FigureCase>(too_full());
  const auto canvas = drawn("memory", now, "dark", 15, 900, 500);
  CHECK(canvas->count_tags("memory.baseline") == 16);
  CHECK(canvas->find_tag("memory.baseline", 1)->readout.title == "baseline: 109\u202fGB");
  // The fuller the baseline's stage, the further right, and past the capacity where it does not fit.
  const auto at = [&](int stage) { return canvas->find_tag("memory.baseline", stage)->rect.centre().x; };
  CHECK(at(1) > canvas->find_tag("memory.capacity_bytes")->rect.centre().x);
  CHECK(at(1) > at(8));
  CHECK(at(8) > at(15));
  CHECK(find_figure("memory")->head(input_of(now, theme("dark")), {}).takeaway ==
        "5.24\u202fGB free on stage 1; dashed: baseline 109\u202fGB");
  CHECK(canvas->audit_text() == "");
  FigureCase one = one_stage();
  one.baseline = std::make_shared<const FigureCase>(sixteen_stages());
  const auto single = drawn("memory", one, "dark", 15, 900, 500);
  CHECK(single->find_tag("memory.baseline", 0)->readout.title == "baseline: 74.8\u202fGB");
  CHECK(single->audit_text() == "");
}
