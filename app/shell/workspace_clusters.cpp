// Which cluster, beside the window: what is asked, and what was answered.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "app/shell/workspace.h"
#include "engine/io/import/named_clusters.h"
#include "widgets/figures/common/figure_row.h"

namespace roofscape::app {

using namespace widgets;

namespace {
constexpr double kProgressFrame_s = 0.1;  // between frames that show how far it is
}

void Workspace::name_clusters() {
  const std::string& among = panels_.search.preferences.clusters.among;
  const engine::Cluster& present = session_.scenario().cluster;
  auto& named = panels_.search.clusters.named;
  const auto is_present = [&](const engine::NamedCluster& one) { return one.cluster == present; };
  const bool stays = named && (!named->is_around || named->around == present ||
                               std::any_of(named->clusters->begin(), named->clusters->end(), is_present));
  if (stays && named->text == among && named->library == session_.presets()) return;
  std::vector<engine::NamedCluster> clusters;
  named = ClustersView::Named{among, session_.presets(), present, false, {}, {}};
  named->problem =
      io::add_named_clusters(among, std::string(texts_.text("ui.clusters.among")), session_.library(), clusters);
  if (!named->problem && clusters.empty()) {
    named->is_around = true;
    clusters = io::clusters_around(present, session_.library());
  }
  named->clusters = std::make_shared<const std::vector<engine::NamedCluster>>(std::move(clusters));
}

void Workspace::take_clusters() {
  ClustersView& view = panels_.search.clusters;
  if (const auto problem = choosing_.take_problem()) session_.say({true, io::to_text(*problem, texts_), {}});
  view.state = choosing_.state();
  view.progress = choosing_.progress();
  view.latest = choosing_.latest();
  const bool serves = session_.scenario().serves();
  view.found = view.latest != nullptr && view.latest->query.serves() == serves ? view.latest : nullptr;
  ClustersSeen& seen = panels_.search.seen.clusters;
  seen.progress = view.progress;
  seen.stopped = view.state == ClusterJob::State::cancelled;
  if (view.found != nullptr) seen.answers = view.found->answers, seen.request = &view.found->query.request;
  if (!shows_clusters() || view.found == nullptr) return;
  name_clusters();
  view.stale = view.named->problem || !view.found->query.asks_the_same(cluster_query());
}

bool Workspace::shows_clusters() const {
  return panels_.search.shows(SearchView::About::clusters) || shows_figure_of(Needs::clusters);
}

ClustersSeen Workspace::clusters_found_here() const {
  const ClustersView& view = panels_.search.clusters;
  ClustersSeen seen;
  seen.waits = false;
  if (view.named && view.named->clusters != nullptr) seen.among = *view.named->clusters;
  if (view.found != nullptr && view.found->finished() && view.named && !view.named->problem &&
      view.found->query.asks_the_same(cluster_query()))
    seen.answers = view.found->answers, seen.request = &view.found->query.request;
  return seen;
}

ClusterQuery Workspace::cluster_query() const {
  const SearchView& search = panels_.search;
  return {session_.scenario(), search.clusters.named->clusters,
          request_of(search.preferences.clusters, session_.scenario().serves())};
}

void Workspace::follow_clusters() {
  if (panels_.search.shows(SearchView::About::clusters)) {
    if (panels_.search.ask == SearchView::Ask::cancel) choosing_.cancel();
    if (panels_.search.ask == SearchView::Ask::again) choosing_.again();
  }
  if (!shows_clusters()) return choosing_.release();
  name_clusters();
  if (panels_.search.clusters.named->problem) return;
  // What a control runs through while it is held is not asked: each takes longer than a frame.
  if (!interaction_.anything_held()) choosing_.ask(cluster_query());
  if (choosing_.state() == ClusterJob::State::running) interaction_.wake_after(kProgressFrame_s);
}

}  // namespace roofscape::app
