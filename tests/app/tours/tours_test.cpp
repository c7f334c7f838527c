// Tours: their files, the numbers of their scenes, and that all that ship hold what they say.
#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/core/strings.h"
#include "app/tours/scene_values.h"
#include "app/tours/tour_check.h"
#include "app/tours/tour_play.h"
#include "app/tours/tour_text.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/io/tour/tour_edit.h"
#include "tests/app/tours/tours_fixture.h"
#include "tests/capture_binding.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

namespace roofscape {
namespace {

using test::english;
using test::in_english;
using test::shipped;
using tests::kAnswer;
using tests::kScenario;
using tests::one_scene;
using tests::texts_in;
using tests::tours;

// A tour of one scene with members added or replaced; the text of its error, or "".
std::string error_of(const std::string& members, const std::string& figure = R"("figure": "step")") {
  const std::string text = R"({"title": "T", "scenes": [{"title": "t", "question": "q", "sentence": "s", )" + figure +
                           ", " + members + "}]}";
  const auto tour = io::read_tour(text, "my.json", shipped());
  return tour ? std::string() : in_english(tour.error());
}

std::optional<io::TourNumber> computed(std::string_view formula) {
  engine::Sentence problem;
  const auto read = io::TourFormula::parse(formula, problem);
  REQUIRE_MESSAGE(read.has_value(), in_english(problem));
  return read->compute([](const io::TourReference& r) -> std::optional<io::TourNumber> {
    namespace unit = engine::unit;
    if (r.name == "time") return io::TourNumber{r.state == "before" ? 4.0 : 2.0, unit::seconds};
    if (r.name == "bytes") return io::TourNumber{10, unit::bytes};
    if (r.name == "share") return io::TourNumber{0.25, unit::fraction};
    return std::nullopt;
  });
}

TEST_CASE("twelve tours ship, with sixty-six scenes or more") {
  CHECK(tours().size() >= 12);
  std::size_t scenes = 0;
  for (const io::Tour& tour : tours()) scenes += tour.scenes.size();
  CHECK(scenes >= 66);
}

TEST_CASE("every scene of every tour that ships holds what it says") {
  for (const io::Tour& tour : tours())
    for (const io::InputError& finding : app::check_tour(tour, shipped(), english())) FAIL_CHECK(in_english(finding));
}

TEST_CASE("every answer that is a number has the range it is expected in") {
  for (const io::Tour& tour : tours())
    for (const io::TourScene& scene : tour.scenes)
      CHECK_MESSAGE((scene.answer.empty() || scene.range.has_value()), tour.id << " " << scene.id);
}

TEST_CASE("every text of every tour that ships is there in every language") {
  const auto complete = [](const io::TourText& text, const std::string& where) {
    if (text.empty()) return;
    for (const std::string& language : app::language_names())
      CHECK_MESSAGE(text.by_language.contains(language), where << " is not there in " << language);
  };
  for (const io::Tour& tour : tours()) {
    complete(tour.title, tour.id + " title");
    complete(tour.about, tour.id + " about");
    for (const io::TourScene& scene : tour.scenes) {
      const std::string at = tour.id + " " + scene.id;
      for (const auto* text :
           {&scene.title, &scene.context, &scene.question, &scene.sentence, &scene.notes, &scene.source})
        complete(*text, at);
      for (const io::TourChoice& choice : scene.choices) complete(choice.text, at);
    }
  }
}

TEST_CASE("a translation of a scene has the numbers of the English text") {
  const auto numbers = [](std::string_view text) {
    engine::Sentence problem;
    std::multiset<std::string> out;
    const auto pieces = io::cut_text(text, problem);
    REQUIRE(pieces);
    for (const io::TourPiece& piece : *pieces)
      if (!piece.formula.empty()) out.insert(piece.formula.text());
    return out;
  };
  for (const io::Tour& tour : tours())
    for (const io::TourScene& scene : tour.scenes)
      for (const auto* text : {&scene.context, &scene.question, &scene.sentence})
        for (const auto& [language, words] : text->by_language) {
          CAPTURE_BINDING(words);
          CHECK_MESSAGE(numbers(words) == numbers(text->in("en")), tour.id << " " << scene.id);
        }
}

TEST_CASE("a text that a language does not have is shown in English") {
  io::TourText text;
  text.by_language["en"] = "word";
  CHECK(text.in("ko") == "word");
}

TEST_CASE("no text of a slide is left with a brace or without a number") {
  for (const io::Tour& tour : tours()) {
    for (const std::string& language : app::language_names()) {
      const std::string document = app::tour_document(tour, shipped(), texts_in(language));
      CAPTURE(document);
      CHECK(document.find_first_of("{}") == std::string::npos);
      CHECK(document.find("nan") == std::string::npos);
      if (language != "ru") CHECK(document.find("\u2014") == std::string::npos);  // there it is a dash between words
    }
  }
}

TEST_CASE("a formula computes with the precedence of arithmetic") {
  CHECK(computed("1 + 2 * 3")->value == 7);
  CHECK(computed("(1 + 2) * 3")->value == 9);
  CHECK(computed("10 - 2 - 3")->value == 5);
  CHECK(computed("-time + 3")->value == 1);
  CHECK(computed("max(time, before:time)")->value == 4);
  CHECK(computed("min(1, 2) < 1.5")->value == 1);
  CHECK(computed("2 > 3")->value == 0);
}

TEST_CASE("what a formula comes to is counted in the unit of what it is made of") {
  CHECK(computed("time * 2")->unit == engine::unit::seconds);
  CHECK(computed("before:time - time")->unit == engine::unit::seconds);
  CHECK(computed("before:time / time")->unit == engine::unit::one);
  CHECK(computed("bytes / time")->unit == engine::unit::bytes_per_s);
  CHECK(computed("1 - share")->unit == engine::unit::fraction);
}

TEST_CASE("a formula without an answer has none: unknown names, division by zero, sums of unlike things") {
  CHECK_FALSE(computed("elsewhere"));
  CHECK_FALSE(computed("time / 0"));
  CHECK_FALSE(computed("time + bytes"));
}

TEST_CASE("a broken tour is one line with path and remedy") {
  struct Broken {
    std::string members, answer;
  };
  const Broken all[] = {
      {kScenario,
       "my.json: scenes.0.answer: is missing; give the quantity that is asked for, or choices with one that "
       "is right"},
      {kAnswer,
       "my.json: scenes.0.scenario: is missing; give the id of a scenario preset, a scenario as an object, or "
       "a \"block\""},
      {kScenario + R"(, "answer": "mfv", "choices": [1, "answer"])",
       "my.json: scenes.0.answer: \"mfv\" is neither a quantity nor a field of the scenario; did you mean \"mfu\"?"},
      {kScenario + R"(, "answer": "mfu +", "choices": [1, "answer"])",
       "my.json: scenes.0.answer: the formula ends too early; write quantities with + - * /, such as step.time_s / "
       "before:step.time_s"},
      {kScenario + R"(, "answer": "old:mfu", "choices": [1, "answer"])",
       "my.json: scenes.0.answer: the scene has no state \"old\"; add it under \"states\""},
      {kScenario + ", " + kAnswer + R"(, "set": ["parallelism.tensor=no"])",
       "my.json: scenes.0.set: parallelism.tensor: "},
      {kScenario + ", " + kAnswer + R"(, "controls": ["parallelism.tensr"])",
       "my.json: scenes.0.controls.0: \"parallelism.tensr\" is no field that this scenario reads; did you mean "
       "\"parallelism.tensor\"?"},
      {kScenario + R"(, "answer": "mfu", "choices": [1, 2])",
       "my.json: scenes.0.choices: 0 of the choices are right; one is: \"answer\", or the one with \"right\": true"},
      {kScenario + ", " + kAnswer + R"(, "claims": ["mfu"])",
       "my.json: scenes.0.claims.0: compares nothing; give a comparison such as mfu > 0.4"},
      {kScenario + ", " + kAnswer + R"(, "notes": "{mfu|centuries}")",
       "my.json: scenes.0.notes: \"centuries\" is no way to write a number"},
      {kScenario + ", " + kAnswer + R"(, "notes": "{mfu")",
       "my.json: scenes.0.notes: a brace stands alone; write numbers as {quantity} or {quantity|percent}"},
      {kScenario + ", " + kAnswer + R"(, "chocies": [])",
       "my.json: scenes.0.chocies: unknown field; did you mean \"choices\"?"},
      {R"("block": "matmull", "answer": "x", "choices": [1, "answer"])", "my.json: scenes.0.block: "},
      {R"("block": "ridge", "inputs": ["chip=tpu-v5p"], "answer": "rigde", "choices": [1, "answer"])",
       "my.json: scenes.0.answer: ridge has no input or output \"rigde\"; did you mean \"ridge\"?"},
      {kScenario + ", " + kAnswer + R"(, "range": [2, 1])", "my.json: scenes.0.range: "},
  };
  for (const Broken& broken : all) {
    const std::string error = error_of(broken.members);
    CHECK_MESSAGE(error.starts_with(broken.answer), error);
    CHECK(error.find('\n') == std::string::npos);
  }
}

TEST_CASE("a tour cut off anywhere is refused, not read in part") {
  const std::string text(
      R"({"title": "T", "scenes": [{"title": "t", "question": "q", "sentence": "s", "figure": "step", )" + kScenario +
      ", " + kAnswer + "}]}");
  REQUIRE(io::read_tour(text, "my.json", shipped()).ok());
  for (std::size_t length = 0; length < text.size(); length += 7)
    CHECK_FALSE(io::read_tour(text.substr(0, length), "my.json", shipped()).ok());
}

std::string findings_of(const std::string& members) {
  std::string out;
  for (const io::InputError& finding : app::check_tour(one_scene(members), shipped(), english()))
    out += in_english(finding) + "\n";
  return out;
}

TEST_CASE("a check finds what has moved") {
  const std::string figure = R"("figure": "step", )";
  CHECK(findings_of(figure + kAnswer).empty());
  CHECK(findings_of(figure + kAnswer + R"(, "range": [0.1, 0.2])") ==
        "my.json: scenes.0.range: the answer is 82.1\u202f%, outside of 10.0\u202f% to 20.0\u202f%; change the "
        "scene, or "
        "the range where the new answer is right\n");
  CHECK(findings_of(figure + R"("answer": "mfu", "choices": [0.82, "answer"])").find("are too near to each other") !=
        std::string::npos);
  CHECK(findings_of(figure + R"("answer": "mfu", "choices": [0.99, "answer"], "readings": ["hfu"])")
            .find("is wrong, but right under another reading") != std::string::npos);
  CHECK(findings_of(figure + kAnswer + R"(, "claims": ["mfu > 0.9"])") ==
        "my.json: scenes.0.claims.0: does not hold: mfu > 0.9; change the scene or its sentence\n");
  CHECK(findings_of(R"("figure": "stpe", )" + kAnswer) ==
        "my.json: scenes.0.figure: unknown figure \"stpe\"; did you mean \"step\"?\n");
  CHECK(findings_of(R"("figure": "kv", )" + kAnswer).find("kv is not for this kind of workload") !=
        std::string::npos);
  CHECK(findings_of(figure + kAnswer + R"(, "set": ["parallelism.fsdp=8192"])").find("the plan cannot run") !=
        std::string::npos);
}

TEST_CASE("texts are taken in the language asked for, and in English where there is none") {
  io::TourText text;
  text.by_language = {{"en", "one"}, {"ko", "two"}};
  CHECK(text.in("ko") == "two");
  CHECK(text.in("ru") == "one");
  text.by_language = {{"ru", "three"}};
  CHECK(text.in("ko") == "three");
}

TEST_CASE("a tour's texts can be translated in a file of their own, which is held against the tour") {
  io::Tour tour = tours().front();
  const std::string english_texts = io::tour_texts(tour);
  CHECK_FALSE(io::translate_tour(tour, "ko", english_texts, "ko.json", shipped()).has_value());
  CHECK(tour.scenes.front().question.by_language.at("ko") == tour.scenes.front().question.in("en"));
  const auto unknown = io::translate_tour(tour, "ko", R"({"titel": "x"})", "ko.json", shipped());
  REQUIRE(unknown.has_value());
  CHECK(in_english(*unknown).starts_with("ko.json: titel: the tour "));
  const std::string key = tour.scenes.front().id + ".sentence";
  CHECK(io::translate_tour(tour, "ko", "{\"" + key + "\": \"{nothing}\"}", "ko.json", shipped()).has_value());
}

TEST_CASE("a tour of the user's folder lies over one that ships") {
  const test::TemporaryFolder folder;
  folder.write("tours/intro.json",
               R"({"title": "Mine", "scenes": [{"title": "t", "question": "q", "sentence": "s", )" + kScenario +
                   R"(, "figure": "step", )" + kAnswer + "}]}");
  folder.write("tours/broken.json", "{");
  const io::PresetLibrary library(folder.path());
  std::vector<io::InputError> problems;
  const auto all = io::load_tours(library, problems);
  CHECK(problems.size() == 1);
  CHECK(all.size() == tours().size());
  CHECK(io::load_tour("intro", library)->title.in("en") == "Mine");
  CHECK(in_english(io::load_tour("intor", library).error()) == "unknown tour \"intor\"; did you mean \"intro\"?");
}

TEST_CASE("a play reveals before it goes on, and keeps its score") {
  app::TourPlay play(tours().front());
  const app::SceneValues values(play.scene(), shipped());
  std::size_t right = 0;
  while (!play.scene().choices[right].right) ++right;
  play.choose(right);
  CHECK(play.is_right(0, values) == true);
  CHECK(play.step_on());
  CHECK(play.index() == 0);
  CHECK(play.play().revealed);
  play.choose(right == 0 ? 1 : 0);  // too late
  CHECK(play.play().chosen == right);
  play.note_score(0, true);
  CHECK(play.step_on());
  CHECK(play.index() == 1);
  CHECK(play.step_back());
  CHECK(play.index() == 0);
  CHECK(play.step_back());
  CHECK_FALSE(play.play().revealed);
  CHECK_FALSE(play.step_back());
  CHECK(play.score().right == 1);
  play.go_to(1000);
  play.reveal();
  CHECK(play.index() + 1 == play.count());
  CHECK_FALSE(play.step_on());
}

TEST_CASE("a guessed number is right within a quarter of the answer") {
  app::TourPlay play(one_scene(R"("figure": "step", "answer": "mfu", "guess": [0, 1])"));
  const app::SceneValues values(play.scene(), shipped());
  CHECK_FALSE(play.is_right(0, values).has_value());
  play.guess(0.7);
  CHECK(play.is_right(0, values) == true);
  play.guess(0.5);
  CHECK(play.is_right(0, values) == false);
}

// ---- editing ----

io::SceneDraft draft() {
  io::SceneDraft out;
  out.title = "More tensor ways?";
  out.question = "What is the MFU of {parallelism.tensor|whole} ways?";
  out.sentence = "{answer}, a <b>fact</b>.";
  out.answer = "mfu";
  out.guess = {0, 1};
  out.scenario = io::load_scenario("llama3-70b-v5p-pod", shipped()).value();
  out.preset = "llama3-70b-v5p-pod";
  out.set = {"parallelism.tensor=16", "parallelism.fsdp=256"};
  out.figure = "network";
  out.with = {"layer=mlp"};
  out.controls = {"parallelism.tensor"};
  return out;
}

std::string begun() {
  const auto text = io::with_scene("", "my.json", "My lecture", draft(), shipped());
  REQUIRE_MESSAGE(text.ok(), in_english(text.error()));
  return text.value();
}

TEST_CASE("a scene that was put together is read back as it was drafted") {
  const auto tour = io::read_tour(begun(), "my.json", shipped());
  REQUIRE(tour.ok());
  CHECK(tour->title.in("en") == "My lecture");
  REQUIRE(tour->scenes.size() == 1);
  const io::TourScene& scene = tour->scenes[0];
  CHECK(scene.id == "more-tensor-ways");
  CHECK(scene.question.in("en") == draft().question);
  CHECK(scene.sentence.in("en") == draft().sentence);
  CHECK(scene.answer.text() == "mfu");
  CHECK(scene.shown().preset == "llama3-70b-v5p-pod");
  CHECK(scene.shown().set == draft().set);
  CHECK(scene.figures[0].with == draft().with);
  CHECK(scene.controls == draft().controls);
}

TEST_CASE("a scenario that is no preset is written whole into its scene") {
  io::SceneDraft whole = draft();
  whole.preset.clear();
  whole.set.clear();
  whole.scenario.parallelism.tensor = 8;
  const auto text = io::with_scene("", "my.json", "My lecture", whole, shipped());
  REQUIRE_MESSAGE(text.ok(), in_english(text.error()));
  const auto tour = io::read_tour(text.value(), "my.json", shipped());
  REQUIRE(tour.ok());
  CHECK(tour->scenes[0].shown().scenario()->parallelism.tensor == 8);
}

TEST_CASE("scenes of one title have ids of their own, move past each other and go, and the rest stays") {
  std::string text = begun();
  text = io::with_scene(text, "my.json", "ignored", draft(), shipped()).value();
  const auto ids = [](const std::string& of) {
    std::vector<std::string> out;
    const auto tour = io::read_tour(of, "my.json", shipped());
    for (const io::TourScene& scene : tour->scenes) out.push_back(scene.id);
    return out;
  };
  using Ids = std::vector<std::string>;
  CHECK(ids(text) == Ids{"more-tensor-ways", "more-tensor-ways-2"});
  const std::string moved = io::with_scene_moved(text, "my.json", 1, -1, shipped()).value();
  CHECK(ids(moved) == Ids{"more-tensor-ways-2", "more-tensor-ways"});
  CHECK(io::with_scene_moved(moved, "my.json", 1, -1, shipped()).value() == text);
  CHECK(io::with_scene_moved(text, "my.json", 0, -1, shipped()).value() == text);
  CHECK(io::with_scene_moved(text, "my.json", 1, 1, shipped()).value() == text);
  CHECK(ids(io::without_scene(text, "my.json", 0, shipped()).value()) == Ids{"more-tensor-ways-2"});
}

TEST_CASE("new words of a scene keep its other languages, and its choices where the answer is the same") {
  std::string text = begun();
  const std::string question = R"("question": "What is the MFU of {parallelism.tensor|whole} ways?")";
  REQUIRE(text.find(question) != std::string::npos);
  text.replace(text.find(question), question.size(),
               R"("question": {"en": "q", "ko": "k"}, "choices": [0.9, "answer"])");
  io::SceneDraft words = draft();
  words.question = "And now?";
  auto tour = io::read_tour(io::with_words(text, "my.json", 0, words, shipped()).value(), "my.json", shipped());
  REQUIRE(tour.ok());
  CHECK(tour->scenes[0].question.in("en") == "And now?");
  CHECK(tour->scenes[0].question.in("ko") == "k");
  CHECK(tour->scenes[0].choices.size() == 2);
  words.answer = "hfu";
  tour = io::read_tour(io::with_words(text, "my.json", 0, words, shipped()).value(), "my.json", shipped());
  REQUIRE(tour.ok());
  CHECK(tour->scenes[0].choices.empty());
}

TEST_CASE("a draft that is no scene is refused with the reason, and nothing is written") {
  io::SceneDraft wrong = draft();
  wrong.answer = "mfv";
  const auto text = io::with_scene("", "my.json", "My lecture", wrong, shipped());
  REQUIRE_FALSE(text.ok());
  CHECK(in_english(text.error()) ==
        "my.json: scenes.0.answer: \"mfv\" is neither a quantity nor a field of the scenario; did you mean \"mfu\"?");
}

}  // namespace
}  // namespace roofscape
