// Slurm's header of a script. For the .cpp files of engine/io/import.
#pragma once

#include <string_view>

#include "engine/io/import/shell_script.h"

namespace roofscape::io {

// "#SBATCH --nodes=16", "#SBATCH -N 16", "#SBATCH -N16", with the long names of options.
void read_sbatch(std::string_view text, ShellScript& out);

}  // namespace roofscape::io
