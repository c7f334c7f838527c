#include "engine/evidence/contradicting_runs.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "engine/evidence/measured_prediction.h"
#include "engine/scenario/mesh_size.h"
#include "engine/studies/plan_change.h"

namespace roofscape::evidence {
namespace {

struct Neighbour {
  std::size_t entry = 0;
  double amount = 0;          // requests in flight, or chips
  double figure = 0;          // seconds of a token in any unit, or the rate of a chip
  engine::Scenario scenario;  // of training
};

double figure_of(const io::Measurement& entry, std::string_view quantity) {
  for (const io::MeasuredValue& value : entry.values)
    if (value.quantity == quantity) return value.value.value_or(0);
  return 0;
}

// "vLLM" of "vLLM 0.18.0".
std::string engine_of(const io::Measurement& entry) { return entry.software.substr(0, entry.software.find(' ')); }

// All but how many requests it answers.
bool same_server(const io::Measurement& a, const io::Measurement& b) {
  return engine_of(a) == engine_of(b) && a.hardware == b.hardware && a.plan == b.plan && a.precision == b.precision &&
         a.what == b.what && a.model->shape == b.model->shape && a.batch->prompt_tokens == b.batch->prompt_tokens &&
         a.batch->output_tokens == b.batch->output_tokens;
}

bool servers_contradict(const Neighbour& a, const Neighbour& b) {
  const auto& [few, many] = a.amount < b.amount ? std::tie(a, b) : std::tie(b, a);
  return few.amount < many.amount && few.figure > kFasterWithMore * many.figure;
}

bool trainings_contradict(const Neighbour& a, const Neighbour& b) {
  if (engine::change_between(a.scenario, b.scenario) != engine::PlanChange::chips) return false;
  const auto& [few, many] = a.amount < b.amount ? std::tie(a, b) : std::tie(b, a);
  return many.figure > (1 + kFasterPerChip) * few.figure ||
         (1 + kFasterPerChip) * many.figure * many.amount < few.figure * few.amount;
}

// Takes away those that contradict most others until none is left that does.
template <class Contradict>
void mark(std::vector<Neighbour> runs, Contradict contradict, std::vector<bool>& out) {
  while (true) {
    std::vector<std::size_t> count(runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (contradict(runs[i], runs[j])) {
          ++count[i];
          ++count[j];
        }
    const std::size_t most = runs.empty() ? 0 : *std::max_element(count.begin(), count.end());
    if (most == 0) return;
    std::vector<Neighbour> left;
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (count[i] == most)
        out[runs[i].entry] = true;
      else
        left.push_back(std::move(runs[i]));
    runs = std::move(left);
  }
}

// The figure of a run in which it can be compared with others: more is a longer time, or more work.
template <std::size_t N>
std::optional<std::pair<std::string_view, double>> first_of(const io::Measurement& entry,
                                                            const std::string_view (&quantities)[N]) {
  for (const std::string_view quantity : quantities)
    if (const double value = figure_of(entry, quantity); value > 0) return std::pair{quantity, value};
  return std::nullopt;
}

using NeighbourGroup = std::tuple<std::string, std::string, std::string_view>;  // family, table, quantity

void mark_servers(std::span<const io::Measurement> entries, std::vector<bool>& out) {
  constexpr std::string_view kTimes[] = {"itl_ms", "latency_ms", "latency_s"};
  std::map<NeighbourGroup, std::vector<std::vector<Neighbour>>> groups;  // of each, the servers, with their runs
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const io::Measurement& entry = entries[i];
    if (entry.kind != "measured" || entry.task != "inference" || entry.operation || !entry.model || !entry.hardware ||
        !entry.plan || !entry.plan->tensor || !entry.batch || !(entry.batch->batch > 0))
      continue;
    const auto time = first_of(entry, kTimes);
    if (!time) continue;
    std::vector<std::vector<Neighbour>>& servers = groups[{entry.family, entry.table, time->first}];
    const auto own = std::find_if(servers.begin(), servers.end(), [&](const std::vector<Neighbour>& runs) {
      return same_server(entries[runs.front().entry], entry);
    });
    std::vector<Neighbour>& runs = own != servers.end() ? *own : servers.emplace_back();
    runs.push_back({i, *entry.batch->batch, time->second, {}});
  }
  for (auto& [group, servers] : groups)
    for (std::vector<Neighbour>& runs : servers) mark(std::move(runs), servers_contradict, out);
}

void mark_trainings(std::span<const io::Measurement> entries, const io::PresetLibrary& library,
                    std::vector<bool>& out) {
  constexpr std::string_view kFigures[] = {"step_time_s", "tokens_per_s_per_chip", "samples_per_s_per_chip",
                                           "tflops_per_chip", "mfu"};
  std::map<NeighbourGroup, std::vector<Neighbour>> groups;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const io::Measurement& entry = entries[i];
    if (entry.kind != "measured" || entry.operation || !entry.model || entry.task == "inference") continue;
    const auto figure = first_of(entry, kFigures);
    if (!figure) continue;
    PreparedEntry prepared = prepare(entry, library, engine::Mode::ideal);
    if (!prepared.scenario || prepared.scenario->serves()) continue;
    const engine::Scenario& s = *prepared.scenario;
    const double chips = engine::mesh_chips(s.parallelism);
    const double rate = figure->first == "step_time_s" ? static_cast<double>(s.workload.global_batch_sequences) *
                                                             s.workload.sequence_length / (figure->second * chips)
                                                       : figure->second;
    groups[{entry.family, entry.table, figure->first}].push_back({i, chips, rate, std::move(*prepared.scenario)});
  }
  for (auto& [group, runs] : groups) mark(std::move(runs), trainings_contradict, out);
}

}  // namespace

std::vector<bool> contradicting_runs(std::span<const io::Measurement> entries, const io::PresetLibrary& library) {
  std::vector<bool> out(entries.size());
  mark_servers(entries, out);
  mark_trainings(entries, library, out);
  return out;
}

}  // namespace roofscape::evidence
