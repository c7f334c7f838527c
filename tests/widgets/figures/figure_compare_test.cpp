// Compare: where the difference between two plans comes from.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>

#include "tests/capture_binding.h"
#include "tests/widgets/figures/preset_fixture.h"
#include "widgets/canvas/number_format.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using engine::Q;

namespace {

// LLaMA-3 8B on one node: in four stages before, without stages now.
FigureCase unstaged() {
  FigureCase now = preset_case("llama3-8b-8-h100");
  now.baseline = std::make_shared<const FigureCase>(
      evaluated(tests::with(now.scenario, {"parallelism.fsdp=2", "parallelism.pipeline=4"})));
  return now;
}

double seconds(const engine::Report& report, Q part) { return report.quantities.value_or(part, 0); }
double change_of(const FigureCase& c, Q part) { return seconds(c.report, part) - seconds(c.baseline->report, part); }

}  // namespace

TEST_CASE("the changes stand in the order of their size, over the step time") {
  const FigureCase c = unstaged();
  const auto canvas = drawn("compare", c, "dark", 15, 800, 400);
  float lowest = 0;
  double smallest = std::numeric_limits<double>::infinity();
  std::size_t bars = 0;
  for (const TagRegion& tag : canvas->tags()) {
    const auto part = engine::find_quantity(tag.id);
    if (!part || std::find(engine::kStepParts.begin(), engine::kStepParts.end(), *part) == engine::kStepParts.end())
      continue;
    CAPTURE(tag.id);
    CHECK(tag.rect.centre().y > lowest);
    CHECK(std::abs(change_of(c, *part)) <= smallest);
    lowest = tag.rect.centre().y;
    smallest = std::abs(change_of(c, *part));
    ++bars;
  }
  CHECK(bars >= 2);
  const TagRegion* step = canvas->find_tag(engine::quantity(Q::step_time).id);
  REQUIRE(step);
  CHECK(step->rect.centre().y > lowest);
  CHECK(canvas->audit_text() == "");
}

TEST_CASE("a comparison says both steps and the largest change") {
  const FigureCase c = unstaged();
  const auto canvas = drawn("compare", c, "dark", 15, 800, 400);
  for (const std::string& text :
       {format_duration(seconds(c.baseline->report, Q::step_time)), format_duration(seconds(c.report, Q::step_time)),
        format_difference(change_of(c, Q::step_bubble), engine::unit::seconds)}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
}

TEST_CASE("a part that takes as long as before has no row") {
  FigureCase c = unstaged();
  CHECK(seconds(c.report, Q::step_tensor) == seconds(c.baseline->report, Q::step_tensor));
  CHECK_FALSE(drawn("compare", c, "dark", 15, 800, 400)->find_tag(engine::quantity(Q::step_tensor).id));
}

TEST_CASE("a comparison is clean at any size") {
  for (const auto& [width, height, em] : {std::tuple{320.0f, 240.0f, 15.0f},
                                          {480.0f, 320.0f, 15.0f},
                                          {900.0f, 500.0f, 15.0f},
                                          {3840.0f, 2160.0f, 64.0f}}) {
    CAPTURE_BINDING(width);
    CHECK(drawn("compare", unstaged(), "dark", em, width, height)->audit_text() == "");
  }
}

TEST_CASE("the differences of the parts in the data of a comparison add up to that of the step") {
  const FigureCase c = unstaged();
  std::istringstream data(find_figure("compare")->data(input_of(c, theme("dark")), {}));
  std::string line, part;
  std::getline(data, line);
  double sum = 0, before = 0, after = 0, difference = 0, step = 0;
  while (data >> part >> before >> after >> difference) {
    CAPTURE(part);
    CHECK(difference == doctest::Approx(after - before));
    if (part == engine::quantity(Q::step_time).id)
      step = difference;
    else
      sum += difference;
  }
  CHECK(step == doctest::Approx(change_of(c, Q::step_time)));
  CHECK(sum == doctest::Approx(step));
}

TEST_CASE("without a baseline it says how to get one, without a difference that there is none") {
  CHECK(find_figure("compare")->head(input_of(preset_case("llama3-8b-8-h100"), theme("dark")), {}).takeaway.empty());
  CHECK(drawn("compare", preset_case("llama3-8b-8-h100"), "dark", 15, 900, 400)
            ->find_text(
                "No baseline yet: pin this plan with B, change something, and the difference is taken apart here."));
  FigureCase same = unstaged();
  same.baseline = std::make_shared<const FigureCase>(same);
  CHECK(find_figure("compare")->head(input_of(same, theme("dark")), {}).takeaway == "no difference to the baseline");
}

namespace {

FigureCase fuller() {
  FigureCase now = calibrated_case("llama3-70b-serving-8-h100");
  now.baseline = std::make_shared<const FigureCase>(evaluated(tests::with(now.scenario, {"workload.batch=16"})));
  return now;
}

}  // namespace

TEST_CASE("plans that serve are compared by time per token, time to first token and memory, part by part") {
  const FigureCase c = fuller();
  const auto canvas = drawn("compare", c, "light", 15, 800, 500);
  CHECK(canvas->audit_text() == "");
  for (const Q total : {Q::mixed_token_time_q, Q::ttft, Q::memory_total}) {
    CAPTURE(std::string(engine::quantity(total).id));
    REQUIRE(canvas->find_tag(engine::quantity(total).id));
    // Two bars on one axis: of a part they are as long as its values.
    for (const Q part : {Q::decode_host, Q::memory_kv_cache, Q::prefill_work}) {
      const TagRegion *then = canvas->find_tag(engine::quantity(part).id, 0),
                      *now = canvas->find_tag(engine::quantity(part).id, 1);
      REQUIRE(then);
      REQUIRE(now);
      CHECK(now->rect.w / then->rect.w ==
            doctest::Approx(seconds(c.report, part) / seconds(c.baseline->report, part)).epsilon(0.01));
      CHECK(now->rect.y > then->rect.bottom());
    }
  }
  for (const FigureCase* plan : {&c, c.baseline.get()})
    for (const Q total : {Q::mixed_token_time_q, Q::ttft})
      CHECK(canvas->find_text(format_duration(seconds(plan->report, total))));
}

TEST_CASE("the parts of compared plans that serve add up to their sums") {
  FigureCase apart = preset_case("deepseek-v3-h800-wide-expert");
  apart.baseline =
      std::make_shared<const FigureCase>(evaluated(tests::with(apart.scenario, {"workload.batch=4096"})));
  FigureCase few = fuller();
  few = evaluated(tests::with(few.scenario, {"workload.arrivals_per_s=1"}));
  few.baseline = std::make_shared<const FigureCase>(preset_case("llama3-70b-serving-8-h100"));
  for (const FigureCase& c : {fuller(), apart, few}) {
    std::istringstream lines(find_figure("compare")->data(input_of(c, theme("light")), {}));
    std::string line;
    std::getline(lines, line);
    std::map<std::string, std::array<double, 2>> sums, totals;
    while (std::getline(lines, line)) {
      std::istringstream row(line);
      std::string part, of;
      double then = 0, now = 0;
      row >> part >> of >> then >> now;
      auto& into = part == of ? totals[of] : sums[of];
      into[0] += then, into[1] += now;
    }
    REQUIRE(totals.size() == 3);
    for (const auto& [of, total] : totals)
      for (const std::size_t plan : {0u, 1u}) {
        CAPTURE_BINDING(of);
        CHECK(sums[of][plan] == doctest::Approx(total[plan]));
      }
  }
}

TEST_CASE("a comparison of plans that serve is clean on paper, projected and small") {
  const FigureCase c = fuller();
  FigureView view;
  view.print = true;
  for (const auto& [width, height, em] : {std::tuple{238.0f, 212.0f, 9.0f},
                                          {425.0f, 255.0f, 9.0f},
                                          {1280.0f, 720.0f, 21.0f},
                                          {320.0f, 240.0f, 15.0f},
                                          {3840.0f, 2160.0f, 64.0f}}) {
    CAPTURE_BINDING(width);
    const auto canvas = drawn("compare", c, "print", em, width, height, width < 1000 ? view : FigureView{});
    CHECK(canvas->audit_text() == "");
    CHECK(canvas->find_text("baseline"));
  }
}

namespace {

// What each entry of the key is filled with: the rectangle drawn just before its words.
class KeyCanvas final : public Canvas {
 public:
  KeyCanvas(float width, float height) : Canvas(fonts(), 15, {0, 0, width, height}) {}
  std::map<std::string, Fill> looks;

 private:
  void on_rect(const Rect&, const Fill& fill, float) override { last_ = fill; }
  void on_text(Point, std::string_view utf8, const TextStyle&, const Rect&) override {
    if (last_) looks[std::string(utf8)] = *last_;
    last_.reset();
  }
  void on_tag(const TagRegion&) override { last_.reset(); }
  void raw_stroke(std::span<const Point>, bool, Colour, float) override {}
  void raw_fill(std::span<const Point>, Colour) override {}
  void raw_text(Point, std::string_view, float, Weight, Colour, float) override {}
  void raw_push_clip(const Rect&) override {}
  void raw_pop_clip() override {}

  std::optional<Fill> last_;
};

}  // namespace

TEST_CASE("no two parts of compared plans that serve look alike") {
  FigureCase apart = preset_case("deepseek-v3-h800-wide-expert");
  apart.baseline =
      std::make_shared<const FigureCase>(evaluated(tests::with(apart.scenario, {"workload.batch=4096"})));
  for (const FigureCase& c : {fuller(), apart}) {
    CAPTURE(c.scenario.name);
    KeyCanvas canvas(900, 600);
    find_figure("compare")->draw(canvas, canvas.bounds(), input_of(c, theme("light")), {});
    CHECK(canvas.looks.contains("exposed transfers"));
    CHECK(canvas.looks.contains("activations"));
    for (auto a = canvas.looks.begin(); a != canvas.looks.end(); ++a)
      for (auto b = std::next(a); b != canvas.looks.end(); ++b) {
        CAPTURE(a->first);
        CAPTURE(b->first);
        CHECK_FALSE((a->second.colour == b->second.colour && a->second.hatch == b->second.hatch));
      }
  }
}
