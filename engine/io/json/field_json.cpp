#include "engine/io/json/field_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/io/json/nearest.h"
#include "engine/scenario/checkpoint_policies.h"

namespace roofscape::io {

namespace {

std::string number_text(const Json& json) { return json.is_number() ? json.dump() : shown(json); }

// What Megatron-LM, JAX and papers call some of the choices; of schedules and policies their tables say it.
constexpr std::pair<std::string_view, std::string_view> kNamesElsewhere[] = {
    {"bfloat16", "bf16"},
    {"float16", "fp16"},
    {"float32", "fp32"},
};

std::string remedy_of_choice(const engine::Field& field, std::string_view word) {
  std::string_view meant;
  const auto possible = [&](std::string_view choice) {
    for (std::size_t i = 0; i < field.choices.size(); ++i)
      if (field.choices[i] == choice) return engine::in_domain(field, static_cast<double>(i));
    return false;
  };
  for (const auto& [elsewhere, here] : kNamesElsewhere)
    if (word == elsewhere && possible(here)) meant = here;
  if (const auto policy = engine::policy_also_called(word); policy && possible(engine::policy_id(*policy)))
    meant = engine::policy_id(*policy);
  for (const engine::ScheduleKind kind : engine::kSchedules)
    if (word == engine::facts_of(kind).elsewhere && possible(engine::schedule_id(kind)))
      meant = engine::schedule_id(kind);
  if (meant.empty()) meant = nearest_word(word, field.choices);
  const std::string all = engine::domain_text(field);
  return possible(meant) ? "did you mean " + in_quotes(meant) + "? It is " + all : "give " + all;
}

}  // namespace

Failure read_field(const engine::Field& field, const Json& json, std::string where, std::string_view file,
                   engine::Scenario& scenario) {
  const auto fail = [&](std::string message) {
    return InputError{std::string(file), std::move(where), std::move(message), "give " + engine::domain_text(field)};
  };
  switch (field.kind) {
    case engine::FieldKind::integer:
    case engine::FieldKind::number: {
      if (!json.is_number()) return fail(shown(json) + " is not a number");
      const double value = json.get<double>();
      if (!std::isfinite(value)) return fail("is not finite");
      if (field.kind == engine::FieldKind::integer && value != std::floor(value) && value >= field.minimum &&
          value <= field.maximum)
        return fail(number_text(json) + " is not a whole number");
      if (!engine::in_domain(field, value)) return fail(number_text(json) + " is out of range");
      field.set(scenario, value);
      return std::nullopt;
    }
    case engine::FieldKind::boolean:
      if (!json.is_boolean()) return fail(shown(json) + " is not true or false");
      field.set(scenario, json.get<bool>() ? 1 : 0);
      return std::nullopt;
    case engine::FieldKind::choice: {
      if (!json.is_string()) return fail(shown(json) + " is not a text");
      const std::string& word = json.get_ref<const std::string&>();
      for (std::size_t i = 0; i < field.choices.size(); ++i)
        if (field.choices[i] == word && engine::in_domain(field, static_cast<double>(i))) {
          field.set(scenario, static_cast<double>(i));
          return std::nullopt;
        }
      return InputError{std::string(file), std::move(where), in_quotes(word) + " is not possible here",
                        remedy_of_choice(field, word)};
    }
  }
  return std::nullopt;
}

Failure read_layers(const Json& json, std::string where, std::string_view file, engine::Scenario& scenario) {
  constexpr double kMostLayers = 10000;
  const auto fail = [&](std::string inner, std::string message, std::string remedy) {
    return InputError{std::string(file), std::move(inner), std::move(message), std::move(remedy)};
  };
  if (!json.is_array())
    return fail(std::move(where), shown(json) + " is not a list", "list the layers of each virtual stage");
  if (json.size() > engine::kMaxVirtualStages)
    return fail(std::move(where), "lists " + std::to_string(json.size()) + " virtual stages",
                "list at most " + std::to_string(engine::kMaxVirtualStages));
  std::vector<int> layers;
  for (const Json& item : json) {
    const double value = item.is_number() ? item.get<double>() : -1;
    if (!(value >= 0 && value <= kMostLayers) || value != std::floor(value))
      return fail(where + "." + std::to_string(layers.size()), shown(item) + " is no number of layers",
                  "give a whole number from 0 to 10000");
    layers.push_back(static_cast<int>(value));
  }
  scenario.pipeline.layers_per_stage = std::move(layers);
  return std::nullopt;
}

OrderedJson field_json(const engine::Field& field, double value) {
  if (field.kind == engine::FieldKind::boolean) return value != 0;
  if (field.kind == engine::FieldKind::choice) {
    const auto i = static_cast<std::size_t>(value);
    return i < field.choices.size() ? std::string(field.choices[i]) : std::string();
  }
  return number_json(value);
}

}  // namespace roofscape::io
