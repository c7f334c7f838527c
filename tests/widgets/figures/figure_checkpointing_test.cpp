#include <doctest/doctest.h>

#include <algorithm>

#include "engine/evaluate/evaluate.h"
#include "engine/scenario/checkpoint_policies.h"
#include "tests/widgets/figures/preset_fixture.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

TEST_CASE("every checkpointing policy is in the copy-data, and the plan's own is the plan's memory") {
  const FigureCase c = preset_case("llama3-8b-8-h100");
  const std::string data = find_figure("checkpointing")->data(input_of(c, theme("dark")), {});
  for (const std::string_view policy : engine::kCheckpointPolicyIds) {
    CAPTURE(policy);
    CHECK(data.find("\n" + std::string(policy) + "\t") != std::string::npos);
  }
}

TEST_CASE("the plan's policy is marked and stands at its memory") {
  const auto canvas = drawn("checkpointing", preset_case("llama3-8b-8-h100"), "dark", 15, 560, 400);
  CHECK(canvas->find_text("now: layer inputs"));
  const TagRegion* own = canvas->find_tag("memory.chip_total_bytes");
  REQUIRE(own);
  CHECK(own->readout.title == "layer inputs");
  CHECK(own->readout.rows[0].second == "24.9\u202fGB");
}

TEST_CASE("the square root of the layers is marked on the curve of segments") {
  CHECK(drawn("checkpointing", preset_case("llama3-8b-8-h100"), "dark", 15, 560, 400)
            ->find_text("inputs of 6 segments"));
  CHECK(drawn("checkpointing", plain_405b("llama3-405b-16k-h100"), "dark", 15, 560, 400)
            ->find_text("inputs of 11 segments"));
}

TEST_CASE("the axis of arithmetic begins at what is computed without recomputation, and is linear") {
  const auto canvas = drawn("checkpointing", preset_case("llama3-405b-16k-h100-8k"), "dark", 15, 900, 500);
  const auto height = [&](const char* text) {
    const TextRun* run = canvas->find_text(text);
    REQUIRE(run);
    return run->anchor.y;
  };
  CHECK(height("1.0") - height("1.1") == doctest::Approx(height("1.2") - height("1.3")).epsilon(0.001));
  CHECK(height("1.0") < 470);
}

TEST_CASE("keeping segments alone is a sentence: it would take the axis to several times the arithmetic") {
  const auto canvas = drawn("checkpointing", preset_case("llama3-405b-16k-h100-8k"), "dark", 15, 900, 500);
  CHECK(std::any_of(canvas->texts().begin(), canvas->texts().end(), [](const TextRun& run) {
    return run.text.find("Keeping nothing but the inputs of 11 segments takes ") != std::string::npos;
  }));
}

TEST_CASE("nothing is named twice, and no name stands on a line") {
  for (const char* preset : {"llama3-8b-8-h100", "deepseek-v3-2048-h800", "llama3-405b-16k-h100-8k"}) {
    CAPTURE(preset);
    const auto canvas = drawn("checkpointing", preset_case(preset), "dark", 15, 900, 500);
    std::vector<std::string> seen;
    for (const TextRun& run : canvas->texts()) {
      CHECK(std::find(seen.begin(), seen.end(), run.text) == seen.end());
      seen.push_back(run.text);
    }
    CHECK(strokes_through(*canvas, "now: layer inputs") == 0);
  }
}

TEST_CASE("at the width of a column every policy has its name, or a letter that the note tells") {
  FigureView print;
  print.print = true;
  for (const char* preset :
       {"llama3-8b-8-h100", "deepseek-v3-2048-h800", "llama3-405b-16k-h100", "llama3-70b-v5p-pod"}) {
    CAPTURE(preset);
    const auto canvas = drawn("checkpointing", preset_case(preset), "print", 9, 238.1f, 238.1f, print);
    CHECK(canvas->audit_text() == "");
    std::string all;
    for (const TextRun& run : canvas->texts()) all += run.text + " ";
    std::size_t named = 0;
    for (const TagRegion& tag : canvas->tags()) {
      if (tag.id != "checkpointing.policy") continue;
      CAPTURE(tag.readout.title);
      CAPTURE(all);
      const bool segments = tag.readout.title.starts_with("input of each segment");
      CHECK(all.find(segments ? " segments" : tag.readout.title) != std::string::npos);
      ++named;
    }
    CHECK(named > 4);
    // A letter of the note is on the picture.
    for (const char* letter : {"a", "b", "c"})
      if (all.find(std::string(" ") + letter + ": ") != std::string::npos) CHECK(canvas->find_text(letter));
  }
}

TEST_CASE("memory beyond the capacity is a region with its name") {
  CHECK(drawn("checkpointing", preset_case("llama3-405b-16k-h100"), "dark", 15, 900, 500)
            ->find_text("over 80\u202fGB"));
}

TEST_CASE("the name of the region beyond the capacity is on no leader of a curve") {
  for (const char* preset : {"llama3-8b-8-h100", "deepseek-v3-2048-h800", "llama3-405b-16k-h100-8k"}) {
    const auto canvas = drawn("checkpointing", preset_case(preset), "dark", 15, 900, 500);
    CAPTURE(preset);
    CHECK(canvas->find_text("over 80\u202fGB"));
    CHECK(strokes_through(*canvas, "over 80\u202fGB") == 0);
  }
}
