// Tours: scenes asked and revealed, what was open waiting meanwhile, guesses, tours of one's own.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "app/shell/commands.h"
#include "app/tours/guess_line.h"
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

void open_tour(Harness& h, const std::string& id) {
  h.parts.open_tour(id);
  h.step(2);
  REQUIRE(h.parts.panels.tour.open());
}
const app::TourPlay& play(const Harness& h) { return *h.parts.panels.tour.play; }

TEST_CASE("a tour asks, takes a choice by its digit, reveals on Page Down and goes on after that") {
  Harness h;
  open_tour(h, "llama-on-v5p");
  h.canvas.set_audit(true);
  h.step();
  CHECK_FALSE(drawn(h, "435\u202fyears."));
  press(h, '2');
  CHECK(play(h).play().chosen == 1);
  h.key({Key::page_down});
  CHECK(play(h).index() == 0);
  CHECK(play(h).play().revealed);
  CHECK(drawn(h, "Your guess was"));
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

TEST_CASE("left for the desk, a tour leaves the theme that the window had") {
  Harness h(test::kBookScenario, 1920, 1080, "light");  // the setting is dark
  const widgets::Colour before = h.workspace.theme().win;
  open_tour(h, "parallelism");
  CHECK_FALSE(h.workspace.theme().win == before);
  h.key({Key::escape});
  h.step(2);
  REQUIRE_FALSE(h.parts.panels.tour.open());
  CHECK(h.workspace.theme().win == before);
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

TEST_CASE("a scene without a guess on its figure keeps its axes from the question to the answer") {
  Harness h;
  open_tour(h, "cs231n-1");
  for (int i = 0; i < 20 && play(h).scene().id != "three-times-the-peak"; ++i) h.key({Key::page_down});
  REQUIRE(play(h).scene().mark.kind == io::TourMark::Kind::none);
  REQUIRE_FALSE(play(h).play().revealed);
  h.step(2);
  const auto asked = h.parts.held_axes.range("step.x");
  const double before =
      h.parts.panels.tour.values->plan(io::kBeforeState)->report.quantities.value_or(engine::Q::step_time, 0);
  CHECK(asked.to >= before);
  h.key({Key::page_down});
  h.step(2);
  CHECK(play(h).play().revealed);
  CHECK(h.parts.held_axes.range("step.x").to == asked.to);
}

TEST_CASE("the guess is dragged along the axis of the answer, at a choice it is that choice") {
  Harness h;
  open_tour(h, "llama-on-v5p");
  press(h, '0'), press(h, '2'), h.key({Key::enter});
  const auto* line = h.place("tour.guess");
  REQUIRE(line != nullptr);
  const widgets::Rect r = line->rect;
  h.move({r.x + 0.3f * r.w, r.centre().y});
  h.press();
  h.move({r.x + 0.45f * r.w, r.centre().y});
  h.release();
  const double guess = app::guessed_value(play(h).play(), *h.parts.panels.tour.values).value_or(0);
  CHECK(guess > 0);
  press(h, '3');
  CHECK(play(h).play().chosen == 2);
  CHECK_FALSE(play(h).play().guess);
  const double days = play(h).scene().answer.empty() ? 0 : h.parts.panels.tour.values->answer()->value;
  CHECK(test::drawn(h, "Your guess: 44"));
  h.key({Key::up});
  CHECK_FALSE(play(h).play().chosen);
  CHECK(app::guessed_value(play(h).play(), *h.parts.panels.tour.values).value_or(0) > days);
  h.key({Key::page_down});
  CHECK(h.place("tour.guess") == nullptr);
  CHECK(play(h).play().revealed);
}

TEST_CASE("the gap between guess and answer is named by what makes it") {
  Harness h;
  open_tour(h, "cs231n-1");
  const auto& tour = play(h).tour();
  for (std::size_t i = 0; i < tour.scenes.size(); ++i) {
    const app::SceneValues values(tour.scenes[i], test::presets());
    const std::string term = app::gap_term(tour.scenes[i], values, h.workspace.texts());
    if (tour.scenes[i].id == "long-sequences" || tour.scenes[i].id == "hybrid") CHECK(term.starts_with("mostly "));
    if (tour.scenes[i].answer.empty()) CHECK(term.empty());
  }
}

TEST_CASE("a scene of what is shown goes into a tour of one's own, which is opened, edited and ordered") {
  const test::TemporaryFolder folder;
  ::setenv("XDG_DATA_HOME", folder.path().c_str(), 1);
  const auto file = folder.path() / "roofscape/presets/tours/my-lecture.json";
  {
    Harness h("llama3-70b-v5p-pod");
    for (const char* title : {"First", "Second"}) {
      app::find_command("tour.add_scene")->run(h.workspace);
      h.step(2);
      auto& sheet = h.parts.panels.sheets.scene;
      CHECK(sheet.file == file.string());
      h.type(title);
      h.key({Key::enter});
      h.type("How long?");
      h.key({Key::enter});
      h.key({Key::enter});
      h.key({Key::enter});
      h.step(2);
      CHECK_MESSAGE(h.parts.panels.sheets.shown == app::Sheet::none, sheet.problem);
    }
    h.parts.open_tour(file.string());
    h.step(2);
    REQUIRE(h.parts.panels.tour.open());
    CHECK(play(h).tour().title.in("en") == "My lecture");
    REQUIRE(play(h).count() == 2);
    CHECK(play(h).scene().title.in("en") == "First");
    CHECK(play(h).scene().question.in("en") == "How long?");
    app::find_command("tour.scene_later")->run(h.workspace);
    h.step(2);
    CHECK(play(h).scene().title.in("en") == "First");
    CHECK(play(h).index() == 1);
    app::find_command("tour.edit_scene")->run(h.workspace);
    h.step(2);
    h.parts.panels.sheets.scene.words[app::SceneSheetState::answer] = "mfv";
    h.click("scene.ok");
    h.step(2);
    CHECK(h.parts.panels.sheets.shown == app::Sheet::scene);
    CHECK(h.parts.panels.sheets.scene.problem.find("mfv") != std::string::npos);
    h.parts.panels.sheets.scene.words[app::SceneSheetState::answer] = "mfu";
    h.click("scene.ok");
    h.step(2);
    CHECK(play(h).scene().answer.text() == "mfu");
    // The step's bar is offered for a step, and kept; of another answer it says nothing.
    app::find_command("tour.scene_earlier")->run(h.workspace);
    h.step(2);
    app::find_command("tour.edit_scene")->run(h.workspace);
    h.step(2);
    auto& sheet = h.parts.panels.sheets.scene;
    CHECK(sheet.mark.kind == io::TourMark::Kind::none);
    const std::string figure = play(h).scene().figures.front().name;
    CAPTURE(figure);
    REQUIRE(sheet.offers.size() >= 1);
    sheet.words[app::SceneSheetState::answer] = "memory.chip_total_bytes";
    h.step(2);
    const auto offered = [&](io::TourMark::Kind kind) {
      return std::find_if(sheet.offers.begin(), sheet.offers.end(),
                          [kind](const app::MarkOffer& offer) { return offer.mark.kind == kind; });
    };
    if (figure == "memory") {
      REQUIRE(offered(io::TourMark::Kind::bar) != sheet.offers.end());
      sheet.mark = offered(io::TourMark::Kind::bar)->mark;
      h.click("scene.ok");
      h.step(2);
      REQUIRE(h.parts.panels.sheets.shown == app::Sheet::none);
      CHECK(play(h).scene().mark.tag == "memory.chip_total_bytes");
      REQUIRE(h.parts.panels.tour.mark);
      CHECK(h.parts.panels.tour.mark->place);
      app::find_command("tour.edit_scene")->run(h.workspace);
      h.step(2);
      CHECK(sheet.mark.tag == "memory.chip_total_bytes");
      sheet.words[app::SceneSheetState::answer] = "mfu";
      h.step(2);
      CHECK(sheet.mark.kind == io::TourMark::Kind::none);
      h.click("scene.ok");
      h.step(2);
      CHECK(play(h).scene().mark.kind == io::TourMark::Kind::none);
    }
    app::find_command("tour.remove_scene")->run(h.workspace);
    h.step(2);
    CHECK(play(h).count() == 1);
    CHECK(play(h).scene().title.in("en") == "Second");
  }
  ::unsetenv("XDG_DATA_HOME");
}

TEST_CASE("what the pen drew stays with its scene, through the answer and until one comes back") {
  Harness h;
  open_tour(h, "intro");
  auto& marks = h.parts.panels.marks;
  marks.pen.push_back({{0.1f, 0.1f}, {0.2f, 0.3f}});
  h.key({Key::page_down});
  CHECK(marks.pen.size() == 1);
  h.key({Key::page_down});
  CHECK(marks.pen.empty());
  h.key({Key::page_up});
  CHECK(marks.pen.size() == 1);
  h.key({Key::escape});
  CHECK(marks.pen.empty());
  CHECK(h.parts.panels.tour.open());
}

TEST_CASE("no scene of any tour has text that is cut or on another in any language, covered or revealed") {
  struct Look {
    const char* language;
    float first, second;
  };
  for (const Look& size : {Look{"en", 1920, 1080}, {"ko", 1280, 720}, {"ru", 1280, 720}}) {
    app::Settings settings;
    settings.language = size.language;
    Harness h(test::preset(test::kBookScenario), test::kBookScenario, size.first, size.second, "dark", settings);
    // The longest words are Russian; the other two share the tours between them.
    bool others = size.first > 1500;
    for (const io::TourPlace& place : io::tour_places(test::presets())) {
      others = !others;
      if (others && std::string_view(size.language) != "ru") continue;
      open_tour(h, place.id);
      for (std::size_t i = 0; i < play(h).count(); ++i) {
        for (int part = 0; part < 2; ++part) {
          CAPTURE(place.id);
          CAPTURE(play(h).scene().id);
          CAPTURE(part);
          CAPTURE(size.first);
          CAPTURE(size.language);
          test::check_texts(h, size.first);
          // What cannot run says so over the figure of the last plan that could.
          if (play(h).scene().runs || part == 0) test::check_overlaps(h);
          h.key({Key::page_down});
        }
      }
      h.key({Key::escape});
    }
  }
}

}  // namespace
}  // namespace roofscape
