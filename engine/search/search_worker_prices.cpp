// The inner half of a search: what the plans of a placed mesh take, of which most need no more than a bound.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/search/search_worker.h"

namespace roofscape::engine {

// Some device holds at least the mean number of layers.
void SearchWorker::test_state(Mesh& mesh) {
  Plan plan = mesh.placed.plan;
  const int stages = plan.pipeline;
  const int layers = (s_.model.n_layers + stages - 1) / stages;
  for (StateChoice& choice : mesh.states) {
    plan.zero_stage = static_cast<std::uint8_t>(choice.zero);
    plan.offload_optimizer = choice.offload_optimizer;
    choice.bytes = pricer_.state_bytes(mesh.placed, layer_, plan, layers, stages == 1, stages == 1);
    choice.too_large = choice.bytes > mesh.limit_bytes;
    if (!choice.too_large) {
      pricer_.price_state(mesh.placed, layer_, plan, state_);
      choice.end_s = Pricer::least_end(mesh.placed, layer_, state_);
      continue;
    }
    double plans = static_cast<double>(mesh.legal.size() * choices_.offload_activations.size()) * per_layer_;
    if (!mesh.runs.empty()) {
      plans = 0;
      for (std::size_t layer = 0; layer < sequence_parallel_.size() * choices_.policies.size(); ++layer)
        for (std::size_t offload = 0; offload < choices_.offload_activations.size(); ++offload)
          for (std::size_t i = 0; i < mesh.legal.size(); ++i)
            plans += runs(mesh, first_of(mesh, layer, choice.at, offload), i);
    }
    reject(Rejection::state, mesh.cell, plans);
  }
  // How much they lack is asked for a map alone.
  if (cells_.empty()) std::erase_if(mesh.states, [](const StateChoice& choice) { return choice.too_large; });
}

void SearchWorker::price_mesh(Mesh& mesh, bool sequence_parallel, CheckpointPolicy policy, std::size_t layer) {
  Candidate candidate;
  Plan& plan = candidate.plan;
  candidate.chips = mesh.placed.counts.chips;
  candidate.cell = mesh.cell;
  if (mesh.legal.empty()) return;
  for (const StateChoice& choice : mesh.states) {
    if (choice.too_large && !may_lack_least(mesh, choice)) continue;
    plan = mesh.placed.plan;
    plan.sequence_parallel = sequence_parallel, plan.policy = policy;
    plan.zero_stage = static_cast<std::uint8_t>(choice.zero);
    plan.offload_optimizer = choice.offload_optimizer;
    pricer_.price_buffers(mesh.placed, layer_, plan, state_);
    for (std::size_t offload = 0; offload < choices_.offload_activations.size(); ++offload) {
      plan.offload_activations = choices_.offload_activations[offload];
      Pricer::set_offload_activations(state_, plan.offload_activations);
      const std::size_t first = first_of(mesh, layer, choice.at, offload);
      if (choice.too_large)
        measure_too_large(mesh, choice, first);
      else
        price_schedules(mesh, candidate, choice.end_s, first);
    }
  }
}

template <class Bytes>
void SearchWorker::draw_sample(Mesh& mesh, Candidate& candidate, std::size_t first, Bytes bytes) {
  for (std::size_t l = 0; l < mesh.legal.size(); ++l) {
    if (!runs(mesh, first, l) || !sample_.draws()) continue;
    const DeviceKinds& kinds = mesh.chunks->kinds[mesh.legal[l]];
    candidate.plan.schedule = kinds.kind, candidate.plan.virtual_stages = kinds.virtual_stages;
    const double taken = bytes(l);
    sample_.add(candidate.plan, taken, taken <= mesh.limit_bytes);
  }
}

void SearchWorker::price_devices(const Mesh& mesh) {
  pricer_.memories(mesh.placed, layer_, state_, mesh.fullest->devices.all(), device_bytes_);
}

double SearchWorker::bytes_of(const Mesh& mesh, std::size_t legal) const {
  double fullest = -1;
  for (const std::uint16_t device : mesh.fullest->of[mesh.legal[legal]])
    fullest = max(fullest, device_bytes_[device]);
  return fullest;
}

bool SearchWorker::none_matters(Mesh& mesh, Candidate& candidate, double least_work) {
  const DeviceRange& range = mesh.fullest->range;
  const auto over = [&](const std::vector<DeviceMoments>& devices, auto better) {
    double bytes = pricer_.memory(mesh.placed, layer_, state_, {&devices.front(), 1});
    for (std::size_t i = 1; i < devices.size(); ++i)
      bytes = better(bytes, pricer_.memory(mesh.placed, layer_, state_, {&devices[i], 1}));
    return bytes;
  };
  const double least = over(range.least, [](double a, double b) { return std::min(a, b); });
  if (least > mesh.limit_bytes) {
    if (!cells_.empty() && least - mesh.limit_bytes < cells_[mesh.cell].missing_bytes) return false;
    if (least <= (1 + kNearMissShare) * mesh.limit_bytes && missed_.wants(least_work, candidates_.fastest_s()))
      return false;
    reject(Rejection::memory, mesh.cell, static_cast<double>(mesh.legal.size()));
    return true;
  }
  return !candidates_.wants(least_work, least, candidate.chips, mesh.cell) &&
         pricer_.memory(mesh.placed, layer_, state_, range.most) <= mesh.limit_bytes;
}

void SearchWorker::price_schedules(Mesh& mesh, Candidate& candidate, double end_s, std::size_t first) {
  const double least_work = (mesh.overlaps ? std::min(least_work_s_, least_paired_work_s_) : least_work_s_) + end_s;
  const bool known = !std::isnan(least_work_s_) && mesh.rates_known;
  if (known && mesh.runs.empty() && none_matters(mesh, candidate, least_work)) {
    if (!sample_.wanted()) return;
    price_devices(mesh);
    draw_sample(mesh, candidate, first, [&](std::size_t l) { return bytes_of(mesh, l); });
    return;
  }
  // Memory first: it is cheap, and mostly decides.
  constexpr double kNone = std::numeric_limits<double>::infinity();
  double least_fit = kNone, least_unfit = kNone;
  std::size_t unfit = 0, asked = 0;
  bytes_.resize(mesh.legal.size());
  price_devices(mesh);
  for (std::size_t l = 0; l < mesh.legal.size(); ++l) {
    if (!runs(mesh, first, l)) continue;
    ++asked;
    bytes_[l] = bytes_of(mesh, l);
    const bool fits = bytes_[l] <= mesh.limit_bytes;
    unfit += !fits;
    double& least = fits ? least_fit : least_unfit;
    least = std::min(least, bytes_[l]);
  }
  if (unfit > 0) {
    reject(Rejection::memory, mesh.cell, static_cast<double>(unfit));
    if (!cells_.empty())
      cells_[mesh.cell].missing_bytes = std::min(cells_[mesh.cell].missing_bytes, least_unfit - mesh.limit_bytes);
  }
  const double most_missed = (1 + kNearMissShare) * mesh.limit_bytes;
  const auto matters = [&](double least_s) {
    return least_fit < kNone && candidates_.wants(least_s, least_fit, candidate.chips, mesh.cell);
  };
  const auto misses = [&](double least_s) {
    return least_unfit <= most_missed && missed_.wants(least_s, candidates_.fastest_s());
  };
  const auto sample_them = [&] {
    if (sample_.wanted()) draw_sample(mesh, candidate, first, [&](std::size_t l) { return bytes_[l]; });
  };
  if (known) {
    sample_them();
    if (!matters(least_work) && !misses(least_work)) return;
  }
  pricer_.price_step(mesh.placed, layer_, state_);
  // The step without any bubble: what is too slow then needs no schedule.
  const double least_apart = pricer_.least_time(mesh.placed, layer_, state_, false);
  const double least_paired = mesh.overlaps ? pricer_.least_time(mesh.placed, layer_, state_, true) : least_apart;
  const double least = std::min(least_apart, least_paired);
  if (std::isnan(least)) {
    reject(Rejection::rate, mesh.cell, static_cast<double>(asked - unfit));
    return;
  }
  if (!known) sample_them();
  const bool some_matter = matters(least), some_miss = misses(least);
  if (!some_matter && !some_miss) return;
  for (std::size_t l = 0; l < mesh.legal.size(); ++l) {
    if (!runs(mesh, first, l)) continue;
    const DeviceKinds& kinds = mesh.chunks->kinds[mesh.legal[l]];
    candidate.plan.schedule = kinds.kind, candidate.plan.virtual_stages = kinds.virtual_stages;
    candidate.price = {};
    candidate.price.memory_bytes = bytes_[l];
    const bool fits = bytes_[l] <= mesh.limit_bytes;
    const auto wanted = [&](double step_s) {
      return fits ? candidates_.wants(step_s, bytes_[l], candidate.chips, mesh.cell)
                  : bytes_[l] <= most_missed && missed_.wants(step_s, candidates_.fastest_s());
    };
    const double least_of_kind = overlaps_forward_backward(kinds.kind) ? least_paired : least_apart;
    if (!(fits ? some_matter : some_miss) || !wanted(least_of_kind)) continue;
    pricer_.bound(mesh.placed, layer_, state_, kinds, shape_of_kinds(kinds, mesh.microbatches), candidate.price);
    if (!wanted(candidate.price.step_time_s)) continue;
    if (fits)
      candidates_.add(candidate);
    else
      missed_.add(candidate);
  }
}

bool SearchWorker::may_lack_least(const Mesh& mesh, const StateChoice& choice) const {
  return choice.bytes - mesh.limit_bytes < cells_[mesh.cell].missing_bytes && !candidates_.best_of_cell(mesh.cell);
}

// Whose state alone does not fit: what it lacks at least, for a cell of which no plan is known to fit.
void SearchWorker::measure_too_large(Mesh& mesh, const StateChoice& choice, std::size_t first) {
  if (!may_lack_least(mesh, choice)) return;
  double& missing = cells_[mesh.cell].missing_bytes;
  price_devices(mesh);
  for (std::size_t l = 0; l < mesh.legal.size(); ++l)
    if (runs(mesh, first, l)) missing = std::min(missing, bytes_of(mesh, l) - mesh.limit_bytes);
}

}  // namespace roofscape::engine
