#include <doctest/doctest.h>

#include <algorithm>

#include "engine/evaluate/evaluate.h"
#include "tests/widgets/figures/preset_fixture.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

TEST_CASE("scaling shows the plan, the line through it, and what stops it") {
  const auto canvas = drawn("scaling", preset_case("llama3-8b-8-h100"), "dark", 15, 560, 400);
  for (const char* text : {"now 8", "linear from now", "this plan"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
  // Beside its dot, or by a letter that the note tells.
  CHECK(std::any_of(canvas->texts().begin(), canvas->texts().end(),
                    [](const TextRun& run) { return run.text.find("compute-bound") != std::string::npos; }));
}

TEST_CASE("names of limits and problems stand on no line, at the ends of the axis too") {
  struct Names {
    const char* preset;
    std::vector<const char*> names;
    bool splits = true;  // context or tensor can grow where the batch has no sequences left
  };
  for (const Names& c : std::initializer_list<Names>{
           {"llama3-8b-8-h100", {"does not fit", "compute-bound"}},
           {"llama3-8b-8-h100", {"does not fit", "compute-bound", "too few sequences"}, false},
           {"llama3-405b-16k-h100-8k", {"compute-bound", "bubble-bound"}},
           {"llama3-405b-16k-h100-8k", {"compute-bound", "bubble-bound", "too few sequences"}, false},
           {"deepseek-v3-2048-h800", {"too many expert ranks", "expert-bound", "context-bound"}},
           {"deepseek-v3-2048-h800", {"too many expert ranks", "expert-bound", "schedule not possible"}, false},
           {"llama3-70b-v5p-pod", {"compute-bound"}}}) {
    FigureCase shown = preset_case(c.preset);
    shown.scenario.checkpointing.policy = engine::CheckpointPolicy::block;
    if (shown.scenario.pipeline.schedule == engine::ScheduleKind::interleaved_1f1b) {
      shown.scenario.pipeline.schedule = engine::ScheduleKind::one_f_one_b;
      shown.scenario.pipeline.virtual_stages = 1;
    }
    if (!c.splits) {
      shown.scenario.workload.sequence_length += 1;
      shown.scenario.model.n_heads = shown.scenario.model.n_kv_heads = 15 * shown.scenario.parallelism.tensor;
    }
    shown.report = engine::evaluate(shown.scenario);
    const auto canvas = drawn("scaling", shown, "dark", 15, 900, 500);
    for (const char* text : c.names) {
      const std::string name = text;
      CAPTURE(c.preset);
      CAPTURE(name);
      CHECK(canvas->find_text(name));
      CHECK(strokes_through(*canvas, name) == 0);
    }
  }
}

TEST_CASE("the strong scaling takeaway is the last number of chips that runs") {
  CHECK(find_figure("scaling")
            ->head(input_of(preset_case("llama3-8b-8-h100"), theme("dark")), {})
            .takeaway.starts_with("up to 256 GPUs: "));
}

TEST_CASE("weak scaling does not run out of sequences") {
  const FigureView weak = view_of("scaling", {{"mode", "weak"}});
  const auto canvas = drawn("scaling", preset_case("llama3-8b-8-h100"), "dark", 15, 560, 400, weak);
  CHECK_FALSE(canvas->find_text("too few sequences"));
}

TEST_CASE("what cannot run stands at the foot of the plot, not on a line") {
  const FigureCase c = preset_case("llama3-8b-8-h100");
  const auto canvas = drawn("scaling", c, "dark", 15, 900, 500);
  float lowest = 0, failed = 1e6f;
  for (const TagRegion& tag : canvas->tags()) {
    if (tag.id != "scaling.point") continue;
    const bool runs = tag.readout.rows.front().first != "cannot run";
    if (runs)
      lowest = std::max(lowest, tag.rect.bottom());
    else
      failed = std::min(failed, tag.rect.y);
  }
  CHECK(failed > lowest);
}

TEST_CASE("the axis of MFU ends at what can be reached") {
  const FigureView mfu = view_of("scaling", {{"quantity", "mfu"}});
  const auto canvas = drawn("scaling", preset_case("llama3-70b-v5p-pod"), "dark", 15, 700, 400, mfu);
  CHECK(canvas->find_text("100"));
  CHECK_FALSE(canvas->find_text("200"));
}
