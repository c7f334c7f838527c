// Why settings come to nothing in a receipt, in the formats beside Megatron-LM's: what has no effect and what is not
// modelled are told apart, and what only counts where it is on by its value.
#include <algorithm>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "engine/io/import/import_launch.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

using namespace roofscape;

namespace {

constexpr std::string_view kNoEffect = "import.ignored.no_effect", kNotModelled = "import.ignored.not_modelled";

io::Result<io::Imported> launched(const std::string& text, const std::string& file) {
  return io::import_launch(text, file, {"dgx-h100", {}}, test::shipped());
}

// The reason for a key; empty where the receipt has none.
std::string reason_for(std::string_view key, const io::Result<io::Imported>& read) {
  REQUIRE_MESSAGE(read.ok(), (read.ok() ? std::string() : io::to_text(read.error(), test::english())));
  for (const io::IgnoredKey& row : read->ignored)
    if (row.key == key) return std::string(row.why.key);
  return {};
}

// One setting beside those that make a plan.
io::Result<io::Imported> maxtext(std::string_view setting) {
  return launched(fmt::format("python3 -m MaxText.train MaxText/configs/base.yml model_name=llama3-8b "
                              "per_device_batch_size=1 {}",
                              setting),
                  "run.sh");
}
io::Result<io::Imported> axolotl(std::string_view setting) {
  return launched(fmt::format("base_model: meta-llama/Llama-3.1-8B\nmicro_batch_size: 2\nsequence_len: 4096\n"
                              "bf16: true\nfsdp_version: 2\n{}\n",
                              setting),
                  "sft.yaml");
}
io::Result<io::Imported> vllm(std::string_view setting) {
  return launched(fmt::format("vllm serve meta-llama/Llama-3.1-70B --tensor-parallel-size 8 {}", setting), "run.sh");
}
io::Result<io::Imported> sglang(std::string_view setting) {
  return launched(
      fmt::format("python3 -m sglang.launch_server --model-path meta-llama/Llama-3.1-70B --tp 8 {}", setting),
      "run.sh");
}
io::Result<io::Imported> trtllm(std::string_view setting) {
  return launched(fmt::format("trtllm-serve meta-llama/Llama-3.1-70B --tp_size 8 {}", setting), "run.sh");
}

}  // namespace

TEST_CASE("what does nothing where it is off is not modelled where it is on") {
  struct Switched {
    io::Result<io::Imported> (*read)(std::string_view);
    const char *key, *off, *on;
  };
  for (const Switched& it :
       {Switched{maxtext, "dropout_rate", "dropout_rate=0.0", "dropout_rate=0.1"},
        {maxtext, "enable_dropout", "enable_dropout=false", "enable_dropout=true"},
        {maxtext, "enable_rampup_batch_size", "enable_rampup_batch_size=false", "enable_rampup_batch_size=true"},
        {axolotl, "lora_dropout", "lora_dropout: 0", "lora_dropout: 0.05"},
        {axolotl, "neftune_noise_alpha", "neftune_noise_alpha: 0", "neftune_noise_alpha: 5"},
        {sglang, "--is-embedding", "--is-embedding false", "--is-embedding"}}) {
    CAPTURE(std::string(it.key));
    CHECK(reason_for(it.key, it.read(it.off)) == kNoEffect);
    CHECK(reason_for(it.key, it.read(it.on)) == kNotModelled);
  }
}

TEST_CASE("what changes the time of a step is not said to have no effect") {
  struct Setting {
    io::Result<io::Imported> (*read)(std::string_view);
    const char *key, *text;
  };
  for (const Setting& it : {Setting{maxtext, "logical_axis_rules", "logical_axis_rules=[]"},
                            {maxtext, "distill_alpha", "distill_alpha=0.5"},
                            {axolotl, "plugins", "plugins: liger"},
                            {vllm, "--model-impl", "--model-impl transformers"},
                            {vllm, "--disable-async-output-proc", "--disable-async-output-proc"},
                            {vllm, "--stream-interval", "--stream-interval 10"},
                            {sglang, "--stream-interval", "--stream-interval 10"},
                            {trtllm, "--backend", "--backend tensorrt"}}) {
    CAPTURE(std::string(it.key));
    CHECK(reason_for(it.key, it.read(it.text)) == kNotModelled);
  }
}

TEST_CASE("training with another model beside is an error at the setting that asks for it") {
  for (const char* asks : {"stage: dpo", "stage: ppo", "rl: grpo", "rl: simpo"}) {
    const auto read = axolotl(asks);
    CAPTURE(std::string(asks));
    REQUIRE(read.ok());
    CHECK(read->has_errors());
    std::string setting = asks;
    setting.erase(setting.find(':'), 1);
    CHECK(std::ranges::any_of(read->notices, [&setting](const io::ImportNotice& note) {
      return note.error &&
             test::in_english(note.text) ==
                 setting + " asks for other work than pretraining or supervised fine-tuning, which is not modelled";
    }));
  }
  for (const char* trains : {"stage: sft", "stage: pt", "rl:"}) CHECK_MESSAGE(!axolotl(trains)->has_errors(), trains);
}

TEST_CASE("the model that is served may be named behind the flags") {
  for (const char* line :
       {"vllm serve --tensor-parallel-size 8 openai/gpt-oss-120b",
        "vllm serve --tensor-parallel-size 8 --enable-expert-parallel openai/gpt-oss-120b",
        "vllm serve --no-enable-chunked-prefill openai/gpt-oss-120b --tensor-parallel-size 8",
        "vllm serve --served-model-name one two --tensor-parallel-size 8 openai/gpt-oss-120b",
        "trtllm-serve --tp_size 8 openai/gpt-oss-120b", "trtllm-serve serve --tp_size 8 openai/gpt-oss-120b"}) {
    CAPTURE(std::string(line));
    const auto read = launched(line, "run.sh");
    REQUIRE(read.ok());
    CHECK(read->scenario.model.name == "gpt-oss 120B");
    CHECK(read->scenario.parallelism.tensor == 8);
  }
}

TEST_CASE("a further value of a flag is not the model that is served") {
  for (const char* line : {"vllm serve --model openai/gpt-oss-120b --served-model-name one two",
                           "vllm serve --model openai/gpt-oss-120b --tensor-parallel-size 8 stray",
                           "vllm serve openai/gpt-oss-120b --lora-modules a=b c=d",
                           "vllm serve openai/gpt-oss-120b --cuda-graph-sizes 1 2 4"}) {
    CAPTURE(std::string(line));
    const auto read = launched(line, "run.sh");
    REQUIRE(read.ok());
    CHECK(read->scenario.model.name == "gpt-oss 120B");
  }
  for (const char* line : {"vllm serve --tensor-parallel-size 8 --served-model-name one two",
                           "vllm serve --tensor-parallel-size 8 --cuda-graph-sizes 1 2 4"}) {
    CAPTURE(std::string(line));
    const auto read = launched(line, "run.sh");
    REQUIRE(read.ok());
    REQUIRE_FALSE(read->missing.empty());
    CHECK(read->missing.front().field == "model");
  }
}
