// Reading tours.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/blocks/block.h"
#include "engine/io/export/block_json.h"
#include "engine/io/import/open_scenario.h"
#include "engine/io/presets/parts_json.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/io/tour/tour.h"
#include "engine/io/tour/tour_check.h"

namespace roofscape::io {

using engine::say;
using engine::Sentence;

namespace {

constexpr std::size_t kMostScenes = 200, kMostChoices = 6, kMostFigures = 2;

constexpr std::array<std::string_view, 7> kTourMembers{"format", "version", "$schema", "title",
                                                       "about",  "order",   "scenes"};
constexpr std::array<std::string_view, 28> kSceneMembers{
    "id",       "title",  "context",   "question", "sentence", "notes",   "source", "scenario", "set",   "block",
    "inputs",   "states", "figure",    "figures",  "controls", "answer",  "form",   "range",    "guess", "choices",
    "readings", "claims", "highlight", "cover",    "runs",     "covered", "mark",   "mark_of"};
constexpr std::array<std::string_view, 4> kStateMembers{"scenario", "set", "block", "inputs"};
constexpr std::array<std::string_view, 2> kFigureMembers{"name", "with"};
constexpr std::array<std::string_view, 4> kChoiceMembers{"text", "value", "right", "mark"};

bool is_language(std::string_view word) {
  return word.size() >= 2 && word.size() <= 8 &&
         std::all_of(word.begin(), word.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == '_'; });
}
bool is_id(std::string_view word) {
  return !word.empty() && word.size() <= 64 && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

class TourReader {
 public:
  TourReader(std::string_view file, const PresetLibrary& library)
      : file_(file), library_(library), folder_(std::filesystem::path(file).parent_path()) {}

  Result<Tour> read(const Json& json) {
    const PartContext context = at({});
    if (!json.is_object()) return context.error({}, is_kind(json), say("error.tour.remedy"));
    if (auto failure = check_format(json, "roofscape/tour", context)) return *failure;
    if (auto failure = check_members(json, kTourMembers, context)) return *failure;
    Tour tour;
    tour.id = std::filesystem::path(file_).stem().string();
    tour.origin = std::string(file_);
    if (auto failure = text(json, "title", context, tour.title, true)) return *failure;
    if (auto failure = text(json, "about", context, tour.about, false)) return *failure;
    if (const auto order = json.find("order"); order != json.end()) {
      if (!order->is_number_integer() || *order < 0 || *order > 1000)
        return context.error("order", say("error.is", shown(*order)), say("error.tour.order.remedy"));
      tour.order = order->get<int>();
    }
    const auto scenes = json.find("scenes");
    if (scenes == json.end() || !scenes->is_array() || scenes->empty())
      return context.error("scenes", scenes == json.end() ? say("error.missing") : say("error.tour.no_scenes"),
                           say("error.tour.scenes.remedy"));
    if (scenes->size() > kMostScenes)
      return context.error("scenes", say("error.is", say("error.kind.list_of", scenes->size())),
                           say("error.tour.most", kMostScenes));
    for (std::size_t i = 0; i < scenes->size(); ++i) {
      auto scene = read_scene((*scenes)[i], at("scenes." + std::to_string(i)), i);
      if (!scene) return scene.error();
      for (const TourScene& other : tour.scenes)
        if (other.id == scene->id)
          return context.error("scenes." + std::to_string(i) + ".id", say("error.tour.id_twice", in_quotes(other.id)),
                               say("error.tour.id_twice.remedy"));
      tour.scenes.push_back(std::move(scene).value());
    }
    return tour;
  }

 private:
  PartContext at(std::string path) const { return {file_, std::move(path), library_, folder_, {}}; }

  // A text, or an object of texts by language.
  Failure text(const Json& object, std::string_view key, const PartContext& context, TourText& out, bool needed) {
    const auto found = object.find(key);
    if (found == object.end())
      return needed ? Failure(context.error(context.at(key), say("error.missing"), say("error.text.remedy")))
                    : std::nullopt;
    return text(*found, context, context.at(key), out);
  }
  Failure text(const Json& json, const PartContext& context, const std::string& where, TourText& out) {
    if (json.is_string()) {
      out.by_language[std::string(kTourLanguage)] = json.get<std::string>();
      return std::nullopt;
    }
    if (!json.is_object() || json.empty())
      return context.error(where, say("error.is_not_text", kind_of(json)), say("error.tour.languages"));
    for (const auto& member : json.items()) {
      if (!is_language(member.key()) || !member.value().is_string())
        return context.error(
            where + "." + member.key(),
            member.value().is_string() ? say("error.is", in_quotes(member.key())) : is_kind(member.value()),
            say("error.tour.languages"));
      out.by_language[member.key()] = member.value().get<std::string>();
    }
    return std::nullopt;
  }

  // A list of texts.
  Failure texts(const Json& object, std::string_view key, const PartContext& context, std::vector<std::string>& out) {
    const auto found = object.find(key);
    if (found == object.end()) return std::nullopt;
    return texts(*found, context, context.at(key), out);
  }
  Failure texts(const Json& json, const PartContext& context, const std::string& where,
                std::vector<std::string>& out) {
    if (!json.is_array()) return context.error(where, say("error.is_no_list"), say("error.list_of_texts.remedy"));
    for (std::size_t i = 0; i < json.size(); ++i) {
      if (!json[i].is_string())
        return context.error(where + "." + std::to_string(i), say("error.not_text", shown(json[i])),
                             say("error.list_of_texts.remedy"));
      out.push_back(json[i].get<std::string>());
    }
    return std::nullopt;
  }

  Failure formula(const Json& json, const PartContext& context, const std::string& where, TourFormula& out) {
    if (json.is_number()) {
      out = TourFormula::constant(json.get<double>());
      return std::nullopt;
    }
    if (!json.is_string()) return context.error(where, is_kind(json), say("error.tour.formula.remedy"));
    Sentence problem;
    auto read = TourFormula::parse(json.get_ref<const std::string&>(), problem);
    if (!read) return context.error(where, problem, say("error.tour.formula.remedy"));
    out = *std::move(read);
    return std::nullopt;
  }

  Failure pair(const Json& object, std::string_view key, const PartContext& context,
               std::optional<std::pair<double, double>>& out) {
    const auto found = object.find(key);
    if (found == object.end()) return std::nullopt;
    if (!found->is_array() || found->size() != 2 || !(*found)[0].is_number() || !(*found)[1].is_number() ||
        !((*found)[0].get<double>() < (*found)[1].get<double>()))
      return context.error(context.at(key), say("error.is", shown(*found)), say("error.tour.pair"));
    out = {(*found)[0].get<double>(), (*found)[1].get<double>()};
    return std::nullopt;
  }

  Failure switch_of(const Json& object, std::string_view key, const PartContext& context, bool& out) {
    const auto found = object.find(key);
    if (found == object.end()) return std::nullopt;
    if (!found->is_boolean())
      return context.error(context.at(key), say("error.not_boolean", shown(*found)), say("error.tour.switch"));
    out = found->get<bool>();
    return std::nullopt;
  }

  Result<engine::Scenario> scenario_of(const Json& json, const PartContext& context, const std::string& where,
                                       std::string& preset) {
    if (!json.is_string() && !json.is_object())
      return context.error(where, is_kind(json), say("error.tour.scenario.remedy"));
    auto read = [&] {
      if (json.is_object()) return read_scenario(json.dump(), file_, library_);
      preset = json.get<std::string>();
      const bool known = library_.find_preset(PresetKind::scenario, preset) != nullptr;
      return load_scenario(known || !preset.ends_with(".json") ? preset : (folder_ / preset).string(), library_);
    }();
    if (read) return read;
    InputError error = read.error();
    error.file = std::string(file_);
    error.path = error.path.empty() ? where : where + "." + error.path;
    return error;
  }

  Failure read_state(const Json& json, const PartContext& context, TourState& state) {
    if (const auto block = json.find("block"); block != json.end()) {
      TourBlock named;
      if (auto failure = read_text(json, "block", context, named.name)) return failure;
      if (json.contains("scenario") || json.contains("set"))
        return context.error(context.at(json.contains("set") ? "set" : "scenario"), say("error.tour.both"),
                             say("error.tour.both.remedy"));
      if (auto failure = texts(json, "inputs", context, named.inputs)) return failure;
      state.of = std::move(named);
      return check_block(state, context, context.at("block"), context.at("inputs"));
    }
    const auto scenario = json.find("scenario");
    if (scenario == json.end())
      return context.error(context.at("scenario"), say("error.missing"), say("error.tour.scenario.remedy"));
    auto read = scenario_of(*scenario, context, context.at("scenario"), state.preset);
    if (!read) return read.error();
    state.of = std::move(read).value();
    if (auto failure = texts(json, "set", context, state.set)) return failure;
    return change(std::get<engine::Scenario>(state.of), state.set, context.at("set"));
  }

  Failure change(engine::Scenario& scenario, const std::vector<std::string>& set, const std::string& where) {
    for (const std::string& assignment : ordered_edits(set))
      if (auto error = set_field(scenario, assignment, library_)) {
        error->file = std::string(file_);
        error->path = where + (error->path.empty() ? "" : ": " + error->path);
        return error;
      }
    return std::nullopt;
  }

  Failure check_block(const TourState& state, const PartContext& context, const std::string& block_at,
                      const std::string& inputs_at) {
    const TourBlock& block = *state.block();
    const auto question = read_block_question(block.name, block.inputs, library_);
    if (question) return std::nullopt;
    InputError error = question.error();
    error.file = std::string(context.file);
    const bool known = engine::find_block(block.name) != nullptr;
    error.path = known ? inputs_at + (error.path.empty() ? "" : ": " + error.path) : block_at;
    return error;
  }

  // {"name": [changes of what is shown]}, or a state of its own.
  Failure read_states(const Json& json, const PartContext& context, TourScene& scene) {
    const auto found = json.find("states");
    if (found == json.end()) return std::nullopt;
    if (!found->is_object())
      return context.error(context.at("states"), is_kind(*found), say("error.tour.states.remedy"));
    for (const auto& member : found->items()) {
      const PartContext here = context.inner("states").inner(member.key());
      TourState state;
      state.name = member.key();
      if (!is_id(state.name) || state.name == "max" || state.name == "min")
        return here.error(here.path, say("error.is", in_quotes(state.name)), say("error.tour.id.remedy"));
      if (member.value().is_array()) {
        state.of = scene.shown().of;
        state.preset = scene.shown().preset;
        std::vector<std::string> changes;
        if (auto failure = texts(member.value(), here, here.path, changes)) return failure;
        if (auto* block = std::get_if<TourBlock>(&state.of)) {
          for (std::string& input : changes) {
            const std::string name = input.substr(0, input.find('='));
            std::erase_if(block->inputs,
                          [&name](const std::string& old) { return old.substr(0, old.find('=')) == name; });
            block->inputs.push_back(std::move(input));
          }
          if (auto failure = check_block(state, here, here.path, here.path)) return failure;
        } else {
          state.set = scene.shown().set;
          state.set.insert(state.set.end(), changes.begin(), changes.end());
          if (auto failure = change(std::get<engine::Scenario>(state.of), changes, here.path)) return failure;
        }
      } else if (member.value().is_object()) {
        if (auto failure = check_members(member.value(), kStateMembers, here)) return failure;
        if (auto failure = read_state(member.value(), here, state)) return failure;
      } else {
        return here.error(here.path, is_kind(member.value()), say("error.tour.states.remedy"));
      }
      scene.states.push_back(std::move(state));
    }
    return std::nullopt;
  }

  Failure read_figure(const Json& json, const PartContext& context, TourScene& scene) {
    TourFigure figure;
    if (json.is_string()) {
      figure.name = json.get<std::string>();
    } else if (json.is_object()) {
      if (auto failure = check_members(json, kFigureMembers, context)) return failure;
      if (auto failure = read_text(json, "name", context, figure.name)) return failure;
      if (auto failure = texts(json, "with", context, figure.with)) return failure;
    } else {
      return context.error(context.path, is_kind(json), say("error.tour.figure.remedy"));
    }
    scene.figures.push_back(std::move(figure));
    return std::nullopt;
  }
  Failure read_figures(const Json& json, const PartContext& context, TourScene& scene) {
    if (const auto one = json.find("figure"); one != json.end())
      return read_figure(*one, context.inner("figure"), scene);
    const auto several = json.find("figures");
    if (several == json.end()) {
      if (scene.shown().block() != nullptr) scene.figures.emplace_back();
      return std::nullopt;
    }
    if (!several->is_array() || several->empty() || several->size() > kMostFigures)
      return context.error(context.at("figures"), is_kind(*several), say("error.tour.figure.remedy"));
    for (std::size_t i = 0; i < several->size(); ++i)
      if (auto failure = read_figure((*several)[i], context.inner("figures").inner(std::to_string(i)), scene))
        return failure;
    return std::nullopt;
  }

  Failure read_choices(const Json& json, const PartContext& context, TourScene& scene) {
    const auto found = json.find("choices");
    if (found == json.end()) return std::nullopt;
    const std::string where = context.at("choices");
    if (!found->is_array() || found->size() < 2 || found->size() > kMostChoices)
      return context.error(where, say("error.tour.choices", kMostChoices), say("error.tour.choices.remedy"));
    for (std::size_t i = 0; i < found->size(); ++i) {
      const Json& one = (*found)[i];
      const PartContext here = context.inner("choices").inner(std::to_string(i));
      TourChoice choice;
      if (one == Json("answer")) {
        choice.right = true;
        choice.value = scene.answer;
      } else if (one.is_number()) {
        choice.value = TourFormula::constant(one.get<double>());
      } else if (one.is_string()) {
        if (auto failure = text(one, here, here.path, choice.text)) return failure;
      } else if (one.is_object()) {
        if (auto failure = check_members(one, kChoiceMembers, here)) return failure;
        if (auto failure = text(one, "text", here, choice.text, !one.contains("value"))) return failure;
        if (one.contains("value"))
          if (auto failure = formula(one["value"], here, here.at("value"), choice.value)) return failure;
        if (auto failure = read_text(one, "mark", here, choice.mark)) return failure;
        if (auto failure = switch_of(one, "right", here, choice.right)) return failure;
      } else {
        return here.error(here.path, is_kind(one), say("error.tour.choices.remedy"));
      }
      if (choice.text.empty() && choice.value.empty())
        return here.error(here.path, say("error.tour.no_answer"), say("error.tour.no_answer.remedy"));
      scene.choices.push_back(std::move(choice));
    }
    const auto right =
        std::count_if(scene.choices.begin(), scene.choices.end(), [](const TourChoice& c) { return c.right; });
    if (right != 1) return context.error(where, say("error.tour.right", right), say("error.tour.right.remedy"));
    return std::nullopt;
  }

  Failure formulas(const Json& json, std::string_view key, const PartContext& context,
                   std::vector<TourFormula>& out) {
    const auto found = json.find(key);
    if (found == json.end()) return std::nullopt;
    if (!found->is_array())
      return context.error(context.at(key), say("error.is_no_list"), say("error.tour.formula.remedy"));
    for (std::size_t i = 0; i < found->size(); ++i)
      if (auto failure = formula((*found)[i], context, context.at(key) + "." + std::to_string(i), out.emplace_back()))
        return failure;
    return std::nullopt;
  }

  Failure read_mark(const Json& json, const PartContext& context, TourScene& scene) {
    std::string word;
    if (auto failure = read_text(json, "mark", context, word)) return failure;
    if (auto failure = read_text(json, "mark_of", context, scene.mark.of)) return failure;
    if (word.empty() && scene.mark.of.empty()) return std::nullopt;
    constexpr std::array<std::pair<std::string_view, TourMark::Kind>, 5> kKinds{{{"x", TourMark::Kind::x},
                                                                                 {"y", TourMark::Kind::y},
                                                                                 {"bar", TourMark::Kind::bar},
                                                                                 {"point", TourMark::Kind::point},
                                                                                 {"sketch", TourMark::Kind::sketch}}};
    const std::size_t colon = word.find(':');
    scene.mark.tag = colon == std::string::npos ? std::string() : word.substr(colon + 1);
    for (const auto& [name, kind] : kKinds)
      if (name == std::string_view(word).substr(0, colon)) scene.mark.kind = kind;
    const bool alone = scene.mark.kind == TourMark::Kind::x || scene.mark.kind == TourMark::Kind::y;
    if (scene.mark.kind == TourMark::Kind::none || alone != scene.mark.tag.empty())
      return context.error(context.at("mark"), say("error.is", in_quotes(word)), say("error.tour.mark.remedy"));
    if (scene.answer.empty())
      return context.error(context.at("answer"), say("error.missing"), say("error.tour.answer.remedy"));
    const auto names = scene.answer.references();
    if (!scene.mark.of.empty() && std::none_of(names.begin(), names.end(), [&](const TourReference& one) {
          return one.state.empty() && one.name == scene.mark.of;
        }))
      return context.error(context.at("mark_of"), say("error.is", in_quotes(scene.mark.of)),
                           say("error.tour.mark_of.remedy"));
    return std::nullopt;
  }

  Failure read_cover(const Json& json, const PartContext& context, TourScene& scene) {
    if (auto failure = texts(json, "cover", context, scene.cover)) return failure;
    if (auto failure = texts(json, "highlight", context, scene.highlight)) return failure;
    if (auto failure = switch_of(json, "runs", context, scene.runs)) return failure;
    scene.covered = scene.cover.empty() && !scene.has_before();
    return switch_of(json, "covered", context, scene.covered);
  }

  Result<TourScene> read_scene(const Json& json, const PartContext& context, std::size_t index) {
    if (!json.is_object()) return context.error(context.path, is_kind(json), say("error.tour.scenes.remedy"));
    if (auto failure = check_members(json, kSceneMembers, context)) return *failure;
    TourScene scene;
    scene.id = "scene-" + std::to_string(index + 1);
    if (auto failure = read_text(json, "id", context, scene.id)) return *failure;
    if (!is_id(scene.id))
      return context.error(context.at("id"), say("error.is", in_quotes(scene.id)), say("error.tour.id.remedy"));
    if (auto failure = text(json, "title", context, scene.title, true)) return *failure;
    if (auto failure = text(json, "question", context, scene.question, true)) return *failure;
    if (auto failure = text(json, "sentence", context, scene.sentence, true)) return *failure;
    if (auto failure = text(json, "context", context, scene.context, false)) return *failure;
    if (auto failure = text(json, "notes", context, scene.notes, false)) return *failure;
    if (auto failure = text(json, "source", context, scene.source, false)) return *failure;
    if (auto failure = read_state(json, context, scene.states.emplace_back())) return *failure;
    if (auto failure = read_states(json, context, scene)) return *failure;
    if (auto failure = read_figures(json, context, scene)) return *failure;
    if (auto failure = texts(json, "controls", context, scene.controls)) return *failure;
    if (auto failure = check_tour_controls(scene, context)) return *failure;
    if (const auto answer = json.find("answer"); answer != json.end())
      if (auto failure = formula(*answer, context, context.at("answer"), scene.answer)) return *failure;
    if (auto failure = read_text(json, "form", context, scene.form)) return *failure;
    if (!scene.form.empty() && !unit_called(scene.form) &&
        std::find(kTourForms.begin(), kTourForms.end(), scene.form) == kTourForms.end())
      return context.error(context.at("form"), say("error.is", in_quotes(scene.form)),
                           say("error.there_are", listed(kTourForms)));
    if (auto failure = pair(json, "range", context, scene.range)) return *failure;
    if (auto failure = pair(json, "guess", context, scene.guess)) return *failure;
    if (auto failure = read_choices(json, context, scene)) return *failure;
    if (scene.answer.empty() && (scene.guess || scene.range || scene.choices.empty()))
      return context.error(context.at("answer"), say("error.missing"), say("error.tour.answer.remedy"));
    if (scene.choices.empty() && !scene.guess)
      return context.error(context.at("choices"), say("error.missing"), say("error.tour.choices.remedy"));
    if (auto failure = formulas(json, "readings", context, scene.readings)) return *failure;
    if (auto failure = formulas(json, "claims", context, scene.claims)) return *failure;
    if (auto failure = read_mark(json, context, scene)) return *failure;
    if (auto failure = read_cover(json, context, scene)) return *failure;
    if (auto failure = check_tour_names(scene, context)) return *failure;
    return scene;
  }

  std::string_view file_;
  const PresetLibrary& library_;
  std::filesystem::path folder_;
};

}  // namespace

const TourState* TourScene::state(std::string_view name) const {
  for (const TourState& one : states)
    if (one.name == name) return &one;
  return nullptr;
}

Result<Tour> read_tour(std::string_view text, std::string_view file, const PresetLibrary& library) {
  const auto json = parse_json(text, file);
  if (!json) return json.error();
  return TourReader(file, library).read(json.value());
}

}  // namespace roofscape::io
