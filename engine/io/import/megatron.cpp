// Megatron-LM: a launch script, a bare list of arguments, or the YAML of its functional tests. Which flags are fields by
// themselves is a table (megatron_flags.cpp); what several flags decide together is here. Defaults are those of
// megatron/training/arguments.py and of the transformer's configuration class.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "engine/io/import/launch_formats.h"
#include "engine/io/import/launcher.h"
#include "engine/io/import/megatron_flags.h"
#include "engine/io/import/repeated_list.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::io {

using engine::say;

namespace {

// Flags that only a Megatron launch has; two of them make one.
constexpr std::string_view kMarks[] = {"--num-layers",
                                       "--hidden-size",
                                       "--num-attention-heads",
                                       "--seq-length",
                                       "--micro-batch-size",
                                       "--global-batch-size",
                                       "--max-position-embeddings",
                                       "--tensor-model-parallel-size",
                                       "--pipeline-model-parallel-size",
                                       "--context-parallel-size",
                                       "--expert-model-parallel-size",
                                       "--use-distributed-optimizer",
                                       "--use-mcore-models",
                                       "--sequence-parallel",
                                       "--swiglu",
                                       "--ffn-hidden-size"};

std::size_t marks_of(const ShellCommand& command) {
  std::set<std::string> found;
  for (const ShellWord& word : command.words) {
    std::string flag = word.text.substr(0, word.text.find('='));
    std::replace(flag.begin(), flag.end(), '_', '-');
    if (std::find(std::begin(kMarks), std::end(kMarks), flag) != std::end(kMarks)) found.insert(flag);
  }
  return found.size();
}

// The command that starts the training: the one with most of Megatron's flags.
ShellCommand launch_command(const ShellScript& script) {
  ShellCommand best = joined_arguments(script);
  std::size_t most = marks_of(best);
  for (const ShellCommand& command : script.commands)
    if (const std::size_t marks = marks_of(command); marks > most) {
      best = command;
      most = marks;
    }
  return best;
}

class MegatronReader {
 public:
  MegatronReader(std::string_view file, const PresetLibrary& library, LaunchPlan& plan)
      : file_(file), library_(library), plan_(plan) {}

  Failure read(const LaunchLine& line) {
    Arguments arguments = arguments_of(line.arguments);
    for (const ShellWord& word : arguments.others)
      if (!word.open.empty()) plan_.warn(say("import.open_arguments", word.text), word.line);
    if (auto failure = refuse_programs(line, arguments)) return failure;
    for (Argument& argument : arguments.options) {
      // A variable that nothing sets, among the values of a flag that takes fewer, holds further arguments.
      if (auto failure = take(std::move(argument))) return failure;
    }
    if (auto failure = model()) return failure;
    if (auto failure = attention()) return failure;
    if (auto failure = experts()) return failure;
    batch();
    mesh();
    if (auto failure = stages()) return failure;
    checkpointing();
    precision();
    offload();
    leftovers();
    return std::nullopt;
  }

 private:
  InputError at(const Argument& argument, engine::Sentence message, engine::Sentence remedy = {}) const {
    InputError error = line_error(file_, argument.line, std::move(message), std::move(remedy));
    error.path = argument.written;
    return error;
  }

  Failure refuse_programs(const LaunchLine& line, const Arguments& arguments) const {
    constexpr std::pair<std::string_view, std::string_view> kPrograms[] = {
        {"pretrain_t5", "T5"},        {"pretrain_bert", "BERT"},   {"pretrain_ict", "ICT"},
        {"pretrain_mamba", "Mamba"},  {"pretrain_retro", "Retro"}, {"pretrain_vision", "ViT"},
        {"pretrain_hybrid", "Mamba"}, {"pretrain_vlm", "VLM"}};
    for (const auto& [program, name] : kPrograms)
      if (line.program.text.find(program) != std::string::npos)
        return line_error(file_, line.program.line, say("error.import.other_model", line.program.text, name),
                          say("error.import.other_model.remedy"));
    constexpr std::string_view kOther[] = {"--hybrid-override-pattern",
                                           "--hybrid-attention-ratio",
                                           "--hybrid-layer-pattern",
                                           "--is-hybrid-model",
                                           "--linear-attention-type",
                                           "--linear-attention-freq",
                                           "--encoder-num-layers",
                                           "--decoder-num-layers",
                                           "--heterogeneous-layers-config-path",
                                           "--heterogeneous-layers-config-encoded-json",
                                           "--experimental-attention-variant"};
    for (const Argument& argument : arguments.options)
      if (std::find(std::begin(kOther), std::end(kOther), argument.flag) != std::end(kOther))
        return at(argument, say("error.import.other_layers", argument.value_text()),
                  say("error.import.other_model.remedy"));
    return std::nullopt;
  }

  // A number of a field, or something that is looked at later.
  Failure take(Argument argument) {
    const std::string_view field = megatron_field_of(argument.flag);
    if (!field.empty()) {
      const auto value = number(argument, field);
      if (!value) return value.error();
      if (value.value()) plan_.state(field, *value.value(), argument.origin(), argument.value_text());
    }
    const auto before = given_.find(argument.flag);
    if (before != given_.end() && field.empty() && decides(argument.flag) &&
        before->second.value_text() != argument.value_text())
      return at(
          argument,
          say("error.import.two_sources", argument.flag, before->second.written + " " + before->second.value_text(),
              before->second.line, argument.written + " " + argument.value_text(), argument.line),
          say("error.import.two_sources.take_one"));
    given_.insert_or_assign(argument.flag, std::move(argument));
    return std::nullopt;
  }

  static bool decides(std::string_view flag) { return !megatron_without_effect(flag); }

  // The number a flag gives. Nothing: it is open, and then `field` is missing.
  Result<std::optional<double>> number(const Argument& argument, std::string_view field) {
    if (argument.values.empty()) return at(argument, say("error.import.no_value"), say("error.import.number.remedy"));
    const ShellWord& value = argument.values.front();
    if (!value.open.empty()) {
      open(argument, value, field);
      return std::optional<double>();
    }
    if (value.text == "None") return std::optional<double>();
    const auto read = plain_number(value.text);
    if (!read)
      return at(argument, say("error.not_a_number", in_quotes(value.text)), say("error.import.number.remedy"));
    return read;
  }
  // A whole number of a flag that is no field.
  Result<std::optional<int>> whole(std::string_view flag, std::string_view field, int least, int most) {
    const Argument* argument = find(flag);
    if (argument == nullptr) return std::optional<int>();
    const auto value = number(*argument, field);
    if (!value) return value.error();
    if (!value.value()) return std::optional<int>();
    const double n = *value.value();
    if (n < least || n > most || n != std::floor(n))
      return at(*argument, say("error.import.out_of_domain", in_quotes(argument->values.front().text)),
                say("error.number.whole_between", least, most));
    return std::optional<int>(static_cast<int>(n));
  }
  void open(const Argument& argument, const ShellWord& value, std::string_view field) {
    plan_.fail(value.substitution ? say("import.open_substitution", argument.written, value.text)
                                  : say("import.open_value", argument.written, value.text),
               argument.line);
    plan_.missing.push_back({std::string(field), "--set " + std::string(field) + "=..."});
    open_.insert(std::string(field));
  }

  const Argument* find(std::string_view flag) {
    const auto found = given_.find(flag);
    if (found == given_.end()) return nullptr;
    used_.insert(found->first);
    return &found->second;
  }
  // The same as a switch: `--flag`, or `--flag true` in the YAML.
  bool flag(std::string_view name) { return find(name) != nullptr; }
  std::string word(std::string_view name) {
    const Argument* argument = find(name);
    return argument == nullptr ? std::string() : argument->value_text();
  }
  Origin origin(std::string_view name) {
    const Argument* argument = find(name);
    return argument == nullptr ? Origin{} : argument->origin();
  }
  int value(std::string_view field, int fallback) const {
    const auto found = plan_.value_of(field);
    return found && *found >= 1 && *found <= (1 << 24) ? static_cast<int>(*found) : fallback;
  }
  bool has(std::string_view field) const {
    return plan_.value_of(field).has_value() || open_.contains(std::string(field));
  }
  // A switch of the file that a field stands for, or Megatron's default.
  void tell(std::string_view field, bool on, std::string_view flag_name) {
    if (const Argument* argument = find(flag_name))
      plan_.state(field, on ? 1 : 0, argument->origin(), argument->values.empty() ? "true" : argument->value_text());
    else
      plan_.assume(field, on ? 1 : 0, say("import.why.megatron"));
  }

  Failure model() {
    const bool sized = has("model.n_layers") || has("model.d_model");
    if (!sized) return std::nullopt;  // the sizes come from somewhere else: all of a model is missing
    const int width = value("model.d_model", 0), heads = value("model.n_heads", 0);
    const bool gated = flag("--swiglu") || flag("--geglu") || flag("--gated-linear-unit");
    tell("model.gated_mlp", gated,
         flag("--geglu")               ? "--geglu"
         : flag("--gated-linear-unit") ? "--gated-linear-unit"
                                       : "--swiglu");
    if (!has("model.d_ff") && width > 0)
      // For gated MLPs two thirds of it, rounded down to a multiple of 64.
      plan_.assume("model.d_ff", gated ? width * 4 * 2 / 3 / 64 * 64 : 4.0 * width,
                   gated ? say("import.why.megatron_gated_ff") : say("import.why.megatron_ff"));
    if (!has("model.d_head") && heads > 0 && width > 0) {
      if (width % heads != 0 && !flag("--multi-latent-attention"))
        return line_error(file_, stated_line("model.n_heads"), say("error.config.heads_width", heads, width),
                          say("error.import.heads_width.remedy"));
      plan_.assume("model.d_head", std::max(1, width / heads), say("import.why.megatron_head"));
    }
    tell("model.tied_embeddings", !flag("--untie-embeddings-and-output-weights"),
         "--untie-embeddings-and-output-weights");
    const bool bias = !flag("--disable-bias-linear") && word("--add-bias-linear") != "false";
    tell("model.mlp_bias", bias, "--disable-bias-linear");
    tell("model.o_bias", bias, "--disable-bias-linear");
    tell("model.qkv_bias", bias || flag("--add-qkv-bias"),
         flag("--add-qkv-bias") ? "--add-qkv-bias" : "--disable-bias-linear");
    const std::string norm = word("--normalization");
    tell("model.layernorm_bias", norm.empty() || norm == "LayerNorm", "--normalization");
    if (const Argument* argument = find("--embed-layernorm"))
      plan_.state("model.embedding_norm", 1, argument->origin(), "true");

    const std::string kind = word("--position-embedding-type");
    const bool rotary = flag("--use-rotary-position-embeddings") || (!kind.empty() && kind != "learned_absolute");
    const int positions = value("model.max_context_tokens", 0);
    if (!rotary && positions > 0 && !flag("--no-position-embedding") && !flag("--no-learned-position-embeddings")) {
      if (kind.empty())
        plan_.assume("model.learned_positions", positions, say("import.why.megatron_positions"));
      else
        plan_.state("model.learned_positions", positions, origin("--position-embedding-type"), kind);
    }
    if (!has("model.vocab_size")) vocabulary();
    if (const Argument* argument = find("--make-vocab-size-divisible-by"))
      plan_.no_effect(argument->origin(), say("import.why.padding"));
    if (const Argument* argument = find("--mtp-num-layers"); argument != nullptr && word("--mtp-num-layers") != "0")
      plan_.warn(say("import.further_tokens", argument->written + " " + argument->value_text()), argument->line);
    return std::nullopt;
  }

  // Of the tokenizer, where that says it.
  void vocabulary() {
    constexpr std::pair<std::string_view, int> kTokenizers[] = {
        {"GPT2BPETokenizer", 50257}, {"Llama2Tokenizer", 32000}, {"Llama3Tokenizer", 128256}};
    const std::string type = word("--tokenizer-type");
    for (const auto& [name, size] : kTokenizers)
      if (type == name) return plan_.assume("model.vocab_size", size, say("import.why.tokenizer", type));
    // The merges of byte pairs are GPT-2's.
    if (type.empty() && flag("--merge-file"))
      return plan_.assume("model.vocab_size", 50257, say("import.why.tokenizer", std::string("GPT-2")));
    std::string model = word("--tokenizer-model");
    if (model.empty()) model = word("--tokenizer-name-or-path");
    while (model.ends_with('/')) model.pop_back();
    if (model.ends_with(".model") || model.ends_with(".json") || model.find('$') != std::string::npos) return;
    const std::string name = model.substr(model.rfind('/') + 1);
    if (const Preset* preset = name.empty() ? nullptr : library_.meant(PresetKind::model, name))
      plan_.assume("model.vocab_size", library_.find_model(preset->id)->vocab_size,
                   say("import.why.tokenizer", preset->name));
  }

  int stated_line(std::string_view field) const {
    const StatedField* stated = plan_.stated(field);
    return stated == nullptr ? 0 : stated->origin.line;
  }

  Failure attention() {
    const int heads = value("model.n_heads", 0);
    const bool latent = flag("--multi-latent-attention");
    const Argument* groups = find("--num-query-groups");
    if (groups != nullptr && (flag("--group-query-attention") || !flag("--use-mcore-models"))) {
      const auto number = whole("--num-query-groups", "model.n_kv_heads", 1, 1 << 14);
      if (!number) return number.error();
      if (number.value() && (flag("--group-query-attention") || *number.value() > 1))
        plan_.state("model.n_kv_heads", *number.value(), groups->origin(), groups->value_text());
    } else if (flag("--group-query-attention")) {
      plan_.assume("model.n_kv_heads", 1, say("import.why.megatron"));
    }
    if (!has("model.n_kv_heads") && heads > 0)
      plan_.assume("model.n_kv_heads", heads,
                   latent ? say("import.why.latent_heads") : say("import.why.megatron_kv_heads"));
    if (latent) {
      // The class's own ranks.
      constexpr std::pair<std::string_view, int> kRanks[] = {{"model.mla.kv_lora_rank", 32},
                                                             {"model.mla.qk_nope_head_dim", 128},
                                                             {"model.mla.qk_rope_head_dim", 64},
                                                             {"model.mla.v_head_dim", 128}};
      for (const auto& [field, fallback] : kRanks)
        if (!has(field)) plan_.assume(field, fallback, say("import.why.megatron"));
    } else {
      std::erase_if(plan_.fields, [](const StatedField& field) { return field.path.starts_with("model.mla."); });
    }
    if (const Argument* argument =
            find("--qk-layernorm")) {  // of latent attention the norms of its ranks, which it has
      if (!latent) plan_.state("model.qk_norm", 1, argument->origin(), "true");
    }
    if (const Argument* window = find("--window-size")) {
      // "128,0": tokens before, tokens after.
      const std::string written = word("--window-size");
      int tokens = 0;
      const std::size_t digit = std::min(written.find_first_of("0123456789"), written.size());
      std::from_chars(written.data() + digit, written.data() + written.size(), tokens);
      const int layers = value("model.n_layers", 1);
      int skip = 0;
      const std::string every = word("--window-attn-skip-freq");
      std::from_chars(every.data(), every.data() + every.size(), skip);
      if (tokens > 0) {
        plan_.state("model.local_attention.window_tokens", tokens, window->origin(), written);
        plan_.state("model.local_attention.n_local_layers", skip > 1 ? layers - layers / skip : layers,
                    window->origin(), written);
      }
    }
    return std::nullopt;
  }

  Failure experts() {
    if (!has("model.moe.n_routed_experts")) return std::nullopt;
    const int layers = value("model.n_layers", 1);
    if (!has("model.moe.experts_per_token"))
      plan_.assume("model.moe.experts_per_token", 2, say("import.why.megatron"));
    if (!has("model.moe.d_ff_expert"))
      plan_.assume("model.moe.d_ff_expert", plan_.value_of("model.d_ff").value_or(1),
                   say("import.why.megatron_expert_ff"));
    const int width = value("model.moe.d_ff_expert", 1);
    if (const Argument* shared = find("--moe-shared-expert-intermediate-size")) {
      const auto size = whole("--moe-shared-expert-intermediate-size", "model.moe.n_shared_experts", 0, 1 << 22);
      if (!size) return size.error();
      if (size.value()) {
        const int count = (*size.value() + width - 1) / width;
        plan_.state("model.moe.n_shared_experts", count, shared->origin(), shared->value_text());
        if (*size.value() % width != 0)
          plan_.warn(say("import.shared_width", *size.value(), width, count), shared->line);
      }
    }
    if (const Argument* argument = find("--moe-shared-expert-gate"))
      plan_.state("model.moe.shared_expert_gate", 1, argument->origin(), "true");
    if (const Argument* argument = find("--moe-router-enable-expert-bias"))
      plan_.state("model.moe.router_bias", 1, argument->origin(), "true");
    if (const Argument* argument = find("--moe-layer-freq")) {
      const std::string written = argument->value_text();
      std::vector<int> pattern;
      if (const auto every = plain_number(written); every && *every >= 1 && *every <= 10000) {
        for (int i = 0; i < layers; ++i) pattern.push_back(i % static_cast<int>(*every) == 0 ? 1 : 0);
      } else {
        auto list = read_repeated_list(written);
        if (!list)
          return at(*argument, say("error.import.list", in_quotes(written)), say("error.import.list.remedy"));
        pattern = *std::move(list);
      }
      if (static_cast<int>(pattern.size()) != layers)
        return at(*argument, say("error.import.pattern_size", pattern.size(), layers));
      const int dense = static_cast<int>(std::count(pattern.begin(), pattern.end(), 0));
      plan_.state("model.moe.n_dense_layers", dense, argument->origin(), written);
      if (std::find(pattern.begin(), pattern.end(), 1) != pattern.end() &&
          std::find(std::find(pattern.begin(), pattern.end(), 1), pattern.end(), 0) != pattern.end())
        plan_.warn(say("import.dense_layers_apart", dense), argument->line);
    }
    return std::nullopt;
  }

  void batch() {
    const double batch = plan_.value_of("workload.global_batch_sequences").value_or(0);
    const double length = plan_.value_of("workload.sequence_length").value_or(0);
    if (!has("workload.global_batch_sequences") && has("pipeline.microbatch_sequences"))
      // One microbatch a rank.
      plan_.accumulation = {1, {"--global-batch-size", 0}};
    for (const auto& [name, sequences] :
         {std::pair<std::string_view, double>{"--train-samples", 1}, {"--train-iters", batch}}) {
      const Argument* argument = find(name);
      if (argument == nullptr || argument->values.empty() || length <= 0 || sequences <= 0) continue;
      const auto count = plain_number(argument->values.front().text);
      if (!count || *count < 1 || !argument->values.front().open.empty()) continue;
      const double tokens = *count * sequences * length;
      if (tokens <= 1e18 && plan_.stated("workload.train_tokens") == nullptr)
        plan_.state("workload.train_tokens", tokens, argument->origin(), argument->value_text());
    }
    for (const std::string_view name : {"--rampup-batch-size", "--step-batch-size-schedule"})
      if (const Argument* argument = find(name)) plan_.warn(say("import.ramp", argument->written), argument->line);
  }

  void mesh() {
    const int tensor = value("parallelism.tensor", 1);
    for (const std::string_view field :
         {"parallelism.tensor", "parallelism.pipeline", "parallelism.context", "parallelism.expert"})
      if (!has(field)) plan_.assume(field, 1, say("import.why.megatron"));
    if (has("model.moe.n_routed_experts") && !has("parallelism.expert_tensor"))
      plan_.assume("parallelism.expert_tensor", tensor, say("import.why.megatron_expert_tensor"));
    if (const Argument* argument = find("--sequence-parallel")) {
      plan_.state("parallelism.sequence_parallel", tensor > 1 ? 1 : 0, argument->origin(), "true");
      if (tensor == 1) plan_.warn(say("import.sequence_parallel_alone", argument->written), argument->line);
    } else {
      plan_.assume("parallelism.sequence_parallel", 0, say("import.why.megatron"));
    }
    if (value("parallelism.context", 1) > 1) context_method();
    zero();
  }

  void context_method() {
    const std::string method = word("--cp-comm-type");
    if (method.empty()) {
      plan_.assume_choice("parallelism.context_method", "ring", say("import.why.megatron"));
      return;
    }
    const std::string_view first = std::string_view(method).substr(0, method.find(' '));
    const std::string_view known = first == "a2a"                                  ? "ulysses"
                                   : first == "allgather" || first == "all_gather" ? "all_gather"
                                                                                   : "ring";
    plan_.state_choice("parallelism.context_method", known, origin("--cp-comm-type"), method);
    if (first != "a2a" && first != "allgather" && first != "all_gather" && first != "p2p")
      plan_.warn(say("import.nearest", "--cp-comm-type " + method, known), origin("--cp-comm-type").line);
  }

  // Which state the ranks that share a batch split, and so whether they are `data` or `fsdp`.
  void zero() {
    const bool distributed = flag("--use-distributed-optimizer");
    const Argument* fsdp = find("--use-megatron-fsdp");
    if (fsdp == nullptr) fsdp = find("--use-custom-fsdp");
    const Argument* torch = find("--use-torch-fsdp2");
    const Argument* stage = find("--zero-stage");
    int zero = 0;
    const Argument* because = nullptr;
    if (torch != nullptr) {
      zero = 3;
      because = torch;
    } else if (fsdp != nullptr) {
      const std::string strategy = word("--data-parallel-sharding-strategy");
      zero = strategy == "optim" ? 1 : strategy == "optim_grads" ? 2 : strategy == "optim_grads_params" ? 3 : 0;
      because = strategy.empty() ? fsdp : find("--data-parallel-sharding-strategy");
      if (zero == 0 && distributed) zero = 1;
    } else if (stage != nullptr && !stage->values.empty() && plain_number(stage->values.front().text)) {
      zero = static_cast<int>(std::clamp(*plain_number(stage->values.front().text), 0.0, 3.0));
      because = stage;
      if (zero == 0 && flag("--bf16")) plan_.warn(say("import.zero_of_fork", stage->written), stage->line);
    } else if (distributed) {
      zero = 1;
      because = find("--use-distributed-optimizer");
    }
    if (because != nullptr)
      plan_.state("parallelism.zero_stage", zero, because->origin(),
                  because->values.empty() ? "true" : because->value_text());
    else
      plan_.assume("parallelism.zero_stage", 0, say("import.why.megatron_zero"));
    plan_.rest = zero > 0 ? RestAxis::fsdp : RestAxis::data;
    if (const Argument* copies = find("--num-distributed-optimizer-instances"); copies != nullptr && zero > 0) {
      if (const auto number = whole("--num-distributed-optimizer-instances", "parallelism.data", 1, 65536);
          number && number.value())
        plan_.data = {*number.value(), copies->origin()};
    }
  }

  Failure stages() {
    const int pipeline = value("parallelism.pipeline", 1);
    const auto per_stage = whole("--num-layers-per-virtual-pipeline-stage", "pipeline.virtual_stages", 1, 10000);
    if (!per_stage) return per_stage.error();
    if (per_stage.value())
      plan_.layers_per_virtual_stage = {*per_stage.value(), origin("--num-layers-per-virtual-pipeline-stage")};
    if (const Argument* layout = find("--pipeline-model-parallel-layout")) {
      std::string text = layout->value_text();
      // Layers that predict further tokens are not part of the model here; a stage of one alone stays empty.
      if (text.find('m') != std::string::npos) {
        plan_.warn(say("import.layout_further", layout->written), layout->line);
        for (std::size_t i = text.find('m'); i != std::string::npos; i = text.find('m', i)) {
          std::size_t end = i + 1;
          if (end < text.size() && text[end] == '*')
            for (++end; end < text.size() && text[end] >= '0' && text[end] <= '9';) ++end;
          text.erase(i, end - i);
        }
      }
      plan_.layout = {std::move(text), layout->origin()};
    }
    const auto first = whole("--decoder-first-pipeline-num-layers", "pipeline.layers_per_stage", 0, 10000);
    if (!first) return first.error();
    const auto last = whole("--decoder-last-pipeline-num-layers", "pipeline.layers_per_stage", 0, 10000);
    if (!last) return last.error();
    if ((first.value() || last.value()) && pipeline > 1) uneven(pipeline, first.value(), last.value());
    const bool embedding = flag("--account-for-embedding-in-pipeline-split"),
               loss = flag("--account-for-loss-in-pipeline-split");
    if (embedding)
      plan_.state("pipeline.embedding_as_layers", 1, origin("--account-for-embedding-in-pipeline-split"), "true");
    if (loss) plan_.state("pipeline.head_as_layers", 1, origin("--account-for-loss-in-pipeline-split"), "true");
    if (const Argument* partition = find("--pp-partition-method");
        partition != nullptr && word("--pp-partition-method").find("embedding") != std::string::npos) {
      plan_.state("pipeline.embedding_as_layers", 1, partition->origin(), partition->value_text());
      plan_.state("pipeline.head_as_layers", 1, partition->origin(), partition->value_text());
    }
    schedule(pipeline);
    return std::nullopt;
  }

  // The first and the last stage have their own number of layers, those between share the rest.
  void uneven(int pipeline, std::optional<int> first, std::optional<int> last) {
    const int layers = value("model.n_layers", 0);
    const int between = pipeline - (first ? 1 : 0) - (last ? 1 : 0);
    const int rest = layers - first.value_or(0) - last.value_or(0);
    const Origin from = origin(first ? "--decoder-first-pipeline-num-layers" : "--decoder-last-pipeline-num-layers");
    const int chunks = value("pipeline.virtual_stages", 1);
    if (layers == 0 || between < 0 || rest < 0 || (between > 0 && rest % between != 0) ||
        (between == 0 && rest != 0) || plan_.layers_per_virtual_stage || chunks > 1) {
      plan_.fail(say("import.uneven_stages", from.key, layers, pipeline), from.line);
      return;
    }
    std::vector<int> list;
    for (int i = 0; i < pipeline; ++i)
      list.push_back(i == 0 && first ? *first : i == pipeline - 1 && last ? *last : rest / std::max(1, between));
    plan_.layers_per_stage = {std::move(list), from};
  }

  void schedule(int pipeline) {
    if (const Argument* argument = find("--zero-bubble-v-schedule")) {
      plan_.state_choice("pipeline.schedule", "zb-v", argument->origin(), "true");
      plan_.state("pipeline.virtual_stages", 2, argument->origin(), "true");
    } else if (const Argument* zero_bubble = find("--enable-zero-bubble")) {
      // 2 x pipeline backwards may wait: without a bubble of the span; as many as pipeline: with the memory of 1F1B.
      const std::string pending = word("--zero-bubble-max-pending-backward");
      const auto number = plain_number(pending);
      const bool twice = number && *number >= 2.0 * pipeline;
      plan_.state_choice("pipeline.schedule", twice ? "zb-h2" : "zb-h1", zero_bubble->origin(), "true");
      if (number && !twice && *number > pipeline)
        plan_.warn(say("import.nearest", "--zero-bubble-max-pending-backward " + pending, std::string("zb-h1")),
                   zero_bubble->line);
    } else if (const Argument* overlap = find("--overlap-moe-expert-parallel-comm");
               overlap != nullptr && pipeline > 1) {
      plan_.state_choice("pipeline.schedule", "overlapped-1f1b", overlap->origin(), "true");
    }
    // Without a flag it is 1F1B, interleaved where there are virtual stages.
  }

  void checkpointing() {
    const int layers = value("model.n_layers", 1), pipeline = value("parallelism.pipeline", 1);
    // Its older names first.
    for (const std::string_view name : {"--checkpoint-activations", "--activations-checkpoint-method"})
      if (const Argument* argument = find(name)) {
        plan_.state_choice("checkpointing.policy", "block", argument->origin(),
                           argument->values.empty() ? "true" : argument->value_text());
        if (const std::string count = word("--checkpoint-num-layers") + word("--activations-checkpoint-num-layers");
            !count.empty() && count != "1")
          plan_.warn(say("import.layers_of_checkpoints", count), argument->line);
        return;
      }
    const std::string granularity = word("--recompute-granularity");
    if (granularity == "full") {
      const Origin from = origin("--recompute-granularity");
      const auto count = plain_number(word("--recompute-num-layers"));
      const int n = count && *count >= 1 && *count <= layers ? static_cast<int>(*count) : 1;
      if (word("--recompute-method") == "block") {
        // The first n layers of each stage, or of each chunk of it.
        int chunks = value("pipeline.virtual_stages", 1);
        if (plan_.layers_per_virtual_stage)
          chunks = std::max(1, layers / pipeline / std::max(1, plan_.layers_per_virtual_stage->value));
        const int blocks = static_cast<int>(std::min<std::int64_t>(std::int64_t{n} * pipeline * chunks, layers));
        plan_.state_choice("checkpointing.policy", blocks == layers ? "block" : "some_blocks", from, "full, block");
        if (blocks < layers)
          plan_.state("checkpointing.blocks", blocks, origin("--recompute-num-layers"),
                      word("--recompute-num-layers"));
      } else if (n > 1) {
        plan_.state_choice("checkpointing.policy", "segments", from, "full, uniform");
        plan_.state("checkpointing.segments", std::max(1, (layers + n - 1) / n), origin("--recompute-num-layers"),
                    word("--recompute-num-layers"));
      } else {
        plan_.state_choice("checkpointing.policy", "block", from, granularity);
      }
    } else if (granularity == "selective" || flag("--recompute-activations")) {
      const Origin from = origin(granularity.empty() ? "--recompute-activations" : "--recompute-granularity");
      plan_.state_choice("checkpointing.policy", "attention", from, granularity.empty() ? "true" : granularity);
      const std::string modules = word("--recompute-modules");
      if (!modules.empty() && modules != "core_attn")
        plan_.warn(say("import.recompute_modules", modules), origin("--recompute-modules").line);
    } else if (!granularity.empty()) {
      plan_.fail(say("import.unknown_word", "--recompute-granularity " + granularity),
                 origin("--recompute-granularity").line);
    } else {
      plan_.assume_choice("checkpointing.policy", "none", say("import.why.megatron"));
    }
  }

  void precision() {
    const bool bf16 = flag("--bf16"), fp16 = flag("--fp16");
    const std::string_view half = bf16 ? "bf16" : fp16 ? "fp16" : "fp32";
    const std::string_view name = bf16 ? "--bf16" : "--fp16";
    const Argument* fp8 = find("--fp8-format");
    if (fp8 == nullptr) fp8 = find("--fp8-hybrid");
    if (const Argument* fp4 = find("--fp4-format")) {
      plan_.warn(say("import.nearest", fp4->written, std::string("fp8")), fp4->line);
      fp8 = fp4;
    }
    if (fp8 != nullptr)
      plan_.state_choice("precision.compute", "fp8", fp8->origin(), fp8->value_text());
    else if (bf16 || fp16)
      plan_.state_choice("precision.compute", half, origin(name), "true");
    else
      plan_.assume_choice("precision.compute", half, say("import.why.megatron_fp32"));
    if (bf16 || fp16)
      plan_.state_choice("precision.weights", half, origin(name), "true");
    else
      plan_.assume_choice("precision.weights", half, say("import.why.megatron_fp32"));
    if (const Argument* gather = find(flag("--fp8-param") ? "--fp8-param" : "--fp8-param-gather"))
      plan_.warn(say("import.fp8_weights", gather->written), gather->line);
    // Gradients are added up in fp32 for bf16, in their own precision for fp16.
    const std::string main_grads = word("--megatron-fsdp-main-grads-dtype");
    if (flag("--grad-reduce-in-bf16"))
      plan_.state_choice("precision.gradients", "bf16", origin("--grad-reduce-in-bf16"), "true");
    else if (main_grads == "bf16" || main_grads == "fp16" || main_grads == "fp32")
      plan_.state_choice("precision.gradients", main_grads, origin("--megatron-fsdp-main-grads-dtype"), main_grads);
    else if (flag("--accumulate-allreduce-grads-in-fp32"))
      plan_.state_choice("precision.gradients", "fp32", origin("--accumulate-allreduce-grads-in-fp32"), "true");
    else
      plan_.assume_choice("precision.gradients", fp16 ? "fp16" : "fp32", say("import.why.megatron"));
    plan_.assume_choice("precision.master_weights", bf16 || fp16 ? "fp32" : "none", say("import.why.megatron"));
    if (const std::string moments = word("--exp-avg-dtype"); moments == "bf16" || moments == "fp16")
      plan_.state_choice("precision.optimizer", "adam_bf16", origin("--exp-avg-dtype"), moments);
    else
      plan_.assume_choice("precision.optimizer", "adam_fp32", say("import.why.megatron"));
    if (const std::string optimizer = word("--optimizer"); !optimizer.empty() && optimizer != "adam")
      plan_.warn(say("import.nearest", "--optimizer " + optimizer, std::string("adam")), origin("--optimizer").line);
  }

  void offload() {
    if (const Argument* argument = find("--optimizer-cpu-offload")) {
      plan_.state("offload.optimizer", 1, argument->origin(), "true");
      if (const std::string share = word("--optimizer-offload-fraction");
          !share.empty() && plain_number(share) != 1.0)
        plan_.warn(say("import.offload_share", share), argument->line);
    }
    for (const std::string_view name : {"--cpu-offloading", "--fine-grained-activation-offloading"})
      if (const Argument* argument = find(name)) plan_.state("offload.activations", 1, argument->origin(), "true");
  }

  void leftovers() {
    for (const auto& [name, argument] : given_) {
      if (used_.contains(name) || !megatron_field_of(name).empty()) continue;
      if (megatron_without_effect(name))
        plan_.no_effect(argument.origin(), say("import.why.no_effect"));
      else
        plan_.not_understood(argument.origin());
    }
  }

  std::string_view file_;
  const PresetLibrary& library_;
  LaunchPlan& plan_;
  std::map<std::string, Argument, std::less<>> given_;  // the last of each flag
  std::set<std::string, std::less<>> used_, open_;
};

bool recognises_script(const LaunchSource& source) { return marks_of(launch_command(source.script)) >= 2; }

Result<LaunchPlan> read_script(const LaunchSource& source, const PresetLibrary& library) {
  LaunchPlan plan;
  const LaunchLine line = launch_line(launch_command(source.script));
  tell_gaps(source.script, plan);
  if (auto failure = read_launcher(source.script, line, source.file, plan)) return *std::move(failure);
  if (auto failure = MegatronReader(source.file, library, plan).read(line)) return *std::move(failure);
  return plan;
}

const Node* test_arguments(const LaunchSource& source) { return source.document.find("MODEL_ARGS"); }

bool recognises_yaml(const LaunchSource& source) {
  const Node* arguments = test_arguments(source);
  return arguments != nullptr && arguments->is_map() && !arguments->keys.empty() &&
         std::any_of(arguments->keys.begin(), arguments->keys.end(),
                     [](const std::string& key) { return key.starts_with("--"); });
}

// "--num-layers: 12" is the flag with its value, "--bf16: true" the flag alone, "false" and null no flag at all.
Result<LaunchPlan> read_yaml_arguments(const LaunchSource& source, const PresetLibrary& library) {
  const Node& arguments = *test_arguments(source);
  LaunchLine line;
  const auto put = [&](const Node& node) {
    ShellWord word{node.text, node.line};
    if (const std::size_t at = node.text.find('$'); at != std::string::npos && at + 1 < node.text.size()) {
      word.open = node.text.substr(at);
      word.substitution = node.text[at + 1] == '(';
    }
    line.arguments.push_back(std::move(word));
  };
  for (std::size_t i = 0; i < arguments.keys.size(); ++i) {
    const Node& value = arguments.items[i];
    if (value.is_null() || (value.kind == Node::Kind::boolean && value.number == 0)) continue;
    line.arguments.push_back({arguments.keys[i], value.line});
    if (value.is_list()) {
      for (const Node& item : value.items)
        if (item.is_scalar()) put(item);
    } else if (value.is_scalar() && value.kind != Node::Kind::boolean) {
      put(value);
    }
  }
  LaunchPlan plan;
  if (auto failure = MegatronReader(source.file, library, plan).read(line)) return *std::move(failure);
  return plan;
}

}  // namespace

const LaunchFormat megatron_launch{"megatron", "Megatron-LM", LaunchSyntax::shell, recognises_script, read_script};
const LaunchFormat megatron_yaml{"megatron-yaml", "Megatron-LM", LaunchSyntax::yaml, recognises_yaml,
                                 read_yaml_arguments};

}  // namespace roofscape::io
