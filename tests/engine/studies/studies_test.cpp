// Studies: what figures compute beyond one report. They add nothing to the engine's numbers, so they must agree with
// them.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "tests/engine/fixtures.h"

#include "engine/studies/checkpointing_study.h"
#include "engine/studies/layer_overlap.h"
#include "engine/studies/memory_timeline.h"
#include "engine/studies/parameter_map.h"
#include "engine/studies/scaling.h"

using namespace roofscape::engine;
using namespace roofscape::tests;

namespace {

const std::vector<std::string> kAll{"llama3-70b-v5p-pod",    "llama3-405b-16k-h100", "llama3-405b-16k-h100-8k",
                                    "deepseek-v3-2048-h800", "llama3-8b-8-h100",     "gpt3-175b-1024-a100",
                                    "mixtral-8x7b-64-h100",  "gpt-oss-120b-64-h100", "llama3-70b-v5p-4-pods"};

double activations_of(const Report& report, int stage) {
  for (std::size_t i = 0; i < kMemoryParts.size(); ++i)
    if (kMemoryParts[i] == Q::memory_activations)
      return report.stages[static_cast<std::size_t>(stage)].memory_bytes[i];
  return 0;
}

}  // namespace

TEST_CASE("the parts of a model add up to its parameters and to the FLOPs of a token, in every convention") {
  for (const std::string& id : kAll)
    for (const FlopsConvention convention :
         {FlopsConvention::six_p, FlopsConvention::exact, FlopsConvention::exact_causal}) {
      CAPTURE(id);
      Scenario s = preset(id);
      s.assumptions.flops = convention;
      const Report report = evaluate(s);
      double params = 0, flops = 0;
      for (const ModelPartRow& row : parameter_map(s, report)) {
        params += row.params;
        flops += row.flops_per_token;
      }
      CHECK(params == doctest::Approx(*report.quantities[Q::params_total]).epsilon(1e-12));
      CHECK(flops == doctest::Approx(*report.quantities[Q::flops_per_token]).epsilon(1e-12));
    }
}

TEST_CASE("active and inactive parts of a mixture of experts are those a token passes through and the rest") {
  const Scenario s = preset("deepseek-v3-2048-h800");
  const Report report = evaluate(s);
  double active = 0, idle = 0;
  for (const ModelPartRow& row : parameter_map(s, report)) {
    (row.part == ModelPart::experts_idle ? idle : active) += row.params;
    if (row.part == ModelPart::experts_idle) CHECK(row.flops_per_token == 0);
  }
  CHECK(active == doctest::Approx(*report.quantities[Q::params_active]).epsilon(1e-12));
  CHECK(idle == doctest::Approx(*report.quantities[Q::params_inactive]).epsilon(1e-12));
}

TEST_CASE("attention scores have FLOPs without parameters, and none in the book's convention") {
  const auto core = [](const Scenario& s) {
    for (const ModelPartRow& row : parameter_map(s, evaluate(s)))
      if (row.part == ModelPart::attention_core) return row.flops_per_token;
    return 0.0;
  };
  Scenario s = preset("llama3-8b-8-h100");
  // Causal: 6 FLOP x span x heads x head dimension x layers, the span being half the 8192 tokens twice over (scores,
  // values).
  CHECK(core(s) == doctest::Approx(6.0 * 8192 * 4096 * 32));
  s.assumptions.flops = FlopsConvention::six_p;
  CHECK(core(s) == 0);
}

TEST_CASE("activations over time peak at what the report says of the stage, and end at nothing") {
  for (const std::string& id : kAll) {
    const Scenario s = preset(id);
    const Report report = evaluate(s);
    for (int stage = 0; stage < static_cast<int>(report.stages.size()); ++stage) {
      CAPTURE(id);
      CAPTURE(stage);
      const auto timeline = memory_timeline(s, report, stage);
      REQUIRE(timeline);
      double most = 0;
      for (const MemoryTimelinePoint& p : timeline->points) {
        if (p.activation_bytes == activations_of(report, stage) && most < p.activation_bytes)
          CHECK(p.seconds == timeline->peak_s);
        most = std::max(most, p.activation_bytes);
        CHECK(p.seconds <= timeline->end_s * (1 + 1e-12));
      }
      CHECK(most == activations_of(report, stage));
      CHECK(timeline->points.back().activation_bytes == 0);
    }
  }
}

TEST_CASE("a stage that is not there and an illegal schedule have no memory over time") {
  Scenario s = preset("llama3-405b-16k-h100");
  CHECK_FALSE(memory_timeline(s, evaluate(s), 16));
  CHECK_FALSE(memory_timeline(s, evaluate(s), -1));
  s.pipeline.schedule = ScheduleKind::zb_h1;
  s.pipeline.virtual_stages = 2;
  s.workload.global_batch_sequences = 24;  // 3 microbatches on 16 stages
  CHECK_FALSE(memory_timeline(s, evaluate(s), 0));
}

TEST_CASE("transfers of a layer add up to the network time of the layer, and its passes to its times") {
  for (const std::string& id : kAll)
    for (std::size_t i = 0; i < kStrategyIds.size(); ++i) {
      CAPTURE(id);
      CAPTURE(kStrategyIds.ids()[i]);
      const auto strategy = static_cast<Strategy>(i);
      const LayerOverlap o = layer_overlap(with(preset(id), {"assumptions.axes_overlap=sum"}), strategy);
      const Report report = evaluate(o.scenario);
      // More ranks than sequences: the layer of a plan that cannot run has no times.
      REQUIRE(report.quantities[Q::layer_network_forward].has_value() == o.problem.empty());
      if (!o.problem.empty()) continue;
      const auto added = [](const LayerPass& pass) {
        return std::accumulate(pass.gather_s.begin(), pass.gather_s.end(), 0.0) +
               std::accumulate(pass.transfer_s.begin(), pass.transfer_s.end(), 0.0);
      };
      CHECK(added(o.forward) == doctest::Approx(o.forward.network_s).epsilon(1e-9));
      CHECK(added(o.backward) == doctest::Approx(o.backward.network_s).epsilon(1e-9));
      CHECK(o.forward.total_s() == doctest::Approx(*report.quantities[Q::layer_time_forward]).epsilon(1e-12));
      CHECK(o.backward.total_s() == doctest::Approx(*report.quantities[Q::layer_time_backward]).epsilon(1e-12));
    }
}

TEST_CASE("a plain strategy keeps the chips and has no degree but its own and replicas") {
  for (const std::string& id : kAll) {
    const Scenario s = preset(id);
    const auto chips = *evaluate(s).quantities[Q::chips_used];
    for (std::size_t i = 0; i < kStrategyIds.size(); ++i) {
      CAPTURE(id);
      CAPTURE(kStrategyIds.ids()[i]);
      const Scenario edited = with_strategy(s, static_cast<Strategy>(i));
      CHECK(*evaluate(edited).quantities[Q::chips_used] == chips);
    }
    CHECK(with_strategy(s, Strategy::plan) == s);
    CHECK(with_strategy(s, Strategy::data).parallelism.fsdp == 1);
    CHECK(with_strategy(s, Strategy::fsdp).parallelism.data == 1);
    CHECK(with_strategy(s, Strategy::tensor).parallelism.fsdp == 1);
  }
}

TEST_CASE("hybrid shards stay on the fastest links: in a node, or on the first axis of the torus") {
  CHECK(with_strategy(preset("llama3-405b-16k-h100-8k"), Strategy::hybrid).parallelism.fsdp == 8);
  CHECK(with_strategy(preset("llama3-70b-v5p-pod"), Strategy::hybrid).parallelism.fsdp == 16);
}

TEST_CASE("the plan's own policy has the memory and the recomputation of its report") {
  for (const std::string& id : kAll) {
    CAPTURE(id);
    const Scenario s = preset(id);
    const Report report = evaluate(s);
    const CheckpointingStudy study = checkpointing_study(s);
    int own = 0;
    for (const auto* points : {&study.policies, &study.segments, &study.segments_minimal})
      for (const CheckpointingPoint& p : *points) {
        if (!p.own) continue;
        ++own;
        CHECK(p.memory_bytes == *report.quantities[Q::memory_total]);
        CHECK(p.recompute_s == *report.quantities[Q::step_recompute]);
        CHECK(p.step_s == *report.quantities[Q::step_time]);
      }
    CHECK(own == 1);
  }
}

TEST_CASE("each point of checkpointing and of scaling is what evaluate() gives for its plan, in both modes") {
  for (const std::string& id : kAll)
    for (const Mode mode : {Mode::ideal, Mode::calibrated}) {
      CAPTURE(id);
      CAPTURE(mode);
      Scenario s = preset(id);
      s.assumptions.mode = mode;
      const CheckpointingStudy study = checkpointing_study(s);
      for (const auto* points : {&study.policies, &study.segments, &study.segments_minimal})
        for (const CheckpointingPoint& p : *points) {
          Scenario edited = s;
          edited.checkpointing = p.checkpointing;
          const Report report = evaluate(edited);
          CHECK(p.memory_bytes == report.quantities.value_or(Q::memory_total, 0));
          CHECK(p.recompute_s == report.quantities.value_or(Q::step_recompute, 0));
          CHECK(p.step_s == report.quantities.value_or(Q::step_time, 0));
          CHECK(p.fits == report.fits());
        }
      for (const ScalingMode scaling : {ScalingMode::strong, ScalingMode::weak}) {
        std::size_t found = 0;
        const ScalingStudy curve = scaling_study(s, scaling);
        for (int octaves = -6; octaves <= 6; ++octaves) {
          const Report report = evaluate(scaled(s, scaling, octaves));
          for (const ScalingPoint& p : curve.points) {
            if (p.chips != report.quantities.value_or(Q::chips_used, 0) || p.own != (octaves == 0)) continue;
            ++found;
            CHECK(p.tokens_per_s == report.quantities.value_or(Q::tokens_per_s, 0));
            CHECK(p.mfu == report.quantities.value_or(Q::mfu, 0));
            CHECK(p.bound.id() == report.bound.id());
            CHECK(p.fits == report.fits());
          }
        }
        CHECK(found >= 2);
      }
    }
}

TEST_CASE("keeping everything computes nothing again and takes the most memory of the policies") {
  const CheckpointingStudy study = checkpointing_study(preset("llama3-8b-8-h100"));
  CHECK(study.policies.front().arithmetic() == 1);
  for (const CheckpointingPoint& p : study.policies) CHECK(p.memory_bytes <= study.policies.front().memory_bytes);
}

TEST_CASE("segments in which nothing is kept compute more again the fewer they are") {
  const CheckpointingStudy study = checkpointing_study(preset("llama3-8b-8-h100"));
  REQUIRE(study.segments_minimal.size() > 2);
  for (std::size_t i = 1; i < study.segments_minimal.size(); ++i)
    CHECK(study.segments_minimal[i].recompute_s < study.segments_minimal[i - 1].recompute_s);
  CHECK(study.root == 6);  // of 32 layers
}

TEST_CASE("the root of the layers and the plan's own segments are on both curves, however much they compute") {
  for (const std::string& id : kAll) {
    CAPTURE(id);
    Scenario s = preset(id);
    s.checkpointing.policy = CheckpointPolicy::segments_minimal;
    s.checkpointing.segments = 1;
    const CheckpointingStudy study = checkpointing_study(s);
    const auto has = [](const std::vector<CheckpointingPoint>& points, int segments) {
      return std::any_of(points.begin(), points.end(),
                         [segments](const CheckpointingPoint& p) { return p.checkpointing.segments == segments; });
    };
    for (const auto* curve : {&study.segments, &study.segments_minimal}) {
      CHECK(has(*curve, study.root));
      CHECK(has(*curve, 1));
    }
  }
}

TEST_CASE("scaling by an octave doubles the chips, the batch stays under strong scaling and doubles under weak") {
  const Scenario s = preset("llama3-8b-8-h100");
  const Scenario strong = scaled(s, ScalingMode::strong, 1), weak = scaled(s, ScalingMode::weak, 1);
  CHECK(strong.parallelism.fsdp == 16);
  CHECK(strong.cluster.nodes == 2);
  CHECK(strong.workload.global_batch_sequences == 128);
  CHECK(weak.workload.global_batch_sequences == 256);
  CHECK(scaled(s, ScalingMode::strong, -4) == s);  // 8 ranks cannot be halved four times
}

TEST_CASE("the plan's own point of a scaling study is its report, on the ideal line") {
  for (const std::string& id : kAll)
    for (const ScalingMode mode : {ScalingMode::strong, ScalingMode::weak}) {
      CAPTURE(id);
      const Scenario s = preset(id);
      const Report report = evaluate(s);
      int own = 0;
      double before = 0;
      for (const ScalingPoint& p : scaling_study(s, mode).points) {
        CHECK(p.chips > before);
        before = p.chips;
        if (!p.own) continue;
        ++own;
        CHECK(p.tokens_per_s == *report.quantities[Q::tokens_per_s]);
        CHECK(p.ideal_tokens_per_s == doctest::Approx(p.tokens_per_s));
      }
      CHECK(own == 1);
    }
}

TEST_CASE("strong scaling splits sequences where every rank has one, and says from where") {
  // 128 sequences: fsdp grows to 128, then context.
  const Scenario s = preset("llama3-8b-8-h100");
  const ScalingStudy study = scaling_study(s, ScalingMode::strong);
  for (const ScalingPoint& p : study.points) {
    CHECK(p.problem.empty());
    CHECK(p.grown == (p.chips > 128 ? Axis::context : Axis::fsdp));
  }
  REQUIRE(study.without_sequences() != nullptr);
  CHECK(study.without_sequences()->chips == 256);
  const Scenario beyond = scaled(s, ScalingMode::strong, 5);
  CHECK(beyond.parallelism.fsdp == 128);
  CHECK(beyond.parallelism.context == 2);
  CHECK(beyond.workload.global_batch_sequences == s.workload.global_batch_sequences);
  // With a growing batch there are always sequences.
  CHECK(scaling_study(s, ScalingMode::weak).without_sequences() == nullptr);
}

TEST_CASE("where a sequence cannot be split over more heads, strong scaling goes on with tensor") {
  const Scenario s =
      with(preset("llama3-8b-8-h100"), {"workload.global_batch_sequences=8", "parallelism.context_method=ulysses"});
  CHECK(scaled(s, ScalingMode::strong, 3).parallelism.context == 8);  // as many as KV heads
  CHECK(scaled(s, ScalingMode::strong, 4).parallelism.tensor == 2);
}
