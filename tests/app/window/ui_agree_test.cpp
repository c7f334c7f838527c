// The window and the command line agree: what the verdict bar and the diagnostics say of a plan is what `eval` and
// `check` print of it, word for word and digit for digit. Over random scenarios of both workloads in all modes, on
// every chip.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "app/core/report_text.h"
#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/offers.h"
#include "tests/app/surfaces/any_scenario.h"
#include "tests/app/window/ui_harness.h"
#include "widgets/canvas/number_format.h"

using namespace roofscape;
using engine::Q;
using engine::Scenario;
using engine::WorkloadKind;
using test::Harness;
using widgets::Rect;

namespace {

int cases_of_each_kind() {
  const char* wanted = std::getenv("ROOFSCAPE_AGREE_CASES");
  return wanted != nullptr ? std::max(1, std::atoi(wanted)) : 30;
}

// Without spaces: lines break elsewhere in a terminal than in a panel.
std::string squeezed(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (std::isspace(static_cast<unsigned char>(c)) == 0) out += c;
  return out;
}

// ---- the command line ----

// Of the table for a terminal the value of each quantity, by id; and its second line, the verdict.
struct Printed {
  std::map<std::string, std::string> values;
  std::string verdict;
};
Printed printed(const std::string& report) {
  Printed out;
  std::istringstream lines(report);
  std::string line;
  for (int number = 0; std::getline(lines, line); ++number) {
    if (number == 1) out.verdict = line;
    std::vector<std::string> cells(1);
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] != ' ' || (i + 1 < line.size() && line[i + 1] != ' ' && i > 0 && line[i - 1] != ' '))
        cells.back() += line[i];
      else if (!cells.back().empty())
        cells.emplace_back();
    }
    if (cells.size() < 3) continue;
    std::string id = cells.back();
    if (const std::size_t mark = id.find(" \u2020"); mark != std::string::npos) id.resize(mark);
    out.values.emplace(std::move(id), cells[1]);
  }
  return out;
}

// Each finding of `check` with its gain, and without the edit that it suggests, which the window names in words.
std::string said_by_check(const std::vector<engine::OfferedFinding>& findings, const widgets::TextTable& texts) {
  std::string out;
  for (const engine::OfferedFinding& f : findings) {
    std::string text = app::diagnostics_text(std::span(&f, 1), texts);
    const std::string offer = app::offer_text(f, texts);
    if (!offer.empty()) {
      text.resize(text.size() - offer.size() - 1);
      if (const std::size_t gain = offer.find(": "); gain != std::string::npos) text += offer.substr(gain + 2);
    }
    const std::string severity(texts.text("severity." + std::string(engine::kSeverityIds[f.diagnostic.severity])));
    std::string one = squeezed(text).substr(severity.size());
    // The title stands on a line of its own in the window, without its colon.
    one.erase(squeezed(texts.text("diagnostic." + std::string(f.diagnostic.code) + ".title")).size(), 1);
    out += one;
  }
  return out;
}

// ---- the window ----

bool inside(const Rect& r, const Rect& of) {
  return r.x >= of.x - 1 && r.right() <= of.right() + 1 && r.y >= of.y - 1 && r.bottom() <= of.bottom() + 1;
}

// The diagnostics as they are drawn, without the words of the buttons.
std::string said_by_panel(const Harness& h, const std::vector<engine::OfferedFinding>& findings) {
  const auto& all = h.canvas.drawn_texts();
  const auto title = std::find_if(all.begin(), all.end(), [&](const auto& t) {
    return t.text == h.workspace.texts().text("ui.diagnostics.title");
  });
  if (title == all.end()) return "no diagnostics";
  // The list under the title has a clip of its own.
  auto it = std::find_if(title, all.end(), [&](const auto& t) { return t.clip.y > title->rect.bottom() - 1; });
  std::string out;
  for (const Rect list = it == all.end() ? Rect{} : it->clip; it != all.end() && it->clip.y == list.y; ++it) {
    const bool on_button = std::any_of(findings.begin(), findings.end(), [&](const engine::OfferedFinding& f) {
      const auto* button = h.place("fix." + std::string(f.diagnostic.code));
      return button != nullptr && inside(it->rect, button->rect);
    });
    if (!on_button) out += squeezed(it->text);
  }
  return out;
}

// What stands at a place of the verdict and under it.
struct Fact {
  std::string value, below;
};
std::optional<Fact> fact(const Harness& h, const std::string& id) {
  const auto* place = h.place(id);
  if (place == nullptr) return std::nullopt;
  Fact out;
  const float left = place->rect.x - 40, reach = 3 * place->rect.h;
  const widgets::ScreenCanvas::DrawnText* under = nullptr;
  for (const auto& t : h.canvas.drawn_texts()) {
    if (inside(t.rect, place->rect) && out.value.empty()) out.value = t.text;
    if (t.rect.x < left || t.rect.x > place->rect.x + 2 || t.rect.y < place->rect.bottom() - 4 ||
        t.rect.y > place->rect.bottom() + reach)
      continue;
    if (under == nullptr || t.rect.y < under->rect.y) under = &t;
  }
  if (under != nullptr) out.below = under->text;
  return out;
}

// The first that differs, in words; empty: none.
struct Compared {
  const Harness& h;
  const Printed& cli;
  std::string wrong = {};

  std::string printed_value(Q q) const {
    const auto it = cli.values.find(std::string(engine::quantity(q).id));
    return it == cli.values.end() ? std::string(widgets::kNoValue) : it->second;
  }
  void differ(const std::string& what, const std::string& window, const std::string& line) {
    if (wrong.empty()) wrong = fmt::format("{}: the window says \"{}\", eval \"{}\"", what, window, line);
  }
  void value(const std::string& place, Q q) {
    const auto shown = fact(h, place);
    if (!shown) return differ(place, "nothing at all", printed_value(q));
    // A count's label says of what.
    const std::string line = printed_value(q);
    if (shown->value != line && !line.starts_with(shown->value + std::string(widgets::kNarrowSpace)))
      differ(place, shown->value, line);
  }
  void below_has(const std::string& place, Q q) {
    const auto shown = fact(h, place);
    const std::string line = printed_value(q);
    if (line == widgets::kNoValue) return;
    if (!shown || shown->below.find(line) == std::string::npos)
      differ(place + ", below", shown ? shown->below : "", line);
  }
  void verdict_has(const std::string& place, const std::string& words) {
    if (cli.verdict.find(words) == std::string::npos) differ(place, words, cli.verdict);
  }
};

std::string disagreement(const Harness& h) {
  const widgets::TextTable& texts = h.workspace.texts();
  const engine::Report& report = h.report();
  const Scenario& s = h.scenario();
  const Printed cli = printed(app::report_text(s, report, texts));
  Compared c{h, cli};
  const auto bound = fact(h, "verdict.bound"), memory = fact(h, "verdict.memory");
  if (!bound || !memory) return "no verdict";
  if (report.has_errors()) {
    if (bound->value != texts.text("ui.verdict.impossible")) c.differ("verdict.bound", bound->value, cli.verdict);
    if (!cli.verdict.starts_with("cannot run")) c.differ("verdict.bound", bound->value, cli.verdict);
    if (memory->value != widgets::kNoValue) c.differ("verdict.memory", memory->value, cli.verdict);
  } else {
    c.verdict_has("verdict.bound", bound->value);
    std::string word = memory->value;
    if (word == widgets::kNoValue)
      word = texts.text("report.verdict.memory_unknown");
    else
      word[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(word[0])));
    c.verdict_has("verdict.memory", word);
    if (const auto total = report.quantities[Q::memory_total]; total && report.fits()) {
      const std::string line = c.printed_value(Q::memory_total);
      if (!line.starts_with(memory->below.substr(0, memory->below.find(" of "))))
        c.differ("verdict.memory, below", memory->below, line);
    }
  }
  if (s.serves()) {
    c.value("verdict.ttft", Q::ttft);
    c.value("verdict.token", Q::mixed_token_time_q);
    c.value("verdict.tokens", Q::sustained_tokens);
    c.value("verdict.max_batch", Q::max_batch);
    c.value("verdict.cost", Q::sustained_cost);
    if (!report.has_errors()) c.below_has("verdict.tokens", Q::sustained_tokens_per_chip);
  } else {
    c.value("verdict.mfu", Q::mfu);
    c.value("verdict.step", Q::step_time);
    c.value("verdict.run", Q::run_days);
    c.value("verdict.cost", Q::run_cost);
    if (!report.has_errors()) c.below_has("verdict.step", Q::tokens_per_s);
  }
  if (!c.wrong.empty()) return c.wrong;
  const auto findings = engine::offered_findings(s, report);
  const std::string check =
      findings.empty() ? squeezed(texts.text("ui.diagnostics.none")) : said_by_check(findings, texts);
  const std::string panel = said_by_panel(h, findings);
  return panel == check ? std::string() : fmt::format("diagnostics:\n  window {}\n  check  {}", panel, check);
}

void compare(WorkloadKind kind, unsigned seed) {
  std::mt19937 rng(seed);
  Harness h("llama3-70b-v5p-pod", 2560, 1440);
  const int cases = cases_of_each_kind();
  for (int i = 0; i < cases; ++i) {
    Scenario s = tests::any_scenario(rng, kind);
    h.parts.session = app::Session(test::shared_presets(), std::move(s), "");
    h.parts.settings.arrangement.cells = {std::string(app::kNumbersCell)};
    int frames = 0;
    do h.step(2);
    while (h.parts.studies.unfinished && ++frames < 400);
    CAPTURE(i);
    CAPTURE(h.scenario().cluster.chip.id);
    CAPTURE(static_cast<int>(h.scenario().assumptions.mode));
    CHECK(disagreement(h) == "");
  }
}

}  // namespace

TEST_CASE("the window says of a training plan what eval and check say") { compare(WorkloadKind::training, 51); }
TEST_CASE("the window says of a serving plan what eval and check say") { compare(WorkloadKind::serving, 52); }
