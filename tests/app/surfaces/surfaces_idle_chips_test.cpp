// A plan that leaves chips idle is one thing on every surface: what a search finds is what evaluate says of it, with how
// many chips it uses, and so are the list, the figures of a search, the comparison of clusters and their JSON. On clusters
// of awkward numbers of chips, on a torus and on switches, in both modes, training and serving.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/io/export/clusters_json.h"
#include "engine/io/export/search_json.h"
#include "engine/search/cluster_choice.h"
#include "engine/search/search.h"
#include "engine/search/serving_search.h"
#include "tests/app/surfaces/headline_definitions.h"
#include "tests/engine/fixtures.h"
#include "tests/widgets/figures/figure_fixture.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/search/plan_table.h"

using namespace roofscape;
using namespace roofscape::engine;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using tests::Columns;

namespace {

// A preset on an awkward number of chips, at most so many times a node, or a plane of a torus; of a torus also on
// slices, of which plans take some.
std::vector<Scenario> awkward(std::initializer_list<const char*> presets) {
  std::vector<Scenario> out;
  for (const char* preset : presets)
    for (const Mode mode : {Mode::ideal, Mode::calibrated})
      for (const int times : {3, 5, 9}) {
        Scenario& s = out.emplace_back(tests::preset(preset));
        s.assumptions.mode = mode;
        if (s.cluster.chip.interconnect == Interconnect::torus)
          s.cluster.slice = {4, 4, times}, s.cluster.slices = 1;
        else
          s.cluster.nodes = times;
        if (s.cluster.chip.interconnect != Interconnect::torus) continue;
        Scenario slices = s;
        slices.cluster.slice = {4, 4, 4}, slices.cluster.slices = times;
        out.push_back(std::move(slices));
      }
  return out;
}

template <class Ranked>
Report report_of(Scenario s, const Ranked& one) {
  apply(s, one.plan);
  return evaluate(s);
}
double number(const Report& r, Q q) { return r.quantities.value_or(q, 0); }

struct Searched {
  FigureCase c;
  SearchSeen seen;
  explicit Searched(const Scenario& s) : c(evaluated(s)) { seen.scenario = &c.scenario; }
  Columns table(const char* figure) const {
    const Theme dark = testing::theme("dark");
    FigureInput input = input_of(c, dark);
    input.search = &seen;
    return Columns(find_figure(figure)->data(input, {}));
  }
};

// The column of how many chips are used is there exactly where some plan leaves chips idle, and says what evaluate does.
template <class Result, class Objective>
int check_chips(const Scenario& s, Objective objective, const Result& found) {
  const search::PlanTable table = search::plan_table(english(), s, objective, found, nullptr);
  const auto column = std::ranges::find(table.columns, std::string_view("chips"), &search::PlanColumn::id);
  const auto all = static_cast<double>(chip_count(s.cluster));
  int idle = 0;
  for (std::size_t i = 0; i < found.best.size(); ++i) {
    const double used = number(report_of(s, found.best[i]), Q::chips_used);
    idle += used < all;
    if (column != table.columns.end())
      CHECK(table.rows[i][static_cast<std::size_t>(column - table.columns.begin())] == format_count(used));
  }
  if (idle > 0) CHECK(column != table.columns.end());
  return idle;
}

// What is said of the scenario's own cluster.
template <class Ranked>
void check_cluster(const Scenario& s, const Ranked& best) {
  const ClusterAnswer answer = best_on(s, {"here", s.cluster}, ClusterObjective::cost);
  REQUIRE(answer.runs);
  CHECK(answer.used_chips == number(report_of(s, best), Q::chips_used));
  const auto json = nlohmann::json::parse(io::clusters_json(std::vector{answer}));
  CHECK(json[0]["used_chips"] == answer.used_chips);
  CHECK(json[0]["chips"] == chip_count(s.cluster));
}

}  // namespace

TEST_CASE("a training plan on awkward chips has the chips, time and MFU of evaluate on every surface of a search") {
  int idle = 0, mixed = 0, on_some_slices = 0;
  for (const Scenario& s : awkward({"llama3-8b-8-h100", "llama3-70b-v5p-pod"})) {
    CAPTURE(s.name);
    CAPTURE(chip_count(s.cluster));
    SearchRequest request;
    request.space = space_of(s);
    request.cells = true;
    const SearchResult found = engine::search(s, request);
    if (found.best.empty()) continue;
    idle += check_chips(s, request.objective, found);
    check_cluster(s, found.best.front());
    CHECK(nlohmann::json::parse(io::search_json(s, request.objective, found, {}, nullptr))["chip_counts"] ==
          found.chip_counts);
    Searched shown(s);
    shown.seen.result = &found;
    const Columns map = shown.table("mesh-map");
    const bool of_all = map.numbers.contains("MFU of all chips");
    mixed += of_all;
    for (const SearchCell& cell : found.cells) {
      if (!cell.best) continue;
      const Report said = report_of(s, *cell.best);
      on_some_slices +=
          number(said, Q::chips_used) <= static_cast<double>(slice_chips(s.cluster) * (s.cluster.slices - 1));
      CHECK(map.has("step s", number(said, Q::step_time)));
      CHECK(map.has("MFU", number(said, Q::mfu)));
      if (of_all)
        CHECK(map.has("MFU of all chips", number(said, Q::mfu) * number(said, Q::chips_used) /
                                              static_cast<double>(chip_count(s.cluster))));
    }
  }
  CHECK(idle > 10);
  CHECK(mixed > 3);
  CHECK(on_some_slices > 10);
}

TEST_CASE("a serving plan on awkward chips has the chips and rates of evaluate on every surface of a search") {
  int idle = 0, mixed = 0;
  for (const Scenario& s : awkward({"llama3-70b-serving-8-h100", "llama3-70b-16-v5e"})) {
    CAPTURE(s.name);
    CAPTURE(chip_count(s.cluster));
    ServingRequest request = serving_request_of(s);
    request.limit = 500;  // those on fewer chips come late
    const ServingSearchResult found = search_serving(s, request);
    if (found.best.empty()) continue;
    idle += check_chips(s, request.objective, found);
    check_cluster(s, found.best.front());
    const auto json = nlohmann::json::parse(io::serving_search_json(s, found, {}));
    CHECK(json["chip_counts"] == found.chip_counts);
    Searched shown(s);
    shown.seen.serving = &found;
    const bool together = has_several_chip_counts(found);
    mixed += together;
    for (const char* figure : {"frontier", "parallel-coordinates"}) {
      const Columns table = shown.table(figure);
      CHECK(table.numbers.contains("tokens per s") == together);
      for (std::size_t i = 0; i < found.best.size(); ++i) {
        const Report said = report_of(s, found.best[i]);
        CHECK(table.has("tokens per s and chip", number(said, Q::sustained_tokens_per_chip)));
        if (together) CHECK(table.has("tokens per s", number(said, Q::sustained_tokens)));
        CHECK(json["best"][i]["sustained_tokens_per_s"] == number(said, Q::sustained_tokens));
      }
    }
    const Columns map = shown.table("serving-map");
    for (const ServingCell& cell : found.cells)
      if (cell.best && together)
        CHECK(map.has("tokens per s", number(report_of(s, *cell.best), Q::sustained_tokens)));
  }
  CHECK(idle > 10);
  CHECK(mixed > 3);
}
