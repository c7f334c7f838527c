// roofscape-cli validate [FILE]: predictions against the measurements of a file, or those that ship.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/validation_json.h"
#include "app/core/text_columns.h"
#include "engine/evidence/validation.h"
#include "engine/io/presets/evidence_files.h"
#include "engine/scenario/scenario_fields.h"
#include "widgets/canvas/number_format.h"

namespace roofscape::app::cli {

using engine::say;

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

std::string percent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }
std::string signed_percent(double fraction) { return fmt::format("{:+.1f} %", 100 * fraction); }

std::string validation_text(const widgets::TextTable& texts, const evidence::Validation& validation) {
  const auto word = [&texts](const char* key) { return std::string(texts.text(key)); };
  Columns rows({false, false, true, true, true, false});
  rows.add({word("cli.validate.head.entry"),
            word("cli.validate.head.quantity"),
            word("cli.validate.head.measured"),
            word("cli.validate.head.predicted"),
            word("cli.validate.head.error"),
            {}});
  for (const evidence::ValidationRow& row : validation.rows)
    rows.add({row.id, row.quantity, fmt::format("{:.5g}", row.measured),
              row.predicted ? fmt::format("{:.5g}", *row.predicted) : std::string(widgets::kNoValue),
              row.predicted ? signed_percent(row.error) : std::string(),
              !row.predicted            ? texts.write(row.reason)
              : row.false_out_of_memory ? word("cli.validate.false_oom")
                                        : std::string()});
  std::string out = rows.text(0);
  const auto table = [&](const char* head, const std::vector<evidence::ValidationSummary>& list) {
    Columns summaries({false, true, true, true, true, true, true, true, true});
    summaries.add({word(head), word("cli.validate.head.n"), word("cli.validate.head.median"),
                   word("cli.validate.head.mean"), word("cli.validate.head.p90"), word("cli.validate.head.worst"),
                   word("cli.validate.head.bias"), word("cli.validate.head.false_oom"),
                   word("cli.validate.head.not_predicted")});
    for (const evidence::ValidationSummary& s : list) {
      std::vector<std::string> cells{s.name, std::to_string(s.n)};
      for (const double error : {s.median, s.mean, s.p90, s.worst})
        cells.push_back(s.n > 0 ? percent(error) : std::string(widgets::kNoValue));
      cells.push_back(s.n > 0 ? signed_percent(s.bias) : std::string(widgets::kNoValue));
      for (const std::size_t count : {s.false_out_of_memory, s.not_predicted}) cells.push_back(std::to_string(count));
      summaries.add(std::move(cells));
    }
    out += "\n" + summaries.text(0);
  };
  table("cli.validate.head.family", validation.families);
  table("cli.validate.head.kind", validation.kinds);
  table("cli.validate.head.overall", {validation.overall});
  return out;
}

int run(const Context& context, const ValidateOptions& options) {
  const auto mode = parse_mode(options.mode);
  if (!mode)
    return refuse(context.texts, {{},
                                  {},
                                  say("error.cli.mode", io::in_quotes(options.mode)),
                                  say("error.give", engine::domain_of(*engine::find_field("assumptions.mode")))});
  const auto entries = measurements(context, options.file);
  if (!entries) return refuse(context.texts, entries.error());
  const evidence::Validation validation = evidence::validate(entries.value(), context.library, *mode);
  return print(
      context.texts,
      options.json ? validation_json(validation, *mode, context.texts) : validation_text(context.texts, validation),
      kGood);
}

}  // namespace

const Command validate_command = command<ValidateOptions, add_options, run>("validate", "cli.validate");

}  // namespace roofscape::app::cli
