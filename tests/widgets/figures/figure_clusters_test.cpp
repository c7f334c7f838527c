// The figure of clusters: a mark for each answer where its numbers are, the front, the limits, and what is said where
// there is nothing.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/search/cluster_choice.h"
#include "tests/widgets/figures/figure_search_fixture.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/search/figure_clusters_parts.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using engine::ClusterAnswer;
using engine::ClusterRequest;
using engine::Q;

namespace {

constexpr std::array<std::string_view, 1> kFigure{"clusters"};

// What was answered for a scenario on a quarter to four times its chips.
struct Answered : SearchCase {
  std::vector<ClusterAnswer> answers;
  ClusterRequest request;
  explicit Answered(FigureCase from, const ClusterRequest& asked = {}) : SearchCase(std::move(from)), request(asked) {
    answers = engine::choose_cluster(c.scenario, engine::clusters_around(c.scenario.cluster, "chip"), request);
    seen.clusters.answers = answers;
    seen.clusters.request = &request;
  }
};

std::unique_ptr<RecordCanvas> shown(const SearchCase& s, const FigureView& view = {}) {
  const Theme dark = theme("dark");
  auto canvas = std::make_unique<RecordCanvas>(fonts(), 15.0f, Rect{0, 0, 640, 420});
  find_figure("clusters")->draw(*canvas, canvas->bounds(), s.input(dark), view);
  return canvas;
}

bool says(const RecordCanvas& canvas, std::string_view words) {
  return std::any_of(canvas.texts().begin(), canvas.texts().end(),
                     [&](const TextRun& run) { return run.text.find(words) != std::string::npos; });
}

const char* const kTraining = "llama3-8b-8-h100";
const char* const kTorus = "llama3-70b-16-v5e";
const char* const kServing = "llama3-70b-serving-8-h100";

}  // namespace

TEST_CASE("each answer with a time has a mark, dearer to the right and slower above") {
  for (const char* preset : {kTraining, kServing}) {
    const Answered s(preset_case(preset));
    const auto canvas = shown(s);
    std::vector<std::pair<const ClusterAnswer*, Point>> marks;
    for (std::size_t i = 0; i < s.answers.size(); ++i) {
      const TagRegion* tag = canvas->find_tag("clusters.answer", static_cast<int>(i));
      CAPTURE(preset);
      CAPTURE(i);
      CHECK((tag != nullptr) == s.answers[i].runs);
      if (tag != nullptr) marks.emplace_back(&s.answers[i], tag->rect.centre());
    }
    CHECK(marks.size() > 2);
    for (const auto& [a, at] : marks)
      for (const auto& [b, other] : marks) {
        if (a->cost_usd < b->cost_usd) CHECK(at.x <= other.x);
        if (a->time_s < b->time_s) CHECK(at.y >= other.y);
      }
  }
}

TEST_CASE("the front is what a comparison of each plan, the present one too, with all others leaves") {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<ClusterAnswer> answers(1 + random() % 12);
    std::optional<ClusterAnswer> present;
    if (random() % 2 == 0) present.emplace();
    std::vector<ClusterAnswer*> all;
    for (ClusterAnswer& a : answers) all.push_back(&a);
    if (present) all.push_back(&*present);
    for (ClusterAnswer* const one : all) {
      ClusterAnswer& a = *one;
      a.runs = random() % 8 != 0;
      if (random() % 8 != 0) a.cost_usd = 1 + static_cast<double>(random() % 9);
      a.time_s = 1 + static_cast<double>(random() % 9);
      a.chips = 1 + static_cast<std::int64_t>(random() % 9);
    }
    for (const clusters::Over over : {clusters::Over::cost, clusters::Over::chips}) {
      const clusters::Measure m{false, over};
      const auto beats = [&](const ClusterAnswer& a, const ClusterAnswer& b) {
        return m.places(a) && m.x(a) <= m.x(b) && m.y(a) <= m.y(b) && (m.x(a) < m.x(b) || m.y(a) < m.y(b));
      };
      std::set<std::pair<double, double>> expected, found;
      for (const ClusterAnswer* a : all)
        if (m.places(*a) &&
            std::none_of(all.begin(), all.end(), [&](const ClusterAnswer* b) { return beats(*b, *a); }))
          expected.emplace(m.x(*a), m.y(*a));
      const auto front = clusters::front_of(answers, present, m);
      for (const ClusterAnswer* a : front) found.emplace(m.x(*a), m.y(*a));
      CHECK(found == expected);
      CHECK(front.size() == expected.size());  // of those alike one
    }
  }
}

TEST_CASE("the takeaway's first is what evaluate() gives for its cluster and plan") {
  for (const char* preset : {kTraining, kTorus, kServing})
    for (const engine::Mode mode : {engine::Mode::ideal, engine::Mode::calibrated}) {
      FigureCase c = preset_case(preset);
      c.scenario.assumptions.mode = mode;
      const Answered s(evaluated(c.scenario));
      const engine::Report there = engine::evaluate(engine::moved_to(s.c.scenario, s.answers.front()));
      const auto amount = [&](Q q) { return english().amount(*there.quantities[q], engine::quantity(q).unit); };
      const std::string said = find_figure("clusters")->head(s.input(theme("dark")), {}).takeaway;
      CAPTURE(said);
      const bool serves = s.c.scenario.serves();
      CHECK(said.find(amount(serves ? Q::sustained_cost : Q::run_cost)) != std::string::npos);
      CHECK(said.find(serves ? format_duration(*there.quantities[Q::mixed_token_time_q])
                             : english().amount(*there.quantities[Q::run_time] / 86400, engine::unit::days)) !=
            std::string::npos);
    }
}

TEST_CASE("without a price the answers stand over chips") {
  FigureCase c = preset_case(kTraining);
  c.scenario.cluster.chip[engine::ChipField::price_usd_per_chip_hour].value.reset();
  const Answered s(evaluated(c.scenario));
  CHECK(shown(s)->find_text("GPUs \u2192"));
  CHECK(shown(Answered(preset_case(kTraining)))->find_text("dollars per run \u2192"));
  CHECK(shown(Answered(preset_case(kTraining)), view_of("clusters", {{"over", "energy"}}))
            ->find_text("MWh per run \u2192"));
}

TEST_CASE("an answer is called by what tells it from the others: how many chips, which, or both") {
  const FigureCase c = preset_case(kTraining);
  const Theme dark = theme("dark");
  ClusterAnswer eight, sixteen, other;
  eight.chips = other.chips = 8, sixteen.chips = 16;
  eight.scenario.cluster.chip.name = sixteen.scenario.cluster.chip.name = "NVIDIA H100";
  eight.scenario.cluster.chip.vendor = sixteen.scenario.cluster.chip.vendor = "NVIDIA";
  other.scenario.cluster.chip.name = "Trainium2";
  other.is_calibrated = false;
  const auto names = [&](const std::vector<ClusterAnswer>& answers) {
    std::vector<std::string> out;
    for (const ClusterAnswer& a : answers) out.push_back(clusters::label_of(input_of(c, dark), answers, a));
    return out;
  };
  CHECK(names({eight, sixteen}) == std::vector<std::string>{"8 GPUs", "16 GPUs"});
  CHECK(names({eight, other}) == std::vector<std::string>{"H100", "Trainium2*"});
  CHECK(names({eight, sixteen, other}) == std::vector<std::string>{"8 H100", "16 H100", "8 Trainium2*"});
}

TEST_CASE("answers whose marks lie on each other share a label, one name under the other") {
  Answered s(preset_case(kServing));
  for (ClusterAnswer& a : s.answers) a.cost_usd = s.answers.front().cost_usd, a.time_s = s.answers.front().time_s;
  s.seen.clusters.answers = s.answers;
  const auto canvas = shown(s);
  std::set<float> left;
  std::size_t names = 0;
  for (const TextRun& run : canvas->texts())
    if (run.text.ends_with(" GPUs")) left.insert(run.bounds.x), ++names;
  CHECK(names == s.answers.size());
  CHECK(left.size() == 1);
}

TEST_CASE("a limit is named, and what it leaves out is told apart from what meets it") {
  ClusterRequest request;
  request.most_run_days = 5;
  const auto canvas = shown(Answered(preset_case(kTraining), request)),
             free = shown(Answered(preset_case(kTraining)));
  for (const char* words : {"within 5", "hollow: outside of what is asked for"}) {
    CAPTURE(words);
    CHECK(says(*canvas, words));
    CHECK_FALSE(says(*free, words));
  }
}

TEST_CASE("the figure of clusters waits for a window's answers and searches for itself elsewhere") {
  SearchCase waiting(preset_case(kTraining));
  waiting.seen.clusters.progress = 0.25;
  const auto canvas = shown(waiting);
  CHECK(canvas->find_text("The best plan of each cluster is being searched: 25\u202f%"));
  waiting.seen.clusters.stopped = true;
  CHECK(shown(waiting)->find_text(english().text("ui.search.cancelled")));
  waiting.seen.clusters.waits = false;
  CHECK(shown(waiting)->find_tag("clusters.answer", 4));
}

TEST_CASE("a serving scenario has no energy, and the figure says so") {
  const Answered s(preset_case(kServing));
  const FigureView energy = view_of("clusters", {{"over", "energy"}});
  CHECK(shown(s, energy)->find_text(english().text("figure.clusters.no_energy")));
  CHECK(find_figure("clusters")->head(s.input(theme("dark")), energy).takeaway.empty());
}

TEST_CASE("a click on a mark goes where its row goes, on one without a plan nowhere") {
  Answered s(preset_case(kTraining));
  const auto moved = find_figure("clusters")->plans.moved;
  const Theme dark = theme("dark");
  for (std::size_t i = 0; i < s.answers.size(); ++i)
    CHECK(moved(s.input(dark), s.c.scenario, static_cast<int>(i)) == engine::moved_to(s.c.scenario, s.answers[i]));
  s.answers[1].runs = false;
  CHECK_FALSE(moved(s.input(dark), s.c.scenario, 1));
  CHECK_FALSE(moved(s.input(dark), s.c.scenario, -1));
  CHECK_FALSE(moved(s.input(dark), s.c.scenario, 99));
}

TEST_CASE("the data of clusters has a line for each answer and one for the present plan") {
  const Answered s(preset_case(kTraining));
  const std::string data = find_figure("clusters")->data(s.input(theme("dark")), {});
  check_even_lines(data);
  CHECK(std::count(data.begin(), data.end(), '\n') == 1 + 5 + 1);
}

TEST_CASE("the figure of clusters is clean at any size and with long words") {
  for (const char* preset : {"llama3-405b-16k-h100-8k", kTraining, kServing}) {
    CAPTURE(preset);
    check_clean(Answered(preset_case(preset)), kFigure);
  }
}
