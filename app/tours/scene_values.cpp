#include "app/tours/scene_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "app/core/strings.h"
#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/explain.h"
#include "widgets/canvas/number_format.h"
#include "widgets/plot/particles.h"

namespace roofscape::app {

using io::TourNumber;
using widgets::TextTable;

namespace {

// "name[2]": the index; nothing where there is none.
std::optional<std::size_t> index_of(std::string_view name) {
  const std::size_t open = name.find('[');
  if (open == std::string_view::npos) return std::nullopt;
  std::size_t index = 0;
  const auto [end, problem] = std::from_chars(name.data() + open + 1, name.data() + name.size(), index);
  if (problem != std::errc() || *end != ']') return std::nullopt;
  return index;
}

std::optional<TourNumber> number_of(const PlanState& plan, std::string_view name) {
  if (const auto q = engine::find_quantity(engine::without_index(name))) {
    const engine::Unit unit = engine::quantity(*q).unit;
    if (name.find('[') == std::string_view::npos)
      if (const auto value = plan.report.quantities[*q]) return TourNumber{*value, unit};
    if (plan.report.has_errors() && engine::is_of_a_run(*q)) return std::nullopt;
    // Rows by axis, stage or operation, and what only stands between two numbers of a report.
    if (const auto derivation = engine::explain(plan.scenario, name))
      return TourNumber{derivation->lines.front().value, unit};
  }
  const engine::Field* field = engine::find_field(name);
  if (field == nullptr) return std::nullopt;
  return TourNumber{field->get(plan.scenario), field->unit};
}

std::optional<TourNumber> number_of(const BlockState& block, std::string_view name) {
  const std::string_view plain = engine::without_index(name);
  const std::size_t index = index_of(name).value_or(0);
  const auto entry = [index](const std::vector<double>& numbers, const engine::Unit& unit) {
    return index < numbers.size() ? std::optional(TourNumber{numbers[index], unit}) : std::nullopt;
  };
  if (const engine::BlockAnswer* answer = block.result.find(plain); answer != nullptr && !answer->is_absent())
    return entry(answer->numbers, engine::quantity(answer->output->q).unit);
  const engine::BlockInput* input = block.question.call.block().find_input(plain);
  if (input == nullptr) return std::nullopt;
  return entry(block.question.call.value(plain).numbers,
               input->is_numeric() ? engine::quantity(input->q).unit : engine::unit::one);
}

engine::PictureData block_picture(const io::TourFigure& figure, const engine::BlockCall& call) {
  std::string over;
  std::vector<std::string> show;
  for (const std::string& option : figure.with)
    if (option.starts_with("over="))
      over = option.substr(5);
    else if (option.starts_with("show="))
      show.push_back(option.substr(5));
  const auto asked = engine::picture_with(call.block(), over, show);
  return asked.error ? engine::PictureData{} : engine::picture_data(call, asked.picture);
}

}  // namespace

std::string_view language_of(const TextTable& texts) { return texts.text("language.code"); }

SceneValues::SceneValues(const io::TourScene& scene, const io::PresetLibrary& library) : scene_(scene) {
  for (const io::TourState& state : scene.states) {
    Named& named = states_.emplace_back();
    named.name = state.name;
    if (const engine::Scenario* scenario = state.scenario()) {
      named.of = PlanState{*scenario, engine::evaluate(*scenario)};
      continue;
    }
    const io::TourBlock& block = *state.block();
    auto question = io::read_block_question(block.name, block.inputs, library);
    if (!question) continue;
    engine::BlockResult result = engine::run_block_plain(question->call);
    named.of = BlockState{std::move(question).value(), std::move(result)};
  }
  if (!scene.answer.empty()) answer_ = compute(scene.answer);
}

const SceneValues::Named* SceneValues::find(std::string_view state) const {
  for (const Named& named : states_)
    if (named.name == state) return &named;
  return nullptr;
}

const PlanState* SceneValues::plan(std::string_view state) const {
  const Named* named = find(state);
  return named == nullptr ? nullptr : std::get_if<PlanState>(&named->of);
}

const BlockState* SceneValues::block(std::string_view state) const {
  const Named* named = find(state);
  return named == nullptr ? nullptr : std::get_if<BlockState>(&named->of);
}

const engine::PictureData& SceneValues::picture(std::size_t figure, std::string_view state) const {
  static const engine::PictureData kNone;
  const Named* named = find(state);
  const auto* block = named == nullptr ? nullptr : std::get_if<BlockState>(&named->of);
  if (block == nullptr || figure >= scene_.figures.size()) return kNone;
  named->pictures.resize(scene_.figures.size());
  std::optional<engine::PictureData>& kept = named->pictures[figure];
  if (!kept) kept = block_picture(scene_.figures[figure], block->question.call);
  return *kept;
}

void SceneValues::set_shown(engine::Scenario scenario) {
  states_.front().of = PlanState{scenario, engine::evaluate(scenario)};
}

void SceneValues::set_shown_input(std::string_view input, double value) {
  auto* block = std::get_if<BlockState>(&states_.front().of);
  if (block == nullptr) return;
  block->question.call = block->question.call.with(input, value);
  block->result = engine::run_block_plain(block->question.call);
  states_.front().pictures.clear();
}

std::optional<TourNumber> SceneValues::look_up(const io::TourReference& reference) const {
  if (reference.state.empty() && reference.name == "answer") return answer_;
  if (const PlanState* one = plan(reference.state)) return number_of(*one, reference.name);
  if (const BlockState* one = block(reference.state)) return number_of(*one, reference.name);
  return std::nullopt;
}

std::optional<TourNumber> SceneValues::compute(const io::TourFormula& formula) const {
  return formula.compute([this](const io::TourReference& reference) { return look_up(reference); });
}

std::optional<double> SceneValues::marked() const {
  if (scene_.mark.of.empty()) return answer_ ? std::optional(answer_->value) : std::nullopt;
  const auto number = look_up({{}, scene_.mark.of});
  return number ? std::optional(number->value) : std::nullopt;
}

std::optional<double> SceneValues::answer_at(double mark) const {
  if (scene_.mark.of.empty()) return mark;
  const auto number = scene_.answer.compute([&](const io::TourReference& reference) {
    auto value = look_up(reference);
    if (value && reference.state.empty() && reference.name == scene_.mark.of) value->value = mark;
    return value;
  });
  return number ? std::optional(number->value) : std::nullopt;
}

std::string SceneValues::write(TourNumber number, std::string_view form, const TextTable& texts) const {
  const double x = number.value;
  if (form.empty()) return texts.amount(x, number.unit);
  if (form == "percent") return widgets::format_percent(x, 1);
  if (form == "whole_percent") return widgets::format_percent(x, 0);
  if (form == "share") return widgets::format_share(x);
  if (form == "times") return widgets::format_significant(x, 3, true) + "\u00d7";
  if (form == "whole") return widgets::format_count(std::round(x));
  if (form == "number") return widgets::format_significant(x, 3, true);
  if (form == "rough") return widgets::format_significant(x, 2, true);
  // Korean counts in myriads: 70.6 billion are 706 times 10 to the 8th.
  const bool myriads = language_of(texts) == "ko";
  for (const auto& [word, scale] :
       {std::pair{"millions", myriads ? 1e4 : 1e6}, {"billions", myriads ? 1e8 : 1e9}, {"trillions", 1e12}})
    if (form == word)
      return texts.format("tour." + std::string(word), {widgets::format_significant(x / scale, 3, true)});
  if (const auto unit = io::unit_called(form)) return texts.amount(x, *unit);
  return widgets::format_significant(x, 3, true);
}

std::string SceneValues::write(const io::TourPiece& piece, const TextTable& texts) const {
  if (piece.formula.empty()) return piece.words;
  if (piece.form == "name") {
    // Of a field that is a choice: the words of its value.
    const auto references = piece.formula.references();
    const PlanState* one = references.size() == 1 ? plan(references.front().state) : nullptr;
    const engine::Field* field = one == nullptr ? nullptr : engine::find_field(references.front().name);
    if (field == nullptr) return std::string(widgets::kNoValue);
    const std::string word = field_value_text(*field, field->get(one->scenario));
    const std::string key = "choice." + std::string(field->path) + "." + word;
    return texts.has(key) ? std::string(texts.text(key)) : word;
  }
  const auto value = compute(piece.formula);
  return value ? write(*value, piece.form, texts) : std::string(widgets::kNoValue);
}

std::string SceneValues::write(const io::TourText& text, const TextTable& texts) const {
  engine::Sentence ignored;
  const auto pieces = io::cut_text(text.in(language_of(texts)), ignored);
  if (!pieces) return std::string(text.in(language_of(texts)));
  std::string out;
  for (const io::TourPiece& piece : *pieces) out += write(piece, texts);
  return language_of(texts) == "ko" ? widgets::settle_particles(std::move(out)) : out;
}

std::optional<double> SceneValues::choice_value(std::size_t choice) const {
  const io::TourChoice& one = scene_.choices[choice];
  if (one.value.empty()) return std::nullopt;
  if (one.right && answer_) return answer_->value;
  const auto number = compute(one.value);
  return number ? std::optional(number->value) : std::nullopt;
}

std::string SceneValues::choice_text(std::size_t choice, const TextTable& texts) const {
  const io::TourChoice& one = scene_.choices[choice];
  if (!one.text.empty()) return write(one.text, texts);
  const auto value = choice_value(choice);
  return value ? guess_text(*value, texts) : std::string(widgets::kNoValue);
}

std::string SceneValues::guess_text(double guess, const TextTable& texts) const {
  const std::string text = write({guess, answer_ ? answer_->unit : engine::unit::one}, scene_.form, texts);
  return guess > 0 && tells_change() ? "+" + text : text;
}

bool SceneValues::tells_change() const {
  for (std::size_t i = 0; i < scene_.choices.size(); ++i)
    if (const auto value = choice_value(i); value && *value < 0) return true;
  return false;
}

std::string SceneValues::answer_text(const TextTable& texts) const {
  if (answer_) return guess_text(answer_->value, texts);
  for (std::size_t i = 0; i < scene_.choices.size(); ++i)
    if (scene_.choices[i].right) return choice_text(i, texts);
  return std::string(widgets::kNoValue);
}

}  // namespace roofscape::app
