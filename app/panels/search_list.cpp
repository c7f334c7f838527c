#include "app/panels/search_list.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/figure_search_parts.h"
#include "widgets/figure_serving_search.h"
#include "widgets/number_format.h"

namespace roofscape::app {

using namespace widgets;
using engine::RankedDecoding;
using engine::RankedPlan;

namespace {

std::string gb(double bytes) { return format_fixed(bytes / 1e9, 1); }
std::string number(int n) { return format_count(n); }
std::string alike(int others) { return others > 0 ? "+" + format_count(others) : std::string(kNoValue); }

// A column of plans of one kind.
template <class Ranked>
struct ColumnOf {
  PlanColumn column;
  std::string (*text)(const TextTable&, const Ranked&);
  bool only_if_used = false;  // a degree that is one everywhere is not shown
};

const auto& training_columns() {
  using T = const TextTable&;
  using R = const RankedPlan&;
  static const std::array columns{
      ColumnOf<RankedPlan>{{"data", {}, 80}, [](T, R r) { return number(r.plan.data); }, true},
      ColumnOf<RankedPlan>{{"fsdp", {}, 82}, [](T, R r) { return number(r.plan.fsdp); }, true},
      ColumnOf<RankedPlan>{{"tensor", {}, 90}, [](T, R r) { return number(r.plan.tensor); }, true},
      ColumnOf<RankedPlan>{{"context", {}, 84}, [](T, R r) { return number(r.plan.context); }, true},
      ColumnOf<RankedPlan>{{"expert", {}, 84}, [](T, R r) { return number(r.plan.expert); }, true},
      ColumnOf<RankedPlan>{{"pipeline", {}, 88}, [](T, R r) { return number(r.plan.pipeline); }, true},
      ColumnOf<RankedPlan>{{"zero", {}, 40}, [](T, R r) { return number(r.plan.zero_stage); }},
      ColumnOf<RankedPlan>{{"microbatch", {}, 60}, [](T, R r) { return number(r.plan.microbatch_sequences); }},
      ColumnOf<RankedPlan>{{"schedule", {}, 62, false}, [](T t, R r) { return search::schedule_word(t, r.plan); }},
      ColumnOf<RankedPlan>{{"keeps", {}, 64, false}, [](T t, R r) { return search::policy_word(t, r.plan.policy); }},
      ColumnOf<RankedPlan>{{"offload", {}, 36, false},
                           [](T t, R r) {
                             const int which =
                                 (r.plan.offload_optimizer ? 1 : 0) + (r.plan.offload_activations ? 2 : 0);
                             return which == 0 ? std::string(kNoValue)
                                               : std::string(t.text("ui.search.offload." + std::to_string(which)));
                           }},
      ColumnOf<RankedPlan>{{"alike", {}, 30}, [](T, R r) { return alike(r.alike); }, true},
      ColumnOf<RankedPlan>{{"time", {}, 99, true, true}, [](T, R r) { return format_duration(r.step_time_s); }},
      ColumnOf<RankedPlan>{{"mfu", {}, 70, true, true}, [](T, R r) { return format_percent(r.mfu); }},
      ColumnOf<RankedPlan>{{"memory", {}, 95, true, true, true}, [](T, R r) { return gb(r.memory_bytes); }},
  };
  return columns;
}

const auto& serving_columns() {
  using T = const TextTable&;
  using R = const RankedDecoding&;
  static const std::array columns{
      ColumnOf<RankedDecoding>{{"data", {}, 80}, [](T, R r) { return number(r.plan.data); }, true},
      ColumnOf<RankedDecoding>{{"tensor", {}, 90}, [](T, R r) { return number(r.plan.tensor); }, true},
      ColumnOf<RankedDecoding>{{"expert", {}, 84}, [](T, R r) { return number(r.plan.expert); }, true},
      ColumnOf<RankedDecoding>{{"pipeline", {}, 88}, [](T, R r) { return number(r.plan.pipeline); }, true},
      ColumnOf<RankedDecoding>{{"batch", {}, 93}, [](T, R r) { return number(r.plan.batch); }},
      ColumnOf<RankedDecoding>{{"rate", {}, 99, true, true},
                               [](T, R r) { return format_significant(r.tokens_per_s_per_chip); }},
      ColumnOf<RankedDecoding>{{"token_time", {}, 98, true, true}, [](T, R r) { return format_duration(r.token_s); }},
      ColumnOf<RankedDecoding>{{"ttft", {}, 94, true, true}, [](T, R r) { return format_duration(r.ttft_s); }},
      ColumnOf<RankedDecoding>{{"memory", {}, 95, true, true, true}, [](T, R r) { return gb(r.chip_bytes); }},
  };
  return columns;
}

// By the objective: what "against the best" compares.
double score(const SearchAsked& asked, const RankedPlan& r) {
  switch (asked.request.objective) {
    case engine::Objective::step_time: return r.step_time_s;
    case engine::Objective::throughput: return r.tokens_per_s_per_chip;
    case engine::Objective::cost: return std::isfinite(r.cost_usd) ? r.cost_usd : r.step_time_s;
    case engine::Objective::memory: return r.memory_bytes;
  }
  return r.step_time_s;
}
double score(const SearchAsked& asked, const RankedDecoding& r) {
  switch (asked.serving.objective) {
    case engine::ServingObjective::throughput: return r.tokens_per_s_per_chip;
    case engine::ServingObjective::token_time: return r.token_s;
    case engine::ServingObjective::memory: return r.chip_bytes;
  }
  return r.token_s;
}
double memory_of(const RankedPlan& r) { return r.memory_bytes; }
double memory_of(const RankedDecoding& r) { return r.chip_bytes; }

template <class Columns, class Ranked>
void fill(const PanelContext& ctx, const SearchAsked& asked, const Columns& columns, const std::vector<Ranked>& best,
          const Ranked* present, PlanList& out) {
  const TextTable& texts = ctx.ui.texts;
  for (const Ranked& one : best) out.rows.push_back({one.plan, {}, memory_of(one)});
  if (present != nullptr) out.present = PlanRow{present->plan, {}, memory_of(*present)};
  const auto add = [&](const PlanColumn& column, const auto& text, bool only_if_used) {
    bool used = !only_if_used;
    std::vector<std::string> cells;
    for (const Ranked& one : best) cells.push_back(text(one));
    if (present != nullptr) cells.push_back(text(*present));
    for (const std::string& cell : cells) used = used || (cell != "1" && cell != kNoValue);
    if (!used) return;
    PlanColumn shown = column;
    shown.title = texts.text("ui.search.column." + std::string(column.id));
    out.columns.push_back(std::move(shown));
    for (std::size_t i = 0; i < best.size(); ++i) out.rows[i].cells.push_back(std::move(cells[i]));
    if (present != nullptr) out.present->cells.push_back(std::move(cells.back()));
  };
  for (const auto& c : columns) add(c.column, [&](const Ranked& r) { return c.text(texts, r); }, c.only_if_used);
  if (!best.empty())
    add(
        {"against", {}, 92},
        [&](const Ranked& r) { return search::against_text(score(asked, r), score(asked, best.front())); }, false);
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
    const std::string text = verdict_value(ctx, c.quantity, c.value);
    tip.rows.emplace_back(ctx.text(c.label),
                          present && *present > 0
                              ? ctx.format("ui.search.from", {verdict_value(ctx, c.quantity, *present), text})
                              : text);
  }
  return tip;
}

}  // namespace

std::string many(double n) { return n < 1e6 ? format_count(n) : format_si(n, ""); }

PlanList plan_list(const PanelContext& ctx, const Found& found) {
  PlanList out;
  out.capacity_bytes = found.asked.scenario.cluster.chip[engine::ChipField::hbm_bytes].value.value_or(0);
  if (found.asked.serves()) {
    const engine::ServingSearchResult& r = found.serving;
    fill(ctx, found.asked, serving_columns(), r.best, r.present_legal ? &r.present : nullptr, out);
    out.present_rank = r.present_rank;
  } else {
    const engine::SearchResult& r = found.result;
    fill(ctx, found.asked, training_columns(), r.best,
         r.present_legal && r.present.step_time_s > 0 ? &r.present : nullptr, out);
    out.present_rank = r.present_rank;
  }
  return out;
}

Readout plan_tip(const PanelContext& ctx, const Found& found, std::size_t row) {
  Readout tip;
  if (found.asked.serves()) {
    const RankedDecoding& p = found.serving.best[row];
    tip = changes_tip(ctx, search::decoding_words(ctx.ui.texts, p.plan),
                      {{"ui.search.column.rate", engine::Q::serving_tokens_per_chip, p.tokens_per_s_per_chip},
                       {"ui.search.column.token_time", engine::Q::time_per_output_token, p.token_s},
                       {"quantity.serving.ttft_s.label", engine::Q::ttft, p.ttft_s},
                       {"figure.search.memory", engine::Q::memory_total, p.chip_bytes}});
    if (p.outdone > 0) tip.rows.emplace_back(ctx.text("figure.search.outdone"), format_count(p.outdone));
  } else {
    const RankedPlan& p = found.result.best[row];
    std::vector<Change> changes{{"figure.search.time", engine::Q::step_time, p.step_time_s},
                                {"quantity.mfu.label", engine::Q::mfu, p.mfu},
                                {"figure.search.memory", engine::Q::memory_total, p.memory_bytes}};
    if (std::isfinite(p.cost_usd))
      changes.push_back({"quantity.run.cost_usd.label", engine::Q::run_cost, p.cost_usd});
    tip = changes_tip(ctx, search::plan_words(ctx.ui.texts, p.plan), changes);
    if (p.alike > 0)
      tip.rows.emplace_back(ctx.text("figure.search.alike"),
                            ctx.format("figure.search.alike_from",
                                       {format_count(p.alike), format(p.least_alike_bytes, engine::unit::bytes)}));
  }
  return tip;
}

AnyPlanChoice present_plan(const engine::Scenario& scenario) {
  if (scenario.serves()) return engine::decoding_plan_of(scenario);
  return engine::plan_of(scenario);
}

void adopt(engine::Scenario& scenario, const AnyPlanChoice& plan) {
  std::visit([&scenario](const auto& p) { engine::apply(scenario, p); }, plan);
}

std::string space_words(const PanelContext& ctx, const Found& found) {
  const bool serves = found.asked.serves();
  return ctx.format("ui.search.space_words", {many(serves ? found.serving.plans : found.result.plans),
                                              many(serves ? found.serving.fit : found.result.fit)});
}

std::string ranking_word(const PanelContext& ctx, const Found& found) {
  const std::string_view id =
      found.asked.serves() ? engine::kServingObjectiveIds[static_cast<std::size_t>(found.asked.serving.objective)]
                           : engine::kObjectiveIds[static_cast<std::size_t>(found.asked.request.objective)];
  return std::string(ctx.text("ui.search.objective." + std::string(id)));
}

}  // namespace roofscape::app
