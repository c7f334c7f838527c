// The writers of each framework's file. For the .cpp files of engine/io. Precondition of each: the framework runs the plan.
#pragma once

#include <string>

#include "engine/io/export/launch_text.h"

namespace roofscape::io {

// A Megatron-LM script with this command before the program's name ("torchrun --nproc_per_node 8 ...") and these lines
// between the shebang and everything else.
std::string megatron_script(LaunchText&, const std::string& job, const std::string& launcher);
std::string megatron_bridge_yaml(LaunchText&);
std::string torchtitan_toml(LaunchText&);
std::string maxtext_yaml(LaunchText&);
std::string jax_python(LaunchText&);
std::string deepspeed_json_text(LaunchText&);
// `job` and `launcher` as above.
std::string vllm_script(LaunchText&, const std::string& job, const std::string& launcher);
// A server's command, to which more flags may be given, as its launcher starts it on so many nodes. Each of several nodes
// has its own rank, which only a shell on the node knows: $SLURM_NODEID in the command, and $MASTER_ADDR.
std::string start_server(const std::string& command, const std::string& launcher, int nodes);
std::string sglang_script(LaunchText&, const std::string& job, const std::string& launcher);
std::string trtllm_script(LaunchText&, const std::string& job, const std::string& launcher);

// Tokens of the longest sequence that a workload of a server has.
int longest_sequence(const engine::Workload&);

}  // namespace roofscape::io
