// Checkpointing: what is computed again and kept, by running small models layer by layer.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/inputs/inputs.h"
#include "engine/model/checkpointing.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::preset;
using tests::with;

namespace {

// A backward pass over N layers that keeps the inputs of C segments, by actually doing it: forwards are counted, and
// the layers whose tensors are all there at a time, and whether the first of a segment is always among the most.
struct Run {
  int forwards = 0, layers_held = 0;
  bool holds_first = true;
};
Run backward(int layers, int segments, bool keeps_segment) {
  std::vector<int> starts;
  for (int c = 0, at = 0; c < segments; ++c) {
    starts.push_back(at);
    at += layers / segments + (c < layers % segments ? 1 : 0);
  }
  Run run;
  int end = layers;
  for (auto start = starts.rbegin(); start != starts.rend(); ++start) {
    int held_from = end;  // layers of this segment whose tensors are there: held_from .. end of what is left
    for (int layer = end - 1; layer >= *start; --layer) {
      if (layer < held_from) {
        // From the segment's input, one layer after the other.
        for (int at = *start; at <= layer; ++at) ++run.forwards;
        held_from = keeps_segment ? *start : layer;
        run.layers_held = std::max(run.layers_held, layer - held_from + 1);
        run.holds_first = run.holds_first && held_from == *start;
      }
    }
    end = *start;
  }
  return run;
}

}  // namespace

TEST_CASE("segments compute again and hold what a run layer by layer does") {
  for (int layers = 1; layers <= 12; ++layers)
    for (int segments = 1; segments <= layers; ++segments)
      for (const CheckpointPolicy policy : {CheckpointPolicy::segments, CheckpointPolicy::segments_minimal}) {
        Scenario s = preset("llama3-8b-8-h100");
        s.model.n_layers = layers;
        s.checkpointing.policy = policy, s.checkpointing.segments = segments;
        const Inputs<double> in = make_inputs<double>(s, nullptr);
        const LayerKey key = layer_key(s);
        const Run run = backward(layers, segments, policy == CheckpointPolicy::segments);
        CAPTURE(layers);
        CAPTURE(segments);
        CHECK(recompute_times(in, key) * layers == doctest::Approx(run.forwards).epsilon(1e-12));
        const LayerActivations<double> kept = layer_activations(in, key, 1.0);
        // The first layer of a segment has its input as the checkpoint, not a second time beside it.
        const double input = run.holds_first ? kept.checkpoint_bytes * layers / segments : 0;
        CHECK(kept.working_bytes == doctest::Approx(run.layers_held * kept.full_bytes - input).epsilon(1e-12));
      }
}

TEST_CASE("as many segments as layers are the layer inputs, to the bit of what is computed again") {
  const Scenario s =
      with(preset("llama3-8b-8-h100"), {"checkpointing.policy=segments_minimal", "checkpointing.segments=32"});
  const Report minimal = evaluate(s), block = evaluate(with(s, {"checkpointing.policy=block"}));
  CHECK(*minimal.quantities[Q::layer_flops_recompute] == *block.quantities[Q::layer_flops_recompute]);
  CHECK(*minimal.quantities[Q::step_recompute] > 0);
}

TEST_CASE("no part of memory is negative, and what is kept more takes no less, in every mode and type") {
  std::mt19937 rng(16);
  for (int i = 0; i < 800; ++i) {
    Scenario s = tests::random_scenario(rng);
    s.assumptions.mode = i % 3 == 0 ? Mode::ideal : Mode::calibrated;
    if (i % 2 == 0 && s.cluster.chip[ChipField::peak_fp8_dense_flops_per_s].value) s.precision.compute = Dtype::fp8;
    s.checkpointing.blocks = s.model.n_layers;
    double before = -1;
    // From the least that is kept of a layer to all of it.
    for (const CheckpointPolicy policy : {CheckpointPolicy::block, CheckpointPolicy::big_matmuls,
                                          CheckpointPolicy::attention, CheckpointPolicy::none}) {
      s.checkpointing.policy = policy;
      const Report r = evaluate(s);
      INFO("case " << i << " policy " << static_cast<int>(policy));
      for (const Q part : kMemoryParts) REQUIRE(*r.quantities[part] >= 0);
      const double kept = *r.quantities[Q::layer_checkpoint_bytes];
      REQUIRE(kept >= before * (1 - 1e-12));
      REQUIRE(kept <= *r.quantities[Q::layer_full_bytes] * (1 + 1e-12));
      before = kept;
    }
    s.checkpointing.policy = CheckpointPolicy::k_per_layer;
    for (const int k : {1, 4, 20}) {
      s.checkpointing.k = k;
      const Report r = evaluate(s);
      for (const Q part : kMemoryParts) REQUIRE(*r.quantities[part] >= 0);
      REQUIRE(*r.quantities[Q::layer_checkpoint_bytes] <= *r.quantities[Q::layer_full_bytes] * (1 + 1e-12));
    }
  }
}
