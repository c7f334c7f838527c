#include "engine/io/export/sweep.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/io/export/csv.h"
#include "engine/io/json/nearest.h"
#include "engine/io/json/pretty.h"
#include "engine/io/presets/parts_json.h"
#include "engine/io/scenario/scenario_json.h"

namespace roofscape::io {

namespace {

using engine::Q;

constexpr std::array kTraining{Q::step_time, Q::mfu, Q::tokens_per_s, Q::memory_total};
constexpr std::array kServing{Q::mixed_token_time_q,
                              Q::sustained_tokens,
                              Q::sustained_tokens_per_chip,
                              Q::time_per_output_token,
                              Q::serving_tokens_per_s,
                              Q::serving_tokens_per_chip,
                              Q::ttft,
                              Q::memory_total};

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> out;
  while (true) {
    const std::size_t comma = text.find(',');
    out.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return out;
    text.remove_prefix(comma + 1);
  }
}

bool has_slot(Q q) {
  return static_cast<std::size_t>(q) < engine::kReportQuantityCount && !engine::is_indexed(engine::quantity(q));
}

}  // namespace

Result<VariedField> read_varied_field(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size())
    return InputError{
        "--vary", {}, engine::say("error.sweep.nothing", in_quotes(text)), engine::say("error.sweep.nothing.remedy")};
  return VariedField{std::string(text.substr(0, equals)), split(text.substr(equals + 1))};
}

Result<std::vector<Q>> read_sweep_quantities(std::string_view list, engine::WorkloadKind kind) {
  if (list.empty()) {
    if (kind == engine::WorkloadKind::serving) return std::vector<Q>(kServing.begin(), kServing.end());
    return std::vector<Q>(kTraining.begin(), kTraining.end());
  }
  std::vector<Q> out;
  for (const std::string& id : split(list)) {
    const auto q = engine::find_quantity(id);
    if (q && has_slot(*q)) {
      out.push_back(*q);
      continue;
    }
    std::vector<std::string_view> known;
    for (std::size_t i = 0; i < engine::kReportQuantityCount; ++i)
      if (has_slot(static_cast<Q>(i))) known.push_back(engine::kQuantities[i].id);
    const std::string_view near = nearest_word(id, known);
    return InputError{"--quantities",
                      {},
                      engine::say("error.sweep.quantity", in_quotes(id)),
                      near.empty() ? engine::say("error.sweep.quantity.remedy") : did_you_mean(near)};
  }
  return out;
}

bool SweepTable::has_errors() const {
  return std::any_of(rows.begin(), rows.end(), [](const engine::SweepRow& r) { return !r.error.empty(); });
}

Result<SweepTable> run_sweep(const engine::Scenario& base, std::vector<VariedField> varied, std::vector<Q> quantities,
                             const PresetLibrary& library) {
  SweepTable table;
  table.varied = std::move(varied);
  table.quantities = std::move(quantities);
  double combinations = 1;
  for (const VariedField& v : table.varied) combinations *= static_cast<double>(v.values.size());
  if (combinations > static_cast<double>(kMostSweepRows))
    return InputError{"--vary",
                      {},
                      engine::say("error.sweep.many", fmt::format("{:.0f}", combinations)),
                      engine::say("error.sweep.many.remedy", kMostSweepRows)};
  std::vector<std::size_t> sizes;
  for (const VariedField& v : table.varied) sizes.push_back(v.values.size());
  std::optional<InputError> error;
  auto rows = engine::sweep(base, sizes, table.quantities,
                            [&](engine::Scenario& scenario, std::size_t field, std::size_t value) {
                              const VariedField& v = table.varied[field];
                              error = set_field(scenario, v.path + "=" + v.values[value], library);
                              return !error.has_value();
                            });
  if (!rows) {
    error->file = "--vary";
    return *std::move(error);
  }
  table.rows = *std::move(rows);
  return table;
}

std::string sweep_csv(const SweepTable& table) {
  std::string out;
  for (const VariedField& v : table.varied) out += csv_field(v.path) + ",";
  for (const Q q : table.quantities) out += std::string(engine::quantity(q).id) + ",";
  out += "fits,bound,error\n";
  for (const engine::SweepRow& row : table.rows) {
    for (std::size_t i = 0; i < table.varied.size(); ++i)
      out += csv_field(table.varied[i].values[row.choice[i]]) + ",";
    for (const auto& q : row.quantities) out += (q ? fmt::format("{}", *q) : std::string()) + ",";
    out += fmt::format("{},{},{}\n", row.error.empty() ? (row.fits ? "true" : "false") : "", row.bound, row.error);
  }
  return out;
}

std::string sweep_json(const SweepTable& table) {
  OrderedJson list = OrderedJson::array();
  for (const engine::SweepRow& row : table.rows) {
    OrderedJson entry;
    for (std::size_t i = 0; i < table.varied.size(); ++i)
      entry["set"][table.varied[i].path] = table.varied[i].values[row.choice[i]];
    for (std::size_t i = 0; i < table.quantities.size(); ++i) {
      const engine::Quantity& q = engine::quantity(table.quantities[i]);
      OrderedJson value;
      value["value"] = nullptr;
      if (row.quantities[i]) value["value"] = number_json(*row.quantities[i]);
      value["unit"] = std::string(q.unit.symbol);
      if (!row.quantities[i]) value["reason"] = std::string(engine::kAbsenceIds[row.absences[i]]);
      entry["quantities"][std::string(q.id)] = std::move(value);
    }
    entry["fits"] = nullptr;
    if (row.error.empty()) entry["fits"] = row.fits;
    entry["bound"] = nullptr;
    if (!row.bound.empty()) entry["bound"] = row.bound;
    if (!row.error.empty()) entry["error"] = row.error;
    list.push_back(std::move(entry));
  }
  return pretty_text(OrderedJson{{"rows", std::move(list)}});
}

}  // namespace roofscape::io
