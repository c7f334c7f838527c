// The book's bounds where weights and activations have types of their own; where they share one, golden_cases.json has
// them.
#include "engine/training/book_bounds.h"

#include <doctest/doctest.h>

#include <cmath>

#include "engine/evaluate/evaluate.h"
#include "engine/io/presets/preset_library.h"
#include "engine/io/scenario/scenario_json.h"

using namespace roofscape;
using engine::Q;

// Where gathering the weights, moving the activations and the arithmetic take the same, with X Y = N:
// b_w b_a (C / W)^2 / (4 M_X M_Y F) tokens per chip; X = sqrt(b_a / b_w B / F M_X / M_Y N).
TEST_CASE("mixed bounds and the best FSDP degree are of the bytes of weights and of activations") {
  static const io::PresetLibrary library;
  engine::Scenario s = io::load_scenario("llama3-70b-v5p-pod", library).value();
  for (const engine::Dtype compute : {engine::Dtype::bf16, engine::Dtype::int8}) {
    s.precision.compute = compute;
    const engine::Report r = engine::evaluate(s);
    const auto q = [&r](Q id) { return r.quantities.value_or(id, 0); };
    const double weights = q(Q::weight_width_bytes), activations = q(Q::activation_width_bytes);
    REQUIRE(weights == 2);
    REQUIRE(activations == (compute == engine::Dtype::bf16 ? 2 : 1));
    const double ratio = q(Q::peak_flops) / q(Q::ici_axis_bandwidth), d_ff = s.model.d_ff, Mx = 2, My = 1;
    const double overlapped = weights * activations * ratio * ratio / (4 * Mx * My * d_ff);
    CHECK(q(Q::bound_mixed_max) == doctest::Approx(overlapped));
    CHECK(q(Q::bound_mixed_sum) == doctest::Approx(4 * overlapped));
    CHECK(q(Q::bound_tensor) == doctest::Approx(d_ff * My * 2 / (activations * ratio)));
    const double batch = double(s.workload.global_batch_sequences) * s.workload.sequence_length;
    CHECK(q(Q::bound_x_opt) ==
          doctest::Approx(std::sqrt(activations / weights * batch / d_ff * Mx / My * q(Q::cluster_chips))));
  }
}
