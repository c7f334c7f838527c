// SGLang's launch command line as a serving scenario.
//
// --tp-size counts all chips of a stage. Without data-parallel attention --dp-size replicates that; with it attention is
// shared out among dp groups of tp / dp chips inside them, while experts stay on all of them.
#include <algorithm>

#include "engine/io/import/command_keys.h"
#include "engine/io/import/launch_formats.h"
#include "engine/io/import/launcher.h"
#include "engine/io/import/serve_flags.h"
#include "engine/io/import/written_settings.h"

namespace roofscape::io {

using engine::say;

namespace {

constexpr std::string_view kSglang = "SGLang";

constexpr ShortFlag kSglangShorts[] = {{"--tp", "--tp-size"},      {"--tensor-parallel-size", "--tp-size"},
                                       {"--dp", "--dp-size"},      {"--data-parallel-size", "--dp-size"},
                                       {"--pp", "--pp-size"},      {"--pipeline-parallel-size", "--pp-size"},
                                       {"--ep", "--ep-size"},      {"--expert-parallel-size", "--ep-size"},
                                       {"--model", "--model-path"}};

bool is_sglang_command(const ShellCommand& command) {
  return std::any_of(command.words.begin(), command.words.end(), [&](const ShellWord& word) {
    return word.text == "sglang.launch_server" || word.text.ends_with("sglang/launch_server.py") ||
           (word.text == "sglang" && command.words.size() > 1 && command.words[1].text == "serve");
  });
}

class SglangReader {
 public:
  SglangReader(const LaunchSource& source, const PresetLibrary& library)
      : source_(source), library_(library), commands_(commands_of(source.script)), keys_(source.file, plan_) {}

  Result<LaunchPlan> read() {
    if (source_.syntax == LaunchSyntax::yaml) take(source_.document);
    for (const ShellCommand& command : commands_)
      if (is_sglang_command(command)) {
        take(command);
        break;
      }
    for (auto step : {&SglangReader::model, &SglangReader::mesh, &SglangReader::requests, &SglangReader::rest}) {
      (this->*step)();
      if (keys_.failed()) return *keys_.failure();
    }
    tell_gaps(source_.script, plan_);
    return std::move(plan_);
  }

 private:
  static engine::Sentence usual() { return say("import.default_of", kSglang); }

  void take(const ShellCommand& command) {
    ShellCommand own = command;
    const auto server = std::find_if(own.words.begin(), own.words.end(), [](const ShellWord& word) {
      return word.text == "sglang.launch_server" || word.text.ends_with("sglang/launch_server.py") ||
             word.text == "serve";
    });
    if (server != own.words.end()) own.words.erase(own.words.begin(), server + 1);
    const auto words = take_flags(own, kSglangShorts, keys_);
    for (const LooseWord& loose : words)
      if (!loose.behind.empty()) keys_.pass_over(loose.word);
    plan_.state_choice("workload.kind", "serving",
                       {command.words.empty() ? "sglang" : command.words[0].text, command.line}, "serve");
  }

  // The settings of `sglang.launch_server --config`.
  void take(const Node& settings) {
    take_flag_settings(settings, kSglangShorts, keys_);
    if (const auto path = keys_.like("--model-path"))
      plan_.state_choice("workload.kind", "serving", {"model-path", path->line}, "serve");
  }

  void model() {
    const auto path = keys_.word("--model-path");
    if (keys_.failed()) return;
    read_served_model(keys_, plan_, path, kSglang);
    tell_other_servers(commands_, is_sglang_command, path, plan_);
    read_cache_format(keys_, plan_, kSglang);
  }

  void mesh() {
    const auto tensor = keys_.whole("--tp-size", 1, 65536), replicas = keys_.whole("--dp-size", 1, 65536);
    const auto stages = keys_.whole("--pp-size", 1, 1024), experts = keys_.whole("--ep-size", 1, 4096);
    const auto attention = keys_.flag("--enable-dp-attention"),
               all_experts = keys_.flag("--enable-ep-moe|--enable-deepep-moe");
    const auto dispatcher = keys_.word("--moe-a2a-backend");
    const auto nodes = keys_.whole("--nnodes", 1, 1 << 17);
    if (keys_.failed()) return;
    const int ranks = tensor ? tensor->value : 1, groups = replicas ? replicas->value : 1,
              pipeline = stages ? stages->value : 1;
    const Origin tensor_origin = tensor ? tensor->origin : Origin{"--tp-size", 0};
    const bool shared = attention && attention->value;
    if (shared && ranks % groups != 0)
      return keys_.contradiction(tensor_origin, std::to_string(ranks), replicas->origin, std::to_string(groups));
    const int inner = shared ? ranks / groups : ranks;
    if (shared) groups_ = groups;
    if (inner > 1024) return keys_.fail(tensor_origin, say("error.out_of_range", in_quotes(std::to_string(ranks))));
    if (tensor)
      plan_.state("parallelism.tensor", inner, tensor->origin, std::to_string(ranks));
    else
      plan_.assume("parallelism.tensor", 1, usual());
    if (stages)
      plan_.state("parallelism.pipeline", pipeline, stages->origin);
    else
      plan_.assume("parallelism.pipeline", 1, usual());
    if (replicas)
      plan_.data = replicas;
    else
      plan_.assume("parallelism.data", 1, usual());
    plan_.assume("parallelism.context", 1, usual());
    plan_.assume("parallelism.fsdp", 1, say("import.serve.whole_weights"));
    plan_.assume("parallelism.zero_stage", 0, say("import.serve.whole_weights"));
    plan_.assume_choice("serving.kv_split", "heads", usual());
    const std::int64_t chips = std::int64_t{inner} * groups * pipeline;
    if (chips <= 1 << 20) {
      plan_.chips = Stated<int>{static_cast<int>(chips), {"--tp-size x --pp-size x --dp-size", 0}};
      if (nodes) {
        if (chips % nodes->value != 0)
          return keys_.contradiction(tensor_origin, std::to_string(ranks), nodes->origin,
                                     std::to_string(nodes->value));
        plan_.chips_per_node = Stated<int>{static_cast<int>(chips / nodes->value), nodes->origin};
      }
    }
    ServedRanks served{ranks, shared ? groups : 1, tensor_origin, shared ? attention->origin : Origin{}, experts, {}};
    if (!experts && all_experts && all_experts->value) served.spread = {ranks, all_experts->origin};
    // These dispatchers deal whole experts to all ranks, whatever --ep-size says.
    if (dispatcher && (dispatcher->value == "deepep" || dispatcher->value == "mooncake"))
      served.spread = {ranks, dispatcher->origin};
    deal_experts(keys_, plan_, library_, served, kSglang);
  }

  void requests() {
    if (const auto length = keys_.whole("--context-length", 1, 1 << 24))
      plan_.state("model.max_context_tokens", length->value, length->origin);
    const auto sequences = keys_.whole("--max-running-requests", 1, 1 << 24);
    const auto chunk = keys_.whole("--chunked-prefill-size", -1, 1 << 24);
    const auto page = keys_.whole("--page-size", 1, 1 << 16);
    const auto share = keys_.number("--mem-fraction-static", 0.01, 1);
    const auto steps = keys_.whole("--speculative-num-steps", 1, 16),
               drafted = keys_.whole("--speculative-num-draft-tokens", 1, 1024);
    const auto draft = steps ? steps : drafted && drafted->value <= 16 ? drafted : Maybe<int>();
    if (steps && drafted && drafted->value > steps->value + 1)
      plan_.warn(say("import.sglang.draft_tree", drafted->value, steps->value), drafted->origin.line);
    const auto side = keys_.word("--disaggregation-mode");
    if (keys_.failed()) return;
    if (sequences) {
      // Of all groups that share attention out, but of each replica.
      const int replicas = plan_.data && groups_ == 1 ? plan_.data->value : 1;
      plan_.state("workload.batch", static_cast<double>(sequences->value) * replicas, sequences->origin,
                  std::to_string(sequences->value));
      plan_.warn(say("import.serve.batch", sequences->origin.key), sequences->origin.line);
    } else {
      plan_.missing.push_back({"workload.batch", "--set workload.batch=..."});
    }
    for (const std::string_view field : {"workload.prompt_tokens", "workload.output_tokens"})
      plan_.missing.push_back({std::string(field), "--set " + std::string(field) + "=..."});
    if (chunk)
      plan_.state("serving.prefill_chunk_tokens", chunk->value > 0 ? std::max(1, chunk->value / groups_) : 0,
                  chunk->origin, std::to_string(chunk->value));
    else
      plan_.assume("serving.prefill_chunk_tokens", 8192 / groups_, usual());
    if (page)
      plan_.state("serving.page_tokens", page->value, page->origin);
    else
      plan_.assume("serving.page_tokens", 1, usual());
    plan_.memory_share = share;
    if (draft) {
      plan_.state("serving.draft_tokens", draft->value, draft->origin);
      plan_.warn(say("import.serve.acceptance"), draft->origin.line);
    }
    if (side && side->value != "null" && side->value != "none")
      plan_.fail(say("import.sglang.one_side", in_quotes(side->value)), side->origin.line);
  }

  void rest() {
    keys_.without_effect({"--disable-radix-cache"}, say("import.serve.prefix"));
    keys_.without_effect({"--cuda-graph*",
                          "--disable-cuda-graph*",
                          "--enable-torch-compile",
                          "--torch-compile*",
                          "--attention-backend",
                          "--prefill-attention*",
                          "--decode-attention*",
                          "--sampling-backend",
                          "--moe-*",
                          "--deepep*",
                          "--enable-two-batch*",
                          "--tbo*",
                          "--enable-eplb",
                          "--eplb*",
                          "--ep-*",
                          "--schedule-*",
                          "--max-prefill-tokens",
                          "--max-total-tokens",
                          "--enable-mixed*",
                          "--enable-flashinfer*",
                          "--disable-overlap*",
                          "--speculative*",
                          "--disaggregation*",
                          "--cpu-offload*",
                          "--enable-dp-lm*",
                          "--moe-dense*",
                          "--enable-hierarchical*",
                          "--hicache*",
                          "--num-continuous*",
                          "--fp8-gemm*",
                          "--disable-custom*",
                          "--enable-nccl*",
                          "--enable-symm*",
                          "--enable-mscclpp",
                          "--quantization-param*",
                          "--lora*",
                          "--max-lora*",
                          "--enable-lora",
                          "--enable-memory*",
                          "--grammar*",
                          "--disable-chunked*",
                          "--load-balance*",
                          "--prefill-round*",
                          "--pp-max*",
                          "--swa*",
                          "--mm-*",
                          "--flashinfer*",
                          "--enable-tokenizer*",
                          "--stream-interval"},
                         say("import.ignored.not_modelled"));
    keys_.not_modelled_when_on({"--is-embedding"});
    leave_out_server_flags(keys_);
    keys_.without_effect({"--random-seed",   "--enable-metrics*", "--dist-*",       "--nccl*",
                          "--watchdog*",     "--decode-log*",     "--show-time*",   "--crash*",
                          "--skip-*",        "--base-gpu*",       "--gpu-id*",      "--stream-output",
                          "--file-storage*", "--json-model*",     "--constrained*", "--enable-cache-report",
                          "--preferred*",    "--sleep*",          "--warmups",      "--context-*",
                          "--bucket*",       "--completion*",     "--hooks*",       "--enable-p2p*",
                          "--weight*"},
                         say("import.ignored.no_effect"));
    keys_.finish({{"--tp-size", "parallelism.tensor"},
                  {"--pp-size", "parallelism.pipeline"},
                  {"--dp-size", "parallelism.data"},
                  {"--model-path", "model"},
                  {"--dtype", "precision.weights"},
                  {"--quantization", "precision.weights"},
                  {"--kv-cache-dtype", "precision.kv_cache"},
                  {"--enable-dp-attention", "parallelism.tensor"},
                  {"--ep-size", "parallelism.expert"},
                  {"--enable-*moe", "parallelism.expert"},
                  {"--moe-a2a-backend", "parallelism.expert"},
                  {"--speculative-num-draft-tokens", "serving.draft_tokens"},
                  {"--max-running-requests", "workload.batch"}});
  }

  const LaunchSource& source_;
  const PresetLibrary& library_;
  const std::vector<ShellCommand> commands_;
  LaunchPlan plan_;
  KeyReader keys_;
  int groups_ = 1;  // among which attention is shared out, and with it the tokens of a pass
};

bool is_sglang(const LaunchSource& source) {
  const std::vector<ShellCommand> commands = commands_of(source.script);
  return std::any_of(commands.begin(), commands.end(), is_sglang_command);
}

bool are_sglang_settings(const LaunchSource& source) {
  return are_server_settings(
      source.document, "--model-path",
      {"--tp", "--tp-size", "--tensor-parallel-size", "--dp-size", "--data-parallel-size", "--pp-size", "--ep-size",
       "--context-length", "--mem-fraction-static", "--max-running-requests", "--chunked-prefill-size",
       "--kv-cache-dtype", "--host", "--port"});
}

Result<LaunchPlan> read_sglang(const LaunchSource& source, const PresetLibrary& library) {
  return SglangReader(source, library).read();
}

}  // namespace

const LaunchFormat sglang_line_format{"sglang", "SGLang", LaunchSyntax::shell, is_sglang, read_sglang};
const LaunchFormat sglang_yaml_format{"sglang", "SGLang", LaunchSyntax::yaml, are_sglang_settings, read_sglang};

}  // namespace roofscape::io
