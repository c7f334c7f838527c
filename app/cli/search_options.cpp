#include "app/cli/search_options.h"

#include <map>
#include <string_view>

#include "app/cli/output.h"

namespace roofscape::app::cli {

using engine::say;

namespace {

using engine::ConstraintKind;

// Reads --objective as one of these ids; nothing, and a complaint, if it is none.
template <class Objective>
std::optional<Objective> objective_of(const Context& context, const SearchOptions& options,
                                      const engine::EnumTable<Objective>& ids) {
  if (options.objective.empty()) return static_cast<Objective>(0);
  if (const auto found = ids.parse(options.objective)) return found;
  complain(context.texts, {"--objective",
                           {},
                           say("error.cli.search.objective", io::in_quotes(options.objective)),
                           say("error.there_are", io::listed(ids.ids()))});
  return std::nullopt;
}

// Puts --pin, --min and --max into `into`, a space of plans; complains about the first that cannot be.
template <class Space>
bool constrain_all(const Context& context, const SearchOptions& options, Space& into) {
  const auto constrain = [&](const char* option, const std::vector<std::string>& list, ConstraintKind kind) {
    std::map<std::string_view, std::string_view> said;
    for (const std::string& text : list) {
      const std::size_t equals = text.find('=');
      if (equals == std::string::npos) {
        complain(
            context.texts,
            {option, {}, say("error.cli.search.equals", io::in_quotes(text)), say("error.cli.search.equals.remedy")});
        return false;
      }
      const std::string_view name = std::string_view(text).substr(0, equals);
      if (const auto [earlier, is_new] = said.emplace(name, text); !is_new && earlier->second != text) {
        complain(context.texts, {option,
                                 {},
                                 say("error.cli.search.twice", io::in_quotes(earlier->second), io::in_quotes(text)),
                                 kind == ConstraintKind::pinned ? say("error.cli.search.twice.list")
                                                                : say("error.cli.search.twice.remedy")});
        return false;
      }
      if (const auto error = engine::constrain(into, std::string_view(text).substr(0, equals),
                                               std::string_view(text).substr(equals + 1), kind)) {
        complain(context.texts, {option, {}, error->message, error->remedy});
        return false;
      }
    }
    return true;
  };
  return constrain("--pin", options.pin, ConstraintKind::pinned) &&
         constrain("--min", options.at_least, ConstraintKind::at_least) &&
         constrain("--max", options.at_most, ConstraintKind::at_most);
}

// Reads --runs-on into `into`; complains where it is no launcher or server.
bool limit_to_framework(const Context& context, const SearchOptions& options,
                        std::optional<engine::Framework>& into) {
  if (options.runs_on.empty()) return true;
  into = engine::kFrameworkIds.parse(options.runs_on);
  if (!into)
    complain(context.texts, {"--runs-on",
                             {},
                             say("error.not_known", io::in_quotes(options.runs_on)),
                             say("error.there_are", io::listed(engine::kFrameworkIds.ids()))});
  return into.has_value();
}

// A table is read by people; files have every plan.
bool merges(const SearchOptions& options) { return !options.every && !options.json && !options.csv; }

}  // namespace

void add_search_options(OptionList& list, SearchOptions& options) {
  list.scenario(options.input.scenario);
  list.whole_number("--limit", options.limit, "cli.search.limit", 1, 10000);
  list.option("--objective", options.objective, "cli.search.objective");
  list.repeated("--pin", options.pin, "cli.search.pin");
  list.repeated("--min", options.at_least, "cli.search.min");
  list.repeated("--max", options.at_most, "cli.search.max");
  list.number("--min-free", options.min_free, "cli.search.min_free", engine::unit::fraction, 0.0, 0.99);
  list.flag("--slow-end", options.slow_end, "cli.search.slow_end");
  list.flag("--every", options.every, "cli.search.every");
  list.positive_number("--max-token-time", options.most_token_s, "cli.search.max_token_time", engine::unit::seconds);
  list.positive_number("--max-ttft", options.most_ttft_s, "cli.search.max_ttft", engine::unit::seconds);
  list.flag("--tensor-across-nodes", options.across_nodes, "cli.search.across_nodes");
  list.option("--runs-on", options.runs_on, "cli.search.runs_on");
  list.json(options.json);
  list.flag("--csv", options.csv, "cli.search.csv");
  add_edits(list, options.input);
}

std::optional<engine::SearchRequest> request_of(const Context& context, const SearchOptions& options,
                                                const engine::Scenario& scenario) {
  if (options.most_token_s > 0 || options.most_ttft_s > 0) {
    complain(context.texts, {options.most_token_s > 0 ? "--max-token-time" : "--max-ttft",
                             {},
                             say("error.cli.search.serves"),
                             say("error.cli.leave_out")});
    return std::nullopt;
  }
  engine::SearchRequest request;
  request.limit = static_cast<std::size_t>(options.limit);
  request.space = engine::space_of(scenario);
  request.space.min_free = options.min_free;
  request.space.tensor_across_nodes = options.across_nodes;
  const auto objective = objective_of<engine::Objective>(context, options, engine::kObjectiveIds);
  request.merge_alike = merges(options);
  request.cells = options.json;
  if (!objective || !constrain_all(context, options, request.space) ||
      !limit_to_framework(context, options, request.space.runs_on))
    return std::nullopt;
  request.objective = *objective;
  if (const std::size_t settings = engine::count_settings(request.space); settings > engine::kMostSettings) {
    complain(context.texts, {"--pin",
                             {},
                             say("error.search.settings", settings, engine::kMostSettings),
                             say("error.search.settings.remedy")});
    return std::nullopt;
  }
  return request;
}

std::optional<engine::ServingRequest> serving_request_of(const Context& context, const SearchOptions& options,
                                                         const engine::Scenario& scenario) {
  if (options.across_nodes) {
    complain(context.texts,
             {"--tensor-across-nodes", {}, say("error.cli.search.trains"), say("error.cli.search.trains.remedy")});
    return std::nullopt;
  }
  engine::ServingRequest request = engine::serving_request_of(scenario);
  request.limit = static_cast<std::size_t>(options.limit);
  request.min_free = options.min_free;
  if (options.most_token_s > 0) request.most_token_s = options.most_token_s;
  if (options.most_ttft_s > 0) request.most_ttft_s = options.most_ttft_s;
  const auto objective = objective_of<engine::ServingObjective>(context, options, engine::kServingObjectiveIds);
  request.merge_alike = merges(options);
  if (!objective || !constrain_all(context, options, request) ||
      !limit_to_framework(context, options, request.runs_on))
    return std::nullopt;
  request.objective = *objective;
  return request;
}

}  // namespace roofscape::app::cli
