// A plan as the files of launchers and servers: complete for what their files can say, with the rest in comments that the
// import of the same file reads back (launch_text.h).
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/enum_table.h"
#include "engine/base/sentence.h"
#include "engine/frameworks/framework.h"
#include "engine/io/json/result.h"
#include "engine/io/presets/preset_library.h"
#include "engine/scenario/scenario.h"

namespace roofscape::io {

// What starts the processes: torchrun on every node, or a job of Slurm.
enum class Launcher : std::uint8_t { torchrun, sbatch };
inline constexpr engine::EnumTable<Launcher> kLauncherIds{"torchrun", "sbatch"};

// The file that a framework reads: a script for Megatron-LM and the servers, YAML, TOML, JSON or Python for the others. The
// words are those of comments. Errors: a rule of the framework that the plan breaks, with the nearest plan that it runs.
Result<std::string> export_flags(const engine::Scenario&, engine::Framework, const PresetLibrary&,
                                 const engine::Words&);
// The script that starts it on the nodes of the cluster; of a framework that reads a file with the file's name in it.
// Errors, besides: a launcher that does not start such processes.
Result<std::string> launch_script(const engine::Scenario&, engine::Framework, Launcher, const PresetLibrary&,
                                  const engine::Words&);

// How the file is called where nothing else is said: "plan.toml".
std::string_view usual_file_name(engine::Framework);

}  // namespace roofscape::io
