// Writing tours in the window: a scene of what is shown, its words, its place, all kept at once in the user's file.
#include <algorithm>
#include <cmath>
#include <system_error>

#include "app/core/scenario_changes.h"
#include "app/core/strings.h"
#include "app/session/file_list.h"
#include "app/shell/workspace.h"
#include "engine/io/json/files.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/io/tour/tour_edit.h"
#include "engine/scenario/scenario_fields.h"
#include "widgets/figures/figures.h"

namespace roofscape::app {

namespace {

std::filesystem::path tour_folder(const io::PresetLibrary& library) { return preset_root(library) / "tours"; }

// What the answer is guessed between: all of a share, else a factor of ten to either side.
std::pair<double, double> range_around(double value, const engine::Unit& unit) {
  if (unit.notation == engine::Notation::percent && value >= 0 && value <= 1) return {0, 1};
  if (!(value > 0)) return {std::min(2 * value, 0.0), std::max(std::abs(value), 1.0)};
  return {std::pow(10, std::floor(std::log10(value / 10))), std::pow(10, std::ceil(std::log10(value * 10)))};
}

}  // namespace

std::filesystem::path Workspace::authored_file() const {
  if (panels_.tour.open()) return panels_.tour.play->tour().origin;
  const std::string& name = panels_.sheets.scene.words[SceneSheetState::tour];
  return tour_folder(session_.library()) / (file_stem(name) + ".json");
}

void Workspace::open_scene_sheet(bool edits) {
  SceneSheetState& sheet = panels_.sheets.scene;
  const std::string tour = sheet.words[SceneSheetState::tour];
  sheet = {};
  sheet.words[SceneSheetState::tour] = tour.empty() ? std::string(texts_.text("ui.scene.tour.usual")) : tour;
  if (edits) {
    const io::TourScene& scene = panels_.tour.play->scene();
    sheet.edits = panels_.tour.play->index();
    sheet.words[SceneSheetState::title] = scene.title.in(io::kTourLanguage);
    sheet.words[SceneSheetState::question] = scene.question.in(io::kTourLanguage);
    sheet.words[SceneSheetState::sentence] = scene.sentence.in(io::kTourLanguage);
    sheet.words[SceneSheetState::answer] = scene.answer.text();
    sheet.mark = scene.mark;
    sheet.offer = [this, kept = scene.mark, answer = scene.answer.text()](const widgets::FontStack& fonts,
                                                                          const std::string& typed) {
      std::vector<MarkOffer> out = offered_marks_of_scene(fonts, typed);
      const auto same = [&](const MarkOffer& offer) { return mark_word(offer.mark) == mark_word(kept); };
      if (typed == answer && std::none_of(out.begin(), out.end(), same))
        out.insert(out.begin() + 1, {kept, texts_.format("ui.scene.mark.kept", {mark_word(kept)})});
      return out;
    };
  } else {
    sheet.offer = [this](const widgets::FontStack& fonts, const std::string& typed) {
      const widgets::SearchSeen found = found_here();
      return mark_offers(fonts, widgets::figures()[current_figure()], own_figure_input(theme_, studies_, found),
                         shown_view(current_figure()), typed);
    };
    sheet.words[SceneSheetState::answer] =
        session_.scenario().serves() ? "serving.time_per_output_token_s" : "step.time_s";
    sheet.words[SceneSheetState::sentence] = "{answer}";
  }
  sheet.file = authored_file().string();
  panels_.sheets.shown = Sheet::scene;
}

std::vector<MarkOffer> Workspace::offered_marks_of_scene(const widgets::FontStack& fonts, const std::string& answer) {
  std::vector<MarkOffer> nothing{{{}, std::string(texts_.text("ui.scene.mark.line"))}};
  if (!panels_.tour.open() || panels_.tour.play->scene().figures.empty()) return nothing;
  const io::TourFigure& figure = panels_.tour.play->scene().figures.front();
  const PlanState* plan = panels_.tour.values->plan();
  const widgets::FigureRow* row = widgets::find_figure(figure.name);
  if (plan == nullptr || row == nullptr) return nothing;
  const widgets::FigureInput input{plan->scenario, plan->report, texts_, theme_,
                                   studies_,       nullptr,      {},     session_.library().chips()};
  return mark_offers(fonts, *row, input, scene_view(figure), answer);
}

io::SceneDraft Workspace::drafted_scene() const {
  const SceneSheetState& sheet = panels_.sheets.scene;
  io::SceneDraft draft;
  draft.title = sheet.words[SceneSheetState::title];
  draft.question = sheet.words[SceneSheetState::question];
  draft.sentence = sheet.words[SceneSheetState::sentence];
  draft.answer = sheet.words[SceneSheetState::answer];
  draft.mark = mark_word(sheet.mark);
  draft.mark_of = sheet.mark.of;
  draft.scenario = session_.scenario();
  if (const auto q = engine::find_quantity(engine::without_index(draft.answer)))
    if (const auto value = session_.report().quantities[*q])
      draft.guess = range_around(*value, engine::quantity(*q).unit);
  // Its preset with a few changes is read more easily than all of it, where these changes are all there is.
  if (const std::string origin = session_.origin(); session_.library().find_scenario_text(origin) != nullptr) {
    engine::Scenario again = session_.loaded();
    bool fields = true;
    std::vector<std::string> set;
    for (const ScenarioChange& change : scenario_changes(session_.loaded(), session_.scenario())) {
      fields = fields && change.field != nullptr;
      if (!fields) break;
      set.push_back(change.what + "=" + field_value_text(*change.field, change.field->get(session_.scenario())));
      fields = !io::set_field(again, set.back(), session_.library());
    }
    if (fields && again == session_.scenario()) {
      draft.preset = origin;
      draft.set = std::move(set);
    }
  }
  const widgets::FigureRow& row = widgets::figures()[current_figure()];
  draft.figure = row.name;
  const widgets::FigureView view = shown_view(current_figure());
  for (std::size_t i = 0; i < row.options.size(); ++i)
    if (view.choices[i] != 0)
      draft.with.push_back(std::string(row.options[i].key) + "=" +
                           std::string(row.options[i].choices[view.choices[i]]));
  draft.controls = wall_controls();
  return draft;
}

void Workspace::save_scene() {
  SceneSheetState& sheet = panels_.sheets.scene;
  const std::filesystem::path file = authored_file();
  const io::SceneDraft draft = drafted_scene();
  std::error_code unknown;
  std::string old;
  if (std::filesystem::exists(file, unknown)) {
    auto read = io::read_file(file);
    if (!read) return refuse_scene(read.error());
    old = std::move(read).value();
  }
  const auto text =
      sheet.edits ? io::with_words(old, file.string(), *sheet.edits, draft, session_.library())
                  : io::with_scene(old, file.string(), sheet.words[SceneSheetState::tour], draft, session_.library());
  if (!text) return refuse_scene(text.error());
  if (!write_tour(text.value(), file)) return;
  if (sheet.edits) return open_tour(file.string(), *sheet.edits);
  session_.say({false, texts_.format("ui.scene.added", {file.string()}), {}});
}

void Workspace::refuse_scene(const io::InputError& error) {
  // Without the file's name, which stands there anyway.
  io::InputError shown = error;
  shown.file.clear();
  panels_.sheets.scene.problem = io::to_text(shown, texts_);
  panels_.sheets.shown = Sheet::scene;
}

bool Workspace::write_tour(const std::string& text, const std::filesystem::path& file) {
  std::error_code failed;
  std::filesystem::create_directories(file.parent_path(), failed);
  const auto failure = io::write_file_atomically(file, text);
  if (failure) session_.say(message_of(*failure, texts_));
  return !failure;
}

bool Workspace::in_own_tour() const { return panels_.tour.open() && panels_.tour.play->tour().from_user; }

void Workspace::move_scene(int by) {
  const std::string file = panels_.tour.play->tour().origin;
  const std::size_t index = panels_.tour.play->index(), count = panels_.tour.play->count();
  const auto read = io::read_file(file);
  if (!read) return session_.say(message_of(read.error(), texts_));
  const auto text = by == 0 ? io::without_scene(read.value(), file, index, session_.library())
                            : io::with_scene_moved(read.value(), file, index, by, session_.library());
  if (!text) return session_.say(message_of(text.error(), texts_));
  if (!write_tour(text.value(), file)) return;
  const bool at_end = by < 0 ? index == 0 : index + 1 == count;
  open_tour(file, by == 0 || at_end ? index : by < 0 ? index - 1 : index + 1);
}

}  // namespace roofscape::app
