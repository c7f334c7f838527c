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

TEST_CASE("tour --export writes a page that needs no network and holds no text as markup") {
  const test::TemporaryFolder folder;
  std::string text = kScene;
  text.replace(text.find("\"q\""), 3, R"("is <b>5</b> & 'six' \"right\"?")");
  folder.write("my.json", text);
  CHECK(run(folder, "tour my.json --export slides --format svg").code == 0);
  const std::string page = test::text_of(folder.path() / "slides/page.html");
  CHECK(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
  CHECK(page.find("is &lt;b&gt;5&lt;/b&gt; &amp; &#39;six&#39; &quot;right&quot;?") != std::string::npos);
  CHECK(page.find("<b>") == std::string::npos);
  for (const char* elsewhere : {"src=\"http", "href=", "@import", "url("})
    CHECK(page.find(elsewhere) == std::string::npos);
  std::size_t pictures = 0;
  for (std::size_t at = page.find("data:image/svg+xml;base64,"); at != std::string::npos;
       at = page.find("data:image/svg+xml;base64,", at + 1))
    ++pictures;
  CHECK(pictures == 2);
}

TEST_CASE("frames writes a picture for each step of a sweep, all on the same axes") {
  const test::TemporaryFolder folder;
  const Outcome done = run(folder,
                           "frames llama3-70b-v5p-pod --vary workload.global_batch_sequences=1024,4096 "
                           "-o film --format svg --size 960x540px");
  CHECK_MESSAGE(done.code == 0, done.err);
  CHECK(done.out == "film/step-0001.svg\nfilm/step-0002.svg\n");
  // The same labels of the axis in both, though one step is four times as long.
  const std::string less = test::text_of(folder.path() / "film/step-0001.svg");
  const std::string more = test::text_of(folder.path() / "film/step-0002.svg");
  CHECK(less != more);
  for (const std::string label : {">0.0</text>", ">1.0</text>", ">2.0</text>"}) {
    CAPTURE(label);
    CHECK(less.find(label) != std::string::npos);
    CHECK(more.find(label) != std::string::npos);
  }
}

TEST_CASE("frames leaves out a picture that would show nothing, and says why") {
  const test::TemporaryFolder folder;
  const Outcome done =
      run(folder, "frames llama3-8b-8-h100 --figure compare --vary parallelism.zero_stage=1,2 -o film");
  CHECK(done.code == 1);
  CHECK(done.out.empty());
  CHECK(done.err.starts_with(
      "roofscape-cli: llama3-8b-8-h100 1: compare shows nothing of this scenario: No baseline yet: "));
  CHECK(done.err.find("\nroofscape-cli: llama3-8b-8-h100 2: compare shows") != std::string::npos);
  CHECK(std::filesystem::is_empty(folder.path() / "film"));
}

TEST_CASE("frames refuses what it cannot draw") {
  for (const Refusal& refusal :
       {Refusal{"frames llama3-70b-v5p-pod", "needs --vary and -o"},
        Refusal{"frames llama3-70b-v5p-pod --vary parallelism.tensr=1 -o x", "parallelism.tensr"},
        Refusal{"frames llama3-70b-v5p-pod --vary parallelism.tensor=1 -o x --figure stepp",
                "did you mean \"step\"?"},
        Refusal{"frames llama3-70b-v5p-pod --vary parallelism.tensor=1 -o x --format csv", "frames cannot be csv"}}) {
    const Outcome outcome = run(refusal.arguments);
    CHECK(outcome.code == 2);
    CHECK_MESSAGE(outcome.err.find(refusal.answer) != std::string::npos, outcome.err);
  }
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
