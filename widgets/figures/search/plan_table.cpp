#include "widgets/figures/search/plan_table.h"

#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "engine/scenario/mesh_size.h"
#include "engine/search/part_difference.h"
#include "engine/search/slow_end.h"
#include "engine/search/who_runs.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/evidence_text.h"
#include "widgets/figures/search/figure_search_parts.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::widgets::search {

using engine::ErrorBand;
using engine::Evidence;
using engine::EvidenceKind;
using engine::RankedDecoding;
using engine::RankedPlan;

namespace {

constexpr double kAsMuch = 0.99;  // of a plan's memory: what those alike take less by is worth a word from here on

// All that the words of a row may need.
template <class Ranked>
struct Listed {
  const TextTable& texts;
  const engine::Scenario& scenario;
  const Ranked& row;
  const Ranked& best;
  const ErrorBand* band;
  std::optional<double> against;  // times the best's score; nothing: it does not count
  engine::WhoRuns who;
};

template <class Ranked>
struct ColumnOf {
  PlanColumn column;
  std::function<std::string(const Listed<Ranked>&)> text;
  // Whether a row has something to say; where none has there is no column. Null: every row has.
  std::function<bool(const Listed<Ranked>&)> says = nullptr;
  const engine::PlanDimension* setting = nullptr;  // that gives it its heading; null: the column's own
};

double all_chips(const engine::Scenario& s) { return static_cast<double>(engine::chip_count(s.cluster)); }
std::string number(int n) { return format_count(n); }
std::string gb(double bytes) { return format_fixed(bytes / 1e9, 1); }
std::string word(const TextTable& texts, std::string_view key) { return std::string(texts.text(key)); }

std::string band_text(const TextTable& texts, const ErrorBand* band, double seconds) {
  if (band == nullptr) return std::string(kNoValue);
  if (!band->validated()) return word(texts, "ui.search.no_band");
  return range_text(texts, band->least(seconds), band->most(seconds), engine::unit::seconds);
}

template <class Parts, class Quantities>
std::string loss_text(const TextTable& texts, const Quantities& of, const Parts& best, const Parts& row) {
  const auto [part, seconds] = engine::largest_difference(of, best, row);
  if (!(seconds > 0)) return std::string(kNoValue);
  return quantity_label(texts, part) + " +" + format_duration(seconds);
}

std::string standing(const std::optional<double>& against) {
  return against ? against_text(*against, 1) : std::string(kNoValue);
}

// How many can run the plan, or the only one that can: a column of names would be too wide, and the tip has them.
template <class Ranked>
std::string who_text(const Listed<Ranked>& l) {
  const auto& [can, cannot] = l.who;
  if (can.empty()) return word(l.texts, "ui.search.runs_none");
  if (can.size() == 1) return framework_names(can);
  if (cannot.empty()) return word(l.texts, "ui.search.runs_all");
  return l.texts.format("ui.search.runs_some",
                        {number(static_cast<int>(can.size())), number(static_cast<int>(can.size() + cannot.size()))});
}
template <class Ranked>
ColumnOf<Ranked> runs_column() {  // of the spare columns the last to give way
  return {{"runs_on", {}, false, true, true}, who_text<Ranked>, [](const Listed<Ranked>& l) {
            return !l.who.can.empty() || !l.who.cannot.empty();
          }};
}

// A count of the plan, such as the degree of a mesh axis; a degree of which every row has 1 has no column.
template <class Ranked, auto Member>
ColumnOf<Ranked> count(std::string_view id) {
  return {{id, {}}, [](const Listed<Ranked>& l) { return number(l.row.plan.*Member); }};
}
template <class Ranked, auto Member>
ColumnOf<Ranked> degree(std::string_view id) {
  ColumnOf<Ranked> column = count<Ranked, Member>(id);
  column.says = [](const Listed<Ranked>& l) { return l.row.plan.*Member > 1; };
  return column;
}

// A setting, where not all plans have the same.
ColumnOf<RankedPlan> setting(std::string_view name) {
  const engine::PlanDimension& of = *engine::find_plan_dimension(name);
  return {{name, {}, false},
          [&of](const Listed<RankedPlan>& l) {
            const double value = of.get(l.row.plan);
            if (of.setting->comes_to(l.scenario, l.row.plan, value) == engine::PlanSetting::kNothing)
              return std::string(kNoValue);
            return value_word(l.texts, of, value);
          },
          [&of](const Listed<RankedPlan>& l) { return of.get(l.row.plan) != of.get(l.best.plan); },
          &of};
}

const auto& training_columns() {
  using L = const Listed<RankedPlan>&;
  using engine::Plan;
  static const std::array columns{
      ColumnOf<RankedPlan>{{"chips", {}},
                           [](L l) { return format_count(engine::mesh_chips(l.row.plan)); },
                           [](L l) { return engine::mesh_chips(l.row.plan) < all_chips(l.scenario); }},
      degree<RankedPlan, &Plan::data>("data"),
      degree<RankedPlan, &Plan::fsdp>("fsdp"),
      degree<RankedPlan, &Plan::tensor>("tensor"),
      ColumnOf<RankedPlan>{{"sp", {}, false},
                           [](L l) {
                             if (l.row.plan.tensor == 1) return std::string(kNoValue);
                             return word(l.texts, l.row.plan.sequence_parallel ? "ui.search.on" : "ui.search.off");
                           },
                           [](L l) { return l.row.plan.tensor > 1; }},
      degree<RankedPlan, &Plan::context>("context"),
      degree<RankedPlan, &Plan::expert>("expert"),
      degree<RankedPlan, &Plan::pipeline>("pipeline"),
      ColumnOf<RankedPlan>{{"schedule", {}, false},
                           [](L l) {
                             engine::Plan plan = l.row.plan;
                             plan.virtual_stages = 1;  // the next column's
                             return schedule_word(l.texts, plan);
                           },
                           [](L l) { return l.row.plan.pipeline > 1; }},
      ColumnOf<RankedPlan>{
          {"chunks", {}},
          [](L l) { return l.row.plan.pipeline > 1 ? number(l.row.plan.virtual_stages) : std::string(kNoValue); },
          [](L l) { return l.row.plan.pipeline > 1 && l.row.plan.virtual_stages > 1; }},
      count<RankedPlan, &Plan::microbatch_sequences>("microbatch"),
      count<RankedPlan, &Plan::zero_stage>("zero"),
      ColumnOf<RankedPlan>{{"keeps", {}, false}, [](L l) { return policy_word(l.texts, l.row.plan.policy); }},
      ColumnOf<RankedPlan>{{"offload", {}, false},
                           [](L l) { return offload_word(l.texts, l.row.plan); },
                           [](L l) { return l.row.plan.offload_optimizer || l.row.plan.offload_activations; }},
      setting("keep_gathered"),
      setting("context_method"),
      setting("expert_tensor"),
      setting("group_size"),
      setting("embedding_as_layers"),
      setting("head_as_layers"),
      setting("data_on"),
      setting("fsdp_on"),
      setting("tensor_on"),
      setting("context_on"),
      setting("expert_on"),
      setting("pipeline_on"),
      setting("rank_order"),
      setting("optimizer_fraction"),
      ColumnOf<RankedPlan>{{"time", {}, true, true}, [](L l) { return format_duration(l.row.step_time_s); }},
      ColumnOf<RankedPlan>{{"memory", {}, true, true}, [](L l) { return gb(l.row.memory_bytes); }},
      ColumnOf<RankedPlan>{{"band", {}, true, true},
                           [](L l) { return band_text(l.texts, l.band, l.row.step_time_s); },
                           [](L l) { return l.band != nullptr; }},
      ColumnOf<RankedPlan>{{"against", {}, true, true}, [](L l) { return standing(l.against); }},
      ColumnOf<RankedPlan>{{"mfu", {}, true, true}, [](L l) { return mfu_text(l.row.mfu); }},
      runs_column<RankedPlan>(),
      ColumnOf<RankedPlan>{{"alike", {}, false, true, true},
                           [](L l) {
                             if (l.row.alike == 0) return std::string(kNoValue);
                             if (!(l.row.least_alike_bytes < kAsMuch * l.row.memory_bytes))
                               return "+" + number(l.row.alike);
                             return l.texts.format("ui.search.alike_from",
                                                   {number(l.row.alike), gb(l.row.least_alike_bytes),
                                                    knobs_words(l.texts, l.row.plan, l.row.least_alike)});
                           },
                           [](L l) { return l.row.alike > 0; }},
      ColumnOf<RankedPlan>{
          {"loss", {}, false, true, true},
          [](L l) { return loss_text(l.texts, engine::kStepParts, l.best.step_parts, l.row.step_parts); }},
  };
  return columns;
}

const auto& serving_columns() {
  using L = const Listed<RankedDecoding>&;
  using engine::DecodingPlan;
  const auto used = [](L l) { return engine::decoding_chips(l.row.plan, l.scenario); };
  // Prefill has the others where it has chips of its own.
  const auto leaves_idle = [used](L l) {
    return !l.scenario.serving.disaggregated && used(l) < all_chips(l.scenario);
  };
  static const std::array columns{
      ColumnOf<RankedDecoding>{{"chips", {}}, [used](L l) { return format_count(used(l)); }, leaves_idle},
      degree<RankedDecoding, &DecodingPlan::data>("data"),
      degree<RankedDecoding, &DecodingPlan::tensor>("tensor"),
      degree<RankedDecoding, &DecodingPlan::expert>("expert"),
      degree<RankedDecoding, &DecodingPlan::pipeline>("pipeline"),
      count<RankedDecoding, &DecodingPlan::batch>("batch"),
      ColumnOf<RankedDecoding>{{"rate", {}, true, true},
                               [](L l) { return format_significant(l.row.tokens_per_s_per_chip); }},
      ColumnOf<RankedDecoding>{
          {"total_rate", {}, true, true}, [](L l) { return format_si(l.row.tokens_per_s, ""); }, leaves_idle},
      ColumnOf<RankedDecoding>{{"token_time", {}, true, true}, [](L l) { return format_duration(l.row.token_s); }},
      ColumnOf<RankedDecoding>{{"memory", {}, true, true}, [](L l) { return gb(l.row.chip_bytes); }},
      // What runs have been measured of is decoding alone.
      ColumnOf<RankedDecoding>{{"decode_token", {}, true, true},
                               [](L l) { return format_duration(l.row.decode_token_s); }},
      ColumnOf<RankedDecoding>{{"band", {}, true, true},
                               [](L l) { return band_text(l.texts, l.band, l.row.decode_token_s); },
                               [](L l) { return l.band != nullptr; }},
      ColumnOf<RankedDecoding>{{"against", {}, true, true}, [](L l) { return standing(l.against); }},
      ColumnOf<RankedDecoding>{{"ttft", {}, true, true}, [](L l) { return format_duration(l.row.ttft_s); }},
      ColumnOf<RankedDecoding>{{"cost", {}, true, true},
                               [](L l) {
                                 return l.row.cost_usd ? format(*l.row.cost_usd,
                                                                engine::quantity(engine::Q::sustained_cost).unit)
                                                       : std::string(kNoValue);
                               },
                               [](L l) { return l.row.cost_usd.has_value(); }},
      runs_column<RankedDecoding>(),
      ColumnOf<RankedDecoding>{{"outdone", {}, true, true, true},
                               [](L l) { return l.row.outdone > 0 ? number(l.row.outdone) : std::string(kNoValue); },
                               [](L l) { return l.row.outdone > 0; }},
      ColumnOf<RankedDecoding>{
          {"loss", {}, false, true, true},
          [](L l) { return loss_text(l.texts, engine::kDecodeParts, l.best.step_parts, l.row.step_parts); }},
  };
  return columns;
}

template <class Plan>
ErrorBand band_with(const engine::Scenario& scenario, const Plan& plan, const Evidence& evidence, EvidenceKind kind) {
  engine::Scenario with = scenario;
  engine::apply(with, plan);
  return engine::error_band(evidence.points, with, kind);
}

template <class Columns, class Objective, class Result>
PlanTable table_of(const TextTable& texts, const engine::Scenario& scenario, const Columns& columns,
                   Objective objective, const Result& result, bool present_priced, const Evidence* evidence,
                   EvidenceKind kind) {
  using Ranked = typename decltype(result.best)::value_type;
  PlanTable out;
  std::vector<const Ranked*> plans;
  for (const Ranked& one : result.best) plans.push_back(&one);
  if (present_priced) plans.push_back(&result.present);
  if (plans.empty()) return out;
  const Ranked& best = *plans.front();
  std::vector<ErrorBand> bands;
  if (evidence != nullptr)
    for (const Ranked* plan : plans) bands.push_back(band_with(scenario, plan->plan, *evidence, kind));
  std::vector<Listed<Ranked>> listed;
  for (std::size_t i = 0; i < plans.size(); ++i)
    listed.push_back({texts, scenario, *plans[i], best, bands.empty() ? nullptr : &bands[i],
                      (i == result.best.size() && result.present_breaks) || !engine::comparable(best, *plans[i])
                          ? std::nullopt
                          : std::optional(score_of(objective, *plans[i]) / score_of(objective, best)),
                      engine::who_runs(scenario, plans[i]->plan)});
  out.rows.resize(result.best.size());
  for (const auto& c : columns) {
    bool says = c.says == nullptr;
    for (const auto& l : listed) says = says || c.says(l);
    if (!says) continue;
    out.columns.push_back(c.column);
    out.columns.back().heading = c.setting != nullptr
                                     ? setting_label(texts, *c.setting)
                                     : std::string(texts.text("ui.search.column." + std::string(c.column.id)));
    for (std::size_t i = 0; i < listed.size(); ++i)
      (i < out.rows.size() ? out.rows[i] : out.present).push_back(c.text(listed[i]));
  }
  return out;
}

}  // namespace

std::string mfu_text(double mfu) {
  const std::string text = format_percent(mfu);
  return mfu > 1 && text != format_percent(1) ? text + std::string(kAboveOne) : text;
}

std::string above_one_words(const TextTable& texts, std::span<const std::vector<std::string>> rows) {
  for (const std::vector<std::string>& row : rows)
    for (const std::string& cell : row)
      if (cell.ends_with(kAboveOne)) return std::string(texts.text("search.above_one"));
  return {};
}

ErrorBand band_of(const engine::Scenario& scenario, const engine::Plan& plan, const Evidence& evidence,
                  EvidenceKind kind) {
  return band_with(scenario, plan, evidence, kind);
}
ErrorBand band_of(const engine::Scenario& scenario, const engine::DecodingPlan& plan, const Evidence& evidence,
                  EvidenceKind kind) {
  return band_with(scenario, plan, evidence, kind);
}

std::string framework_names(std::span<const engine::Framework> frameworks) {
  std::string out;
  for (const engine::Framework framework : frameworks)
    out += (out.empty() ? "" : ", ") + std::string(framework_name(framework));
  return out;
}

PlanTable plan_table(const TextTable& texts, const engine::Scenario& scenario, engine::Objective objective,
                     const engine::SearchResult& result, const Evidence* evidence) {
  return table_of(texts, scenario, training_columns(), objective, result,
                  result.present_legal && result.present.step_time_s > 0, evidence, EvidenceKind::step);
}

PlanTable plan_table(const TextTable& texts, const engine::Scenario& scenario, engine::ServingObjective objective,
                     const engine::ServingSearchResult& result, const Evidence* evidence) {
  return table_of(texts, scenario, serving_columns(), objective, result, result.present_legal, evidence,
                  EvidenceKind::decode);
}

}  // namespace roofscape::widgets::search
