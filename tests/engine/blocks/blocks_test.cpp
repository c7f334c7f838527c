// The table of building blocks as a whole, whatever a block is about: documented, derivable, finite, equal over both
// number types; and what happens to inputs that are wrong.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "engine/io/export/block_json.h"
#include "engine/model/layer_operations.h"
#include "tests/engine/blocks/ask.h"
#include "tests/engine/fixtures.h"
#include "tests/english.h"
#include "tests/test_paths.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::ask;
using tests::library;
using tests::number;

namespace {

int symbols(const Expression& e) {
  if (e.kind == Expression::Kind::operand) return 1;
  int count = 0;
  const bool separate =
      e.kind == Expression::Kind::add || e.kind == Expression::Kind::max || e.kind == Expression::Kind::min;
  for (const Expression& child : e.children)
    count = separate ? std::max(count, symbols(child)) : count + symbols(child);
  return count;
}

BlockCall random_call(const BuildingBlock& block, std::mt19937& rng, int leave_out_of_ten) {
  BlockCall call(block);
  for (const BlockInput& in : block.inputs)
    if (std::uniform_int_distribution<int>(0, 9)(rng) >= leave_out_of_ten) {
      const auto error = call.set(in.name, tests::typical(in, rng));
      CHECK_MESSAGE(!error, in.name);
    }
  call.complete(nullptr, nullptr);
  return call;
}

}  // namespace

TEST_CASE("blocks, inputs and outputs have names of their own") {
  std::set<std::string_view> ids;
  for (const BuildingBlock& block : blocks()) {
    CAPTURE(std::string(block.id));
    CHECK(ids.insert(block.id).second);
    CHECK_FALSE(block.source.empty());
    std::set<std::string_view> names;
    for (const BlockInput& in : block.inputs) CHECK_MESSAGE(names.insert(in.name).second, in.name);
    names.clear();
    for (const BlockOutput& o : block.outputs) CHECK_MESSAGE(names.insert(o.name).second, o.name);
  }
  CHECK(ids.size() >= 35);
}
TEST_CASE("no two numeric inputs of a block are one quantity") {
  for (const BuildingBlock& block : blocks()) {
    std::set<Q> seen;
    for (const BlockInput& in : block.inputs)
      if (in.is_numeric()) CHECK_MESSAGE(seen.insert(in.q).second, block.id << " " << in.name);
  }
}
TEST_CASE("everything of a block has words") {
  std::ifstream file(test::source_dir() / "assets/strings/en.json");
  const auto texts = nlohmann::json::parse(file);
  for (const BuildingBlock& block : blocks()) {
    CHECK_MESSAGE(texts.contains("calc." + std::string(block.id)), block.id);
    for (const BlockInput& in : block.inputs) CHECK_MESSAGE(texts.contains(io::about_key(in)), io::about_key(in));
    for (const BlockOutput& o : block.outputs) CHECK_MESSAGE(texts.contains(io::about_key(o)), io::about_key(o));
  }
}
TEST_CASE("blocks over random inputs: finite, the same over both number types, without mistakes of dimension") {
  std::mt19937 rng(7);
  for (const BuildingBlock& block : blocks())
    for (int round = 0; round < 60; ++round) {
      CAPTURE(std::string(block.id));
      const BlockCall call = random_call(block, rng, round % 5);
      const BlockResult traced = run_block(call), plain = run_block_plain(call);
      REQUIRE(traced.error.has_value() == plain.error.has_value());
      for (const std::string& problem : traced.trace->problems()) CHECK_MESSAGE(problem.empty(), problem);
      if (traced.error) continue;
      for (std::size_t i = 0; i < traced.answers.size(); ++i) {
        CAPTURE(std::string(traced.answers[i].output->name));
        CHECK(traced.answers[i].numbers == plain.answers[i].numbers);
        CHECK(traced.answers[i].word == plain.answers[i].word);
        for (const double x : traced.answers[i].numbers) CHECK(std::isfinite(x));
      }
    }
}
TEST_CASE("no term of a block's derivations has more than five symbols, and every operand a line") {
  std::mt19937 rng(11);
  for (const BuildingBlock& block : blocks())
    for (int round = 0; round < 12; ++round) {
      const BlockResult result = run_block(random_call(block, rng, round % 4));
      if (result.error) continue;
      for (const BlockAnswer& answer : result.answers)
        for (const Derivation& derivation : derivations(result, answer))
          for (const DerivationLine& line : derivation.lines) {
            CAPTURE(std::string(block.id));
            CAPTURE(line.id);
            CHECK(symbols(line.expression) <= 5);
            CHECK_FALSE(line.source.empty());
            for (const std::string& used : line.uses) CHECK_MESSAGE(derivation.find(used) != nullptr, used);
          }
    }
}
TEST_CASE("every output is answered for some inputs") {
  std::mt19937 rng(3);
  for (const BuildingBlock& block : blocks()) {
    std::set<std::string_view> answered;
    for (int round = 0; round < 300; ++round) {
      const BlockResult result = run_block(random_call(block, rng, round % 3));
      if (result.error) continue;
      for (const BlockAnswer& a : result.answers)
        if (!a.is_absent() || a.output->kind == OutputKind::table) answered.insert(a.output->name);
    }
    for (const BlockOutput& o : block.outputs) CHECK_MESSAGE(answered.count(o.name) == 1, block.id << " " << o.name);
  }
}
TEST_CASE("a chip gives what is left out, what is typed wins") {
  CHECK(number(ask("ridge", {"chip=tpu-v5p"}), "ridge") == doctest::Approx(459e12 / 2.8e12));
  CHECK(number(ask("ridge", {"chip=tpu-v5p", "peak_flops_per_s=2.8e12"}), "ridge") == 1);
  CHECK(number(ask("collective", {"chip=tpu-v5p", "bytes=1.8e11", "axes=16"}), "time_s") == doctest::Approx(1));
}
TEST_CASE("of a latent cache a token keeps the latent") {
  // DeepSeek-V3: 61 layers of 512 + 64 numbers, 2 bytes each.
  CHECK(number(ask("kv-cache", {"model=deepseek-v3"}), "bytes_per_token") == 61 * 576 * 2);
}
TEST_CASE("a mixture's model preset gives its parameters to the digit") {
  const auto mixtral = ask("moe", {"model=mixtral-8x7b"});
  CHECK(number(mixtral, "total") == 46702792704.0);
  const auto deepseek = ask("moe", {"model=deepseek-v3"});
  CHECK(number(deepseek, "total") == 671026419200.0);
}
TEST_CASE("a model gives what is left out") {
  CHECK(number(ask("params", {"model=llama3-8b"}), "total") == 8030261248.0);
}
TEST_CASE("an absent output names the inputs it misses") {
  const auto result = ask("matmul", {"batch=8", "d_in=8", "d_out=8"});
  REQUIRE(result.ok());
  const BlockAnswer* a = result->find("math_s");
  CHECK(a->is_absent());
  CHECK(a->missing == std::vector<std::string>{"peak_flops_per_s"});
  CHECK(number(result, "flops") == 1024);
}
TEST_CASE("a token cannot be sent to more experts than there are") {
  const auto asked = ask("moe", {"experts=8", "experts_per_token=16", "d_model=64"});
  REQUIRE_FALSE(asked.ok());
  CHECK(test::in_english(asked.error()).find("are more than there are experts") != std::string::npos);
}
TEST_CASE("wrong questions say what would be right") {
  const auto error = [](std::string_view block, std::vector<std::string> inputs) {
    const auto result = ask(block, std::move(inputs));
    REQUIRE_FALSE(result.ok());
    return test::in_english(result.error());
  };
  CHECK(error("matmull", {}).find("\"matmul\"") != std::string::npos);
  CHECK(error("matmul", {"batchh=8"}).find("\"batch\"") != std::string::npos);
  CHECK(error("matmul", {"batch=-1"}).find("> 0") != std::string::npos);
  CHECK(error("matmul", {"batch=nan"}).find("> 0") != std::string::npos);
  CHECK(error("matmul", {"batch"}).find("name=value") != std::string::npos);
  CHECK(error("matmul", {"batch=1", "batch=2"}).find("twice") != std::string::npos);
  CHECK(error("ridge", {"chip=h10"}).find("h100") != std::string::npos);
  CHECK(error("collective", {"kind=all_gahter"}).find("all_gather") != std::string::npos);
  CHECK(error("pipeline", {"schedule=zb-v", "stages=4", "microbatches=4", "virtual_stages=1"}).find("two chunks") !=
        std::string::npos);
  CHECK(error("matmul", {}).find("chip=PRESET") != std::string::npos);
}
TEST_CASE("the FLOPs of a token are those of a training step: dense, experts, latent attention") {
  for (const io::Preset& preset : library().list(io::PresetKind::model)) {
    Scenario s;
    s.model = *library().find_model(preset.id);
    if (s.model.has_local_layers()) continue;  // which layers have a window is not asked
    s.workload.sequence_length = 4096;
    const Inputs<double> in = make_inputs<double>(s, nullptr);
    for (const bool causal : {false, true}) {
      CAPTURE(preset.id);
      const auto asked = ask("flops", {"model=" + std::string(preset.id), "sequence_length=4096",
                                       causal ? "causal=true" : "causal=false"});
      const auto convention = causal ? FlopsConvention::exact_causal : FlopsConvention::exact;
      CHECK(number(asked, "per_token") ==
            doctest::Approx(training_flops_per_token(in, count_parameters(in.model), convention)).epsilon(1e-13));
    }
  }
}
TEST_CASE("of a window little is masked: a query meets w less w^2 / 2 S keys on average") {
  const std::vector<std::string> narrow{"d_model=64",   "d_ff=256",          "n_heads=2", "n_layers=1",
                                        "vocab_size=1", "sequence_length=8", "window=4"};
  auto causal = narrow;
  causal.push_back("causal=true");
  // 4 - 4 x 4 / 16 = 3 of 4.
  CHECK(number(ask("flops", causal), "attention") / number(ask("flops", narrow), "attention") == 0.75);
}
TEST_CASE("a matmul whose activations cost too much has no critical batch") {
  const auto result =
      ask("matmul", {"batch=8", "d_in=8", "d_out=8", "peak_flops_per_s=1e15", "hbm_bytes_per_s=1e12"});
  REQUIRE(result.ok());
  CHECK(result->find("critical_batch")->is_absent());
}
TEST_CASE("the simulated pipeline agrees with its closed forms") {
  for (const int p : {2, 4, 8}) {
    const std::string stages = "stages=" + std::to_string(p);
    const auto closed = ask("pipeline-bubble", {stages, "microbatches=16", "t_forward=1", "t_backward=2"});
    const auto run =
        ask("pipeline", {stages, "microbatches=16", "t_forward=1", "t_backward_input=1", "t_backward_weight=1"});
    CHECK(number(run, "makespan") == number(closed, "makespan"));
    CHECK(number(run, "idle_per_device") == number(closed, "idle_per_stage"));
    CHECK(number(run, "idle_fraction") == doctest::Approx(number(closed, "bubble_share")));
    const auto zb = ask("pipeline", {stages, "microbatches=16", "schedule=zb-h1"});
    CHECK(number(zb, "bubble_time") == number(ask("pipeline-bubble", {stages, "microbatches=16"}), "zb_h1_idle"));
  }
}
TEST_CASE("decimal times stay exact in the simulated pipeline") {
  CHECK(number(ask("pipeline",
                   {"stages=2", "microbatches=3", "t_forward=0.1", "t_backward_input=0.1", "t_backward_weight=0.1"}),
               "makespan") == doctest::Approx(1.2).epsilon(1e-14));
  CHECK(number(ask("pipeline", {"stages=2", "microbatches=2", "t_forward=3e-5", "t_backward_input=3e-5",
                                "t_backward_weight=3e-5"}),
               "makespan") == doctest::Approx(2.7e-4).epsilon(1e-14));
}
TEST_CASE("a slow device sets the pace") {
  const std::vector<std::string> even{"stages=4", "microbatches=12"};
  const std::vector<std::string> slow{"stages=4", "microbatches=12", "device_scale=1,1,1,1.5"};
  CHECK(number(ask("pipeline", slow), "makespan") > number(ask("pipeline", even), "makespan"));
  for (const auto& inputs : {even, slow})
    CHECK(number(ask("pipeline", inputs), "lower_bound") <= number(ask("pipeline", inputs), "makespan"));
}
TEST_CASE("the lower bound of even interleaved steps is the step, in whatever times are typed") {
  for (const char* hop : {"transfer=0", "transfer=0.05", "transfer=0.25"}) {
    CAPTURE(hop);
    const auto step = ask("pipeline", {"schedule=interleaved-1f1b", "stages=4", "microbatches=16", "virtual_stages=3",
                                       "t_forward=3", hop});
    CHECK(number(step, "lower_bound") == number(step, "makespan"));
  }
}
TEST_CASE("an operation list has every operation once") {
  const auto result = ask("pipeline", {"stages=3", "microbatches=5", "ops=true"});
  REQUIRE(result.ok());
  CHECK(result->table.rows.size() == 30);
}

TEST_CASE("an operation list counts microbatches from 1, as the figure does") {
  const auto result = ask("pipeline", {"stages=3", "microbatches=5", "ops=true"});
  REQUIRE(result.ok());
  double least = 9, most = 0;
  for (const auto& row : result->table.rows) {
    least = std::min(least, std::get<double>(row[2]));
    most = std::max(most, std::get<double>(row[2]));
  }
  CHECK(least == 1);
  CHECK(most == 5);
}

TEST_CASE("hybrid sharding and plain FSDP are compared on the same links") {
  // 64 nodes of 8: plain FSDP takes a copy in over all eight links of a node, as the engine places it (chapter 12).
  const auto hsdp = ask("hsdp", {"parameters=8e9", "element_bytes=2", "shard_group=8", "replicas=64",
                                 "fast_bytes_per_s=450e9", "slow_bytes_per_s=50e9"});
  const double flat = 3 * 16e9 * 511 / 512 / 400e9, intra = 3 * 16e9 * 7 / 8 / 450e9,
               inter = 2 * 2e9 * 63 / 64 / 50e9;
  CHECK(number(hsdp, "flat_fsdp_s") == doctest::Approx(flat).epsilon(1e-12));
  CHECK(number(hsdp, "overlapped_s") == doctest::Approx(std::max(intra, inter)).epsilon(1e-12));
  CHECK(number(hsdp, "speedup") == doctest::Approx(flat / std::max(intra, inter)).epsilon(1e-12));
  CHECK(number(hsdp, "speedup_in_turn") == doctest::Approx(flat / (intra + inter)).epsilon(1e-12));
}
TEST_CASE("impossible models are refused by the input to blame") {
  for (const char* block : {"params", "flops", "moe"}) {
    CAPTURE(block);
    CHECK(ask(block, {"model=mixtral-8x7b", "dense_layers=32"}).ok());
    CHECK_FALSE(ask(block, {"model=mixtral-8x7b", "dense_layers=40"}).ok());
  }
}
TEST_CASE("the lecture's checkpoints count the way to a layer's input, and the layer itself beside it") {
  const auto c = ask("checkpointing", {"n_layers=36", "checkpoints=6"});
  CHECK(number(c, "extra_forwards") == 36 * 5 / 2.0);
  CHECK(number(c, "extra_forwards_with_own") == 36 * 7 / 2.0);
}
