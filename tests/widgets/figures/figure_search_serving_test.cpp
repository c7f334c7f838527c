// The figures of a search of plans that serve: what breaks a promise, the front, each plan a line over its choices,
// the map of meshes.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "engine/evaluate/evaluate.h"
#include "engine/search/serving_search.h"
#include "tests/widgets/figures/figure_search_fixture.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/search/figure_search_parts.h"
#include "widgets/figures/search/figure_serving_search.h"
#include "widgets/figures/search/plan_table.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {

// With a promise.
struct Served : SearchCase {
  engine::ServingSearchResult result;
  explicit Served(FigureCase from, double most_token_s = 0) : SearchCase(std::move(from)) {
    c.scenario.workload.slo.time_per_output_token_s = most_token_s;
    engine::ServingRequest request = engine::serving_request_of(c.scenario);
    request.sample = 300;
    request.merge_alike = true;
    result = engine::search_serving(c.scenario, request);
    seen.serving = &result;
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
  constexpr std::array<std::string_view, 3> kServingFigures{"frontier", "parallel-coordinates", "serving-map"};
  for (const char* preset : {"llama3-70b-serving-8-h100", "deepseek-v3-h800-wide-expert", "llama2-13b-16-v5e"})
    for (const double promise : {0.0, 0.009, 0.03}) {
      CAPTURE(preset);
      check_clean(Served(preset_case(preset), promise), kServingFigures);
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

TEST_CASE("where plans that serve use several numbers of chips, figures and list tell what all chips generate") {
  FigureCase c = preset_case("llama3-70b-serving-8-h100");
  c.scenario.cluster.nodes = 3;  // 24 chips, of which the plan has 8
  c.report = engine::evaluate(c.scenario);
  const Served s(std::move(c));
  REQUIRE(engine::has_several_chip_counts(s.result));
  const Theme dark = theme("dark");
  const engine::RankedDecoding& best = s.result.best.front();
  CHECK(engine::decoding_chips(best.plan) == 24);
  const std::string told = english().amount(best.tokens_per_s, engine::unit::tokens_per_s);
  CHECK(find_figure("frontier")->head(s.input(dark), {}).brief.starts_with("best " + told + " at "));
  for (const char* figure : {"frontier", "serving-map", "parallel-coordinates"}) {
    CAPTURE(figure);
    CHECK(find_figure(figure)->data(s.input(dark), {}).find("\ttokens per s\t") != std::string::npos);
  }
  const search::PlanTable table =
      search::plan_table(english(), s.c.scenario, engine::ServingObjective::throughput, s.result, nullptr);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].id == "chips") CHECK(table.present[i] == "8");
    if (table.columns[i].id == "chips") CHECK(table.rows.front()[i] == "24");
    // A third of the chips, and no better per chip.
    if (table.columns[i].id == "against") CHECK(table.present[i].starts_with("\u2212"));
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
        CHECK(find_figure("serving-map")
                  ->head(input, {})
                  .takeaway.ends_with(search::decoding_words(english(), first.plan)));
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
    const auto plan = find_figure("serving-map")->plans.plan(s.input(dark), tag.index);
    if (plan) {
      CHECK(tag.readout.title == search::decoding_words(english(), std::get<engine::DecodingPlan>(*plan)));
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
  for (const std::string_view name : kSearchFigures) {
    const std::string data = find_figure(name)->data(s.input(theme("dark")), {});
    check_even_lines(data);
    CHECK(data.find("\nbest\t") != std::string::npos);
    CHECK(data.find("\tmemory\n") != std::string::npos);
    CHECK(data.find("\ttoken_time\n") != std::string::npos);
  }
}
