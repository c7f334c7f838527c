// Scenes of tours as slides: in every language, covered and revealed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/core/export.h"
#include "app/core/strings.h"
#include "app/tours/guess_line.h"
#include "app/tours/scene_slide.h"
#include "tests/app/tours/tours_fixture.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"
#include "widgets/canvas/canvas_record.h"
#include "widgets/plot/plot.h"

namespace roofscape {
namespace {

using test::english;
using test::shipped;
using tests::kAnswer;
using tests::one_scene;
using tests::texts_in;
using tests::tours;

TEST_CASE("the plan of a scene is told in the language of its slide, names of models aside") {
  int plans = 0;
  for (const io::Tour& tour : tours()) {
    app::TourPlay play(tour);
    for (std::size_t i = 0; i < tour.scenes.size(); ++i) {
      const app::SceneValues values(tour.scenes[i], shipped());
      play.go_to(i);
      const std::string english_plan = app::slide_text(play, values, texts_in("en")).plan;
      for (const char* language : {"ko", "ru"}) {
        const std::string plan = app::slide_text(play, values, texts_in(language)).plan;
        for (const char* words : {" on ", "Serving ", " node", "tokens per", "cluster.slice"}) {
          CAPTURE(tour.id);
          CAPTURE(plan);
          CHECK_MESSAGE(plan.find(words) == std::string::npos, language << ": " << words);
        }
        // Neither sides with the letter x between them nor the id of a file.
        for (const char* field : {"model=", "cluster=", "cluster.chip=", "cluster.slice="})
          for (const std::string& change : tour.scenes[i].shown().set)
            if (change.starts_with(field))
              CHECK_MESSAGE(plan.find(change.substr(change.find('=') + 1)) == std::string::npos, plan);
      }
      plans += english_plan.find(" on ") != std::string::npos;
    }
  }
  CHECK(plans >= 30);
}

TEST_CASE("what a block's figure draws is made once, and anew when an input moves") {
  int blocks = 0;
  for (const io::Tour& tour : tours())
    for (const io::TourScene& scene : tour.scenes) {
      app::SceneValues values(scene, shipped());
      const app::BlockState* block = values.block();
      if (block == nullptr || scene.figures.empty()) continue;
      const engine::PictureData& first = values.picture(0, io::kShownState);
      CHECK(&values.picture(0, io::kShownState) == &first);
      CHECK_FALSE(first.lines.empty());
      if (first.over == nullptr || !first.now || !first.over->is_numeric()) continue;
      ++blocks;
      CAPTURE(tour.id);
      const double moved = 2 * *first.now;
      values.set_shown_input(first.over->name, moved);
      const auto now = values.picture(0, io::kShownState).now;
      REQUIRE(now);
      CHECK(*now == doctest::Approx(moved));
    }
  CHECK(blocks > 5);
}

TEST_CASE("a choice is told by its number and a tick when it is made, and by its number when the answer shows") {
  const widgets::FontStack fonts;
  const auto theme = app::load_theme("projector");
  REQUIRE(theme.ok());
  for (const std::string& language : app::language_names()) {
    CAPTURE(language);
    app::TourPlay play(tours().front());
    const app::SceneValues values(play.scene(), shipped());
    const auto draw = [&](const app::SlideText& text) {
      auto canvas =
          std::make_unique<widgets::RecordCanvas>(fonts, app::scene_em(1280, 720), widgets::Rect{0, 0, 1280, 720});
      app::draw_slide(*canvas, theme.value(), app::lay_out_slide(*canvas, canvas->bounds(), text, 0, false), text);
      CHECK(canvas->audit_text() == "");
      return canvas;
    };
    const auto ticks = [](const widgets::RecordCanvas& canvas) {
      return std::count_if(canvas.marks().begin(), canvas.marks().end(), [](const widgets::Mark& m) {
        return m.kind == widgets::Mark::Kind::line && m.points.size() == 3;
      });
    };
    const std::vector<io::TourChoice>& choices = play.scene().choices;
    std::size_t right = 0;
    while (!choices[right].right) ++right;
    const std::size_t wrong = right == 0 ? 1 : 0;
    CHECK(ticks(*draw(app::slide_text(play, values, texts_in(language)))) == 0);
    play.choose(wrong);
    const app::SlideText covered = app::slide_text(play, values, texts_in(language));
    CHECK(covered.hint.find(std::to_string(wrong + 1)) != std::string::npos);
    CHECK(ticks(*draw(covered)) == 1);
    play.reveal();
    const app::SlideText revealed = app::slide_text(play, values, texts_in(language));
    CHECK(revealed.right_choice == right + 1);
    CHECK(revealed.verdict.find("(" + std::to_string(wrong + 1)) != std::string::npos);
    CHECK(draw(revealed)->find_text(std::to_string(right + 1)));
  }
}

TEST_CASE("the words of every scene fit their slide at 1280 x 720 in every language, covered and revealed") {
  const widgets::FontStack fonts;
  widgets::RecordCanvas canvas(fonts, app::scene_em(1280, 720), {0, 0, 1280, 720});
  for (const io::Tour& tour : tours()) {
    app::TourPlay play(tour);
    for (std::size_t i = 0; i < tour.scenes.size(); ++i) {
      const app::SceneValues values(tour.scenes[i], shipped());
      for (const bool revealed : {false, true}) {
        play.go_to(i);
        if (revealed) play.reveal();
        for (const std::string& language : app::language_names()) {
          const auto layout =
              app::lay_out_slide(canvas, canvas.bounds(), app::slide_text(play, values, texts_in(language)), 0,
                                 app::guesses_number(tour.scenes[i], values));
          CHECK_MESSAGE(layout.fits, language << " " << tour.id << " " << tour.scenes[i].id
                                              << (revealed ? " answer" : " question"));
        }
      }
    }
  }
}

TEST_CASE("a covered figure shows neither the answer nor its takeaway") {
  const io::Tour tour = one_scene(R"("figure": "step", )" + kAnswer);
  const app::SceneValues values(tour.scenes.front(), shipped());
  const widgets::FontStack fonts;
  const auto theme = app::load_theme("projector");
  REQUIRE(theme.ok());
  const auto drawn = [&](bool revealed) {
    widgets::RecordCanvas canvas(fonts, 20, {0, 0, 1280, 720});
    widgets::StudyCache studies;
    app::draw_scene_figures(canvas, {0, 0, 800, 500},
                            {tour.scenes.front(), values, english(), theme.value(), shipped(), studies, revealed});
    return canvas.to_text();
  };
  CHECK(drawn(false).find("575") == std::string::npos);
  CHECK(drawn(true).find("575") != std::string::npos);
}

TEST_CASE("the answer is drawn on the axes of its question, in every scene that shows another state first") {
  const widgets::FontStack fonts;
  const auto theme = app::load_theme("projector");
  REQUIRE(theme.ok());
  int scenes = 0;
  for (const io::Tour& tour : tours())
    for (const io::TourScene& scene : tour.scenes) {
      if (!app::shares_axes(scene) || !scene.has_before() || scene.covered) continue;
      CAPTURE(tour.id);
      CAPTURE(scene.id);
      const app::SceneValues values(scene, shipped());
      widgets::StudyCache studies;
      const auto axes = [&](bool revealed) {
        widgets::RecordCanvas canvas(fonts, 20, {0, 0, 1280, 720});
        std::vector<widgets::DrawnFrame> frames;
        canvas.set_frames(&frames);
        app::draw_scene_figures(canvas, {0, 0, 800, 500},
                                {scene, values, english(), theme.value(), shipped(), studies, revealed});
        return frames;
      };
      const auto asked = axes(false), answered = axes(true);
      if (asked.empty() || answered.empty()) continue;
      const auto same = [](const widgets::Scale& a, const widgets::Scale& b) {
        CHECK(a.kind() == b.kind());
        CHECK(b.from() == doctest::Approx(a.from()));
        CHECK(b.to() == doctest::Approx(a.to()));
      };
      same(asked.front().x, answered.front().x);
      same(asked.front().y, answered.front().y);
      ++scenes;
    }
  CHECK(scenes >= 10);
}

// Words and numbers, without the punctuation around them.
std::set<std::string> words_of(const std::string& text) {
  std::set<std::string> words;
  std::string word;
  const auto end = [&] {
    while (!word.empty() && (word.back() == '.' || word.back() == ':')) word.pop_back();
    if (!word.empty()) words.insert(std::exchange(word, {}));
  };
  for (const char c : text)
    if (std::isspace(static_cast<unsigned char>(c)) || std::string_view(",;?!()").find(c) != std::string_view::npos)
      end();
    else
      word += c;
  end();
  return words;
}

TEST_CASE("nothing that stands on the slide of a covered question tells its answer") {
  const widgets::FontStack fonts;
  const auto theme = app::load_theme("projector");
  REQUIRE(theme.ok());
  int scenes = 0;
  for (const io::Tour& tour : tours()) {
    app::TourPlay play(tour);
    for (std::size_t i = 0; i < tour.scenes.size(); ++i) {
      const io::TourScene& scene = tour.scenes[i];
      if (!scene.covered) continue;
      play.go_to(i);
      const app::SceneValues values(scene, shipped());
      widgets::StudyCache studies;
      for (const std::string& language : app::language_names()) {
        const widgets::TextTable& texts = texts_in(language);
        const app::SlideText slide = app::slide_text(play, values, texts);
        std::vector<std::string> told{slide.title, slide.plan, slide.context, slide.question};
        widgets::RecordCanvas canvas(fonts, 20, {0, 0, 1280, 720});
        app::draw_scene_figures(canvas, {0, 0, 800, 500},
                                {scene, values, texts, theme.value(), shipped(), studies, false});
        // Of the figure its title; numbers alone are those of its axes.
        for (const widgets::TextRun& run : canvas.texts())
          if (run.text.find_first_not_of("0123456789., \u00a0\u202fkMGT%") != std::string::npos)
            told.push_back(run.text);
        const std::string answer = values.answer_text(texts);
        for (const std::string& text : told) {
          CAPTURE(tour.id);
          CAPTURE(scene.id);
          CAPTURE(language);
          CAPTURE(text);
          const bool tells = answer.find(' ') != std::string::npos ? text.find(answer) != std::string::npos
                                                                   : words_of(text).contains(answer);
          CHECK_MESSAGE(!tells, answer);
        }
        ++scenes;
      }
    }
  }
  CHECK(scenes >= 150);
}

TEST_CASE("large numbers are told as a language counts") {
  const io::Tour tour = one_scene(R"("figure": "step", )" + kAnswer);
  const app::SceneValues values(tour.scenes.front(), shipped());
  const auto told = [&](double number, const char* form, const char* language) {
    return values.write({number, engine::unit::one}, form, texts_in(language));
  };
  CHECK(told(70.6e9, "billions", "en") == "70.6 billion");
  CHECK(told(70.6e9, "billions", "ko") == "706억");
  CHECK(told(4.19e6, "millions", "ko") == "419만");
  CHECK(told(15e12, "trillions", "ko") == "15조");
}

TEST_CASE("choices that are changes have their sign, more as well as less") {
  for (const io::Tour& tour : tours())
    for (const io::TourScene& scene : tour.scenes) {
      const app::SceneValues values(scene, shipped());
      for (std::size_t i = 0; i < scene.choices.size(); ++i)
        if (const auto value = values.choice_value(i); value && *value > 0)
          CHECK(values.choice_text(i, english()).starts_with('+') == values.tells_change());
    }
}

}  // namespace
}  // namespace roofscape
