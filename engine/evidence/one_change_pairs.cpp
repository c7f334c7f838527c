#include "engine/evidence/one_change_pairs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "engine/base/stats.h"
#include "engine/evidence/contradicting_runs.h"
#include "engine/evidence/left_out_library.h"
#include "engine/evidence/measured_prediction.h"

namespace roofscape::evidence {
namespace {

struct Run {
  const io::Measurement* entry = nullptr;
  engine::Scenario scenario;
  double measured = 0, predicted = 0;  // tokens per chip and second
};

// Formats that a scenario counts alike, such as 8-bit floats scaled by tensor or by block, are two: one change where
// nothing else differs, else one too many.
std::optional<PlanChange> change_of(const Run& a, const Run& b) {
  const auto change = engine::change_between(a.scenario, b.scenario);
  if (a.entry->precision == b.entry->precision || change == PlanChange::format) return change;
  engine::Scenario renamed = b.scenario;
  renamed.name = a.scenario.name;
  return renamed == a.scenario ? std::optional(PlanChange::format) : std::nullopt;
}

}  // namespace

std::vector<OneChangePair> one_change_pairs(std::span<const io::Measurement> entries,
                                            const io::PresetLibrary& library, engine::Mode mode) {
  std::optional<LeftOutLibrary> left_out;
  if (mode == engine::Mode::calibrated) left_out.emplace(library);
  // Only runs of one source and table are comparable: same people, software and machine.
  std::map<std::tuple<std::string, std::string>, std::vector<Run>> sources;
  const std::vector<bool> contradicts = contradicting_runs(entries);
  for (const io::Measurement& entry : entries) {
    if (entry.kind != "measured" || !entry.model || entry.operation) continue;
    if (contradicts[static_cast<std::size_t>(&entry - entries.data())]) continue;
    io::Measurement asked = entry;
    // The first figure that says how fast it was; the prediction of the same figure is comparable whatever it counts.
    asked.values.clear();
    for (const char* quantity :
         {"step_time_s", "tokens_per_s_per_chip", "samples_per_s_per_chip", "tflops_per_chip", "mfu"})
      for (const io::MeasuredValue& value : entry.values)
        if (value.quantity == quantity && value.value.value_or(0) > 0 && asked.values.empty())
          asked.values.push_back(value);
    if (asked.values.empty()) continue;
    asked.values.push_back({"tokens_per_s_per_chip", 1.0});
    const io::PresetLibrary* without = left_out ? left_out->without(io::LeftOutKind::model, entry) : nullptr;
    const PreparedEntry prepared = prepare(asked, without != nullptr ? *without : library, mode);
    if (!prepared.scenario || prepared.scenario->serves()) continue;
    const EntryPrediction predicted = predict(prepared);
    const double *figure = std::get_if<double>(&predicted.values[0]),
                 *rate = std::get_if<double>(&predicted.values[1]);
    if (figure == nullptr || rate == nullptr || !(*figure > 0) || !(*rate > 0)) continue;
    const double ratio = *figure / *asked.values[0].value;
    const double too_fast = asked.values[0].quantity == "step_time_s" ? 1 / ratio : ratio;
    sources[{entry.family, entry.table}].push_back({&entry, *prepared.scenario, *rate / too_fast, *rate});
  }
  std::vector<OneChangePair> out;
  for (const auto& [source, runs] : sources)
    for (std::size_t i = 0; i < runs.size(); ++i)
      for (std::size_t j = i + 1; j < runs.size(); ++j)
        if (const auto change = change_of(runs[i], runs[j]))
          out.push_back({runs[i].entry->id, runs[j].entry->id, *change, std::log(runs[j].measured / runs[i].measured),
                         std::log(runs[j].predicted / runs[i].predicted)});
  return out;
}

PairSummary pair_summary(std::span<const OneChangePair> pairs) {
  PairSummary out;
  out.pairs = pairs.size();
  std::vector<double> errors;
  for (const OneChangePair& pair : pairs) {
    errors.push_back(std::abs(std::expm1(pair.predicted - pair.measured)));
    if (std::abs(pair.measured) <= std::log1p(engine::kApart)) continue;
    ++out.apart;
    if (pair.measured * pair.predicted > 0) ++out.right;
  }
  out.error = engine::median(std::move(errors));
  return out;
}

PairSummary pair_summary(std::span<const OneChangePair> pairs, PlanChange change) {
  std::vector<OneChangePair> those;
  for (const OneChangePair& pair : pairs)
    if (pair.change == change) those.push_back(pair);
  return pair_summary(those);
}

engine::PairRecord pair_record(std::span<const OneChangePair> pairs) {
  engine::PairRecord out;
  for (std::size_t i = 0; i < out.by_change.size(); ++i)
    out.by_change[i] = pair_summary(pairs, static_cast<PlanChange>(i));
  std::vector<OneChangePair> choices;
  std::copy_if(pairs.begin(), pairs.end(), std::back_inserter(choices),
               [](const OneChangePair& pair) { return engine::is_choice(pair.change); });
  out.choices = pair_summary(choices);
  return out;
}

}  // namespace roofscape::evidence
