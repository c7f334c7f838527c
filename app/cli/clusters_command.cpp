// roofscape-cli clusters: the same workload on several clusters, each with its best plan, and which of them comes first.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/output.h"
#include "app/cli/scenario_input.h"
#include "app/cli/search_watch.h"
#include "app/cli/workers.h"
#include "app/core/strings.h"
#include "app/core/text_columns.h"
#include "engine/io/export/clusters_json.h"
#include "engine/io/import/named_clusters.h"
#include "engine/search/cluster_choice.h"
#include "widgets/figures/search/cluster_table.h"

namespace roofscape::app::cli {

using engine::ClusterAnswer;
using engine::ClusterVerdict;
using engine::say;

namespace {

struct ClustersOptions {
  ScenarioInput input;
  std::vector<std::string> on;
  std::string objective;
  double within_days = 0, most_cost_usd = 0;
  bool json = false, csv = false;
};

void add_options(OptionList& list, ClustersOptions& options) {
  list.scenario(options.input.scenario);
  list.repeated("--on", options.on, "cli.clusters.on");
  list.option("--objective", options.objective, "cli.clusters.objective");
  list.positive_number("--within", options.within_days, "cli.clusters.within", engine::unit::days);
  list.positive_number("--max-cost", options.most_cost_usd, "cli.clusters.max_cost", engine::unit::dollars);
  list.json(options.json);
  list.flag("--csv", options.csv, "cli.search.csv");
  add_edits(list, options.input);
}

std::optional<std::vector<engine::NamedCluster>> clusters_of(const Context& context, const ClustersOptions& options,
                                                             const engine::Scenario& scenario) {
  std::vector<engine::NamedCluster> out;
  for (const std::string& list : options.on)
    if (const auto error = io::add_named_clusters(list, "--on", context.library, out)) {
      complain(context.texts, *error);
      return std::nullopt;
    }
  return out.empty() ? io::clusters_around(scenario.cluster, context.library) : out;
}

std::optional<engine::ClusterRequest> request_of(const Context& context, const ClustersOptions& options,
                                                 const engine::Scenario& scenario) {
  engine::ClusterRequest request;
  const auto refuse = [&](const char* option, engine::Sentence message, engine::Sentence remedy) {
    complain(context.texts, {option, {}, std::move(message), std::move(remedy)});
    return std::nullopt;
  };
  if (!options.objective.empty()) {
    const auto found = engine::kClusterObjectiveIds.parse(options.objective);
    if (!found)
      return refuse("--objective", say("error.cli.search.objective", io::in_quotes(options.objective)),
                    say("error.there_are", io::listed(engine::kClusterObjectiveIds.ids())));
    request.objective = *found;
  }
  if (scenario.serves()) {
    if (request.objective == engine::ClusterObjective::energy)
      return refuse("--objective", say("error.cli.clusters.energy"), say("error.cli.clusters.energy.remedy"));
    if (options.within_days > 0 || options.most_cost_usd > 0)
      return refuse(options.within_days > 0 ? "--within" : "--max-cost", say("error.cli.clusters.run"),
                    say("error.cli.clusters.run.remedy"));
  }
  request.most_run_days = options.within_days;
  request.most_cost_usd = options.most_cost_usd;
  return request;
}

std::string table_text(const Context& context, const std::vector<ClusterAnswer>& answers, bool serves) {
  const auto table = widgets::search::cluster_table(context.texts, serves, answers);
  std::vector<bool> to_the_right;
  std::vector<std::string> headings;
  for (const auto& column : table.columns) {
    to_the_right.push_back(column.number);
    headings.push_back(column.heading);
  }
  Columns columns(to_the_right);
  columns.add(headings);
  for (const std::vector<std::string>& row : table.rows) columns.add(row);
  std::string out = columns.text(0);
  if (table.assumed) out += "\n" + std::string(context.texts.text("clusters.ideal")) + "\n";
  return out;
}

int run(const Context& context, const ClustersOptions& options) {
  const auto scenario = read_scenario(context, options.input);
  if (!scenario) return kBadInput;
  if (options.json && options.csv) return refuse_two_formats(context.texts);
  const auto request = request_of(context, options, *scenario);
  if (!request) return kBadInput;
  const auto named = clusters_of(context, options, *scenario);
  if (!named) return kBadInput;
  engine::SearchProgress progress;
  std::vector<ClusterAnswer> answers;
  {
    const SearchWatch watch(context.texts, progress);
    answers = engine::choose_cluster(*scenario, *named, *request, &progress, worker_count(), run_workers);
  }
  if (progress.stop) {
    complain(context.texts, {{}, {}, say("error.cli.clusters.stopped"), {}});
    return kHasErrors;
  }
  const int code = !answers.empty() && answers.front().verdict == ClusterVerdict::meets ? kGood : kHasErrors;
  if (options.json) return print(context.texts, io::clusters_json(answers), code);
  if (options.csv) return print(context.texts, io::clusters_csv(answers), code);
  return print(context.texts, table_text(context, answers, scenario->serves()), code);
}

}  // namespace

const Command clusters_command = command<ClustersOptions, add_options, run>("clusters", "cli.clusters");

}  // namespace roofscape::app::cli
