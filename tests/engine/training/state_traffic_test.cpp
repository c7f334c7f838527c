// When training state is moved: what is sent once a step hides under the work of one microbatch.
#include <doctest/doctest.h>

#include "engine/evaluate/evaluate.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using namespace roofscape::tests;

namespace {

// LLaMA-3 8B over 512 H100s in data-parallel ranks: gradients of whole layers cross the fabric once a step.
Scenario replicas(Mode mode, int microbatches) {
  Scenario s = with(preset("llama3-405b-16k-h100"),
                    {"model=llama3-8b", "parallelism.data=512", "parallelism.fsdp=1", "parallelism.tensor=1",
                     "parallelism.context=1", "parallelism.pipeline=1", "parallelism.zero_stage=0",
                     "cluster.nodes=64", "pipeline.virtual_stages=1", "pipeline.layers_by_hand=false",
                     "pipeline.microbatch_sequences=1", "workload.sequence_length=512"});
  s.workload.global_batch_sequences = 512 * microbatches;
  s.assumptions.mode = mode;
  return s;
}

}  // namespace

TEST_CASE("calibrated, a reduction once a step is exposed as much however many microbatches there are") {
  const double exposed = value_of(replicas(Mode::calibrated, 2), Q::step_data);
  CHECK(exposed > 0);
  for (const int microbatches : {3, 8, 64}) {
    CAPTURE(microbatches);
    CHECK(value_of(replicas(Mode::calibrated, microbatches), Q::step_data) == near(exposed));
  }
}

TEST_CASE("calibrated, one microbatch hides of a reduction what its backward pass takes") {
  // With every transfer issued under the work, what is left is the reduction over one backward pass, layer by layer.
  Scenario s = replicas(Mode::custom, 4);
  const Report report = evaluate(s);
  const double microbatches = value_of(report, Q::microbatches);
  const CollectiveRow* reduction = nullptr;
  for (const CollectiveRow& row : report.collectives)
    if (row.axis == Axis::data) reduction = &row;
  REQUIRE(reduction != nullptr);
  CHECK(microbatches == 4);
  const double layers = s.model.n_layers;
  const double late = layers * (reduction->time_s - value_of(report, Q::layer_work_backward));
  CHECK(late > 0);
  // Embedding and head have no work to speak of to hide under, so that they are exposed beside it.
  CHECK(value_of(report, Q::step_data) > late);
}

TEST_CASE("ideal, the reduction hides under all microbatches, as the book has it") {
  CHECK(value_of(replicas(Mode::ideal, 64), Q::step_data) < value_of(replicas(Mode::ideal, 2), Q::step_data));
}
