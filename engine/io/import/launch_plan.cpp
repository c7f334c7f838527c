#include "engine/io/import/launch_plan.h"

#include <algorithm>

#include "engine/scenario/scenario_fields.h"

namespace roofscape::io {

namespace {

// The place of a word among the choices of a field; readers name only words that are there.
double choice_value(std::string_view path, std::string_view word) {
  const engine::Field* field = engine::find_field(path);
  if (field == nullptr) return -1;
  const auto found = std::find(field->choices.begin(), field->choices.end(), word);
  return found == field->choices.end() ? -1 : static_cast<double>(found - field->choices.begin());
}

}  // namespace

void LaunchPlan::state(std::string_view path, double value, Origin origin, std::string written) {
  fields.push_back({std::string(path), value, std::move(written), std::move(origin)});
}

void LaunchPlan::state_choice(std::string_view path, std::string_view word, Origin origin, std::string written) {
  state(path, choice_value(path, word), std::move(origin), std::move(written));
}

void LaunchPlan::restate_choice(std::string_view path, std::string_view word, Origin origin, std::string written) {
  std::erase_if(fields, [path](const StatedField& field) { return field.path == path; });
  state_choice(path, word, std::move(origin), std::move(written));
}

void LaunchPlan::assume(std::string_view path, double value, engine::Sentence why) {
  defaults.push_back({std::string(path), value, std::move(why)});
}

void LaunchPlan::assume_choice(std::string_view path, std::string_view word, engine::Sentence why) {
  assume(path, choice_value(path, word), std::move(why));
}

void LaunchPlan::steps(const Maybe<double>& count) {
  if (!count) return;
  if (count->value >= 1)
    train_steps = count;
  else
    no_effect(count->origin, engine::say("import.ignored.no_effect"));
}

const StatedField* LaunchPlan::stated(std::string_view path) const {
  for (const StatedField& field : fields)
    if (field.path == path) return &field;
  return nullptr;
}

std::optional<double> LaunchPlan::value_of(std::string_view path) const {
  if (const StatedField* field = stated(path)) return field->value;
  for (const DefaultField& field : defaults)
    if (field.path == path) return field.value;
  return std::nullopt;
}

void LaunchPlan::no_effect(Origin origin, engine::Sentence why) {
  ignored.push_back({std::move(origin.key), origin.line, std::move(why), true});
}

void LaunchPlan::not_understood(Origin origin) {
  ignored.push_back({std::move(origin.key), origin.line, engine::say("import.why.not_understood"), false});
}

void LaunchPlan::warn(engine::Sentence text, int line) { notices.push_back({false, std::move(text), line}); }

void LaunchPlan::fail(engine::Sentence text, int line) { notices.push_back({true, std::move(text), line}); }

}  // namespace roofscape::io
