// Guesses that are set on the figure itself, the lecturer's window, and motion as the system asks for it.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <string>

#include "app/panels/presenter_panel.h"
#include "app/session/reduced_motion.h"
#include "app/shell/commands.h"
#include "app/tours/guess_line.h"
#include "app/tours/guess_mark.h"
#include "tests/app/window/ui_checks.h"
#include "tests/app/window/ui_harness.h"
#include "tests/capture_binding.h"
#include "tests/engine/io/io_fixture.h"

namespace roofscape {
namespace {

using test::Harness;
using widgets::Key;
using widgets::key_of;
using widgets::Point;
using widgets::Rect;

void open_scene(Harness& h, const std::string& tour, const std::string& id) {
  h.parts.open_tour(tour);
  h.step(2);
  auto& play = *h.parts.panels.tour.play;
  const auto& scenes = play.tour().scenes;
  for (std::size_t i = 0; i < scenes.size(); ++i)
    if (scenes[i].id == id) {
      h.parts.go_to_scene(i);
      h.step(2);
      return;
    }
  FAIL("no such scene: " << id);
}
const app::TourPlay& lecture(const Harness& h) { return *h.parts.panels.tour.play; }
const app::SceneValues& told(const Harness& h) { return *h.parts.panels.tour.values; }
const app::MarkPlace& marked(const Harness& h) {
  REQUIRE(h.parts.panels.tour.mark);
  REQUIRE(h.parts.panels.tour.mark->place);
  return *h.parts.panels.tour.mark->place;
}
double guessed(const Harness& h) { return app::guessed_value(lecture(h).play(), told(h)).value_or(std::nan("")); }
// A place of the figure at which its mark stands for this value of the axis.
Point where(const app::MarkPlace& place, double value) {
  const float along = place.position(value);
  return place.along_x ? Point{along, place.band.centre().y} : Point{place.frame.plot.centre().x, along};
}
void pull(Harness& h, Point from, Point to) {
  h.move(from);
  h.press();
  for (int i = 1; i <= 4; ++i) h.move(from + (to - from) * (static_cast<float>(i) / 4));
}

TEST_CASE("a mark that is dragged to where the answer is gives the answer, in all scenes that ship") {
  std::size_t marks = 0;
  std::vector<io::InputError> problems;
  Harness h;
  for (const io::Tour& tour : io::load_tours(test::presets(), problems))
    for (std::size_t i = 0; i < tour.scenes.size(); ++i) {
      const io::TourScene& scene = tour.scenes[i];
      if (scene.mark.kind == io::TourMark::Kind::none) continue;
      INFO(tour.id, " ", scene.id);
      ++marks;
      open_scene(h, tour.id, scene.id);
      REQUIRE(h.place("tour.mark") != nullptr);
      CHECK(h.place("tour.guess") == nullptr);
      const app::MarkPlace before = marked(h);
      const Point end = where(before, before.answer);
      pull(h, end - Point{30, 0}, end);
      h.release();
      const double answer = told(h).answer()->value;
      CHECK(std::abs(guessed(h) - answer) <= 0.06 * std::abs(answer));
      CHECK(lecture(h).is_right(i, told(h)) == true);
      h.key({Key::page_down});
      CHECK(lecture(h).play().revealed);
      // The axes are those that the guess was set on.
      const app::MarkPlace& after = marked(h);
      CHECK(after.frame.x.from() == doctest::Approx(before.frame.x.from()));
      CHECK(after.frame.x.to() == doctest::Approx(before.frame.x.to()));
      CHECK(after.frame.y.to() == doctest::Approx(before.frame.y.to()));
      CHECK(after.frame.plot == before.frame.plot);
      h.key({Key::escape});
    }
  CHECK(marks >= 30);
}

TEST_CASE("what is said of a gap covers no words of the figure, in all scenes that ship") {
  std::size_t gaps = 0;
  std::vector<io::InputError> problems;
  Harness h;
  h.canvas.set_audit(true);
  for (const io::Tour& tour : io::load_tours(test::presets(), problems))
    for (const io::TourScene& scene : tour.scenes) {
      if (scene.mark.kind == io::TourMark::Kind::none) continue;
      INFO(tour.id, " ", scene.id);
      open_scene(h, tour.id, scene.id);
      const app::MarkPlace place = marked(h);
      // Far from the answer, at the other end of the axis.
      const widgets::Rect& plot = place.frame.plot;
      const float at = place.position(place.answer);
      const Point wrong = place.along_x
                              ? Point{plot.x + plot.w * (at > plot.centre().x ? 0.2f : 0.8f), place.band.centre().y}
                              : Point{plot.x + plot.w * 0.7f, plot.y + plot.h * (at > plot.centre().y ? 0.2f : 0.8f)};
      pull(h, place.along_x ? wrong + Point{10, 0} : wrong + Point{0, 10}, wrong);
      h.release();
      h.key({Key::page_down});
      h.wait(0.5);
      h.step(2);
      const auto& all = h.canvas.drawn_texts();
      const auto gap =
          std::find_if(all.begin(), all.end(), [](const auto& t) { return t.text.starts_with("The difference: "); });
      if (gap != all.end()) {
        ++gaps;
        for (const auto& other : all) {
          if (&other == &*gap || !other.upright) continue;
          const Rect both = widgets::intersection(gap->rect, widgets::intersection(other.rect, other.clip));
          CAPTURE(other.text);
          CHECK((both.w < 3 || both.h < 0.4f * std::min(gap->rect.h, other.rect.h)));
        }
      }
      h.key({Key::escape});
    }
  CHECK(gaps >= 4);
}

TEST_CASE("the end of a bar is dragged beyond what is drawn, taken back, given up, and stepped by keys") {
  Harness h;
  open_scene(h, "cs231n-1", "hybrid");
  REQUIRE(marked(h).along_x);
  const app::MarkPlace place = marked(h);
  CHECK(test::drawn(h, "Drag the end of the bar"));
  const double before = h.report().quantities.value_or(engine::Q::step_time, 0);
  CHECK(place.frame.x.to() * place.frame.frame.x.unit > 1.3 * before);
  pull(h, where(place, before), where(place, 0.5 * before));
  CHECK(test::drawn(h, "Your guess:"));
  h.release();
  CHECK(guessed(h) == doctest::Approx(-0.5).epsilon(0.05));
  // Esc gives up what is being dragged and does not leave the tour; Ctrl+Z takes a guess back.
  pull(h, where(place, 0.5 * before), where(place, before));
  h.key({Key::escape});
  h.move(where(place, 1.2 * before));
  h.release();
  REQUIRE(h.parts.panels.tour.open());
  CHECK(guessed(h) == doctest::Approx(-0.5).epsilon(0.05));
  const double kept = guessed(h);
  h.key({Key::up});
  CHECK(guessed(h) > kept);
  h.key({key_of('Z'), true});
  CHECK(guessed(h) == doctest::Approx(kept));
  h.key({key_of('Z'), true});
  CHECK_FALSE(lecture(h).play().guessed());
  CHECK_FALSE(lecture(h).can_undo());
  h.key({Key::down});
  h.key({Key::page_down});
  h.wait(1);
  h.step(2);
  CHECK(test::drawn(h, "The difference: "));
  const double told = guessed(h);
  h.key({key_of('Z'), true});
  CHECK(guessed(h) == told);
}

TEST_CASE("a number that is chosen by its digit stands on the figure too, and the other way round") {
  Harness h;
  open_scene(h, "rooflines", "threshold");
  h.key({key_of('3')});
  REQUIRE(lecture(h).play().chosen == 2);
  const auto stands = app::guessed_mark(lecture(h).play(), told(h), marked(h));
  REQUIRE(stands);
  CHECK(*stands == doctest::Approx(told(h).answer()->value));
  h.key({key_of('Z'), true});
  CHECK_FALSE(lecture(h).play().chosen);
  const Point there = where(marked(h), *stands);
  pull(h, there + Point{40, 0}, there);
  h.release();
  CHECK(lecture(h).play().chosen == 2);
}

TEST_CASE("a line that is drawn by hand stays over the one that is told, and counts where the answer is") {
  Harness h;
  app::find_command("language.ko")->run(h.workspace);
  open_scene(h, "serving", "speculation");
  REQUIRE(lecture(h).scene().mark.kind == io::TourMark::Kind::sketch);
  const app::MarkPlace place = marked(h);
  const Rect plot = place.frame.plot;
  pull(h, {plot.x + 5, plot.bottom() - 5}, {plot.right() - 5, plot.y + 5});
  h.release();
  CHECK(lecture(h).play().sketch.size() > 3);
  const float share = (place.across - plot.x) / plot.w;
  CHECK(guessed(h) == doctest::Approx(place.value({0, plot.bottom() - share * plot.h})).epsilon(0.1));
  h.key({Key::page_down});
  CHECK(lecture(h).play().sketch.size() > 3);
}

TEST_CASE("a part is ticked in the figure") {
  Harness h;
  open_scene(h, "profiling", "bottleneck");
  std::size_t right = 0;
  for (std::size_t i = 0; i < lecture(h).scene().choices.size(); ++i)
    if (lecture(h).scene().choices[i].right) right = i;
  const std::string id = "tour.tick." + std::to_string(right + 1);
  REQUIRE(h.place(id) != nullptr);
  h.click(id);
  CHECK(lecture(h).play().chosen == right);
  h.key({key_of('Z'), true});
  CHECK_FALSE(lecture(h).play().chosen);
  h.click(id);
  h.key({Key::page_down});
  CHECK(lecture(h).score().right == 1);
  CHECK(h.place(id) == nullptr);
}

TEST_CASE("the lecturer's window tells the answer, the next scene and the time, and opens on the wall only") {
  Harness h;
  const app::Command* command = app::find_command("wall.presenter");
  REQUIRE(command != nullptr);
  h.key({Key::f10});
  CHECK_FALSE(h.workspace.presents());
  open_scene(h, "intro", "cube");
  h.key({Key::f10});
  CHECK(h.workspace.presents());
  // What the second window would draw.
  ImDrawList list(ImGui::GetDrawListSharedData());
  const Rect window{0, 0, 1200, 720};
  h.canvas.set_audit(true);
  for (const bool revealed : {false, true}) {
    if (revealed) h.key({Key::page_down});
    widgets::compat::begin_list(list, window.w, window.h);
    h.workspace.draw_presenter(h.canvas, &list, window, "9:41", 4520);
    CHECK(test::drawn(h, "9:41"));
    CHECK(test::drawn(h, "1:15"));
    CHECK(test::drawn(h, told(h).answer_text(h.workspace.texts())));
    for (std::size_t i = 0; i < lecture(h).scene().choices.size(); ++i)
      if (lecture(h).scene().choices[i].right) CHECK(test::drawn(h, std::to_string(i + 1)));
    CHECK(test::drawn(h, std::string(lecture(h).tour().scenes[lecture(h).index() + 1].title.in("en"))));
    CHECK(list.VtxBuffer.Size > 1000);
    h.step();
  }
  h.key({Key::escape});
  CHECK_FALSE(h.workspace.presents());
}

TEST_CASE("the lecturer's window shows the projected figure, and the guess of a scene on its slide") {
  Harness h;
  ImDrawList list(ImGui::GetDrawListSharedData());
  const Rect window{0, 0, 1200, 720};
  h.canvas.set_audit(true);
  const auto present = [&] {
    widgets::compat::begin_list(list, window.w, window.h);
    h.workspace.draw_presenter(h.canvas, &list, window, "9:41", 60);
  };
  h.key({Key::f5});
  h.key({Key::f10});
  REQUIRE(h.workspace.presents());
  std::set<int> sizes;
  for (const char* name : {"roofline", "step"}) {
    CAPTURE(std::string(name));
    h.parts.panels.projector.figure = widgets::figure_index(*widgets::find_figure(name));
    h.step(2);
    present();
    CHECK(list.VtxBuffer.Size > 1800);  // a picture, not a title
    sizes.insert(list.VtxBuffer.Size);
    h.step();
  }
  CHECK(sizes.size() == 2);  // each figure its own
  h.key({Key::escape});
  // Bars of a scene: what is dragged on the wall stands on the slide here too, at the same value.
  open_scene(h, "cs231n-1", "eight-copies");
  h.key({Key::f10});
  present();
  const auto& mark = h.parts.panels.presenter_mark.at;
  REQUIRE(mark);
  REQUIRE(mark->place);
  pull(h, where(marked(h), marked(h).answer * 0.6), where(marked(h), marked(h).answer * 0.8));
  h.release();
  present();
  CHECK(app::guessed_mark(lecture(h).play(), told(h), *mark->place).value_or(0) ==
        doctest::Approx(app::guessed_mark(lecture(h).play(), told(h), marked(h)).value_or(-1)).epsilon(0.02));
}

TEST_CASE("nothing slides where the desktop asks for that, unless it was chosen otherwise") {
  const test::TemporaryFolder folder;
  const auto write = [&](const std::string& file, const std::string& text) {
    std::filesystem::create_directories((folder.path() / file).parent_path());
    std::ofstream(folder.path() / file) << text;
  };
  CHECK_FALSE(app::asks_for_stillness({}));
  CHECK_FALSE(app::asks_for_stillness(folder.path()));
  for (const auto& [file, off, on] :
       {std::array{"gtk-3.0/settings.ini", "[Settings]\ngtk-enable-animations = 0\n",
                   "[Settings]\ngtk-enable-animations=1\n"},
        std::array{"gtk-4.0/settings.ini", "[Settings]\r\ngtk-enable-animations=false\r\n",
                   "[Other]\ngtk-enable-animations=false\n"},
        std::array{"kdeglobals", "[KDE]\nAnimationDurationFactor=0\n", "[KDE]\nAnimationDurationFactor=1\n"},
        std::array{"glib-2.0/settings/keyfile", "[org/gnome/desktop/interface]\nenable-animations=false\n",
                   "[org/gnome/desktop/interface]\nenable-animations=true\n"}}) {
    CAPTURE_BINDING(file);
    write(file, off);
    CHECK(app::asks_for_stillness(folder.path()));
    write(file, on);
    CHECK_FALSE(app::asks_for_stillness(folder.path()));
  }
  write("kdeglobals", std::string("[KDE\0=\xff\n[[[\n=\n", 14));
  CHECK_FALSE(app::asks_for_stillness(folder.path()));

  Harness h;
  CHECK_FALSE(h.workspace.still());
  h.workspace.set_system_still(true);
  CHECK(h.workspace.still());
  app::find_command("view.still")->run(h.workspace);
  CHECK_FALSE(h.workspace.still());
  CHECK(h.parts.settings.still == false);
  // Files of versions before said that motion was wanted whether it was chosen or not.
  write("old.json", R"({"version": "2", "motion.still": "0"})");
  CHECK_FALSE(app::read_settings(folder.path() / "old.json").still.has_value());
  write("new.json", R"({"version": "3", "motion.still": "0"})");
  CHECK(app::read_settings(folder.path() / "new.json").still == false);
}

}  // namespace
}  // namespace roofscape
