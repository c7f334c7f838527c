// The language of the window: switched while it is open, and in each nothing cut, covered or left in another.
#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "app/core/strings.h"
#include "app/shell/commands.h"
#include "tests/app/window/ui_checks.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/figures.h"

namespace roofscape {
namespace {

using test::Harness;

constexpr const char* kLanguages[]{"en", "ko", "ru"};

app::Settings in_language(const std::string& language) {
  app::Settings settings;
  settings.language = language;
  return settings;
}

void run(Harness& h, const std::string& command) {
  const app::Command* c = app::find_command(command);
  REQUIRE(c != nullptr);
  c->run(h.workspace);
  h.step(2);
}

// What can be open over or beside the scenario.
struct Shown {
  const char* name;
  std::function<void(Harness&)> open;
  bool sheet = false;   // lies over the others, whose texts stay under it
  bool beside = false;  // as another but for a part of it
};
const std::vector<Shown>& views() {
  static const std::vector<Shown> all{
      {"figures", [](Harness&) {}},
      {"numbers", [](Harness& h) { h.show_numbers(); }, false, true},
      {"workbench", [](Harness& h) { run(h, "view.workbench"); }},
      {"table", [](Harness& h) { run(h, "view.table"); }},
      {"search", [](Harness& h) { run(h, "view.search"), h.parts.searching.wait(), h.step(2); }},
      {"clusters", [](Harness& h) { run(h, "view.clusters"), h.parts.choosing.wait(), h.step(2); }},
      {"model", [](Harness& h) { run(h, "editor.model"); }},
      {"cluster", [](Harness& h) { run(h, "editor.cluster"); }, false, true},
      {"keys", [](Harness& h) { run(h, "help.keys"); }, true},
      {"palette", [](Harness& h) { run(h, "view.palette"); }, true},
      {"export", [](Harness& h) { run(h, "figure.export_as"); }, true},
      {"derivation", [](Harness& h) { h.parts.open_derivation("step.time_s"), h.step(2); }, false, true},
      {"projector", [](Harness& h) { run(h, "view.projector"); }},
      {"tour", [](Harness& h) { h.parts.open_tour("llama-on-v5p"), h.step(2); }},
  };
  return all;
}

std::vector<std::string> said(const Harness& h) {
  // How long an evaluation or a search took is no two times the same.
  const std::string took = h.workspace.texts().format("ui.status.evaluated", {std::string()});
  const auto& found = h.parts.panels.search.found;
  const std::string searched = found ? widgets::format_duration(found->seconds) : std::string();
  std::vector<std::string> out;
  for (const auto& t : h.canvas.drawn_texts()) {
    const bool timed =
        t.text.starts_with(took) || t.text.ends_with(took) || (!searched.empty() && t.text.ends_with(searched));
    if (!timed) out.push_back(t.text);
  }
  std::sort(out.begin(), out.end());
  return out;
}

// One at a time: each has the context of Dear ImGui to itself.
std::vector<std::string> said_in(const std::string& language, const Shown& view, const std::string& then = {}) {
  constexpr const char* kPreset = "llama3-405b-16k-h100";
  Harness h(test::preset(kPreset), kPreset, 1600, 900, "dark", in_language(language));
  view.open(h);
  if (!then.empty()) run(h, "language." + then);
  h.step(6);  // what is looked for beside the frames is there
  return said(h);
}

TEST_CASE("after the language is switched, every panel says what a window opened in that language says") {
  bool korean = false;
  for (const Shown& view : views()) {
    if (view.beside) continue;
    korean = !korean;  // every other view in each, for time
    const std::string language = korean ? "ko" : "ru";
    CAPTURE(view.name);
    CAPTURE(language);
    const std::vector<std::string> switched = said_in("en", view, language), opened = said_in(language, view);
    std::vector<std::string> other;
    std::set_symmetric_difference(switched.begin(), switched.end(), opened.begin(), opened.end(),
                                  std::back_inserter(other));
    for (const std::string& text : other) FAIL_CHECK(text);
  }
}

TEST_CASE("a language that is switched to is a setting, and marked in the menu") {
  Harness h;
  for (const std::string language : kLanguages) {
    run(h, "language." + language);
    CHECK(h.workspace.settings().language == language);
    for (const std::string other : kLanguages)
      CHECK(app::find_command("language." + other)->on(h.workspace) == (other == language));
  }
}

TEST_CASE("the first frame in another language has all its characters") {
  Harness h;
  run(h, "language.ko");
  CHECK(h.atlas().builds() > 1);
  const int builds = h.atlas().builds();
  h.step(3);
  CHECK(h.atlas().builds() == builds);
}

TEST_CASE("in Korean and Russian no text of the window is cut or on another") {
  struct Look {
    const char *language, *preset;
    float width, height;
  };
  for (const Look& look : {Look{"ko", "llama3-405b-16k-h100", 1280, 720},
                           {"ru", "llama3-405b-16k-h100", 1280, 720},
                           {"ru", "llama3-70b-serving-8-h100", 1920, 1080}}) {
    Harness h(test::preset(look.preset), look.preset, look.width, look.height, "light", in_language(look.language));
    for (const Shown& view : views()) {
      view.open(h);
      CAPTURE(view.name);
      CAPTURE(look.width);
      check_texts(h, look.width);
      if (!view.sheet) check_overlaps(h);
      for (int i = 0; i < 4; ++i) h.key({widgets::Key::escape});
    }
  }
}

TEST_CASE("no text of the rail is shortened, in any language") {
  std::vector<engine::Scenario> all;
  for (const std::string id : {"llama3-70b-v5p-pod", "deepseek-v3-2048-h800", "llama3-8b-serving-8-h100"})
    all.push_back(test::preset(id));
  // With rows that are there for some plans alone.
  engine::Scenario& training = all.emplace_back(test::preset("llama3-405b-16k-h100"));
  training.pipeline.schedule = engine::ScheduleKind::interleaved_1f1b;
  training.pipeline.virtual_stages = 2;
  training.pipeline.group_size = 32;
  training.adapter.rank = 16;
  training.precision.optimizer = engine::OptimizerKind::muon_fp32;
  engine::Scenario& serving = all.emplace_back(test::preset("llama3-70b-serving-8-h100"));
  serving.serving.disaggregated = true;
  serving.serving.draft_tokens = 2;
  for (const std::string language : kLanguages)
    for (const engine::Scenario& s : all) {
      CAPTURE(language);
      CAPTURE(s.name);
      Harness h(s, "", 1600, 3200, "light", in_language(language));
      h.step(2);
      const widgets::Probe::Place* rail = h.place("parallelism.tensor");
      REQUIRE(rail != nullptr);
      for (const auto& t : h.canvas.drawn_texts())
        if (t.text.ends_with("\u2026") && t.rect.x < rail->rect.right()) FAIL_CHECK(t.text);
    }
}

}  // namespace
}  // namespace roofscape
