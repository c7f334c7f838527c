// The projector: controls under a figure on the wall, its axes, what a lecturer draws on it, the deck.
#include <algorithm>
#include <string>

#include "app/panels/dock_panel.h"
#include "app/shell/commands.h"
#include "tests/app/window/ui_checks.h"
#include "tests/app/window/ui_harness.h"
#include "tests/engine/io/io_fixture.h"

namespace roofscape {
namespace {

using test::drawn;
using test::Harness;
using test::press;
using widgets::Key;
using widgets::key_of;

TEST_CASE("B blackens the wall and W whitens it, Escape brings the picture back") {
  Harness h;
  h.key({Key::f5});
  const std::size_t figure = h.parts.panels.projector.figure;
  press(h, 'B');
  CHECK(h.parts.panels.wall.blank == app::WallState::Blank::black);
  CHECK(h.parts.baseline == nullptr);
  press(h, 'W');
  CHECK(h.parts.panels.wall.blank == app::WallState::Blank::white);
  h.key({Key::escape});
  CHECK(h.parts.panels.wall.blank == app::WallState::Blank::none);
  CHECK(h.parts.panels.projector.open);
  CHECK(h.parts.panels.projector.figure == figure);
}

TEST_CASE("off the wall the window has the theme it had before, whether or not that is its setting") {
  Harness h(test::kBookScenario, 1920, 1080, "light");  // the setting is dark
  const widgets::Theme before = h.workspace.theme();
  REQUIRE_FALSE(before.dark());
  h.key({Key::f5});
  CHECK_FALSE(h.workspace.theme().win == before.win);
  h.key({Key::f5});
  REQUIRE_FALSE(h.parts.panels.projector.open);
  CHECK(h.workspace.theme().win == before.win);
  CHECK(h.workspace.settings().theme == "dark");
}

TEST_CASE("the projector has sliders that redraw in the frame in which they move") {
  Harness h;
  h.key({Key::f5});
  h.step();
  REQUIRE(h.place("parallelism.tensor") != nullptr);
  const double before = h.report().quantities.value_or(engine::Q::step_time, 0);
  h.drag("parallelism.tensor", 0.2f, 0.5f);
  CHECK(h.report().quantities.value_or(engine::Q::step_time, 0) != before);
}

TEST_CASE("the control used last is pinned to the projector, three at most") {
  Harness h;
  for (const char* path :
       {"parallelism.tensor", "workload.sequence_length", "checkpointing.k", "pipeline.microbatch_sequences"}) {
    h.parts.panels.wall.stepped = path;
    press(h, 'P');
  }
  CHECK(h.workspace.settings().pinned ==
        std::vector<std::string>{"workload.sequence_length", "checkpointing.k", "pipeline.microbatch_sequences"});
  h.key({Key::f5});
  h.step();
  CHECK(h.place("checkpointing.k") != nullptr);
  CHECK(h.place("parallelism.tensor") == nullptr);
}

TEST_CASE("brackets step the control used last by its own steps") {
  Harness h;
  h.key({Key::f5});
  h.parts.panels.wall.stepped = "parallelism.tensor";
  const int before = h.scenario().parallelism.tensor;
  press(h, ']');
  CHECK(h.scenario().parallelism.tensor == 2 * before);
  press(h, '[');
  CHECK(h.scenario().parallelism.tensor == before);
}

TEST_CASE("Tab goes round the controls of the projector, Shift+Tab back, and brackets step the one it is at") {
  Harness h;
  h.key({Key::f5});
  REQUIRE(h.place("workload.global_batch_sequences") != nullptr);
  REQUIRE(h.place("parallelism.tensor") != nullptr);
  h.parts.panels.wall.stepped = "workload.global_batch_sequences";
  h.key({Key::tab});
  CHECK(h.parts.panels.wall.stepped == "parallelism.tensor");
  const int before = h.scenario().parallelism.tensor;
  press(h, ']');
  CHECK(h.scenario().parallelism.tensor == 2 * before);
  h.key({Key::tab});
  CHECK(h.parts.panels.wall.stepped == "workload.global_batch_sequences");
  h.key({Key::tab, false, true, false});
  CHECK(h.parts.panels.wall.stepped == "parallelism.tensor");
}

TEST_CASE("the projector always says of which plan it is, and what was changed") {
  Harness h;
  h.key({Key::f5});
  const std::string name = h.scenario().name;
  REQUIRE(drawn(h, name));
  h.parts.panels.wall.stepped = "parallelism.tensor";
  press(h, ']');
  h.step(2);
  CHECK(drawn(h, "tensor " + std::to_string(h.scenario().parallelism.tensor)));
}

TEST_CASE("the axes of a figure stay while L holds them, and fit again after that") {
  Harness h;
  h.key({Key::f5});
  h.parts.panels.projector.figure = widgets::figure_index(*widgets::find_figure("step"));
  engine::Scenario more = h.scenario();
  more.workload.global_batch_sequences *= 4;
  h.parts.session.update(more, false);
  h.step(2);
  const auto end = [&h] { return h.parts.held_axes.range("step.x").to; };
  const double before = end();
  press(h, 'L');
  engine::Scenario less = h.scenario();
  less.workload.global_batch_sequences /= 4;
  h.parts.session.update(less, false);
  h.step(2);
  CHECK(end() == before);
  CHECK(drawn(h, "axes held"));
  press(h, 'L');
  h.step(2);
  CHECK(end() < before);
}

TEST_CASE("while a control is dragged an axis grows with the data and never shrinks") {
  widgets::HeldAxes axes;
  CHECK(axes.keep("x", {0, 10}).to == 10);
  axes.hold(true);
  CHECK(axes.keep("x", {0, 4}).to == 10);
  CHECK(axes.keep("x", {0, 12}).to == 12);
  CHECK(axes.keep("x", {-1, 4}).from == -1);
  axes.hold(false);
  CHECK(axes.keep("x", {0, 4}).to == 4);
}

TEST_CASE("a step of a field stays in its domain") {
  for (const engine::Field& field : engine::scenario_fields())
    for (const int by : {-1, 1}) {
      engine::Scenario s = test::preset("llama3-70b-v5p-pod");
      for (int i = 0; i < 80; ++i) s = app::step_field(field, by, s);
      CHECK_MESSAGE(engine::in_domain(field, field.get(s)), field.path);
    }
}

TEST_CASE("a figure is reached by its number and Enter in the projector") {
  Harness h;
  h.key({Key::f5});
  press(h, '2');
  h.key({Key::enter});
  CHECK(widgets::figures()[h.parts.panels.projector.figure].name == "memory");
}

TEST_CASE("a light window has a light wall") {
  Harness h(test::kBookScenario, 1920, 1080, "light");
  h.parts.settings.theme = "light";
  h.key({Key::f5});
  CHECK_FALSE(h.workspace.theme().dark());
}

TEST_CASE("ink goes all at once when one stops, the pen stays, and Escape takes both before it ends the projector") {
  using Tool = app::WallMarks::Tool;
  Harness h;
  h.key({Key::f5});
  const auto& marks = h.parts.panels.marks;
  const engine::Scenario before = h.scenario();
  const auto draw = [&h] {
    const widgets::Rect slider = h.place("parallelism.tensor")->rect;
    h.move({slider.x + 20, slider.centre().y});
    h.press();
    h.move({slider.right() - 20, slider.centre().y});
    h.release();
  };
  press(h, 'I');
  CHECK(marks.tool == Tool::ink);
  draw();
  REQUIRE(marks.ink.size() == 1);
  CHECK(marks.ink[0].size() > 1);
  CHECK(h.scenario() == before);  // the slider under it stays
  press(h, 'E');
  draw();
  CHECK(marks.pen.size() == 1);
  h.wait(3);
  CHECK(marks.ink.empty());
  CHECK(marks.pen.size() == 1);
  h.key({Key::escape});
  CHECK_FALSE(marks.any());
  CHECK(h.parts.panels.projector.open);
  draw();
  CHECK_FALSE(h.scenario() == before);
}

TEST_CASE("pointer and spotlight follow the mouse, and are laid down by their key") {
  using Tool = app::WallMarks::Tool;
  Harness h;
  h.key({Key::f5});
  for (const auto& [key, tool] : {std::pair{'Q', Tool::pointer}, {'O', Tool::spotlight}}) {
    press(h, key);
    CHECK(h.parts.panels.marks.tool == tool);
    h.move({400, 300});
    press(h, key);
    CHECK(h.parts.panels.marks.tool == Tool::none);
  }
}

TEST_CASE("a tool of the lecturer is there while its key is held, and stays after a short press") {
  using Tool = app::WallMarks::Tool;
  Harness h;
  h.key({Key::f5});
  const auto& marks = h.parts.panels.marks;
  for (const Tool tool : {Tool::pointer, Tool::ink, Tool::pen, Tool::spotlight}) {
    const Key key = app::WallMarks::key(tool);
    h.key({key});
    CHECK(marks.tool == tool);
    h.let_go(key);
    CHECK(marks.tool == tool);
    h.key({key});
    CHECK(marks.tool == Tool::none);
    h.let_go(key);
    h.key({key});
    h.wait(1);
    CHECK(marks.tool == tool);
    h.let_go(key);
    CHECK(marks.tool == Tool::none);
  }
}

TEST_CASE("the deck of the projector is chosen, ordered and kept") {
  Harness h;
  h.key({Key::f5});
  const auto shown = [&h] { return std::string(widgets::figures()[h.parts.panels.projector.figure].name); };
  const auto& deck = h.parts.settings.deck;
  h.key({Key::home});
  const std::string first = shown();
  h.key({Key::page_down});
  const std::string second = shown();
  CHECK(first != second);
  // Moved, it comes where the other was.
  h.key({Key::page_up, true, false, false});
  CHECK(shown() == second);
  h.key({Key::home});
  CHECK(shown() == second);
  h.key({Key::page_down});
  CHECK(shown() == first);
  h.key({Key::page_up});
  // Left out, it is passed.
  press(h, 'K');
  REQUIRE(h.parts.interaction.popup_open("wall.deck"));
  h.key({Key::enter});  // the figure that is shown is selected
  h.step(2);
  CHECK(std::find(deck.begin(), deck.end(), second) == deck.end());
  h.key({Key::home});
  CHECK(shown() == first);
  CHECK(drawn(h, "1 / " + std::to_string(h.parts.deck().size())));
  // Kept with the settings.
  const test::TemporaryFolder folder;
  REQUIRE(app::write_settings(folder.path() / "settings.json", h.parts.settings));
  CHECK(app::read_settings(folder.path() / "settings.json").deck == deck);
  app::find_command("wall.deck_all")->run(h.workspace);
  CHECK(deck.empty());
}

TEST_CASE("a figure without a picture of this plan is not of the deck") {
  Harness h;
  h.key({Key::f5});
  REQUIRE(h.scenario().parallelism.pipeline == 1);
  for (const std::size_t figure : h.parts.deck()) {
    CHECK(widgets::figures()[figure].needs != widgets::Needs::stages);
    CHECK(widgets::shows(widgets::figures()[figure], h.scenario()));
  }
}

TEST_CASE("a figure is built up on the wall: its axes, its lines, all of it") {
  Harness h;
  h.key({Key::f5});
  h.parts.panels.projector.figure = widgets::figure_index(*widgets::find_figure("roofline"));
  h.step(2);
  CHECK(drawn(h, "ridge"));
  press(h, 'U');
  h.step(2);
  CHECK_FALSE(drawn(h, "ridge"));
  CHECK(drawn(h, "FLOP per byte"));
  press(h, 'U');
  h.step(2);
  CHECK_FALSE(drawn(h, "ridge"));
  press(h, 'U');
  h.step(2);
  CHECK(drawn(h, "ridge"));
  // The next figure stands there whole.
  press(h, 'U');
  h.key({Key::page_down});
  CHECK(h.parts.panels.wall.built == widgets::BuildStep::all);
}

}  // namespace
}  // namespace roofscape
