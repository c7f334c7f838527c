// Which cluster, beside the window: what is asked, and what was answered.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "app/shell/workspace.h"
#include "engine/io/import/named_clusters.h"

namespace roofscape::app {

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
  if (!panels_.search.shows(SearchView::About::clusters) || view.found == nullptr) return;
  name_clusters();
  view.stale = view.named->problem || !view.found->query.asks_the_same(cluster_query());
}

ClusterQuery Workspace::cluster_query() const {
  const SearchView& search = panels_.search;
  return {session_.scenario(), search.clusters.named->clusters,
          request_of(search.preferences.clusters, session_.scenario().serves())};
}

void Workspace::follow_clusters() {
  if (!panels_.search.shows(SearchView::About::clusters)) return;
  if (panels_.search.ask == SearchView::Ask::cancel) choosing_.cancel();
  if (panels_.search.ask == SearchView::Ask::again) choosing_.again();
  name_clusters();
  if (panels_.search.clusters.named->problem) return;
  // What a control runs through while it is held is not asked: each takes longer than a frame.
  if (!interaction_.anything_held()) choosing_.ask(cluster_query());
  if (choosing_.state() == ClusterJob::State::running) interaction_.wake_after(kProgressFrame_s);
}

}  // namespace roofscape::app
