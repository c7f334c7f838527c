// roofscape-cli import: a launch script or configuration file as a scenario, with a receipt.
#include <optional>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/scenario_input.h"
#include "app/core/receipt_text.h"
#include "engine/io/import/open_scenario.h"
#include "engine/io/json/files.h"
#include "engine/io/scenario/scenario_json.h"

namespace roofscape::app::cli {
namespace {

using engine::say;

struct ImportOptions {
  std::string file, cluster, output;
  std::vector<std::string> words, set, environment;
  bool json = false;
};

void add_options(OptionList& list, ImportOptions& options) {
  list.required("file", options.file, "cli.import.file");
  list.optional("words", options.words, "cli.import.words");
  list.option("--cluster", options.cluster, "cli.cluster");
  list.set(options.set);
  list.repeated("--env", options.environment, "cli.env");
  list.option("-o,--output", options.output, "cli.import.output");
  list.json(options.json);
}

io::Result<io::Imported> import(const Context& context, const ImportOptions& options) {
  const io::ImportRequest request{options.cluster, io::ordered_edits(options.set), options.environment};
  if (!options.words.empty()) {
    std::vector<std::string> words{options.file};
    words.insert(words.end(), options.words.begin(), options.words.end());
    return io::import_words(words, request, context.library);
  }
  const std::string file = file_meant(options.file);
  const auto text = io::read_file(file);
  if (const io::Preset* model = text ? nullptr : io::model_meant(options.file, context.library))
    return io::import_model(*model, request, context.library);
  if (!text) return text.error();
  return io::import_launch(text.value(), file, request, context.library);
}

int run(const Context& context, const ImportOptions& options) {
  const auto imported = import(context, options);
  if (!imported) return refuse(context.texts, imported.error());
  const int code = imported->has_errors() ? kHasErrors : kGood;
  if (!options.output.empty()) {
    if (!imported->missing.empty())
      return refuse(context.texts, {options.file,
                                    {},
                                    say("error.import.incomplete", imported->missing.front().field),
                                    say("error.import.incomplete.remedy", imported->missing.front().option)});
    const int written =
        write_output(context.texts, options.output, io::write_scenario(imported->scenario, context.library), code);
    // On standard output the scenario stands alone.
    if (written == kBadInput || options.output == kStandardOutput) return written;
  }
  return print(context.texts,
               options.json ? io::receipt_json(imported.value(), context.library, context.texts)
                            : receipt_text(imported.value(), options.file, context.texts),
               code);
}

}  // namespace

const Command import_command = command<ImportOptions, add_options, run>("import", "cli.import");

}  // namespace roofscape::app::cli
