#include "app/cli/validate_command.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "engine/evidence/calibration_fit.h"
#include "engine/evidence/validation.h"
#include "engine/io/json/files.h"
#include "engine/io/presets/evidence_files.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::app::cli {

namespace {

std::optional<engine::Mode> parse_mode(const std::string& word) {
  const engine::Field* field = engine::find_field("assumptions.mode");
  for (std::size_t i = 0; i < field->choices.size(); ++i)
    if (field->choices[i] == word) return static_cast<engine::Mode>(i);
  return std::nullopt;
}

// Those of a file, or without one those that ship.
io::Result<std::vector<io::Measurement>> measurements(const Context& context) {
  if (!context.options.scenario.empty()) return io::load_measurements(context.options.scenario);
  auto shipped = io::load_evidence(context.library);
  if (!shipped) return shipped.error();
  return std::move(shipped.value().entries);
}

}  // namespace

int validate(const Context& context) {
  const auto mode = parse_mode(context.options.mode);
  if (!mode) {
    complain({{},
              {},
              "unknown mode " + io::in_quotes(context.options.mode),
              "give " + engine::domain_text(*engine::find_field("assumptions.mode"))});
    return kBadInput;
  }
  const auto entries = measurements(context);
  if (!entries) {
    complain(entries.error());
    return kBadInput;
  }
  const io::Validation validation = io::validate(entries.value(), context.library, *mode);
  return print(context.options.json ? io::validation_json(validation, *mode) : io::validation_text(validation),
               kGood);
}

}  // namespace roofscape::app::cli
