// vLLM's serve command line as a serving scenario.
//
// A data-parallel engine has tensor x pipeline chips, and there are data-parallel-size of them. With expert parallelism the
// experts of a layer lie over all tensor and data ranks. What requests look like no flag says: lengths are asked for.
#include <algorithm>

#include "engine/io/import/command_keys.h"
#include "engine/io/import/document.h"
#include "engine/io/import/launch_formats.h"
#include "engine/io/import/launcher.h"
#include "engine/io/import/serve_flags.h"
#include "engine/io/import/written_settings.h"

namespace roofscape::io {

using engine::say;

namespace {

constexpr std::string_view kVllm = "vLLM";

constexpr ShortFlag kVllmShorts[] = {{"-tp", "--tensor-parallel-size"},
                                     {"-pp", "--pipeline-parallel-size"},
                                     {"-dp", "--data-parallel-size"},
                                     {"-dpl", "--data-parallel-size-local"},
                                     {"-pcp", "--prefill-context-parallel-size"},
                                     {"-dcp", "--decode-context-parallel-size"},
                                     {"-ep", "--enable-expert-parallel"},
                                     {"-q", "--quantization"}};

// `vllm serve`, the module of the server, or a container image of it.
bool is_vllm_command(const ShellCommand& command) {
  const std::vector<ShellWord>& words = command.words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i].text;
    const bool program = word == "vllm" || word.ends_with("/vllm");
    if (program && i + 1 < words.size() && words[i + 1].text == "serve") return true;
    if (word.starts_with("vllm.entrypoints") || word.starts_with("vllm/vllm-")) return true;
  }
  return false;
}

// Tokens of a pass where --max-num-batched-tokens is not given: more on chips of 70 GiB and above, but for the A100.
constexpr double kSmallPass = 2048, kLargePass = 8192;
double usual_pass(const engine::Chip& chip) {
  constexpr double kLarge = 70.0 * (1 << 30);
  const bool large = chip.interconnect == engine::Interconnect::switched && !chip.id.starts_with("a100") &&
                     chip[engine::ChipField::hbm_bytes].value.value_or(0) >= kLarge;
  return large ? kLargePass : kSmallPass;
}

class VllmReader {
 public:
  VllmReader(const LaunchSource& source, const PresetLibrary& library)
      : source_(source), library_(library), commands_(commands_of(source.script)), keys_(source.file, plan_) {}

  Result<LaunchPlan> read() {
    if (source_.syntax == LaunchSyntax::yaml) take(source_.document);
    for (const ShellCommand& command : commands_)
      if (is_vllm_command(command)) {
        take(command);
        break;
      }
    if (const auto file = keys_.word("--config"))
      if (auto failure =
              take_written_settings(source_, *file, SettingNames::flags, UnwrittenSettings::of_line, keys_, plan_))
        return *failure;
    for (auto step :
         {&VllmReader::model, &VllmReader::mesh, &VllmReader::memory, &VllmReader::requests, &VllmReader::rest}) {
      (this->*step)();
      if (keys_.failed()) return *keys_.failure();
    }
    tell_gaps(source_.script, plan_);
    return std::move(plan_);
  }

 private:
  static engine::Sentence usual() { return say("import.default_of", kVllm); }

  // The flags after the server's own word: those of docker or torchrun before it are not vLLM's.
  void take(const ShellCommand& command) {
    ShellCommand own = command;
    auto begin = own.words.begin();
    for (auto word = own.words.begin(); word != own.words.end(); ++word)
      if (word->text == "serve" || word->text.starts_with("vllm.entrypoints") || word->text.starts_with("vllm/vllm-"))
        begin = word + 1;
    own.words.erase(own.words.begin(), begin);
    const auto words = take_flags(own, kVllmShorts, keys_);
    model_ = take_served_name(words, "--model", keys_, plan_);
    plan_.state_choice("workload.kind", "serving",
                       {own.words.empty() || command.words.empty() ? "vllm" : command.words[0].text, command.line},
                       "serve");
  }

  // The settings of `vllm serve --config`.
  void take(const Node& settings) {
    take_flag_settings(settings, kVllmShorts, keys_);
    plan_.state_choice("workload.kind", "serving", {"model", settings.find("model")->line}, "serve");
  }

  void model() {
    const auto flagged = keys_.word("--model");
    if (keys_.failed()) return;
    if (model_ && flagged && model_->value != flagged->value)
      return keys_.contradiction(model_->origin, "", flagged->origin, flagged->value);
    if (flagged) model_ = flagged;
    read_served_model(keys_, plan_, model_, kVllm);
    tell_other_servers(commands_, is_vllm_command, model_, plan_);
    read_cache_format(keys_, plan_, kVllm);
  }

  void mesh() {
    const int tensor = keys_.degree("--tensor-parallel-size", "parallelism.tensor", 1024, usual());
    const int pipeline = keys_.degree("--pipeline-parallel-size", "parallelism.pipeline", 1024, usual());
    const int context = keys_.degree("--prefill-context-parallel-size", "parallelism.context", 4096, usual());
    const auto replicas = keys_.whole("--data-parallel-size", 1, 65536);
    const auto local = keys_.whole("--data-parallel-size-local", 1, 65536);
    const auto split = keys_.whole("--decode-context-parallel-size", 1, 1024);
    const auto experts = keys_.flag("--enable-expert-parallel");
    if (keys_.failed()) return;
    const int data = replicas ? replicas->value : 1;
    if (replicas)
      plan_.data = replicas;
    else
      plan_.assume("parallelism.data", 1, usual());
    plan_.assume("parallelism.fsdp", 1, say("import.serve.whole_weights"));
    plan_.assume("parallelism.zero_stage", 0, say("import.serve.whole_weights"));
    const std::int64_t chips = std::int64_t{tensor} * pipeline * context * data;
    if (chips <= 1 << 20)
      plan_.chips = Stated<int>{static_cast<int>(chips),
                                {"--tensor-parallel-size x --pipeline-parallel-size x --data-parallel-size", 0}};
    if (local) plan_.chips_per_node = Stated<int>{std::min(1 << 20, local->value * tensor * pipeline), local->origin};
    const engine::TransformerShape* shape = plan_.model ? library_.find_model(plan_.model->value) : nullptr;
    if (split && split->value > 1) {
      if (tensor % split->value != 0)
        return keys_.contradiction(split->origin, std::to_string(split->value), {"--tensor-parallel-size", 0},
                                   std::to_string(tensor));
      plan_.state_choice("serving.kv_split", "sequence", split->origin, std::to_string(split->value));
      // Ranks that hold heads of their own, or the one latent of all heads, times the parts of the sequence.
      const int heads = shape == nullptr ? tensor : shape->is_mla() ? 1 : std::min(tensor, shape->n_kv_heads);
      const int ways = split->value * heads;
      if (ways < tensor)
        plan_.warn(say("import.vllm.partial_split", split->origin.key, ways, tensor), split->origin.line);
    } else {
      plan_.assume_choice("serving.kv_split", "heads", usual());
    }
    const bool moe = shape != nullptr && shape->is_moe();
    if (experts && experts->value && shape != nullptr && !moe) {
      plan_.no_effect(experts->origin, say("import.serve.no_experts"));
    } else if (experts && experts->value) {
      plan_.state("parallelism.expert", 1.0 * tensor * data, experts->origin, "true");
      plan_.assume("parallelism.expert_tensor", 1, usual());
    } else {
      plan_.assume("parallelism.expert", 1, usual());
      if (moe && data > 1) plan_.warn(say("import.vllm.shared_experts"), replicas->origin.line);
    }
  }

  void memory() {
    const auto share = keys_.number("--gpu-memory-utilization", 0.01, 1);
    if (keys_.failed()) return;
    plan_.memory_share = share;
    if (!share) {
      plan_.memory_share = Stated<double>{0.9, {"--gpu-memory-utilization", 0}};
      plan_.memory_share_default = usual();
    }
    if (const auto page = keys_.whole("--block-size", 1, 1 << 16))
      plan_.state("serving.page_tokens", page->value, page->origin);
    else if (!keys_.failed())
      plan_.assume("serving.page_tokens", 16, usual());
    if (const auto away = keys_.number("--cpu-offload-gb", 0, 1e6); away && away->value > 0)
      plan_.warn(say("import.offloads_weights"), away->origin.line);
  }

  // A number that may have a unit: "32k".
  Maybe<int> tokens(std::string_view flag) {
    const auto word = keys_.word(flag);
    if (!word || keys_.failed() || word->value == "auto" || word->value == "-1") return std::nullopt;
    const auto number = human_number(word->value);
    if (!number || *number < 1 || *number > 1 << 24) {
      keys_.fail(word->origin, say("error.not_whole", in_quotes(word->value)),
                 say("error.give", say("error.domain.whole", 1, 1 << 24)));
      return std::nullopt;
    }
    return Stated<int>{static_cast<int>(*number), word->origin};
  }

  void requests() {
    if (const auto length = tokens("--max-model-len"))
      plan_.state("model.max_context_tokens", length->value, length->origin, std::to_string(length->value));
    const auto sequences = tokens("--max-num-seqs");
    const auto pass = tokens("--max-num-batched-tokens");
    const auto chunked = keys_.flag("--enable-chunked-prefill");
    if (keys_.failed()) return;
    const int data = plan_.data ? plan_.data->value : 1;
    if (sequences) {
      plan_.state("workload.batch", static_cast<double>(sequences->value) * data, sequences->origin,
                  std::to_string(sequences->value));
      plan_.warn(say("import.serve.batch", sequences->origin.key), sequences->origin.line);
    } else {
      plan_.missing.push_back({"workload.batch", "--set workload.batch=..."});
    }
    for (const std::string_view field : {"workload.prompt_tokens", "workload.output_tokens"})
      plan_.missing.push_back({std::string(field), "--set " + std::string(field) + "=..."});
    if (chunked && !chunked->value)
      plan_.state("serving.prefill_chunk_tokens", 0, chunked->origin, "false");
    else if (pass)
      plan_.state("serving.prefill_chunk_tokens", pass->value, pass->origin);
    else
      plan_.defaults.push_back({"serving.prefill_chunk_tokens", kSmallPass, usual(), usual_pass});
    if (chunked && !chunked->value && pass) plan_.no_effect(pass->origin, say("import.serve.whole_prompts"));
    speculation();
  }

  void speculation() {
    if (const auto draft = keys_.whole("--num-speculative-tokens", 1, 16))
      plan_.state("serving.draft_tokens", draft->value, draft->origin);
    const auto config = keys_.word("--speculative-config");
    if (!config || keys_.failed()) return;
    const auto json = read_json_document(config->value, source_.file);
    const Node* count = json ? json->find("num_speculative_tokens") : nullptr;
    if (count == nullptr || count->kind != Node::Kind::number || count->number < 1 || count->number > 16) {
      plan_.missing.push_back({"serving.draft_tokens", "--set serving.draft_tokens=..."});
      return plan_.warn(say("import.vllm.speculative", config->origin.key), config->origin.line);
    }
    plan_.state("serving.draft_tokens", count->number, config->origin, count->text);
    plan_.warn(say("import.serve.acceptance"), config->origin.line);
  }

  void rest() {
    keys_.without_effect({"--enable-prefix-caching"}, say("import.serve.prefix"));
    keys_.without_effect({"--enforce-eager",
                          "--compilation-config",
                          "-O*",
                          "--cuda-graph*",
                          "--disable-custom-all-reduce",
                          "--swap-space",
                          "--scheduling-policy",
                          "--async-scheduling",
                          "--attention-backend",
                          "--enable-eplb",
                          "--eplb*",
                          "--num-redundant-experts",
                          "--all2all-backend",
                          "--enable-dbo",
                          "--max-seq-len-to-capture",
                          "--kv-transfer-config",
                          "--kv-events*",
                          "--enable-lora",
                          "--max-lora*",
                          "--lora*",
                          "--moe-backend",
                          "--hf-overrides",
                          "--calculate-kv*",
                          "--rope*",
                          "--limit-mm*",
                          "--mm-*",
                          "--disable-sliding*",
                          "--preemption*",
                          "--num-gpu-blocks*",
                          "--long-prefill*",
                          "--max-long*",
                          "--max-num-partial*",
                          "--num-lookahead*",
                          "--multi-step*",
                          "--num-scheduler*",
                          "--disable-cascade*",
                          "--kv-sharing*",
                          "--use-v2*",
                          "--block-*",
                          "--speculative*",
                          "--additional-config",
                          "--cpu-offload*",
                          "--stream-interval",
                          "--disable-async*",
                          "--model-impl"},
                         say("import.ignored.not_modelled"));
    leave_out_server_flags(keys_);
    keys_.without_effect({"--seed",
                          "--enable-auto-tool-choice",
                          "--enable-reasoning",
                          "--disable-log*",
                          "--enable-log*",
                          "--uvicorn*",
                          "--ssl*",
                          "--root-path",
                          "--code-revision",
                          "--hf-token",
                          "--hf-config*",
                          "--generation-config",
                          "--override-gen*",
                          "--response-role",
                          "--max-log-len",
                          "--max-logprobs",
                          "--guided*",
                          "--structured*",
                          "--task",
                          "--runner",
                          "--convert",
                          "--distributed-executor-backend",
                          "--nnodes",
                          "--master-*",
                          "--headless",
                          "--api-server-count",
                          "--data-parallel-*",
                          "--worker*",
                          "--ray*",
                          "--otlp*",
                          "--show-hidden*",
                          "--ignore-patterns",
                          "--disable-frontend*",
                          "--return-tokens*",
                          "--enable-prompt*",
                          "--enable-server*",
                          "--enable-force*",
                          "--enable-sleep*",
                          "--config-format",
                          "--middleware",
                          "--disable-fastapi*",
                          "--disable-uvicorn*",
                          "--use-tqdm*",
                          "--exclude-tools*",
                          "--logits*",
                          "--skip-tokenizer*",
                          "--enable-tokenizer*",
                          "--kv-cache-metrics*"},
                         say("import.ignored.no_effect"));
    keys_.finish({{"--tensor-parallel-size", "parallelism.tensor"},
                  {"--pipeline-parallel-size", "parallelism.pipeline"},
                  {"--data-parallel-size", "parallelism.data"},
                  {"--model", "model"},
                  {"--dtype", "precision.weights"},
                  {"--quantization", "precision.weights"},
                  {"--kv-cache-dtype", "precision.kv_cache"},
                  {"--enable-expert-parallel", "parallelism.expert"},
                  {"--max-model-len", "model.max_context_tokens"},
                  {"--max-num-batched-tokens", "serving.prefill_chunk_tokens"},
                  {"--max-num-seqs", "workload.batch"}});
  }

  const LaunchSource& source_;
  const PresetLibrary& library_;
  const std::vector<ShellCommand> commands_;
  LaunchPlan plan_;
  KeyReader keys_;
  Maybe<std::string> model_;
};

bool is_vllm(const LaunchSource& source) {
  const std::vector<ShellCommand> commands = commands_of(source.script);
  return std::any_of(commands.begin(), commands.end(), is_vllm_command);
}

bool are_vllm_settings(const LaunchSource& source) {
  return are_server_settings(
      source.document, "--model",
      {"--tensor-parallel-size", "--pipeline-parallel-size", "--data-parallel-size", "--max-model-len",
       "--max-num-seqs", "--max-num-batched-tokens", "--gpu-memory-utilization", "--kv-cache-dtype"});
}

Result<LaunchPlan> read_vllm(const LaunchSource& source, const PresetLibrary& library) {
  return VllmReader(source, library).read();
}

}  // namespace

const LaunchFormat vllm_line_format{"vllm", "vLLM", LaunchSyntax::shell, is_vllm, read_vllm};
const LaunchFormat vllm_yaml_format{"vllm", "vLLM", LaunchSyntax::yaml, are_vllm_settings, read_vllm};

}  // namespace roofscape::io
