// On the wall: the projector with its controls, and tours.
#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "app/core/strings.h"
#include "app/panels/dock_panel.h"
#include "app/panels/presenter_panel.h"
#include "app/shell/workspace.h"
#include "app/tours/scene_slide.h"
#include "engine/scenario/scenario_fields.h"
#include "widgets/figures/figures.h"

namespace roofscape::app {

using namespace widgets;

void Workspace::set_wall_theme() {
  if (auto theme = load_theme(theme_.dark() ? "projector" : "projector_light"); theme.ok())
    theme_ = std::move(theme).value();
}

void Workspace::open_tour_list() {
  list_.clear();
  std::vector<Option> options;
  std::vector<io::InputError> problems;
  int selected = 0;
  for (const io::Tour& tour : io::load_tours(session_.library(), problems)) {
    const std::string detail = texts_.count("tour.scenes", static_cast<double>(tour.scenes.size()));
    if (panels_.tour.open() && panels_.tour.play->tour().id == tour.id) selected = static_cast<int>(list_.size());
    options.push_back(
        {std::string(tour.title.in(language_of(texts_))), detail, true, false, static_cast<int>(list_.size())});
    list_.push_back(tour.from_user ? tour.origin : tour.id);
  }
  if (!problems.empty()) session_.say(message_of(problems.front(), texts_));
  if (options.empty()) return;
  const Probe::Place* menu = probe_.find("menu.tours");
  const Rect anchor =
      menu != nullptr ? menu->rect : Rect{window_.centre().x - 8 * em_px(window_), 2 * em_px(window_), 1, 1};
  interaction_.open_popup("tour.list", anchor, std::move(options), selected);
}

void Workspace::open_tour(const std::string& id_or_path, std::size_t scene) {
  auto tour = io::load_tour(id_or_path, session_.library());
  if (!tour) return session_.say(message_of(tour.error(), texts_));
  if (!kept_) {
    stop_measured();
    kept_ = Kept{std::move(session_), panels_.search.preferences, baseline_, panels_.projector.open};
    session_ = Session(kept_->session.presets(), kept_->session.scenario(), {});
    panels_.projector.open = false;
  }
  uncover();
  panels_.sheets.shown = Sheet::none;
  panels_.tour.presets = session_.presets();
  panels_.tour.values.reset();
  panels_.tour.play = std::make_unique<TourPlay>(std::move(tour).value(), scene);
  panels_.marks.clear();
  pens_.clear();
  WallState wall;
  wall.presents = panels_.wall.presents;
  wall.since_s = panels_.wall.since_s;
  panels_.wall = std::move(wall);
  if (actions_.set_full_screen) actions_.set_full_screen(true);
  characters_changed_ = true;
  set_wall_theme();
  show_scene();
}

void Workspace::leave_tour() {
  if (!kept_) return;
  tour_places_[panels_.tour.play->tour().id] = panels_.tour.play->index();
  if (panels_.tour.play->tour().from_user)
    tour_places_[panels_.tour.play->tour().origin] = panels_.tour.play->index();
  panels_.tour = {};
  held_axes_ = {};
  panels_.wall.blank = WallState::Blank::none;
  panels_.marks.clear();
  session_ = std::move(kept_->session);
  panels_.search.preferences = std::move(kept_->preferences);
  baseline_ = std::move(kept_->baseline);
  panels_.projector.open = kept_->projected;
  kept_.reset();
  panels_.wall.axes_held = false;
  if (!panels_.projector.open) {
    theme_ = desk_theme_;
    if (actions_.set_full_screen) actions_.set_full_screen(false);
  }
  panels_.figures.pipeline.leave_playback();
}

void Workspace::show_scene() {
  TourState& tour = panels_.tour;
  const io::TourScene& scene = tour.play->scene();
  // What was drawn with the pen stays with its scene, for when one comes back to it.
  if (tour.values && &tour.values->scene() != &scene) {
    const io::TourScene* first = tour.play->tour().scenes.data();
    pens_[static_cast<std::size_t>(&tour.values->scene() - first)] = std::move(panels_.marks.pen);
    panels_.marks.pen = pens_[tour.play->index()];
  }
  // The axes that a guess was set on stay for its answer, and go with the scene.
  if (!tour.values || &tour.values->scene() != &scene) held_axes_ = {}, tour.mark.reset(), tour.axes_kept = false;
  tour.drags = tour.dropped = false;
  tour.values = std::make_unique<SceneValues>(scene, *tour.presets);
  tour.bent.reset();
  tour.derivation = {};
  tour.revealed_s = -1;
  panels_.marks.ink.clear();
  panels_.wall.built = widgets::BuildStep::all;
  const bool revealed = tour.play->play().revealed;
  const PlanState* shown = tour.values->plan();
  const PlanState* before = tour.values->plan(io::kBeforeState);
  baseline_.reset();
  if (shown != nullptr) {
    const bool first = before != nullptr && (!revealed || !scene.runs);
    session_ = Session(tour.presets, first ? before->scenario : shown->scenario, {});
    if (revealed && !scene.runs) session_.update(shown->scenario, false);
    // What it was before stands behind it, or what it is as long as nobody has bent it.
    if (revealed && scene.runs)
      baseline_ = std::make_shared<const Pinned>(before != nullptr ? before->scenario : shown->scenario);
  }
  edit_base_ = session_.scenario();
  settled_.reset();
  for (const io::TourFigure& figure : scene.figures)
    if (const FigureRow* row = find_figure(figure.name))
      panels_.figures.choices[figure_index(*row)] = scene_view(figure).choices;
  panels_.wall.stepped = scene.controls.empty() ? std::string() : scene.controls.front();
  panels_.figures.pipeline.leave_playback();
}

void Workspace::reveal_scene() {
  TourPlay& play = *panels_.tour.play;
  play.reveal();
  if (const auto right = play.is_right(play.index(), *panels_.tour.values)) play.note_score(play.index(), *right);
  show_scene();
  panels_.tour.revealed_s = still() ? -1 : interaction_.input().now_s;
}

void Workspace::step_tour(int by) {
  TourPlay& play = *panels_.tour.play;
  session_.dismiss_message();
  panels_.wall.digits.clear();
  if (by > 0 && !play.play().revealed) return reveal_scene();
  if (by > 0 ? play.step_on() : play.step_back())
    show_scene();
  else if (by > 0)
    session_.say({false, std::string(texts_.text("tour.end")), {}});
}

void Workspace::go_to_scene(std::size_t scene) {
  panels_.tour.play->go_to(scene);
  show_scene();
}

void Workspace::take_digit(int digit) {
  std::string& digits = panels_.wall.digits;
  if (panels_.tour.open()) {
    const TourPlay& play = *panels_.tour.play;
    // One digit is a choice; the number of a scene has two.
    if (digits.empty() && digit > 0 && !play.play().revealed &&
        static_cast<std::size_t>(digit) <= play.scene().choices.size())
      return panels_.tour.play->keep(), panels_.tour.play->choose(static_cast<std::size_t>(digit) - 1);
  }
  if (digits.size() < 3) digits += static_cast<char>('0' + digit);
}

void Workspace::take_enter() {
  const std::string digits = std::exchange(panels_.wall.digits, {});
  if (digits.empty()) {
    if (panels_.tour.open()) step_tour(1);
    return;
  }
  std::size_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (number == 0) return;
  if (panels_.tour.open()) return go_to_scene(number - 1);
  const std::vector<std::size_t> deck = this->deck();
  if (number <= deck.size())
    panels_.projector.figure = deck[number - 1], panels_.wall.built = widgets::BuildStep::all;
}

std::vector<std::string> Workspace::wall_controls() const {
  if (panels_.tour.open()) return usable_controls(panels_.tour.play->scene().controls, session_.scenario());
  const auto own = usable_controls(settings_.pinned, session_.scenario());
  return own.empty() ? usual_controls(session_.scenario()) : own;
}

void Workspace::step_control(int by) {
  const std::vector<std::string> controls = wall_controls();
  if (controls.empty() || (panels_.tour.open() && !panels_.tour.play->play().revealed)) return;
  std::string path = panels_.wall.stepped;
  if (std::find(controls.begin(), controls.end(), path) == controls.end()) path = controls.front();
  const engine::Field* field = engine::find_field(path);
  if (field == nullptr) return;
  edit_base_ = session_.scenario();
  take_edit(step_field(*field, by, session_.scenario()), {path, false}, false);
}

void Workspace::next_control(int by) {
  const std::vector<std::string> controls = wall_controls();
  if (controls.empty()) return;
  const auto n = static_cast<std::ptrdiff_t>(controls.size());
  const std::ptrdiff_t now = std::find(controls.begin(), controls.end(), panels_.wall.stepped) - controls.begin();
  panels_.wall.stepped = controls[static_cast<std::size_t>(((now == n ? 0 : now + by) % n + n) % n)];
}

std::size_t Workspace::left_at(const std::string& tour) const {
  const auto found = tour_places_.find(tour);
  return found == tour_places_.end() ? 0 : found->second;
}

void Workspace::pin_control(const std::string& path) {
  auto& pinned = settings_.pinned;
  const engine::Field* field = engine::find_field(path);
  if (field == nullptr) return;
  const bool was = std::erase(pinned, path) > 0;
  if (!was) {
    if (pinned.size() >= kMostPinned) pinned.erase(pinned.begin());
    pinned.push_back(path);
  }
  const std::string key = "field." + path + ".label";
  const std::string label(texts_.text(texts_.has(key) ? key : "quantity." + path + ".label"));
  session_.say({false, texts_.format(was ? "ui.wall.unpinned" : "ui.wall.pinned", {label}), {}});
}

void Workspace::blank(WallState::Blank what) {
  panels_.wall.blank = panels_.wall.blank == what ? WallState::Blank::none : what;
}

engine::Scenario Workspace::draw_wall(PanelContext& ctx, const Rect& window) {
  ctx.ui.canvas.rect(window, {.colour = theme_.panel});
  if (panels_.wall.since_s < 0) panels_.wall.since_s = interaction_.input().now_s;
  if (panels_.wall.blank != WallState::Blank::none) {
    ctx.ui.io.set_covered(true);
    return session_.scenario();
  }
  // What is drawn over the figure moves nothing under it.
  if (panels_.marks.draws()) ctx.ui.io.set_covered(true);
  engine::Scenario edited = session_.scenario();
  const auto take = [&] {
    // What is drawn from here on is of the slider's new value, in the frame in which it moved.
    take_edit(std::move(edited), std::exchange(ctx.requests.used, {}), interaction_.anything_held());
    edited = session_.scenario();
  };
  if (panels_.tour.open()) {
    TourFrame frame = tour_frame(ctx, window, panels_.tour);
    if (!panels_.wall.digits.empty()) frame.text.tour += "   \u2192 " + panels_.wall.digits;
    edited = tour_dock(ctx, frame, panels_.tour, std::move(edited));
    take();
    return tour_panel(ctx, window, frame, panels_.tour, panels_.figures, std::move(edited));
  }
  const std::vector<std::string> controls = wall_controls();
  edited = dock_panel(ctx, projector_dock(ctx, window, controls.size()), controls, std::move(edited));
  take();
  return projector_panel(ctx, window, panels_.projector, deck(), controls.size(), panels_.wall.digits,
                         panels_.figures, std::move(edited));
}

void Workspace::draw_projected(Canvas& canvas, Rect place) {
  place = place.inset(canvas.em(), 0.7f * canvas.em());
  const SearchSeen found = found_here();
  const FigureInput input = own_figure_input(theme_, studies_, found);
  std::vector<std::size_t> shown{panels_.projector.figure};
  if (panels_.projector.beside && *panels_.projector.beside != shown.front())
    shown.push_back(*panels_.projector.beside);
  const std::vector<Rect> places = figure_places(canvas, place, shown.size());
  for (std::size_t i = 0; i < shown.size() && i < places.size(); ++i) {
    const FigureRow& row = figures()[shown[i]];
    const FigureView view = shown_view(shown[i]);
    const Rect rest = draw_figure_title(canvas, theme_, places[i], figure_head(row, input, view), true);
    draw_figure(row, canvas, rest, input, view);
  }
}

void Workspace::draw_presenter(ScreenCanvas& canvas, ImDrawList* list, const Rect& window, const std::string& clock,
                               double now_s) {
  const Tagging tagging = canvas.tagging();
  PresenterView view{panels_.tour, session_.library(), studies_, panels_.marks, {}, {}, {}, clock, 0,
                     {-1, -1},     16.0f / 9};
  view.mark = &panels_.presenter_mark;
  if (!panels_.tour.open()) {
    view.picture = [this](Canvas& on, const Rect& place) { draw_projected(on, place); };
    const SearchSeen found = found_here();
    const FigureInput input = own_figure_input(theme_, studies_, found);
    const auto head_of = [&](std::size_t figure) {
      return figure_head(figures()[figure], input, shown_view(figure));
    };
    const FigureHead head = head_of(panels_.projector.figure);
    view.title = head.title;
    view.said = head.takeaway;
    const std::size_t next = figure_after(panels_.projector.figure, 1, panels_.projector.beside);
    if (next != panels_.projector.figure) view.next = head_of(next).title;
  }
  view.elapsed_s = panels_.wall.since_s < 0 ? 0 : now_s - panels_.wall.since_s;
  view.shape = window_.h > 0 ? std::clamp(window_.w / window_.h, 0.8f, 3.0f) : view.shape;
  const Point at = interaction_.pointer();
  if (window_.contains(at)) view.pointer = {(at.x - window_.x) / window_.w, (at.y - window_.y) / window_.h};
  const Rect slide = presenter_slide_place(window, view.shape);
  canvas.begin(list, std::max(3.0f, scene_em(slide.w, slide.h)), window);
  canvas.set_tagging(Tagging::none);
  canvas.rect(window, {.colour = theme_.win});
  presenter_slide(canvas, slide, theme_, texts_, view);
  canvas.begin(list, std::max(6.0f, std::min(window.h / kPresenterLines, window.w / kPresenterColumns)), window);
  presenter_panel(canvas, window, theme_, texts_, view);
  canvas.set_tagging(tagging);
}

void Workspace::draw_blank(PanelContext& ctx, const Rect& window) {
  if (on_wall() && panels_.sheets.shown == Sheet::none) wall_marks(ctx, window, panels_.marks);
  if (!on_wall() || panels_.wall.blank == WallState::Blank::none) return;
  ctx.ui.canvas.rect(window, {.colour = panels_.wall.blank == WallState::Blank::black ? Colour{0, 0, 0, 255}
                                                                                      : Colour{255, 255, 255, 255}});
}

}  // namespace roofscape::app
