#include "engine/io/tour/tour_check.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/quantity.h"
#include "engine/base/sentence.h"
#include "engine/blocks/block.h"
#include "engine/io/json/nearest.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::io {

using engine::say;
using engine::Sentence;

namespace {

constexpr std::size_t kMostControls = 3;

// One name of a formula is known in its state.
Failure check_reference(const TourScene& scene, const TourReference& reference, const PartContext& context,
                        const std::string& where) {
  if (reference.state.empty() && reference.name == "answer") return std::nullopt;
  const TourState* state = scene.state(reference.state);
  if (state == nullptr) {
    std::vector<std::string_view> names;
    for (const TourState& one : scene.states)
      if (!one.name.empty()) names.push_back(one.name);
    return context.error(where, say("error.tour.state", in_quotes(reference.state)),
                         names.empty() ? say("error.tour.state.none") : did_you_mean(reference.state, names));
  }
  const std::string_view plain = engine::without_index(reference.name);
  if (const TourBlock* block = state->block()) {
    const engine::BuildingBlock* entry = engine::find_block(block->name);
    std::vector<std::string_view> names;
    for (const engine::BlockOutput& output : entry->outputs) names.push_back(output.name);
    for (const engine::BlockInput& input : entry->inputs) names.push_back(input.name);
    if (std::find(names.begin(), names.end(), plain) != names.end()) return std::nullopt;
    return context.error(where, say("error.tour.block_value", block->name, in_quotes(reference.name)),
                         did_you_mean(plain, names));
  }
  if (engine::find_quantity(plain) || engine::find_field(reference.name) != nullptr) return std::nullopt;
  std::vector<std::string_view> names;
  for (const engine::Quantity& row : engine::kQuantities) names.push_back(row.id);
  for (const engine::Field& field : engine::scenario_fields()) names.push_back(field.path);
  const std::string_view near = nearest_word(reference.name, names);
  return context.error(where, say("error.tour.quantity", in_quotes(reference.name)),
                       near.empty() ? say("error.sweep.quantity.remedy") : did_you_mean(near));
}

Failure check_formula(const TourScene& scene, const TourFormula& formula, const PartContext& context,
                      const std::string& where) {
  for (const TourReference& reference : formula.references())
    if (auto failure = check_reference(scene, reference, context, where)) return failure;
  return std::nullopt;
}

Failure check_text(const TourScene& scene, const TourText& text, const PartContext& context,
                   const std::string& where) {
  for (const auto& [language, words] : text.by_language) {
    const std::string place =
        text.by_language.size() == 1 && language == kTourLanguage ? where : where + "." + language;
    Sentence problem;
    const auto pieces = cut_text(words, problem);
    if (!pieces) return context.error(place, problem, say("error.tour.text.remedy"));
    for (const TourPiece& piece : *pieces)
      if (auto failure = check_formula(scene, piece.formula, context, place)) return failure;
  }
  return std::nullopt;
}

}  // namespace

Failure check_tour_texts(const TourScene& scene, const PartContext& context) {
  const std::pair<std::string_view, const TourText*> all[] = {
      {"title", &scene.title},       {"context", &scene.context}, {"question", &scene.question},
      {"sentence", &scene.sentence}, {"notes", &scene.notes},     {"source", &scene.source}};
  for (const auto& [key, words] : all)
    if (auto failure = check_text(scene, *words, context, context.at(key))) return failure;
  for (std::size_t i = 0; i < scene.choices.size(); ++i)
    if (auto failure =
            check_text(scene, scene.choices[i].text, context, context.at("choices") + "." + std::to_string(i)))
      return failure;
  return std::nullopt;
}

Failure check_tour_names(const TourScene& scene, const PartContext& context) {
  if (auto failure = check_tour_texts(scene, context)) return failure;
  if (auto failure = check_formula(scene, scene.answer, context, context.at("answer"))) return failure;
  for (std::size_t i = 0; i < scene.choices.size(); ++i)
    if (auto failure =
            check_formula(scene, scene.choices[i].value, context, context.at("choices") + "." + std::to_string(i)))
      return failure;
  for (std::size_t i = 0; i < scene.readings.size(); ++i)
    if (auto failure =
            check_formula(scene, scene.readings[i], context, context.at("readings") + "." + std::to_string(i)))
      return failure;
  for (std::size_t i = 0; i < scene.claims.size(); ++i) {
    const std::string where = context.at("claims") + "." + std::to_string(i);
    if (auto failure = check_formula(scene, scene.claims[i], context, where)) return failure;
    if (!scene.claims[i].compares())
      return context.error(where, say("error.tour.claim"), say("error.tour.claim.remedy"));
  }
  return std::nullopt;
}

Failure check_tour_controls(const TourScene& scene, const PartContext& context) {
  const std::string where = context.at("controls");
  if (scene.controls.size() > kMostControls)
    return context.error(where, say("error.is", say("error.kind.list_of", scene.controls.size())),
                         say("error.tour.most", kMostControls));
  const engine::Scenario* scenario = scene.shown().scenario();
  for (std::size_t i = 0; i < scene.controls.size(); ++i) {
    const std::string place = where + "." + std::to_string(i);
    const std::string& path = scene.controls[i];
    if (scenario == nullptr) {
      const engine::BuildingBlock* block = engine::find_block(scene.shown().block()->name);
      if (const engine::BlockInput* input = block->find_input(path);
          input != nullptr && input->is_numeric() && !input->is_list())
        continue;
      return context.error(place, say("error.tour.control.block", in_quotes(path)),
                           say("error.tour.control.block.remedy"));
    }
    const engine::Field* field = engine::find_field(path);
    if (field != nullptr && engine::applies(*field, scenario->workload.kind)) continue;
    std::vector<std::string_view> paths;
    for (const engine::Field& one : engine::scenario_fields()) paths.push_back(one.path);
    return context.error(place, say("error.tour.control", in_quotes(path)), did_you_mean(path, paths));
  }
  return std::nullopt;
}

}  // namespace roofscape::io
