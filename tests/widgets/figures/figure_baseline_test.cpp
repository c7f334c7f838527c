// The baseline beside the plan, in all figures that draw one.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "tests/engine/fixtures.h"
#include "tests/widgets/figures/figure_fixture.h"

namespace roofscape::widgets {
namespace {

using namespace testing;

TEST_CASE("the baseline stands in every figure with an axis of time or memory, with its name and what differs") {
  struct Row {
    const char* figure;
    bool serves;
  };
  for (const Row& row :
       {Row{"step", false}, Row{"memory", false}, Row{"memory-time", false}, Row{"pipeline", false},
        Row{"schedules", false}, Row{"overlap", false}, Row{"scaling", false}, Row{"checkpointing", false},
        Row{"decode-step", true}, Row{"serving-memory", true}, Row{"latency-throughput", true}, Row{"kv", true},
        Row{"queue", true}, Row{"network", false}, Row{"network", true}, Row{"collective", false},
        Row{"sharded-matmul", false}, Row{"sharded-matmul", true}, Row{"prefill-decode", true}}) {
    CAPTURE(std::string(row.figure));
    engine::Scenario before = tests::preset(row.serves ? "llama3-70b-serving-8-h100" : "llama3-405b-16k-h100-8k");
    engine::Scenario now = before;
    if (row.serves)
      now.workload.batch /= 2;
    else
      now.pipeline.virtual_stages = 4;
    FigureCase c = evaluated(now);
    c.baseline = std::make_shared<FigureCase>(evaluated(before));
    FigureView view;
    view.print = true;
    const auto with = drawn(row.figure, c, "print", 9, 425, 300, view);
    c.baseline.reset();
    const auto without = drawn(row.figure, c, "print", 9, 425, 300, view);
    const auto says = [](const RecordCanvas& canvas) {
      return std::any_of(canvas.texts().begin(), canvas.texts().end(),
                         [](const TextRun& run) { return run.text.find("baseline") != std::string::npos; });
    };
    CHECK(says(*with));
    CHECK_FALSE(says(*without));
    CHECK(with->audit_text() == "");
  }
}

}  // namespace
}  // namespace roofscape::widgets
