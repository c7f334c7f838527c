// roofscape-cli clusters: the same workload on several clusters, each with its best plan, and which of them comes first.
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/figure_options.h"
#include "app/cli/output.h"
#include "app/cli/scenario_input.h"
#include "app/cli/search_watch.h"
#include "app/cli/workers.h"
#include "app/core/export.h"
#include "app/core/figure_form.h"
#include "app/core/fonts.h"
#include "app/core/strings.h"
#include "app/core/text_columns.h"
#include "engine/evaluate/evaluate.h"
#include "engine/io/export/clusters_json.h"
#include "engine/io/import/named_clusters.h"
#include "engine/io/json/files.h"
#include "engine/search/cluster_choice.h"
#include "widgets/figures/figures.h"
#include "widgets/figures/search/cluster_table.h"

namespace roofscape::app::cli {

using engine::ClusterAnswer;
using engine::ClusterVerdict;
using engine::say;

namespace {

struct ClustersOptions {
  ScenarioInput input;
  std::vector<std::string> on;
  std::string objective, output, theme, size;
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
  list.option("-o,--output", options.output, "cli.clusters.output");
  list.option("--theme", options.theme, "cli.figure.theme", theme_names());
  list.option("--size", options.size, "cli.figure.size");
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
  std::string notes;
  if (table.idle) notes += std::string(context.texts.text("clusters.idle")) + "\n";
  if (table.assumed) notes += std::string(context.texts.text("clusters.ideal")) + "\n";
  if (const std::string words = widgets::search::above_one_words(context.texts, table.rows); !words.empty())
    notes += words + "\n";
  return notes.empty() ? out : out + "\n" + notes;
}

const widgets::FigureRow& figure_row() { return *widgets::find_figure("clusters"); }

// The figure of the answers, on its way to a file: what may be wrong with that is said before anything is searched.
struct Picture {
  FileFormat format;
  ExportOptions form;
  widgets::Theme theme;
  widgets::FontStack fonts;
};
io::Result<Picture> picture_of(const Context& context, const ClustersOptions& options) {
  FigureOptions asked;
  asked.output = options.output, asked.form.size = options.size;
  asked.theme = options.theme.empty() ? "print" : options.theme;
  const auto format = app::format_of(std::filesystem::path(options.output));
  if (!format)
    return io::InputError{options.output, {}, say("error.figure.extension"), say("error.figure.extension.remedy")};
  if (auto error = unused_option(asked, *format)) return *std::move(error);
  auto form = form_of(default_size(figure_row()), asked.form, asked.theme);
  if (!form) return form.error();
  auto theme = load_theme(asked.theme, context.folder);
  if (!theme) return theme.error();
  auto fonts = load_fonts({});
  if (!fonts) return fonts.error();
  return Picture{*format, std::move(form).value(), std::move(theme).value(), std::move(fonts).value()};
}

io::Failure write_picture(const Context& context, const ClustersOptions& options, const Picture& picture,
                          const engine::Scenario& scenario, const std::vector<ClusterAnswer>& answers,
                          const engine::ClusterRequest& request) {
  const engine::Report report = engine::evaluate(scenario);
  widgets::StudyCache studies;
  widgets::SearchSeen seen;
  seen.clusters.answers = answers, seen.clusters.request = &request;
  widgets::FigureInput input{scenario, report, context.texts, picture.theme, studies};
  input.search = &seen;
  const auto bytes = drawing_bytes(drawing_of(figure_row(), input, {}, &context.library), picture.format,
                                   picture.form, picture.fonts);
  return bytes ? io::write_file_atomically(options.output, bytes.value()) : bytes.error();
}

int run(const Context& context, const ClustersOptions& options) {
  const auto scenario = read_scenario(context, options.input);
  if (!scenario) return kBadInput;
  if (options.json && options.csv) return refuse_two_formats(context.texts);
  if (options.output.empty() && (!options.theme.empty() || !options.size.empty()))
    return refuse(context.texts, {options.theme.empty() ? "--size" : "--theme",
                                  {},
                                  say("error.cli.clusters.figure_only"),
                                  say("error.cli.clusters.figure_only.remedy")});
  std::optional<io::Result<Picture>> picture;
  if (!options.output.empty()) picture.emplace(picture_of(context, options));
  if (picture && !*picture) return refuse(context.texts, picture->error());
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
  if (picture)
    if (const auto failure = write_picture(context, options, picture->value(), *scenario, answers, *request))
      return refuse(context.texts, *failure);
  const int code = !answers.empty() && answers.front().verdict == ClusterVerdict::meets ? kGood : kHasErrors;
  if (options.json) return print(context.texts, io::clusters_json(answers), code);
  if (options.csv) return print(context.texts, io::clusters_csv(answers), code);
  return print(context.texts, table_text(context, answers, scenario->serves()), code);
}

}  // namespace

const Command clusters_command = command<ClustersOptions, add_options, run>("clusters", "cli.clusters");

}  // namespace roofscape::app::cli
