#include "widgets/figures/search/cluster_table.h"

#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "engine/evaluate/missing_figures.h"
#include "engine/search/decoding_plan.h"
#include "engine/search/plan.h"
#include "engine/training/run.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/search/figure_search_parts.h"
#include "widgets/figures/search/figure_serving_search.h"

namespace roofscape::widgets::search {

using engine::ClusterAnswer;

namespace {

struct ClusterColumn {
  PlanColumn column;
  std::string (*text)(const TextTable&, const ClusterAnswer&);
};

// Where there is none, what the chip lacks for one.
std::string plan_text(const TextTable& texts, const ClusterAnswer& a) {
  if (!a.runs) {
    std::string lacks;
    for (const engine::ChipField field : a.missing) {
      const std::string label = "field." + std::string(engine::figure_path(field)) + ".label";
      lacks += (lacks.empty() ? "" : "; ") + std::string(texts.text(label));
    }
    return lacks.empty() ? lacks : texts.format("clusters.lacks", {lacks});
  }
  return a.scenario.serves() ? decoding_words(texts, engine::decoding_plan_of(a.scenario))
                             : plan_words(texts, engine::plan_of(a.scenario));
}

constexpr std::string_view kAssumed = " *";

// A column of what the plan comes to.
template <double ClusterAnswer::*value, const engine::Unit& unit>
ClusterColumn result(std::string_view id) {
  return {{id, {}, true, true}, [](const TextTable& texts, const ClusterAnswer& a) {
            return std::isnan(a.*value) ? std::string(kNoValue) : texts.amount(a.*value, unit);
          }};
}

const ClusterColumn kCluster{{"cluster", {}, false, true}, [](const TextTable&, const ClusterAnswer& a) {
                               return a.name + std::string(a.is_calibrated ? "" : kAssumed);
                             }};
const ClusterColumn kChips{{"chips", {}, true, true}, [](const TextTable& texts, const ClusterAnswer& a) {
                             const auto all = static_cast<double>(a.chips);
                             return leaves_idle(a) ? used_chips_words(texts, a.used_chips, all) : format_count(all);
                           }};
const ClusterColumn kRun{{"run", {}, true, true}, [](const TextTable& texts, const ClusterAnswer& a) {
                           return std::isnan(a.time_s) ? std::string(kNoValue)
                                                       : texts.amount(engine::days_of(a.time_s), engine::unit::days);
                         }};
const ClusterColumn kMfu{{"mfu", {}, true, true}, [](const TextTable&, const ClusterAnswer& a) {
                           return std::isnan(a.mfu) ? std::string(kNoValue) : mfu_text(a.mfu);
                         }};
const ClusterColumn kVerdict{
    {"verdict", {}, false, true}, [](const TextTable& texts, const ClusterAnswer& a) {
      return std::string(texts.text("clusters.verdict." + std::string(engine::kClusterVerdictIds[a.verdict])));
    }};
const ClusterColumn kPlan{{"plan", {}, false, false, true}, plan_text};
const ClusterColumn kMemory = result<&ClusterAnswer::memory_bytes, engine::unit::bytes>("memory");

const std::array kTraining{kCluster,
                           kChips,
                           kRun,
                           result<&ClusterAnswer::cost_usd, engine::unit::dollars>("cost"),
                           result<&ClusterAnswer::energy_kwh, engine::unit::kilowatt_hours>("energy"),
                           kMfu,
                           kMemory,
                           kVerdict,
                           kPlan};
const std::array kServing{kCluster,
                          kChips,
                          result<&ClusterAnswer::time_s, engine::unit::seconds>("token"),
                          result<&ClusterAnswer::ttft_s, engine::unit::seconds>("ttft"),
                          result<&ClusterAnswer::cost_usd, engine::unit::dollars>("per_million"),
                          result<&ClusterAnswer::tokens_per_s, engine::unit::tokens_per_s>("throughput"),
                          kMemory,
                          kVerdict,
                          kPlan};

}  // namespace

bool leaves_idle(const ClusterAnswer& a) { return a.used_chips < static_cast<double>(a.chips); }

ClusterTable cluster_table(const TextTable& texts, bool serves, std::span<const ClusterAnswer> answers) {
  const std::span<const ClusterColumn> columns = serves ? std::span<const ClusterColumn>(kServing) : kTraining;
  ClusterTable out;
  for (const ClusterColumn& one : columns) {
    out.columns.push_back(one.column);
    out.columns.back().heading = texts.text("clusters.column." + std::string(one.column.id));
  }
  for (const ClusterAnswer& a : answers) {
    out.assumed |= !a.is_calibrated;
    out.idle |= leaves_idle(a);
    std::vector<std::string>& cells = out.rows.emplace_back();
    for (const ClusterColumn& one : columns) cells.push_back(one.text(texts, a));
  }
  return out;
}

Readout answer_readout(const TextTable& texts, const ClusterAnswer& answer, std::string title) {
  const ClusterTable table = cluster_table(texts, answer.scenario.serves(), {&answer, 1});
  Readout r{std::move(title), {}};
  for (std::size_t i = 1; i < table.columns.size(); ++i)
    if (const std::string& cell = table.rows.front()[i]; !cell.empty() && cell != kNoValue)
      r.rows.emplace_back(table.columns[i].heading, cell);
  if (std::isfinite(answer.step_time_s))
    r.rows.emplace_back(texts.text("ui.clusters.step"), texts.amount(answer.step_time_s, engine::unit::seconds));
  return r;
}

}  // namespace roofscape::widgets::search
