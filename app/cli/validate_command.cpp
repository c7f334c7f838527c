#include "app/cli/validate_command.h"

#include "engine/io/validation.h"
#include "engine/scenario_fields.h"

namespace roofscape::app::cli {

namespace {

std::optional<engine::Mode> parse_mode(const std::string& word) {
  const engine::Field* field = engine::find_field("assumptions.mode");
  for (std::size_t i = 0; i < field->choices.size(); ++i)
    if (field->choices[i] == word) return static_cast<engine::Mode>(i);
  return std::nullopt;
}

}  // namespace

int validate(const Context& context) {
  const auto mode = parse_mode(context.options.mode);
  if (!mode) {
    complain({{}, {}, "unknown mode " + io::in_quotes(context.options.mode),
              "give " + engine::domain_text(*engine::find_field("assumptions.mode"))});
    return kBadInput;
  }
  const auto entries = io::load_measurements(context.options.scenario);
  if (!entries) {
    complain(entries.error());
    return kBadInput;
  }
  const io::Validation validation = io::validate(entries.value(), context.library, *mode);
  return print(context.options.json ? io::validation_json(validation, *mode) : io::validation_text(validation), kGood);
}

}  // namespace roofscape::app::cli
