// TensorRT-LLM's server and benchmark command lines as a serving scenario, with the YAML settings that the script writes
// for them. Settings of that file go over flags, as they do there.
//
// --tp_size counts all chips of a stage. With attention data parallelism each of them has requests of its own, and the
// experts stay on all of them; max_batch_size is then of one chip.
#include <algorithm>
#include <utility>

#include "engine/io/import/command_keys.h"
#include "engine/io/import/launch_formats.h"
#include "engine/io/import/launcher.h"
#include "engine/io/import/serve_flags.h"
#include "engine/io/import/written_settings.h"

namespace roofscape::io {

using engine::say;

namespace {

constexpr std::string_view kTrtllm = "TensorRT-LLM";

constexpr ShortFlag kTrtllmShorts[] = {{"--tp", "--tp-size"},
                                       {"--tensor-parallel-size", "--tp-size"},
                                       {"--pp", "--pp-size"},
                                       {"--pipeline-parallel-size", "--pp-size"},
                                       {"--ep", "--ep-size"},
                                       {"--moe-expert-parallel-size", "--ep-size"},
                                       {"--cp", "--cp-size"},
                                       {"--context-parallel-size", "--cp-size"},
                                       {"--extra-llm-api-options", "--config"},
                                       {"-m", "--model"}};

bool is_program(std::string_view word) {
  const std::string_view name = word.substr(word.rfind('/') + 1);
  return name == "trtllm-serve" || name == "trtllm-bench";
}

bool is_trtllm_command(const ShellCommand& command) {
  return std::any_of(command.words.begin(), command.words.end(),
                     [](const ShellWord& word) { return is_program(word.text); });
}

class TrtllmReader {
 public:
  TrtllmReader(const LaunchSource& source, const PresetLibrary& library)
      : source_(source), library_(library), commands_(commands_of(source.script)), keys_(source.file, plan_) {}

  Result<LaunchPlan> read() {
    for (const ShellCommand& command : commands_)
      if (is_trtllm_command(command)) {
        take(command);
        break;
      }
    if (const auto file = keys_.word("--config"))
      if (auto failure =
              take_written_settings(source_, *file, SettingNames::paths, UnwrittenSettings::of_line, keys_, plan_))
        return *failure;
    for (auto step : {&TrtllmReader::model, &TrtllmReader::mesh, &TrtllmReader::requests, &TrtllmReader::rest}) {
      (this->*step)();
      if (keys_.failed()) return *keys_.failure();
    }
    tell_gaps(source_.script, plan_);
    return std::move(plan_);
  }

 private:
  static engine::Sentence usual() { return say("import.default_of", kTrtllm); }

  void take(const ShellCommand& command) {
    ShellCommand own = command;
    const auto program =
        std::find_if(own.words.begin(), own.words.end(), [](const ShellWord& word) { return is_program(word.text); });
    const ShellWord name = *program;
    own.words.erase(own.words.begin(), program + 1);
    // What it is to do stands before its flags, or between them.
    const auto does = [](const ShellWord& word) {
      return word.text == "serve" || word.text == "throughput" || word.text == "latency";
    };
    own.words.erase(std::remove_if(own.words.begin(), own.words.end(), does), own.words.end());
    const auto words = take_flags(own, kTrtllmShorts, keys_);
    const auto served = take_served_name(words, "--model", keys_, plan_);
    if (served && served->value == "disaggregated")
      plan_.fail(say("import.sglang.one_side", in_quotes(served->value)), served->origin.line);
    else
      model_ = served;
    plan_.state_choice("workload.kind", "serving", {name.text, name.line}, "serve");
  }

  // Of what the settings and the flags say, what counts.
  template <class T>
  Maybe<T> either(Maybe<T> setting, Maybe<T> flag) {
    if (setting && flag) plan_.no_effect(flag->origin, say("import.trtllm.overridden", setting->origin.key));
    return setting ? setting : flag;
  }

  void model() {
    const auto flagged = keys_.word("--model");
    if (flagged) model_ = flagged;
    read_served_model(keys_, plan_, model_, kTrtllm, "dtype", "quant_config.quant_algo");
    tell_other_servers(commands_, is_trtllm_command, model_, plan_);
    read_cache_format(keys_, plan_, kTrtllm, "kv_cache_config.dtype|--kv-cache-dtype");
  }

  void mesh() {
    const auto ranks = either(keys_.whole("tensor_parallel_size", 1, 65536), keys_.whole("--tp-size", 1, 65536));
    const auto stages = either(keys_.whole("pipeline_parallel_size", 1, 1024), keys_.whole("--pp-size", 1, 1024));
    const auto context = either(keys_.whole("context_parallel_size", 1, 4096), keys_.whole("--cp-size", 1, 4096));
    const auto experts = either(keys_.whole("moe_expert_parallel_size", 1, 4096), keys_.whole("--ep-size", 1, 4096));
    const auto expert_tensor = keys_.whole("moe_tensor_parallel_size", 1, 65536);
    const auto node = either(keys_.whole("gpus_per_node", 1, 1 << 17), keys_.whole("--gpus-per-node", 1, 1 << 17));
    const auto attention = keys_.flag("enable_attention_dp|--enable-attention-dp");
    const auto pair = keys_.word("--server-role");
    if (keys_.failed()) return;
    const int all = ranks ? ranks->value : 1, pipeline = stages ? stages->value : 1;
    shared_ = attention && attention->value ? all : 1;
    const int inner = all / shared_;
    const Origin ranks_origin = ranks ? ranks->origin : Origin{"--tp-size", 0};
    if (inner > 1024) return keys_.fail(ranks_origin, say("error.out_of_range", in_quotes(std::to_string(all))));
    if (ranks)
      plan_.state("parallelism.tensor", inner, ranks->origin, std::to_string(all));
    else
      plan_.assume("parallelism.tensor", 1, usual());
    if (stages)
      plan_.state("parallelism.pipeline", pipeline, stages->origin);
    else
      plan_.assume("parallelism.pipeline", 1, usual());
    if (context)
      plan_.state("parallelism.context", context->value, context->origin);
    else
      plan_.assume("parallelism.context", 1, usual());
    if (shared_ > 1)
      plan_.data = Stated<int>{shared_, attention->origin};
    else
      plan_.assume("parallelism.data", 1, usual());
    plan_.assume("parallelism.fsdp", 1, say("import.serve.whole_weights"));
    plan_.assume("parallelism.zero_stage", 0, say("import.serve.whole_weights"));
    plan_.assume_choice("serving.kv_split", "heads", usual());
    const std::int64_t chips = std::int64_t{all} * pipeline * (context ? context->value : 1);
    if (chips <= 1 << 20) {
      plan_.chips = Stated<int>{static_cast<int>(chips), {"--tp_size x --pp_size", 0}};
      if (node && node->value <= chips) plan_.chips_per_node = node;
    }
    deal_experts(keys_, plan_, library_,
                 {all, shared_, ranks_origin, shared_ > 1 ? attention->origin : Origin{}, experts, expert_tensor},
                 kTrtllm);
    if (pair) plan_.fail(say("import.sglang.one_side", in_quotes(pair->value)), pair->origin.line);
  }

  void requests() {
    constexpr int kMost = 1 << 24;
    if (const auto length = either(keys_.whole("max_seq_len", 1, kMost), keys_.whole("--max-seq-len", 1, kMost)))
      plan_.state("model.max_context_tokens", length->value, length->origin);
    const auto most = either(keys_.whole("max_batch_size", 1, kMost), keys_.whole("--max-batch-size", 1, kMost));
    const auto load = keys_.whole("--concurrency", -1, kMost);
    const auto tokens = either(keys_.whole("max_num_tokens", 1, kMost), keys_.whole("--max-num-tokens", 1, kMost));
    const auto cut =
        either(keys_.flag("enable_chunked_prefill"), keys_.flag("--enable-chunked-prefill|--enable-chunked-context"));
    const auto page = keys_.whole("kv_cache_config.tokens_per_block", 1, 1 << 16);
    const auto prompt = keys_.whole("--target-input-len", 1, kMost),
               output = keys_.whole("--target-output-len", 1, kMost);
    if (keys_.failed()) return;
    if (load && load->value > 0) {
      plan_.state("workload.batch", load->value, load->origin);
      if (most) plan_.no_effect(most->origin, say("import.serve.batch", most->origin.key));
    } else if (most) {
      plan_.state("workload.batch", std::min(1.0 * kMost, 1.0 * shared_ * most->value), most->origin,
                  std::to_string(most->value));
      plan_.warn(say("import.serve.batch", most->origin.key), most->origin.line);
    } else {
      plan_.missing.push_back({"workload.batch", "--set workload.batch=..."});
    }
    const auto length_of = [&](std::string_view field, const Maybe<int>& stated) {
      if (stated)
        plan_.state(field, stated->value, stated->origin);
      else
        plan_.missing.push_back({std::string(field), "--set " + std::string(field) + "=..."});
    };
    length_of("workload.prompt_tokens", prompt);
    length_of("workload.output_tokens", output);
    if (cut && cut->value) {
      if (tokens)
        plan_.state("serving.prefill_chunk_tokens", tokens->value, tokens->origin);
      else
        plan_.assume("serving.prefill_chunk_tokens", 8192, usual());
    } else {
      plan_.assume("serving.prefill_chunk_tokens", 0, usual());
      if (tokens) plan_.no_effect(tokens->origin, say("import.serve.whole_prompts"));
    }
    if (page)
      plan_.state("serving.page_tokens", page->value, page->origin);
    else
      plan_.assume("serving.page_tokens", 32, usual());
    drafts();
  }

  void drafts() {
    const auto draft =
        keys_.whole("speculative_config.num_nextn_predict_layers|speculative_config.max_draft_len", 0, 16);
    if (!draft || draft->value == 0) return;
    plan_.state("serving.draft_tokens", draft->value, draft->origin);
    plan_.warn(say("import.serve.acceptance"), draft->origin.line);
  }

  void rest() {
    keys_.without_effect({"kv_cache_config.enable_block_reuse"}, say("import.serve.prefix"));
    keys_.without_effect({"kv_cache_config.free_gpu_memory_fraction", "--kv-cache-free-gpu-memory-fraction",
                          "--kv-cache-free-gpu-mem-fraction", "--free-gpu-memory-fraction"},
                         say("import.trtllm.free_memory"));
    keys_.without_effect({"kv_cache_config*",
                          "cuda_graph_config*",
                          "torch_compile_config*",
                          "moe_config*",
                          "moe_cluster_parallel_size",
                          "--cluster-size",
                          "attention_dp_config*",
                          "attn_backend",
                          "batch_wait*",
                          "scheduler_config*",
                          "speculative_config*",
                          "quant_config*",
                          "disable_overlap_scheduler",
                          "use_cuda_graph",
                          "enable_autotuner",
                          "enable_min_latency",
                          "enable_layerwise*",
                          "enable_lm_head*",
                          "allreduce_strategy",
                          "sparse_attention*",
                          "sampler_type",
                          "mm_encoder*",
                          "lora_config*",
                          "cache_transceiver_config*",
                          "max_beam_width",
                          "max_input_len",
                          "--max-beam-width",
                          "--beam-width",
                          "--scheduler-policy",
                          "--eos-id",
                          "--warmup",
                          "--num-requests",
                          "backend",
                          "--backend",
                          "stream_interval",
                          "num_postprocess_workers",
                          "--num-postprocess-workers"},
                         say("import.ignored.not_modelled"));
    keys_.without_effect({"print_iter_log",
                          "postprocess_*",
                          "trust_remote_code",
                          "tokenizer*",
                          "load_format",
                          "garbage_collection*",
                          "perf_metrics*",
                          "enable_iter_perf*",
                          "return_perf*",
                          "reasoning_parser",
                          "orchestrator_type",
                          "guided_decoding*",
                          "checkpoint_*",
                          "model",
                          "revision",
                          "--host",
                          "--port",
                          "--log-level",
                          "--trust-remote-code",
                          "--reasoning-parser",
                          "--tool-parser",
                          "--tokenizer*",
                          "--custom-*",
                          "--chat-template",
                          "--metadata-server*",
                          "--fail-fast*",
                          "--otlp*",
                          "--media-io*",
                          "--model-path",
                          "--workspace",
                          "--dataset",
                          "--streaming",
                          "--report-json",
                          "--iteration-log",
                          "--output-json",
                          "--request-json",
                          "--engine-dir",
                          "--modality",
                          "--sampler-options",
                          "--no-skip-tokenizer-init",
                          "--skip-tokenizer-init",
                          "--revision",
                          "--served-model-name"},
                         say("import.ignored.no_effect"));
    keys_.finish({{"--tp-size", "parallelism.tensor"},
                  {"tensor_parallel_size", "parallelism.tensor"},
                  {"--pp-size", "parallelism.pipeline"},
                  {"pipeline_parallel_size", "parallelism.pipeline"},
                  {"--ep-size", "parallelism.expert"},
                  {"moe_expert_parallel_size", "parallelism.expert"},
                  {"*enable*attention*dp", "parallelism.data"},
                  {"dtype", "precision.weights"},
                  {"quant_config.quant_algo", "precision.weights"},
                  {"kv_cache_config.dtype", "precision.kv_cache"},
                  {"--kv-cache-dtype", "precision.kv_cache"},
                  {"--model", "model"},
                  {"--concurrency", "workload.batch"},
                  {"--max-batch-size", "workload.batch"},
                  {"max_batch_size", "workload.batch"},
                  {"--target-input-len", "workload.prompt_tokens"},
                  {"--target-output-len", "workload.output_tokens"},
                  {"*chunked*", "serving.prefill_chunk_tokens"}});
  }

  const LaunchSource& source_;
  const PresetLibrary& library_;
  const std::vector<ShellCommand> commands_;
  LaunchPlan plan_;
  KeyReader keys_;
  Maybe<std::string> model_;
  int shared_ = 1;  // chips that share attention out by requests
};

bool is_trtllm(const LaunchSource& source) {
  const std::vector<ShellCommand> commands = commands_of(source.script);
  return std::any_of(commands.begin(), commands.end(), is_trtllm_command);
}

Result<LaunchPlan> read_trtllm(const LaunchSource& source, const PresetLibrary& library) {
  return TrtllmReader(source, library).read();
}

}  // namespace

const LaunchFormat trtllm_line_format{"trtllm", kTrtllm, LaunchSyntax::shell, is_trtllm, read_trtllm};

}  // namespace roofscape::io
