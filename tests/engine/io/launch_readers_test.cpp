// Launch files of the frameworks beside Megatron-LM: what each comes to, what is asked for, what is refused. The files are
// in launch_cases.cpp.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "engine/io/import/import_launch.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/scenario_fields.h"
#include "tests/capture_binding.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/engine/io/launch_cases.h"
#include "tests/english.h"

using namespace roofscape;

namespace {

io::Result<io::Imported> imported(std::string_view text, std::string_view cluster) {
  return io::import_launch(text, "run", {std::string(cluster), {}}, test::shipped());
}

std::string value_of(const engine::Scenario& scenario, std::string_view path) {
  if (path == "model") return scenario.model.name;
  const engine::Field* field = engine::find_field(path);
  REQUIRE_MESSAGE(field != nullptr, std::string(path));
  const double value = field->get(scenario);
  if (field->kind == engine::FieldKind::choice) return std::string(field->choices[static_cast<std::size_t>(value)]);
  return fmt::format("{}", value);
}

std::string launch_error_of(std::string_view text, std::string_view cluster = "") {
  const auto result = imported(text, cluster);
  return result ? "" : io::to_text(result.error(), test::english());
}

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  std::string out(text);
  const std::size_t at = out.find(what);
  REQUIRE(at != std::string::npos);
  return out.replace(at, what.size(), with);
}

}  // namespace

TEST_CASE("a launch file comes to the plan it means, and what it leaves open is asked for") {
  for (const test::LaunchCase& c : test::launch_cases()) {
    CAPTURE(std::string(c.name));
    const auto result = imported(c.text, c.cluster);
    REQUIRE_MESSAGE(result.ok(), io::to_text(result.error(), test::english()));
    CHECK(result->format == c.format);
    CHECK_FALSE(result->has_errors());
    for (const std::string_view row : c.values) {
      const std::size_t equals = row.find('=');
      CHECK_MESSAGE(value_of(result->scenario, row.substr(0, equals)) == row.substr(equals + 1), std::string(row));
    }
    std::vector<std::string> missing, expected(c.missing.begin(), c.missing.end());
    for (const io::MissingValue& value : result->missing) missing.push_back(value.field);
    std::sort(missing.begin(), missing.end());
    CHECK(missing == expected);
  }
}

TEST_CASE("every key of a launch file stands in the receipt once it was read") {
  for (const test::LaunchCase& c : test::launch_cases()) {
    const auto result = imported(c.text, c.cluster);
    REQUIRE(result.ok());
    for (const io::IgnoredKey& key : result->ignored)
      CHECK_MESSAGE(key.understood, std::string(c.name) << ": " << key.key);
    for (const io::ReadValue& value : result->read) CHECK_MESSAGE(!value.field.empty(), value.key);
  }
}

TEST_CASE("a size below its domain is refused with its line, whichever it is") {
  for (const test::LaunchCase& c : test::launch_cases()) {
    const auto result = imported(c.text, c.cluster);
    REQUIRE(result.ok());
    for (const io::ReadValue& value : result->read) {
      if (value.value.empty() || value.value.find_first_not_of("0123456789_") != std::string::npos || value.line == 0)
        continue;
      if (value.field == "cluster.chips") continue;
      // The value as it stands behind its key.
      std::string text(c.text);
      const std::string key = value.key.substr(value.key.rfind('.') + 1);
      const std::size_t at = text.find(key);
      if (at == std::string::npos) continue;
      const std::size_t digits = text.find_first_of("0123456789", at + key.size());
      if (digits == std::string::npos || digits > at + key.size() + 6) continue;
      std::size_t end = digits;
      while (end < text.size() &&
             (std::isdigit(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_' || text[end] == '.'))
        ++end;
      text.replace(digits, end - digits, "-7");
      const std::string error = launch_error_of(text, c.cluster);
      CHECK_MESSAGE(!error.empty(), std::string(c.name) << ": " << value.key);
      CHECK_MESSAGE(error.find('\n') == std::string::npos, error);
    }
  }
}

TEST_CASE("broken variants of launch files are answered in one line or read, never worse") {
  for (const test::LaunchCase& c : test::launch_cases()) {
    const std::string text(c.text);
    std::vector<std::string> variants;
    for (std::size_t cut = 1; cut < text.size(); cut += 1 + text.size() / 24) variants.push_back(text.substr(0, cut));
    for (const std::string_view number :
         {"1e300", "-1", "0", "99999999999999999999", "\"8\"", "null", "[1, 2]", "{}", "nan"})
      for (std::size_t at = text.find_first_of("123456789"); at != std::string::npos && at < 400;
           at = text.find_first_of("123456789", at + 40)) {
        std::string variant = text;
        variant.replace(at, 1, number);
        variants.push_back(std::move(variant));
      }
    variants.push_back(text + text);
    variants.push_back("\xef\xbb\xbf" + text);
    variants.push_back(replaced(text, "a", "\xc3\x28"));
    variants.push_back(replaced(text, "a", std::string_view("\0", 1)));
    for (const std::string& variant : variants) {
      const auto result = imported(variant, c.cluster);
      if (result) continue;
      const std::string error = io::to_text(result.error(), test::english());
      CHECK_MESSAGE(error.find('\n') == std::string::npos, error);
      CHECK_MESSAGE(error.size() > 8, error);
    }
  }
}

TEST_CASE("values that contradict each other are refused with both lines") {
  CHECK(launch_error_of(replaced(test::kTitan, "seq_len = 32_768", "seq_len = 8192\ntensor_parallel_degree = 8")) ==
        "run: training.tensor_parallel_degree: line 9: parallelism.tensor_parallel_degree 4 on line 14 and "
        "training.tensor_parallel_degree 8 on line 9 cannot both hold; keep one of them");
  CHECK(launch_error_of(replaced(test::kTitan, "microbatch_size = 2", "microbatch_size = 3")) ==
        "run: parallelism.pipeline_parallel_microbatch_size: line 16: training.local_batch_size 8 on line 6 and "
        "parallelism.pipeline_parallel_microbatch_size 3 on line 16 cannot both hold; keep one of them");
  CHECK(launch_error_of(replaced(test::kTitan, "global_batch_size = 256", "global_batch_size = 250")) ==
        "run: training.global_batch_size: line 7: training.local_batch_size 8 on line 6 and "
        "training.global_batch_size 250 "
        "on line 7 cannot both hold; keep one of them");
  CHECK(launch_error_of(replaced(test::kMaxtextExperts, "steps=30", "ici_expert_parallelism=4")) ==
        "run: ici_expert_parallelism: line 3: ici_expert_parallelism 8 on line 2 and ici_expert_parallelism 4 on "
        "line 3 cannot "
        "both hold; keep one of them");
  CHECK(launch_error_of(
            replaced(test::kDeepspeedOld, "\"bf16\": {\"enabled\": false}", "\"bf16\": {\"enabled\": true}")) ==
        "run: bf16.enabled: line 4: fp16.enabled true on line 4 and bf16.enabled true on line 4 cannot both hold; "
        "keep one of them");
  CHECK(launch_error_of(replaced(test::kVllm, "-tp 4", "-tp 4 --tensor-parallel-size 8")) ==
        "run: --tensor-parallel-size: line 1: --tensor-parallel-size 4 on line 1 and --tensor-parallel-size 8 on "
        "line 1 cannot "
        "both hold; keep one of them");
}

TEST_CASE("values of another type, or no choice, are refused with what would be right") {
  CHECK(launch_error_of(replaced(test::kTitan, "tensor_parallel_degree = 4", "tensor_parallel_degree = \"4\"")) ==
        "run: parallelism.tensor_parallel_degree: line 13: \"4\" is not a whole number; give a whole number from 1 "
        "to 1024");
  CHECK(
      launch_error_of(replaced(test::kTitan, "\"Interleaved1F1B\"", "\"1B1F\"")) ==
      "run: parallelism.pipeline_parallel_schedule: line 15: \"1B1F\" is not possible here; give one of: 1f1b gpipe "
      "interleaved1f1b interleaved_1f1b flexible_interleaved_1f1b loopedbfs interleavedzerobubble zbvzerobubble "
      "dualpipev");
  CHECK(launch_error_of(replaced(test::kTitanStages, "layers_per_stage = 4", "layers_per_stage = 5")) ==
        "run: parallelism.pipeline_parallel_layers_per_stage: line 11: makes 26 stages, which 16 pipeline ranks "
        "cannot share under "
        "this schedule; change it so that each rank has one stage, or two or more under an interleaved schedule");
  CHECK(launch_error_of(replaced(test::kMaxtext, "per_device_batch_size: 2", "per_device_batch_size: 0.5")) ==
        "run: per_device_batch_size: line 7: 0.5 sequences per device over 1 device of a rank are 0.5, not whole "
        "sequences; give a "
        "multiple of one sequence for the tensor, context and pipeline devices of a rank");
  CHECK(launch_error_of(replaced(test::kDeepspeed, "\"stage\": 3", "\"stage\": 4")) ==
        "run: zero_optimization.stage: line 4: \"4\" is out of range; give a whole number from 0 to 3");
  CHECK(launch_error_of(replaced(test::kNanotron, "tp_mode: REDUCE_SCATTER", "tp_mode: BOTH")) ==
        "run: parallelism.tp_mode: line 8: \"BOTH\" is not possible here; give one of: ALL_REDUCE REDUCE_SCATTER");
  CHECK(launch_error_of(replaced(test::kVllm, "fp8_e4m3", "fp3")) ==
        "run: --kv-cache-dtype: line 2: \"fp3\" is not possible here; give one of: auto bfloat16 fp8 fp8_e4m3 "
        "fp8_e5m2");
}

TEST_CASE("a value that only a shell could know leaves its field missing") {
  const auto result = imported(replaced(test::kVllm, "-tp 4", "-tp $TP"), "h100-sxm:8");
  REQUIRE(result.ok());
  CHECK(result->is_missing("parallelism.tensor"));
}

TEST_CASE("a model that Roofscape does not have is named and asked for") {
  const auto result = imported(replaced(test::kTitan, "\"70B\"", "\"9B\""), "h100-sxm");
  REQUIRE(result.ok());
  CHECK(result->is_missing("model"));
  CHECK(result->is_missing("checkpointing.blocks"));
  REQUIRE(!result->notices.empty());
  CHECK(test::english().write(result->notices.front().text) ==
        "Roofscape has no sizes of the torchtitan model \"llama3\", flavor \"9B\"; they are in torchtitan's code");
}

TEST_CASE("a line that adds to the settings of a file is no plan without it") {
  const auto result =
      imported(replaced(test::kTitanLine, "--compile.enable", "--job.config_file x.toml"), "h100-sxm");
  REQUIRE(result.ok());
  CHECK(result->has_errors());
}

TEST_CASE("what a script takes from its environment can be given") {
  io::ImportRequest request{"h100-sxm:8"};
  request.environment = {"TP=4"};
  const auto result =
      io::import_launch(replaced(test::kVllm, "-tp 4", "-tp $TP"), "run.sh", request, test::shipped());
  REQUIRE(result.ok());
  CHECK(value_of(result->scenario, "parallelism.tensor") == "4");
}

TEST_CASE("a launch that stands behind a test nothing decides names the test and what gives its variables") {
  const std::string text = "if [[ $ISL -eq 1024 ]]; then\n  vllm serve m -tp 4\nfi\n";
  CHECK(launch_error_of(text) ==
        "run: line 1: what it starts stands behind the test \"[[ $ISL -eq 1024 ]]\", which nothing decides; "
        "give the variables of the test with --env NAME=VALUE");
}

TEST_CASE("a server whose settings stand in a file that is not here is no plan without them") {
  for (const std::string_view line : {"vllm serve openai/gpt-oss-120b -tp 2 --config c.yml\n",
                                      "trtllm-serve openai/gpt-oss-120b --tp_size 2 --config c.yml\n"}) {
    const auto result = imported(line, "h100-sxm:2");
    REQUIRE(result.ok());
    CHECK(result->has_errors());
    REQUIRE_FALSE(result->notices.empty());
    CHECK(test::english().write(result->notices.front().text) ==
          "the settings of \"c.yml\" are not in this file: give those that matter as flags or with --set");
  }
}

TEST_CASE("settings that are no YAML are refused with their line in the script") {
  const std::string text = "cat > c.yml << EOF\na: 1\nb: [1\nEOF\ntrtllm-serve m --extra_llm_api_options c.yml\n";
  CHECK(launch_error_of(text).starts_with("run: line "));
}

TEST_CASE("a run is as long as its steps, or as its sequences, in every format that states them") {
  struct Run {
    std::string_view file, text;
    double sequences;
  };
  const std::string megatron =
      "torchrun pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 --vocab-size 512 "
      "--seq-length 128 --max-position-embeddings 128 --micro-batch-size 2 ";
  const std::string by_steps = megatron + "--train-iters 100", by_samples = megatron + "--train-samples 777";
  for (const Run& run : {
           Run{"titan.toml",
               "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 3\nseq_len = 128\n"
               "steps = 100\n[parallelism]\ndata_parallel_shard_degree = -1\n",
               100.0 * 3 * 8},
           Run{"maxtext.yml", "model_name: llama3-8b\nper_device_batch_size: 2\nmax_target_length: 128\nsteps: 100\n",
               100.0 * 2 * 8},
           Run{"maxtext.yml",
               "model_name: llama3-8b\nper_device_batch_size: 2\nmax_target_length: 128\nsteps: -1\n"
               "learning_rate_schedule_steps: 50\n",
               50.0 * 2 * 8},
           Run{"sft.yaml",
               "base_model: meta-llama/Llama-3.1-8B\nmicro_batch_size: 2\nsequence_len: 128\nbf16: true\n"
               "fsdp_version: 2\nmax_steps: 100\n",
               100.0 * 2 * 8},
           Run{"run.sh", by_steps, 100.0 * 2 * 8},
           Run{"run.sh", by_samples, 777},
       }) {
    CAPTURE(run.text);
    const auto read = io::import_launch(run.text, run.file, {"h100-sxm:8", {}}, test::shipped());
    REQUIRE_MESSAGE(read.ok(), test::in_english(read.error().message));
    CHECK(read->scenario.workload.train_tokens == run.sequences * 128);
  }
  // Where it is not stated, what is taken in its place is said.
  const auto open = io::import_launch(megatron, "run.sh", {"h100-sxm:8", {}}, test::shipped());
  REQUIRE(open.ok());
  CHECK(std::any_of(open->assumed.begin(), open->assumed.end(),
                    [](const io::AssumedValue& row) { return row.field == "workload.train_tokens"; }));
}

TEST_CASE("vLLM's pass without a stated size is larger on large chips, but for the A100") {
  for (const auto& [cluster, tokens] : {std::pair{"h100-sxm:8", 8192},
                                        {"h200:8", 8192},
                                        {"mi300x:8", 8192},
                                        {"a100-80g:8", 2048},
                                        {"rtx4090:8", 2048}}) {
    CAPTURE_BINDING(cluster);
    const auto read =
        io::import_launch("vllm serve meta-llama/Llama-3.1-8B-Instruct", "serve.sh", {cluster, {}}, test::shipped());
    REQUIRE(read.ok());
    CHECK(read->scenario.serving.prefill_chunk_tokens == tokens);
  }
}

TEST_CASE("the share of memory that vLLM takes by default is assumed, one that is stated is read") {
  const std::string serve = "vllm serve meta-llama/Llama-3.1-8B-Instruct";
  const auto field_of = [](const auto& row) { return row.field; };
  for (const auto& [flag, stated] : {std::pair{"", false}, {" --gpu-memory-utilization 0.9", true}}) {
    CAPTURE_BINDING(flag);
    const auto read = io::import_launch(serve + flag, "serve.sh", {"h100-sxm:8", {}}, test::shipped());
    REQUIRE(read.ok());
    CHECK(read->scenario.assumptions.reserve_bytes == doctest::Approx(0.1 * 80e9));
    const std::string_view path = "assumptions.reserve_bytes";
    CHECK((std::ranges::find(read->read, path, field_of) != read->read.end()) == stated);
    CHECK((std::ranges::find(read->assumed, path, field_of) != read->assumed.end()) == !stated);
  }
}

TEST_CASE("the file of a server's settings is read as its flags are") {
  struct Settings {
    std::string_view line, file;
  };
  for (const auto& [line, file] :
       {Settings{"vllm serve meta-llama/Llama-3.3-70B-Instruct --tensor-parallel-size 4 --pipeline-parallel-size 2 "
                 "--max-model-len 32768 --kv-cache-dtype fp8 --max-num-seqs 64 --gpu-memory-utilization 0.85 "
                 "--max-num-batched-tokens 4096",
                 "# of one server\nmodel: meta-llama/Llama-3.3-70B-Instruct\ntensor_parallel_size: 4\n"
                 "pipeline-parallel-size: 2\nmax-model-len: 32768\nkv-cache-dtype: fp8\nmax-num-seqs: 64\n"
                 "gpu-memory-utilization: 0.85\nmax-num-batched-tokens: 4096\n"},
        Settings{"vllm serve deepseek-ai/DeepSeek-V3 --tensor-parallel-size 8 --data-parallel-size 2 "
                 "--enable-expert-parallel",
                 "model: deepseek-ai/DeepSeek-V3\ntensor-parallel-size: 8\ndata-parallel-size: 2\n"
                 "enable-expert-parallel: true\nport: 8000\n"},
        Settings{"python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 16 --dp 4 "
                 "--enable-dp-attention --max-running-requests 512 --chunked-prefill-size 4096",
                 "model-path: deepseek-ai/DeepSeek-V3\ntp: 16\ndata-parallel-size: 4\nenable-dp-attention: true\n"
                 "max-running-requests: 512\nchunked_prefill_size: 4096\n"}}) {
    CAPTURE_BINDING(file);
    const auto of_line = imported(line, "h200:64"), of_file = imported(file, "h200:64");
    REQUIRE(of_line.ok());
    REQUIRE(of_file.ok());
    CHECK(of_file->format == of_line->format);
    CHECK(io::write_scenario(of_file->scenario, test::shipped()) ==
          io::write_scenario(of_line->scenario, test::shipped()));
  }
}

TEST_CASE("requests and tokens of a pass are SGLang's of one replica, or of all groups that share attention out") {
  const auto read = [](std::string_view flags) {
    const auto of = io::import_launch(
        fmt::format("python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 8 {}", flags),
        "serve.sh", {"h200:16", {}}, test::shipped());
    REQUIRE(of.ok());
    return of->scenario;
  };
  const engine::Scenario own = read("--dp 2 --max-running-requests 100 --chunked-prefill-size 4096"),
                         shared = read(
                             "--dp 2 --enable-dp-attention --max-running-requests 100 "
                             "--chunked-prefill-size 4096");
  CHECK(own.workload.batch == 200);
  CHECK(own.serving.prefill_chunk_tokens == 4096);
  CHECK(shared.workload.batch == 100);
  CHECK(shared.serving.prefill_chunk_tokens == 2048);
  CHECK(read("--dp 2 --enable-dp-attention").serving.prefill_chunk_tokens == 4096);
  CHECK(read("--kv-cache-dtype fp4_e2m1").precision.kv_cache == engine::Dtype::mxfp4);
  CHECK(read("--dp 8 --enable-dp-attention --chunked-prefill-size 4").serving.prefill_chunk_tokens == 1);
  CHECK(read("--dp 2 --enable-dp-attention --chunked-prefill-size -1").serving.prefill_chunk_tokens == 0);
}

TEST_CASE("SGLang's dispatchers of whole experts deal them to all ranks") {
  for (const auto& [flag, expert] : {std::pair{"--moe-a2a-backend deepep", 16},
                                     {"--moe-a2a-backend mooncake", 16},
                                     {"--enable-deepep-moe", 16},
                                     {"--moe-a2a-backend none", 1}}) {
    CAPTURE_BINDING(flag);
    const auto read = io::import_launch(
        std::string("python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 16 ") + flag,
        "serve.sh", {"h200:16", {}}, test::shipped());
    REQUIRE(read.ok());
    CHECK(read->scenario.parallelism.expert == expert);
  }
}

TEST_CASE("a cache that decode context parallelism splits in part is said not to be what is priced") {
  struct Split {
    std::string_view model;
    int tensor, split;
    bool whole;
  };
  for (const Split& c :
       {Split{"deepseek-ai/DeepSeek-V3", 8, 2, false}, Split{"deepseek-ai/DeepSeek-V3", 8, 8, true},
        Split{"meta-llama/Llama-3.1-70B-Instruct", 16, 2, true}, Split{"Qwen/Qwen3-235B-A22B", 8, 2, true}}) {
    CAPTURE(c.model);
    CAPTURE(c.split);
    const auto read = io::import_launch(
        fmt::format("vllm serve {} -tp {} --decode-context-parallel-size {}", c.model, c.tensor, c.split), "serve.sh",
        {"h200:16", {}}, test::shipped());
    REQUIRE(read.ok());
    const bool warned = std::any_of(read->notices.begin(), read->notices.end(), [](const io::ImportNotice& notice) {
      return notice.text.key == "import.vllm.partial_split";
    });
    CHECK(warned == !c.whole);
  }
}

TEST_CASE("a tree of drafted tokens is said to be priced as a chain, and a chain is not") {
  for (const auto& [drafted, tree] : {std::pair{16, true}, {4, false}}) {
    CAPTURE_BINDING(drafted);
    const auto read =
        io::import_launch(fmt::format("python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 16 "
                                      "--speculative-num-steps 3 --speculative-num-draft-tokens {}",
                                      drafted),
                          "serve.sh", {"h200:16", {}}, test::shipped());
    REQUIRE(read.ok());
    CHECK(read->scenario.serving.draft_tokens == 3);
    CHECK(std::any_of(read->notices.begin(), read->notices.end(), [](const io::ImportNotice& notice) {
            return notice.text.key == "import.sglang.draft_tree";
          }) == tree);
  }
}

TEST_CASE("gradients that DeepSpeed reduces after the backward pass are noted, by its defaults too") {
  const auto read = [](std::string_view zero) {
    auto out = io::import_launch(
        fmt::format(R"({{"train_batch_size": 8, "train_micro_batch_size_per_gpu": 1, "zero_optimization": {}}})",
                    zero),
        "ds.json", {"h100-sxm:8", {}}, test::shipped());
    REQUIRE_MESSAGE(out.ok(), zero);
    return std::move(out).value();
  };
  const auto noted = [&read](std::string_view zero) {
    return std::ranges::any_of(read(zero).notices,
                               [](const io::ImportNotice& note) { return note.text.key == "import.not_overlapped"; });
  };
  CHECK(noted(R"({"stage": 1})"));
  CHECK(!noted(R"({"stage": 1, "overlap_comm": true})"));
  CHECK(!noted(R"({"stage": 3})"));
  CHECK(noted(R"({"stage": 3, "overlap_comm": false})"));
  const auto stated = read(R"({"stage": 1, "overlap_comm": true})").ignored;
  CHECK(std::ranges::any_of(stated, [](const io::IgnoredKey& row) {
    return row.key == "zero_optimization.overlap_comm" && row.why.key == "import.ignored.overlap";
  }));
}

TEST_CASE("what only a shell knows is no value of a flag that has none") {
  const std::string serve = "vllm serve meta-llama/Llama-3.1-70B --tensor-parallel-size 8 --max-num-seqs 64 ";
  const auto served =
      io::import_launch(serve + "--no-enable-chunked-prefill \"$@\"", "run.sh", {"dgx-h100", {}}, test::shipped());
  REQUIRE(served.ok());
  CHECK(served->ignored.empty());
  CHECK(served->scenario.serving.prefill_chunk_tokens == 0);
  const auto told = [](const auto& imported, std::string_view text) {
    return std::ranges::count_if(imported->notices, [text](const io::ImportNotice& note) {
      return note.text.key == "import.open_arguments" &&
             test::english().write(note.text).find(text) != std::string::npos;
    });
  };
  CHECK(told(served, "$@") == 0);

  // Nor is a variable that nothing sets, of a flag that has none; it may have flags of its own, which is told.
  for (const char* rest : {"--max-model-len 4096 --no-enable-chunked-prefill $EXTRA",
                           "--no-enable-chunked-prefill --max-model-len 4096 $EXTRA",
                           "--no-enable-chunked-prefill $EXTRA --max-model-len 4096"}) {
    const auto open = io::import_launch(serve + rest, "run.sh", {"dgx-h100", {}}, test::shipped());
    REQUIRE(open.ok());
    CAPTURE(rest);
    CHECK(open->ignored.empty());
    CHECK(open->scenario.serving.prefill_chunk_tokens == 0);
    CHECK(open->scenario.model.max_context_tokens == 4096);
    CHECK(told(open, "$EXTRA") == 1);
  }
}

TEST_CASE("degrees that MaxText cannot form from the chips are errors of the plan") {
  const auto result = imported(test::kMaxtextExperts, "h100-sxm:24");
  REQUIRE(result.ok());
  CHECK(result->has_errors());
}
