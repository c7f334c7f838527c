// What fills the makespan of a pipeline.
#include <doctest/doctest.h>

#include "engine/evaluate/critical_path_parts.h"
#include "engine/evaluate/evaluate.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::preset;

TEST_CASE("the parts of a critical path add up to the makespan, under every schedule and mode") {
  int pipelines = 0;
  for (const io::Preset& each : tests::library().list(io::PresetKind::scenario))
    for (std::size_t i = 0; i < kScheduleIds.size(); ++i)
      for (const char* mode : {"ideal", "calibrated"}) {
        const std::string schedule(schedule_id(static_cast<ScheduleKind>(i)));
        const Scenario s =
            tests::with(preset(each.id), {"pipeline.schedule=" + schedule, "assumptions.mode=" + std::string(mode)});
        const Report report = evaluate(s);
        CAPTURE(each.id);
        CAPTURE(schedule);
        const auto parts = critical_path_parts(report.pipeline);
        CHECK(parts.empty() == !report.pipeline.drawn());
        if (parts.empty()) continue;
        ++pipelines;
        double sum = 0;
        for (const CriticalPathPart& part : parts) {
          CHECK(part.count > 0);
          sum += part.time_s;
        }
        CHECK(sum == doctest::Approx(report.quantities.value_or(Q::pipeline_makespan, 0)).epsilon(1e-9));
      }
  CHECK(pipelines > 20);
}
