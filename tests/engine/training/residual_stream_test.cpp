// The format of the residual stream where it is kept and sent on, apart from that of matrix multiplications.
#include <doctest/doctest.h>

#include "engine/evaluate/evaluate.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using namespace roofscape::tests;

TEST_CASE("with 8-bit matrix multiplications a layer's input is kept and sent in 16 bits where nothing is said") {
  const Scenario wide = with(preset("gpt3-175b-1024-a100"), {"checkpointing.policy=block", "precision.compute=bf16"});
  const Scenario narrow = with(wide, {"precision.compute=fp8"});
  for (const Mode mode : {Mode::ideal, Mode::calibrated}) {
    Scenario a = wide, b = narrow;
    a.assumptions.mode = b.assumptions.mode = mode;
    CHECK(value_of(a, Q::layer_checkpoint_bytes) == value_of(b, Q::layer_checkpoint_bytes));
    CHECK(value_of(b, Q::residual_width_bytes) == 2);
  }
  CHECK(value_of(narrow, Q::activation_width_bytes) == 1);
}

TEST_CASE("the residual stream's own format halves or doubles what is kept of a layer's input and what is sent") {
  const Scenario two = with(preset("gpt3-175b-1024-a100"), {"checkpointing.policy=block"});
  for (const auto& one : {std::pair{"fp8", 1.0}, {"bf16", 2.0}, {"fp16", 2.0}, {"fp32", 4.0}}) {
    const std::string format = one.first;
    const double bytes = one.second;
    CAPTURE(format);
    const Scenario s = with(two, {"precision.residual=" + format});
    CHECK(value_of(s, Q::layer_checkpoint_bytes) == value_of(two, Q::layer_checkpoint_bytes) * bytes / 2);
    CHECK(value_of(s, Q::pipeline_transfer) == near(value_of(two, Q::pipeline_transfer) * bytes / 2));
    // Of six tensors of the stream's width two are the stream itself; the others are inputs of matrices.
    const double stream = value_of(two, Q::layer_checkpoint_bytes);
    CHECK(value_of(s, Q::layer_full_bytes) - value_of(two, Q::layer_full_bytes) ==
          near(2 * stream * (bytes / 2 - 1)));
  }
}

TEST_CASE("serving does not read the residual stream's format") {
  const Scenario s = preset("llama3-70b-serving-8-h100");
  Scenario other = s;
  other.precision.residual = Dtype::fp32;
  for (const Q q : {Q::time_per_output_token, Q::ttft, Q::memory_total}) CHECK(value_of(s, q) == value_of(other, q));
}
