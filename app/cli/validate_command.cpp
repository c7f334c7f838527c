// roofscape-cli validate [FILE]: predictions against the measurements of a file, or those that ship.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/command.h"
#include "app/cli/measurement_input.h"
#include "app/cli/output.h"
#include "app/cli/validation_json.h"
#include "app/core/text_columns.h"
#include "engine/evidence/coverage.h"
#include "engine/evidence/one_change_pairs.h"
#include "engine/evidence/peers.h"
#include "engine/evidence/validation.h"
#include "engine/scenario/scenario_fields.h"
#include "widgets/canvas/number_format.h"

namespace roofscape::app::cli {

using engine::say;

namespace {

struct ValidateOptions {
  std::string file;  // of measurements; empty: those that ship
  std::string mode = "calibrated";
  bool compare = false;  // with what other calculators published
  bool json = false;
};

void add_options(OptionList& list, ValidateOptions& options) {
  list.optional("file", options.file, "cli.validate.shipped");
  list.option("--mode", options.mode, "cli.validate.mode");
  list.flag("--compare", options.compare, "cli.validate.compare");
  list.json(options.json);
}

std::optional<engine::Mode> parse_mode(const std::string& word) {
  const engine::Field* field = engine::find_field("assumptions.mode");
  for (std::size_t i = 0; i < field->choices.size(); ++i)
    if (field->choices[i] == word) return static_cast<engine::Mode>(i);
  return std::nullopt;
}

std::string percent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }
std::string signed_percent(double fraction) { return fmt::format("{:+.1f} %", 100 * fraction); }

std::string validation_text(const widgets::TextTable& texts, const evidence::Validation& validation,
                            std::span<const engine::CoverageRow> coverage,
                            std::span<const evidence::OneChangePair> pairs,
                            std::span<const evidence::PeerComparison> peers) {
  const auto word = [&texts](const char* key) { return std::string(texts.text(key)); };
  Columns rows({false, false, true, true, true, false});
  rows.add({word("cli.validate.head.entry"),
            word("cli.validate.head.quantity"),
            word("cli.validate.head.measured"),
            word("cli.validate.head.predicted"),
            word("cli.validate.head.error"),
            {}});
  for (const evidence::ValidationRow& row : validation.rows)
    rows.add({row.id, row.quantity, fmt::format("{:.5g}", row.measured),
              row.predicted ? fmt::format("{:.5g}", *row.predicted) : std::string(widgets::kNoValue),
              row.predicted ? signed_percent(row.error) : std::string(),
              !row.predicted            ? texts.write(row.reason)
              : row.contradicts         ? word("cli.validate.contradicts")
              : row.false_out_of_memory ? word("cli.validate.false_oom")
                                        : std::string()});
  std::string out = rows.text(0);
  const bool left_out = validation.overall.left_out[0].n > 0;
  const bool held_out = validation.overall.held_out.n > 0;
  const auto table = [&](const char* head, const std::vector<evidence::ValidationSummary>& list) {
    Columns summaries({false, true, true, true, true, true, true, true, true, true, true, true});
    std::vector<std::string> heads;
    for (const char* key : {head, "cli.validate.head.n", "cli.validate.head.median", "cli.validate.head.mean",
                            "cli.validate.head.p90", "cli.validate.head.worst", "cli.validate.head.bias",
                            "cli.validate.head.false_oom", "cli.validate.head.not_predicted"})
      heads.push_back(word(key));
    if (left_out)
      for (const char* key : {"cli.validate.head.without_fold", "cli.validate.head.without_model"})
        heads.push_back(word(key));
    if (held_out) heads.push_back(word("cli.validate.head.held_out"));
    summaries.add(std::move(heads));
    for (const evidence::ValidationSummary& s : list) {
      std::vector<std::string> cells{s.name, std::to_string(s.n)};
      for (const double error : {s.median, s.mean, s.p90, s.worst})
        cells.push_back(s.n > 0 ? percent(error) : std::string(widgets::kNoValue));
      cells.push_back(s.n > 0 ? signed_percent(s.bias) : std::string(widgets::kNoValue));
      for (const std::size_t count : {s.false_out_of_memory, s.not_predicted}) cells.push_back(std::to_string(count));
      for (const io::LeftOutKind kind : {io::LeftOutKind::fold, io::LeftOutKind::model}) {
        const auto& without = s.left_out[static_cast<std::size_t>(kind)];
        if (left_out)
          cells.push_back(without.n > 0 ? fmt::format("{} / {}", percent(without.median), percent(without.p90))
                                        : std::string(widgets::kNoValue));
      }
      if (held_out)
        cells.push_back(s.held_out.n > 0 ? fmt::format("{}: {} / {}", s.held_out.n, percent(s.held_out.median),
                                                       percent(s.held_out.p90))
                                         : std::string(widgets::kNoValue));
      summaries.add(std::move(cells));
    }
    out += "\n" + summaries.text(0);
  };
  table("cli.validate.head.family", validation.families);
  table("cli.validate.head.kind", validation.kinds);
  if (!validation.chips.empty()) table("cli.validate.head.training", validation.chips);
  if (!validation.serving.empty()) table("cli.validate.head.serving", validation.serving);
  if (!validation.operations.empty()) table("cli.validate.head.operations", validation.operations);
  std::vector<evidence::ValidationSummary> whole{validation.overall};
  const bool contradicting = validation.contradicting.n + validation.contradicting.not_predicted > 0;
  if (contradicting) whole.push_back(validation.contradicting);
  table("cli.validate.head.overall", whole);
  if (left_out) out += "\n" + word("cli.validate.left_out") + "\n";
  if (held_out) out += word("cli.validate.held_out") + "\n";
  if (std::any_of(validation.kinds.begin(), validation.kinds.end(),
                  [](const evidence::ValidationSummary& kind) { return kind.name == "first_token_cold"; }))
    out += word("cli.validate.cold") + "\n";
  if (contradicting) out += word("cli.validate.contradicting") + "\n";
  if (!coverage.empty()) {
    const auto share = [](const engine::BandCoverage& of) {
      return of.n > 0 ? percent(of.share()) : std::string(widgets::kNoValue);
    };
    Columns bands({false, true, true, true, true, true, true});
    bands.add({word("cli.validate.head.bands"), word("cli.validate.head.n"), word("cli.validate.head.banded"),
               word("cli.validate.head.inside"), word("cli.validate.head.coverage"),
               word("cli.validate.head.coverage_model"), word("cli.validate.head.widened")});
    for (const engine::CoverageRow& row : coverage) {
      const engine::BandCoverage& c = row.coverage;
      bands.add({row.name(), std::to_string(c.all), std::to_string(c.n), std::to_string(c.inside), share(c),
                 share(row.without_model),
                 !row.trial           ? std::string(widgets::kNoValue)
                 : row.trial->holds() ? fmt::format("{:.2f}", row.trial->widened)
                                      : texts.format("cli.validate.bands.none", {std::to_string(row.trial->inside),
                                                                                 std::to_string(row.trial->tried)})});
    }
    out += "\n" + bands.text(0);
  }
  if (!peers.empty()) {
    Columns others({false, false, true, true, true, true});
    others.add({word("cli.validate.head.peer"), word("cli.validate.head.peer_on"),
                word("cli.validate.head.peer_error"), word("cli.validate.head.peer_left_out"),
                word("cli.validate.head.peer_fitted"), word("cli.validate.head.peer_rows")});
    for (const evidence::PeerComparison& c : peers)
      others.add({std::string(c.peer->name), std::string(c.peer->on), fmt::format("{:.2f} %", 100 * c.peer->error),
                  c.rows_left_out > 0 ? percent(c.left_out) : std::string(widgets::kNoValue),
                  c.rows > 0 ? percent(c.fitted) : std::string(widgets::kNoValue),
                  c.peer->rows > 0
                      ? texts.format("cli.validate.peer_rows", {std::to_string(c.rows), std::to_string(c.peer->rows)})
                      : std::to_string(c.rows)});
    out += "\n" + others.text(0);
  }
  if (!pairs.empty()) {
    Columns changes({false, true, true, true, true});
    changes.add({word("cli.validate.head.change"), word("cli.validate.head.pairs"), word("cli.validate.head.apart"),
                 word("cli.validate.head.right"), word("cli.validate.head.difference")});
    const auto add = [&](std::string name, const evidence::PairSummary& s) {
      if (s.pairs == 0) return;
      changes.add({std::move(name), std::to_string(s.pairs), std::to_string(s.apart),
                   s.apart > 0 ? fmt::format("{} ({:.0f} %)", s.right,
                                             100.0 * static_cast<double>(s.right) / static_cast<double>(s.apart))
                               : std::string(widgets::kNoValue),
                   percent(s.error)});
    };
    for (std::size_t i = 0; i < engine::kPlanChangeIds.size(); ++i)
      add(word(fmt::format("cli.validate.change.{}", engine::kPlanChangeIds.ids()[i]).c_str()),
          evidence::pair_summary(pairs, static_cast<evidence::PlanChange>(i)));
    add(word("cli.validate.change.all"), evidence::pair_summary(pairs));
    out += "\n" + changes.text(0);
  }
  return out;
}

int run(const Context& context, const ValidateOptions& options) {
  const auto mode = parse_mode(options.mode);
  if (!mode)
    return refuse(context.texts, {{},
                                  {},
                                  say("error.cli.mode", io::in_quotes(options.mode)),
                                  say("error.give", engine::domain_of(*engine::find_field("assumptions.mode")))});
  const auto entries = measurements(context, options.file);
  if (!entries) return refuse(context.texts, entries.error());
  const evidence::Validation validation = evidence::validate(entries.value(), context.library, *mode);
  const auto pairs = evidence::one_change_pairs(entries.value(), context.library, *mode);
  const auto coverage = evidence::coverage_rows(entries.value(), context.library, *mode);
  const auto peers = options.compare ? evidence::compare_with_peers(entries.value(), validation)
                                     : std::vector<evidence::PeerComparison>();
  return print(context.texts,
               options.json ? validation_json(validation, coverage, pairs, peers, *mode, context.texts)
                            : validation_text(context.texts, validation, coverage, pairs, peers),
               kGood);
}

}  // namespace

const Command validate_command = command<ValidateOptions, add_options, run>("validate", "cli.validate");

}  // namespace roofscape::app::cli
