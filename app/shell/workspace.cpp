#include "app/shell/workspace.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/core/figure_form.h"
#include "app/core/strings.h"
#include "app/shell/commands.h"
#include "app/tours/scene_slide.h"
#include "engine/io/scenario/scenario_json.h"
#include "widgets/figures/figures.h"

namespace roofscape::app {

using namespace widgets;

namespace {

constexpr float kWallZoom = 1.5f;  // of a window of 4K

}  // namespace

Workspace::Workspace(std::shared_ptr<const io::PresetLibrary> presets, const FontStack& fonts, engine::Scenario start,
                     std::string origin, TextTable texts, Theme theme, Settings chosen)
    : session_(std::move(presets), std::move(start), std::move(origin)),
      settings_(std::move(chosen)),
      fonts_(fonts),
      texts_(std::move(texts)),
      theme_(std::move(theme)),
      desk_theme_(theme_) {
  edit_base_ = session_.scenario();
  for (const MissingFont& m : fonts.missing())
    session_.say({true, texts_.format("ui.font.missing", {m.family, m.package}), {}});
}

double Workspace::zoom(const Rect& window) const {
  const float w = window.w / content_scale_, h = window.h / content_scale_;
  // A wall of pixels that does not say it is dense is still read from a distance.
  const float usual = is_small(w, h) ? kSmallZoom : w >= 3200 && h >= 1700 ? kWallZoom : 1.0f;
  const double wanted = settings_.zoom > 0 ? settings_.zoom : static_cast<double>(usual);
  return std::min(wanted, static_cast<double>(std::min(w / kLeastWidth, h / kLeastHeight)));
}

float Workspace::em_px(const Rect& window) const {
  if (panels_.tour.open()) return std::max(6.0f, scene_em(window.w, window.h));
  if (panels_.projector.open) return std::max(6.0f, wall_em(window.w, window.h));
  return std::max(6.0f, 15.0f * content_scale_ * static_cast<float>(zoom(window)));
}

void Workspace::change_zoom(int eighths) {
  if (eighths == 0) {
    settings_.zoom = 0;
    return;
  }
  const double now = zoom(window_);
  settings_.zoom = std::clamp((std::round(now * 8) + eighths) / 8, 0.75, 4.0);
}

void Workspace::remember_size(int width, int height) {
  settings_.width = width;
  settings_.height = height;
}

bool Workspace::set_theme(const std::string& name) {
  auto theme = load_theme(name);
  if (!theme.ok()) return false;
  theme_ = desk_theme_ = std::move(theme).value();
  settings_.theme = name;
  if (on_wall()) set_wall_theme();
  return true;
}

void Workspace::set_language(const std::string& name) {
  auto texts = load_texts(name);
  if (!texts.ok()) return session_.say(message_of(texts.error(), texts_));
  texts_ = std::move(texts).value();
  settings_.language = name;
  characters_changed_ = true;
  // What was said and what is listed stand in the language before.
  studies_.clear();
  panels_.search.clusters.refused.reset();
  session_.dismiss_message();
  interaction_.close_popup();
  if (panels_.sheets.shown == Sheet::palette) {
    interaction_.stop_entry();
    panels_.palette = {};
  }
}

void Workspace::reset_layout() {
  settings_.arrangement = {};
  const bool serving = settings_.kind == engine::WorkloadKind::serving;
  settings_.arrangement.cells = default_cells(settings_.kind);
  settings_.other_cells = default_cells(serving ? engine::WorkloadKind::training : engine::WorkloadKind::serving);
}

void Workspace::toggle_left_rail() {
  const float room = window_.w * 15 / em_px(window_);
  if (room < (panels_.right_rail.open ? kLeastWithBoth : kLeastWithRail)) {
    left_asked_ = !left_asked_;
    settings_.arrangement.left_open = true;
    if (left_asked_) panels_.right_rail.open = was_right_open_ = false;
  } else {
    settings_.arrangement.left_open = !settings_.arrangement.left_open;
  }
}

void Workspace::open_palette() {
  panels_.palette = {};
  SheetState& sheets = panels_.sheets;
  if (sheets.shown == Sheet::palette) {
    sheets.shown = std::exchange(sheets.under, Sheet::none);
  } else {
    interaction_.stop_entry();
    sheets.under = std::exchange(sheets.shown, Sheet::palette);
  }
}

void Workspace::open_derivation(const std::string& id) {
  if (panels_.tour.open()) return panels_.tour.derivation.open(id);
  panels_.right_rail.derivation.open(id);
  panels_.right_rail.open = true;
}

void Workspace::open_evidence(engine::EvidenceKind kind) {
  const FigureRow* row = find_figure("evidence");
  if (row == nullptr) return;
  const std::size_t figure = figure_index(*row);
  auto& choices = panels_.figures.choices[figure];
  choose(*row, "quantity", engine::kEvidenceKindIds[kind], choices);
  choose(*row, "mode", "own", choices);
  panels_.figures.maximised = figure;
}

void Workspace::run_entry(const PaletteEntry& entry) {
  engine::Scenario edited = session_.scenario();
  switch (entry.kind) {
    case PaletteKind::command:
      if (const Command* c = find_command(entry.value); c != nullptr && enabled(*c, *this)) c->run(*this);
      return;
    case PaletteKind::field:
      if (const engine::Field* field = engine::find_field(entry.value)) field->set(edited, entry.number);
      if (edited.workload.kind != session_.scenario().workload.kind)
        edited = session_.with_kind(edited.workload.kind);
      break;
    case PaletteKind::quantity:
      return open_derivation(entry.value);
    case PaletteKind::scenario:
      return open(entry.value);
    case PaletteKind::file:
      return open_file(entry.value);
    case PaletteKind::model:
      if (const auto* model = session_.library().find_model(entry.value)) edited.model = *model;
      break;
    case PaletteKind::cluster:
      if (const auto* cluster = session_.library().find_cluster(entry.value))
        edited.cluster = *cluster;
      else if (session_.library().find_chip(entry.value) != nullptr)
        (void)io::set_field(edited, "cluster.chip=" + entry.value, session_.library());
      break;
    case PaletteKind::block:
      uncover();
      return panels_.workbench.show(entry.value);
    case PaletteKind::pin:
      return pin_control(entry.value);
    case PaletteKind::tour:
      return open_tour(entry.value, left_at(entry.value));
    case PaletteKind::complete:
      return;
  }
  take_edit(std::move(edited), {entry.kind == PaletteKind::field ? entry.value : std::string(), true}, false);
}

bool Workspace::edited() const {
  return panels_.editor.open && departures(panels_.editor.part, session_.scenario(), editor_preset(session_)) > 0;
}

void Workspace::reset_edited() {
  engine::Scenario back = session_.scenario();
  reset_part(panels_.editor.part, back, editor_preset(session_));
  panels_.editor.refused.clear();
  session_.update(std::move(back), false);
}

std::string Workspace::characters() const {
  std::string all;
  for (const auto& entry : texts_.all()) all += entry.second;
  for (const io::PresetKind kind :
       {io::PresetKind::chip, io::PresetKind::cluster, io::PresetKind::model, io::PresetKind::scenario})
    for (const io::Preset& p : session_.library().list(kind)) all += p.name;
  // Of tours what their files hold: a text of theirs may be in any language.
  if (panels_.tour.open())
    for (const io::TourScene& scene : panels_.tour.play->tour().scenes)
      for (const io::TourText* text : {&scene.title, &scene.context, &scene.question, &scene.sentence, &scene.notes})
        all += text->in(language_of(texts_));
  return all;
}

std::string Workspace::take_new_characters() {
  return std::exchange(characters_changed_, false) ? characters() : std::string();
}

void Workspace::set_wake(const std::function<void()>& wake) {
  searching_.set_wake(wake);
  choosing_.set_wake(wake);
  evidence_job_.set_wake(wake);
  measuring_.set_wake(wake);
}

void Workspace::finish_evidence() {
  start_evidence();
  evidence_job_.wait();
  take_evidence();
}

bool Workspace::take_evidence() {
  if (const auto problem = evidence_job_.take_problem()) session_.say({true, io::to_text(*problem, texts_), {}});
  auto made = evidence_job_.take();
  if (made == nullptr) return false;
  evidence_ = std::move(made);
  return true;
}

}  // namespace roofscape::app
