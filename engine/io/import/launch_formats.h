// The table of launch formats. A format is a file with its reader and a row here. For the .cpp files of engine/io.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/import/document.h"
#include "engine/io/import/launch_plan.h"
#include "engine/io/import/shell_script.h"
#include "engine/io/presets/preset_library.h"

namespace roofscape::io {

enum class LaunchSyntax { shell, yaml, toml, json };

// A text, parsed once by the syntax it is in.
struct LaunchSource {
  std::string_view file;
  std::string_view text;
  LaunchSyntax syntax = LaunchSyntax::shell;
  ShellScript script;              // shell
  Node document;                   // the others
  std::vector<std::string> notes;  // of Roofscape's own files (launch_notes.h)
};

struct LaunchFormat {
  std::string_view id, name;  // "megatron", "Megatron-LM"
  LaunchSyntax syntax;
  bool (*recognises)(const LaunchSource&);
  Result<LaunchPlan> (*read)(const LaunchSource&, const PresetLibrary&);
};

// Asked in this order; the first that recognises a source reads it.
std::span<const LaunchFormat* const> launch_formats();

// The syntax a text looks like.
LaunchSyntax syntax_of(std::string_view text);

extern const LaunchFormat megatron_launch, megatron_yaml, megatron_bridge_yaml_format, nemo_yaml_format,
    huggingface_config;
extern const LaunchFormat torchtitan_toml_format, torchtitan_json_format, torchtitan_line_format,
    accelerate_line_format, maxtext_yaml_format, maxtext_line_format, deepspeed_json_format, accelerate_yaml_format,
    nanotron_yaml_format, peft_json_format, vllm_line_format, sglang_line_format, trtllm_line_format,
    vllm_yaml_format, sglang_yaml_format;

}  // namespace roofscape::io
