#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <string>

#include "engine/base/read_number.h"
#include "engine/base/utf8.h"
#include "engine/io/scenario/scenario_json.h"
#include "tests/app/window/ui_harness.h"
#include "widgets/ui/controls.h"

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
  CHECK(h.parts.session.history().undo_depth() == 1);
  h.key({widgets::key_of('Z'), true, false, false});
  CHECK(h.scenario() == before);
  CHECK(h.report().quantities[engine::Q::memory_total] == memory_before);
  h.key({widgets::key_of('Z'), true, true, false});
  CHECK(h.scenario().parallelism.tensor >= 32);
}

TEST_CASE("F3 goes to ideal mode and back, each a step of undo") {
  Harness h{std::string(io::kStartScenario)};
  const engine::Scenario before = h.scenario();
  REQUIRE(before.assumptions.mode == engine::Mode::calibrated);
  h.key({Key::f3});
  CHECK(h.scenario().assumptions.mode == engine::Mode::ideal);
  CHECK(h.parts.session.history().undo_depth() == 1);
  h.key({Key::f3});
  CHECK(h.scenario() == before);
}

TEST_CASE("the report is computed once a change, not once a frame") {
  Harness h;
  const std::size_t before = h.parts.session.evaluations();
  h.step(30);
  CHECK(h.parts.session.evaluations() == before);
}

TEST_CASE("a value typed into the box is taken with Enter, refused with Escape, and clamped to the domain") {
  Harness h;
  h.click("parallelism.tensor.box");
  CHECK(h.parts.interaction.editing("parallelism.tensor"));
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

TEST_CASE("an emoji or a rare Chinese character that is typed arrives whole and is deleted whole") {
  Harness h;
  h.key({Key::f4});  // a line of text: the search of the editor
  h.click("editor.search");
  const std::string before = h.parts.interaction.entry().text;
  std::string typed;
  for (const char32_t c : {U'\U0001f600', U'\U00020000'}) engine::append_utf8(typed, c);
  h.type(typed);
  CHECK(h.parts.interaction.entry().text == before + "\xf0\x9f\x98\x80\xf0\xa0\x80\x80");
  h.key({Key::backspace});
  CHECK(h.parts.interaction.entry().text == before + "\xf0\x9f\x98\x80");
}

TEST_CASE("a slider dragged away and back to where it was pressed has the value it was pressed at") {
  Harness h("gpt3-175b-1024-a100");
  h.hold("workload.sequence_length", 0.6f, 0.6f, 1);
  const engine::Scenario pressed = h.scenario();
  const widgets::Rect track = h.place("workload.sequence_length.track")->rect;
  h.move({track.x + 0.2f * track.w, track.centre().y});
  CHECK_FALSE(h.scenario() == pressed);
  h.move({track.x + 0.6f * track.w, track.centre().y});
  CHECK(h.scenario() == pressed);
  h.release();
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

TEST_CASE("the menu under a right click puts a control back to the value as it was opened") {
  Harness h;
  const int before = h.scenario().parallelism.fsdp;
  h.drag("parallelism.fsdp", 0.7f, 0.2f);
  REQUIRE(h.scenario().parallelism.fsdp != before);
  REQUIRE(h.reach("parallelism.fsdp"));
  h.click(h.place("parallelism.fsdp.track")->rect.centre(), 1);
  REQUIRE(h.parts.interaction.popup_open("row.parallelism.fsdp"));
  h.parts.interaction.popup().highlighted = 0;
  h.key({Key::enter});
  h.step(2);
  CHECK(h.scenario().parallelism.fsdp == before);
}

TEST_CASE("the menu of a row pins its control to the projector, where it stays in the settings") {
  Harness h;
  REQUIRE(h.reach("pipeline.microbatch_sequences"));
  h.click(h.place("pipeline.microbatch_sequences")->visible.centre(), 1);
  REQUIRE(h.parts.interaction.popup_open("row.pipeline.microbatch_sequences"));
  h.parts.interaction.popup().highlighted = 1;
  h.key({Key::enter});
  h.step(2);
  CHECK(h.workspace.settings().pinned == std::vector<std::string>{"pipeline.microbatch_sequences"});
}

TEST_CASE("typing a digit at a focused slider enters it and loads no preset") {
  Harness h;
  h.click("parallelism.tensor.box");
  h.key({Key::enter});
  const std::string name = h.scenario().name;
  h.type("2");
  CHECK(h.parts.interaction.editing("parallelism.tensor"));
  h.key({Key::enter});
  CHECK(h.scenario().parallelism.tensor == 2);
  CHECK(h.scenario().name == name);
}

TEST_CASE("a preset loaded by a key says how to come back, and comes back") {
  Harness h;
  const engine::Scenario before = h.scenario();
  h.key({widgets::key_of('1'), false, false, true});
  REQUIRE_FALSE(h.scenario() == before);
  REQUIRE(h.parts.session.message().has_value());
  CHECK(h.parts.session.message()->text == "Opened " + h.scenario().name + "; Ctrl+Z goes back");
  h.key({widgets::key_of('Z'), true, false, false});
  CHECK(h.scenario() == before);
}

TEST_CASE("nothing typed outside a text box replaces the scenario") {
  Harness h;
  const engine::Scenario before = h.scenario();
  for (char c = '0'; c <= '9'; ++c) {
    h.type(std::string(1, c));
    h.key({widgets::key_of(c)});
    h.key({widgets::key_of(c), false, true, false});
  }
  for (char c = 'A'; c <= 'Z'; ++c) {
    h.type(std::string(1, static_cast<char>(c - 'A' + 'a')));
    h.key({widgets::key_of(c)});
    h.key({widgets::key_of(c), false, true, false});
  }
  CHECK(h.scenario() == before);
  CHECK(h.parts.session.history().undo_depth() == 0);
}

TEST_CASE("Alt and a number key load presets") {
  Harness h;
  const auto all = h.parts.session.library().list(io::PresetKind::scenario);
  REQUIRE(all.size() >= 3);
  h.key({widgets::key_of('1'), false, false, true});
  CHECK(h.parts.session.preset_id() == all[0].id);
  h.key({widgets::key_of('3'), false, false, true});
  CHECK(h.parts.session.preset_id() == all[2].id);
  h.key({widgets::key_of('Z'), true, false, false});
  h.key({widgets::key_of('Z'), true, false, false});
  CHECK(h.scenario() == test::preset(test::kBookScenario));
}

TEST_CASE("every slider of the rail can be reached and dragged, and undo leaves no trace") {
  for (const char* id : {"llama3-70b-v5p-pod", "llama3-405b-16k-h100"}) {
    Harness h(id);
    const engine::Scenario start = h.scenario();
    std::vector<std::string> sliders;
    for (const auto& entry : h.parts.probe.all())
      if (entry.first.ends_with(".track")) sliders.push_back(entry.first.substr(0, entry.first.size() - 6));
    // No slider: stages of one layer each, as of the second preset, have none to give (ui_layers_test.cpp).
    std::erase(sliders, "pipeline.layers_per_stage");
    CHECK(sliders.size() >= 12);
    for (const std::string& name : sliders) {
      CAPTURE(name);
      const std::size_t depth = h.parts.session.history().undo_depth();
      const engine::Scenario before = h.scenario();
      h.drag(name, 0.15f, 0.7f, 3);
      bool changed = !(h.scenario() == before);
      h.drag(name, 0.7f, 0.2f, 3);
      changed = changed || !(h.scenario() == before);
      CHECK(changed);
      CHECK(h.parts.session.history().undo_depth() <= depth + 2);
      while (h.parts.session.history().undo_depth() > depth) h.parts.session.undo();
      h.step(2);
      CHECK(h.scenario() == before);
    }
    CHECK(h.scenario() == start);
  }
}

TEST_CASE("a drop-down opens, chooses and closes") {
  Harness h;
  h.click("checkpointing.policy");
  REQUIRE(h.parts.interaction.popup_open("checkpointing.policy"));
  REQUIRE(h.place("checkpointing.policy#0") != nullptr);
  h.click(h.place("checkpointing.policy#0")->rect.centre());
  h.step(2);
  CHECK_FALSE(h.parts.interaction.blocked());
  CHECK(h.scenario().checkpointing.policy == engine::CheckpointPolicy::none);
  h.click("model");
  h.key({Key::escape});
  CHECK_FALSE(h.parts.interaction.blocked());
}

TEST_CASE("letters typed at an open list lead to the entry that has them") {
  Harness h("llama3-70b-v5p-pod", 1280, 720);
  h.click("model");
  REQUIRE(h.parts.interaction.popup_open("model"));
  h.type("405b");
  h.key({Key::enter});
  h.step(2);
  CHECK(h.scenario().model.name.find("405B") != std::string::npos);
  CHECK(h.parts.session.preset_id() == "llama3-70b-v5p-pod");
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
  for (const auto& entry : h.parts.probe.all())
    if (entry.first.ends_with(".track")) names.push_back(entry.first.substr(0, entry.first.size() - 6));
  std::size_t found = 0;
  for (int i = 0; i < 120; ++i) {
    h.key({Key::tab});
    const auto focus = h.parts.interaction.focus_rect();
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

TEST_CASE("what a box shows, typed back, is the value it shows") {
  namespace unit = engine::unit;
  std::mt19937 random(16);
  std::uniform_real_distribution<double> digits(1, 10);
  for (const engine::Unit& u :
       {unit::one,        unit::count,       unit::fraction,     unit::tokens,
        unit::parameters, unit::days,        unit::hours,        unit::kilowatt_hours,
        unit::seconds,    unit::bytes,       unit::bytes_each,   unit::flop,
        unit::flop_per_s, unit::bytes_per_s, unit::tokens_per_s, unit::requests_per_s,
        unit::hertz,      unit::watts,       unit::dollars,      engine::Unit{"tokens", {}, engine::Notation::si}})
    for (int power = -12; power <= 18; ++power)
      for (int i = 0; i < 20; ++i) {
        double value = digits(random) * std::pow(10.0, power);
        if (u.notation == engine::Notation::count) value = std::round(value);
        if (u.notation == engine::Notation::percent && value > 1) continue;
        const std::string shown = widgets::box_text(value, u);
        CAPTURE(shown);
        CAPTURE(std::string(u.symbol));
        const engine::NumberReading back = engine::read_number(shown, u);
        REQUIRE_MESSAGE(back, back.problem);
        CHECK(widgets::box_text(*back, u) == shown);
        CHECK(std::abs(*back - value) <= 6e-3 * std::abs(value));
      }
  CHECK(widgets::box_text(0.5, unit::seconds) == "500\u202fms");
  CHECK(widgets::box_text(0, unit::seconds) == "0\u202fs");
  CHECK(widgets::box_text(80e9, unit::bytes) == "80\u202fGB");
  CHECK(widgets::box_text(0.4, unit::fraction) == "40\u202f%");
  CHECK(widgets::box_text(3.35e12, unit::bytes_per_s) == "3.35\u202fTB/s");
  CHECK(widgets::box_text(2.5, unit::dollars) == "$2.5");
  CHECK(widgets::box_text(15e12, {"tokens", {}, engine::Notation::si}) == "15\u202fT");
}

namespace {

// Types into the box of a slider in place of what stands there.
void enter(Harness& h, const std::string& id, const std::string& text) {
  REQUIRE(h.reach(id));
  h.click(h.place(id + ".box")->visible.centre());
  REQUIRE(h.parts.interaction.editing(id));
  h.type(text);
  h.key({widgets::Key::enter});
}

}  // namespace

TEST_CASE("a box of seconds takes milliseconds, and says why it takes no bytes") {
  Harness h("llama3-70b-serving-8-h100");
  enter(h, "workload.slo.ttft_s", "500 ms");
  CHECK(h.scenario().workload.slo.ttft_s == 0.5);
  enter(h, "workload.slo.time_per_output_token_s", "30ms");
  CHECK(h.scenario().workload.slo.time_per_output_token_s == 0.03);
  // Shown with its unit.
  bool shown = false;
  for (const auto& t : h.canvas.drawn_texts()) shown = shown || t.text == "ms";
  CHECK(shown);
  const engine::Scenario before = h.scenario();
  for (const char* wrong : {"500 GB", "30 m", "5 parsecs"}) {
    CAPTURE(wrong);
    enter(h, "workload.slo.ttft_s", wrong);
    CHECK(h.scenario() == before);
    REQUIRE(h.parts.session.message().has_value());
    CHECK(h.parts.session.message()->is_error);
    CHECK(h.parts.session.message()->text.find(wrong) != std::string::npos);
    CHECK(h.parts.session.message()->detail.find("ms") != std::string::npos);
  }
  // Beyond the domain: the nearest value, and it is told.
  h.parts.session.dismiss_message();
  enter(h, "workload.batch", "1e12");
  CHECK(h.scenario().workload.batch == (1 << 24));
  REQUIRE(h.parts.session.message().has_value());
}
