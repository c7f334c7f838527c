// roofscape-cli tour: lists, checks and writes slides.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "tests/app/cli/cli_run.h"

namespace roofscape {
namespace {

using test::Outcome;
using test::Refusal;
using test::run;

const char* const kScene =
    R"({"title": "T", "scenes": [{"id": "one", "title": "t", "question": "q", "sentence": "{mfu}",
  "scenario": "llama3-70b-v5p-pod", "figure": "step", "answer": "mfu", "choices": [0.5, "answer"]}]})";

TEST_CASE("tour lists what there is, with the number of scenes") {
  const Outcome list = run("tour");
  CHECK(list.code == 0);
  CHECK(list.out.find("intro ") != std::string::npos);
  CHECK(list.out.find("7 scenes") != std::string::npos);
}

TEST_CASE("tour NAME --check is good for one that ships and fails for one that does not hold") {
  CHECK(run("tour intro --check").out == "intro: 7 scenes checked, nothing to report\n");
  const test::TemporaryFolder folder;
  folder.write("good.json", kScene);
  CHECK(run(folder, "tour good.json --check").code == 0);
  std::string text = kScene;
  text.replace(text.find("[0.5,"), 5, "[0.82,");
  folder.write("bad.json", text);
  const Outcome bad = run(folder, "tour bad.json --check");
  CHECK(bad.code == 1);
  CHECK(bad.err.starts_with("roofscape-cli: bad.json: scenes.0.choices.1: "));
}

TEST_CASE("tour --export writes question and answer of each scene and a handout") {
  const test::TemporaryFolder folder;
  folder.write("my.json", kScene);
  const Outcome done = run(folder, "tour my.json --export slides --format svg");
  CHECK(done.code == 0);
  const std::string question = test::text_of(folder.path() / "slides/01-one-question.svg");
  const std::string answer = test::text_of(folder.path() / "slides/01-one-answer.svg");
  CHECK(question.find("575\u202fms") == std::string::npos);
  CHECK(answer.find("575\u202fms") != std::string::npos);
  CHECK(test::text_of(folder.path() / "slides/handout.md").starts_with("# T\n"));
}

TEST_CASE("tour --texts prints what is to be translated") {
  CHECK(run("tour intro --texts").out.find("\"two-twenties.question\": \"") != std::string::npos);
}

TEST_CASE("tour refuses what it cannot use") {
  for (const Refusal& refusal :
       {Refusal{"tour --check", "needs the name of a tour"}, Refusal{"tour nothing", "unknown tour \"nothing\""},
        Refusal{"tour intro --size 100x100px", "--size: is for slides"},
        Refusal{"tour intro --export x --format gif", "gif"}}) {
    const Outcome outcome = run(refusal.arguments);
    CHECK(outcome.code == 2);
    CHECK_MESSAGE(outcome.err.find(refusal.answer) != std::string::npos, outcome.err);
  }
}

}  // namespace
}  // namespace roofscape
