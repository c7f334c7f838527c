#include "app/cli/command.h"

namespace roofscape::app::cli {

std::span<const Command* const> commands() {
#define COMMAND(name) &name##_command,
  static constexpr const Command* kCommands[] = {
#include "app/cli/commands.def"
  };
#undef COMMAND
  return kCommands;
}

}  // namespace roofscape::app::cli
