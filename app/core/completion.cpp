#include "app/core/completion.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <string_view>

#include "app/core/figure_form.h"
#include "app/core/strings.h"
#include "engine/blocks/block.h"
#include "engine/frameworks/framework.h"
#include "engine/io/export/export_flags.h"
#include "engine/io/tour/tour.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/search/plan_space.h"
#include "engine/search/search.h"
#include "engine/search/serving_search.h"
#include "engine/studies/made_order.h"
#include "engine/studies/model_facts.h"
#include "widgets/figures/figures.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app {
namespace {

// Where a word stands, and what is offered for it.
struct Place {
  const std::vector<std::string>& words;  // all of them
  std::string_view typed;                 // of the value
  const io::PresetLibrary& library;
  const widgets::TextTable& texts;
  std::string ahead;  // of the word before the value: "--theme="
  std::string out;

  // A remark ends where its line does.
  void offer(std::string_view word, std::string_view remark = {}) {
    if (!word.starts_with(typed)) return;
    out.append(ahead).append(word);
    if (!remark.empty()) out.append("\t").append(remark.substr(0, remark.find('\n')));
    out += '\n';
  }
  template <class Words>
  void offer_all(const Words& list) {
    for (const auto& word : list) offer(word);
  }
  void ask_shell_for(std::string_view what) { out.append(":").append(what).append("\n"); }
};

void offer_presets(Place& place, io::PresetKind kind) {
  for (const io::Preset& preset : place.library.list(kind)) place.offer(preset.id, preset.name);
}
void scenarios(Place& place) {
  offer_presets(place, io::PresetKind::scenario);
  place.ask_shell_for("files");
}
void scenario_presets(Place& place) { offer_presets(place, io::PresetKind::scenario); }
void chips(Place& place) { offer_presets(place, io::PresetKind::chip); }
void presets(Place& place) {
  place.offer_all(io::kPresetFolders);
  for (std::size_t kind = 0; kind < io::kPresetFolders.size(); ++kind)
    offer_presets(place, static_cast<io::PresetKind>(kind));
}
void model_columns(Place& place) {
  for (const engine::ModelFact& fact : engine::model_facts())
    place.offer(fact.id, place.texts.text("model_fact." + std::string(fact.id)));
}
void tours(Place& place) {
  for (const io::TourPlace& tour : io::tour_places(place.library)) place.offer(tour.id);
  place.ask_shell_for("files");
}
void files(Place& place) { place.ask_shell_for("files"); }
void folders(Place& place) { place.ask_shell_for("folders"); }
void themes(Place& place) { place.offer_all(theme_names()); }
void languages(Place& place) { place.offer_all(language_names()); }
void frameworks(Place& place) { place.offer_all(engine::kFrameworkIds.ids()); }
void launchers(Place& place) { place.offer_all(io::kLauncherIds.ids()); }
void formats(Place& place) { place.offer_all(std::array{"pdf", "svg", "png", "csv", "json"}); }
void venue_ids(Place& place) {
  for (const Venue& venue : venues()) place.offer(venue.id);
}
void svg_texts(Place& place) { place.offer_all(std::array{"text", "outlines"}); }
void modes(Place& place) { place.offer_all(engine::find_field("assumptions.mode")->choices.first(2)); }
void objectives(Place& place) {
  place.offer_all(engine::kObjectiveIds);
  place.offer("token-time");
}

// The value of a field; "parallelism.schedule=" is already ahead.
void offer_values(Place& place, const engine::Field& field) {
  place.offer_all(field.choices);
  if (field.kind == engine::FieldKind::boolean) place.offer_all(std::array{"true", "false"});
}

void fields(Place& place) {
  const std::size_t equals = place.typed.find('=');
  if (equals == std::string_view::npos) {
    for (const engine::Field& field : engine::scenario_fields())
      place.offer(std::string(field.path) + "=", place.texts.text("field." + std::string(field.path) + ".label"));
    place.offer_all(std::array{"name=", "model=", "cluster=", "cluster.chip=", "cluster.slice=",
                               "pipeline.layers_per_stage=", "pipeline.order="});
    return;
  }
  const std::string_view path = place.typed.substr(0, equals);
  place.ahead.append(place.typed.substr(0, equals + 1));
  place.typed.remove_prefix(equals + 1);
  if (path == "pipeline.order") {
    place.offer("none");
    place.offer_all(engine::kOrderRecipes);
    place.ask_shell_for("files");
  }
  if (path == "model")
    offer_presets(place, io::PresetKind::model);
  else if (path == "cluster")
    offer_presets(place, io::PresetKind::cluster);
  else if (path == "cluster.chip")
    chips(place);
  else if (const engine::Field* field = engine::find_field(path))
    offer_values(place, *field);
}

// Behind the last comma of a list.
void skip_to_last(Place& place) {
  const std::size_t start = place.typed.rfind(',') + 1;  // 0 if there is none
  place.ahead.append(place.typed.substr(0, start));
  place.typed.remove_prefix(start);
}

void dimensions(Place& place) {
  const std::size_t equals = place.typed.find('=');
  if (equals == std::string_view::npos) {
    for (const std::string_view name : engine::dimension_names()) place.offer(std::string(name) + "=");
    return;
  }
  const std::string name = "_" + std::string(place.typed.substr(0, equals));
  place.ahead.append(place.typed.substr(0, equals + 1));
  place.typed.remove_prefix(equals + 1);
  skip_to_last(place);
  // "schedule" is the field pipeline.schedule, "offload_optimizer" is offload.optimizer.
  for (const engine::Field& field : engine::scenario_fields()) {
    std::string path = "." + std::string(field.path);
    std::replace(path.begin(), path.end(), '.', '_');
    if (!path.ends_with(name)) continue;
    place.offer_all(field.choices);
    if (field.kind == engine::FieldKind::boolean) place.offer_all(std::array{"on", "off"});
    return;
  }
}

void quantities(Place& place) {
  place.offer("bound");
  for (std::size_t i = 0; i < engine::kReportQuantityCount; ++i) {
    const std::string id(engine::kQuantities[i].id);
    place.offer(id, widgets::quantity_label(place.texts, id));
  }
}
void quantity_lists(Place& place) {
  skip_to_last(place);
  quantities(place);
}

void figure_names(Place& place) {
  if (std::find(place.words.begin(), place.words.end(), "--all") != place.words.end()) return scenarios(place);
  for (const widgets::FigureRow& figure : widgets::figures())
    place.offer(figure.name, place.texts.text("figure." + std::string(figure.name) + ".about"));
}

void figure_options(Place& place) {
  for (const std::string& word : place.words)
    if (const widgets::FigureRow* figure = widgets::find_figure(word))
      for (const widgets::FigureOption& option : figure->options)
        for (const std::string_view choice : option.choices)
          place.offer(std::string(option.key) + "=" + std::string(choice));
}

void blocks(Place& place) {
  for (const engine::BuildingBlock& block : engine::blocks())
    place.offer(block.id, place.texts.text("calc." + std::string(block.id)));
}

void block_inputs(Place& place) {
  for (const std::string& word : place.words) {
    const engine::BuildingBlock* block = engine::find_block(word);
    if (block == nullptr) continue;
    const std::size_t equals = place.typed.find('=');
    if (equals == std::string_view::npos) {
      if (block->takes_chip()) place.offer("chip=");
      if (block->takes_model()) place.offer("model=");
      for (const engine::BlockInput& input : block->inputs) place.offer(std::string(input.name) + "=");
      return;
    }
    const std::string_view name = place.typed.substr(0, equals);
    place.ahead.append(place.typed.substr(0, equals + 1));
    place.typed.remove_prefix(equals + 1);
    if (name == "chip")
      chips(place);
    else if (name == "model")
      offer_presets(place, io::PresetKind::model);
    else if (const engine::BlockInput* input = block->find_input(name))
      place.offer_all(input->choices);
    return;
  }
}

// What stands for the value of an option or for a positional; a command's own row goes first.
struct Row {
  std::string_view command, name;
  void (*offer)(Place&);
};
constexpr Row kRows[] = {
    {"", "--presets", folders},
    {"", "--lang", languages},
    {"", "--theme", themes},
    {"", "--preset", scenario_presets},
    {"", "--capture", files},
    {"", "--set", fields},
    {"", "--output", files},
    {"", "--baseline", scenarios},
    {"", "--measured", files},
    {"", "--for", frameworks},
    {"", "--launcher", launchers},
    {"", "--runs-on", frameworks},
    {"", "--format", formats},
    {"", "--svg-text", svg_texts},
    {"", "--venue", venue_ids},
    {"", "--caption", files},
    {"", "--with", figure_options},
    {"", "--vary", fields},
    {"", "--quantities", quantity_lists},
    {"", "--objective", objectives},
    {"", "--pin", dimensions},
    {"", "--min", dimensions},
    {"", "--max", dimensions},
    {"", "--mode", modes},
    {"", "--chip", chips},
    {"", "scenario", scenarios},
    {"compare", "other", scenarios},
    {"", "file", files},
    {"explain", "quantity", quantities},
    {"figure", "name", figure_names},
    {"presets", "what", presets},
    {"presets", "--sort", model_columns},
    {"calc", "name", blocks},
    {"tour", "name", tours},
    {"tour", "--export", folders},
    {"calc", "inputs", block_inputs},
};

void offer_for(const CLI::App& command, const CLI::Option& option, Place& place) {
  const bool positional = !option.nonpositional();
  for (const Row& row : kRows) {
    if (!row.command.empty() && row.command != command.get_name()) continue;
    const auto is_it = [&](const std::string& name) { return "--" + name == row.name; };
    const auto& names = option.get_lnames();
    if (positional ? option.get_name(true) == row.name : std::any_of(names.begin(), names.end(), is_it))
      return row.offer(place);
  }
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// An option of the command, or of the program around it.
const CLI::Option* find(const CLI::App& program, const CLI::App& command, const std::string& name) {
  const CLI::Option* own = command.get_option_no_throw(name);
  return own != nullptr ? own : program.get_option_no_throw(name);
}

void offer_options(const CLI::App& app, Place& place) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) place.offer("--" + name, option->get_description());
  }
}

// The command that the words before the last name, what the last is the value of if the one before it is an option,
// and how many positionals stand before it.
struct Reading {
  const CLI::App* command = nullptr;
  const CLI::Option* value_of = nullptr;
  std::size_t positionals = 0;
};

Reading read(const CLI::App& program, const std::vector<std::string>& words) {
  Reading reading{&program, nullptr, 0};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (reading.value_of != nullptr) {
      reading.value_of = nullptr;
    } else if (word.starts_with("-")) {
      const CLI::Option* option = find(program, *reading.command, word);  // not of "--theme=dark"
      if (option != nullptr && takes_value(*option)) reading.value_of = option;
    } else {
      const auto named = program.get_subcommands([&](const CLI::App* app) { return app->get_name() == word; });
      if (reading.command == &program && !named.empty())
        reading.command = named.front();
      else
        ++reading.positionals;
    }
  }
  return reading;
}

void offer_positional(const CLI::App& command, std::size_t before, Place& place) {
  const CLI::Option* last = nullptr;
  for (const CLI::Option* option : command.get_options()) {
    if (option->nonpositional()) continue;
    last = option;
    if (before == 0) return offer_for(command, *option, place);
    --before;
  }
  if (last != nullptr && last->get_items_expected_max() > 1) offer_for(command, *last, place);  // a list goes on
}

}  // namespace

std::string completions(const CLI::App& program, const std::vector<std::string>& words,
                        const io::PresetLibrary& library, const widgets::TextTable& texts) {
  const std::string typed = words.empty() ? std::string() : words.back();
  const Reading reading = read(program, words);
  Place place{words, typed, library, texts, {}, {}};
  if (reading.value_of != nullptr) {
    offer_for(*reading.command, *reading.value_of, place);
  } else if (const std::size_t equals = typed.find('='); typed.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* option = find(program, *reading.command, typed.substr(0, equals));
    place.ahead = typed.substr(0, equals + 1);
    place.typed.remove_prefix(equals + 1);
    if (option != nullptr) offer_for(*reading.command, *option, place);
  } else if (typed.starts_with("-")) {
    offer_options(*reading.command, place);
    if (reading.command != &program) offer_options(program, place);
  } else {
    if (reading.command == &program)
      for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
        place.offer(command->get_name(), command->get_description());
    offer_positional(*reading.command, reading.positionals, place);
  }
  return place.out;
}

}  // namespace roofscape::app
