#include "engine/io/export/export_flags.h"

#include <fmt/format.h>

#include "engine/frameworks/rules.h"
#include "engine/io/export/flag_writers.h"
#include "engine/io/export/runs_on.h"
#include "engine/scenario/mesh_size.h"

namespace roofscape::io {

using engine::Framework;
using engine::say;
using engine::Scenario;

namespace {

Failure refuse(const Scenario& s, Framework framework) {
  if (engine::broken_rule(framework, s) == nullptr) return std::nullopt;
  return cannot_run(s, framework);
}

std::string torchrun(const engine::JobSize& size) {
  std::string out = fmt::format("torchrun --nproc_per_node {} --nnodes {}", size.per_node, size.nodes);
  if (size.nodes > 1)
    out += " --node_rank ${NODE_RANK:-0} --master_addr ${MASTER_ADDR:-localhost} --master_port ${MASTER_PORT:-29500}";
  return out;
}

// Lines of a job's header, and the command that starts one launcher on each node.
std::string slurm_header(const engine::JobSize& size, bool gpus) {
  std::string out =
      fmt::format("#SBATCH --job-name=plan\n#SBATCH --nodes={}\n#SBATCH --ntasks-per-node=1\n", size.nodes);
  if (gpus) out += fmt::format("#SBATCH --gpus-per-node={}\n", size.per_node);
  return out + "#SBATCH --exclusive\n";
}
constexpr std::string_view kFirstNode = "scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1";
std::string slurm_torchrun(const engine::JobSize& size) {
  return fmt::format(
      "srun torchrun --nproc_per_node {} --nnodes {} --rdzv_id $SLURM_JOB_ID --rdzv_backend c10d "
      "--rdzv_endpoint $({}):29500",
      size.per_node, size.nodes, kFirstNode);
}

// The program that reads the file, with the file.
std::string program_of(Framework framework) {
  const std::string file(usual_file_name(framework));
  switch (framework) {
    case Framework::megatron_bridge:
      return "scripts/training/run_recipe.py --config_file " + file;
    case Framework::torchtitan:
      return "-m torchtitan.train --job.config_file " + file;
    case Framework::maxtext:
      return "python3 -m maxtext.trainers.pre_train.train " + file;
    case Framework::jax:
      return "python3 " + file;
    case Framework::deepspeed:
      return "train.py --deepspeed --deepspeed_config " + file;
    case Framework::megatron:
    case Framework::vllm:
    case Framework::sglang:
    case Framework::trtllm:
      break;
  }
  return {};
}

bool uses_torchrun(Framework framework) {
  return framework == Framework::megatron || framework == Framework::megatron_bridge ||
         framework == Framework::torchtitan || framework == Framework::deepspeed;
}

}  // namespace

std::string start_server(const std::string& command, const std::string& launcher, int nodes) {
  if (launcher.empty()) return command + " \\\n    \"$@\"\n";
  if (nodes == 1) return launcher + " " + command + " \\\n    \"$@\"\n";
  std::string quoted;
  for (const char c : command) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return fmt::format("export MASTER_ADDR=$({})\n{} bash -c '{} \\\n    \"$@\"' server \"$@\"\n", kFirstNode, launcher,
                     quoted);
}

std::string_view usual_file_name(Framework framework) {
  switch (framework) {
    case Framework::megatron:
    case Framework::vllm:
    case Framework::sglang:
    case Framework::trtllm:
      return "plan.sh";
    case Framework::megatron_bridge:
    case Framework::maxtext:
      return "plan.yaml";
    case Framework::torchtitan:
      return "plan.toml";
    case Framework::jax:
      return "plan.py";
    case Framework::deepspeed:
      return "plan.json";
  }
  return {};
}

Result<std::string> export_flags(const Scenario& s, Framework framework, const PresetLibrary& library,
                                 const engine::Words& words) {
  if (auto failure = refuse(s, framework)) return *std::move(failure);
  LaunchText text(s, framework, library, words);
  switch (framework) {
    case Framework::megatron:
      return megatron_script(text, {}, torchrun(engine::job_size(s)));
    case Framework::megatron_bridge:
      return megatron_bridge_yaml(text);
    case Framework::torchtitan:
      return torchtitan_toml(text);
    case Framework::maxtext:
      return maxtext_yaml(text);
    case Framework::jax:
      return jax_python(text);
    case Framework::deepspeed:
      return deepspeed_json_text(text);
    case Framework::vllm:
      return vllm_script(text, {}, {});
    case Framework::sglang:
      return sglang_script(text, {}, {});
    case Framework::trtllm:
      return trtllm_script(text, {}, {});
  }
  return std::string();
}

Result<std::string> launch_script(const Scenario& s, Framework framework, Launcher launcher,
                                  const PresetLibrary& library, const engine::Words& words) {
  if (auto failure = refuse(s, framework)) return *std::move(failure);
  const bool by_torchrun = uses_torchrun(framework);
  if (launcher == Launcher::torchrun && !by_torchrun)
    return InputError{"--launcher",
                      {},
                      say("error.export.launcher", framework_name(framework)),
                      say("error.give", kLauncherIds[Launcher::sbatch])};
  const engine::JobSize size = engine::job_size(s);
  const bool gpus = s.cluster.chip.interconnect == engine::Interconnect::switched;
  const std::string job = launcher == Launcher::sbatch ? slurm_header(size, gpus) : std::string();
  std::string start;
  if (by_torchrun)
    start = launcher == Launcher::sbatch ? slurm_torchrun(size) : torchrun(size);
  else
    start = "srun";
  LaunchText text(s, framework, library, words);
  if (framework == Framework::megatron) return megatron_script(text, job, start);
  if (framework == Framework::vllm) return vllm_script(text, job, start);
  if (framework == Framework::sglang) return sglang_script(text, job, start);
  if (framework == Framework::trtllm) return trtllm_script(text, job, start);
  std::string out = "#!/bin/bash\n" + job;
  out += text.comment(say("export.script", usual_file_name(framework), engine::kFrameworkIds[framework]));
  return out + start + " " + program_of(framework) + " \"$@\"\n";
}

}  // namespace roofscape::io
