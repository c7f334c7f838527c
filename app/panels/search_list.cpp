#include "app/panels/search_list.h"

#include <algorithm>
#include <cmath>

#include "engine/search/who_runs.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/evidence_text.h"
#include "widgets/figures/search/close_words.h"
#include "widgets/figures/search/figure_search_parts.h"
#include "widgets/figures/search/figure_serving_search.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app {

using namespace widgets;
using engine::RankedDecoding;
using engine::RankedPlan;

namespace {

double memory_of(const RankedPlan& r) { return r.memory_bytes; }
double memory_of(const RankedDecoding& r) { return r.chip_bytes; }

// What was said of a result, kept while neither it nor the evidence changes.
struct TableKey {
  std::shared_ptr<const SearchOutcome> found;
  std::shared_ptr<const engine::EvidenceSet> evidence;
  friend bool operator==(const TableKey&, const TableKey&) = default;
};

// The evidence of the scenario's mode; null: there is none, or not yet.
const engine::Evidence* evidence_of(const PanelContext& ctx, const engine::Scenario& scenario) {
  const engine::Mode mode = scenario.assumptions.mode;
  return ctx.evidence == nullptr || mode == engine::Mode::custom ? nullptr : &ctx.evidence->of(mode);
}

struct NoneMeasured {
  std::string text;
};

// How many of the best are too close to be told apart.
struct CloseList {
  std::size_t count = 0;
  std::string words;
};
CloseList close_list(const TextTable& texts, const engine::SearchResult& result, engine::Objective objective,
                     const engine::PairRecord& pairs) {
  const auto close = engine::close_plans(result, objective, pairs.margin());
  if (!close) return {};
  return {close->count, search::close_words(texts, *close, result.best.size(), pairs.choices)};
}

// `capacity_bytes`: of a chip; 0: not known.
template <class Result>
void fill(const search::PlanTable& table, const Result& result, double capacity_bytes, PlanList& out) {
  out.columns = table.columns;
  const auto memory =
      std::find_if(out.columns.begin(), out.columns.end(), [](const auto& column) { return column.id == "memory"; });
  const auto row_of = [&](const auto& ranked, const std::vector<std::string>& cells) {
    PlanRow row{ranked.plan, {cells, {}}};
    if (capacity_bytes > 0 && memory != out.columns.end())
      row.listed.bars.push_back(
          {static_cast<std::size_t>(memory - out.columns.begin()), memory_of(ranked) / capacity_bytes});
    return row;
  };
  for (std::size_t i = 0; i < result.best.size(); ++i) out.rows.push_back(row_of(result.best[i], table.rows[i]));
  if (!table.present.empty()) out.present = row_of(result.present, table.present);
  out.present_rank = result.present_rank;
}

struct Change {
  std::string_view label;
  engine::Q quantity;
  double value;
};

Readout changes_tip(const PanelContext& ctx, std::string title, const std::vector<Change>& changes) {
  Readout tip{std::move(title), {}};
  const engine::Report& now = ctx.session.report();
  for (const Change& c : changes) {
    const auto present = now.quantities[c.quantity];
    const engine::Unit& unit = engine::quantity(c.quantity).unit;
    const std::string text = ctx.ui.texts.amount(c.value, unit);
    tip.rows.emplace_back(
        ctx.text(c.label),
        present && *present > 0 ? ctx.format("ui.search.from", {ctx.ui.texts.amount(*present, unit), text}) : text);
  }
  return tip;
}

}  // namespace

std::string many(double n) { return n < 1e6 ? format_count(n) : format_si(n, ""); }

PlanList plan_list(const PanelContext& ctx, const std::shared_ptr<const SearchOutcome>& found) {
  const SearchQuery& query = found->query;
  PlanList out;
  const double capacity_bytes = search::capacity_of(ctx.studies, query.scenario);
  const engine::Evidence* evidence = evidence_of(ctx, query.scenario);
  const auto& table = ctx.studies.get<search::PlanTable>(TableKey{found, ctx.evidence}, [&] {
    return query.serves()
               ? search::plan_table(ctx.ui.texts, query.scenario, query.serving.objective, found->serving, evidence)
               : search::plan_table(ctx.ui.texts, query.scenario, query.request.objective, found->result, evidence);
  });
  out.note = search::above_one_words(ctx.ui.texts, table.rows);
  if (query.serves())
    fill(table, found->serving, capacity_bytes, out);
  else
    fill(table, found->result, capacity_bytes, out);
  if (!query.serves() && evidence != nullptr && found->counted()) {
    const auto& close = ctx.studies.get<CloseList>(TableKey{found, ctx.evidence}, [&] {
      return close_list(ctx.ui.texts, found->result, query.request.objective, evidence->pairs);
    });
    out.close = close.count;
    out.close_words = close.words;
  }
  return out;
}

Readout plan_tip(const PanelContext& ctx, const SearchOutcome& found, std::size_t row) {
  Readout tip;
  const engine::Scenario& scenario = found.query.scenario;
  const engine::Evidence* evidence = evidence_of(ctx, scenario);
  // Where measurements of each number are expected.
  const auto add_bands = [&](const auto& plan, const auto& value_of) {
    if (evidence == nullptr) return;
    for (const engine::BandedQuantity& banded : engine::banded_quantities(scenario)) {
      const engine::ErrorBand band = search::band_of(scenario, plan, *evidence, banded.kind);
      const double value = value_of(banded.quantity);
      const std::string label = quantity_label(ctx.ui.texts, banded.quantity);
      tip.rows.emplace_back(ctx.format("ui.search.band_of", {label}),
                            !band.validated() ? std::string(ctx.text("ui.search.no_band"))
                            : banded.rate ? range_text(ctx.ui.texts, band.least_rate(value), band.most_rate(value),
                                                       engine::quantity(banded.quantity).unit)
                                          : range_text(ctx.ui.texts, band.least(value), band.most(value),
                                                       engine::quantity(banded.quantity).unit));
    }
  };
  const auto add_runners = [&](const auto& plan) {
    const auto [can, cannot] = engine::who_runs(scenario, plan);
    if (!can.empty()) tip.rows.emplace_back(ctx.text("ui.search.column.runs_on"), search::framework_names(can));
    if (!cannot.empty()) tip.rows.emplace_back(ctx.text("ui.search.not_on"), search::framework_names(cannot));
  };
  if (found.query.serves()) {
    const RankedDecoding& p = found.serving.best[row];
    const search::ToldRate rate = search::told_rate(found.serving);
    tip = changes_tip(
        ctx, search::decoding_words(ctx.ui.texts, p.plan),
        {{rate.together ? "ui.search.column.total_rate" : "ui.search.column.rate", rate.quantity(), rate.of(p)},
         {"ui.search.column.token_time", engine::Q::mixed_token_time_q, p.token_s},
         {"quantity.serving.ttft_s.label", engine::Q::ttft, p.ttft_s},
         {"figure.search.memory", engine::Q::memory_total, p.chip_bytes}});
    add_bands(p.plan, [&](engine::Q) { return p.decode_token_s; });
    add_runners(p.plan);
    if (p.outdone > 0) tip.rows.emplace_back(ctx.text("figure.search.outdone"), format_count(p.outdone));
  } else {
    const RankedPlan& p = found.result.best[row];
    std::vector<Change> changes{{"figure.search.time", engine::Q::step_time, p.step_time_s},
                                {"quantity.mfu.label", engine::Q::mfu, p.mfu},
                                {"figure.search.memory", engine::Q::memory_total, p.memory_bytes}};
    if (std::isfinite(p.cost_usd))
      changes.push_back({"quantity.run.cost_usd.label", engine::Q::run_cost, p.cost_usd});
    tip = changes_tip(ctx, search::plan_words(ctx.ui.texts, p.plan), changes);
    add_bands(p.plan, [&](engine::Q q) {
      return q == engine::Q::mfu ? p.mfu : q == engine::Q::memory_total ? p.memory_bytes : p.step_time_s;
    });
    engine::Scenario other = scenario;
    engine::apply(other, p.plan);
    if (const std::string pairs = pairs_text(ctx.ui.texts, evidence, scenario, other); !pairs.empty())
      tip.rows.emplace_back(ctx.text("ui.search.pairs"), pairs);
    add_runners(p.plan);
    if (p.alike > 0)
      tip.rows.emplace_back(ctx.text("figure.search.alike"),
                            p.least_alike == p.plan
                                ? format_count(p.alike)
                                : ctx.format("figure.search.alike_from",
                                             {format_count(p.alike), format(p.least_alike_bytes, engine::unit::bytes),
                                              search::knobs_words(ctx.ui.texts, p.plan, p.least_alike)}));
  }
  return tip;
}

FoundPlan present_plan(const engine::Scenario& scenario) {
  if (scenario.serves()) return engine::decoding_plan_of(scenario);
  return engine::plan_of(scenario);
}

void adopt(engine::Scenario& scenario, const FoundPlan& plan) {
  std::visit([&scenario](const auto& p) { engine::apply(scenario, p); }, plan);
}

std::string space_words(const PanelContext& ctx, const SearchOutcome& found) {
  const bool serves = found.query.serves();
  return ctx.format("ui.search.space_words", {many(serves ? found.serving.plans : found.result.plans),
                                              many(serves ? found.serving.fit : found.result.fit)});
}

std::string none_measured_words(const PanelContext& ctx, const std::shared_ptr<const SearchOutcome>& found) {
  const SearchQuery& query = found->query;
  return ctx.studies
      .get<NoneMeasured>(
          TableKey{found, query.measured},
          [&] {
            const engine::ErrorBand band =
                engine::error_band(query.points(), query.scenario,
                                   query.serves() ? engine::EvidenceKind::decode : engine::EvidenceKind::step);
            return NoneMeasured{
                ctx.format("ui.search.none_measured",
                           {band.validated() ? std::string() : outside_text(ctx.ui.texts, band, query.scenario)})};
          })
      .text;
}

std::string ranking_word(const PanelContext& ctx, const SearchOutcome& found) {
  const std::string id = found.query.serves() ? search::ranked_by_key(found.query.serving.objective, found.serving)
                                              : std::string(engine::kObjectiveIds[found.query.request.objective]);
  const std::string objective(ctx.text("ui.search.objective." + id));
  return found.query.measured ? ctx.format("ui.search.at_slow_end", {objective}) : objective;
}

}  // namespace roofscape::app
