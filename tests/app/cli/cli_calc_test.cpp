// roofscape-cli calc: answers, the list of blocks, their documents, and finding them by words.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "tests/app/cli/cli_run.h"

namespace roofscape {
namespace {

using test::Outcome;
using test::run;

TEST_CASE("calc answers with numbers, JSON and derivations") {
  const Outcome text = run("calc ridge chip=tpu-v5p");
  CHECK(text.code == 0);
  CHECK(text.out.find("ridge") != std::string::npos);
  const Outcome json = run("calc pipeline schedule=1f1b stages=4 microbatches=8 ops=true --json");
  CHECK(json.code == 0);
  const auto answer = nlohmann::json::parse(json.out);
  CHECK(answer.at("block") == "pipeline");
  CHECK(answer.at("outputs").at("makespan").at("value") == 33);
  CHECK(answer.at("outputs").at("idle_per_device").at("value").size() == 4);
  CHECK(answer.at("outputs").at("ops").size() == 64);
  const Outcome why = run("calc matmul batch=8 d_in=16 d_out=32 --explain");
  CHECK(why.code == 0);
  CHECK(why.out.find("F_mm = 2 * B * D * F") != std::string::npos);
}

TEST_CASE("calc documents its blocks and exits 2 on a wrong question") {
  CHECK(run("calc --list").code == 0);
  const auto list = nlohmann::json::parse(run("calc --list --json").out);
  CHECK(list.size() >= 35);
  for (const char* wrong : {"calc", "calc matmull", "calc matmul batchh=8", "calc matmul batch=-1", "calc matmul",
                            "calc ridge chip=none-such"}) {
    const Outcome o = run(wrong);
    CAPTURE(wrong);
    CHECK(o.code == 2);
    CHECK(o.out.empty());
    CHECK(o.err.starts_with("roofscape-cli: "));
  }
}

TEST_CASE("calc --list has a line for each block below its topic") {
  const std::string list = run("calc --list").out;
  const auto blocks = nlohmann::json::parse(run("calc --list --json").out);
  CHECK(std::count(list.begin(), list.end(), '\n') == static_cast<std::ptrdiff_t>(blocks.size() + 11 + 10 + 2));
  for (const auto& block : blocks) {
    const std::string line = "\n  " + block.at("block").get<std::string>() + " ";
    CHECK(list.find(line) != std::string::npos);
    CHECK(list.find(block.at("about").get<std::string>()) != std::string::npos);
    CHECK_FALSE(block.at("topic").get<std::string>().empty());
  }
}

TEST_CASE("calc NAME --help documents every input and output of that block alone") {
  for (const auto& block : nlohmann::json::parse(run("calc --list --json").out)) {
    const std::string id = block.at("block");
    const Outcome help = run("calc " + id + " --help");
    CAPTURE(id);
    CHECK(help.code == 0);
    CHECK(help.out.starts_with(id + ": "));
    for (const char* part : {"inputs", "outputs"})
      for (const auto& [name, ignored] : block.at(part).items())
        CHECK(help.out.find("\n  " + name) != std::string::npos);
  }
  CHECK(run("calc --help").out.find("--search") != std::string::npos);
}

TEST_CASE("the words people use find the right block first") {
  for (const std::pair<std::string, std::string>& asked :
       {std::pair<std::string, std::string>{"bubble", "pipeline-bubble"},
        {"mfu", "mfu"},
        {"zero", "state"},
        {"kv", "kv-cache"},
        {"torus", "collective"},
        {"allgather", "collective"},
        {"remat", "checkpointing"},
        {"nccl", "collective-gpu"},
        {"GEMM", "matmul"},
        {"ttft", "prefill"},
        {"ring attention", "context"},
        {"ulysses", "context"},
        {"mixture of experts", "moe"},
        {"how many chips", "serving-capacity"},
        {"tpot", "decode"},
        {"optimizer state", "state"},
        {"draft", "speculation"},
        {"critical batch size", "ridge"},
        {"dualpipe", "pipeline"},
        {"tensor core", "gpu-peak"},
        {"mxu", "tpu-peak"},
        {"padding", "array"},
        {"hybrid sharding", "hsdp"},
        {"all-to-all dispatch", "expert-parallel"},
        {"sliding window", "kv-cache"},
        {"latent attention", "mla"},
        {"absorbed", "mla"},
        {"active parameters", "moe"},
        {"top-k routing", "moe"},
        {"capacity factor", "moe"},
        {"load balancing", "expert-parallel"},
        {"chinchilla", "run"},
        {"days to train", "run"},
        {"gpu hours", "run"},
        {"lora", "adapters"},
        {"fine-tuning", "adapters"},
        {"qlora", "adapters"},
        {"muon", "muon"},
        {"newton-schulz", "muon"},
        {"adam", "state"},
        {"zero-3", "state"},
        {"ddp", "layer-traffic"},
        {"megatron", "tensor-parallel"},
        {"selective recomputation", "activations-gpt"},
        {"gradient checkpointing", "checkpointing"},
        {"vocabulary", "params"},
        {"how many parameters", "params"},
        {"gqa", "attention"},
        {"flash attention", "attention"},
        {"leaf switch", "fat-tree"},
        {"bisection bandwidth", "fat-tree"},
        {"time to first token", "prefill"},
        {"inter-token latency", "decode"},
        {"queueing", "batching-simulation"},
        {"little's law", "batching"},
        {"speculative decoding", "speculation"},
        {"zero bubble", "pipeline-bubble"},
        {"cpu offload", "offload"},
        {"ring all-reduce", "collective"},
        {"point to point", "p2p"},
        {"paged attention", "kv-cache"},
        {"quantization", "matmul"},
        {"occupancy", "gpu-peak"},
        {"registers", "gpu-peak"},
        {"systolic array", "tpu-peak"},
        {"mesh shape", "mesh"},
        {"6nd", "flops"},
        {"latency hiding", "overlap"},
        {"which parallelism", "recipe"}}) {
    const std::string found = run("calc --search \"" + asked.first + "\"").out;
    CHECK_MESSAGE(found.starts_with(asked.second + " "), asked.first, ": ", found.substr(0, found.find(' ')));
  }
}

TEST_CASE("a name that no block has is answered with the block that has to do with it") {
  CHECK(run("calc bubble").err ==
        "roofscape-cli: unknown block \"bubble\"; did you mean \"pipeline-bubble\"? `roofscape-cli calc --search "
        "bubble` "
        "names others\n");
  CHECK(run("calc --search xyzzy").err ==
        "roofscape-cli: no block has to do with \"xyzzy\"; `roofscape-cli calc --list` names them\n");
}

}  // namespace
}  // namespace roofscape
