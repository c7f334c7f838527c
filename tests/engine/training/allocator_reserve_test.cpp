// What software and its allocator keep beside what a plan asks them for.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "engine/evaluate/evaluate.h"
#include "tests/cases_to_try.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using namespace roofscape::tests;

namespace {

constexpr double kSoftwareReserve = 1e9, kGapShare = 0.25;

// With a reserve of a gigabyte, and gaps of a quarter of what comes and goes.
Scenario with_gaps(Scenario s, double gaps = kGapShare) {
  s.assumptions.mode = Mode::custom;
  s.assumptions.custom[Calibrated::reserve] = kSoftwareReserve;
  s.assumptions.custom[Calibrated::fragmentation] = gaps;
  return s;
}

double part(const StageRow& stage, Q q) {
  return stage.memory_bytes[static_cast<std::size_t>(std::ranges::find(kMemoryParts, q) - kMemoryParts.begin())];
}

}  // namespace

TEST_CASE("on every device the reserve is the software's and a share of the buffers, whatever is in flight") {
  std::mt19937 rng(71);
  int compared = 0;
  for (int i = 0; i < cases_to_try(400); ++i) {
    const Scenario s = random_scenario(rng);
    if (s.serves() || s.parallelism.keep_gathered != KeepGathered::microbatch) continue;
    const Report report = evaluate(with_gaps(s));
    for (const StageRow& stage : report.stages) {
      CAPTURE(i);
      CHECK(part(stage, Q::memory_reserve) ==
            near(s.assumptions.reserve_bytes + kSoftwareReserve + kGapShare * part(stage, Q::memory_buffers)));
      ++compared;
    }
  }
  CHECK(compared > 0);
}

TEST_CASE("more microbatches in flight leave no more gaps, larger logits do") {
  const Scenario s = with_gaps(with(preset("gpt3-175b-1024-a100"), {"kernels.loss=plain"}));
  const auto reserve = [](const Scenario& of) {
    const Report report = evaluate(of);
    return part(report.stages.back(), Q::memory_reserve);
  };
  CHECK(reserve(with(s, {"pipeline.schedule=gpipe"})) == reserve(with(s, {"pipeline.schedule=1f1b"})));
  CHECK(reserve(s) > reserve(with(s, {"kernels.loss=chunked"})));
}
