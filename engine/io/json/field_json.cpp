#include "engine/io/json/field_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/io/json/nearest.h"
#include "engine/scenario/checkpoint_policies.h"

namespace roofscape::io {

using engine::say;
using engine::say_count;
using engine::Sentence;

namespace {

Sentence number_text(const Json& json) { return json.is_number() ? Sentence(json.dump()) : shown(json); }

// What Megatron-LM, JAX and papers call some of the choices; of schedules and policies their tables say it.
constexpr std::pair<std::string_view, std::string_view> kNamesElsewhere[] = {
    {"bfloat16", "bf16"},
    {"float16", "fp16"},
    {"float32", "fp32"},
};

Sentence remedy_of_choice(const engine::Field& field, std::string_view word) {
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
  Sentence all = engine::domain_of(field);
  return possible(meant) ? say("error.choice.near", in_quotes(meant), std::move(all))
                         : say("error.give", std::move(all));
}

}  // namespace

Failure read_field(const engine::Field& field, const Json& json, std::string where, std::string_view file,
                   engine::Scenario& scenario) {
  const auto fail = [&](Sentence message) {
    return InputError{std::string(file), std::move(where), std::move(message),
                      say("error.give", engine::domain_of(field))};
  };
  switch (field.kind) {
    case engine::FieldKind::integer:
    case engine::FieldKind::number: {
      if (!json.is_number()) return fail(say("error.not_a_number", shown(json)));
      const double value = json.get<double>();
      if (!std::isfinite(value)) return fail(say("error.not_finite"));
      if (field.kind == engine::FieldKind::integer && value != std::floor(value) && value >= field.minimum &&
          value <= field.maximum)
        return fail(say("error.not_whole", number_text(json)));
      if (!engine::in_domain(field, value)) return fail(say("error.out_of_range", number_text(json)));
      field.set(scenario, value);
      return std::nullopt;
    }
    case engine::FieldKind::boolean:
      if (!json.is_boolean()) return fail(say("error.not_boolean", shown(json)));
      field.set(scenario, json.get<bool>() ? 1 : 0);
      return std::nullopt;
    case engine::FieldKind::choice: {
      if (!json.is_string()) return fail(say("error.not_text", shown(json)));
      const std::string& word = json.get_ref<const std::string&>();
      for (std::size_t i = 0; i < field.choices.size(); ++i)
        if (field.choices[i] == word && engine::in_domain(field, static_cast<double>(i))) {
          field.set(scenario, static_cast<double>(i));
          return std::nullopt;
        }
      return InputError{std::string(file), std::move(where), say("error.not_possible", in_quotes(word)),
                        remedy_of_choice(field, word)};
    }
  }
  return std::nullopt;
}

Failure read_layers(const Json& json, std::string where, std::string_view file, engine::Scenario& scenario) {
  constexpr int kMostLayers = 10000;
  const auto fail = [&](std::string inner, Sentence message, Sentence remedy) {
    return InputError{std::string(file), std::move(inner), std::move(message), std::move(remedy)};
  };
  if (!json.is_array())
    return fail(std::move(where), say("error.not_list", shown(json)), say("error.layers.not_a_list"));
  if (json.size() > engine::kMaxVirtualStages)
    return fail(std::move(where), say_count("error.layers.stages", json.size()),
                say("error.layers.stages.remedy", engine::kMaxVirtualStages));
  std::vector<int> layers;
  for (const Json& item : json) {
    const double value = item.is_number() ? item.get<double>() : -1;
    if (!(value >= 0 && value <= kMostLayers) || value != std::floor(value))
      return fail(where + "." + std::to_string(layers.size()), say("error.layers.count", shown(item)),
                  say("error.layers.count.remedy", kMostLayers));
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
