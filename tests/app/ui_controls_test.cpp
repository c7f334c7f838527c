#include "tests/app/ui_harness.h"
#include "widgets/controls.h"

using namespace roofscape;
using test::Harness;
using widgets::Key;
using widgets::KeyPress;

TEST_CASE("a mesh slider dragged from 10 to 80 percent changes scenario and report, and one undo brings it back") {
  Harness h;
  const engine::Scenario before = h.scenario();
  const auto memory_before = h.report().quantities[engine::Q::memory_total];
  h.drag("parallelism.tensor", 0.1f, 0.8f);
  CHECK(h.scenario().parallelism.tensor > before.parallelism.tensor);
  CHECK(h.scenario().parallelism.tensor >= 32);
  CHECK(h.report().quantities[engine::Q::memory_total] != memory_before);
  CHECK(h.workspace.session.history().undo_depth() == 1);
  h.key({widgets::key_of('Z'), true, false, false});
  CHECK(h.scenario() == before);
  CHECK(h.report().quantities[engine::Q::memory_total] == memory_before);
  h.key({widgets::key_of('Z'), true, true, false});
  CHECK(h.scenario().parallelism.tensor >= 32);
}

TEST_CASE("the report is computed once a change, not once a frame") {
  Harness h;
  const std::size_t before = h.workspace.session.evaluations();
  h.step(30);
  CHECK(h.workspace.session.evaluations() == before);
}

TEST_CASE("a value typed into the box is taken with Enter, refused with Escape, and clamped to the domain") {
  Harness h;
  h.click("parallelism.tensor.box");
  CHECK(h.workspace.interaction.editing("parallelism.tensor"));
  h.type("12");
  h.key({Key::enter});
  CHECK(h.scenario().parallelism.tensor == 12);
  h.click("parallelism.tensor.box");
  h.type("99");
  h.key({Key::escape});
  CHECK(h.scenario().parallelism.tensor == 12);
  h.click("parallelism.tensor.box");
  h.type("-5");
  h.key({Key::enter});
  CHECK(h.scenario().parallelism.tensor == 1);
  h.click("parallelism.tensor.box");
  h.type("nonsense");
  h.key({Key::enter});
  CHECK(h.scenario().parallelism.tensor == 1);
}

TEST_CASE("Ctrl and a click anywhere on a slider types a value") {
  Harness h;
  REQUIRE(h.reach("parallelism.fsdp"));
  h.control = true;
  h.click(h.place("parallelism.fsdp.track")->rect.centre());
  h.control = false;
  h.type("512");
  h.key({Key::enter});
  CHECK(h.scenario().parallelism.fsdp == 512);
}

TEST_CASE("arrows step by powers of two, from the nearest one") {
  Harness h;
  h.click("parallelism.tensor.box");
  h.type("12");
  h.key({Key::enter});
  h.key({Key::right});
  CHECK(h.scenario().parallelism.tensor == 16);
  h.key({Key::right});
  CHECK(h.scenario().parallelism.tensor == 32);
  h.key({Key::left});
  CHECK(h.scenario().parallelism.tensor == 16);
}

TEST_CASE("a right click puts a control back to the value as it was opened") {
  Harness h;
  const int before = h.scenario().parallelism.fsdp;
  h.drag("parallelism.fsdp", 0.7f, 0.2f);
  REQUIRE(h.scenario().parallelism.fsdp != before);
  REQUIRE(h.reach("parallelism.fsdp"));
  h.click(h.place("parallelism.fsdp.track")->rect.centre(), 1);
  CHECK(h.scenario().parallelism.fsdp == before);
}

TEST_CASE("typing a digit at a focused slider enters it and loads no preset") {
  Harness h;
  h.click("parallelism.tensor.box");
  h.key({Key::enter});
  const std::string name = h.scenario().name;
  h.type("2");
  CHECK(h.workspace.interaction.editing("parallelism.tensor"));
  h.key({Key::enter});
  CHECK(h.scenario().parallelism.tensor == 2);
  CHECK(h.scenario().name == name);
}

TEST_CASE("a preset loaded by a key says how to come back, and comes back") {
  Harness h;
  const engine::Scenario before = h.scenario();
  h.key({widgets::key_of('1')});
  REQUIRE_FALSE(h.scenario() == before);
  REQUIRE(h.workspace.session.message().has_value());
  CHECK(h.workspace.session.message()->text == "Opened " + h.scenario().name + "; Ctrl+Z goes back");
  h.key({widgets::key_of('Z'), true, false, false});
  CHECK(h.scenario() == before);
}

TEST_CASE("number keys load presets") {
  Harness h;
  const auto all = h.workspace.session.library().list(io::PresetKind::scenario);
  REQUIRE(all.size() >= 3);
  h.key({widgets::key_of('1')});
  CHECK(h.workspace.session.preset_id() == all[0].id);
  h.key({widgets::key_of('3')});
  CHECK(h.workspace.session.preset_id() == all[2].id);
  h.key({widgets::key_of('Z'), true, false, false});
  h.key({widgets::key_of('Z'), true, false, false});
  CHECK(h.scenario() == test::preset(std::string(io::kStartScenario)));
}

TEST_CASE("every slider of the rail can be reached and dragged, and undo leaves no trace") {
  for (const char* id : {"llama3-70b-v5p-pod", "llama3-405b-16k-h100"}) {
    Harness h(id);
    const engine::Scenario start = h.scenario();
    std::vector<std::string> sliders;
    for (const auto& entry : h.workspace.probe.all())
      if (entry.first.ends_with(".track")) sliders.push_back(entry.first.substr(0, entry.first.size() - 6));
    CHECK(sliders.size() >= 12);
    for (const std::string& name : sliders) {
      CAPTURE(name);
      const std::size_t depth = h.workspace.session.history().undo_depth();
      const engine::Scenario before = h.scenario();
      h.drag(name, 0.15f, 0.7f, 3);
      bool changed = !(h.scenario() == before);
      h.drag(name, 0.7f, 0.2f, 3);
      changed = changed || !(h.scenario() == before);
      CHECK(changed);
      CHECK(h.workspace.session.history().undo_depth() <= depth + 2);
      while (h.workspace.session.history().undo_depth() > depth) h.workspace.undo();
      h.step(2);
      CHECK(h.scenario() == before);
    }
    CHECK(h.scenario() == start);
  }
}

TEST_CASE("a drop-down opens, chooses and closes") {
  Harness h;
  h.click("checkpointing.policy");
  REQUIRE(h.workspace.interaction.popup_open("checkpointing.policy"));
  REQUIRE(h.place("checkpointing.policy#0") != nullptr);
  h.click(h.place("checkpointing.policy#0")->rect.centre());
  h.step(2);
  CHECK_FALSE(h.workspace.interaction.blocked());
  CHECK(h.scenario().checkpointing.policy == engine::CheckpointPolicy::none);
  h.click("model");
  h.key({Key::escape});
  CHECK_FALSE(h.workspace.interaction.blocked());
}

TEST_CASE("letters typed at an open list lead to the entry that has them") {
  Harness h("llama3-70b-v5p-pod", 1280, 720);
  h.click("model");
  REQUIRE(h.workspace.interaction.popup_open("model"));
  h.type("405b");
  h.key({Key::enter});
  h.step(2);
  CHECK(h.scenario().model.name.find("405B") != std::string::npos);
  CHECK(h.workspace.session.preset_id() == "llama3-70b-v5p-pod");
}

TEST_CASE("segments and check boxes take a click") {
  Harness h;
  h.click("parallelism.zero_stage.1");
  CHECK(h.scenario().parallelism.zero_stage == 1);
  const bool before = h.scenario().parallelism.sequence_parallel;
  h.click("parallelism.sequence_parallel");
  CHECK(h.scenario().parallelism.sequence_parallel != before);
}

TEST_CASE("the keyboard reaches every control of the rail") {
  Harness h("llama3-70b-v5p-pod", 1280, 720);
  std::vector<std::string> names;
  for (const auto& entry : h.workspace.probe.all())
    if (entry.first.ends_with(".track")) names.push_back(entry.first.substr(0, entry.first.size() - 6));
  std::size_t found = 0;
  for (int i = 0; i < 120; ++i) {
    h.key({Key::tab});
    const auto focus = h.workspace.interaction.focus_rect();
    if (!focus) continue;
    for (const std::string& name : names) {
      const auto* p = h.place(name);
      if (p != nullptr && p->rect.y == focus->y && p->rect.x == focus->x && p->visible.h > p->rect.h * 0.95f) {
        ++found;
        std::erase(names, name);
        break;
      }
    }
  }
  CHECK_MESSAGE(names.empty(), (names.empty() ? std::string() : names.front()));
  CHECK(found >= 12);
}

TEST_CASE("numbers are read as people type them") {
  using engine::Notation;
  CHECK(widgets::parse_number("16 384", Notation::count) == 16384.0);
  CHECK(widgets::parse_number("16\u202f384", Notation::count) == 16384.0);
  CHECK(widgets::parse_number("15 T", Notation::si) == 15e12);
  CHECK(widgets::parse_number("1.5k", Notation::count) == 1500.0);
  CHECK(widgets::parse_number("2e12", Notation::si) == 2e12);
  CHECK(widgets::parse_number("35", Notation::percent) == 0.35);
  CHECK(widgets::parse_number("35 %", Notation::plain) == 0.35);
  CHECK(widgets::parse_number("\u22123", Notation::count) == -3.0);
  CHECK_FALSE(widgets::parse_number("", Notation::count));
  CHECK_FALSE(widgets::parse_number("abc", Notation::count));
  CHECK_FALSE(widgets::parse_number("1e999", Notation::count));
  CHECK_FALSE(widgets::parse_number("nan", Notation::count));
}
