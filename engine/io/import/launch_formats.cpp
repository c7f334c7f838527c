#include "engine/io/import/launch_formats.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/io/huggingface/hf_config.h"

namespace roofscape::io {

namespace {

constexpr std::array kLaunchFormats{
    &peft_json_format,       &huggingface_config,     &torchtitan_toml_format, &torchtitan_json_format,
    &deepspeed_json_format,  &maxtext_line_format,    &vllm_line_format,       &sglang_line_format,
    &trtllm_line_format,     &torchtitan_line_format, &accelerate_line_format, &megatron_launch,
    &accelerate_yaml_format, &nanotron_yaml_format,   &nemo_yaml_format,       &megatron_bridge_yaml_format,
    &maxtext_yaml_format,    &megatron_yaml,          &vllm_yaml_format,       &sglang_yaml_format};

std::string_view next_row(std::string_view& text) {
  const std::size_t stop = std::min(text.find('\n'), text.size());
  std::string_view row = text.substr(0, stop);
  text.remove_prefix(std::min(stop + 1, text.size()));
  while (!row.empty() && (row.back() == '\r' || row.back() == ' ' || row.back() == '\t')) row.remove_suffix(1);
  return row;
}

bool key_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

}  // namespace

std::span<const LaunchFormat* const> launch_formats() { return kLaunchFormats; }

// A `{` begins JSON. A script has its first line, a launcher, flags or assignments without blanks; TOML has [tables] and
// `key = value`; YAML `key: value` and `- item`. The first row that decides counts.
LaunchSyntax syntax_of(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') return LaunchSyntax::json;
  if (text.starts_with("#!")) return LaunchSyntax::shell;
  while (!text.empty()) {
    std::string_view row = next_row(text);
    const std::size_t begin = row.find_first_not_of(" \t");
    if (begin == std::string_view::npos || row[begin] == '#') continue;
    row.remove_prefix(begin);
    if (row == "---" || row.starts_with("- ") || row.starts_with("%YAML")) return LaunchSyntax::yaml;
    if (row.ends_with('\\') || row.starts_with("export ")) return LaunchSyntax::shell;
    if (row.starts_with('['))
      return row.starts_with("[ ") || row.starts_with("[[ ") ? LaunchSyntax::shell : LaunchSyntax::toml;
    std::size_t end = 0;
    if (row[0] == '"' || row[0] == '\'')
      end = row.find(row[0], 1) == std::string_view::npos ? row.size() : row.find(row[0], 1) + 1;
    else
      while (end < row.size() && key_character(row[end])) ++end;
    const std::string_view rest = row.substr(end);
    if (end > 0 && rest.starts_with(':') && (rest.size() == 1 || rest[1] == ' ')) return LaunchSyntax::yaml;
    const std::size_t blank = rest.find_first_not_of(" \t");
    if (end > 0 && blank != std::string_view::npos && rest[blank] == '=' && !rest.substr(blank).starts_with("==") &&
        (blank > 0 || rest.substr(blank).starts_with("= ")))
      return LaunchSyntax::toml;
    return LaunchSyntax::shell;
  }
  return LaunchSyntax::shell;
}

namespace {

bool is_config(const LaunchSource& source) { return is_hf_config(source.text); }

Result<LaunchPlan> read_config(const LaunchSource& source, const PresetLibrary&) {
  auto model = read_hf_config(source.text, source.file);
  if (!model) return model.error();
  LaunchPlan plan;
  plan.name = model->shape.name;
  const Node* type = source.document.find("model_type");
  plan.shape = {model->shape, {"model_type", type != nullptr ? type->line : 0}};
  if (model->stored) {
    const Node* config = source.document.find("quantization_config");
    plan.stored = {std::move(*model->stored), {"quantization_config", config != nullptr ? config->line : 0}};
  }
  for (std::string& note : model->notes) plan.warn(std::move(note));
  plan.model_only = true;
  plan.rest = RestAxis::fsdp;
  return plan;
}

}  // namespace

const LaunchFormat huggingface_config{"huggingface", "Hugging Face config.json", LaunchSyntax::json, is_config,
                                      read_config};

}  // namespace roofscape::io
