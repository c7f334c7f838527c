#include "engine/io/export/clusters_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/evaluate/missing_figures.h"
#include "engine/io/export/csv.h"
#include "engine/io/export/plan_json.h"
#include "engine/io/json/json_text.h"
#include "engine/training/run.h"

namespace roofscape::io {

using engine::ClusterAnswer;
using engine::Q;

namespace {

OrderedJson answer_json(const ClusterAnswer& a) {
  OrderedJson out = {{"cluster", a.name},
                     {"chip", a.scenario.cluster.chip.name},
                     {"chips", a.chips},
                     {"used_chips", number_json(a.used_chips)},
                     {"verdict", std::string(engine::kClusterVerdictIds[a.verdict])},
                     {"calibrated", a.is_calibrated}};
  const auto add = [&](Q q, double value) { out[std::string(engine::quantity(q).id)] = number_json(value); };
  if (a.scenario.serves()) {
    add(Q::mixed_token_time_q, a.time_s);
    add(Q::ttft, a.ttft_s);
    add(Q::sustained_tokens, a.tokens_per_s);
    add(Q::sustained_cost, a.cost_usd);
  } else {
    add(Q::step_time, a.step_time_s);
    add(Q::mfu, a.mfu);
    add(Q::tokens_per_s, a.tokens_per_s);
    add(Q::run_days, engine::days_of(a.time_s));
    add(Q::run_cost, a.cost_usd);
    add(Q::run_energy, a.energy_kwh);
  }
  add(Q::memory_total, a.memory_bytes);
  add(Q::hbm_capacity, a.capacity_bytes);
  if (a.verdict == engine::ClusterVerdict::no_figure) {
    out["missing"] = OrderedJson::array();
    for (const engine::ChipField field : a.missing) out["missing"].push_back(std::string(engine::figure_path(field)));
  }
  if (!a.runs)
    out["plan"] = nullptr;
  else
    out["plan"] = a.scenario.serves() ? plan_json(engine::decoding_plan_of(a.scenario))
                                      : plan_json(engine::plan_of(a.scenario));
  return out;
}

}  // namespace

std::string clusters_json(std::span<const ClusterAnswer> answers) {
  OrderedJson out = OrderedJson::array();
  for (const ClusterAnswer& answer : answers) out.push_back(answer_json(answer));
  return out.dump(2) + "\n";
}

std::string clusters_csv(std::span<const ClusterAnswer> answers) {
  std::vector<std::string> names;
  std::vector<OrderedJson> rows;
  for (const ClusterAnswer& answer : answers) {
    OrderedJson row = answer_json(answer);
    const OrderedJson plan = row["plan"];
    row.erase("plan");
    if (plan.is_object()) row.update(plan);
    for (const auto& [key, value] : row.items())
      if (std::find(names.begin(), names.end(), key) == names.end()) names.push_back(key);
    rows.push_back(std::move(row));
  }
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) out += (i > 0 ? "," : "") + names[i];
  out += "\n";
  for (const OrderedJson& row : rows) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i > 0) out += ",";
      const auto it = row.find(names[i]);
      if (it == row.end()) continue;
      if (it->is_array()) {
        std::string all;
        for (const auto& one : *it) all += (all.empty() ? "" : "; ") + one.get<std::string>();
        out += csv_field(all);
      } else {
        const std::string text = it->is_string() ? csv_field(it->get<std::string>()) : it->dump();
        if (text != "null") out += text;  // as a number that is not known is written
      }
    }
    out += "\n";
  }
  return out;
}

}  // namespace roofscape::io
