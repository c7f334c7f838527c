#include <doctest/doctest.h>

#include "engine/evaluate/diagnose_recipes.h"

#include <algorithm>

#include "engine/evaluate/evaluate.h"
#include "engine/scenario/mesh_size.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::fixed;
using tests::preset;
using tests::with;

namespace {

std::vector<Diagnostic> advice(const Scenario& s, std::string_view recipe) {
  std::vector<Diagnostic> out;
  for (const Diagnostic& d : evaluate(s).diagnostics)
    if (d.code.starts_with("advice." + std::string(recipe))) out.push_back(d);
  return out;
}
// The one advice of a recipe; an empty code if there is none.
Diagnostic only(const Scenario& s, std::string_view recipe) {
  const auto all = advice(s, recipe);
  REQUIRE(all.size() <= 1);
  return all.empty() ? Diagnostic{} : all[0];
}
// A billion parameters on 64 H100.
Scenario small() {
  return with(preset("llama3-8b-8-h100"),
              {"model=gpt3-760m", "cluster.nodes=8", "parallelism.fsdp=64", "parallelism.zero_stage=3",
               "workload.sequence_length=2048", "workload.global_batch_sequences=1024"});
}

}  // namespace

TEST_CASE("the book's own plan for 70B on a pod gets no advice from the book") {
  CHECK(only(preset("llama3-70b-v5p-pod"), "book").code.empty());
}
TEST_CASE("on four pods 4M tokens are too few for any split, says the book") {
  const Diagnostic d = only(preset("llama3-70b-v5p-4-pods"), "book");
  CHECK(d.code == "advice.book.more_tokens");
  CHECK(d.severity == Severity::note);
  CHECK(d.values[0].value == doctest::Approx(4194304.0 / 35840));
  CHECK(d.values[1].value == doctest::Approx(2 * 2550.0 * 2550 / 28672));  // transfers summed
}
TEST_CASE("the batch the book asks for is enough") {
  const Scenario s = preset("llama3-70b-v5p-4-pods");
  const Diagnostic d = only(s, "book");
  REQUIRE(d.code == "advice.book.more_tokens");
  REQUIRE_FALSE(d.fix.empty());
  CHECK(only(fixed(s, d), "book").code != "advice.book.more_tokens");
}
TEST_CASE("between the limits of FSDP alone and with tensor the book's fix takes some tensor and no pipeline") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"parallelism.tensor=1", "parallelism.context=1",
                                                         "parallelism.pipeline=8", "parallelism.fsdp=1024"});
  const Diagnostic d = only(s, "book");
  REQUIRE(d.code == "advice.book.fsdp_tensor");
  REQUIRE_FALSE(d.fix.empty());
  CHECK(fixed(s, d).parallelism.pipeline == 1);
  CHECK(fixed(s, d).parallelism.tensor > 1);
  CHECK(only(fixed(s, d), "book").code.empty());
}
TEST_CASE("the lecture's fix for more axes is tensor inside a node, on the same GPUs") {
  const Scenario s = with(preset("llama3-8b-8-h100"),
                          {"cluster.nodes=256", "parallelism.fsdp=2048", "workload.global_batch_sequences=2048"});
  const Diagnostic d = only(s, "lecture");
  REQUIRE(d.code == "advice.lecture.more_axes");
  CHECK(fixed(s, d).parallelism.tensor == 8);
  CHECK(fixed(s, d).parallelism.fsdp == 256);
  CHECK(only(fixed(s, d), "lecture").code.empty());
}
TEST_CASE("only data parallelism crosses pods, the fix makes it so") {
  const Scenario s = with(preset("llama3-70b-v5p-4-pods"), {"parallelism.data=1", "parallelism.fsdp=1024"});
  const Diagnostic d = only(s, "book");
  REQUIRE(d.code == "advice.book.data_across_pods");
  CHECK(fixed(s, d).parallelism.data == 4);
  CHECK(fixed(s, d).parallelism.fsdp == 256);
  CHECK(only(fixed(s, d), "book").code != "advice.book.data_across_pods");
}
TEST_CASE("a mesh that one pod of several holds needs no data ranks") {
  const Scenario s = with(preset("llama3-70b-v5p-4-pods"), {"parallelism.data=1"});
  REQUIRE(mesh_chips(s.parallelism) <= static_cast<double>(slice_chips(s.cluster)));
  CHECK(only(s, "book").code != "advice.book.data_across_pods");
}
TEST_CASE("with 850 tokens per chip and more FSDP alone is the book's plan, tensor is advised against") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"),
                          {"workload.global_batch_sequences=4096", "parallelism.context=1", "parallelism.fsdp=2048"});
  const Diagnostic d = only(s, "book");
  REQUIRE(d.code == "advice.book.fsdp");
  CHECK(fixed(s, d).parallelism.tensor == 1);
  CHECK(only(fixed(s, d), "book").code.empty());
}
TEST_CASE("a model that fits a chip needs no tensor ranks") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"model=gpt3-1.3b", "workload.global_batch_sequences=8192",
                                                         "parallelism.context=1", "parallelism.fsdp=2048"});
  const Diagnostic d = only(s, "book");
  REQUIRE(d.code == "advice.book.data");
  CHECK(only(fixed(s, d), "book").code.empty());
}
TEST_CASE("the plan Llama 3 was trained with is the book's recipe for GPUs, with ZeRO-3 it is not") {
  CHECK(only(preset("llama3-405b-16k-h100-8k"), "book").code.empty());
  const Scenario s = with(preset("llama3-405b-16k-h100-8k"), {"parallelism.zero_stage=3"});
  const Diagnostic d = only(s, "book");
  REQUIRE(d.code == "advice.book.gpu_tensor_pipeline");
  CHECK(only(fixed(s, d), "book").code.empty());
}
TEST_CASE("DeepSeek-V3 spreads experts of width 2048 over 8 nodes, the book keeps them in two") {
  const Scenario s = preset("deepseek-v3-2048-h800");
  const Diagnostic d = only(s, "book");
  REQUIRE(d.code == "advice.book.experts_near");
  CHECK(d.values[1].value == 8);
  CHECK(fixed(s, d).parallelism.expert == 16);
  CHECK(only(fixed(s, d), "book").code.empty());
}
TEST_CASE("a mixture of experts is split by expert before tensor") {
  const Scenario s =
      with(preset("gpt-oss-120b-64-h100"), {"parallelism.expert=1", "parallelism.tensor=8", "parallelism.fsdp=8"});
  const Diagnostic d = only(s, "book");
  REQUIRE(d.code == "advice.book.experts_first");
  CHECK(only(fixed(s, d), "book").code.empty());
}
TEST_CASE("the lecture: up to 128 GPUs and a billion parameters data parallelism") {
  const Diagnostic d = only(small(), "lecture");
  REQUIRE(d.code == "advice.lecture.data");
  CHECK(fixed(small(), d).parallelism.data == 64);
  CHECK(only(fixed(small(), d), "lecture").code.empty());
}
TEST_CASE("the lecture: above a billion parameters FSDP") {
  const Scenario s = with(preset("llama3-8b-8-h100"), {"parallelism.fsdp=1", "parallelism.data=8"});
  const Diagnostic d = only(s, "lecture");
  REQUIRE(d.code == "advice.lecture.fsdp");
  CHECK(only(fixed(s, d), "lecture").code.empty());
  CHECK(only(preset("llama3-8b-8-h100"), "lecture").code.empty());
}
TEST_CASE("the lecture: checkpoint as soon as activations overflow") {
  const Scenario s =
      with(preset("llama3-8b-8-h100"), {"checkpointing.policy=none", "pipeline.microbatch_sequences=4"});
  const Diagnostic d = only(s, "lecture");
  REQUIRE(d.code == "advice.lecture.checkpointing");
  CHECK(fixed(s, d).checkpointing.policy == CheckpointPolicy::block);
}
TEST_CASE("the lecture: tensor and pipeline wait for 1000 GPUs, 50 billion parameters or 10,000 tokens") {
  const Scenario s = with(small(), {"parallelism.tensor=8", "parallelism.fsdp=8"});
  CHECK(only(s, "lecture").code == "advice.lecture.fewer_axes");
  CHECK(only(with(s, {"workload.sequence_length=16384"}), "lecture").code.empty());
}
TEST_CASE("the lecture: above 512 GPUs one group of shards is too large, above 1000 more axes") {
  const Scenario s = with(preset("llama3-8b-8-h100"),
                          {"cluster.nodes=96", "parallelism.fsdp=768", "workload.global_batch_sequences=768"});
  const Diagnostic d = only(s, "lecture");
  REQUIRE(d.code == "advice.lecture.hybrid");
  CHECK(fixed(s, d).parallelism.fsdp == 192);
  CHECK(fixed(s, d).parallelism.data == 4);
  CHECK(only(fixed(s, d), "lecture").code.empty());
  const Scenario large = with(preset("llama3-8b-8-h100"),
                              {"cluster.nodes=256", "parallelism.fsdp=2048", "workload.global_batch_sequences=2048"});
  CHECK(only(large, "lecture").code == "advice.lecture.more_axes");
}
TEST_CASE("at most one advice of each recipe, where it is offered, it was evaluated (offers_test.cpp)") {
  std::mt19937 rng(31);
  int given = 0;
  for (int i = 0; i < 5000; ++i) {
    const Scenario s = tests::random_scenario(rng);
    for (const char* recipe : {"book", "lecture"}) {
      const auto all = advice(s, recipe);
      REQUIRE(all.size() <= 1);
      for (const Diagnostic& d : all) {
        ++given;
        REQUIRE(d.severity == Severity::note);
      }
    }
  }
  CHECK(given > 1000);
}
TEST_CASE("a plan with errors gets no advice") {
  const Scenario s = with(preset("llama3-8b-8-h100"), {"parallelism.fsdp=64"});
  REQUIRE(evaluate(s).has_errors());
  CHECK(advice(s, "").empty());
}
