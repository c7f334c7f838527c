// Several scenarios at once: tabs, the pinned baseline, the clipboard, and what survives a kill.
#include <doctest/doctest.h>

#include "engine/io/scenario/scenario_json.h"
#include "engine/io/scenario/session_json.h"
#include "tests/app/window/ui_checks.h"
#include "tests/capture_binding.h"

using namespace roofscape;
using test::Harness;
using widgets::Key;
using widgets::key_of;

namespace {

std::string g_clipboard;  // the hooks of Interaction have no argument

void use_clipboard(Harness& h) {
  h.parts.interaction.read_clipboard = [] { return g_clipboard; };
  h.workspace.actions().copy_text = [](const std::string& text) { g_clipboard = text; };
}

constexpr widgets::KeyPress kNew{key_of('N'), true, false, false}, kClose{key_of('W'), true, false, false},
    kNext{Key::tab, true, false, false}, kUndo{key_of('Z'), true, false, false};

}  // namespace

TEST_CASE("each tab has a history of its own") {
  Harness h;
  const engine::Scenario start = h.scenario();
  CHECK(h.place("tab.0") == nullptr);
  h.key(kNew);
  REQUIRE(h.parts.tabs.count() == 2);
  CHECK(h.parts.tabs.active() == 1);
  CHECK(h.scenario() == start);
  h.drag("parallelism.tensor", 0.1f, 0.7f);
  const engine::Scenario second = h.scenario();
  CHECK(h.parts.session.history().undo_depth() == 1);
  h.key(kNext);
  CHECK(h.scenario() == start);
  CHECK(h.parts.session.history().undo_depth() == 0);
  h.key(kUndo);
  CHECK(h.scenario() == start);
  h.click("tab.1");
  CHECK(h.scenario() == second);
  h.key(kUndo);
  CHECK(h.scenario() == start);
}

TEST_CASE("a closed tab comes back with its history and the numbers of its plan") {
  Harness h("llama3-405b-16k-h100");
  h.key(kNew);
  h.drag("workload.global_batch_sequences", 0.5f, 0.3f);
  const engine::Scenario edited = h.scenario();
  const auto step = h.report().quantities[engine::Q::step_time];
  const auto depth = h.parts.session.history().undo_depth();
  REQUIRE(step.has_value());
  h.key(kClose);
  REQUIRE(h.parts.tabs.count() == 1);
  h.key({key_of('T'), true, true, false});
  REQUIRE(h.parts.tabs.count() == 2);
  CHECK(h.scenario() == edited);
  CHECK(h.report().quantities[engine::Q::step_time] == step);
  CHECK(h.report().pipeline.timeline.start.size() == h.report().pipeline.orders.ops.size());
  CHECK(h.parts.session.history().undo_depth() == depth);
}

TEST_CASE("while a plan cannot run, the last one that could is drawn, and evaluated once") {
  Harness h("llama3-8b-8-h100");
  const auto step = h.report().quantities[engine::Q::step_time];
  engine::Scenario broken = h.scenario();
  broken.parallelism.tensor = 3;  // divides no heads
  h.parts.session.update(broken, false);
  REQUIRE_FALSE(h.parts.session.drawable());
  CHECK(h.parts.session.last_drawable_report().quantities[engine::Q::step_time] == step);
  broken.parallelism.tensor = 5;
  h.parts.session.update(broken, false);
  REQUIRE_FALSE(h.parts.session.drawable());
  CHECK(h.parts.session.last_drawable_report().quantities[engine::Q::step_time] == step);
  h.key(kUndo);
  h.key(kUndo);
  CHECK(&h.parts.session.last_drawable_report() == &h.report());
}

TEST_CASE("of more tabs than there is room for, the one that is shown is in sight") {
  Harness h("llama3-8b-8-h100", 1024, 700);
  for (int i = 0; i < 40; ++i) h.key(kNew);
  for (const std::size_t tab : {std::size_t{40}, std::size_t{0}, std::size_t{20}}) {
    h.parts.show_tab(tab);
    h.step(2);
    CAPTURE(tab);
    const auto* place = h.place("tab." + std::to_string(tab));
    REQUIRE(place != nullptr);
    CHECK(place->visible.w == place->rect.w);
    CHECK(place->rect.right() <= 1024);
    REQUIRE(h.place("tab.add") != nullptr);
    CHECK(h.place("tab.add")->rect.right() <= 1024);
  }
}

TEST_CASE("tabs close by key and cross, the last one stays, and what was closed opens again") {
  Harness h;
  h.key({key_of('2'), false, false, true});
  const engine::Scenario first = h.scenario();
  h.key(kNew);
  h.key({key_of('3'), false, false, true});
  const engine::Scenario second = h.scenario();
  REQUIRE_FALSE(first == second);
  h.key(kClose);
  CHECK(h.parts.tabs.count() == 1);
  CHECK(h.scenario() == first);
  h.key(kClose);
  CHECK(h.parts.tabs.count() == 1);
  h.key({key_of('T'), true, true, false});
  CHECK(h.parts.tabs.count() == 2);
  CHECK(h.scenario() == second);
  h.click("tab.0.close");
  CHECK(h.parts.tabs.count() == 1);
  CHECK(h.scenario() == second);
}

TEST_CASE("many tabs stay inside the strip at every size") {
  for (const float width : {1024.0f, 1920.0f, 3840.0f}) {
    Harness h("llama3-405b-16k-h100", width, 1080);
    for (int i = 0; i < 14; ++i) h.key(kNew);
    CHECK(h.parts.tabs.count() == 15);
    CHECK(widgets::compat::audit_draw_data().outside == 0);
    test::check_texts(h, width);
    test::check_overlaps(h);
  }
}

TEST_CASE("a pinned baseline is given to the figures, told in the verdict and marked at the controls") {
  Harness h("llama3-405b-16k-h100-8k");
  h.parts.settings.mesh.keep_product = false;  // one change at a time
  const auto before = h.report().quantities[engine::Q::step_time];
  h.key({key_of('B')});
  REQUIRE(h.parts.baseline != nullptr);
  CHECK(h.parts.baseline->report.quantities[engine::Q::step_time] == before);
  h.drag("parallelism.tensor", 0.35f, 0.7f);
  REQUIRE_FALSE(h.report().quantities[engine::Q::step_time] == before);
  bool was = false;
  for (const auto& t : h.canvas.drawn_texts()) was = was || t.text.find("was ") != std::string::npos;
  CHECK(was);
  CHECK(h.place("change.parallelism.tensor") != nullptr);
  // A change taken back is no change.
  h.click("change.parallelism.tensor");
  CHECK(h.scenario() == h.parts.baseline->scenario);
  h.key({key_of('B')});
  CHECK(h.parts.baseline == nullptr);
  CHECK(h.place("change.parallelism.tensor") == nullptr);
}

TEST_CASE("beside what changed stands the way to the waterfall of the difference, until it is shown") {
  Harness h("llama3-405b-16k-h100-8k");
  h.key({key_of('B')});
  h.step(2);
  CHECK(h.place("changes.compare") == nullptr);  // nothing differs yet
  h.drag("parallelism.tensor", 0.35f, 0.6f);
  h.step(2);
  h.click("changes.compare");
  h.step(2);
  CHECK(h.place("figure.compare") != nullptr);
  CHECK(h.place("changes.compare") == nullptr);
}

TEST_CASE("now and baseline change places") {
  Harness h("llama3-405b-16k-h100-8k");
  const engine::Scenario a = h.scenario();
  h.key({key_of('B')});
  h.drag("parallelism.tensor", 0.35f, 0.7f);
  const engine::Scenario b = h.scenario();
  h.click("baseline.swap");
  CHECK(h.scenario() == a);
  CHECK(h.parts.baseline->scenario == b);
  h.click("baseline.undo");
  CHECK(h.scenario() == b);
}

TEST_CASE("with a baseline every scenario and size stays readable") {
  for (const io::Preset& p : test::presets().list(io::PresetKind::scenario))
    for (const auto& [w, hgt] : {std::pair{1024.0f, 700.0f}, {1280.0f, 720.0f}, {1920.0f, 1080.0f}}) {
      Harness h("llama3-70b-v5p-pod", w, hgt);
      h.parts.pin_or_unpin();
      h.workspace.open(p.id);
      h.parts.panels.right_rail.open = true;
      engine::Scenario edited = h.scenario();
      edited.checkpointing.policy = engine::CheckpointPolicy::block;
      edited.workload.sequence_length *= 2;
      h.parts.session.update(edited, false);
      h.step(3);
      CAPTURE(p.id);
      CAPTURE_BINDING(w);
      CHECK(widgets::compat::audit_draw_data().outside == 0);
      test::check_texts(h, w);
      test::check_overlaps(h);
    }
}

TEST_CASE("a scenario copied as JSON is pasted back as one step of undo") {
  Harness h;
  use_clipboard(h);
  h.drag("parallelism.tensor", 0.1f, 0.7f);
  const engine::Scenario copied = h.scenario();
  h.key({key_of('C'), true, true, false});
  h.key({key_of('2'), false, false, true});
  const engine::Scenario other = h.scenario();
  h.key({key_of('V'), true, false, false});
  CHECK(h.scenario() == copied);
  h.key(kUndo);
  CHECK(h.scenario() == other);
  g_clipboard = "{\"format\": \"roofscape/scenario\", \"paralelism\": {}}";
  h.key({key_of('V'), true, false, false});
  CHECK(h.scenario() == other);
  REQUIRE(h.parts.session.message().has_value());
  CHECK(h.parts.session.message()->is_error);
  CHECK(h.parts.session.message()->text.find("paralelism") != std::string::npos);
}

TEST_CASE("all tabs and the baseline come back from the autosaved text") {
  Harness h;
  h.key({key_of('B')});
  h.drag("parallelism.tensor", 0.1f, 0.7f);
  h.key(kNew);
  h.key({key_of('2'), false, false, true});
  h.key(kNew);
  h.key({key_of('3'), false, false, true});
  h.key(kNext);
  h.key(kNext);
  CHECK(h.parts.tabs.active() == 1);
  const std::string text = h.workspace.session_text();
  Harness again;
  REQUIRE(again.workspace.restore(text, "session.json"));
  again.step(2);
  CHECK(again.parts.tabs.count() == 3);
  CHECK(again.parts.tabs.active() == 1);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(again.parts.tabs.at(i, again.parts.session).scenario() == h.parts.tabs.at(i, h.parts.session).scenario());
  REQUIRE(again.parts.baseline != nullptr);
  CHECK(again.parts.baseline->scenario == h.parts.baseline->scenario);
  CHECK(again.workspace.session_text() == text);
}

TEST_CASE("a broken autosave is told and keeps the window, a scenario alone is a session of one tab") {
  Harness h;
  const engine::Scenario start = h.scenario();
  for (const char* bad : {"", "{", "[]", "{\"format\": \"roofscape/session\", \"version\": 1, \"tabs\": []}",
                          "{\"format\": \"roofscape/session\", \"tabs\": [{\"scenario\": {\"nonsense\": 1}}]}"}) {
    CAPTURE(bad);
    CHECK_FALSE(h.workspace.restore(bad, "session.json"));
    CHECK(h.scenario() == start);
    CHECK(h.parts.session.message()->is_error);
  }
  const auto one = io::read_session(io::write_scenario(start, test::presets()), "old.json", test::presets());
  REQUIRE(one.ok());
  CHECK(one->tabs.size() == 1);
  CHECK(one->tabs[0].scenario == start);
}

TEST_CASE("what changes the autosaved text changes the count that says so") {
  Harness h;
  for (const auto& key :
       {widgets::KeyPress{key_of('2'), false, false, true}, kNew, kNext, kClose, widgets::KeyPress{key_of('B')}}) {
    const std::string text = h.workspace.session_text();
    const std::size_t before = h.workspace.changes();
    h.key(key);
    if (h.workspace.session_text() != text) CHECK(h.workspace.changes() != before);
  }
}
