// The figures of a search: the front, the cloud, the capacity and the present plan; each plan a line over its
// choices.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "engine/evaluate.h"
#include "engine/search/search.h"
#include "engine/search/serving_search.h"
#include "engine/studies/evidence.h"
#include "tests/widgets/golden.h"
#include "tests/widgets/preset_fixture.h"
#include "widgets/evidence_text.h"
#include "widgets/figure_search_parts.h"
#include "widgets/figure_serving_map.h"
#include "widgets/figure_serving_search.h"
#include "widgets/number_format.h"
#include "widgets/plan_table.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {

constexpr std::array<std::string_view, 2> kNames{"frontier", "parallel-coordinates"};

// A small space, searched once a scenario, in the place of what a window found.
struct Searched {
  FigureCase c;
  engine::SearchResult result;
  SearchSeen seen;
  explicit Searched(FigureCase from, std::size_t sample = 300, double capacity_bytes = 0) : c(std::move(from)) {
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
    seen.scenario = &c.scenario;
    seen.result = &result;
  }
  Searched(const Searched&) = delete;
  Searched& operator=(const Searched&) = delete;
  FigureInput input(const Theme& theme, const TextTable& texts = english()) const {
    FigureInput in = input_of(c, theme, texts);
    in.search = &seen;
    return in;
  }
};

std::unique_ptr<RecordCanvas> shown(std::string_view figure, const Searched& s, float width = 560, float height = 400,
                                    const FigureView& view = {}) {
  const Theme dark = theme("dark");
  auto canvas = std::make_unique<RecordCanvas>(fonts(), 15.0f, Rect{0, 0, width, height});
  find_figure(figure)->draw(*canvas, canvas->bounds(), s.input(dark), view);
  return canvas;
}

// Small, large, on paper, with words twice as long: no text cut or over another, and none without words.
template <class Case>
void check_clean(const Case& s, std::span<const std::string_view> names) {
  for (const std::string_view name : names)
    for (const char* look : {"dark", "print"})
      for (const Rect& size :
           {Rect{0, 0, 320, 240}, Rect{0, 0, 480, 320}, Rect{0, 0, 900, 500}, Rect{0, 0, 3840, 2160}})
        for (const bool longer : {false, true}) {
          if (longer && size.w < 480) continue;
          CAPTURE(name);
          CAPTURE(look);
          CAPTURE(size.w);
          FigureView view;
          view.print = look == std::string("print");
          const Theme colours = theme(look);
          RecordCanvas canvas(fonts(), view.print ? 9.0f : 15.0f, size);
          find_figure(name)->draw(canvas, canvas.bounds(), s.input(colours, longer ? long_words() : english()), view);
          CHECK(canvas.audit_text() == "");
          for (const TextRun& run : canvas.texts()) CHECK_FALSE(run.text.starts_with("figure."));
        }
}

}  // namespace

TEST_CASE("figures of a search are clean at any size and with long words") {
  for (const char* preset : {"llama3-405b-16k-h100-8k", "deepseek-v3-2048-h800", "llama3-8b-8-h100"}) {
    CAPTURE(preset);
    check_clean(Searched(preset_case(preset)), kNames);
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
  const auto says = [](const auto& wish, std::string_view why) {
    FigureCase c = preset_case("llama3-8b-8-h100");
    engine::SearchRequest request;
    request.space = engine::space_of(c.scenario);
    wish(request.space);
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

FigureCase calibrated_case(const char* id) {
  FigureCase c = preset_case(id);
  c.scenario.assumptions.mode = engine::Mode::calibrated;
  c.report = engine::evaluate(c.scenario);
  return c;
}

// The steps of the front: the only line in ink that is as thick as data.
std::vector<Point> front_line(const RecordCanvas& canvas, const Theme& look, float em) {
  for (const Primitive& p : canvas.primitives())
    if (p.kind == Primitive::Kind::stroke && p.colour == look.ink && p.points.size() > 2 &&
        std::abs(p.width - look.data_width * em) < 0.01f)
      return p.points;
  return {};
}

}  // namespace

TEST_CASE("the line of the front never goes back, in either mode, nor where what may be used ends before its last plan") {
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
  CHECK(shown("frontier", calibrated, 900, 600)->find_text(
      format(*calibrated.c.report.quantities[engine::Q::hbm_capacity], engine::unit::bytes) +
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
    const search::PlanTable table =
        search::plan_table(english(), c.scenario, request.objective, result, nullptr);
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

TEST_CASE("the error band of a row is that of its plan's own scenario") {
  FigureCase c = calibrated_case("llama3-8b-8-h100");
  // Runs near every plan of the list, and errors that tell which were taken.
  engine::Evidence evidence;
  for (const int tensor : {1, 4})
    for (int i = 0; i < 6; ++i) {
      engine::EvidencePoint& point = evidence.points.emplace_back();
      point.kind = engine::EvidenceKind::step;
      point.family = "test";
      engine::Scenario run = c.scenario;
      run.parallelism.tensor = tensor;
      point.features = engine::evidence_features(run);
      point.error = 0.01 * (i - 3) * tensor;
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

namespace {

// The number of the best plan, alone or with those that its mark covers.
bool numbers_the_best(const RecordCanvas& canvas) {
  return std::any_of(canvas.texts().begin(), canvas.texts().end(), [](const TextRun& t) {
    return t.text == "1" || t.text.starts_with("1, ") || t.text.starts_with("1\u2013");
  });
}

}  // namespace

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
  for (const std::string_view name : kNames) {
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
    for (const std::string_view name : kNames) {
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
  for (const std::string_view name : kNames) {
    const std::string data = find_figure(name)->data(s.input(theme("dark")), {});
    CAPTURE(name);
    std::istringstream lines(data);
    std::string line;
    std::ptrdiff_t fields = -1;
    while (std::getline(lines, line)) {
      const auto n = std::count(line.begin(), line.end(), '\t');
      if (fields < 0) fields = n;
      CHECK(n == fields);
    }
    CHECK(data.find("\nbest\t") != std::string::npos);
    CHECK(data.find("\npresent\t") != std::string::npos);
  }
}

TEST_CASE("without a result given a figure searches the whole space itself") {
  const FigureCase c = preset_case("llama3-8b-8-h100");
  const Theme dark = theme("dark");
  FigureInput input = input_of(c, dark);
  input.search = nullptr;
  const search::Shown found = search::shown_of(input);
  REQUIRE(found.fits());
  engine::SearchRequest request;
  request.space = engine::space_of(c.scenario);
  request.merge_alike = true;
  CHECK(found.best().plan == engine::search(c.scenario, request).best.front().plan);
}

namespace {

// The same for plans that serve, with a promise.
struct Served {
  FigureCase c;
  engine::ServingSearchResult result;
  SearchSeen seen;
  explicit Served(FigureCase from, double most_token_s = 0) : c(std::move(from)) {
    c.scenario.workload.slo.time_per_output_token_s = most_token_s;
    engine::ServingRequest request = engine::serving_request_of(c.scenario);
    request.sample = 300;
    request.merge_alike = true;
    result = engine::search_serving(c.scenario, request);
    seen.scenario = &c.scenario;
    seen.serving = &result;
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  FigureInput input(const Theme& theme, const TextTable& texts = english()) const {
    FigureInput in = input_of(c, theme, texts);
    in.search = &seen;
    return in;
  }
};

}  // namespace

TEST_CASE("a present plan that breaks a promise or a limit is not compared with the best, and says which") {
  const auto says = [](double token_s, double ttft_s, const char* most_tensor, std::string_view why) {
    FigureCase c = preset_case("llama3-70b-serving-8-h100");
    if (ttft_s > 0) c.scenario.parallelism.data = 2, c.scenario.parallelism.tensor = 4;  // slow prefill
    engine::ServingRequest request = engine::serving_request_of(c.scenario);
    request.most_token_s = token_s, request.most_ttft_s = ttft_s;
    if (most_tensor != nullptr)
      REQUIRE_FALSE(engine::constrain(request, "tensor", most_tensor, engine::ConstraintKind::at_most));
    const auto result = engine::search_serving(c.scenario, request);
    SearchSeen seen{.scenario = &c.scenario, .serving = &result};
    const Theme dark = theme("dark");
    FigureInput input = input_of(c, dark, english());
    input.search = &seen;
    const FigureHead head = find_figure("frontier")->head(input, {});
    CHECK(head.takeaway == head.brief + "; the present plan does not count: " + std::string(why));
    const search::PlanTable table = search::plan_table(english(), c.scenario, request.objective, result, nullptr);
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (table.columns[i].id == "against") CHECK(table.present[i] == kNoValue);
    CHECK(search::decoding_readout(input, search::serving_shown_of(input), result.present, true)
              .rows[0]
              .second.find("against the best") == std::string::npos);
  };
  says(0.009, 0, nullptr, "later per token than promised");
  says(0, 0.03, nullptr, "later to the first token than promised");
  says(0, 0, "2", "outside of the limits (tensor: at most 2)");
}

TEST_CASE("figures of plans that serve are clean at any size and with long words") {
  constexpr std::array<std::string_view, 3> kServingNames{"frontier", "parallel-coordinates", "serving-map"};
  for (const char* preset : {"llama3-70b-serving-8-h100", "deepseek-v3-h800-wide-expert", "llama2-13b-16-v5e"})
    for (const double promise : {0.0, 0.009, 0.03}) {
      CAPTURE(preset);
      check_clean(Served(preset_case(preset), promise), kServingNames);
    }
}

TEST_CASE("a plan that serves says its batch, its throughput against the best and what of it breaks a promise") {
  const Served s(preset_case("llama3-70b-serving-8-h100"), 0.01);
  const Theme dark = theme("dark");
  RecordCanvas canvas(fonts(), 15, {0, 0, 560, 400});
  find_figure("frontier")->draw(canvas, canvas.bounds(), s.input(dark), {});
  const TagRegion* tag = canvas.find_tag("frontier.plan", 0);
  REQUIRE(tag);
  CHECK(tag->readout.title == search::decoding_words(english(), s.result.best[0].plan));
  CHECK(tag->readout.rows[0].second.ends_with("0.0\u202f% against the best"));
  const search::ServingShown shown = search::serving_shown_of(s.input(dark));
  int slow = 0;
  for (const engine::RankedDecoding& one : s.result.sample) {
    const bool breaks = one.rejected == engine::ServingRejection::token_time;
    CHECK(search::decoding_readout(s.input(dark), shown, one, false)
              .rows[1]
              .second.ends_with("promised 10.0\u202fms") == breaks);
    slow += breaks;
  }
  CHECK(slow > 0);
}

TEST_CASE("the best plan has its number though the promise it just keeps is named there") {
  const double limit = 0.01;
  const Served s(preset_case("llama3-70b-serving-8-h100"), limit);
  REQUIRE(s.result.best[0].token_s > 0.98 * limit);
  for (const Rect& size : {Rect{0, 0, 425, 298}, Rect{0, 0, 560, 400}, Rect{0, 0, 900, 500}}) {
    const Theme dark = theme("dark");
    RecordCanvas canvas(fonts(), 12, size);
    find_figure("frontier")->draw(canvas, canvas.bounds(), s.input(dark), {});
    CHECK(numbers_the_best(canvas));
  }
}

TEST_CASE("every serving plan of the best is a line over mesh, batch and what it comes to") {
  const Served s(preset_case("llama3-70b-serving-8-h100"));
  const Theme dark = theme("dark");
  RecordCanvas canvas(fonts(), 15, {0, 0, 900, 500});
  find_figure("parallel-coordinates")->draw(canvas, canvas.bounds(), s.input(dark), {});
  int places = 0;
  for (const TagRegion& tag : canvas.tags()) places += tag.id == "parallel.plan" && tag.index == 0;
  CHECK(places == 8);  // data, tensor, pipeline, batch, HBM, TTFT, time per token, tokens/s per chip
}

TEST_CASE("the best cell of the serving map is the first plan of the list, whatever is ranked by") {
  for (const char* id : {"llama3-70b-serving-8-h100", "deepseek-v3-h800-wide-expert"})
    for (const bool calibrated : {false, true})
      for (const auto objective : {engine::ServingObjective::throughput, engine::ServingObjective::token_time,
                                   engine::ServingObjective::memory}) {
        CAPTURE(id);
        CAPTURE(calibrated);
        FigureCase c = calibrated ? calibrated_case(id) : preset_case(id);
        engine::ServingRequest request = engine::serving_request_of(c.scenario);
        request.objective = objective;
        request.merge_alike = true;
        const engine::ServingSearchResult found = engine::search_serving(c.scenario, request);
        REQUIRE_FALSE(found.best.empty());
        const engine::RankedDecoding& first = found.best.front();
        const auto cell = std::find_if(found.cells.begin(), found.cells.end(), [&](const engine::ServingCell& one) {
          return one.tensor == first.plan.tensor && one.pipeline == first.plan.pipeline;
        });
        REQUIRE(cell != found.cells.end());
        REQUIRE(cell->best);
        CHECK(cell->best->plan == first.plan);
        for (const engine::ServingCell& one : found.cells)
          if (one.best && objective == engine::ServingObjective::token_time)
            CHECK(one.best->token_s >= first.token_s);
        SearchSeen seen;
        seen.scenario = &c.scenario;
        seen.serving = &found;
        const Theme dark = theme("dark");
        FigureInput input = input_of(c, dark);
        input.search = &seen;
        CHECK(find_figure("serving-map")->head(input, {}).takeaway.ends_with(
            search::decoding_words(english(), first.plan)));
      }
}

TEST_CASE("a cell of the serving map says the batch that is best there, one without a plan why") {
  const Served s(preset_case("deepseek-v3-h800-wide-expert"), 0.004);
  const Theme dark = theme("dark");
  RecordCanvas canvas(fonts(), 15, {0, 0, 900, 600});
  find_figure("serving-map")->draw(canvas, canvas.bounds(), s.input(dark), {});
  int with = 0, without = 0;
  for (const TagRegion& tag : canvas.tags()) {
    if (tag.id != "serving.cell") continue;
    const auto plan = serving_map_plan(s.input(dark), tag.index);
    if (plan) {
      CHECK(tag.readout.title == search::decoding_words(english(), *plan));
      ++with;
    } else if (!tag.readout.rows.empty()) {
      CHECK(tag.readout.rows[0].first == "not taken");
      ++without;
    }
  }
  CHECK(with > 0);
  CHECK(without > 0);
}

TEST_CASE(
    "tables of plans that serve have as many fields in every line as in the first, and say why a plan is not taken") {
  const Served s(preset_case("llama3-70b-serving-8-h100"), 0.01);
  for (const std::string_view name : kNames) {
    const std::string data = find_figure(name)->data(s.input(theme("dark")), {});
    std::istringstream lines(data);
    std::string line;
    std::ptrdiff_t fields = -1;
    while (std::getline(lines, line)) {
      const auto n = std::count(line.begin(), line.end(), '\t');
      if (fields < 0) fields = n;
      CHECK(n == fields);
    }
    CHECK(data.find("\nbest\t") != std::string::npos);
    CHECK(data.find("\tmemory\n") != std::string::npos);
    CHECK(data.find("\ttoken_time\n") != std::string::npos);
  }
}

TEST_CASE("a plan of the cloud that does not fit says which stage is fullest and what takes most there") {
  const Searched s(preset_case("llama3-8b-8-h100"));
  const Theme dark = theme("dark");
  const search::Shown shown = search::shown_of(s.input(dark));
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

TEST_CASE("the figures of a search are as their goldens") {
  const Searched s(preset_case("llama3-8b-8-h100"), 40);
  FigureView view;
  view.print = true;
  const Theme print = theme("print");
  for (const auto& [name, golden] :
       {std::pair{"frontier", "figure_frontier"}, {"parallel-coordinates", "figure_parallel_coordinates"}}) {
    RecordCanvas canvas(fonts(), 9, {0, 0, 425, 298});
    find_figure(name)->draw(canvas, canvas.bounds(), s.input(print), view);
    check_golden(golden, canvas);
  }
}
