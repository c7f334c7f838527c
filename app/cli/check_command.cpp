// roofscape-cli check: the verdict on a plan in ten lines, and the findings with the changes on offer.
#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/output.h"
#include "app/cli/plan_check.h"
#include "app/cli/scenario_input.h"
#include "app/core/gain_text.h"
#include "app/core/report_text.h"
#include "app/core/strings.h"
#include "app/core/text_columns.h"
#include "engine/evaluate/offers.h"
#include "engine/evaluate/single_edits.h"
#include "engine/evidence/evidence_points.h"
#include "engine/io/export/report_json.h"
#include "engine/scenario/scenario_title.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/evidence_text.h"
#include "widgets/figures/common/step_words.h"
#include "widgets/figures/search/figure_search_parts.h"
#include "widgets/figures/search/figure_serving_search.h"

namespace roofscape::app::cli {
namespace {

using engine::Q;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostEdits = 3;
constexpr double kGainWorthSaying = 0.005;

struct CheckOptions {
  ScenarioInput input;
  std::string require;
  bool json = false;
};

void add_options(OptionList& list, CheckOptions& options) {
  list.scenario(options.input.scenario);
  list.optional("words", options.input.words, "cli.check.words");
  list.option("--require", options.require, "cli.check.require");
  list.json(options.json);
  add_edits(list, options.input);
}

// What the answer is made of, text or JSON.
struct Verdict {
  const Evaluated& now;
  std::optional<engine::Evidence> evidence;
  std::vector<engine::Offer> edits;
  std::optional<FoundPlan> found;
  std::optional<FoundDecoding> found_decoding;
  std::vector<Requirement> requirements;
};

// Of the measured pairs that differ in what the edit changes, and in nothing else.
std::optional<engine::PairRecord::Like> pairs_like(const Verdict& verdict, const engine::Fix& fix) {
  const engine::Scenario& now = verdict.now.scenario;
  return verdict.evidence ? verdict.evidence->pairs.like(now, engine::after_fix(now, fix)) : std::nullopt;
}

std::optional<engine::ErrorBand> band_of(const Verdict& verdict, engine::EvidenceKind kind) {
  if (!verdict.evidence) return std::nullopt;
  auto band = engine::error_band(verdict.evidence->points, verdict.now.scenario, kind);
  return band.validated() ? std::optional(std::move(band)) : std::nullopt;
}

// "12.1 s (11.0 s to 13.4 s in measured runs like it)"
std::string banded(const Verdict& verdict, Q quantity, const widgets::TextTable& texts) {
  const auto value = verdict.now.report.quantities[quantity];
  if (!value) return std::string(texts.text("check.unknown"));
  const engine::Unit& unit = engine::quantity(quantity).unit;
  const std::string shown = widgets::format(*value, unit);
  for (const engine::BandedQuantity& row : engine::banded_quantities(verdict.now.scenario))
    if (row.quantity == quantity)
      if (const auto band = band_of(verdict, row.kind))
        return texts.format(
            "check.band",
            {shown, row.rate ? widgets::range_text(texts, band->least_rate(*value), band->most_rate(*value), unit)
                             : widgets::range_text(texts, band->least(*value), band->most(*value), unit)});
  return texts.format("check.no_band", {shown});
}

std::string edit_words(const engine::Fix& fix) {
  engine::Diagnostic diagnostic;
  diagnostic.fix = fix;
  return suggestion_text(diagnostic);
}

std::string fits_text(const Verdict& verdict, const widgets::TextTable& texts) {
  const std::string words = memory_text(verdict.now.report, texts);
  return words.empty() ? std::string(texts.text("report.verdict.memory_unknown")) : words;
}

// `gain` over the present plan's throughput; nothing: it does not run.
std::string found_words(const widgets::TextTable& texts, const char* runs, const char* faster,
                        std::optional<double> gain, const std::string& speed, const std::string& plan) {
  if (!gain) return texts.format(runs, {speed, plan});
  if (*gain < kGainWorthSaying) return std::string(texts.text("check.search.best"));
  return texts.format(faster, {widgets::format_percent(*gain), speed, plan});
}

std::string found_decoding_text(const Verdict& verdict, const widgets::TextTable& texts) {
  if (!verdict.found_decoding)
    return std::string(
        texts.text(verdict.now.scenario.workload.slo.any() ? "check.search.serving.none" : "check.search.none"));
  const auto& [best, now] = *verdict.found_decoding;
  return found_words(texts, "check.search.serving.runs", "check.search.serving.faster",
                     now ? std::optional(best.tokens_per_s / *now - 1) : std::nullopt,
                     widgets::format(best.tokens_per_s, engine::quantity(Q::sustained_tokens).unit),
                     widgets::search::decoding_words(texts, best.plan));
}

std::string found_text(const Verdict& verdict, const widgets::TextTable& texts) {
  if (verdict.now.scenario.serves()) return found_decoding_text(verdict, texts);
  if (!verdict.found) return std::string(texts.text("check.search.none"));
  const auto step = verdict.now.report.quantities[Q::step_time];
  const auto free = verdict.now.report.quantities[Q::memory_free];
  const bool runs = step && free && *free >= 0;
  return found_words(texts, "check.search.runs", "check.search.faster",
                     runs ? std::optional(*step / verdict.found->step_time_s - 1) : std::nullopt,
                     widgets::format_duration(verdict.found->step_time_s),
                     widgets::search::plan_words(texts, verdict.found->plan));
}

std::string verdict_lines(const Verdict& verdict, const widgets::TextTable& texts) {
  const engine::Report& report = verdict.now.report;
  Columns rows({false, false});
  const auto row = [&](std::string_view key, std::string text) {
    rows.add({std::string(texts.text(key)), std::move(text)});
  };
  if (report.has_errors()) {
    row("check.row.fits", verdict_text(report, texts));
  } else {
    row("check.row.fits", fits_text(verdict, texts));
    if (verdict.now.scenario.serves()) {
      row("check.row.token", banded(verdict, Q::time_per_output_token, texts));
      row("check.row.ttft", banded(verdict, Q::ttft, texts));
    } else {
      row("check.row.step", banded(verdict, Q::step_time, texts));
      row("check.row.mfu", banded(verdict, Q::mfu, texts));
    }
    row("check.row.limit", verdict.now.scenario.serves() ? widgets::bound_name(texts, report.bound)
                                                         : widgets::bound_words(report, texts));
  }
  for (const engine::Offer& edit : verdict.edits) {
    std::string text = texts.format("check.edit", {edit_words(edit.fix), gain_text(edit.gain, texts)});
    const engine::Scenario& now = verdict.now.scenario;
    if (const std::string pairs = widgets::pairs_text(texts, verdict.evidence ? &*verdict.evidence : nullptr, now,
                                                      engine::after_fix(now, edit.fix));
        !pairs.empty())
      text = texts.format("check.edit.pairs", {text, pairs});
    row("check.row.edit", std::move(text));
  }
  // What makes a plan run that cannot stands with what is wrong.
  if (verdict.edits.empty() && !report.has_errors())
    row("check.row.edit", std::string(texts.text("check.edit.none")));
  row("check.row.search", found_text(verdict, texts));
  std::string title = engine::scenario_title(verdict.now.scenario);
  std::string out = title + '\n' + rows.text(2);
  for (const Requirement& requirement : verdict.requirements)
    out += "  " + texts.format(requirement.met(report) ? "check.met" : "check.unmet", {requirement.written}) + '\n';
  return out;
}

Json number_of(const engine::Report& report, Q quantity) {
  const auto value = report.quantities[quantity];
  return value ? Json(*value) : Json(nullptr);
}

Json band_json(const Verdict& verdict, Q quantity) {
  const auto value = verdict.now.report.quantities[quantity];
  for (const engine::BandedQuantity& row : engine::banded_quantities(verdict.now.scenario))
    if (row.quantity == quantity && value)
      if (const auto band = band_of(verdict, row.kind))
        return row.rate ? Json{band->least_rate(*value), band->most_rate(*value)}
                        : Json{band->least(*value), band->most(*value)};
  return nullptr;
}

std::string verdict_json(const Verdict& verdict, const std::string& findings, const widgets::TextTable& texts) {
  const engine::Report& report = verdict.now.report;
  Json out;
  out["title"] = engine::scenario_title(verdict.now.scenario);
  const auto free = report.quantities[Q::memory_free];
  out["runs"] = !report.has_errors();
  out["fits"] = free ? Json(*free >= 0) : Json(nullptr);
  out["memory_free_bytes"] = number_of(report, Q::memory_free);
  out["fullest_stage"] = report.fullest_stage;
  const std::vector<std::pair<const char*, Q>> numbers =
      verdict.now.scenario.serves()
          ? std::vector<std::pair<const char*, Q>>{{"time_per_output_token_s", Q::time_per_output_token},
                                                   {"ttft_s", Q::ttft}}
          : std::vector<std::pair<const char*, Q>>{{"step_time_s", Q::step_time}, {"mfu", Q::mfu}};
  for (const auto& [name, quantity] : numbers) {
    out[name] = number_of(report, quantity);
    out[std::string(name) + "_band"] = band_json(verdict, quantity);
  }
  out["edits"] = Json::array();
  for (const engine::Offer& edit : verdict.edits) {
    Json row;
    row["edit"] = edit_words(edit.fix);
    row["gain"] = gain_text(edit.gain, texts);
    row["change"] = edit.gain.change();
    row["measured_pairs"] = nullptr;
    if (const auto like = pairs_like(verdict, edit.fix))
      row["measured_pairs"] = {{"differ_in", std::string(engine::kPlanChangeIds[like->change])},
                               {"pairs", like->pairs.apart},
                               {"as_predicted", like->pairs.right}};
    out["edits"].push_back(std::move(row));
  }
  out["search"] = nullptr;
  if (verdict.found) {
    Json found;
    found["plan"] = widgets::search::plan_words(texts, verdict.found->plan);
    found["step_time_s"] = verdict.found->step_time_s;
    found["mfu"] = verdict.found->mfu;
    found["memory_bytes"] = verdict.found->memory_bytes;
    out["search"] = std::move(found);
  }
  if (verdict.found_decoding) {
    const engine::RankedDecoding& best = verdict.found_decoding->best;
    out["search"] = {{"plan", widgets::search::decoding_words(texts, best.plan)},
                     {"tokens_per_s", best.tokens_per_s},
                     {"tokens_per_s_per_chip", best.tokens_per_s_per_chip},
                     {"time_per_output_token_s", best.token_s},
                     {"ttft_s", best.ttft_s},
                     {"memory_bytes", best.chip_bytes}};
  }
  out["requirements"] = Json::array();
  for (const Requirement& requirement : verdict.requirements)
    out["requirements"].push_back({{"require", requirement.written}, {"met", requirement.met(report)}});
  out["diagnostics"] = Json::parse(findings).at("diagnostics");
  return out.dump(2) + "\n";
}

int run(const Context& context, const CheckOptions& options) {
  const auto evaluated = evaluate(context, options.input);
  if (!evaluated) return kBadInput;
  auto requirements = read_requirements(options.require, evaluated->scenario);
  if (!requirements) return refuse(context.texts, requirements.error());
  engine::BestEdit edits(evaluated->scenario, evaluated->report);
  edits.finish();
  auto findings = engine::vetted_findings(evaluated->scenario, evaluated->report);
  engine::add_best_edit(edits.offer(), findings);
  Verdict verdict{*evaluated,
                  std::nullopt,
                  engine::best_offers(edits.offers(), findings, kMostEdits),
                  found_plan(evaluated->scenario),
                  found_decoding(evaluated->scenario),
                  std::move(requirements).value()};
  if (const engine::Mode mode = evaluated->scenario.assumptions.mode; mode != engine::Mode::custom) {
    const auto files = io::load_evidence(context.library);
    if (!files) return refuse(context.texts, files.error());
    verdict.evidence = evaluated->scenario.serves()
                           ? evidence::evidence_points(files.value(), context.library, mode)
                           : evidence::evidence_with_pairs(files.value(), context.library, mode);
  }
  int code = code_of(*evaluated);
  for (const Requirement& requirement : verdict.requirements)
    if (!requirement.met(evaluated->report)) code = kHasErrors;
  if (!options.json)
    return print(context.texts,
                 verdict_lines(verdict, context.texts) + '\n' + diagnostics_text(findings, context.texts), code);
  const auto text = [&](const engine::Diagnostic& diagnostic) { return diagnostic_text(diagnostic, context.texts); };
  return print(context.texts, verdict_json(verdict, io::diagnostics_json(findings, text), context.texts), code);
}

}  // namespace

const Command check_command = command<CheckOptions, add_options, run>("check", "cli.check");

}  // namespace roofscape::app::cli
