// Slurm's header of a script. For the .cpp files of engine/io/import.
#pragma once

#include "engine/io/import/shell_script.h"
#include "engine/io/import/shell_text.h"

namespace roofscape::io {

// "#SBATCH --nodes=16", "#SBATCH -N 16", "#SBATCH -N16", with the long names of options.
void read_sbatch(const ShellSource& source, ShellScript& out);

}  // namespace roofscape::io
