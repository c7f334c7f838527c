// Tours and the wall: scenes asked and revealed, what was open waiting meanwhile, controls under a projected figure.
#include <algorithm>
#include <string>

#include "app/panels/dock_panel.h"
#include "app/shell/commands.h"
#include "tests/app/window/ui_checks.h"
#include "tests/app/window/ui_harness.h"

namespace roofscape {
namespace {

using test::Harness;
using widgets::Key;
using widgets::key_of;

void open_tour(Harness& h, const std::string& id) {
  h.parts.open_tour(id);
  h.step(2);
  REQUIRE(h.parts.panels.tour.open());
}
const app::TourPlay& play(const Harness& h) { return *h.parts.panels.tour.play; }
bool says(const Harness& h, std::string_view words) {
  const auto& texts = h.canvas.drawn_texts();
  return std::any_of(texts.begin(), texts.end(),
                     [&](const auto& t) { return t.text.find(words) != std::string::npos; });
}
void press(Harness& h, char key) { h.key({key_of(key)}); }

TEST_CASE("a tour asks, takes a choice by its digit, reveals on Page Down and goes on after that") {
  Harness h;
  open_tour(h, "llama-on-v5p");
  h.canvas.set_audit(true);
  h.step();
  CHECK_FALSE(says(h, "435\u202fyears."));
  press(h, '2');
  CHECK(play(h).play().chosen == 1);
  h.key({Key::page_down});
  CHECK(play(h).index() == 0);
  CHECK(play(h).play().revealed);
  CHECK(says(h, "Your guess was"));
  h.key({Key::page_down});
  CHECK(play(h).index() == 1);
  CHECK_FALSE(play(h).play().revealed);
  h.key({Key::page_up});
  CHECK(play(h).index() == 0);
  CHECK(play(h).score().answered == 1);
  CHECK(play(h).score().right == 0);
}

TEST_CASE("leaving a tour brings back what was open, with its undo, baseline and file") {
  Harness h("llama3-405b-16k-h100");
  h.parts.pin_or_unpin();
  engine::Scenario edited = h.scenario();
  edited.parallelism.tensor = 4;
  h.parts.session.update(edited, false);
  h.step();
  const engine::Scenario before = h.scenario();
  const std::string session = h.workspace.session_text();
  open_tour(h, "parallelism");
  CHECK_FALSE(h.scenario() == before);
  CHECK(h.workspace.session_text() == session);
  h.key({Key::page_down});
  h.key({Key::page_down});
  h.key({Key::escape});
  CHECK_FALSE(h.parts.panels.tour.open());
  CHECK(h.scenario() == before);
  CHECK(h.parts.session.history().can_undo());
  CHECK(h.parts.baseline != nullptr);
  CHECK(h.workspace.session_text() == session);
}

TEST_CASE("a tour is resumed at the scene where it was left") {
  Harness h;
  open_tour(h, "intro");
  h.key({Key::end});
  const std::size_t last = play(h).index();
  CHECK(last + 1 == play(h).count());
  h.key({Key::escape});
  CHECK(h.parts.tour_places.at("intro") == last);
}

TEST_CASE("a scene is reached by two digits and Enter, the first and last by Home and End") {
  Harness h;
  open_tour(h, "llama-on-v5p");
  press(h, '0');
  press(h, '4');
  h.key({Key::enter});
  CHECK(play(h).index() == 3);
  h.key({Key::home});
  CHECK(play(h).index() == 0);
  press(h, '9');  // no choice has this number
  press(h, '9');
  h.key({Key::enter});
  CHECK(play(h).index() + 1 == play(h).count());
}

TEST_CASE("a choice is taken by a click, and not after the answer is shown") {
  Harness h;
  open_tour(h, "rooflines");
  h.click("tour.choice.3");
  CHECK(play(h).play().chosen == 2);
  h.key({Key::enter});
  REQUIRE(play(h).play().revealed);
  CHECK(h.place("tour.choice.3") == nullptr);
  press(h, '1');
  CHECK(play(h).play().chosen == 2);
}

TEST_CASE("the answer is bent with the scene's own controls once it is shown") {
  Harness h;
  open_tour(h, "parallelism");
  press(h, '0'), press(h, '4'), h.key({Key::enter});
  REQUIRE(play(h).scene().id == "tensor-16");
  CHECK(h.place("parallelism.tensor") == nullptr);
  CHECK(h.scenario().parallelism.tensor == 4);  // the state before
  h.key({Key::page_down});
  CHECK(h.scenario().parallelism.tensor == 16);
  REQUIRE(h.place("parallelism.tensor") != nullptr);
  h.drag("parallelism.tensor", 0.9f, 0.2f);
  CHECK(h.scenario().parallelism.tensor < 16);
  h.key({Key::page_up});
  h.key({Key::page_down});
  CHECK(h.scenario().parallelism.tensor == 16);
}

TEST_CASE("inputs of a building block are bent too, and the sentence stays as it was told") {
  Harness h;
  open_tour(h, "rooflines");
  h.key({Key::page_down});
  REQUIRE(h.place("bench.in.batch") != nullptr);
  h.drag("bench.in.batch", 0.5f, 0.9f);
  REQUIRE(h.parts.panels.tour.bent != nullptr);
  CHECK(h.parts.panels.tour.bent->block()->question.call.number("batch") > 240);
  CHECK(h.parts.panels.tour.values->block()->question.call.number("batch") == 240);
}

TEST_CASE("the derivation of the answer opens with D and closes with Escape, before the tour does") {
  Harness h;
  open_tour(h, "llama-on-v5p");
  press(h, '0'), press(h, '4'), h.key({Key::enter});
  h.key({Key::page_down});
  press(h, 'D');
  CHECK(h.parts.panels.tour.derivation.trail == std::vector<std::string>{"memory.minimum_chips"});
  h.key({Key::escape});
  CHECK(h.parts.panels.tour.derivation.trail.empty());
  CHECK(h.parts.panels.tour.open());
}

TEST_CASE("B blackens the wall and W whitens it; Escape brings the picture back") {
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
  CHECK(h.parts.panels.wall.pinned ==
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
  Harness h(std::string(io::kStartScenario), 1920, 1080, "light");
  h.parts.settings.theme = "light";
  h.key({Key::f5});
  CHECK_FALSE(h.workspace.theme().dark());
}

TEST_CASE("no scene of any tour has text that is cut or drawn outside, covered or revealed") {
  for (const std::pair<float, float>& size : {std::pair{1920.0f, 1080.0f}, {1280.0f, 720.0f}}) {
    Harness h(std::string(io::kStartScenario), size.first, size.second);
    for (const io::TourPlace& place : io::tour_places(test::presets())) {
      open_tour(h, place.id);
      for (std::size_t i = 0; i < play(h).count(); ++i) {
        for (int part = 0; part < 2; ++part) {
          CAPTURE(place.id);
          CAPTURE(play(h).scene().id);
          CAPTURE(part);
          CAPTURE(size.first);
          test::check_texts(h, size.first);
          h.key({Key::page_down});
        }
      }
      h.key({Key::escape});
    }
  }
}

}  // namespace
}  // namespace roofscape
