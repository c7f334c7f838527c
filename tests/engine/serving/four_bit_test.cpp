// NVFP4 and MXFP4: what they take, where they are multiplied, and what stays wider.
#include <doctest/doctest.h>

#include "engine/evaluate/evaluate.h"
#include "engine/inputs/inputs.h"
#include "engine/io/scenario/scenario_json.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::value_if_any;

namespace {

Scenario served(const std::string& chip, std::initializer_list<const char*> edits = {}) {
  Scenario s;
  for (const std::string& edit :
       {std::string("model=llama3-70b"), "cluster.chip=" + chip, std::string("workload.kind=serving"),
        std::string("workload.batch=8"), std::string("assumptions.mode=calibrated"),
        std::string("assumptions.stack=inflight")})
    REQUIRE_FALSE(io::set_field(s, edit, tests::library()));
  for (const char* edit : edits) REQUIRE_FALSE(io::set_field(s, edit, tests::library()));
  return s;
}

}  // namespace

TEST_CASE("an element takes four bits and its share of the scale of 16 or of 32") {
  CHECK(bytes_of(Dtype::nvfp4) == (16 * 0.5 + 1) / 16);
  CHECK(bytes_of(Dtype::mxfp4) == (32 * 0.5 + 1) / 32);
}
TEST_CASE("four-bit floats are multiplied at the data sheet's FP4 peak, and at none where there is none") {
  for (const Dtype dtype : {Dtype::nvfp4, Dtype::mxfp4}) {
    CHECK(peak_field(dtype) == ChipField::peak_fp4_dense_flops_per_s);
    CHECK(served_compute(dtype, served("b200").cluster.chip) == dtype);
    CHECK(served_compute(dtype, served("h100-sxm").cluster.chip) == Dtype::bf16);
  }
}
TEST_CASE("a server multiplies in a format that its chip has units for, and in 16 bits otherwise") {
  for (const auto& [chip, runs] : {std::pair{"h100-sxm", Dtype::fp8}, std::pair{"a100-80g", Dtype::bf16},
                                   std::pair{"tpu-v5p", Dtype::fp8}, std::pair{"tpu-7x", Dtype::fp8}})
    CHECK(served_compute(Dtype::fp8, served(chip).cluster.chip) == runs);
  for (const auto& [chip, runs] : {std::pair{"h100-sxm", Dtype::int8}, std::pair{"a100-80g", Dtype::int8}})
    CHECK(served_compute(Dtype::int8, served(chip).cluster.chip) == runs);
  CHECK(served_compute(Dtype::bf16, served("a100-80g").cluster.chip) == Dtype::bf16);
}
TEST_CASE("no cache and no activation is of four bits unless it is asked for") {
  const Scenario s = served("b200", {"precision.compute=nvfp4", "precision.weights=nvfp4"});
  CHECK(value_if_any(s, Q::kv_width_bytes) == 1);
  CHECK(value_if_any(s, Q::activation_width_bytes) == 2);
  CHECK(cache_format(Precision{.compute = Dtype::nvfp4, .kv_cache = Dtype::nvfp4}) == Dtype::nvfp4);
}
TEST_CASE("with experts only those are in four bits, and memory and reads are of both") {
  const Scenario dense = served("b200", {"precision.weights=nvfp4"});
  CHECK(value_if_any(dense, Q::weights_bytes_all) ==
        doctest::Approx(0.5625 * value_if_any(dense, Q::params_total)).epsilon(1e-12));
  const Scenario s = served("b200", {"model=gpt-oss-120b", "precision.compute=fp8", "precision.weights=mxfp4"});
  const double rest = value_if_any(s, Q::params_shared), all = value_if_any(s, Q::params_total);
  CHECK(value_if_any(s, Q::weights_bytes_all) == doctest::Approx(2 * rest + 0.53125 * (all - rest)).epsilon(1e-12));
}
TEST_CASE("weights are widened in the kernel where the units take none of four bits, and read more slowly for it") {
  const Scenario wide = served("h100-sxm", {"precision.weights=mxfp4"}),
                 native = served("b200", {"precision.weights=mxfp4", "precision.compute=fp8"});
  const auto share_of_read = [](const Scenario& s) {
    const double bytes = value_if_any(s, Q::weight_read_bytes),
                 hbm = *s.cluster.chip[ChipField::hbm_bytes_per_s].value;
    return bytes / hbm / value_if_any(s, Q::decode_weight_read);
  };
  CHECK(share_of_read(native) == doctest::Approx(0.85).epsilon(0.02));
  CHECK(share_of_read(wide) < 0.98 * share_of_read(native));
}
TEST_CASE("a step of training in NVFP4 is shorter than in fp8, and keeps its state and gradients") {
  Scenario s;
  for (const char* edit : {"model=llama3-70b", "cluster.chip=gb200-nvl72", "parallelism.tensor=4",
                           "parallelism.pipeline=2", "parallelism.fsdp=9", "parallelism.zero_stage=1",
                           "workload.global_batch_sequences=72", "pipeline.microbatch_sequences=1",
                           "assumptions.mode=calibrated", "precision.compute=fp8", "precision.master_weights=fp32"})
    REQUIRE_FALSE(io::set_field(s, edit, tests::library()));
  const double eight = value_if_any(s, Q::step_time), state = value_if_any(s, Q::memory_optimizer);
  s.precision.compute = Dtype::nvfp4;
  CHECK(value_if_any(s, Q::step_time) < eight);
  CHECK(value_if_any(s, Q::memory_optimizer) == state);
}
