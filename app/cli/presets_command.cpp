// roofscape-cli presets: the chips, clusters, models and scenarios there are; one of them; models and chips as tables.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/preset_document.h"
#include "app/core/preset_table.h"
#include "app/core/text_columns.h"
#include "engine/io/export/report_json.h"
#include "engine/io/json/nearest.h"

namespace roofscape::app::cli {

using engine::say;
namespace {

using io::PresetKind;

struct PresetsOptions {
  std::string what;  // a kind, or a preset
  bool table = false, csv = false, descending = false, json = false;
  std::string sort;  // id of a column
};

void add_options(OptionList& list, PresetsOptions& options) {
  list.optional("what", options.what, "cli.presets.what");
  list.flag("--table", options.table, "cli.presets.table");
  list.option("--sort", options.sort, "cli.presets.sort");
  list.flag("--descending", options.descending, "cli.presets.descending");
  list.flag("--csv", options.csv, "cli.presets.csv");
  list.json(options.json);
}

// "models" and "model".
std::optional<PresetKind> kind_of(const std::string& word) {
  for (std::size_t kind = 0; kind < io::kPresetKindIds.size(); ++kind)
    if (word == io::kPresetKindIds.ids()[kind] || word == io::kPresetFolders.ids()[kind])
      return static_cast<PresetKind>(kind);
  return std::nullopt;
}

std::string list_text(const Context& context, PresetKind kind) {
  Columns columns({false, false});
  for (const io::Preset& preset : context.library.list(kind)) columns.add({preset.id, preset.name});
  const std::string_view folder = io::kPresetFolders[kind];
  return std::string(context.texts.text("preset." + std::string(folder))) + '\n' + columns.text(2);
}

int print_table(const Context& context, const PresetsOptions& options) {
  const auto kind = kind_of(options.what);
  if (kind != PresetKind::model && kind != PresetKind::chip)
    return refuse(context.texts, {{}, {}, say("error.cli.presets.table"), say("error.cli.presets.table.remedy")});
  PresetTable table = *kind == PresetKind::model ? model_table(context.library) : chip_table(context.library);
  const std::string column = options.sort.empty() ? "id" : options.sort;
  if (!sort_by(table, column, options.descending)) {
    std::vector<std::string_view> ids;
    for (const PresetColumn& one : table.columns) ids.push_back(one.id);
    const std::string_view near = io::nearest_word(options.sort, ids);
    std::string all;
    for (const std::string_view id : ids) all += (all.empty() ? "" : ", ") + std::string(id);
    return refuse(context.texts, {{},
                                  "--sort",
                                  say("error.cli.presets.column", io::in_quotes(options.sort)),
                                  near.empty() ? say("error.there_are", all) : io::did_you_mean(near)});
  }
  return print(context.texts, options.csv ? csv_of(table) : text_of(table, context.texts), kGood);
}

// One preset, whichever kind has it: by its id first, then by what people call it.
int print_one(const Context& context, const PresetsOptions& options) {
  constexpr PresetKind kKinds[] = {PresetKind::model, PresetKind::chip, PresetKind::cluster, PresetKind::scenario};
  struct Found {
    PresetKind kind;
    const io::Preset* preset;
  };
  std::vector<Found> exact, full, found;
  std::vector<std::string_view> known(io::kPresetFolders.begin(), io::kPresetFolders.end());
  for (const PresetKind kind : kKinds) {
    for (const io::Preset& preset : context.library.list(kind)) known.push_back(preset.id);
    const io::PresetLibrary::Called called = context.library.called(kind, options.what);
    for (const io::Preset* preset : called.presets)
      (preset->id == options.what ? exact : called.in_full ? full : found).push_back({kind, preset});
  }
  if (!full.empty()) found = full;
  if (!exact.empty()) found = exact;
  if (found.empty()) {
    const std::string_view near = io::nearest_word(options.what, known);
    return refuse(context.texts, {{},
                                  {},
                                  say("error.cli.presets.none", io::in_quotes(options.what)),
                                  near.empty() ? say("error.preset.list") : io::did_you_mean(near)});
  }
  if (found.size() > 1) {
    std::string ids;
    for (const Found& one : found) ids += (ids.empty() ? "" : ", ") + one.preset->id;
    return refuse(
        context.texts,
        {{}, {}, say("error.cli.presets.several", io::in_quotes(options.what)), say("error.give_one", ids)});
  }
  if (!options.json) return print(context.texts, preset_document(context, found[0].kind, *found[0].preset), kGood);
  const auto file = io::preset_file(*found[0].preset);
  return file ? print(context.texts, file.value(), kGood) : refuse(context.texts, file.error());
}

int run(const Context& context, const PresetsOptions& options) {
  if (options.json && options.csv) return refuse_two_formats(context.texts);
  if (options.table || options.csv || options.descending || !options.sort.empty())
    return print_table(context, options);
  if (const auto kind = kind_of(options.what); kind && !options.json)
    return print(context.texts, list_text(context, *kind), kGood);
  if (!options.what.empty() && !kind_of(options.what)) return print_one(context, options);
  if (options.json) return print(context.texts, io::presets_json(context.library), kGood);
  std::string out;
  for (std::size_t kind = 0; kind < io::kPresetFolders.size(); ++kind)
    out += list_text(context, static_cast<PresetKind>(kind));
  return print(context.texts, out, kGood);
}

}  // namespace

const Command presets_command = command<PresetsOptions, add_options, run>("presets", "cli.presets.command");

}  // namespace roofscape::app::cli
