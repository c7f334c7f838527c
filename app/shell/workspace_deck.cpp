// The deck of the projector: which figures are shown in which order. It is kept with the settings; without one of their own
// all figures come in the order of the table.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/core/strings.h"
#include "app/shell/workspace.h"
#include "widgets/figures/figures.h"

namespace roofscape::app {

using namespace widgets;

namespace {

std::vector<std::string> all_figures() {
  std::vector<std::string> names;
  for (const FigureRow& row : figures()) names.emplace_back(row.name);
  return names;
}

}  // namespace

std::vector<std::size_t> Workspace::deck() const {
  const engine::Scenario& s = session_.scenario();
  // A pipeline of one stage has no picture.
  const auto empty = [&](const FigureRow& row) {
    return !shows(row, s) || (row.needs == Needs::stages && s.parallelism.pipeline == 1 && !s.serves());
  };
  std::vector<std::size_t> deck;
  for (const std::string& name : settings_.deck)
    if (const FigureRow* row = find_figure(name); row != nullptr && !empty(*row)) deck.push_back(figure_index(*row));
  if (!deck.empty()) return deck;
  for (std::size_t i = 0; i < figures().size(); ++i)
    if (!empty(figures()[i])) deck.push_back(i);
  return deck;
}

std::size_t Workspace::figure_after(std::size_t figure, int by, std::optional<std::size_t> other) const {
  const std::vector<std::size_t> deck = this->deck();
  const auto n = static_cast<int>(deck.size());
  const auto found = std::find(deck.begin(), deck.end(), figure);
  // From a figure that is not of the deck one comes to its beginning or its end.
  int at = found != deck.end() ? static_cast<int>(found - deck.begin()) : by > 0 ? -1 : n;
  for (int i = 0; i < n; ++i) {
    at = ((at + by) % n + n) % n;
    if (deck[static_cast<std::size_t>(at)] != other) return deck[static_cast<std::size_t>(at)];
  }
  return figure;
}

void Workspace::open_deck() {
  std::vector<Option> options;
  int selected = 0;
  const std::vector<std::string> deck = settings_.deck.empty() ? all_figures() : settings_.deck;
  // Those of the deck in their order, then the rest.
  std::vector<std::size_t> order;
  for (const std::string& name : deck) order.push_back(figure_index(*find_figure(name)));
  const std::size_t taken = order.size();
  for (std::size_t i = 0; i < figures().size(); ++i)
    if (std::find(order.begin(), order.end(), i) == order.end()) order.push_back(i);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] == panels_.projector.figure) selected = static_cast<int>(i);
    Option option{std::string(texts_.text("command.figure." + std::string(figures()[order[i]].name))), {}};
    option.separated = i == taken && i > 0;
    option.checked = i < taken;
    option.value = static_cast<int>(order[i]);
    options.push_back(std::move(option));
  }
  interaction_.open_popup("wall.deck", {window_.centre().x - 8 * em_px(window_), 2 * em_px(window_), 1, 1},
                          std::move(options), selected);
}

void Workspace::take_deck_choice() {
  const auto choice = interaction_.popup_choice("wall.deck");
  if (!choice || *choice < 0 || static_cast<std::size_t>(*choice) >= figures().size()) return;
  keep_in_deck(static_cast<std::size_t>(*choice));
}

void Workspace::keep_in_deck(std::size_t figure) {
  const std::string name(figures()[figure].name);
  if (settings_.deck.empty()) settings_.deck = all_figures();
  const bool was = std::erase(settings_.deck, name) > 0;
  if (!was) settings_.deck.push_back(name);
  if (settings_.deck.empty() || settings_.deck == all_figures()) settings_.deck.clear();
  session_.say({false,
                texts_.format(was ? "ui.wall.deck.left_out" : "ui.wall.deck.taken_in",
                              {std::string(texts_.text("command.figure." + name))}),
                {}});
}

void Workspace::move_in_deck(int by) {
  std::vector<std::string> names = settings_.deck.empty() ? all_figures() : settings_.deck;
  const std::string name(figures()[panels_.projector.figure].name);
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return;
  // Past those that are not shown now.
  const std::size_t next = figure_after(panels_.projector.figure, by, {});
  const auto other = std::find(names.begin(), names.end(), std::string(figures()[next].name));
  if (other == names.end() || other == at || (other > at) != (by > 0)) return;
  const auto to = other - names.begin();
  names.erase(at);
  names.insert(names.begin() + to, name);
  settings_.deck = names == all_figures() ? std::vector<std::string>() : std::move(names);
}

void Workspace::toggle_projector() {
  panels_.projector.open = !panels_.projector.open;
  if (actions_.set_full_screen) actions_.set_full_screen(panels_.projector.open);
  panels_.wall.axes_held = false;
  panels_.marks.clear();
  if (!panels_.projector.open) {
    theme_ = desk_theme_;
    return;
  }
  panels_.projector.figure = current_figure();
  panels_.wall.built = widgets::BuildStep::all;
  panels_.figures.maximised.reset();
  set_wall_theme();
}

void Workspace::step_projector(int by) {
  session_.dismiss_message();  // it was about the figure before
  panels_.marks.ink.clear();
  panels_.marks.pen.clear();
  panels_.wall.built = widgets::BuildStep::all;
  panels_.projector.figure = figure_after(panels_.projector.figure, by, panels_.projector.beside);
}

void Workspace::toggle_beside() {
  auto& projector = panels_.projector;
  if (projector.beside)
    projector.beside.reset();
  else
    projector.beside = figure_after(projector.figure, 1, projector.figure);
}

void Workspace::step_beside(int by) {
  auto& projector = panels_.projector;
  projector.beside = figure_after(projector.beside.value_or(projector.figure), by, projector.figure);
}

}  // namespace roofscape::app
