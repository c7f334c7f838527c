// The figures of a search of plans that train: the front, the cloud, the capacity and the present plan; each plan a
// line over its choices.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/frameworks/rules.h"
#include "engine/search/search.h"
#include "engine/studies/evidence.h"
#include "tests/widgets/figures/figure_search_fixture.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/evidence_text.h"
#include "widgets/figures/search/figure_search_parts.h"
#include "widgets/figures/search/plan_table.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {

// A small space, searched once a scenario.
struct Searched : SearchCase {
  engine::SearchResult result;
  explicit Searched(FigureCase from, std::size_t sample = 300, double capacity_bytes = 0)
      : SearchCase(std::move(from)) {
    if (capacity_bytes > 0) c.scenario.cluster.chip[engine::ChipField::hbm_bytes].value = capacity_bytes;
    engine::SearchRequest request;
    request.space = engine::space_of(c.scenario);
    for (const auto& [name, value] : {std::pair{"schedule", "1f1b,zb-h1"},
                                      {"microbatch", "1,2"},
                                      {"offload_optimizer", "off"},
                                      {"offload_activations", "off"}})
      REQUIRE_FALSE(engine::constrain(request.space, name, value, engine::ConstraintKind::pinned));
    request.sample = sample;
    result = engine::search(c.scenario, request);
    seen.result = &result;
  }
};

std::unique_ptr<RecordCanvas> shown(std::string_view figure, const Searched& s, float width = 560, float height = 400,
                                    const FigureView& view = {}) {
  const Theme dark = theme("dark");
  auto canvas = std::make_unique<RecordCanvas>(fonts(), 15.0f, Rect{0, 0, width, height});
  find_figure(figure)->draw(*canvas, canvas->bounds(), s.input(dark), view);
  return canvas;
}

}  // namespace

TEST_CASE("figures of a search are clean at any size and with long words") {
  for (const char* preset : {"llama3-405b-16k-h100-8k", "deepseek-v3-2048-h800", "llama3-8b-8-h100"}) {
    CAPTURE(preset);
    check_clean(Searched(preset_case(preset)), kSearchFigures);
  }
}

TEST_CASE("the takeaway names the plan marked 1 and how far the present one is from it") {
  Searched s(preset_case("llama3-8b-8-h100"));
  s.result.front.back().memory_bytes /= 2;  // another, as fast, that ranks behind
  const FigureHead head = find_figure("frontier")->head(s.input(theme("dark")), {});
  const auto& best = s.result.best.front();
  CHECK(head.takeaway == "best " + format_duration(best.step_time_s) + " in " +
                             format(best.memory_bytes, engine::unit::bytes) + "; now " +
                             format_duration(s.result.present.step_time_s) + ", " +
                             search::against_text(s.result.present.step_time_s, best.step_time_s));
}

TEST_CASE("a present plan outside of the limits, or without the free memory, is not compared with the best") {
  const auto says = [](const auto& constrain, std::string_view why) {
    FigureCase c = preset_case("llama3-8b-8-h100");
    engine::SearchRequest request;
    request.space = engine::space_of(c.scenario);
    constrain(request.space);
    const auto result = engine::search(c.scenario, request);
    SearchSeen seen{.scenario = &c.scenario, .result = &result};
    const Theme dark = theme("dark");
    FigureInput input = input_of(c, dark, english());
    input.search = &seen;
    const FigureHead head = find_figure("frontier")->head(input, {});
    CHECK(head.takeaway == head.brief + "; the present plan does not count: " + std::string(why));
  };
  says([](engine::PlanSpace& s) { s.fsdp.max = 4; }, "outside of the limits (fsdp: at most 4)");
  says([](engine::PlanSpace& s) { s.min_free = 0.7; }, "leaves less memory free than asked for");
}

TEST_CASE("what a plan takes against the best is rounded once") {
  CHECK(search::against_text(4.194953400885111, 1) == "+319\u202f%");
  CHECK(search::against_text(1.2284, 1) == "+22.8\u202f%");
  CHECK(search::against_text(1, 1) == "0.0\u202f%");
}

namespace {

// The steps of the front: the only line in ink that is as thick as data.
std::vector<Point> front_line(const RecordCanvas& canvas, const Theme& look, float em) {
  for (const Primitive& p : canvas.primitives())
    if (p.kind == Primitive::Kind::stroke && p.colour == look.ink && p.points.size() > 2 &&
        std::abs(p.width - look.data_width * em) < 0.01f)
      return p.points;
  return {};
}

}  // namespace

TEST_CASE(
    "the line of the front never goes back, in either mode, nor where what may be used ends before its last plan") {
  for (const char* id : {"llama3-8b-8-h100", "mixtral-8x7b-64-h100"})
    for (const bool calibrated : {false, true})
      for (const double min_free : {0.0, 0.3}) {
        CAPTURE(id);
        CAPTURE(calibrated);
        Searched s(calibrated ? calibrated_case(id) : preset_case(id));
        if (min_free > 0)  // as if less had been searched with than is drawn
          s.c.scenario.cluster.chip[engine::ChipField::hbm_bytes].value =
              s.result.front.back().memory_bytes * (1 - min_free);
        const auto canvas = shown("frontier", s, 900, 600);
        const std::vector<Point> line = front_line(*canvas, theme("dark"), 15);
        REQUIRE(line.size() > 2);
        for (std::size_t i = 1; i < line.size(); ++i) {
          CHECK(line[i].x >= line[i - 1].x);
          CHECK(line[i].y >= line[i - 1].y);  // downwards: faster
        }
      }
}

TEST_CASE("the front's limit is the capacity that evaluate counts with, and says what the chip is sold as") {
  const Searched ideal(preset_case("llama3-8b-8-h100")), calibrated(calibrated_case("llama3-8b-8-h100"));
  CHECK(shown("frontier", ideal)->find_text("80\u202fGB"));
  CHECK(shown("frontier", calibrated, 900, 600)
            ->find_text(format(*calibrated.c.report.quantities[engine::Q::hbm_capacity], engine::unit::bytes) +
                        " (sold as 80\u202fGB)"));
  StudyCache studies;
  CHECK(search::capacity_of(studies, calibrated.c.scenario) ==
        *calibrated.c.report.quantities[engine::Q::hbm_capacity]);
  for (const engine::RankedPlan& p : calibrated.result.best)
    CHECK(p.memory_bytes <= search::capacity_of(studies, calibrated.c.scenario));
}

TEST_CASE("rows of the list that are different plans differ in a choice that a column shows") {
  for (const char* id : {"llama3-8b-8-h100", "mixtral-8x7b-64-h100", "llama3-405b-16k-h100", "llama3-70b-v5p-pod"}) {
    CAPTURE(id);
    const FigureCase c = preset_case(id);
    engine::SearchRequest request;
    request.space = engine::space_of(c.scenario);
    request.limit = 60;
    const engine::SearchResult result = engine::search(c.scenario, request);
    const search::PlanTable table = search::plan_table(english(), c.scenario, request.objective, result, nullptr);
    REQUIRE(table.rows.size() == result.best.size());
    const auto choices = [&](const std::vector<std::string>& cells) {
      std::string out;
      for (std::size_t i = 0; i < cells.size(); ++i)
        if (!table.columns[i].result) out += cells[i] + "\t";
      return out;
    };
    for (std::size_t i = 0; i < table.rows.size(); ++i)
      for (std::size_t k = 0; k < i; ++k) {
        CAPTURE(choices(table.rows[i]));
        CHECK(choices(table.rows[i]) != choices(table.rows[k]));
      }
  }
}

TEST_CASE("a row that stands for others says which of them takes less memory, and how much") {
  const FigureCase c = preset_case("llama3-8b-8-h100");
  engine::SearchRequest request;
  request.space = engine::space_of(c.scenario);
  request.merge_alike = true;
  const engine::SearchResult result = engine::search(c.scenario, request);
  const search::PlanTable table = search::plan_table(english(), c.scenario, request.objective, result, nullptr);
  const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                   [](const search::PlanColumn& one) { return one.id == "alike"; });
  REQUIRE(column != table.columns.end());
  int smaller = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const engine::RankedPlan& p = result.best[i];
    if (p.alike == 0 || p.least_alike_bytes > 0.98 * p.memory_bytes) continue;
    ++smaller;
    const std::string &cell = table.rows[i][static_cast<std::size_t>(column - table.columns.begin())],
                      words = search::knobs_words(english(), p.plan, p.least_alike);
    CHECK_FALSE(words.empty());
    CHECK(cell == "+" + format_count(p.alike) + ", from " + format_fixed(p.least_alike_bytes / 1e9, 1) +
                      "\u202fGB with " + words);
    engine::Scenario with = c.scenario;
    engine::apply(with, p.least_alike);
    const engine::Report report = engine::evaluate(with);
    CHECK(*report.quantities[engine::Q::memory_total] == p.least_alike_bytes);
    CHECK(*report.quantities[engine::Q::step_time] == p.step_time_s);
  }
  CHECK(smaller > 0);
}

TEST_CASE("a row counts the launchers whose rules its plan keeps, or names the only one") {
  for (const char* id : {"mixtral-8x7b-64-h100", "llama3-70b-v5p-pod"}) {
    CAPTURE(id);
    const FigureCase c = preset_case(id);
    engine::SearchRequest request;
    request.space = engine::space_of(c.scenario);
    const engine::SearchResult result = engine::search(c.scenario, request);
    const search::PlanTable table = search::plan_table(english(), c.scenario, request.objective, result, nullptr);
    const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                     [](const search::PlanColumn& one) { return one.id == "runs_on"; });
    REQUIRE(column != table.columns.end());
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const std::string& cell = table.rows[i][static_cast<std::size_t>(column - table.columns.begin())];
      engine::Scenario with = c.scenario;
      engine::apply(with, result.best[i].plan);
      std::size_t asked = 0;
      std::vector<std::string> running;
      for (std::size_t k = 0; k < engine::kFrameworks; ++k) {
        const auto framework = static_cast<engine::Framework>(k);
        if (engine::breaks_any(framework, with, engine::RuleReads::scenario)) continue;
        ++asked;
        if (engine::broken_rule(framework, with) == nullptr) running.emplace_back(engine::framework_name(framework));
      }
      CHECK(cell == (running.empty()           ? "none"
                     : running.size() == 1     ? running.front()
                     : running.size() == asked ? "all"
                                               : std::to_string(running.size()) + " of " + std::to_string(asked)));
    }
  }
}

TEST_CASE("the error band of a row is that of its plan's own scenario") {
  FigureCase c = calibrated_case("llama3-8b-8-h100");
  // Runs near every plan of the list, and errors that tell which were taken.
  engine::Evidence evidence;
  for (const int tensor : {1, 4})
    for (int i = 0; i < 12; ++i) {
      engine::EvidencePoint& point = evidence.points.emplace_back();
      point.kind = engine::EvidenceKind::step;
      point.family = "test";
      engine::Scenario run = c.scenario;
      run.parallelism.tensor = tensor;
      point.features = engine::evidence_features(run);
      point.features.stack = i % 2 == 0 ? engine::SoftwareStack::megatron : engine::SoftwareStack::torch_fsdp;
      point.error = 0.01 * (i - 6) * tensor;
    }
  const Searched s(std::move(c));
  const search::PlanTable table =
      search::plan_table(english(), s.c.scenario, engine::Objective::step_time, s.result, &evidence);
  const auto band = std::find_if(table.columns.begin(), table.columns.end(),
                                 [](const search::PlanColumn& column) { return column.id == "band"; });
  REQUIRE(band != table.columns.end());
  int validated = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    engine::Scenario with = s.c.scenario;
    engine::apply(with, s.result.best[i].plan);
    const engine::ErrorBand own = engine::error_band(evidence.points, with, engine::EvidenceKind::step);
    const double seconds = *engine::evaluate(with).quantities[engine::Q::step_time];
    const std::string& cell = table.rows[i][static_cast<std::size_t>(band - table.columns.begin())];
    validated += own.validated();
    CHECK(cell == (own.validated()
                       ? range_text(english(), own.least(seconds), own.most(seconds), engine::unit::seconds)
                       : "not validated"));
  }
  CHECK(validated > 0);
}

TEST_CASE("plans whose marks would cover one another share one") {
  Searched s(preset_case("llama3-405b-16k-h100-8k"));
  s.result.best.resize(2);
  s.result.best[1] = s.result.best[0];
  const auto canvas = shown("frontier", s);
  CHECK(numbers_the_best(*canvas));
  CHECK_FALSE(canvas->find_text("1"));
  CHECK(canvas->audit_text() == "");
}

TEST_CASE("the first plan, the present one and the capacity stand in the front's figure") {
  const Searched s(preset_case("llama3-8b-8-h100"));
  const auto canvas = shown("frontier", s);
  CHECK(numbers_the_best(*canvas));
  CHECK(canvas->find_text("now"));
  CHECK(canvas->find_text("80\u202fGB"));
  CHECK(canvas->find_tag("frontier.plan", 0));
  CHECK(canvas->find_tag("frontier.plan", static_cast<int>(search::present_index(s.result))));
}

TEST_CASE("the arrow from the present plan ends at the first, also past another that lies in its way") {
  Searched s(preset_case("llama3-8b-8-h100"));
  // Far apart, with the second half way between.
  std::vector<engine::RankedPlan>& best = s.result.best;
  const engine::RankedPlan& present = s.result.present;
  REQUIRE(best.size() >= 2);
  best.resize(2);
  best[0].memory_bytes = present.memory_bytes / 4;
  for (double engine::RankedPlan::*value : {&engine::RankedPlan::memory_bytes, &engine::RankedPlan::step_time_s})
    best[1].*value = (best[0].*value + present.*value) / 2;
  const auto canvas = shown("frontier", s, 900, 500);
  const auto arrow =
      std::find_if(canvas->marks().begin(), canvas->marks().end(), [](const Mark& mark) { return mark.arrow; });
  REQUIRE(arrow != canvas->marks().end());
  const auto centre = [&](int plan) { return canvas->find_tag("frontier.plan", plan)->rect.centre(); };
  CHECK(distance(arrow->points.back(), centre(0)) < 20);
  CHECK(distance(arrow->points.back(), centre(1)) > 40);
  CHECK(canvas->audit_text() == "");
}

TEST_CASE("the present plan is named wherever it lies in the front's figure") {
  Searched s(preset_case("llama3-8b-8-h100"));
  const double fastest = s.result.best.front().step_time_s, capacity = 80e9;
  for (const double slower : {1.05, 1.3, 1.8, 2.5})
    for (const double share : {0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95}) {
      s.result.present.step_time_s = slower * fastest;
      s.result.present.memory_bytes = share * capacity;
      for (const float width : {420.0f, 560.0f}) {
        CAPTURE(slower);
        CAPTURE(share);
        CAPTURE(width);
        const auto canvas = shown("frontier", s, width, 360);
        CHECK(canvas->find_text("now"));
        CHECK(canvas->audit_text() == "");
      }
    }
}

TEST_CASE("plans that take little of a chip fill the front's figure, which says where the chip ends") {
  const auto right_of = [](const RecordCanvas& canvas, const Searched& s) {
    float right = 0;
    for (std::size_t i = 0; i < search::plan_count(s.result); ++i)
      if (const TagRegion* tag = canvas.find_tag("frontier.plan", static_cast<int>(i)))
        right = std::max(right, tag->rect.centre().x);
    return right;
  };
  const Searched tiny(preset_case("textbook-pipeline-4x4")), large(preset_case("llama3-8b-8-h100"));
  const auto tiny_canvas = shown("frontier", tiny, 900, 500), large_canvas = shown("frontier", large, 900, 500);
  CHECK(right_of(*tiny_canvas, tiny) > 450);
  const auto says = [](const RecordCanvas& canvas) {
    return std::any_of(canvas.texts().begin(), canvas.texts().end(), [](const TextRun& run) {
      return run.text.find("the limit, 80\u202fGB, lies far to the right") != std::string::npos;
    });
  };
  CHECK(says(*tiny_canvas));
  CHECK_FALSE(says(*large_canvas));
}

TEST_CASE("a plan pointed at says its mesh, its time against the best and its memory") {
  const Searched s(preset_case("llama3-8b-8-h100"));
  const auto canvas = shown("frontier", s);
  const TagRegion* tag = canvas->find_tag("frontier.plan", 0);
  REQUIRE(tag);
  CHECK(tag->readout.title == search::plan_words(english(), s.result.best[0].plan));
  REQUIRE(tag->readout.rows.size() >= 3);
  CHECK(tag->readout.rows[0].second.find("0.0\u202f% against the best") != std::string::npos);
}

TEST_CASE("every plan of the best is a line with a place on each axis that can be pointed at") {
  const Searched s(preset_case("llama3-8b-8-h100"));
  const auto canvas = shown("parallel-coordinates", s, 900, 500);
  int places = 0;
  for (const TagRegion& tag : canvas->tags()) places += tag.id == "parallel.plan" && tag.index == 0;
  CHECK(places == 9);  // data, fsdp, tensor, pipeline, context, microbatch, layers keep, time, memory
  for (const char* name : {"data", "fsdp", "tensor", "pipeline", "context", "microbatch", "step time", "HBM"}) {
    CAPTURE(name);
    CHECK(canvas->find_text(name));
  }
}

TEST_CASE("in a column every axis of plans is a row, and the best and the present plan have their values on each") {
  const Theme print = theme("print");
  for (const char* preset : {"llama3-8b-8-h100", "deepseek-v3-2048-h800"}) {
    CAPTURE(preset);
    const Searched s(preset_case(preset));
    const FigureInput input = s.input(print);
    const FigureRow& row = *find_figure("parallel-coordinates");
    FigureView paper;
    paper.print = true;
    paper.head = {false, false, false};
    const float width = 238;
    RecordCanvas page(fonts(), kPrintEm, {0, 0, width, 1000});
    const float height = row.own_height(page, width, input, paper);
    RecordCanvas canvas(fonts(), kPrintEm, {0, 0, width, height});
    row.draw(canvas, canvas.bounds(), input, paper);
    CHECK(canvas.audit_text() == "");
    float last = 0;
    std::vector<const char*> names{"data", "fsdp", "tensor", "pipeline", "context", "microbatch", "layers keep"};
    if (s.c.scenario.model.is_moe()) names.push_back("expert");
    for (const char* name : names) {
      CAPTURE(name);
      const TextRun* run = canvas.find_text(name);
      REQUIRE(run);
      last = std::max(last, run->anchor.y);
    }
    REQUIRE(canvas.find_text("step time"));
    CHECK(canvas.find_text("step time")->anchor.y > last);  // under the choices that lead to it
    const auto bold = [&](const std::string& text) {
      return std::any_of(canvas.texts().begin(), canvas.texts().end(),
                         [&](const TextRun& run) { return run.text == text && run.style.weight == Weight::bold; });
    };
    const engine::RankedPlan& best = s.result.best.front();
    CHECK(bold(format_duration(best.step_time_s)));
    CHECK(bold(format_duration(s.result.present.step_time_s)));
    CHECK(bold(format_count(best.plan.tensor)));
    CHECK(bold(format_count(s.result.present.plan.fsdp)));
    CHECK(row.own_height(page, 510, input, paper) == 0);  // wide enough for axes side by side
  }
}

TEST_CASE("only a model with experts has an axis of them") {
  CHECK_FALSE(
      shown("parallel-coordinates", Searched(preset_case("llama3-8b-8-h100")), 1200, 500)->find_text("expert"));
  CHECK(shown("parallel-coordinates", Searched(preset_case("mixtral-8x7b-64-h100")), 1200, 500)->find_text("expert"));
}

TEST_CASE("where no plan fits the figures say so and still draw what was priced") {
  const double least = Searched(preset_case("llama3-8b-8-h100")).result.front.front().memory_bytes;
  const Searched s(preset_case("llama3-8b-8-h100"), 300, 0.99 * least);
  REQUIRE(s.result.best.empty());
  REQUIRE(!s.result.sample.empty());
  for (const std::string_view name : kSearchFigures) {
    CAPTURE(name);
    CHECK(find_figure(name)->head(s.input(theme("dark")), {}).takeaway.starts_with("none of "));
    CHECK(shown(name, s)->audit_text() == "");
  }
}

TEST_CASE("before the first result the figures say that plans are being searched") {
  const Searched s(preset_case("llama3-8b-8-h100"), 0);
  const Theme dark = theme("dark");
  SearchSeen nothing;
  FigureInput input = s.input(dark);
  input.search = &nothing;
  const auto says = [&](const char* words) {
    for (const std::string_view name : kSearchFigures) {
      CAPTURE(name);
      RecordCanvas canvas(fonts(), 15, {0, 0, 560, 400});
      find_figure(name)->draw(canvas, canvas.bounds(), input, {});
      CHECK(canvas.find_text(words));
    }
  };
  says("Plans are being searched.");
  nothing.progress = 0.25;
  says("Plans are being searched: 25\u202f%");
  nothing.stopped = true;
  says("The search was stopped.");
}

TEST_CASE(
    "the tables of a search have as many fields in every line as in the first, and a line for the best and the "
    "present plan") {
  const Searched s(preset_case("llama3-8b-8-h100"));
  for (const std::string_view name : kSearchFigures) {
    const std::string data = find_figure(name)->data(s.input(theme("dark")), {});
    CAPTURE(name);
    check_even_lines(data);
    CHECK(data.find("\nbest\t") != std::string::npos);
    CHECK(data.find("\npresent\t") != std::string::npos);
  }
}

TEST_CASE("without a result given a figure searches the whole space itself") {
  const FigureCase c = preset_case("llama3-8b-8-h100");
  const Theme dark = theme("dark");
  FigureInput input = input_of(c, dark);
  input.search = nullptr;
  const search::TrainingShown found = search::shown_of(input);
  REQUIRE(found.fits());
  engine::SearchRequest request;
  request.space = engine::space_of(c.scenario);
  request.merge_alike = true;
  CHECK(found.best().plan == engine::search(c.scenario, request).best.front().plan);
}

TEST_CASE("a plan of the cloud that does not fit says which stage is fullest and what takes most there") {
  const Searched s(preset_case("llama3-8b-8-h100"));
  const Theme dark = theme("dark");
  const search::TrainingShown shown = search::shown_of(s.input(dark));
  int over = 0;
  for (std::size_t i = 0; i < s.result.sample.size(); ++i) {
    const search::AnyPlan plan = search::plan_at(s.result, search::sample_index(s.result, i));
    if (plan.fits) continue;
    const Readout r = search::readout_of(s.input(dark), shown, plan, false);
    const engine::Shortage shortage = engine::shortage_of(s.c.scenario, *plan.plan);
    CHECK(r.rows[2].second.starts_with("stage " + std::to_string(shortage.device) + ", most is "));
    ++over;
  }
  CHECK(over > 0);
}

TEST_CASE(
    "beside the best plans and the present one the lines of all others stay faint, however many share a piece") {
  const Searched s(preset_case("llama3-405b-16k-h100-8k"));
  for (const char* look : {"print", "dark"}) {
    CAPTURE(look);
    const Theme shown_in = theme(look);
    RecordCanvas canvas(fonts(), 15, {0, 0, 900, 500});
    find_figure("parallel-coordinates")->draw(canvas, canvas.bounds(), s.input(shown_in), {});
    std::set<std::array<float, 4>> faint;
    for (const Primitive& p : canvas.primitives())
      if (p.group == "others" && p.kind == Primitive::Kind::stroke) {
        CHECK(p.colour.a <= 52);  // a fifth of ink
        const Point a = p.points.front(), b = p.points.back();
        CHECK(faint.insert({a.x, a.y, b.x, b.y}).second);  // a piece is drawn once
      }
    CHECK(faint.size() > 100);
    CHECK(canvas.find_text("best"));
    CHECK(canvas.find_text("now"));
  }
}

TEST_CASE("an MFU above 100 % is marked in the list, and the mark explained under it") {
  Searched s(preset_case("llama3-8b-8-h100"));
  const auto words = [&](double mfu) {
    s.result.best.front().mfu = mfu;
    const search::PlanTable table =
        search::plan_table(english(), s.c.scenario, engine::Objective::step_time, s.result, nullptr);
    return search::above_one_words(english(), table.rows);
  };
  for (engine::RankedPlan& plan : s.result.best) plan.mfu = 0.9;
  CHECK(words(0.998).empty());
  CHECK(words(1.00001).empty());  // as written it is not above
  CHECK(words(1.03) == english().text("search.above_one"));
}
