// A plan for Megatron-LM, as a shell script, and for Megatron Bridge, as the YAML of its overrides.
#include <map>

#include "engine/io/export/flag_writers.h"
#include "engine/io/export/megatron_settings.h"

namespace roofscape::io {

using engine::say;

std::string megatron_script(LaunchText& text, const std::string& job, const std::string& launcher) {
  const std::vector<MegatronSetting> settings = megatron_settings(text, false);
  const engine::Scenario& s = text.scenario();
  const bool blocks = s.kernels.launch == engine::KernelLaunch::blocking;
  if (blocks) text.said({"kernels.launch"});
  std::string out = "#!/bin/bash\n" + job + text.header() + "\n";
  // Megatron Core asks for it where tensor or context ranks overlap their transfers; its FSDP asks for the opposite.
  if ((s.parallelism.tensor > 1 || s.parallelism.context > 1) && s.parallelism.zero_stage < 2)
    out += "export CUDA_DEVICE_MAX_CONNECTIONS=1\n\n";
  if (blocks) out += "export CUDA_LAUNCH_BLOCKING=1\n\n";
  for (const std::string_view group : {"MODEL", "PARALLEL", "TRAINING"}) {
    out += std::string(group) + "_ARGS=(\n";
    for (const MegatronSetting& one : settings)
      if (one.group == group && !one.flag.empty()) out += "    " + one.flag + "\n";
    out += ")\n";
  }
  out += "\n# " + text.text(say("export.rest")) + "\n";
  out += launcher + " pretrain_gpt.py \\\n    \"${MODEL_ARGS[@]}\" \\\n    \"${PARALLEL_ARGS[@]}\" \\\n" +
         "    \"${TRAINING_ARGS[@]}\" \\\n    \"$@\"\n";
  return out;
}

std::string megatron_bridge_yaml(LaunchText& text) {
  const std::vector<MegatronSetting> settings = megatron_settings(text, true);
  std::vector<std::string> sections;
  std::map<std::string, std::string> lines;
  std::string top;
  for (const MegatronSetting& one : settings) {
    if (one.key.empty()) continue;
    const std::size_t dot = one.key.find('.');
    if (dot == std::string::npos) {
      top += one.key + ": " + one.value + "\n";
      continue;
    }
    const std::string section = one.key.substr(0, dot);
    if (!lines.contains(section)) sections.push_back(section);
    lines[section] += "  " + one.key.substr(dot + 1) + ": " + one.value + "\n";
  }
  std::string out = text.header();
  for (const std::string& section : sections) out += section + ":\n" + lines[section];
  return out + top;
}

}  // namespace roofscape::io
