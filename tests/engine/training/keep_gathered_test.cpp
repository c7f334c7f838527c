// How long ZeRO-3's gathered weights stay gathered (KeepGathered): a microbatch, a chunk or the step.
#include <doctest/doctest.h>

#include "engine/evaluate/evaluate.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using namespace roofscape::tests;

namespace {

// LLaMA-3 405B on 1,024 GPUs: 8 stages of 4 chunks, breadth-first, over 16 ranks that shard the training state.
Scenario breadth_first() {
  return with(preset("llama3-405b-16k-h100"),
              {"parallelism.data=1", "parallelism.fsdp=16", "parallelism.tensor=8", "parallelism.context=1",
               "parallelism.pipeline=8", "parallelism.zero_stage=3", "cluster.nodes=128",
               "pipeline.schedule=looped-bfs", "pipeline.virtual_stages=4", "pipeline.microbatch_sequences=1",
               "pipeline.layers_by_hand=false", "workload.global_batch_sequences=512"});
}

Scenario keeping(Scenario s, KeepGathered keep) {
  s.parallelism.keep_gathered = keep;
  return s;
}

const CollectiveRow& gathers(const Report& report) {
  for (const CollectiveRow& row : report.collectives)
    if (row.axis == Axis::fsdp && row.kind == CollectiveKind::all_gather) return row;
  throw std::runtime_error("nothing is gathered");
}

}  // namespace

TEST_CASE("weights kept for the step send what ZeRO-1 sends") {
  for (const Mode mode : {Mode::ideal, Mode::calibrated})
    for (const int stages : {1, 8}) {
      CAPTURE(stages);
      Scenario s = breadth_first();
      s.assumptions.mode = mode;
      s.assumptions.stack = StackChoice::megatron;
      if (stages == 1) s.parallelism.pipeline = 1, s.parallelism.data = 8;
      const Scenario kept = keeping(s, KeepGathered::step);
      Scenario sharded_optimizer = s;
      sharded_optimizer.parallelism.zero_stage = 1;
      CHECK(value_of(kept, Q::step_time) == value_of(sharded_optimizer, Q::step_time));
      CHECK(value_of(kept, Q::step_fsdp) == value_of(sharded_optimizer, Q::step_fsdp));
    }
}

TEST_CASE("weights kept for the step are beside their shards whole on the chip, with whole gradients") {
  const Scenario s = breadth_first();
  const Report each = evaluate(s), kept = evaluate(keeping(s, KeepGathered::step));
  for (std::size_t d = 0; d < each.stages.size(); ++d) {
    CAPTURE(d);
    const StageRow &a = each.stages[d], &b = kept.stages[d];
    // bf16 weights and fp32 gradients of what 8 tensor ranks hold, for those of two layers and one before.
    const double more =
        (2 + value_of(kept, Q::gradient_bytes) / value_of(kept, Q::gathered_weight_bytes) * 2) * b.params / 8;
    CHECK(b.memory_total_bytes - a.memory_total_bytes == near(more - value_of(each, Q::buffers_gathered)));
  }
}

TEST_CASE("breadth-first gathers a chunk's weights twice a step, however many microbatches there are") {
  for (const int batch : {128, 512, 2048}) {
    CAPTURE(batch);
    Scenario s = breadth_first();
    s.workload.global_batch_sequences = batch;
    const Report each = evaluate(s), chunk = evaluate(keeping(s, KeepGathered::chunk));
    CHECK(gathers(each).calls_per_step == near(value_of(each, Q::microbatches) * gathers(chunk).calls_per_step));
    CHECK(gathers(chunk).calls_per_step == near(126.0 / 8));
  }
}

TEST_CASE("breadth-first keeps two chunks of weights and the gradients of one") {
  const Scenario s = breadth_first();
  const double step = value_of(keeping(s, KeepGathered::step), Q::buffers_gathered),
               chunk = value_of(keeping(s, KeepGathered::chunk), Q::buffers_gathered);
  const Report report = evaluate(s);
  const double weights = value_of(report, Q::gathered_weight_bytes), gradients = value_of(report, Q::gradient_bytes);
  CHECK(chunk == near(step * (weights * 2 / 4 + gradients / 4) / (weights + gradients)));
}

TEST_CASE("a chunk's weights cost breadth-first less time than a microbatch's and less memory than the step's") {
  const Scenario s = breadth_first();
  const Report each = evaluate(s), chunk = evaluate(keeping(s, KeepGathered::chunk)),
               step = evaluate(keeping(s, KeepGathered::step));
  CHECK(value_of(chunk, Q::step_time) < value_of(each, Q::step_time));
  CHECK(value_of(chunk, Q::step_time) <= value_of(step, Q::step_time));
  CHECK(value_of(each, Q::memory_total) < value_of(chunk, Q::memory_total));
  CHECK(value_of(chunk, Q::memory_total) < value_of(step, Q::memory_total));
}

TEST_CASE("a schedule that alternates its chunks keeps all of them, and is told so") {
  Scenario s = keeping(breadth_first(), KeepGathered::chunk);
  s.pipeline.schedule = ScheduleKind::interleaved_1f1b;
  CHECK(value_of(s, Q::buffers_gathered) == value_of(keeping(s, KeepGathered::step), Q::buffers_gathered));
  const Report report = evaluate(s);
  const Diagnostic* said = finding(report, "pipeline.kept_chunks");
  REQUIRE(said != nullptr);
  CHECK(fixed(s, *said).parallelism.keep_gathered == KeepGathered::step);
  CHECK(finding(evaluate(keeping(breadth_first(), KeepGathered::chunk)), "pipeline.kept_chunks") == nullptr);
}

TEST_CASE("below ZeRO-3 and over one rank nothing is gathered, however long it is kept") {
  for (const int zero : {0, 1, 2, 3})
    for (const KeepGathered keep : {KeepGathered::chunk, KeepGathered::step}) {
      CAPTURE(zero);
      Scenario s = breadth_first();
      s.parallelism.zero_stage = zero;
      if (zero == 3) s.parallelism.fsdp = 1, s.parallelism.data = 16;
      for (const Q q : {Q::step_time, Q::memory_total}) CHECK(value_of(s, q) == value_of(keeping(s, keep), q));
    }
}
