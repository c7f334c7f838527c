// roofscape-cli validate [FILE]: predictions against the measurements of a file, or those that ship.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "engine/evidence/validation.h"
#include "engine/io/presets/evidence_files.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::app::cli {

namespace {

struct ValidateOptions {
  std::string file;  // of measurements; empty: those that ship
  std::string mode = "calibrated";
  bool json = false;
};

void add_options(OptionList& list, ValidateOptions& options) {
  list.optional("file", options.file, "cli.validate.shipped");
  list.option("--mode", options.mode, "cli.validate.mode");
  list.json(options.json);
}

std::optional<engine::Mode> parse_mode(const std::string& word) {
  const engine::Field* field = engine::find_field("assumptions.mode");
  for (std::size_t i = 0; i < field->choices.size(); ++i)
    if (field->choices[i] == word) return static_cast<engine::Mode>(i);
  return std::nullopt;
}

// Those of a file, or without one those that ship.
io::Result<std::vector<io::Measurement>> measurements(const Context& context, const std::string& file) {
  if (!file.empty()) return io::load_measurements(file);
  auto shipped = io::load_evidence(context.library);
  if (!shipped) return shipped.error();
  return std::move(shipped.value().entries);
}

int run(const Context& context, const ValidateOptions& options) {
  const auto mode = parse_mode(options.mode);
  if (!mode)
    return refuse({{},
                   {},
                   "unknown mode " + io::in_quotes(options.mode),
                   "give " + engine::domain_text(*engine::find_field("assumptions.mode"))});
  const auto entries = measurements(context, options.file);
  if (!entries) return refuse(entries.error());
  const evidence::Validation validation = evidence::validate(entries.value(), context.library, *mode);
  return print(options.json ? evidence::validation_json(validation, *mode) : evidence::validation_text(validation),
               kGood);
}

}  // namespace

const Command validate_command = command<ValidateOptions, add_options, run>("validate", "cli.validate");

}  // namespace roofscape::app::cli
