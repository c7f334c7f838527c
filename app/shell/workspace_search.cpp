// The search for plans beside the window: what is asked of it, and what it has found.
#include <algorithm>
#include <string_view>
#include <utility>

#include "app/panels/search_panel.h"
#include "app/shell/workspace.h"
#include "widgets/figures/figures.h"

namespace roofscape::app {

using namespace widgets;

namespace {
constexpr std::size_t kHeldSample = 300;
constexpr double kSearchFrame_s = 0.1;  // between frames that show how far a search is
}  // namespace

bool Workspace::shows_search() const {
  if (view.search.open) return true;
  if (view.projector) return figures()[current_figure()].needs == Needs::search;
  if (view.maximised) return figures()[*view.maximised].needs == Needs::search;
  return std::any_of(view.arrangement.cells.begin(), view.arrangement.cells.end(), [](std::string_view name) {
    const FigureRow* figure = widgets::find_figure(name);
    return figure != nullptr && figure->needs == Needs::search;
  });
}

SearchSeen Workspace::found_here() const {
  const auto& found = view.search.found;
  if (found != nullptr && found->query.scenario == session.scenario()) return view.search.seen;
  SearchSeen nothing;
  nothing.space = view.search.seen.space;
  nothing.waits = false;
  return nothing;
}

void Workspace::take_search() {
  SearchView& search = view.search;
  const bool serves = session.scenario().serves();
  search.latest = searching.latest();
  search.found = search.latest != nullptr && search.latest->query.serves() == serves ? search.latest : nullptr;
  search.state = searching.state();
  search.progress = searching.progress();
  search.seen = {};
  search.seen.progress = search.progress;
  search.seen.stopped = search.state == SearchJob::State::cancelled;
  search.stale = false;
  engine::SearchRequest wanted;
  if (!serves) wanted = request_of(session.scenario(), search.preferences);
  if (!serves && shows_search()) {
    search.space = wanted.space;
    search.seen.space = &search.space;
  }
  if (search.found == nullptr) return;
  const SearchOutcome& found = *search.found;
  search.seen.scenario = &found.query.scenario;
  bool same = found.query.scenario == session.scenario();
  if (serves) {
    search.seen.serving = &found.serving;
    same = same && found.query.serving == request_of(session.scenario(), search.preferences.serving);
  } else {
    search.seen.result = &found.result;
    wanted.sample = found.query.request.sample;
    same = same && found.query.request == wanted;
  }
  search.stale = !same;
}

void Workspace::follow_search() {
  switch (view.search.ask) {
    case SearchView::Ask::cancel:
      searching.cancel();
      break;
    case SearchView::Ask::again:
      searching.again();
      break;
    case SearchView::Ask::none:
      break;
  }
  if (!shows_search()) return;
  const bool held = interaction.anything_held();
  if (session.scenario().serves()) {
    searching.ask(session.scenario(), request_of(session.scenario(), view.search.preferences.serving), held);
  } else {
    // While a control is held fewer plans are drawn for the picture, so that lists follow faster.
    engine::SearchRequest request = request_of(session.scenario(), view.search.preferences);
    if (held) request.sample = std::min(request.sample, kHeldSample);
    searching.ask(session.scenario(), request, held);
  }
  if (searching.state() == SearchJob::State::running) interaction.wake_after(kSearchFrame_s);
}

void Workspace::toggle_search() {
  view.search.open = !view.search.open;
  if (!view.search.open) return;
  view.workbench.open = view.editor.open = false;
  view.maximised.reset();
  view.right_open = true;
}

void Workspace::lift_search_limits() {
  view.search.preferences = without_limits(view.search.preferences, session.scenario().workload.kind);
}

}  // namespace roofscape::app
