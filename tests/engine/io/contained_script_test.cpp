// Launch lines that stand in files for containers and services: read as on a command line of their own.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/io/import/open_scenario.h"
#include "engine/io/scenario/scenario_json.h"
#include "tests/capture_binding.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

namespace roofscape {
namespace {

using test::shipped;

const io::ImportRequest kServed{"h100-sxm:64",
                                {"workload.prompt_tokens=1024", "workload.output_tokens=256", "workload.batch=16"}};
const io::ImportRequest kTrained{"h100-sxm:64", {}};

io::Imported imported_from(const std::string& text, const io::ImportRequest& request = kServed) {
  auto imported = io::import_launch(text, "file", request, shipped());
  CAPTURE(text);
  if (!imported) FAIL(io::to_text(imported.error(), test::english()));
  return std::move(imported).value();
}
std::string scenario_of(const std::string& text, const io::ImportRequest& request) {
  return io::write_scenario(imported_from(text, request).scenario, shipped());
}
bool tells(const io::Imported& imported, const std::string& text) {
  return std::any_of(imported.notices.begin(), imported.notices.end(),
                     [&](const io::ImportNotice& notice) { return test::english().write(notice.text) == text; });
}

using Words = std::vector<std::string>;
std::string joined(const Words& words, std::string_view between, std::string_view quote = "") {
  std::string out;
  for (const std::string& word : words)
    out += (out.empty() ? "" : std::string(between)) + std::string(quote) + word + std::string(quote);
  return out;
}

TEST_CASE("a launch line in any file of a container or a service is that of a command line") {
  const Words vllm{"vllm", "serve", "Qwen/Qwen3-32B", "--tensor-parallel-size", "2", "--kv-cache-dtype", "fp8"};
  const Words sglang{"python3", "-m", "sglang.launch_server", "--model-path", "deepseek-ai/DeepSeek-V3", "--tp", "16",
                     "--dp",    "4",  "--enable-dp-attention"};
  const Words megatron{"torchrun",
                       "--nproc_per_node=8",
                       "--nnodes=8",
                       "pretrain_gpt.py",
                       "--num-layers",
                       "32",
                       "--hidden-size",
                       "4096",
                       "--num-attention-heads",
                       "32",
                       "--seq-length",
                       "4096",
                       "--micro-batch-size",
                       "1",
                       "--global-batch-size",
                       "256",
                       "--vocab-size",
                       "32000",
                       "--bf16",
                       "--ffn-hidden-size",
                       "14336",
                       "--swiglu",
                       "--position-embedding-type",
                       "rope",
                       "--tensor-model-parallel-size",
                       "4"};
  const Words accelerate{"accelerate",
                         "launch",
                         "--num_processes",
                         "64",
                         "--num_machines",
                         "8",
                         "--use_fsdp",
                         "--fsdp_sharding_strategy",
                         "FULL_SHARD",
                         "train.py",
                         "--model_name_or_path",
                         "meta-llama/Llama-3.1-8B",
                         "--per_device_train_batch_size",
                         "2",
                         "--bf16",
                         "--max_seq_length",
                         "4096"};
  const Words maxtext{"python3",
                      "-m",
                      "MaxText.train",
                      "MaxText/configs/base.yml",
                      "model_name=llama3-70b",
                      "ici_fsdp_parallelism=64",
                      "per_device_batch_size=2",
                      "max_target_length=8192"};
  const auto pod = [](const std::string& container) {
    return "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: main\n    image: some/image\n" + container;
  };
  for (const auto& [words, request] :
       {std::pair{vllm, kServed}, std::pair{sglang, kServed}, std::pair{megatron, kTrained},
        std::pair{accelerate, kTrained}, std::pair{maxtext, kTrained}}) {
    const std::string line = joined(words, " "), list = "[" + joined(words, ", ", "\"") + "]";
    const std::string rows = joined(words, " \\\n    ");
    CAPTURE_BINDING(line);
    const std::string expected = scenario_of(line, request);
    const Words first(words.begin(), words.begin() + 2), rest(words.begin() + 2, words.end());
    for (const std::string& text : {
             pod("    command: " + list + "\n"),
             pod("    command:\n    - " + joined(words, "\n    - ") + "\n"),
             pod("    command: [" + joined(first, ", ", "\"") + "]\n    args: [" + joined(rest, ", ", "\"") + "]\n"),
             pod("    command: [\"/bin/bash\", \"-c\"]\n    args: [\"" + line + "\"]\n"),
             pod("    command: [sh, -c]\n    args:\n    - |\n      set -e\n      cd /work\n      exec " + line +
                 "\n"),
             "{\"apiVersion\": \"batch/v1\", \"kind\": \"Job\", \"spec\": {\"template\": {\"spec\": {\"containers\": "
             "[{\"name\": \"main\", \"command\": " +
                 list + "}]}}}}",
             "apiVersion: example.com/v1\nkind: ServerGraph\nspec:\n  services:\n    worker:\n      extraPodSpec:\n"
             "        mainContainer:\n          image: some/image\n          livenessProbe: {exec: {command: "
             "[true]}}\n"
             "          command: " +
                 list + "\n",
             "services:\n  main:\n    image: some/image\n    command: " + line + "\n",
             "services:\n  main:\n    image: some/image\n    command: " + list + "\n",
             "services:\n  main:\n    entrypoint: [" + joined(first, ", ", "\"") + "]\n    command: >\n      " +
                 joined(rest, "\n      ") + "\n",
             "services:\n  main:\n    image: some/image\n    command: bash -c \"cd /work && " + line + "\"\n",
             "resources:\n  accelerators: H100:8\nnum_nodes: 8\nrun: |\n  cd /work\n  " + joined(words, " \\\n    ") +
                 "\n",
             "FROM some/image:latest\nRUN pip install it\nCMD " + list + "\n",
             "FROM some/image:latest\nENTRYPOINT [" + joined(first, ", ", "\"") + "]\nCMD [" +
                 joined(rest, ", ", "\"") + "]\n",
             "FROM some/image:latest\nCMD " + rows + "\n",
             "[Unit]\nDescription=It runs: all of it = here\n\n[Service]\nExecStartPre=/bin/sleep "
             "2\nExecStart=/usr/bin/env " +
                 rows + "\nRestart=always\n\n[Install]\nWantedBy=multi-user.target\n",
         }) {
      CAPTURE_BINDING(text);
      CHECK(scenario_of(text, request) == expected);
    }
  }
}

TEST_CASE("rows of a receipt name the lines of the file that holds the command") {
  const auto line_of = [](const io::Imported& imported, std::string_view field) {
    for (const io::ReadValue& row : imported.read)
      if (row.field == field) return row.line;
    return 0;
  };
  const io::Imported manifest = imported_from(
      "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: vllm\n    image: vllm/vllm-openai:v0.10\n    "
      "args:\n"
      "    - --model=Qwen/Qwen3-32B\n\n    # of one node\n    - --tensor-parallel-size=2\n");
  CHECK(line_of(manifest, "model") == 8);
  CHECK(line_of(manifest, "parallelism.tensor") == 11);
  const io::Imported image = imported_from(
      "FROM vllm/vllm-openai\nENV TP=2\nCMD [\"--model\", \"Qwen/Qwen3-32B\", \\\n  # of one node\n"
      "  \"--tensor-parallel-size\", \"2\"]\n");
  CHECK(line_of(image, "model") == 3);
  CHECK(line_of(image, "parallelism.tensor") == 5);
  const io::Imported unit = imported_from(
      "[Service]\nEnvironment=TP=2\nExecStart=/opt/bin/vllm serve Qwen/Qwen3-32B \\\n  --tensor-parallel-size $TP\n");
  CHECK(line_of(unit, "model") == 3);
  CHECK(line_of(unit, "parallelism.tensor") == 4);
}

TEST_CASE("Slurm's header in a task has the lines of the task") {
  const auto refused = io::import_launch(
      "num_nodes: 2\nrun: |\n  torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --num-layers 32 "
      "--hidden-size 4096 --num-attention-heads 32 --seq-length 4096\n  #SBATCH --nodes=4\n",
      "task.yaml", {}, shipped());
  REQUIRE_FALSE(refused);
  const std::string text = io::to_text(refused.error(), test::english());
  CHECK(text.find("line 4") != std::string::npos);
  CHECK(text.find("line 3") != std::string::npos);
}

TEST_CASE("a cluster puts its variables in, Compose those of where it is started, a container's shell its own") {
  const auto tensor = [](const std::string& text, const std::vector<std::string>& environment = {}) {
    io::ImportRequest request = kServed;
    request.environment = environment;
    return imported_from(text, request).scenario.parallelism.tensor;
  };
  const std::string env = "    env:\n    - name: TP\n      value: \"4\"\n";
  const auto pod = [&env](const std::string& more) {
    return "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: main\n" + env + more;
  };
  CHECK(tensor(pod("    command: [vllm, serve, Qwen/Qwen3-32B, --tensor-parallel-size, $(TP)]\n")) == 4);
  CHECK(tensor(pod("    command: [vllm, serve, Qwen/Qwen3-32B, --tensor-parallel-size=$(TP)]\n")) == 4);
  CHECK(tensor(pod("    command: [sh, -c, 'vllm serve Qwen/Qwen3-32B --tensor-parallel-size $TP']\n")) == 4);
  const auto service = [](const std::string& command) {
    return "services:\n  main:\n    image: some/image\n    environment: {TP: 4}\n    command: " + command + "\n";
  };
  CHECK(tensor(service("vllm serve Qwen/Qwen3-32B --tensor-parallel-size ${TP:-2}")) == 2);
  CHECK(tensor(service("vllm serve Qwen/Qwen3-32B --tensor-parallel-size ${TP:-2}"), {"TP=8"}) == 8);
  CHECK(tensor(service("[vllm, serve, Qwen/Qwen3-32B, --tensor-parallel-size, \"${TP:-2}\"]"), {"TP=8"}) == 8);
  CHECK(tensor(service("sh -c 'vllm serve Qwen/Qwen3-32B --tensor-parallel-size $$TP'")) == 4);
  CHECK(tensor(service("[vllm, serve, Qwen/Qwen3-32B, --tensor-parallel-size, \"${TP:-${WAYS:-2}}\"]")) == 2);
  CHECK(tensor("resources: {accelerators: {H100: 4}}\nnum_nodes: 2\nenvs: {HALF: 2}\nrun: |\n  vllm serve "
               "Qwen/Qwen3-32B -tp $((SKYPILOT_NUM_NODES * SKYPILOT_NUM_GPUS_PER_NODE / HALF))\n") == 4);
}

TEST_CASE("a server that the image starts takes its arguments") {
  for (const char* arguments : {"--model, Qwen/Qwen3-32B", "Qwen/Qwen3-32B"}) {
    CAPTURE(arguments);
    const io::Imported imported = imported_from(fmt::format(
        "services:\n  vllm:\n    image: vllm/vllm-openai:latest\n    command: [{}, -tp, \"4\"]\n", arguments));
    CHECK(imported.format == "vllm");
    CHECK(imported.scenario.parallelism.tensor == 4);
  }
}

TEST_CASE("a service that serves another model is told, one that serves the same is not") {
  const auto two = [](std::string_view model) {
    return imported_from(
        fmt::format("services:\n  a:\n    command: vllm serve Qwen/Qwen3-32B\n  b:\n    command: vllm "
                    "serve {} --headless\n",
                    model));
  };
  const std::string told = "a server of another model is started here; the plan is of the first";
  CHECK(tells(two("Qwen/Qwen3-8B"), told));
  CHECK_FALSE(tells(two("Qwen/Qwen3-32B"), told));
}

TEST_CASE("replicas and files of variables are told, as the plan knows nothing of them") {
  const io::Imported deployment = imported_from(
      "apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: 3\n  template:\n    spec:\n      containers:\n"
      "      - command: [vllm, serve, Qwen/Qwen3-32B]\n");
  CHECK(tells(deployment, "3 replicas run side by side; the plan is of one"));
  const io::Imported service = imported_from(
      "services:\n  main:\n    env_file: [serve.env]\n    deploy: {replicas: 2}\n    command: vllm serve "
      "Qwen/Qwen3-32B\n");
  CHECK(tells(service, "2 replicas run side by side; the plan is of one"));
  CHECK(tells(service, "serve.env is another file; what it sets is not known"));
  const io::Imported unit =
      imported_from("[Service]\nEnvironmentFile=-/etc/serve.env\nExecStart=vllm serve Qwen/Qwen3-32B\n");
  CHECK(tells(unit, "/etc/serve.env is another file; what it sets is not known"));
}

TEST_CASE("of several documents the one that starts containers is read, and others of several are refused") {
  const std::string pod =
      "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - command: [vllm, serve, Qwen/Qwen3-32B]\n";
  CHECK(imported_from("apiVersion: v1\nkind: Service\n---\n" + pod + "---\n").format == "vllm");
  const auto refused = io::import_launch("a: 1\n---\nb: 2\n", "file.yaml", kServed, shipped());
  REQUIRE_FALSE(refused);
  CHECK(io::to_text(refused.error(), test::english()) ==
        "file.yaml: line 3: a second document begins here; keep the one that is meant in a file of its own");
}

TEST_CASE("a manifest that starts nothing known says what is read") {
  const auto refused = io::import_launch(
      "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - image: nginx\n    command: [nginx, -g, daemon off;]\n",
      "web.yaml", kServed, shipped());
  REQUIRE_FALSE(refused);
  const std::string text = io::to_text(refused.error(), test::english());
  CHECK(text.find("web.yaml: is no launch file or configuration that Roofscape recognises; it reads ") == 0);
  CHECK(text.find("Kubernetes") != std::string::npos);
}

}  // namespace
}  // namespace roofscape
