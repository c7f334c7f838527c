#include <doctest/doctest.h>

#include "tests/widgets/support.h"
#include "widgets/canvas/canvas_record.h"
#include "widgets/plot/plot.h"

using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {

struct Words {
  const char *title, *takeaway, *x, *y, *a, *b, *c;
};
constexpr Words kLanguages[] = {
    {"Network", "compute-bound above 85 tokens per GPU", "tokens per GPU and step", "seconds per step", "compute",
     "tensor 8", "data 128"},
    {"네트워크", "GPU당 85토큰 이상에서 연산 한계", "GPU당 스텝당 토큰", "스텝당 초", "연산", "텐서 8", "데이터 128"},
    {"Сеть", "ограничено вычислениями выше 85 токенов на GPU", "токенов на GPU и шаг", "секунд на шаг", "вычисления",
     "тензорный 8", "по данным 128"}};

Rect draw_network(Canvas& canvas, const Theme& theme, const Words& w) {
  Rect area = canvas.bounds().inset(canvas.px(14));
  area = draw_head(canvas, theme, area, {w.title, w.takeaway, false});
  area.cut_right(canvas.px(110));
  Scale x(ScaleKind::log2, 8, 8192, 0, 1), y(ScaleKind::log10, 0.05, 40, 1, 0);
  Frame frame;
  frame.x = {w.x, ticks(x), true, true};
  frame.y = {w.y, ticks(y), true, true};
  const Rect plot = plot_rect(canvas, area, frame);
  x = x.with_range(static_cast<double>(plot.x), static_cast<double>(plot.right()));
  y = y.with_range(static_cast<double>(plot.bottom()), static_cast<double>(plot.y));
  draw_frame(canvas, theme, plot, x, y, frame);
  {
    const auto clip = canvas.clip(plot);
    canvas.line({x(8), y(0.05)}, {x(8192), y(30)}, stroke_of(theme, StepPart::compute, canvas.em(), false));
    canvas.line({x(32), y(0.05)}, {x(8192), y(5)}, stroke_of(theme, StepPart::tensor, canvas.em(), true));
    canvas.line({x(8), y(0.33)}, {x(8192), y(0.33)}, stroke_of(theme, StepPart::data, canvas.em(), true));
  }
  draw_now(canvas, theme, plot, x(1024), "1024");
  return plot;
}

}  // namespace

TEST_CASE("a plot's texts neither overlap nor leave the figure, in three languages and four themes") {
  for (const Words& w : kLanguages)
    for (const char* name : {"dark", "light", "print", "projector"}) {
      RecordCanvas c(fonts(), 15, {0, 0, 560, 420});
      draw_network(c, theme(name), w);
      CAPTURE(w.title);
      CHECK(c.audit_text() == "");
    }
}

TEST_CASE("titles stand above the y axis and below the right end of the x axis, with arrows") {
  RecordCanvas c(fonts(), 15, {0, 0, 560, 420});
  const Rect plot = draw_network(c, theme("dark"), kLanguages[0]);
  const TextRun* y = c.find_text("\u2191 seconds per step");
  const TextRun* x = c.find_text("tokens per GPU and step \u2192");
  REQUIRE(y);
  REQUIRE(x);
  CHECK(y->bounds.bottom() <= plot.y);
  CHECK(y->style.angle == 0);
  CHECK(x->bounds.y >= plot.bottom());
  CHECK(x->bounds.right() == doctest::Approx(plot.right()));
}

TEST_CASE("the frame keeps its proportions from a small panel to 4K") {
  RecordCanvas usual(fonts(), 15, {0, 0, 560, 420});
  const float expected = draw_network(usual, theme("dark"), kLanguages[2]).w;
  for (const float scale : {0.75f, 1.0f, 2.5f}) {
    RecordCanvas c(fonts(), 15 * scale, {0, 0, 560 * scale, 420 * scale});
    const Rect plot = draw_network(c, theme("dark"), kLanguages[2]);
    CHECK(plot.w / scale == doctest::Approx(expected).epsilon(1e-4));
    CHECK(c.audit_text() == "");
  }
}

TEST_CASE("spread keeps the order, the gap and the limits, and moves nothing that is apart") {
  const std::vector<float> wanted{10, 12, 80, 11};
  const auto placed = spread(wanted, 15, 0, 100);
  CHECK(placed[2] == 80);
  CHECK(placed[3] - placed[0] == doctest::Approx(15));
  CHECK(placed[1] - placed[3] == doctest::Approx(15));
  CHECK(placed[0] >= 0);
  const auto tight = spread(std::vector<float>{50, 50, 50}, 60, 0, 100);
  CHECK(tight[0] == 0);
  CHECK(tight[2] == 100);
  CHECK(spread(std::vector<float>{}, 5, 0, 10).empty());
  CHECK(spread(std::vector<float>{200}, 5, 0, 10)[0] == 10);
}

TEST_CASE("elbow labels of narrow parts are pushed aside without touching") {
  RecordCanvas c(fonts(), 15, {0, 0, 500, 100});
  const PartLabel parts[] = {{"weights", 50, 66},   {"gradients", 66, 90}, {"activations", 90, 300},
                             {"buffers", 300, 306}, {"reserve", 306, 312}, {"nothing", 312, 312.5f}};
  draw_elbow_labels(c, theme("dark"), parts, 30, 60, 10, 490);
  CHECK(c.texts().size() == 5);
  CHECK(c.audit_text() == "");
}

TEST_CASE("flags hang to the left of their dots and their leaders never cross") {
  RecordCanvas c(fonts(), 15, {0, 0, 500, 300});
  const Flag flags[] = {{{420, 50}, "down", "11 %"}, {{400, 50}, "QKV", "4 %"}, {{440, 50}, "logits", "< 1 %"}};
  const Rect taken = draw_flags(c, theme("dark"), flags, 80, "share of step");
  CHECK(c.audit_text() == "");
  CHECK(c.find_text("QKV")->bounds.y < c.find_text("down")->bounds.y);
  CHECK(c.find_text("down")->bounds.y < c.find_text("logits")->bounds.y);
  CHECK(taken.bottom() > c.find_text("logits")->bounds.centre().y);
}

TEST_CASE("a readout stays inside the figure and off its datum") {
  const Readout r{"stage 6, activations 25.8 GB", {{"in flight", "10 microbatches"}, {"of this stage", "52 %"}}};
  for (const Rect datum : {Rect{10, 10, 20, 15}, Rect{460, 270, 20, 15}, Rect{230, 140, 20, 15}}) {
    RecordCanvas c(fonts(), 15, {0, 0, 500, 300});
    draw_readout(c, theme("dark"), r, datum, c.bounds(), c.bounds());
    CHECK(c.audit_text() == "");
    CHECK(c.texts().size() == 5);
    for (const TextRun& t : c.texts()) CHECK_FALSE(t.bounds.intersects(datum));
  }
}

TEST_CASE("a readout keeps to its own part of the window unless it is larger than that") {
  const Readout r{"stage 6, activations 25.8 GB", {{"in flight", "10 microbatches"}, {"of this stage", "52 %"}}};
  const Rect part{0, 0, 300, 300}, narrow{0, 0, 120, 300}, datum{280, 100, 10, 10};
  for (const Rect& within : {part, narrow}) {
    RecordCanvas c(fonts(), 15, {0, 0, 700, 300});
    draw_readout(c, theme("dark"), r, datum, within, c.bounds());
    for (const TextRun& t : c.texts()) CHECK((t.bounds.right() < datum.x) == (within == part));
  }
}

TEST_CASE("sentences of a readout begin below each other and keep to the window") {
  const Readout r{"runs on",
                  {{"Megatron-LM", "runs it"},
                   {"torchtitan",
                    "shards weights, gradients and optimizer together, which the plan does not: ZeRO 1 is "
                    "not among the things that it may be asked for"}}};
  RecordCanvas c(fonts(), 15, {0, 0, 500, 300});
  draw_readout(c, theme("dark"), r, {10, 10, 20, 15}, c.bounds(), c.bounds());
  CHECK(c.audit_text() == "");
  const TextRun *first = c.find_text("runs it"), *name = c.find_text("Megatron-LM");
  REQUIRE(first);
  std::size_t below = 0;
  for (const TextRun& t : c.texts()) below += t.bounds.x == doctest::Approx(first->bounds.x).epsilon(0.01) ? 1u : 0u;
  CHECK(below >= 3);
  CHECK(first->bounds.x > name->bounds.right());
}

TEST_CASE("a head that is too long is cut at a word with an ellipsis") {
  RecordCanvas c(fonts(), 15, {0, 0, 220, 60});
  draw_head(c, theme("dark"), c.bounds(), {"HBM per stage", "17.1 GB free on the fullest stage", false});
  CHECK(c.audit_text() == "");
  CHECK(c.texts().back().text.ends_with("\u2026"));
}

TEST_CASE("no line of a wrapped text begins with a dash, whatever its width") {
  RecordCanvas c(fonts(), 15, {0, 0, 900, 200});
  TextStyle style;
  style.em = 15;
  const std::string text =
      "22.0 TB \u0438\u0437 22.7 TB. \u0412\u0435\u0441\u0430 \u0438 Adam \u2014 706 GB, "
      "\u0430 \u0434\u043b\u0438\u043d\u0430 \u2013 4096";
  std::size_t most = 0;
  for (float width = 80; width < 500; width += 3) {
    CAPTURE(width);
    std::string again;
    const auto lines = wrap(c, text, style, width, 20);
    most = std::max(most, lines.size());
    for (const std::string& line : lines) {
      CHECK_FALSE(line.starts_with("\u2014"));
      CHECK_FALSE(line.starts_with("\u2013"));
      CHECK(c.text_width(line, style) <= width);
      again += (again.empty() ? "" : " ") + line;
    }
    CHECK(again == text);
  }
  CHECK(most > 4);
}

TEST_CASE("the pill of the present value stays with its plot where more stands beside it") {
  RecordCanvas c(fonts(), 15, {0, 0, 900, 200});
  const Rect plot{200, 40, 300, 120};
  for (const float x : {plot.x, plot.right()}) {
    draw_now(c, theme("dark"), plot, x, "as many checkpoints as are given: 1");
    const Rect words = c.texts().back().bounds;
    CHECK(words.x >= plot.x - 2 * 15);
    CHECK(words.right() <= plot.right() + 2 * 15);
  }
}
