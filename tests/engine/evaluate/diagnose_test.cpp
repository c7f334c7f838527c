#include <doctest/doctest.h>

#include "engine/evaluate/diagnose.h"

#include <algorithm>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/evaluate/custom_mode.h"
#include "engine/evaluate/evaluate.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/serving_fixture.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::fixed;
using tests::preset;
using tests::with;

namespace {

std::optional<Diagnostic> find(const Report& r, std::string_view code) {
  const auto found = std::find_if(r.diagnostics.begin(), r.diagnostics.end(),
                                  [code](const Diagnostic& d) { return d.code == code; });
  return found == r.diagnostics.end() ? std::nullopt : std::optional<Diagnostic>(*found);
}

}  // namespace

TEST_CASE("a mesh of 8,192 chips on a pod of 8,960 leaves 768 idle, as a warning") {
  const Report r = evaluate(preset("llama3-70b-v5p-pod"));
  const auto d = find(r, "mesh.idle_chips");
  REQUIRE(d.has_value());
  CHECK(d->severity == Severity::warning);
  CHECK(d->values[0].value == 768);
  CHECK(d->values[1].value == 8960);
  CHECK_FALSE(r.has_errors());
}
TEST_CASE("idle chips are offered to as many data ranks as the batch has whole shares for") {
  const auto offered = [](const Scenario& s) {
    const auto d = find(evaluate(s), "mesh.idle_chips");
    return d && !d->fix.empty() ? d->fix.front().value : 0;
  };
  // 128 sequences: of 9 times as many ranks 8 times divide them.
  CHECK(offered(with(preset("llama3-8b-8-h100"), {"cluster.nodes=9"})) == 64);
  CHECK(offered(with(preset("llama3-8b-8-h100"), {"cluster.nodes=9", "workload.global_batch_sequences=8"})) == 0);
  // 768 of 8,960 chips are too few for 1,024 ranks more.
  CHECK(offered(preset("llama3-70b-v5p-pod")) == 0);
  // Replicas have a sequence each.
  CHECK(offered(with(preset("llama3-70b-serving-8-h100"), {"cluster.nodes=3"})) == 3);
  CHECK(offered(with(preset("llama3-70b-serving-8-h100"), {"cluster.nodes=3", "workload.batch=2"})) == 2);
}
TEST_CASE("the fix of idle chips is a legal mesh that leaves fewer idle, for any plan that runs") {
  std::mt19937 rng(11);
  int offered = 0;
  for (int i = 0; i < 600; ++i) {
    Scenario s = i % 3 == 0 ? tests::random_serving_scenario(rng) : tests::random_scenario(rng);
    if (s.cluster.chip.interconnect == Interconnect::switched) s.cluster.nodes *= 1 + i % 7;
    const Report r = evaluate(s);
    const auto d = find(r, "mesh.idle_chips");
    if (!d || d->fix.empty() || r.has_errors()) continue;
    ++offered;
    CAPTURE(i);
    const Report better = evaluate(fixed(s, *d));
    CHECK_FALSE(find(better, "mesh.too_many_chips").has_value());
    for (const Diagnostic& e : better.diagnostics) CHECK_MESSAGE(e.severity != Severity::error, e.code);
    CHECK(better.quantities.value_or(Q::chips_used, 0) > r.quantities.value_or(Q::chips_used, 0));
  }
  CHECK(offered > 30);
}
TEST_CASE("a mesh larger than the cluster is an error whose fix is not") {
  const Scenario s =
      with(preset("llama3-70b-v5p-pod"), {"parallelism.fsdp=2048", "workload.global_batch_sequences=2048"});
  const Report r = evaluate(s);
  const auto d = find(r, "mesh.too_many_chips");
  REQUIRE(d.has_value());
  CHECK(d->severity == Severity::error);
  REQUIRE_FALSE(d->fix.empty());
  CHECK(find(evaluate(fixed(s, *d)), "mesh.too_many_chips").has_value() == false);
}
TEST_CASE("1024 sequences cannot feed 2048 data shards, the fix splits sequences instead") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"parallelism.fsdp=2048", "parallelism.context=1"});
  const auto d = find(evaluate(s), "batch.too_few_sequences");
  REQUIRE(d.has_value());
  const Scenario mended = fixed(s, *d);
  CHECK(mended.parallelism.fsdp == 1024);
  CHECK(mended.parallelism.context == 2);
  CHECK_FALSE(evaluate(mended).has_errors());
}
TEST_CASE("a batch that microbatches do not divide is an error whose fix rounds it up") {
  const Scenario s = with(preset("llama3-405b-16k-h100"), {"workload.global_batch_sequences=130"});
  const auto d = find(evaluate(s), "batch.not_divisible");
  REQUIRE(d.has_value());
  CHECK(fixed(s, *d).workload.global_batch_sequences == 136);
}
TEST_CASE("tensor 16 on 8 KV heads replicates them, as a warning") {
  const auto d = find(evaluate(with(preset("llama3-70b-v5p-pod"), {"parallelism.tensor=16", "parallelism.fsdp=256"})),
                      "tensor.exceeds_kv_heads");
  REQUIRE(d.has_value());
  CHECK(d->values[2].value == 2);
}
TEST_CASE("tensor 12 does not divide 64 heads") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"parallelism.tensor=12", "parallelism.fsdp=256"});
  const auto d = find(evaluate(s), "tensor.heads_not_divisible");
  REQUIRE(d.has_value());
  CHECK(fixed(s, *d).parallelism.tensor == 8);
}
TEST_CASE(
    "a degree that cannot be is mended to the nearest that divides the chips left, in the node where it was in one") {
  const auto mended = [](const char* id, std::initializer_list<std::string_view> edits, const char* code) {
    const Scenario s = with(preset(id), edits);
    const auto d = find(evaluate(s), code);
    REQUIRE(d.has_value());
    return fixed(s, *d).parallelism;
  };
  constexpr const char* kHeads = "tensor.heads_not_divisible";
  CHECK(mended("llama3-405b-16k-h100", {"parallelism.tensor=6"}, kHeads).tensor == 8);
  CHECK(mended("llama3-405b-16k-h100", {"parallelism.tensor=3"}, kHeads).tensor == 4);
  CHECK(mended("llama3-405b-16k-h100", {"parallelism.tensor=7"}, kHeads).tensor == 8);
  // 6 chips are left of 12: 2 divides them and the heads, 4 would leave some that no other axis can use.
  CHECK(mended("llama3-8b-8-h100",
               {"cluster.nodes=3", "cluster.node_size=4", "parallelism.fsdp=2", "parallelism.tensor=6"}, kHeads)
            .tensor == 2);
  CHECK(mended("llama3-8b-8-h100",
               {"cluster.nodes=2", "cluster.node_size=4", "parallelism.fsdp=1", "parallelism.tensor=3"}, kHeads)
            .tensor == 4);
  CHECK(mended("llama3-8b-8-h100",
               {"cluster.nodes=2", "cluster.node_size=4", "parallelism.fsdp=1", "parallelism.tensor=7"}, kHeads)
            .tensor == 8);
  CHECK(mended("llama3-8b-8-h100",
               {"cluster.nodes=3", "cluster.node_size=4", "parallelism.fsdp=4", "parallelism.tensor=3"}, kHeads)
            .tensor == 2);
  CHECK(mended("deepseek-v3-2048-h800", {"parallelism.expert=48"}, "expert.not_divisible").expert == 64);
  CHECK(mended("deepseek-v3-2048-h800", {"parallelism.expert=40"}, "expert.not_divisible").expert == 32);
}

TEST_CASE("a mesh larger than the cluster keeps as many data ranks as fit and the batch divides by") {
  const auto ranks = [](std::initializer_list<std::string_view> edits) {
    const Scenario s = with(preset("llama3-8b-8-h100"), edits);
    const auto d = find(evaluate(s), "mesh.too_many_chips");
    REQUIRE(d.has_value());
    return fixed(s, *d).parallelism.fsdp;
  };
  CHECK(ranks({"cluster.nodes=3", "parallelism.fsdp=64", "workload.global_batch_sequences=768"}) == 24);
  CHECK(ranks({"cluster.nodes=3", "parallelism.fsdp=64", "workload.global_batch_sequences=512"}) == 16);
  CHECK(ranks({"cluster.nodes=3", "parallelism.fsdp=64", "parallelism.tensor=2",
               "workload.global_batch_sequences=720"}) == 12);
}

TEST_CASE("pure FSDP at 468 tokens per chip is below 850, tensor brings the need to 453") {
  const Scenario s = with(preset("llama3-70b-v5p-pod"), {"parallelism.tensor=1", "parallelism.context=8"});
  const auto d = find(evaluate(s), "network.fsdp_limit");
  REQUIRE(d.has_value());
  CHECK(d->values[0].value == doctest::Approx(468.1).epsilon(1e-3));
  CHECK(d->values[1].value == doctest::Approx(850));
  CHECK(d->values[2].value == 4);
  CHECK(d->values[3].value == doctest::Approx(453.6).epsilon(1e-3));
  CHECK(find(evaluate(fixed(s, *d)), "network.fsdp_limit").has_value() == false);
}
TEST_CASE("a policy that keeps as much as none does is told so, and the fix is as small and no slower") {
  std::mt19937 rng(41);
  int told = 0;
  for (int i = 0; i < 400; ++i) {
    Scenario s = tests::random_scenario(rng);
    s.assumptions.mode = i % 2 == 0 ? Mode::ideal : Mode::calibrated;
    const Report r = evaluate(s);
    const auto d = find(r, "checkpointing.frees_nothing");
    if (!d) continue;
    ++told;
    CHECK(s.checkpointing.policy != CheckpointPolicy::none);
    const Report without = evaluate(fixed(s, *d));
    CHECK(without.quantities.value_or(Q::memory_total, 0) <= r.quantities.value_or(Q::memory_total, 0) * (1 + 1e-12));
    CHECK(without.quantities.value_or(Q::step_time, 0) <= r.quantities.value_or(Q::step_time, 0) * (1 + 1e-12));
  }
  CHECK(told > 3);
}
TEST_CASE("under a fused kernel recomputed attention frees nothing, in ideal mode its output") {
  const Scenario s =
      with(preset("llama3-405b-16k-h100-8k"), {"checkpointing.policy=attention", "assumptions.mode=calibrated"});
  const auto d = find(evaluate(s), "checkpointing.frees_nothing");
  REQUIRE(d.has_value());
  CHECK(d->severity == Severity::note);
  CHECK(d->values[0].value == d->values[1].value);
  CHECK(fixed(s, *d).checkpointing.policy == CheckpointPolicy::none);
  CHECK_FALSE(find(evaluate(with(s, {"assumptions.mode=ideal"})), "checkpointing.frees_nothing").has_value());
  CHECK_FALSE(find(evaluate(with(s, {"kernels.attention=unfused"})), "checkpointing.frees_nothing").has_value());
}
TEST_CASE("launches that block are told of where the host starts each kernel, with the fix") {
  const Scenario s =
      with(preset("llama3-405b-16k-h100-8k"), {"kernels.launch=blocking", "assumptions.mode=calibrated"});
  const Report r = evaluate(s);
  const auto d = find(r, "kernels.launch_blocks");
  REQUIRE(d.has_value());
  CHECK(d->severity == Severity::note);
  CHECK(d->values[0].value == applied_calibration(s)[Calibrated::wait]);
  const Report without = evaluate(fixed(s, *d));
  CHECK(without.quantities.value_or(Q::step_time, 0) < r.quantities.value_or(Q::step_time, 0));
  CHECK_FALSE(find(without, "kernels.launch_blocks").has_value());
  CHECK_FALSE(find(evaluate(with(s, {"assumptions.mode=ideal"})), "kernels.launch_blocks").has_value());
}
TEST_CASE("heads that matrix units do not take are told of where their scores go to HBM, training and serving") {
  for (const char* id : {"gpt3-175b-1024-a100", "llama3-70b-serving-8-h100"}) {
    CAPTURE(id);
    const Scenario s =
        with(preset(id), {"model.d_head=108", "kernels.attention=unfused", "assumptions.mode=calibrated"});
    const auto d = find(evaluate(s), "kernels.heads_unaligned");
    REQUIRE(d.has_value());
    CHECK(d->values[0].value == 108);
    CHECK_FALSE(find(evaluate(fixed(s, *d)), "kernels.heads_unaligned").has_value());
    CHECK_FALSE(find(evaluate(with(s, {"model.d_head=112"})), "kernels.heads_unaligned").has_value());
    CHECK_FALSE(find(evaluate(with(s, {"assumptions.mode=ideal"})), "kernels.heads_unaligned").has_value());
  }
}
TEST_CASE("what does not fit is a verdict, not an error") {
  const Report r = evaluate(with(preset("llama3-8b-8-h100"), {"parallelism.fsdp=1", "cluster.nodes=1"}));
  const auto d = find(r, "memory.does_not_fit");
  REQUIRE(d.has_value());
  CHECK(d->severity == Severity::warning);
  CHECK_FALSE(r.fits());
}
TEST_CASE("chunks that microbatches do not fill are an error that names the multiple") {
  const Scenario s = with(preset("llama3-405b-16k-h100"), {"pipeline.schedule=zb-h1", "pipeline.virtual_stages=2",
                                                           "workload.global_batch_sequences=144"});
  const Report r = evaluate(s);
  const auto d = find(r, "pipeline.illegal_schedule");
  REQUIRE(d.has_value());
  CHECK(fixed(s, *d).workload.global_batch_sequences == 256);
  CHECK_FALSE(r.pipeline.drawn());
}
TEST_CASE("a large bubble of 1F1B is answered with as many chunks as the layers allow, and shrinks") {
  const Scenario s = with(preset("llama3-405b-16k-h100"), {"pipeline.schedule=1f1b", "pipeline.virtual_stages=1"});
  const Report before = evaluate(s);
  const auto d = find(before, "pipeline.bubble");
  REQUIRE(d.has_value());
  const Scenario mended = fixed(s, *d);
  CHECK(mended.pipeline.virtual_stages == 8);  // 126 layers, with the embedding and the head on chunks of their own
  CHECK(evaluate(mended).quantities.value_or(Q::pipeline_bubble_fraction, 1) <
        0.6 * before.quantities.value_or(Q::pipeline_bubble_fraction, 0));
}
TEST_CASE("idle time is what equal stages idle, what unequal ones add, and what transfers do: in sum all of it") {
  std::mt19937 rng(20261123);
  int seen = 0;
  for (int i = 0; i < 3000; ++i) {
    const Report r = evaluate(tests::random_scenario(rng));
    if (!r.quantities[Q::pipeline_makespan]) continue;
    const auto q = [&r](Q id) { return r.quantities.value_or(id, 0); };
    const double idle = std::max(q(Q::pipeline_makespan) - q(Q::pipeline_work) - q(Q::pipeline_in_transfer), 0.0);
    ++seen;
    CHECK(q(Q::pipeline_idle_even) >= 0);
    CHECK(q(Q::pipeline_idle_imbalance) >= 0);
    CHECK(q(Q::pipeline_idle_even) + q(Q::pipeline_idle_imbalance) == doctest::Approx(idle).epsilon(1e-12));
    CHECK(q(Q::step_bubble) == idle);
  }
  CHECK(seen > 500);
}
TEST_CASE("a pipeline that waits for its head is told so, and what fewer layers there would make of it") {
  // Gemma-2 9B: the head takes as long as four layers; equal stages would idle 4.5 %.
  const Scenario s =
      with(preset("llama3-8b-8-h100"), {"model=gemma2-9b", "parallelism.fsdp=2", "parallelism.pipeline=4",
                                        "parallelism.zero_stage=1", "pipeline.schedule=1f1b"});
  const Report r = evaluate(s);
  CHECK_FALSE(find(r, "pipeline.bubble").has_value());
  const auto d = find(r, "pipeline.imbalance");
  REQUIRE(d.has_value());
  CHECK(d->detail == "move_layers");
  REQUIRE(d->values.size() == 6);
  CHECK(d->values[0].value == doctest::Approx(0.168).epsilon(0.01));
  CHECK(d->values[2].value == 3);
  CHECK(d->values[3].value == doctest::Approx(196.2e-3).epsilon(0.002));
  CHECK(d->values[4].value == 2);
  CHECK(d->values[5].value == doctest::Approx(180.8e-3).epsilon(0.002));
  const Scenario mended = fixed(s, *d);
  CHECK(mended.pipeline.head_as_layers == 3);
  CHECK(tests::value_of(mended, Q::step_time) < 0.93 * tests::value_of(s, Q::step_time));
}
TEST_CASE("layers that divide but for the embedding and the head alone are not said to be uneven") {
  const Scenario s = preset("llama3-405b-16k-h100");
  REQUIRE(virtual_stages_of(s) == 128);
  CHECK_FALSE(find(evaluate(s), "pipeline.uneven_layers").has_value());
  CHECK(find(evaluate(with(s, {"pipeline.virtual_stages=4"})), "pipeline.uneven_layers").has_value());
}
TEST_CASE("what is listed for other layers or stages is a warning, with the way back, and the layers are dealt") {
  const Scenario s = with(preset("llama3-8b-8-h100"), {"parallelism.fsdp=2", "parallelism.pipeline=4"});
  const double dealt = tests::value_of(s, Q::step_time);
  struct Case {
    std::string layers;
    std::string_view why;
  };
  for (const Case& c :
       {Case{"16,16", "other_count"}, Case{"8,8,8,9", "other_sum"}, Case{"16,0,8,8", "empty_between"}}) {
    CAPTURE(c.layers);
    const Scenario listed = with(s, {"pipeline.layers_per_stage=" + c.layers});
    const Report r = evaluate(listed);
    const auto d = find(r, "pipeline.listed_layers");
    REQUIRE(d.has_value());
    CHECK(d->severity == Severity::warning);
    CHECK(d->detail == c.why);
    CHECK(tests::value_of(r, Q::step_time) == dealt);
    CHECK(fixed(listed, *d).pipeline.layers_per_stage.empty());
  }
}
TEST_CASE("152 thousand words on the last of 16 stages: the cause is the head, not the microbatches") {
  const Report r =
      evaluate(with(preset("gpt3-175b-1024-a100"),
                    {"model=qwen3-30b-a3b", "parallelism.expert=8", "parallelism.tensor=1", "parallelism.data=64",
                     "pipeline.microbatch_sequences=1", "workload.global_batch_sequences=4096",
                     "pipeline.schedule=1f1b", "pipeline.virtual_stages=1"}));
  CHECK(find(r, "pipeline.imbalance").has_value());
  CHECK_FALSE(find(r, "pipeline.bubble").has_value());
}
TEST_CASE("attention left out by 6 P is noted where it matters") {
  CHECK(find(evaluate(preset("llama3-70b-v5p-pod")), "flops.attention_not_counted").has_value() == false);
  CHECK(find(evaluate(with(preset("llama3-405b-16k-h100"), {"assumptions.flops=6p"})), "flops.attention_not_counted")
            .has_value());
}
TEST_CASE("errors come first") {
  const Report r = evaluate(with(preset("llama3-70b-v5p-pod"), {"parallelism.fsdp=8192"}));
  for (std::size_t i = 1; i < r.diagnostics.size(); ++i)
    CHECK(r.diagnostics[i - 1].severity <= r.diagnostics[i].severity);
}
TEST_CASE("suggested edits name fields and stay in their domain") {
  std::mt19937 rng(17);
  for (int i = 0; i < 2000; ++i) {
    const Report r = evaluate(tests::random_scenario(rng));
    for (const Diagnostic& d : r.diagnostics)
      for (const FieldEdit& edit : d.fix) {
        CAPTURE(std::string(d.code));
        REQUIRE(edit.field != nullptr);
        REQUIRE(in_domain(*edit.field, edit.value));
      }
  }
}
TEST_CASE("an expert split over ranks that do not divide the tensor ranks is an error with a fix") {
  const Scenario s = with(preset("mixtral-8x7b-64-h100"),
                          {"parallelism.tensor=4", "parallelism.fsdp=4", "parallelism.expert_tensor=3"});
  const auto d = find(evaluate(s), "expert_tensor.not_divisible");
  REQUIRE(d.has_value());
  CHECK(fixed(s, *d).parallelism.expert_tensor == 0);
}
TEST_CASE("tensor ranks that hold other experts need as many expert ranks, and tokens of their own") {
  const Scenario s = with(preset("mixtral-8x7b-64-h100"), {"parallelism.expert=1", "parallelism.expert_tensor=1"});
  const auto d = find(evaluate(s), "expert_tensor.too_few_experts");
  REQUIRE(d.has_value());
  CHECK(fixed(s, *d).parallelism.expert == 2);
  CHECK_FALSE(evaluate(fixed(s, *d)).has_errors());
  const Scenario whole =
      with(preset("mixtral-8x7b-64-h100"), {"parallelism.expert_tensor=1", "parallelism.sequence_parallel=false"});
  const auto e = find(evaluate(whole), "expert_tensor.needs_sequence_parallel");
  REQUIRE(e.has_value());
  CHECK_FALSE(evaluate(fixed(whole, *e)).has_errors());
}
TEST_CASE("a fabric whose levels join fewer nodes than there are is noted") {
  const Scenario s = with(preset("llama3-8b-8-h100"), {"cluster=dgx-h100-superpod-1024", "cluster.nodes=256"});
  const auto d = find(evaluate(s), "cluster.fabric_too_small");
  REQUIRE(d.has_value());
  CHECK(d->values[0].value == 128);
  CHECK_FALSE(find(evaluate(with(s, {"cluster.nodes=128"})), "cluster.fabric_too_small").has_value());
}
TEST_CASE("transfers that work does not hide are said beside the axis that is exposed longest") {
  const auto d =
      find(evaluate(with(preset("deepseek-v3-2048-h800"), {"model.moe.groups_per_token=0"})), "network.bound");
  REQUIRE(d.has_value());
  CHECK(d->field_path == "parallelism.expert");
}
TEST_CASE("a chip made before bf16 has no rate for it, the fix takes fp16, with which V100 trains") {
  const Scenario s = with(preset("llama3-8b-8-h100"), {"cluster.chip=v100"});
  const auto d = find(evaluate(s), "chip.no_rate");
  REQUIRE(d.has_value());
  const Scenario mended = fixed(s, *d);
  CHECK(mended.precision.compute == Dtype::fp16);
  const Report r = evaluate(mended);
  CHECK_FALSE(find(r, "chip.no_rate").has_value());
  CHECK(r.quantities.value_or(Q::peak_flops, 0) == 125e12);
}

TEST_CASE("Ulysses over more ranks than heads with keys and values is refused, a ring is not") {
  const Scenario base = with(preset("llama3-8b-8-h100"),
                             {"parallelism.fsdp=1", "cluster.nodes=2", "parallelism.context_method=ulysses"});
  CHECK_FALSE(find(evaluate(with(base, {"parallelism.context=8"})), "context.ulysses_heads").has_value());
  for (const char* over : {"parallelism.context=16", "parallelism.tensor=2"}) {
    const Scenario s = with(with(base, {"parallelism.context=8"}), {over});
    const auto d = find(evaluate(s), "context.ulysses_heads");
    REQUIRE(d.has_value());
    CHECK(d->severity == Severity::error);
    CHECK_FALSE(find(evaluate(fixed(s, *d)), "context.ulysses_heads").has_value());
  }
}

TEST_CASE("a model with more dense, local or used parts than it has is refused") {
  const auto code_of = [](Scenario s) {
    for (const Diagnostic& d : evaluate(s).diagnostics)
      if (d.severity == Severity::error) return std::string(d.code);
    return std::string();
  };
  CHECK(code_of(with(preset("mixtral-8x7b-64-h100"), {"model.moe.n_dense_layers=40"})) ==
        "model.dense_layers_out_of_range");
  CHECK(code_of(with(preset("mixtral-8x7b-64-h100"), {"model.moe.n_dense_layers=32"})).empty());
  CHECK(code_of(with(preset("mixtral-8x7b-64-h100"), {"model.moe.experts_per_token=9"})) ==
        "model.experts_out_of_range");
  Scenario local = preset("llama3-8b-8-h100");
  local.model.local_attention = {1024, 33};
  CHECK(code_of(local) == "model.local_layers_out_of_range");
}

TEST_CASE("a utilisation above one is not printed without a word") {
  // Kernels that leave out the masked half, FLOPs that count it: at this length attention is most of the work.
  const Scenario s =
      with(preset("llama3-8b-8-h100"),
           {"assumptions.mode=calibrated", "assumptions.flops=exact", "workload.sequence_length=1048576",
            "workload.global_batch_sequences=8", "checkpointing.policy=none"});
  const Report r = evaluate(s);
  const bool above = *r.quantities[Q::mfu] > 1 || *r.quantities[Q::hfu] > 1;
  CHECK(above == (find(r, "mfu.above_one").has_value() || find(r, "hfu.above_one").has_value()));
  std::mt19937 rng(3);
  for (int i = 0; i < 300; ++i) {
    Scenario any = tests::random_scenario(rng);
    any.assumptions.mode = Mode::calibrated;
    const Report report = evaluate(any);
    const bool high = report.quantities.value_or(Q::mfu, 0) > 1 || report.quantities.value_or(Q::hfu, 0) > 1;
    CHECK(high == (find(report, "mfu.above_one").has_value() || find(report, "hfu.above_one").has_value()));
  }
}

TEST_CASE("every fault of a model says what to change, and the changed model is counted") {
  const Scenario dense = preset("llama3-8b-8-h100"), moe = preset("mixtral-8x7b-64-h100"),
                 latent = preset("deepseek-v3-2048-h800");
  const std::vector<std::pair<Scenario, std::string_view>> faults{
      {with(dense, {"model.n_kv_heads=12"}), "model.heads_not_divisible"},
      {with(dense, {"model.n_kv_heads=64"}), "model.heads_not_divisible"},
      {with(moe, {"model.moe.experts_per_token=0"}), "model.experts_out_of_range"},
      {with(moe, {"model.moe.n_dense_layers=40"}), "model.dense_layers_out_of_range"},
      {with(dense, {"model.local_attention.n_local_layers=33"}), "model.local_layers_out_of_range"},
      {with(latent, {"model.mla.v_head_dim=0"}), "model.latent_without_heads"},
      {with(latent, {"model.mla.qk_nope_head_dim=0", "model.mla.qk_rope_head_dim=0", "model.mla.v_head_dim=0"}),
       "model.latent_without_heads"}};
  for (const auto& [s, code] : faults) {
    const auto d = find(evaluate(s), code);
    REQUIRE(d.has_value());
    REQUIRE_FALSE(d->fix.empty());
    CHECK_FALSE(find(evaluate(fixed(s, *d)), code).has_value());
  }
  CHECK(find(evaluate(faults[0].first), "model.heads_not_divisible")->fix[0].value == 8);
}

TEST_CASE("rules of the mesh that a plan breaks come with a plan that keeps them") {
  const Scenario dense = preset("llama3-8b-8-h100"), moe = preset("mixtral-8x7b-64-h100");
  const std::vector<std::pair<Scenario, std::string_view>> broken{
      {with(dense, {"parallelism.fsdp=1", "parallelism.context=8", "workload.sequence_length=4100"}),
       "context.sequence_not_divisible"},
      {with(moe, {"parallelism.fsdp=4", "parallelism.tensor=1", "parallelism.pipeline=1", "parallelism.expert=8"}),
       "expert.exceeds_ranks"},
      {with(dense, {"parallelism.fsdp=1", "parallelism.pipeline=64", "model.n_layers=32"}),
       "pipeline.more_stages_than_layers"}};
  for (const auto& [s, code] : broken) {
    const auto d = find(evaluate(s), code);
    REQUIRE(d.has_value());
    REQUIRE_FALSE(d->fix.empty());
    CHECK_FALSE(find(evaluate(fixed(s, *d)), code).has_value());
  }
}

TEST_CASE("ZeRO 3 over one rank shards nothing and is not the software that shards") {
  Scenario s = with(preset("llama3-8b-8-h100"), {"parallelism.fsdp=1", "parallelism.tensor=8"});
  REQUIRE(s.parallelism.zero_stage == 3);
  CHECK(software_stack(s) == SoftwareStack::megatron);
  CHECK(software_stack(with(s, {"parallelism.tensor=4", "parallelism.fsdp=2"})) == SoftwareStack::torch_fsdp);
  CHECK(software_stack(with(s, {"parallelism.tensor=4", "parallelism.context=2"})) == SoftwareStack::torch_fsdp);
}

TEST_CASE("custom mode set as a field starts from the calibrated values, and keeps values set by hand") {
  const Scenario s = preset("llama3-8b-8-h100");
  const Scenario custom = with(s, {"assumptions.mode=custom"});
  CHECK(custom.assumptions.custom == calibrated_values(s));
  CHECK(evaluate(custom).quantities[Q::step_time] ==
        evaluate(with(s, {"assumptions.mode=calibrated"})).quantities[Q::step_time]);
  const Scenario by_hand = with(s, {"assumptions.custom.matmul_efficiency=0.5", "assumptions.mode=custom"});
  CHECK(by_hand.assumptions.custom[Calibrated::matmul_efficiency] == 0.5);
}

TEST_CASE("calibrated mode on a chip that no run was fitted on says that its rates are ideal") {
  const Scenario fitted = with(preset("llama3-8b-8-h100"), {"assumptions.mode=calibrated"});
  const Scenario unfitted = with(fitted, {"cluster.chip=gaudi3"});
  CHECK(find(evaluate(unfitted), "calibration.none").has_value());
  CHECK_FALSE(find(evaluate(fitted), "calibration.none").has_value());
  CHECK_FALSE(find(evaluate(with(unfitted, {"assumptions.mode=ideal"})), "calibration.none").has_value());
}
