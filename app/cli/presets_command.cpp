// roofscape-cli presets: the chips, clusters, models and scenarios there are.
#include <string>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/core/text_columns.h"
#include "engine/io/export/report_json.h"

namespace roofscape::app::cli {
namespace {

struct PresetsOptions {
  bool json = false;
};

void add_options(OptionList& list, PresetsOptions& options) { list.json(options.json); }

int run(const Context& context, const PresetsOptions& options) {
  if (options.json) return print(io::presets_json(context.library), kGood);
  std::string out;
  for (std::size_t kind = 0; kind < io::kPresetFolders.size(); ++kind) {
    Columns columns({false, false});
    for (const io::Preset& preset : context.library.list(static_cast<io::PresetKind>(kind)))
      columns.add({preset.id, preset.name});
    out +=
        std::string(context.texts.text("preset." + std::string(io::kPresetFolders[kind]))) + '\n' + columns.text(2);
  }
  return print(out, kGood);
}

}  // namespace

const Command presets_command = command<PresetsOptions, add_options, run>("presets", "cli.presets.command");

}  // namespace roofscape::app::cli
