// Launch files that are broken by rule: values of another type or outside their domain, cut off, in other encodings, too
// large, too deep, stated twice. Each is refused in one line that names the file, the place and what would be right.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/import/import_launch.h"
#include "engine/io/scenario/scenario_json.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"
#include "tests/test_paths.h"

namespace roofscape {
namespace {

// A valid file of tests/fuzz/launch, and keys of its that hold whole numbers.
struct Breakable {
  std::string_view file;
  std::vector<std::string_view> keys;
  bool values_in_quotes = false;  // JSON and TOML tell a text from a number
};
const std::vector<Breakable>& breakable() {
  static const std::vector<Breakable> files{
      {"megatron",
       {"--tensor-model-parallel-size", "--pipeline-model-parallel-size", "--num-layers", "--hidden-size",
        "--ffn-hidden-size", "--num-attention-heads", "--num-query-groups", "--vocab-size", "--seq-length",
        "--max-position-embeddings", "--micro-batch-size", "--global-batch-size",
        "--num-layers-per-virtual-pipeline-stage", "--context-parallel-size"}},
      {"megatron_bridge",
       {"num_layers", "hidden_size", "ffn_hidden_size", "num_attention_heads", "num_query_groups", "kv_channels",
        "vocab_size", "seq_length", "num_moe_experts", "moe_router_topk", "tensor_model_parallel_size",
        "pipeline_model_parallel_size", "virtual_pipeline_model_parallel_size", "expert_model_parallel_size",
        "global_batch_size", "micro_batch_size"}},
      {"nemo",
       {"micro_batch_size", "global_batch_size", "tensor_model_parallel_size", "pipeline_model_parallel_size",
        "encoder_seq_length", "num_layers", "hidden_size", "ffn_hidden_size", "num_attention_heads"}},
      {"titan",
       {"local_batch_size", "global_batch_size", "seq_len", "data_parallel_replicate_degree",
        "data_parallel_shard_degree", "tensor_parallel_degree", "pipeline_parallel_degree",
        "pipeline_parallel_microbatch_size", "context_parallel_degree"},
       true},
      {"titan_printed",
       {"\"max_context_length\"", "\"num_tokens_per_microbatch_per_dp_rank\"", "\"data_parallel_shard_degree\"",
        "\"tensor_parallel_degree\""},
       true},
      {"maxtext",
       {"dcn_data_parallelism", "dcn_fsdp_parallelism", "ici_fsdp_parallelism", "per_device_batch_size",
        "max_target_length"}},
      {"nanotron",
       {"hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers", "num_key_value_heads",
        "vocab_size", "zero_stage", "dp", "tp", "pp", "batch_accumulation_per_replica", "micro_batch_size",
        "sequence_length"}},
      {"deepspeed", {"\"train_batch_size\"", "\"gradient_accumulation_steps\"", "\"stage\""}, true},
      {"trainer", {"micro_batch_size", "gradient_accumulation_steps", "sequence_len"}},
      {"accelerate", {"num_machines", "num_processes"}},
      {"peft", {"\"r\""}, true},
      {"vllm", {"-tp", "--data-parallel-size", "--max-num-seqs", "--max_num_batched_tokens"}},
      {"trtllm", {"--ep_size", "--max_batch_size", "moe_expert_parallel_size", "tokens_per_block"}},
      {"sglang", {"--tp", "--dp", "--ep-size", "--nnodes", "--max-running-requests", "--chunked-prefill-size"}},
  };
  return files;
}

std::string seed(std::string_view file) {
  return test::text_of(test::source_dir() / "tests/fuzz/launch" / std::string(file));
}

bool is_shell(std::string_view file) {
  return file == "megatron" || file == "vllm" || file == "sglang" || file == "trtllm";
}
bool like_a_number(std::string_view value) {
  return value.find_first_not_of("0123456789+-.e") == std::string_view::npos &&
         value.find_first_of("0123456789") != std::string_view::npos;
}
bool word_end(char c) { return c == ' ' || c == '\n' || c == ',' || c == '}' || c == ']' || c == '\\' || c == '\r'; }

// The text with another value of a key; empty: the key is not in it.
std::string with_value(const std::string& text, std::string_view key, std::string_view value, int& line) {
  for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
    const char before = at == 0 ? ' ' : text[at - 1];
    std::size_t from = at + key.size();
    if (std::isalnum(static_cast<unsigned char>(before)) != 0 || before == '_' || before == '-' ||
        from >= text.size() || (text[from] != ' ' && text[from] != ':' && text[from] != '='))
      continue;
    while (from < text.size() && (text[from] == ' ' || text[from] == ':' || text[from] == '=')) ++from;
    std::size_t to = from;
    while (to < text.size() && !word_end(text[to])) ++to;
    line = 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    return text.substr(0, from) + std::string(value) + text.substr(to);
  }
  return {};
}

// What a text is answered with; empty: it was read.
std::string answer(const std::string& text, const std::string& cluster = "h100-sxm") {
  const auto read = io::import_launch(text, "run", {cluster, {}}, test::shipped());
  return read ? std::string() : io::to_text(read.error(), test::english());
}

void check_line(const std::string& said) {
  CHECK_FALSE(said.empty());
  CHECK(said.find('\n') == std::string::npos);
  CHECK(said.starts_with("run: "));
  CHECK(said.find("; ") != std::string::npos);  // what would be right
}

TEST_CASE("sizes of a shape that a scenario may not have are refused by the name of the field") {
  const std::string maxtext =
      "base_emb_dim: 7168\nbase_num_query_heads: 128\nbase_num_kv_heads: 128\nbase_mlp_dim: 18432\n"
      "base_num_decoder_layers: 61280\ndecoder_block: \"llama2\"\nhead_dim: 128\nvocab_size: 32000\n";
  const auto read = io::import_launch(maxtext, "run.yml", {"tpu-v5p:512", {}}, test::shipped());
  REQUIRE_FALSE(read.ok());
  CHECK(test::in_english(read.error()) ==
        "run.yml: model.n_layers: \"61280\" is out of range; give a whole number from 1 to 10000");
}

TEST_CASE("files that the rules break are read before they are broken") {
  for (const Breakable& file : breakable()) {
    CAPTURE(std::string(file.file));
    CHECK(answer(seed(file.file), "h100-sxm:64") == "");
  }
}

TEST_CASE("a whole number that is none, or outside its domain, is refused with its key and line") {
  int made = 0;
  for (const Breakable& file : breakable()) {
    const std::string text = seed(file.file);
    for (const std::string_view key : file.keys)
      for (const std::string_view value : {"abc", "-3", "0.5", "1e40", "nan", "inf", "0x", "99999999999999999999",
                                           "1.5.2", "8,8", "-", "12three", "1e-400", "[4", "true", "8 GB"}) {
        const bool fraction = file.file == "maxtext" && key == "per_device_batch_size";
        if (fraction && value == "0.5") continue;                 // sequences of a device may be a fraction
        if (is_shell(file.file) && value == "8 GB") continue;     // two words
        if (file.file == "nanotron" && value == "8,8") continue;  // between braces the next key
        if (key == "\"stage\"" && value == "1e-400") continue;    // in JSON it is 0, and a stage
        int line = 0;
        // A text is one in quotation marks where the syntax has them.
        const std::string broken = with_value(
            text, key,
            file.values_in_quotes && !like_a_number(value) ? "\"" + std::string(value) + "\"" : std::string(value),
            line);
        CAPTURE(std::string(file.file) + ": " + std::string(key) + " " + std::string(value));
        REQUIRE_FALSE(broken.empty());
        const std::string said = answer(broken);
        CAPTURE(said);
        check_line(said);
        // What is not closed shows where the next line begins.
        const std::string place = "line " + std::to_string(line);
        const bool there = said.find(place + ":") != std::string::npos || said.find(place + ",") != std::string::npos;
        CHECK((there || (value == "[4" && said.find("line ") != std::string::npos)));
        ++made;
      }
  }
  CHECK(made > 1000);
}

TEST_CASE("other encodings, control characters and files that are too large are refused") {
  for (const Breakable& file : breakable()) {
    CAPTURE(std::string(file.file));
    const std::string text = seed(file.file);
    std::string wide("\xff\xfe");  // UTF-16, as a Windows editor keeps it
    for (const char c : text) wide += std::string{c, '\0'};
    check_line(answer(wide));
    for (std::size_t at = 0; at < text.size(); at += std::max<std::size_t>(1, text.size() / 20)) {
      std::string latin = text;
      latin.insert(at, "\xe9");  // an e with an accent in Latin-1
      check_line(answer(latin));
    }
    check_line(answer(text + "\n" + std::string(std::size_t{3} << 20, '#') + "\n"));
  }
}

TEST_CASE("a byte order mark and ends of lines of Windows change nothing") {
  for (const Breakable& file : breakable()) {
    CAPTURE(std::string(file.file));
    const std::string text = seed(file.file);
    std::string windows;
    for (const char c : text) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
    const auto as = [](const std::string& one) {
      const auto read = io::import_launch(one, "run", {"h100-sxm:64", {}}, test::shipped());
      return read ? io::write_scenario(read->scenario, test::shipped()) : io::to_text(read.error(), test::english());
    };
    CHECK(as(windows) == as(text));
    CHECK(as("\xEF\xBB\xBF" + text) == as(text));
  }
}

TEST_CASE("a file that is cut off anywhere is read or refused in one line, and never ends the program") {
  for (const Breakable& file : breakable()) {
    CAPTURE(std::string(file.file));
    const std::string text = seed(file.file);
    for (std::size_t length = 1; length < text.size(); length += 1 + text.size() / 150) {
      CAPTURE(length);
      const std::string said = answer(text.substr(0, length));
      if (!said.empty()) check_line(said);
      // JSON that is cut off is no JSON.
      if (text[0] == '{' && length <= text.rfind('}')) CHECK_FALSE(said.empty());
    }
  }
}

TEST_CASE("a key that stands twice with two values is refused with both lines") {
  for (const Breakable& file : breakable()) {
    const std::string text = seed(file.file);
    if (is_shell(file.file) || text.find('\n') == std::string::npos) continue;
    for (const std::string_view key : file.keys) {
      CAPTURE(std::string(file.file) + ": " + std::string(key));
      // The whole line once more, with another number.
      const std::size_t at = text.find("\n" + std::string(key));
      std::size_t from = at == std::string::npos ? text.find("\n  " + std::string(key)) : at;
      if (from == std::string::npos) continue;
      const std::size_t end = std::min(text.find('\n', from + 1), text.size());
      int line = 0;
      const std::string again = with_value(text.substr(from, end - from), key, "3", line);
      if (again.empty()) continue;
      const std::string said = answer(text.substr(0, end) + again + text.substr(end));
      CAPTURE(said);
      check_line(said);
    }
  }
}

TEST_CASE("nesting without an end and hostile scripts are refused") {
  for (const std::string& hostile :
       {std::string(100'000, '['), "{\"a\":" + std::string(100'000, '['), "a: " + std::string(100'000, '{'),
        "x = " + std::string(100'000, '['), std::string(100'000, '(')}) {
    CAPTURE(hostile.substr(0, 20));
    check_line(answer(hostile));
  }
  std::string doubling = "A=aaaaaaaaaa\n";
  for (char c = 'B'; c <= 'Z'; ++c) {
    const std::string before = std::string("$") + static_cast<char>(c - 1);
    doubling += std::string(1, c) + "=" + before + before + before + before + "\n";
  }
  check_line(answer(doubling + "torchrun pretrain_gpt.py --num-layers $Z --hidden-size 8\n"));
  std::string anchors = "a: &a [x, x]\n";
  for (char c = 'b'; c <= 'z'; ++c)
    anchors +=
        std::string(1, c) + ": &" + c + " [*" + static_cast<char>(c - 1) + ", *" + static_cast<char>(c - 1) + "]\n";
  check_line(answer(anchors));
}

TEST_CASE("arithmetic of a script that never ends, or nests without an end, is given up on") {
  const std::string launch = "torchrun pretrain_gpt.py --num-layers 2 --tensor-model-parallel-size $T\n";
  std::string tenfold = "a0=1\n";
  for (int i = 1; i <= 12; ++i) {
    const std::string before = "a" + std::to_string(i - 1);
    tenfold += "a" + std::to_string(i) + "=\"" + before;
    for (int k = 1; k < 10; ++k) tenfold += "+" + before;
    tenfold += "\"\n";
  }
  std::string choices = "T=$((";
  for (int i = 0; i < 60'000; ++i) choices += "1?1:";
  for (const std::string& script : {tenfold + "T=$((a12))\n", choices + "1))\n"}) {
    const auto read = io::import_launch(script + launch, "run.sh", {}, test::shipped());
    REQUIRE(read.ok());
    CHECK(read->is_missing("parallelism.tensor"));
  }
}

TEST_CASE("after one error in a DeepSpeed file its other values may be left to auto") {
  const auto read = io::import_launch(R"({"train_batch_size": "none", "train_micro_batch_size_per_gpu": "auto",
"gradient_accumulation_steps": "auto", "zero_optimization": {"stage": 1}})",
                                      "ds.json", {}, test::shipped());
  REQUIRE(!read.ok());
  CHECK(test::in_english(read.error()) ==
        "ds.json: train_batch_size: line 1: \"none\" is not a whole number; give a whole number from 1 to 16777216");
}

}  // namespace
}  // namespace roofscape
