// The search for plans beside the window: what is asked of it, and what it has found.
#include <algorithm>
#include <string_view>
#include <utility>

#include "app/shell/workspace.h"
#include "widgets/figures/figures.h"

namespace roofscape::app {

using namespace widgets;

namespace {
constexpr std::size_t kHeldSample = 300;
constexpr double kSearchFrame_s = 0.1;  // between frames that show how far a search is
}  // namespace

bool Workspace::shows_figure_of(Needs needs) const {
  if (panels_.projector.open) return figures()[current_figure()].needs == needs;
  if (panels_.figures.maximised) return figures()[*panels_.figures.maximised].needs == needs;
  return std::any_of(settings_.arrangement.cells.begin(), settings_.arrangement.cells.end(),
                     [needs](std::string_view name) {
                       const FigureRow* figure = widgets::find_figure(name);
                       return figure != nullptr && figure->needs == needs;
                     });
}

bool Workspace::shows_search() const {
  return panels_.search.shows(SearchView::About::plans) || shows_figure_of(Needs::search);
}

SearchSeen Workspace::found_here() const {
  const auto& found = panels_.search.found;
  SearchSeen seen;
  if (found != nullptr && found->query.scenario == session_.scenario()) {
    seen = panels_.search.seen;
  } else {
    seen.space = panels_.search.seen.space;
    seen.waits = false;
  }
  seen.clusters = clusters_found_here();
  return seen;
}

std::shared_ptr<const SearchOutcome> Workspace::found_for_present() {
  const std::shared_ptr<const SearchOutcome>& latest = panels_.search.latest;
  const engine::Scenario& scenario = session_.scenario();
  if (latest->query.scenario == scenario) return latest;
  if (placed_.of == latest && placed_.found->query.scenario == scenario) return placed_.found;
  SearchQuery query = latest->query;
  query.scenario = scenario;
  if (!query.asks_the_same(latest->query)) return latest;
  placed_ = {latest, std::make_shared<const SearchOutcome>(with_present(*latest, scenario))};
  return placed_.found;
}

std::shared_ptr<const engine::EvidenceSet> Workspace::measured_to_rank_by() const {
  const engine::Scenario& scenario = session_.scenario();
  const bool ranks =
      offers_slow_end(panels_.search.preferences, scenario) &&
      (scenario.serves() ? panels_.search.preferences.serving.slow_end : panels_.search.preferences.slow_end);
  return ranks ? evidence_ : nullptr;
}

// Results come in an order of their own: what was asked before may be found after what is shown, which may have been
// found long before it was asked. So what is shown gives way to what is of a later moment of the scenario only.
void Workspace::show_newest(bool serves) {
  SearchView& search = panels_.search;
  const engine::Scenario& scenario = session_.scenario();
  const auto is_of_kind = [&](const auto& found) { return found != nullptr && found->query.serves() == serves; };
  const auto is_present = [&](const auto& found) { return found->query.scenario == scenario; };
  const auto shown = is_of_kind(search.found) ? std::move(search.found) : nullptr;
  if (since_found_.empty() || !(since_found_.back() == scenario)) {
    if (!shows_search()) since_found_.clear();
    since_found_.push_back(scenario);
  }
  const auto moment = [&](const auto& found) {  // how long ago, in scenarios; the size: before what is shown
    const auto at = std::find(since_found_.rbegin(), since_found_.rend(), found->query.scenario);
    return static_cast<std::size_t>(at - since_found_.rbegin());
  };

  search.latest = searching_.latest();
  const auto so_far = searching_.so_far();
  search.found = is_of_kind(search.latest) ? found_for_present() : nullptr;
  if (is_of_kind(so_far) && (search.found == nullptr || moment(so_far) < moment(search.found)) &&
      (is_present(so_far) || interaction_.anything_held()))
    search.found = so_far;
  if (search.found == nullptr) return;
  const bool is_older = moment(search.found) == since_found_.size();
  if (shown != nullptr && is_older && searching_.state() != SearchJob::State::cancelled) search.found = shown;
  const std::size_t past = std::min(moment(search.found), since_found_.size() - 1);
  since_found_.erase(since_found_.begin(), since_found_.end() - static_cast<std::ptrdiff_t>(past) - 1);
}

void Workspace::take_search() {
  SearchView& search = panels_.search;
  const bool serves = session_.scenario().serves();
  if (const auto problem = searching_.take_problem()) session_.say({true, io::to_text(*problem, texts_), {}});
  show_newest(serves);
  search.state = searching_.state();
  search.progress = searching_.progress();
  search.seen = {};
  search.seen.progress = search.progress;
  search.seen.stopped = search.state == SearchJob::State::cancelled;
  take_clusters();
  search.stale = false;
  engine::SearchRequest wanted;
  if (!serves) wanted = request_of(session_.scenario(), search.preferences);
  if (!serves && shows_search()) {
    search.space = wanted.space;
    search.seen.space = &search.space;
  }
  if (search.found == nullptr) return;
  const SearchOutcome& found = *search.found;
  search.seen.scenario = &found.query.scenario;
  bool same = found.query.scenario == session_.scenario();
  if (serves) {
    search.seen.serving = &found.serving;
    same = same && found.query.serving == request_of(session_.scenario(), search.preferences.serving);
  } else {
    search.seen.result = &found.result;
    wanted.sample = found.query.request.sample;
    same = same && found.query.request == wanted;
  }
  same = same && found.query.measured == measured_to_rank_by();
  search.stale = !same;
}

void Workspace::follow_search() {
  follow_clusters();
  if (!panels_.search.shows(SearchView::About::clusters)) {
    if (panels_.search.ask == SearchView::Ask::cancel) searching_.cancel();
    if (panels_.search.ask == SearchView::Ask::again) searching_.again();
  }
  if (!shows_search()) {
    searching_.release();
    return;
  }
  const bool held = interaction_.anything_held();
  take_search();
  panels_.search.settings = 1;
  // While a control is held what was found for this scenario before will do, however many plans its picture has.
  if (held && panels_.search.found != nullptr && panels_.search.found->counted() && !panels_.search.stale) return;
  if (session_.scenario().serves()) {
    searching_.ask(session_.scenario(), request_of(session_.scenario(), panels_.search.preferences.serving), held,
                   measured_to_rank_by());
  } else {
    // Meanwhile fewer plans are drawn for the picture, so that lists follow faster.
    engine::SearchRequest request = request_of(session_.scenario(), panels_.search.preferences);
    panels_.search.settings = engine::count_settings(request.space);
    if (panels_.search.settings > engine::kMostSettings) {
      searching_.release();
      return;
    }
    if (held) request.sample = std::min(request.sample, kHeldSample);
    searching_.ask(session_.scenario(), request, held, measured_to_rank_by());
  }
  if (searching_.state() == SearchJob::State::running) interaction_.wake_after(kSearchFrame_s);
}

void Workspace::toggle_search(SearchView::About about) {
  const bool was_open = panels_.search.open;
  panels_.search.open = !panels_.search.shows(about);
  panels_.search.about = about;
  if (was_open) return;
  uncover();
  panels_.figures.maximised.reset();
  panels_.right_rail.open = true;
}

void Workspace::lift_search_limits() {
  panels_.search.preferences = without_limits(panels_.search.preferences, session_.scenario().workload.kind);
}

}  // namespace roofscape::app
