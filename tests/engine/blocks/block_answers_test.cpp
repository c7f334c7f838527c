// Answers of building blocks that were wrong once, and their neighbours.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/engine/blocks/ask.h"
#include "tests/english.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::ask;
using tests::number;

namespace {

bool holds(const io::Result<BlockResult>& result, std::string_view name) { return number(result, name) > 0.5; }

std::string word(const io::Result<BlockResult>& result, std::string_view name) {
  REQUIRE_MESSAGE(result.ok(), (result ? "" : test::in_english(result.error())));
  return result->find(name)->word;
}

std::vector<std::string> missing(const io::Result<BlockResult>& result, std::string_view name) {
  REQUIRE_MESSAGE(result.ok(), (result ? "" : test::in_english(result.error())));
  return result->find(name)->missing;
}

}  // namespace

TEST_CASE("a GPU's peak is of its own units") {
  CHECK(number(ask("gpu-peak", {"chip=a100-80g"}), "peak_flops_per_s") == doctest::Approx(312e12).epsilon(1e-3));
  CHECK(number(ask("gpu-peak", {"chip=v100"}), "peak_flops_per_s") == doctest::Approx(125e12).epsilon(5e-3));
  CHECK(number(ask("gpu-peak", {"chip=b200"}), "peak_flops_per_s") == doctest::Approx(2.25e15).epsilon(5e-3));
  CHECK(number(ask("gpu-peak", {"chip=a100-80g"}), "smem_bytes") == 108 * 192000.0);
}
TEST_CASE("a GPU without tensor cores has a vector peak and says why it has no matrix peak") {
  const auto k40 = ask("gpu-peak", {"chip=k40"});
  CHECK(number(k40, "vector_flops_per_s") == doctest::Approx(5.04e12).epsilon(1e-3));
  CHECK(k40->find("peak_flops_per_s")->is_absent());
  CHECK(missing(k40, "sm_flops_per_cycle") == std::vector<std::string>{"tensor_cores_per_sm", "flops_per_cycle"});
}
TEST_CASE("a typed tile of a tensor core wins over what the chip states") {
  CHECK(number(ask("gpu-peak", {"chip=a100-80g", "tile_m=8", "tile_n=8", "tile_k=8"}),
               "tensor_core_flops_per_cycle") == 1024);
}
TEST_CASE("an SM keeps no more warps than it has room for, and whole ones") {
  CHECK(number(ask("gpu-peak", {"registers_per_thread=16"}), "resident_warps") == 64);
  CHECK(number(ask("gpu-peak", {"registers_per_thread=100"}), "resident_warps") == 20);
}
TEST_CASE("a TPU's clock is the one it has, and its vector units have as many ALUs as it has") {
  CHECK(number(ask("tpu-peak", {"chip=tpu-v5p"}), "peak_flops_per_s") == 2 * 4 * 2 * 128.0 * 128 * 1.75e9);
  CHECK(number(ask("tpu-peak", {"chip=tpu-v5e"}), "peak_flops_per_s") == 4 * 2 * 128.0 * 128 * 1.5e9);
  CHECK(number(ask("tpu-peak", {"chip=tpu-v4p"}), "alus_per_core") == 2048);
  CHECK(number(ask("tpu-peak", {"chip=tpu-v5p"}), "alus_per_core") == 4096);
  CHECK(missing(ask("tpu-peak", {"chip=tpu-v6e"}), "alus_per_core") == std::vector<std::string>{"vpu_alus"});
}
TEST_CASE("a host has as many chips as the preset says") {
  CHECK(number(ask("pod", {"chip=h100-sxm", "shape=16"}), "hosts") == 2);
  CHECK(number(ask("pod", {"chip=gb200-nvl72", "shape=72"}), "hosts") == 18);
  CHECK(number(ask("pod", {"chip=tpu-v5e", "shape=16,16"}), "hosts") == 32);
  CHECK(missing(ask("pod", {"chip=rtx4090", "shape=4"}), "hosts") == std::vector<std::string>{"chips_per_host"});
}
TEST_CASE("hosts, nodes and switches are whole") {
  CHECK(number(ask("pod", {"shape=9", "chips_per_host=4"}), "hosts") == 3);
  const auto tree = ask("fat-tree", {"gpus=1500"});
  for (const char* count : {"nodes", "units", "leaf_switches", "node_switches", "spines_for_full_bisection",
                            "spines_for_full_bisection_with_cores", "switches"})
    CHECK_MESSAGE(number(tree, count) == std::floor(number(tree, count)), count);
  CHECK(number(tree, "nodes") == 188);
  CHECK(number(tree, "leaf_switches") == 48);
}
TEST_CASE("a pod that is not typed is the chip's largest slice, and rings close as on that chip") {
  CHECK(number(ask("pod", {"chip=tpu-v5p"}), "chips") == 16 * 20 * 28);
  const auto v3 = ask("pod", {"chip=tpu-v3", "shape=16,32"});
  CHECK(v3->find("wraps")->numbers == std::vector<double>{0, 1});
}
TEST_CASE("FLOPs per token of a mixture are those of the experts a token passes") {
  CHECK(number(ask("params", {"model=deepseek-v3"}), "flops_per_token") == doctest::Approx(2.253e11).epsilon(1e-3));
  CHECK(number(ask("params", {"model=deepseek-v3"}), "flops_per_token") ==
        number(ask("moe", {"model=deepseek-v3"}), "flops_per_token"));
}
TEST_CASE("layers with a window keep the window and no more") {
  CHECK(number(ask("kv-cache", {"model=gemma3-27b-text", "sequence_length=131072"}), "bytes") ==
        doctest::Approx(11.17e9).epsilon(1e-3));
  // All layers, where nothing else is typed.
  CHECK(number(ask("kv-cache", {"n_layers=4", "n_kv_heads=1", "d_head=8", "window=64", "sequence_length=128"}),
               "bytes") == 4 * 2 * 2 * 8 * 64.0);
  CHECK(number(ask("kv-cache",
                   {"n_layers=4", "n_kv_heads=1", "d_head=8", "window=64", "local_layers=3", "sequence_length=128"}),
               "bytes") == (3 * 64 + 128) * 2 * 2 * 8.0);
}
TEST_CASE("a window longer than the sequence changes nothing") {
  const std::vector<std::string> plain{"model=llama3-8b", "sequence_length=4096"};
  auto wide = plain;
  wide.emplace_back("window=5000");
  CHECK(number(ask("kv-cache", wide), "bytes") == number(ask("kv-cache", plain), "bytes"));
  CHECK(number(ask("flops", wide), "per_token") == number(ask("flops", plain), "per_token"));
}
TEST_CASE("sequences that fit a cache are whole, and a cache that layers share is read by each of them") {
  const auto cache = ask("kv-cache", {"n_layers=8", "n_kv_heads=8", "d_head=128", "sequence_length=1000",
                                      "layers_sharing=2", "hbm_bytes_per_s=1e12", "capacity_bytes=1e9"});
  CHECK(number(cache, "bytes") == 4 * 2 * 2 * 8 * 128 * 1000.0);
  CHECK(number(cache, "read_s") == doctest::Approx(2 * number(cache, "bytes") / 1e12));
  CHECK(number(cache, "sequences_that_fit") == std::floor(1e9 / number(cache, "bytes_per_sequence")));
}
TEST_CASE("activations count in what fits a chip") {
  const std::vector<std::string> small{"parameters=7e9", "capacity_bytes=80e9"};
  CHECK(holds(ask("state", small), "fits"));
  auto large = small;
  large.emplace_back("activation_bytes=20e9");
  CHECK_FALSE(holds(ask("state", large), "fits"));
  large.emplace_back("shards=4");
  large.emplace_back("zero_stage=3");
  CHECK(holds(ask("state", large), "fits"));
  CHECK(number(ask("state", large), "chip_total_bytes") == (70e9 + 20e9) / 4);
}
TEST_CASE("both operands split along the contraction: gathering first gathers both") {
  const std::vector<std::string> sizes{"rows=8192", "contraction_size=8192", "columns=4096", "contraction_ways=4",
                                       "chip=tpu-v5e"};
  const auto of = [&](const char* contraction) {
    auto typed = sizes;
    typed.push_back(std::string("contraction=") + contraction);
    return ask("sharded-matmul", typed);
  };
  CHECK(number(of("both"), "operand_bytes") ==
        number(of("left"), "operand_bytes") + number(of("right"), "operand_bytes"));
  CHECK(number(of("both"), "all_gather_s") > number(of("left"), "all_gather_s"));
  CHECK(word(of("both"), "case").starts_with("3"));
}
TEST_CASE("a contraction that is typed is never dropped") {
  const std::vector<std::string> sizes{"rows=64", "contraction_size=64", "columns=64"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), sizes.begin(), sizes.end());
    return ask("sharded-matmul", more);
  };
  CHECK(word(with({"contraction=right"}), "case").starts_with("2"));
  CHECK(missing(with({"contraction=right"}), "flops_per_device") == std::vector<std::string>{"contraction_ways"});
  CHECK_FALSE(with({"contraction=none", "contraction_ways=4"}).ok());
  CHECK(word(with({}), "case").starts_with("1"));
  CHECK(word(with({"contraction_ways=4"}), "case").starts_with("3"));
}
TEST_CASE(
    "weights of their own for every row have an intensity of two per byte at any batch, and no critical batch") {
  const auto own = ask(
      "matmul", {"batch=64", "d_in=4096", "d_out=4096", "weights_per_row=true", "weight_bytes=1", "chip=tpu-v5e"});
  CHECK(number(own, "intensity_small_batch") == 2);
  CHECK(number(own, "intensity") < 2);
  CHECK(own->find("critical_batch_estimate")->reason == "weights_per_row");
  CHECK(own->find("critical_batch")->reason == "weights_per_row");
}
TEST_CASE("tiles that do not come out even are read whole, once for each row and column of tiles") {
  // 3 x 2 tiles of 128: inputs twice, weights three times.
  CHECK(number(ask("matmul", {"batch=300", "d_in=64", "d_out=200", "tile_rows=128", "tile_in=64", "tile_out=128"}),
               "tiled_bytes") == 2 * (300 * 64 * 2.0 + 64 * 200 * 3.0 + 300 * 200));
}
TEST_CASE("the rule of thumb of an AllReduce counts once what switches reduce") {
  const std::vector<std::string> plain{
      "kind=all_reduce", "bytes=1e9", "gpus=8", "nodes=16", "gpu_bytes_per_s=450e9", "node_bytes_per_s=400e9"};
  auto sharp = plain;
  sharp.emplace_back("sharp=true");
  CHECK(number(ask("collective-gpu", plain), "estimate_s") == 2 * number(ask("collective-gpu", sharp), "estimate_s"));
  CHECK_FALSE(ask("collective-gpu", {"kind=all_gather", "bytes=1e9", "chip=h100-sxm", "sharp=true"}).ok());
}
TEST_CASE("the contraction that hides an exchange between two chips counts one link, one way") {
  CHECK(number(ask("ridge", {"chip=tpu-v5e", "level=ici"}), "critical_contraction") ==
        doctest::Approx(2 * 197e12 / 45e9));
  CHECK(number(ask("ridge", {"chip=tpu-v5e", "level=ici"}), "ridge") == doctest::Approx(197e12 / 90e9));
  CHECK(number(ask("ridge", {"chip=h100-sxm", "level=gpu"}), "critical_contraction") ==
        doctest::Approx(2 * 990e12 / 450e9));
}
TEST_CASE("parts that do not come out even are refused with the nearest that do") {
  const auto refused = [](std::string_view block, std::vector<std::string> inputs) {
    const auto asked = ask(block, std::move(inputs));
    REQUIRE_FALSE(asked.ok());
    return test::in_english(asked.error());
  };
  CHECK(refused("array", {"shape=10,12", "shards=4"}).find("2 or 5") != std::string::npos);
  CHECK(refused("array", {"shape=8,8", "shards=2,4", "mesh=12"}).find("nearest") != std::string::npos);
  CHECK(refused("sharded-matmul", {"rows=10", "contraction_size=8", "columns=8", "row_ways=3"}).find("rows") !=
        std::string::npos);
  CHECK(refused("sharded-matmul", {"rows=8", "contraction_size=10", "columns=8", "contraction_ways=4"})
            .find("contraction_size") != std::string::npos);
  CHECK(refused("tensor-parallel", {"tokens=8", "d_model=64", "d_ff=100", "ways=8"}).find("d_ff") !=
        std::string::npos);
  CHECK(refused("layer-traffic", {"tokens=8", "d_model=64", "d_ff=100", "tensor=8"}).find("d_ff") !=
        std::string::npos);
  CHECK(refused("context", {"sequence_length=100", "context=8"}).find("sequence_length") != std::string::npos);
  CHECK(refused("expert-parallel", {"experts=100", "ways=8"}).find("experts") != std::string::npos);
  CHECK(refused("mesh", {"experts=100", "expert=8"}).find("experts") != std::string::npos);
  CHECK(refused("activations-gpt", {"n_heads=12", "tensor=8"}).find("n_heads") != std::string::npos);
}
TEST_CASE("counts of units are whole") {
  for (const BuildingBlock& block : blocks())
    for (const char* count :
         {"chips", "gpus", "nodes", "shards", "tensor", "pipeline", "stages", "microbatches", "cores", "mxus", "sms",
          "ports", "slices", "n_layers", "n_heads", "n_kv_heads", "experts", "experts_per_token", "data"})
      if (const BlockInput* in = block.find_input(count))
        CHECK_MESSAGE((in->kind == InputKind::integer || in->kind == InputKind::integers), block.id << " " << count);
}
TEST_CASE("bounds of a chip are over the axes it has") {
  CHECK(number(ask("bounds", {"chip=tpu-v5e"}), "fsdp_tokens_per_chip") ==
        number(ask("bounds", {"chip=tpu-v5e"}), "fsdp_2_axes_tokens_per_chip"));
  CHECK(ask("bounds", {"chip=tpu-v5e"})->find("fsdp_3_axes_tokens_per_chip")->reason == "fewer_axes");
  CHECK(number(ask("bounds", {"chip=tpu-v5p"}), "fsdp_tokens_per_chip") == 850);
}
TEST_CASE("a mixture moves all experts and meets those a token passes") {
  const auto mixtral = ask("bounds", {"chip=tpu-v5p", "model=mixtral-8x7b"});
  CHECK(number(mixtral, "one_axis_tokens") == 2550);
  CHECK(number(mixtral, "fsdp_tokens_per_chip") == 4 * 850.0);
  CHECK(number(ask("bounds-gpu", {"required_tokens=2475", "experts=128", "experts_per_token=4"}),
               "expert_tokens_per_gpu") == 79200);
}

TEST_CASE("an answer needs what it says it needs: with all of it there is one, without any of it there is none") {
  std::mt19937 rng(17);
  int asked = 0;
  for (const BuildingBlock& block : blocks())
    for (int round = 0; round < 12; ++round) {
      std::vector<std::string> typed, left_out;
      for (const BlockInput& in : block.inputs) {
        if (!in.is_numeric() || in.is_list() || !in.fallback.empty() || in.computed != nullptr) continue;
        const bool is_given = std::uniform_int_distribution<int>(0, 1)(rng) == 1;
        if (is_given) typed.push_back(std::string(in.name) + (in.high <= 1 ? "=0.5" : "=8"));
      }
      const auto partly = ask(block.id, typed);
      if (!partly.ok()) continue;
      for (const BlockAnswer& a : partly->answers) {
        if (!a.is_absent() || a.missing.empty() || a.output->kind == OutputKind::table) continue;
        CAPTURE(std::string(block.id));
        CAPTURE(std::string(a.output->name));
        const auto given = [&](std::size_t without) {
          std::vector<std::string> more = typed;
          for (std::size_t i = 0; i < a.missing.size(); ++i)
            if (i != without) {
              const BlockInput* in = block.find_input(a.missing[i]);
              REQUIRE(in != nullptr);
              more.push_back(a.missing[i] + (in->is_numeric() && in->high <= 1 ? "=0.5" : "=8"));
            }
          return ask(block.id, more);
        };
        const auto whole = given(a.missing.size());
        if (!whole.ok()) continue;  // what is typed contradicts itself
        const BlockAnswer* then = whole->find(a.output->name);
        // Either there it is, or something else is missing by now, or it says why there is none.
        CHECK((!then->is_absent() || !then->reason.empty() || !then->missing.empty()));
        for (const std::string& m : then->missing)
          CHECK_MESSAGE(std::find(a.missing.begin(), a.missing.end(), m) == a.missing.end(), m << " is given");
        for (std::size_t i = 0; i < a.missing.size(); ++i) {
          const auto but_one = given(i);
          if (!but_one.ok()) continue;
          CHECK_MESSAGE(but_one->find(a.output->name)->is_absent(), a.missing[i] << " is not needed");
        }
        ++asked;
      }
    }
  CHECK(asked > 500);
}
TEST_CASE("a latent goes round a context ring once for keys and values, its heads written out to be scored") {
  const std::vector<std::string> given{"model=deepseek-v3", "chip=h100", "sequence_length=131072", "context=16"};
  const auto ring = ask("context", given);
  CHECK(number(ring, "ring_step_bytes") == 2 * 8192.0 * (512 + 64));
  // Scores are 128 + 64 wide, values 128.
  CHECK(number(ring, "ring_step_flops") == 2.0 * 8192 * 8192 * 128 * (128 + 64 + 128));
  CHECK(number(ring, "ulysses_bytes") == 2.0 * 8192 * 2 * 128 * (192 + 128) * 15 / 16);
  // A step is hidden by as much as a rank has more tokens than that takes.
  CHECK(number(ring, "margin") == doctest::Approx(8192 / number(ring, "least_tokens_per_rank")));
}
TEST_CASE("a query carried into the latent reads it once for all heads") {
  const auto answer = ask("attention", {"model=deepseek-v3", "chip=h100", "query_length=1", "key_length=4096"});
  const double flops = 2.0 * 4096 * 128 * (2 * 512 + 64), bytes = 2 * (4096.0 * 576 + 128 * 1088);
  CHECK(number(answer, "flops_per_kv_head") == flops);
  CHECK(number(answer, "bytes_per_kv_head") == bytes);
  CHECK(number(answer, "decode_intensity") == doctest::Approx(flops / bytes));
  CHECK(number(answer, "decode_intensity_limit") == doctest::Approx(128 * 1088.0 / 576));
  // Groups that are typed in are asked about instead.
  CHECK(number(ask("attention",
                   {"model=deepseek-v3", "n_kv_heads=8", "d_head=128", "query_length=1", "key_length=4096"}),
               "decode_intensity_limit") == 16);
}
TEST_CASE("what a latent keeps of a token is that of two and a quarter KV heads of DeepSeek-V2") {
  const auto mla = ask("mla", {"model=deepseek-v3"});
  CHECK(number(mla, "cache_bytes_per_token") == 2.0 * 61 * 576);
  CHECK(number(mla, "equivalent_kv_heads") == 2.25);
  CHECK(number(mla, "cache_reduction") == doctest::Approx(128 / 2.25));
  CHECK(number(mla, "absorbed_to_expanded") == doctest::Approx(3.4));
}
TEST_CASE("a batch hits the experts that its tokens choose at random") {
  CHECK(number(ask("moe", {"experts=8", "experts_per_token=2", "tokens=1"}), "experts_hit") == doctest::Approx(2));
  CHECK(number(ask("moe", {"experts=8", "experts_per_token=2", "tokens=2"}), "experts_hit") == doctest::Approx(3.5));
}
TEST_CASE("a simulated 1F1B has the bubble of its closed form, and its speedup is MFU times stages") {
  const auto run = ask("pipeline", {"stages=4", "microbatches=8"});
  CHECK(number(run, "max_mfu") == number(ask("pipeline-bubble", {"stages=4", "microbatches=8"}), "max_mfu"));
  CHECK(number(run, "speedup") == doctest::Approx(4 * number(run, "max_mfu")));
  CHECK(number(run, "work_per_device") == 24);
  CHECK(number(run, "most_held") == 4);
}
TEST_CASE("the recipe is asked from how many GPUs on it takes a stage") {
  const auto question = io::read_block_question(
      "recipe", std::vector<std::string>{"parameters=8e9", "sequence_length=8192", "stage=HSDP"}, tests::library());
  REQUIRE(question.ok());
  CHECK(question.value().solved->input == "gpus");
  CHECK(question.value().solved->value == 257);
}
TEST_CASE("blocks answer what a network of switches can join at most, and its cables") {
  const auto tree = ask("fat-tree", {"gpus=1024"});
  CHECK(number(tree, "two_tier_endpoints") == 64 * 64 / 2);
  CHECK(number(tree, "three_tier_endpoints") == 64.0 * 64 * 64 / 4);
  CHECK(number(tree, "cables") == 128 * 8 + 4 * 8 * 32);  // each leaf with as many up as down
}
TEST_CASE("parameters that are typed in are the active ones too, whatever the model preset has") {
  CHECK(number(ask("prefill", {"model=llama3-70b", "parameters=60e9", "tokens=10"}), "linear_flops") ==
        doctest::Approx(2 * 60e9 * 10));
}
