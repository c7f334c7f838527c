// The figures that compare schedules: which are drawn, what they say, and that they say what the engine simulated.
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/evaluate/evaluate.h"
#include "engine/pipeline/timeline_analysis.h"
#include "engine/studies/schedule_comparison.h"
#include "tests/widgets/figures/figure_fixture.h"
#include "tests/widgets/figures/preset_fixture.h"
#include "widgets/canvas/number_format.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using engine::ScheduleKind;

namespace {

std::vector<std::string> schedules_shown(const Canvas& canvas) {
  std::vector<std::string> out;
  for (const TagRegion& t : canvas.tags())
    if (t.id.starts_with("schedule.") && t.index < 0) out.push_back(t.id.substr(9));
  return out;
}

FigureCase four_by_twelve(ScheduleKind kind = ScheduleKind::one_f_one_b) {
  return scheduled({kind, 4, 12, engine::default_virtual_stages(kind), 0}, 2 * kMs);
}

}  // namespace

TEST_CASE("the same step under each schedule: the makespans of the check table") {
  const FigureCase c = four_by_twelve();
  const auto variants = engine::compare_schedules(c.scenario);
  const auto units = [&](ScheduleKind kind) {
    return static_cast<double>(variants[static_cast<std::size_t>(kind)].makespan) / (2.0 * static_cast<double>(kMs));
  };
  CHECK(units(ScheduleKind::one_f_one_b) == 45);
  CHECK(units(ScheduleKind::interleaved_1f1b) == 40.5);
  CHECK(units(ScheduleKind::zb_v) == 37.5);
  CHECK(variants[static_cast<std::size_t>(ScheduleKind::one_f_one_b)].idle_fraction == doctest::Approx(0.2));
  CHECK(variants[static_cast<std::size_t>(ScheduleKind::interleaved_1f1b)].idle_fraction == doctest::Approx(1 / 9.0));
  CHECK(variants[static_cast<std::size_t>(ScheduleKind::zb_v)].idle_fraction == doctest::Approx(0.04));
}

TEST_CASE("the plan's own schedule is the report's own timeline, and no schedule does other work") {
  for (const ScheduleKind kind :
       {ScheduleKind::one_f_one_b, ScheduleKind::interleaved_1f1b, ScheduleKind::zb_v, ScheduleKind::dualpipe}) {
    engine::Scenario s = four_by_twelve(kind).scenario;
    s.model.n_layers += 3;  // uneven, with a head of a fifth of a layer
    s.model.vocab_size = 1'200'000'000;
    const engine::Report report = engine::evaluate(s);
    engine::Tick all = 0;
    for (std::size_t i = 0; i < report.pipeline.orders.route_length; ++i) all += report.pipeline.times.forward[i];
    int legal = 0;
    for (const engine::ScheduleVariant& v : engine::compare_schedules(s)) {
      if (!v.legal()) continue;
      ++legal;
      const auto& forward = v.pipeline().times.forward;
      engine::Tick sum = 0;
      for (const engine::Tick t : forward) sum += t;
      const engine::Tick times = v.shape.kind == ScheduleKind::dualpipe ? 2 : 1;
      CHECK(std::abs(sum - times * all) <= 2 * static_cast<engine::Tick>(forward.size()));  // rounding
      if (v.own) CHECK(v.pipeline().timeline.start == report.pipeline.timeline.start);
      const auto b = engine::bubbles(v.pipeline().orders, v.pipeline().times, v.pipeline().timeline);
      CHECK(v.idle_fraction == doctest::Approx(b.idle_fraction).epsilon(1e-9));
    }
    CHECK(legal == engine::kScheduleKinds);
  }
}

TEST_CASE("points of the bubble figure are the simulation, at legal numbers of microbatches") {
  const FigureCase c = four_by_twelve();
  const auto curves = engine::bubble_curves(c.scenario, 32);
  const auto variants = engine::compare_schedules(c.scenario);
  for (std::size_t k = 0; k < curves.size(); ++k) {
    bool now = false;
    for (const engine::BubblePoint& p : curves[k].points) {
      engine::ScheduleShape shape = curves[k].shape;
      shape.microbatches = p.microbatches;
      CHECK(engine::check_schedule(shape).legal());
      if (p.microbatches != 12) continue;
      now = true;
      CHECK(p.makespan == variants[k].makespan);
      CHECK(p.idle_fraction == variants[k].idle_fraction);
    }
    CHECK(now == variants[k].legal());
  }
}

TEST_CASE("as many schedules as have room, the telling ones first, always the plan's own") {
  const auto tall = schedules_shown(*drawn("schedules", four_by_twelve(), "dark", 15, 1000, 700));
  REQUIRE(tall.size() >= 5);
  CHECK(std::vector<std::string>(tall.begin(), tall.begin() + 5) ==
        std::vector<std::string>{"1f1b", "interleaved-1f1b", "zb-h1", "zb-v", "dualpipe"});
  const auto low = schedules_shown(*drawn("schedules", four_by_twelve(ScheduleKind::gpipe), "dark", 15, 1000, 330));
  CHECK(low.size() < tall.size());
  CHECK(std::find(low.begin(), low.end(), "gpipe") != low.end());
  // The smallest figure: the plan's own and the fastest, or the plan's own alone.
  for (const float height : {180.0f, 240.0f, 300.0f}) {
    const auto least = schedules_shown(*drawn("schedules", four_by_twelve(), "dark", 15, 400, height));
    CHECK(std::find(least.begin(), least.end(), "1f1b") != least.end());
  }
  CHECK(schedules_shown(*drawn("schedules", four_by_twelve(), "dark", 15, 400, 300)).size() == 2);
}

TEST_CASE("the numbers of rows have their word at every width") {
  for (const float width : {238.1f, 425.2f, 900.0f}) {
    CAPTURE(width);
    const auto canvas = drawn("schedules", case_of("llama3-405b-16k-h100-8k"), "print", 9, width, 400);
    CHECK(canvas->audit_text() == "");
    CHECK(canvas->find_text("device"));
  }
}

TEST_CASE("two lines of a key stand clear of each other and of what is under them") {
  // The width of one column of a paper, where the kinds of operations take two lines.
  for (const std::string figure : {"schedules", "pipeline"}) {
    CAPTURE(figure);
    const auto canvas = drawn(figure, four_by_twelve(ScheduleKind::zb_h1), "print", 9, 200, 240);
    const TagRegion* first = canvas->find_tag(engine::quantity(engine::Q::stage_forward).id, 0);
    REQUIRE(first);
    std::vector<Rect> lines;  // that stand over the first row
    for (const TextRun& run : canvas->texts())
      if (run.style.halign == HAlign::left && run.bounds.y < first->rect.y) lines.push_back(run.bounds);
    REQUIRE(lines.size() >= 4);
    std::sort(lines.begin(), lines.end(), [](const Rect& a, const Rect& b) { return a.y < b.y; });
    CHECK(lines.back().y > lines.front().y);
    for (std::size_t i = 1; i < lines.size(); ++i)
      CHECK((lines[i].y == lines[i - 1].y || lines[i].y >= lines[i - 1].bottom() - 0.1f));
    CHECK(lines.back().bottom() <= first->rect.y);
  }
}

TEST_CASE("every schedule drawn has every operation, its idle share and its end") {
  const FigureCase c = four_by_twelve();
  const auto canvas = drawn("schedules", c, "dark", 15, 1400, 700);
  const auto shown = schedules_shown(*canvas);
  std::size_t ops = 0;
  for (const engine::ScheduleVariant& v : engine::compare_schedules(c.scenario))
    if (std::find(shown.begin(), shown.end(), engine::schedule_id(v.shape.kind)) != shown.end()) {
      ops += v.pipeline().orders.ops.size();
      CHECK(canvas->find_text(format_significant(static_cast<double>(v.makespan) / static_cast<double>(kMs))));
    }
  std::size_t blocks = 0;
  for (const TagRegion& t : canvas->tags())
    blocks += t.id.ends_with("stage.forward_s") || t.id.ends_with("stage.backward_s");
  CHECK(blocks == ops);
  for (const char* text : {"1F1B", "ZB-V", "20.0\u202f%", "4.0\u202f%", "5.5", "forward", "idle"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
}

TEST_CASE("chunks that the model has no layers for leave the schedules without them to compare") {
  FigureCase c = four_by_twelve(ScheduleKind::interleaved_1f1b);
  c.scenario.pipeline.virtual_stages = c.scenario.model.n_layers;  // times four stages
  c.report = engine::evaluate(c.scenario);
  REQUIRE(c.report.has_errors());
  const FigureRow& row = *find_figure("schedules");
  CHECK(cannot_show(row, c.report) == nullptr);
  CHECK(cannot_show(*find_figure("pipeline"), c.report) != nullptr);
  const auto shown = schedules_shown(*drawn("schedules", c, "dark", 15, 1000, 700));
  CHECK(std::find(shown.begin(), shown.end(), "1f1b") != shown.end());
  CHECK(std::find(shown.begin(), shown.end(), "interleaved-1f1b") == shown.end());
  // More stages than layers are of no schedule's making.
  c.scenario.pipeline.virtual_stages = 1;
  c.scenario.pipeline.schedule = ScheduleKind::one_f_one_b;
  c.scenario.model.n_layers = 3;
  c.report = engine::evaluate(c.scenario);
  CHECK(cannot_show(row, c.report) != nullptr);
}

TEST_CASE("schedules that cannot run are named with the rule and the nearest value") {
  const auto canvas =
      drawn("schedules", scheduled({ScheduleKind::one_f_one_b, 4, 6, 1, 0}, kMs), "dark", 15, 1000, 700);
  CHECK(canvas->find_text("ZB-H2 cannot run. 6 microbatches are too few for ZB-H2 on 4 stages. Nearest: 7."));
  CHECK(canvas->find_text("DualPipe cannot run. 6 microbatches are too few for DualPipe on 4 stages. Nearest: 8."));
  // The plan itself illegal: the others are drawn all the same.
  const auto illegal = drawn("schedules", scheduled({ScheduleKind::zb_h1, 16, 18, 2, 0}, kMs), "dark", 15, 1000, 700);
  CHECK(schedules_shown(*illegal).size() >= 2);
}

TEST_CASE("takeaways are computed") {
  CHECK(find_figure("schedules")
            ->head(input_of(four_by_twelve(), theme("dark")), {})
            .takeaway.find("less time than 1F1B") != std::string::npos);
  CHECK(find_figure("bubble")->head(input_of(four_by_twelve(), theme("dark")), {}).takeaway ==
        "1F1B: 20.0\u202f% of the pipeline idles with 12 microbatches");
}

TEST_CASE("the key of the bubbles goes from the schedule that idles longest now to the one that idles least") {
  const auto canvas = drawn("bubble", four_by_twelve(), "dark", 15, 900, 500);
  float above = 0;
  for (const char* name : {"1F1B, GPipe, eager 1F1B", "ZB-H1", "ZB-V"}) {
    CAPTURE(name);
    const TextRun* run = canvas->find_text(name);
    REQUIRE(run);
    CHECK(run->bounds.y > above);
    above = run->bounds.y;
    CHECK(strokes_through(*canvas, name) == 0);
  }
}

TEST_CASE("a window gets its comparison in pieces, the plan's own first, and in the end the same") {
  const FigureCase c = four_by_twelve();
  engine::ScheduleComparison some(c.scenario);
  std::int64_t one = 1;
  CHECK_FALSE(some.advance(one));
  CHECK(one < 0);
  for (const engine::ScheduleVariant& v : some.variants()) CHECK((v.known && v.legal()) == v.own);
  for (int pieces = 0; !some.done() && pieces < 20; ++pieces) {
    std::int64_t more = 1;
    some.advance(more);
  }
  REQUIRE(some.done());
  const auto whole = engine::compare_schedules(c.scenario);
  for (std::size_t k = 0; k < whole.size(); ++k) CHECK(some.variants()[k].makespan == whole[k].makespan);

  engine::BubbleStudy points(c.scenario, 32);
  std::int64_t little = 1;
  CHECK_FALSE(points.advance(little));
  for (int pieces = 0; !points.done() && pieces < 200; ++pieces) {
    little = 1;
    points.advance(little);
  }
  const auto curves = engine::bubble_curves(c.scenario, 32);
  for (std::size_t k = 0; k < curves.size(); ++k) {
    REQUIRE(points.curves()[k].points.size() == curves[k].points.size());
    for (std::size_t i = 0; i < curves[k].points.size(); ++i)
      CHECK(points.curves()[k].points[i].makespan == curves[k].points[i].makespan);
  }
}

TEST_CASE("figures of a comparison that is not finished show what there is and ask for more") {
  const FigureCase c = four_by_twelve();
  const Theme dark = theme("dark");
  for (const char* name : {"schedules", "bubble"}) {
    CAPTURE(name);
    StudyCache studies;
    studies.begin_frame(1);
    const FigureInput input{c.scenario, c.report, english(), dark, studies};
    RecordCanvas first(fonts(), 15, {0, 0, 1000, 700});
    find_figure(name)->draw(first, first.bounds(), input, {});
    CHECK(studies.unfinished);
    CHECK(std::any_of(first.tags().begin(), first.tags().end(),
                      [](const TagRegion& t) { return t.id.find(".1f1b") != std::string::npos; }));
    CHECK(first.audit_text() == "");
    for (int frame = 0; studies.unfinished && frame < 200; ++frame) {
      studies.begin_frame(1);
      RecordCanvas next(fonts(), 15, {0, 0, 1000, 700});
      find_figure(name)->draw(next, next.bounds(), input, {});
    }
    CHECK_FALSE(studies.unfinished);
  }
}

TEST_CASE("one stage: why there is nothing to compare, and what to try") {
  for (const char* figure : {"schedules", "bubble"}) {
    const auto canvas = drawn(figure, one_stage(), "dark", 15, 760, 400);
    CHECK(canvas->find_text("One stage: no pipeline to draw"));
    CHECK(canvas->find_text("Set the pipeline axis to 2 or more to compare schedules."));
    CHECK(canvas->audit_text() == "");
  }
}

TEST_CASE("half a million operations under every schedule are drawn as few bars") {
  const auto canvas =
      drawn("schedules", scheduled({ScheduleKind::interleaved_1f1b, 64, 1024, 4, 0}, kMs), "dark", 15, 1200, 900);
  CHECK(canvas->primitives().size() < 60000);
  CHECK(canvas->audit_text() == "");
}

TEST_CASE("the plan's number of microbatches is on the axis, however few or many there are") {
  for (const engine::ScheduleShape& shape : {engine::ScheduleShape{ScheduleKind::one_f_one_b, 64, 1, 1, 0},
                                             {ScheduleKind::one_f_one_b, 4, 3, 1, 0},
                                             {ScheduleKind::one_f_one_b, 16, 3000, 1, 0}}) {
    CAPTURE(shape.microbatches);
    const auto canvas = drawn("bubble", scheduled(shape, kMs), "dark", 15, 700, 420);
    CHECK(canvas->find_tag("bubble.1f1b." + std::to_string(shape.microbatches)));
    for (const TagRegion& t : canvas->tags()) CHECK(canvas->bounds().contains(t.rect.centre()));
    CHECK(canvas->audit_text() == "");
  }
}

TEST_CASE("recomputation is drawn in the halves of an interleaved schedule as in whole stages") {
  const auto canvas = drawn("schedules", plain_405b("llama3-405b-16k-h100-8k"), "dark", 15, 1400, 900);
  const std::string again(engine::quantity(engine::Q::step_recompute).id);
  const auto has = [&](const std::string& id) {
    return std::any_of(canvas->tags().begin(), canvas->tags().end(), [&](const TagRegion& t) { return t.id == id; });
  };
  CHECK(has(again));  // the plan's own
  CHECK(has("schedule." + std::string(engine::schedule_id(engine::ScheduleKind::interleaved_1f1b)) + "/" + again));
}

TEST_CASE("the key says that bars are stripes of shares, where they are") {
  const auto canvas = drawn("schedules", preset_case("deepseek-v3-2048-h800"), "dark", 15, 1500, 800);
  // DualPipe is among them.
  CHECK(canvas->find_text("fainter: second chunk or other direction; stripes: shares of time"));
  const auto plain = drawn("schedules", plain_405b("llama3-405b-16k-h100-8k"), "dark", 15, 1500, 800);
  CHECK(plain->find_text("fainter: second chunk"));
}
