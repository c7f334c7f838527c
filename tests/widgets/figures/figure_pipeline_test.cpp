#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "engine/pipeline/given_order.h"
#include "engine/pipeline/timeline_analysis.h"
#include "tests/widgets/figures/figure_fixture.h"
#include "tests/widgets/figures/preset_fixture.h"
#include "widgets/canvas/canvas_cairo.h"
#include "widgets/canvas/canvas_svg.h"
#include "widgets/canvas/number_format.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using engine::ScheduleKind;

namespace {

std::size_t count_blocks(const Canvas& canvas) {
  return static_cast<std::size_t>(std::count_if(canvas.tags().begin(), canvas.tags().end(), [](const TagRegion& t) {
    return t.id == "stage.forward_s" || t.id == "stage.backward_s";
  }));
}

}  // namespace

TEST_CASE(
    "an order from torch's CSV draws the Gantt of the schedule it is of, and its title says that it was given") {
  // Interleaved 1F1B as torch prints it, on its grid of time steps; DualPipeV as written by order_csv.
  const std::string interleaved =
      "0F0,0F1,2F0,2F1,0F2,2B0,0F3,2B1,2F2,0B0,2F3,0B1,,2B2,,2B3,,0B2,,0B3\r\n"
      ",1F0,1F1,3F0,3B0,3F1,3B1,1F2,1B0,1F3,1B1,3F2,3B2,3F3,3B3,1B2,,1B3,,\r\n";
  engine::Orders dualpipe_v;
  engine::make_orders({ScheduleKind::dualpipe_v, 2, 4, 2, 0}, dualpipe_v);
  const FigureRow& row = *find_figure("pipeline");
  for (const auto& [kind, csv] : {std::pair{ScheduleKind::interleaved_1f1b, interleaved},
                                  {ScheduleKind::dualpipe_v, engine::order_csv(dualpipe_v)}}) {
    engine::Scenario s = tests::preset("llama3-8b-8-h100");
    s.parallelism.fsdp = 4, s.parallelism.pipeline = 2;
    s.pipeline.schedule = kind, s.pipeline.virtual_stages = 2;
    s.workload.global_batch_sequences = 16;
    const FigureCase own = evaluated(s);
    s.pipeline.order = engine::read_listed_order(csv, kind).order;
    const FigureCase given = evaluated(s);
    REQUIRE(given.report.pipeline.shape.order);
    const auto drawn_own = drawn("pipeline", own, "dark", 15, 1200, 400),
               drawn_given = drawn("pipeline", given, "dark", 15, 1200, 400);
    REQUIRE(drawn_own->tags().size() == drawn_given->tags().size());
    for (std::size_t i = 0; i < drawn_own->tags().size(); ++i) {
      CHECK(drawn_own->tags()[i].id == drawn_given->tags()[i].id);
      CHECK(drawn_own->tags()[i].rect == drawn_given->tags()[i].rect);
    }
    const Theme dark = theme("dark");
    CHECK(figure_data(row, input_of(own, dark), {}) == figure_data(row, input_of(given, dark), {}));
    CHECK(takeaway("pipeline", given).find("given order") != std::string::npos);
    CHECK(takeaway("pipeline", own).find("given order") == std::string::npos);
  }
}

TEST_CASE("every operation is a block where blocks have room") {
  for (const engine::ScheduleShape& shape : {engine::ScheduleShape{ScheduleKind::gpipe, 4, 8, 1, 0},
                                             {ScheduleKind::one_f_one_b, 4, 12, 1, 0},
                                             {ScheduleKind::interleaved_1f1b, 4, 8, 2, 0},
                                             {ScheduleKind::zb_h1, 4, 8, 1, 0},
                                             {ScheduleKind::zb_v, 4, 8, 2, 0},
                                             {ScheduleKind::dualpipe, 4, 8, 1, 0}}) {
    CAPTURE(engine::schedule_id(shape.kind));
    const FigureCase c = scheduled(shape, 2 * kMs);
    REQUIRE(c.report.pipeline.drawn());
    CHECK(count_blocks(*drawn("pipeline", c, "dark", 15, 1200, 400)) == c.report.pipeline.orders.ops.size());
  }
}

// Llama 3's first stage can be the embedding alone: its operations take less than a pixel, and do not make the others
// one bar.
TEST_CASE("a stage without layers does not join the blocks of those that have some") {
  const FigureCase c = evaluated(
      tests::with(sixteen_stages().scenario, {"pipeline.layers_per_stage=0,9,9,9,9,9,9,9,9,9,9,9,9,9,9,0"}));
  const auto canvas = drawn("pipeline", c, "dark", 15, 1200, 500);
  for (int stage = 0; stage < 16; ++stage) {
    CAPTURE(stage);
    const bool layers = stage > 0 && stage < 15;
    int forwards = 0;
    for (const TagRegion& t : canvas->tags()) forwards += t.id == "stage.forward_s" && t.index == stage;
    if (layers)
      CHECK(forwards == 16);
    else
      CHECK((forwards >= 1 && forwards <= 16));
  }
  CHECK(canvas->audit_text() == "");
}

TEST_CASE("blocks of a device never overlap") {
  const auto canvas = drawn("pipeline", sixteen_stages(), "dark", 15, 1200, 500);
  std::map<int, std::vector<Rect>> rows;
  for (const TagRegion& t : canvas->tags())
    if (t.id.starts_with("stage.") || t.id == "pipeline.bubble_fraction") rows[t.index].push_back(t.rect);
  CHECK(rows.size() == 16);
  for (auto& row : rows) {
    std::sort(row.second.begin(), row.second.end(), [](const Rect& a, const Rect& b) { return a.x < b.x; });
    for (std::size_t i = 1; i < row.second.size(); ++i) CHECK(row.second[i - 1].right() <= row.second[i].x + 0.01f);
  }
}

TEST_CASE("every destination has the same blocks") {
  const FigureCase c = sixteen_stages();
  const Theme print = theme("print");
  const auto draw = [&](Canvas& canvas) {
    find_figure("pipeline")->draw(canvas, canvas.bounds(), input_of(c, print), {});
    return count_blocks(canvas);
  };
  RecordCanvas record(fonts(), 9, {0, 0, 425, 280});
  SvgCanvas svg(fonts(), 9, 425, 280, {"", "", true});
  const auto pdf = CairoCanvas::pdf(fonts(), 9, 425, 280);
  const auto png = CairoCanvas::png(fonts(), 9, 425, 280, 2, print.panel);
  const std::size_t blocks = draw(record);
  CHECK(blocks == c.report.pipeline.orders.ops.size());
  CHECK(draw(svg) == blocks);
  CHECK(draw(*pdf) == blocks);
  CHECK(draw(*png) == blocks);
}

TEST_CASE("microbatch numbers are all there or none") {
  const FigureCase c = scheduled({ScheduleKind::one_f_one_b, 4, 12, 1, 0}, kMs);
  const auto numbers = [&](float width) {
    const auto canvas = drawn("pipeline", c, "dark", 15, width, 300);
    std::size_t n = 0;
    for (const TextRun& run : canvas->texts())
      n += run.style.halign == HAlign::centre && run.clip != canvas->bounds();
    return n;
  };
  CHECK(numbers(1600) == 96);  // both kinds
  CHECK(numbers(800) == 48);   // backward only: it is twice as long
  CHECK(numbers(300) == 0);
}

TEST_CASE("a part of the time shows what happens in it and nothing else") {
  const FigureCase c = sixteen_stages();
  FigureView view;
  view.from = 0.3;
  view.to = 0.5;
  const auto canvas = drawn("pipeline", c, "dark", 15, 900, 400, view);
  const engine::PipelineReport& p = c.report.pipeline;
  const double total = static_cast<double>(p.timeline.makespan) + p.step_end_s * 1e12;
  std::size_t expected = 0;
  for (std::uint32_t i = 0; i < p.orders.ops.size(); ++i) {
    const auto start = static_cast<double>(p.timeline.start[i]);
    const double end = start + static_cast<double>(engine::op_duration(p.orders, p.times, i));
    expected += start < 0.5 * total && end > 0.3 * total;
  }
  CHECK(count_blocks(*canvas) == expected);
  CHECK(canvas->audit_text() == "");
}

TEST_CASE("what a backward does again stands at its start, in its share of the block") {
  engine::Scenario s = scheduled({ScheduleKind::one_f_one_b, 4, 8, 1, 0}, kMs).scenario;
  CHECK(drawn("pipeline", evaluated(s), "dark", 15, 1200, 400)->count_tags("step.recompute_s") == 0);
  s.checkpointing.policy = engine::CheckpointPolicy::block;
  const FigureCase c = evaluated(s);
  const auto canvas = drawn("pipeline", c, "dark", 15, 1200, 400);
  CHECK(canvas->count_tags("step.recompute_s") == 32);
  CHECK(canvas->find_text("recompute") != nullptr);
  const Rect* whole = nullptr;
  int checked = 0;
  for (const TagRegion& t : canvas->tags()) {  // each follows its backward
    if (t.id == "stage.backward_s") whole = &t.rect;
    if (t.id != "step.recompute_s") continue;
    REQUIRE(whole != nullptr);
    CHECK(t.rect.x == whole->x);
    CHECK(t.rect.h == whole->h);
    CHECK(t.rect.w == doctest::Approx((whole->w + 0.8f) / 3).epsilon(0.01));
    CHECK(t.readout.rows.back().second == "33.3\u202f%");
    ++checked;
  }
  CHECK(checked == 32);
  CHECK(canvas->audit_text() == "");
  // Too narrow to stand before it, it shares the height of its block.
  const FigureCase little = sixteen_stages();  // attention scores alone
  REQUIRE(little.report.pipeline.recompute.front() > 0);
  const auto narrow = drawn("pipeline", little, "dark", 15, 560, 400);
  const TagRegion *part = narrow->find_tag("step.recompute_s"), *block = nullptr;
  REQUIRE(part);
  for (const TagRegion& t : narrow->tags()) {
    if (&t == part) break;
    if (t.id == "stage.backward_s") block = &t;
  }
  REQUIRE(block);
  CHECK(part->rect.w == block->rect.w);
  CHECK(part->rect.h / block->rect.h ==
        doctest::Approx(static_cast<double>(little.report.pipeline.recompute.front()) /
                        static_cast<double>(little.report.pipeline.times.backward_input.front() +
                                            little.report.pipeline.times.backward_weight.front()))
            .epsilon(0.01));
}

TEST_CASE("half a million operations are drawn as few bars") {
  const FigureCase c = scheduled({ScheduleKind::interleaved_1f1b, 64, 1024, 4, 0}, kMs);
  REQUIRE(c.report.pipeline.orders.ops.size() == 524288);
  const auto canvas = drawn("pipeline", c, "dark", 15, 1200, 500);
  CHECK(canvas->primitives().size() < 20000);
  CHECK(count_blocks(*canvas) > 64);
}

TEST_CASE("bars that stand for many operations show as much work as there is") {
  for (const int microbatches : {256, 4096}) {  // by runs, by shares
    CAPTURE(microbatches);
    const FigureCase c = scheduled({ScheduleKind::one_f_one_b, 16, microbatches, 1, 0}, kMs);
    const auto canvas = drawn("pipeline", c, "dark", 15, 900, 400);
    double drawn_area = 0, bar = 0, width = 0;
    for (const TagRegion& t : canvas->tags()) {
      if (t.id == "pipeline.bubble_fraction")
        bar = std::max(bar, static_cast<double>(t.rect.h)),
        width = std::max(width, static_cast<double>(t.rect.right()));
      if (t.id == "stage.forward_s" || t.id == "stage.backward_s")
        drawn_area += static_cast<double>(t.rect.w) * t.rect.h;
    }
    float left = 900;
    for (const TagRegion& t : canvas->tags())
      if (t.id.starts_with("stage."))
        left = std::min(left, t.rect.x), width = std::max(width, static_cast<double>(t.rect.right()));
    const double busy = drawn_area / (16 * bar * (width - left));
    CHECK(busy == doctest::Approx(1 - *c.report.quantities[engine::Q::pipeline_bubble_fraction]).epsilon(0.02));
  }
}

TEST_CASE("the pipeline's takeaway and key") {
  CHECK(find_figure("pipeline")->head(input_of(sixteen_stages(), theme("dark")), {}).takeaway ==
        "1F1B: 49.0\u202f% idle, 16 stages, 16 microbatches");
  const auto whole = drawn("pipeline", sixteen_stages(), "dark", 15, 560, 400);
  for (const char* text : {"forward", "backward", "idle", "joint step end", "stage", "seconds \u2192"}) {
    CAPTURE(text);
    CHECK(whole->find_text(text));
  }
  const auto split = drawn("pipeline", scheduled({ScheduleKind::zb_v, 4, 8, 2, 0}, kMs), "dark", 15, 900, 400);
  for (const char* text : {"input gradient", "weight gradient", "fainter: second chunk", "milliseconds \u2192"}) {
    CAPTURE(text);
    CHECK(split->find_text(text));
  }
  CHECK_FALSE(split->find_text("backward"));
}

TEST_CASE("the baseline's schedule is drawn under the plan's on one axis of time") {
  FigureCase c = scheduled({ScheduleKind::one_f_one_b, 4, 8, 1, 0}, kMs);
  c.baseline = std::make_shared<const FigureCase>(scheduled({ScheduleKind::one_f_one_b, 8, 8, 1, 0}, 2 * kMs));
  const auto canvas = drawn("pipeline", c, "dark", 15, 900, 500);
  CHECK(canvas->audit_text() == "");
  int rows = 0;
  float own = 0, before = 0;  // widths of a forward
  for (const TagRegion& t : canvas->tags()) {
    if (t.id == "stage.forward_s" && own == 0) own = t.rect.w;
    if (t.id == "baseline/stage.forward_s" && before == 0) before = t.rect.w;
    if (t.id == "baseline/stage.forward_s") rows = std::max(rows, t.index + 1);
  }
  CHECK(rows == 8);
  CHECK(before + 0.8f == doctest::Approx(2 * (own + 0.8f)).epsilon(0.001));  // with the gap to the next
  CHECK(std::any_of(canvas->texts().begin(), canvas->texts().end(),
                    [](const TextRun& run) { return run.text.starts_with("baseline, 1F1B: "); }));
}

TEST_CASE("where two schedules have no room the baseline is an outline of its length, open where it goes on") {
  FigureCase c = sixteen_stages();
  const auto with_step = [&](double seconds) {
    FigureCase before = sixteen_stages();
    before.report.quantities.set(engine::Q::step_time, seconds);
    c.baseline = std::make_shared<const FigureCase>(std::move(before));
    return drawn("pipeline", c, "dark", 15, 900, 130);
  };
  const double own = static_cast<double>(c.report.pipeline.timeline.makespan) * 1e-12 + c.report.pipeline.step_end_s;
  const auto ghost = [](const RecordCanvas& canvas) {
    const TagRegion* tag = canvas.find_tag("pipeline.baseline");
    REQUIRE(tag);
    return tag->rect;
  };
  const auto half = with_step(own / 2), same = with_step(own), longer = with_step(4 * own);
  CHECK(ghost(*half).w == doctest::Approx(ghost(*same).w / 2).epsilon(0.001));
  CHECK(ghost(*longer).w == doctest::Approx(ghost(*same).w).epsilon(0.01));  // all of the axis
  CHECK(half->find_text("baseline, " + format_duration(own / 2)));
  CHECK(longer->find_text("baseline, " + format_duration(4 * own)));
  for (const auto* canvas : {half.get(), same.get(), longer.get()}) CHECK(canvas->audit_text() == "");
  c.baseline = {};
  CHECK_FALSE(drawn("pipeline", c, "dark", 15, 900, 130)->find_tag("pipeline.baseline"));
}

TEST_CASE("one stage has no pipeline and says why") {
  const auto canvas = drawn("pipeline", one_stage(), "dark", 15, 560, 400);
  CHECK(canvas->find_text("One stage: no pipeline to draw"));
  CHECK(canvas->find_text("Every chip works on every layer (80), so there is no bubble."));
  CHECK(canvas->texts().size() == 2);
  CHECK(drawn("pipeline", one_stage(16), "dark", 15, 560, 400)->texts().size() == 3);
}

TEST_CASE("an illegal schedule draws its reason and the nearest legal values") {
  const auto canvas = drawn("pipeline", scheduled({ScheduleKind::zb_h1, 16, 18, 2, 0}, kMs), "dark", 15, 560, 400);
  CHECK(canvas->find_text("18 microbatches do not fill 16 stages evenly"));
  CHECK(canvas->find_text("Nearest: 16 or 32."));
  CHECK(count_blocks(*canvas) == 0);
}

TEST_CASE("a block says what it is and when") {
  const auto canvas =
      drawn("pipeline", scheduled({ScheduleKind::one_f_one_b, 4, 12, 1, 0}, kMs), "dark", 15, 900, 400);
  const TagRegion* tag = canvas->find_tag("stage.forward_s", 2);
  REQUIRE(tag);
  CHECK(tag->readout.title == "forward, microbatch 1, stage 2");
  REQUIRE(tag->readout.rows.size() == 4);
  CHECK(tag->readout.rows[0].second == "2.00\u202fms");
  CHECK(tag->readout.rows[2].second == "1.00\u202fms");
  CHECK(tag->readout.rows[3].second == "forward 1 of stage 1");
}
