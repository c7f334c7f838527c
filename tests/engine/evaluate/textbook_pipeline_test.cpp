// The pipelines of the textbook: times of one and two seconds, and the idle shares that are worked out by hand.
#include <doctest/doctest.h>

#include <string>

#include "engine/evaluate/evaluate.h"
#include "tests/engine/fixtures.h"

namespace roofscape {
namespace {

TEST_CASE("textbook pipelines have unit times and the idle shares of the closed form") {
  struct Row {
    const char* id;
    int stages, microbatches;
  };
  for (const Row& row :
       {Row{"textbook-pipeline-8x1", 8, 1}, Row{"textbook-pipeline-4x4", 4, 4}, Row{"textbook-pipeline-4x8", 4, 8}}) {
    CAPTURE(std::string(row.id));
    const engine::Report report = engine::evaluate(tests::preset(row.id));
    // To a thousandth, which the output head of one word takes. A forward takes a second and a backward two; the devices are busy m of m + p - 1 turns of both.
    const double turns = row.microbatches + row.stages - 1;
    CHECK(*report.quantities[engine::Q::step_time] == doctest::Approx(3 * turns).epsilon(1e-3));
    CHECK(*report.quantities[engine::Q::pipeline_bubble_fraction] ==
          doctest::Approx(1 - row.microbatches / turns).epsilon(1e-3));
    CHECK(report.fits());
  }
}

}  // namespace
}  // namespace roofscape
