#include "engine/evidence/contradicting_runs.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace roofscape::evidence {
namespace {

struct Neighbour {
  std::size_t entry = 0;
  double amount = 0;  // requests in flight, chips, or stages
  double figure = 0;  // seconds of a token in any unit, or the rate of a chip
  double batch = 0;   // of training: sequences of a step
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

using HardwareAndPlan = std::pair<io::MeasuredHardware, io::MeasuredPlan>;

// All but their chips and plans, of which `rest` says what is compared.
template <class Rest>
bool same_work(const io::Measurement& a, const io::Measurement& b, const Rest& rest) {
  const auto of = [&rest](const io::Measurement& entry) {
    HardwareAndPlan out{*entry.hardware, *entry.plan};
    rest(out);
    return out;
  };
  const bool same_kernels = std::ranges::equal(
      a.kernels, b.kernels, [](const auto& x, const auto& y) { return x.field == y.field && x.value == y.value; });
  return of(a) == of(b) && a.task == b.task && a.precision == b.precision && a.checkpointing == b.checkpointing &&
         a.schedule == b.schedule && a.what == b.what && same_kernels && a.model->shape == b.model->shape &&
         a.batch->micro == b.batch->micro && a.batch->sequence_length == b.batch->sequence_length;
}

// All but how many data-parallel ranks it has.
bool same_training(const io::Measurement& a, const io::Measurement& b) {
  return same_work(a, b, [](HardwareAndPlan& of) {
    of.first.count = of.first.slices = std::nullopt;
    of.second.data = of.second.fsdp = std::nullopt;
  });
}

// All but how its chips are dealt to stages and to data-parallel ranks.
bool same_chips(const io::Measurement& a, const io::Measurement& b) {
  return a.batch->global == b.batch->global &&
         same_work(a, b, [](HardwareAndPlan& of) { of.second.data = of.second.pipeline = std::nullopt; });
}

// Of as many sequences for each chip, or for all.
bool trainings_contradict(const Neighbour& a, const Neighbour& b) {
  const auto& [few, many] = a.amount < b.amount ? std::tie(a, b) : std::tie(b, a);
  if (few.amount == many.amount) return false;
  if (few.batch != many.batch && few.batch * many.amount != many.batch * few.amount) return false;
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

// Marks runs of the same work on the same chips that were slower than one with fewer stages and one with more. A chip's
// share of what data-parallel ranks exchange falls as one over the stages, and idle time grows with them: their sum has no
// peak between.
void mark_between(std::span<const Neighbour> runs, std::vector<bool>& out) {
  for (const Neighbour& run : runs) {
    const auto faster = [&](const auto& beside) {
      return std::ranges::any_of(runs, [&](const Neighbour& other) {
        return beside(other.amount, run.amount) && other.figure > (1 + kFasterPerChip) * run.figure;
      });
    };
    if (faster(std::less<>()) && faster(std::greater<>())) out[run.entry] = true;
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

// Of each group of runs that are alike but for an amount, those that contradict each other.
class Neighbourhoods {
 public:
  explicit Neighbourhoods(std::span<const io::Measurement> entries) : entries_(entries) {}

  template <class Alike>
  void add(std::string_view quantity, Neighbour run, Alike alike) {
    const io::Measurement& entry = entries_[run.entry];
    std::vector<std::vector<Neighbour>>& of_source = groups_[{entry.family, entry.table, quantity}];
    const auto own = std::find_if(of_source.begin(), of_source.end(), [&](const std::vector<Neighbour>& runs) {
      return alike(entries_[runs.front().entry], entry);
    });
    (own != of_source.end() ? *own : of_source.emplace_back()).push_back(run);
  }
  template <class Mark>
  void for_each(const Mark& mark_group) const {
    for (const auto& [source, groups] : groups_)
      for (const std::vector<Neighbour>& runs : groups) mark_group(runs);
  }

 private:
  using Source = std::tuple<std::string, std::string, std::string_view>;  // family, table, quantity
  std::span<const io::Measurement> entries_;
  std::map<Source, std::vector<std::vector<Neighbour>>> groups_;
};

}  // namespace

std::vector<bool> contradicting_runs(std::span<const io::Measurement> entries) {
  constexpr std::string_view kTimes[] = {"itl_ms", "latency_ms", "latency_s"};
  constexpr std::string_view kRates[] = {"step_time_s", "tokens_per_s_per_chip", "samples_per_s_per_chip",
                                         "tflops_per_chip", "mfu"};
  std::vector<bool> out(entries.size());
  Neighbourhoods servers(entries), trainings(entries), deals(entries);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const io::Measurement& entry = entries[i];
    if (entry.kind != "measured" || entry.ran_otherwise || entry.operation || !entry.model || !entry.hardware ||
        !entry.plan || !entry.batch)
      continue;
    if (entry.task == "inference") {
      const auto time = first_of(entry, kTimes);
      if (time && entry.plan->tensor && entry.batch->batch > 0)
        servers.add(time->first, {i, *entry.batch->batch, time->second}, same_server);
      continue;
    }
    const auto figure = first_of(entry, kRates);
    const std::optional<int>& chips = entry.hardware->count;
    const std::optional<double>& length = entry.batch->sequence_length;
    const double batch = entry.batch->global.value_or(0);
    if (!figure || !chips || !length || !(batch > 0)) continue;
    const double rate = figure->first == "step_time_s" ? batch * *length / (figure->second * *chips) : figure->second;
    trainings.add(figure->first, {i, double(*chips), rate, batch}, same_training);
    // Stages that layers are not dealt to evenly wait for the fullest.
    const int stages = entry.plan->pipeline.value_or(1);
    if (stages > 0 && entry.model->shape.n_layers % stages == 0)
      deals.add(figure->first, {i, double(stages), rate, batch}, same_chips);
  }
  servers.for_each([&out](const auto& runs) { mark(runs, servers_contradict, out); });
  trainings.for_each([&out](const auto& runs) { mark(runs, trainings_contradict, out); });
  deals.for_each([&out](const auto& runs) { mark_between(runs, out); });
  return out;
}

}  // namespace roofscape::evidence
