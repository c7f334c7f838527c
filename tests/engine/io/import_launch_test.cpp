// Precedence, contradictions and refusals of imports, and what receipts say.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "engine/evaluate/evaluate.h"
#include "engine/io/import/import_launch.h"
#include "engine/io/import/open_scenario.h"
#include "engine/io/import/repeated_list.h"
#include "tests/capture_binding.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

namespace roofscape {
namespace {

using test::shipped;

constexpr std::string_view kLaunch =
    "torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py \\\n"
    "  --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 \\\n"
    "  --swiglu --vocab-size 32000 --seq-length 4096 --position-embedding-type rope \\\n"
    "  --micro-batch-size 1 --global-batch-size 256 --bf16 --use-distributed-optimizer";

io::Result<io::Imported> import(const std::string& more, const io::ImportRequest& request = {}) {
  return io::import_launch(std::string(kLaunch) + " \\\n  " + more + "\n", "run.sh", request, shipped());
}
std::string refusal(const std::string& more, const io::ImportRequest& request = {}) {
  const auto read = import(more, request);
  return read ? "" : io::to_text(read.error(), test::english());
}
std::string first_error(const io::Imported& read) {
  for (const io::ImportNotice& notice : read.notices)
    if (notice.error) return test::english().write(notice.text);
  return {};
}

TEST_CASE("a model preset is a scenario on the cluster that is asked for, by whichever of its names") {
  std::size_t scenarios = 0;
  for (const io::Preset& preset : shipped().list(io::PresetKind::model)) {
    CAPTURE(preset.id);
    // Where one shipped scenario is called so, it is that.
    if (shipped().meant(io::PresetKind::scenario, preset.id) != nullptr) {
      ++scenarios;
      continue;
    }
    const auto opened = io::open_scenario(preset.id, {"h100-sxm:64", {}, {}}, shipped());
    REQUIRE(opened);
    REQUIRE(opened->imported);
    CHECK(opened->imported->complete());
    CHECK(opened->scenario.model == *shipped().find_model(preset.id));
    CHECK(engine::chip_count(opened->scenario.cluster) == 64);
    // The same as its config.json would be: only what is read of it has another name.
    const auto alone = io::open_scenario("llama3-8b", {"h100-sxm:64", {"model=" + preset.id}, {}}, shipped());
    REQUIRE(alone);
    CHECK(alone->scenario.parallelism == opened->scenario.parallelism);
    CHECK(alone->scenario.workload == opened->scenario.workload);
    CHECK(alone->scenario.precision == opened->scenario.precision);
  }
  CHECK(scenarios < 10);
  const auto by_name = io::open_scenario("LLaMA-3-8B", {"h100-sxm:64", {}, {}}, shipped());
  REQUIRE(by_name);
  CHECK(by_name->scenario.model.id == "llama3-8b");
}

TEST_CASE("a model that is to be served is split over the chips of a node, with a replica on each") {
  const auto plan = [](const char* model, const char* cluster, std::vector<std::string> set = {}) {
    set.emplace_back("workload.kind=serving");
    const io::Preset* preset = shipped().meant(io::PresetKind::model, model);
    REQUIRE(preset != nullptr);
    const auto read = io::import_model(*preset, {cluster, std::move(set), {}}, shipped());
    REQUIRE(read);
    CHECK(read->complete());
    CHECK(read->scenario.parallelism.fsdp == 1);
    return read->scenario;
  };
  const engine::Scenario two_nodes = plan("llama3-8b", "h100-sxm:16");
  CHECK(two_nodes.parallelism.tensor == 8);
  CHECK(two_nodes.parallelism.data == 2);
  CHECK(two_nodes.workload.batch == 32);
  // 40 heads; 671 billion parameters; 64 replicas.
  CHECK(plan("llama2-13b", "tpu-v5e:16").parallelism.tensor == 8);
  const engine::Parallelism large = plan("deepseek-v3", "h100-sxm:32").parallelism;
  CHECK(large.tensor == 8);
  CHECK(large.pipeline == 4);
  CHECK(plan("llama3-8b", "h100-sxm:512").workload.batch == 64);
  // What is asked for stays.
  const engine::Scenario asked = plan("llama3-8b", "h100-sxm:8", {"parallelism.tensor=2", "workload.batch=7"});
  CHECK(asked.parallelism.tensor == 2);
  CHECK(asked.parallelism.data == 4);
  CHECK(asked.workload.batch == 7);
  const auto sharded =
      io::open_scenario("llama3-8b", {"h100-sxm:8", {"workload.kind=serving", "parallelism.fsdp=8"}, {}}, shipped());
  REQUIRE(sharded);
  CHECK(sharded->scenario.parallelism.fsdp == 8);
  CHECK(sharded->scenario.parallelism.tensor == 1);
}

TEST_CASE("every model that is to be served is given a plan that can run, on a node and on many, and on a torus") {
  for (const io::Preset& preset : shipped().list(io::PresetKind::model))
    for (const char* cluster : {"h100-sxm:1", "h100-sxm:8", "b200:72", "h100-sxm:6", "tpu-v5p:16", "a100-80g:512"}) {
      CAPTURE(preset.id);
      CAPTURE(cluster);
      const auto read = io::import_model(preset, {cluster, {"workload.kind=serving"}, {}}, shipped());
      REQUIRE(read);
      CHECK(read->complete());
      for (const engine::Diagnostic& found : engine::evaluate(read->scenario).diagnostics)
        CHECK_MESSAGE((found.severity != engine::Severity::error || found.code == "memory.does_not_fit"), found.code);
    }
}

TEST_CASE("two values of one option are refused with both lines, an edit of one's own decides") {
  const std::string more = "--tensor-model-parallel-size 2 \\\n  --tensor-model-parallel-size 4";
  CHECK(refusal(more) ==
        "run.sh: --tensor-model-parallel-size: line 6: parallelism.tensor is stated twice: "
        "--tensor-model-parallel-size 2 on "
        "line 5, --tensor-model-parallel-size 4 on line 6; say which with --set parallelism.tensor=...");
  const auto read = import(more, {"", {"parallelism.tensor=8"}});
  REQUIRE(read.ok());
  CHECK(read->scenario.parallelism.tensor == 8);
  CHECK(read->scenario.parallelism.fsdp == 4);
  CHECK(read->overridden.size() == 2);
}

TEST_CASE("four bits of Megatron are NVFP4, and its weights stay in 16") {
  const auto read = import("--fp4-format e2m1 --fp4-recipe nvfp4", {"gb200-superpod-576", {}});
  REQUIRE(read.ok());
  CHECK(read->scenario.precision.compute == engine::Dtype::nvfp4);
  CHECK(read->scenario.precision.weights == engine::Dtype::bf16);
}

TEST_CASE("a server takes the formats of a quantised config, in 16 bits where the chip has no units of four") {
  struct Stored {
    const char* config;
    engine::Dtype weights, compute, widened;
  };
  using enum engine::Dtype;
  for (const auto& [config, weights, compute, widened] : {
           Stored{R"({"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]})", mxfp4, bf16, bf16},
           Stored{R"({"quant_method": "modelopt", "quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"})", nvfp4,
                  nvfp4, bf16},
           Stored{R"({"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized", "config_groups":
                  {"group_0": {"weights": {"num_bits": 4, "type": "float"},
                               "input_activations": {"num_bits": 4, "type": "float"}}}})",
                  nvfp4, nvfp4, bf16},
           Stored{R"({"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups":
                  {"group_0": {"weights": {"num_bits": 4, "type": "int"}, "input_activations": null}}})",
                  int4, bf16, bf16},
           Stored{R"({"quant_method": "fp8", "weight_block_size": [128, 128]})", fp8, fp8, fp8},
           Stored{R"({"quant_method": "awq", "bits": 4})", int4, bf16, bf16},
           Stored{R"({"quant_method": "bitsandbytes", "load_in_8bit": true})", int8, bf16, bf16},
       }) {
    CAPTURE_BINDING(config);
    const std::string text =
        std::string(
            R"({"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "intermediate_size": 14336,
          "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "quantization_config": )") +
        config + "}";
    for (const auto& [cluster, runs] : {std::pair{"b200:8", compute}, std::pair{"h100-sxm:8", widened}}) {
      const auto read = io::import_launch(text, "config.json", {cluster, {"workload.kind=serving"}}, shipped());
      CAPTURE_BINDING(cluster);
      REQUIRE(read.ok());
      CHECK(read->scenario.precision.weights == weights);
      CHECK(read->scenario.precision.compute == runs);
      // What was read is nobody's default as well.
      for (const io::AssumedValue& row : read->assumed)
        CHECK_MESSAGE(std::ranges::find(read->read, row.field, &io::ReadValue::field) == read->read.end(), row.field);
    }
    const auto trained = io::import_launch(text, "config.json", {"b200:8", {}}, shipped());
    REQUIRE(trained.ok());
    CHECK(trained->scenario.precision.weights == bf16);
    CHECK_FALSE(trained->notices.empty());
  }
}

TEST_CASE("a server multiplies in what its checkpoint is stored for, as far as the chip has units") {
  struct Served {
    const char* model;
    engine::Dtype weights, on_b200, on_h100, on_a100;
  };
  using enum engine::Dtype;
  for (const auto& [model, weights, on_b200, on_h100, on_a100] : {
           Served{"deepseek-ai/DeepSeek-V3.1", fp8, fp8, fp8, bf16},  // published in fp8
           Served{"Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", fp8, fp8, fp8, bf16},
           Served{"moonshotai/Kimi-K2-Instruct-0905", fp8, fp8, fp8, bf16},
           Served{"moonshotai/Kimi-K2-Thinking", int4, bf16, bf16, bf16},
           Served{"zai-org/GLM-4.5-Air-FP8", fp8, fp8, fp8, bf16},
           Served{"zai-org/GLM-4.6", bf16, bf16, bf16, bf16},
           Served{"MiniMaxAI/MiniMax-M2", fp8, fp8, fp8, bf16},
           Served{"nvidia/DeepSeek-R1-FP4", nvfp4, nvfp4, bf16, bf16},
           Served{"RedHatAI/Meta-Llama-3.1-70B-Instruct-quantized-w8a8", int8, int8, int8, int8},
           Served{"RedHatAI/Meta-Llama-3.1-70B-Instruct-quantized-w4a16", int4, bf16, bf16, bf16},
           Served{"meta-llama/Llama-3.1-70B-Instruct", bf16, bf16, bf16, bf16},
       }) {
    CAPTURE_BINDING(model);
    for (const char* command : {"vllm serve ", "python -m sglang.launch_server --dtype bfloat16 --model-path "})
      for (const auto& [cluster, runs] :
           {std::pair{"b200:8", on_b200}, std::pair{"h100-sxm:8", on_h100}, std::pair{"a100-80g:8", on_a100}}) {
        CAPTURE_BINDING(cluster);
        const auto read = io::import_launch(std::string(command) + model, "serve.sh", {cluster, {}}, shipped());
        REQUIRE(read.ok());
        CHECK(read->scenario.precision.weights == weights);
        CHECK(read->scenario.precision.compute == runs);
      }
  }
  // The same where the command line asks for a format, but not where --set does.
  const std::string asked = "vllm serve meta-llama/Llama-3.1-70B-Instruct --quantization fp8";
  for (const auto& [set, runs] :
       {std::pair{"precision.weights=fp8", bf16}, std::pair{"precision.compute=fp8", fp8}}) {
    const auto read = io::import_launch(asked, "serve.sh", {"a100-80g:8", {set}}, shipped());
    REQUIRE(read.ok());
    CHECK(read->scenario.precision.compute == runs);
  }
  const auto told = io::import_launch(asked, "serve.sh", {"a100-80g:8", {}}, shipped());
  REQUIRE(told.ok());
  const auto row = std::ranges::find(told->assumed, "precision.compute", &io::AssumedValue::field);
  REQUIRE(row != told->assumed.end());
  CHECK(row->value == "bf16");
  CHECK(test::in_english(row->why) == "NVIDIA A100 SXM 80 GB has no units for fp8: its kernels widen the weights");
}

TEST_CASE("layers of a virtual stage count the embedding and the head where these count as layers") {
  const std::string stages = "--pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 17";
  const auto counted = import(
      stages + " --account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split", {"h100-sxm", {}});
  REQUIRE(counted.ok());
  CHECK(counted->complete());
  CHECK(counted->scenario.pipeline.virtual_stages == 1);
  const auto bare = import(stages, {"h100-sxm", {}});
  REQUIRE(bare.ok());
  CHECK(first_error(bare.value()) ==
        "--num-layers-per-virtual-pipeline-stage 17: 32 layers do not divide into 2 stages of that");
}

TEST_CASE("the same value twice, and options without effect, contradict nothing") {
  CHECK(refusal("--num-layers 32 --lr 1e-4 --lr 2e-4").empty());
}

TEST_CASE("nodes of the launcher and of Slurm's header have to agree") {
  const auto read =
      io::import_launch("#!/bin/bash\n#SBATCH --nodes=8\n" + std::string(kLaunch) + "\n", "run.sh", {}, shipped());
  REQUIRE_FALSE(read.ok());
  CHECK(io::to_text(read.error(), test::english()) ==
        "run.sh: line 3: cluster.nodes is stated twice: #SBATCH --nodes 8 on line 2, --nnodes 4 on line 3; say which "
        "with "
        "--cluster CHIP:N");
}

TEST_CASE("a chip takes the launcher's count, CHIP:N and a cluster go over it") {
  CHECK(import("", {"h100-sxm"})->scenario.parallelism.fsdp == 32);
  const auto more = import("", {"h100-sxm:64"});
  CHECK(more->scenario.parallelism.fsdp == 64);
  REQUIRE(more->overridden.size() == 1);
  CHECK(more->overridden[0].by == "--cluster h100-sxm:64");
  CHECK(import("", {"tpu-v5p:256"})->scenario.cluster.slice == std::array<int, 3>{4, 8, 8});
}

TEST_CASE("a model that --set names goes over the sizes of the file") {
  const auto read = import("", {"h100-sxm", {"model=llama3-8b"}});
  REQUIRE(read.ok());
  CHECK(read->scenario.model == *shipped().find_model("llama3-8b"));
  CHECK_FALSE(read->overridden.empty());
}

TEST_CASE("a value that the file does not resolve is an error and is missing, and can be given") {
  const auto read = import("--tensor-model-parallel-size $TP", {"h100-sxm"});
  REQUIRE(read.ok());
  CHECK(first_error(read.value()) == "--tensor-model-parallel-size: $TP is not set in the file");
  CHECK(read->is_missing("parallelism.tensor"));
  CHECK(import("--tensor-model-parallel-size $(echo 8)")->has_errors());
}

TEST_CASE("values out of a field's domain, and words for numbers, are refused with their line") {
  CHECK(refusal("--tensor-model-parallel-size 0") ==
        "run.sh: --tensor-model-parallel-size: line 5: \"0\" is out of range; give a whole number from 1 to 1024");
  CHECK(refusal("--pipeline-model-parallel-size eight") ==
        "run.sh: --pipeline-model-parallel-size: line 5: \"eight\" is not a number; give a number");
  CHECK(refusal("--context-parallel-size") == "run.sh: --context-parallel-size: line 5: has no value; give a number");
}

TEST_CASE("virtual stages are stated in three ways") {
  CHECK(import("--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 2")
            ->scenario.pipeline.virtual_stages == 4);
  CHECK(import("--pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 4")
            ->scenario.pipeline.virtual_stages == 4);
  const auto read = import("--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout 'Et*3|(tttt|)*7tL'");
  CHECK(read->has_errors());  // nine stages on four devices
  CHECK(import("--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 3")->has_errors());
}

TEST_CASE("uneven stages at the ends share the rest") {
  const auto read = import(
      "--pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 7 --decoder-last-pipeline-num-layers 5");
  CHECK(read->scenario.pipeline.layers_per_stage == std::vector<int>{7, 10, 10, 5});
}

TEST_CASE("what a recomputation option means") {
  CHECK(import("--recompute-granularity full --recompute-method uniform --recompute-num-layers 4")
            ->scenario.checkpointing.segments == 8);
  const auto block = import(
      "--recompute-granularity full --recompute-method block --recompute-num-layers 3 --pipeline-model-parallel-size "
      "4");
  CHECK(block->scenario.checkpointing.policy == engine::CheckpointPolicy::some_blocks);
  CHECK(block->scenario.checkpointing.blocks == 12);
}

TEST_CASE("programs and layers that are no decoder are called by their names") {
  CHECK(refusal("--hybrid-override-pattern M-M*") ==
        "run.sh: --hybrid-override-pattern: line 5: layers of another kind (M-M*) are not supported; Roofscape "
        "computes "
        "decoder-only Transformers");
}

TEST_CASE("lists are data: brackets, repetition, sums, and nothing else") {
  CHECK(io::read_repeated_list("[0]*3+[1]*2") == std::vector<int>{0, 0, 0, 1, 1});
  CHECK(io::read_repeated_list("([1]*2+[0]*1)*2") == std::vector<int>{1, 1, 0, 1, 1, 0});
  CHECK(io::read_repeated_list("1,0,1") == std::vector<int>{1, 0, 1});
  for (const char* text :
       {"", "[", "[1]*", "[1]**2", "[1]*99999999", "__import__('os')", "[1 for i in range(3)]", "[-1]"})
    CHECK_MESSAGE(!io::read_repeated_list(text), text);
}

TEST_CASE("the receipt as JSON has null where something is missing, and what gives it") {
  const auto read = io::import_launch(
      "pretrain_gpt.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 1024\n", "run.sh", {},
      shipped());
  REQUIRE(read.ok());
  const auto json = nlohmann::json::parse(io::receipt_json(read.value(), shipped(), test::english()));
  CHECK(json.at("scenario").at("cluster").is_null());
  CHECK(json.at("scenario").at("parallelism").at("data").is_null());
  CHECK(json.at("scenario").at("model").at("vocab_size").is_null());
  CHECK(json.at("missing").at(0) == nlohmann::json{{"field", "cluster"}, {"option", "--cluster"}});
  CHECK(json.at("read").at(0) ==
        nlohmann::json{{"key", "--num-layers"}, {"line", 1}, {"field", "model.n_layers"}, {"value", "8"}});
}

TEST_CASE("a written import reads back to the same scenario") {
  const auto read =
      import("--tensor-model-parallel-size 4 --sequence-parallel --pipeline-model-parallel-size 2", {"h100-sxm"});
  REQUIRE(read->complete());
  const auto again = io::read_scenario(io::write_scenario(read->scenario, shipped()), "again.json", shipped());
  REQUIRE(again.ok());
  CHECK(again.value() == read->scenario);
}

TEST_CASE("a file of no known format is refused with those that are known") {
  for (const char* text : {"hello", "", "a: 1\n", "[a]\nb = 1\n", "{\"a\": 1}", "echo hello\n"}) {
    const auto read = io::import_launch(text, "x", {}, shipped());
    REQUIRE_MESSAGE(!read.ok(), text);
    CHECK(io::to_text(read.error(), test::english()).find('\n') == std::string::npos);
  }
}

}  // namespace
}  // namespace roofscape
