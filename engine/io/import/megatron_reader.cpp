// The flags of a launch, one by one, and what nobody asked for.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "engine/io/import/document.h"
#include "engine/io/import/megatron_flags.h"
#include "engine/io/import/megatron_reader.h"
#include "engine/io/import/repeated_list.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::io {

using engine::say;

Failure MegatronReader::read(const ShellWord& program, Arguments arguments) {
  for (const ShellWord& word : arguments.others)
    if (!word.open.empty()) plan_.warn(say("import.open_arguments", word.text), word.line);
  if (auto failure = refuse_programs(program, arguments)) return failure;
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
  kernels();
  precision();
  offload();
  leftovers();
  return std::nullopt;
}

bool MegatronReader::decides(std::string_view flag) {
  return !megatron_not_modelled(flag) && !megatron_without_effect(flag);
}

InputError MegatronReader::at(const Argument& argument, engine::Sentence message, engine::Sentence remedy) const {
  InputError error = line_error(file_, argument.line, std::move(message), std::move(remedy));
  error.path = argument.written;
  return error;
}

Failure MegatronReader::refuse_programs(const ShellWord& started, const Arguments& arguments) const {
  constexpr std::pair<std::string_view, std::string_view> kPrograms[] = {
      {"pretrain_t5", "T5"},        {"pretrain_bert", "BERT"},   {"pretrain_ict", "ICT"},
      {"pretrain_mamba", "Mamba"},  {"pretrain_retro", "Retro"}, {"pretrain_vision", "ViT"},
      {"pretrain_hybrid", "Mamba"}, {"pretrain_vlm", "VLM"}};
  for (const auto& [program, name] : kPrograms)
    if (started.text.find(program) != std::string::npos)
      return line_error(file_, started.line, say("error.import.other_model", started.text, name),
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

Failure MegatronReader::take(Argument argument) {
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

Result<std::optional<double>> MegatronReader::number(const Argument& argument, std::string_view field) {
  if (argument.values.empty()) return at(argument, say("error.import.no_value"), say("error.import.number.remedy"));
  const ShellWord& value = argument.values.front();
  if (!value.open.empty()) {
    open(argument, value, field);
    return std::optional<double>();
  }
  if (value.text == "None") return std::optional<double>();
  const auto read = plain_number(value.text);
  if (!read) return at(argument, say("error.not_a_number", in_quotes(value.text)), say("error.import.number.remedy"));
  return read;
}

Result<std::optional<int>> MegatronReader::whole(std::string_view flag, std::string_view field, int least, int most) {
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

void MegatronReader::open(const Argument& argument, const ShellWord& value, std::string_view field) {
  plan_.fail(value.substitution ? say("import.open_substitution", argument.written, value.text)
                                : say("import.open_value", argument.written, value.text),
             argument.line);
  plan_.missing.push_back({std::string(field), "--set " + std::string(field) + "=..."});
  open_.insert(std::string(field));
}

const Argument* MegatronReader::find(std::string_view flag) {
  asked_.emplace(flag);
  const auto found = given_.find(flag);
  return found == given_.end() ? nullptr : &found->second;
}

std::string MegatronReader::word(std::string_view name) {
  const Argument* argument = find(name);
  return argument == nullptr ? std::string() : argument->value_text();
}

std::string MegatronReader::written(std::string_view name) {
  const Argument* argument = find(name);
  return argument == nullptr ? "true" : argument->switch_text();
}

Origin MegatronReader::origin(std::string_view name) {
  const Argument* argument = find(name);
  return argument == nullptr ? Origin{} : argument->origin();
}

int MegatronReader::value(std::string_view field, int fallback) const {
  const auto found = plan_.value_of(field);
  return found && *found >= 1 && *found <= (1 << 24) ? static_cast<int>(*found) : fallback;
}

bool MegatronReader::has(std::string_view field) const {
  return plan_.value_of(field).has_value() || open_.contains(std::string(field));
}

void MegatronReader::tell(std::string_view field, bool on, std::string_view flag_name) {
  if (const Argument* argument = find(flag_name))
    plan_.state(field, on ? 1 : 0, argument->origin(), argument->switch_text());
  else
    plan_.assume(field, on ? 1 : 0, say("import.why.megatron"));
}

int MegatronReader::stated_line(std::string_view field) const {
  const StatedField* stated = plan_.stated(field);
  return stated == nullptr ? 0 : stated->origin.line;
}

std::optional<engine::Sentence> MegatronReader::why_without_field(const Argument& argument) const {
  constexpr std::string_view kNo = "--no-";
  const std::string_view name = argument.flag;
  // Most --no- turn off what has no effect. Where what they turn off has one, it is not said that they have none.
  if (name.starts_with(kNo)) {
    const std::string of = fmt::format("--{}", name.substr(kNo.size()));
    if (asked_.contains(of) || !megatron_field_of(of).empty()) return std::nullopt;
  }
  // What is priced of the traffic between experts is an AllToAll, and their matrices are multiplied together.
  const std::string value = argument.value_text();
  if (name == "--moe-grouped-gemm" ||
      (name == "--moe-token-dispatcher-type" && (value == "alltoall" || value == "flex")))
    return say("import.ignored.as_counted");
  if (megatron_overlaps(name)) return say("import.ignored.overlap");
  const bool drops_nothing = name.ends_with("-dropout") && plain_number(value) == 0.0;
  if (megatron_not_modelled(name) && !drops_nothing) return say("import.ignored.not_modelled");
  if (megatron_without_effect(name) || drops_nothing) return say("import.why.no_effect");
  return std::nullopt;
}

void MegatronReader::leftovers() {
  for (const auto& [name, argument] : given_) {
    if (asked_.contains(name) || !megatron_field_of(name).empty()) continue;
    if (std::optional<engine::Sentence> why = why_without_field(argument))
      plan_.no_effect(argument.origin(), *std::move(why));
    else
      plan_.not_understood(argument.origin());
  }
}

}  // namespace roofscape::io
