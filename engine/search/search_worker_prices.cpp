// The inner half of a search: what the plans of a placed mesh take, of which most need no more than a bound.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
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
      choice.end = state_.own_end;
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
    if (!counts_ && too_slow_for_its_state(mesh, choice, plan)) continue;
    plan.zero_stage = static_cast<std::uint8_t>(choice.zero);
    plan.offload_optimizer = choice.offload_optimizer;
    pricer_.price_buffers(mesh.placed, layer_, plan, state_, &mesh.held[choice.at]);
    for (std::size_t offload = 0; offload < choices_.offload_activations.size(); ++offload) {
      plan.offload_activations = choices_.offload_activations[offload];
      Pricer::set_offload_activations(state_, plan.offload_activations);
      const std::size_t first = first_of(mesh, layer, choice.at, offload);
      if (choice.too_large)
        measure_too_large(mesh, choice, first);
      else
        price_schedules(mesh, candidate, choice, first);
    }
  }
}

double SearchWorker::least_step(const Mesh& mesh, double end_s) const {
  const double work = mesh.overlaps ? std::min(least_work_s_, least_paired_work_s_) : least_work_s_;
  return Pricer::with_host(mesh.placed, work + end_s);
}

bool SearchWorker::too_slow_for_its_state(Mesh& mesh, const StateChoice& choice, const Plan& plan) {
  const auto matters = [&](double least_s) {
    return candidates_.wants(least_s, choice.bytes, mesh.placed.counts.chips, mesh.cell);
  };
  const double least_s = least_step(mesh, choice.end_s);
  if (std::isnan(least_s) || !mesh.rates_known) return false;
  if (!matters(least_s)) return true;
  if (mesh.placed.plan.pipeline == 1) return false;
  return !matters(Pricer::with_host(mesh.placed, least_makespans(mesh, plan).fastest + choice.end_s));
}

template <class Bytes>
void SearchWorker::draw_sample(Mesh& mesh, Candidate& candidate, std::size_t first, Bytes bytes) {
  if (!sample_.wanted()) return;
  std::size_t asked = mesh.legal.size();
  if (!mesh.runs.empty())
    for (std::size_t l = 0; l < mesh.legal.size(); ++l) asked -= !runs(mesh, first, l);
  sample_.start_block(asked);
  while (const std::optional<std::size_t> drawn = sample_.draw()) {
    std::size_t l = *drawn;
    // As many before it as run.
    if (!mesh.runs.empty()) {
      l = 0;
      for (std::size_t before = *drawn; before > 0 || !runs(mesh, first, l); ++l) before -= runs(mesh, first, l);
    }
    const DeviceKinds& kinds = mesh.chunks->kinds[mesh.legal[l]];
    candidate.plan.schedule = kinds.kind, candidate.plan.virtual_stages = kinds.virtual_stages;
    const double taken = bytes(l);
    sample_.add(candidate.plan, taken, taken <= mesh.limit_bytes);
  }
}

void SearchWorker::price_moments(const Mesh& mesh) {
  pricer_.memories(mesh.placed, layer_, state_, mesh.fullest->moments, moment_bytes_);
}

std::span<const double> SearchWorker::bytes_at(const Mesh& mesh, const DistinctMoments& moments) {
  pricer_.memories(mesh.placed, layer_, state_, moments, range_bytes_);
  return range_bytes_;
}

double SearchWorker::bytes_of(const Mesh& mesh, std::size_t legal) const {
  return mesh.fullest->moments.fullest(mesh.fullest->of[mesh.legal[legal]], moment_bytes_);
}

std::size_t SearchWorker::count_unfit(const Mesh& mesh) const {
  const FullestDevices& fullest = *mesh.fullest;
  if (mesh.legal.size() != fullest.schedules || fullest.words > FullestDevices::kMostWords) {
    std::size_t unfit = 0;
    for (std::size_t l = 0; l < mesh.legal.size(); ++l) unfit += bytes_of(mesh, l) > mesh.limit_bytes;
    return unfit;
  }
  std::array<std::uint64_t, FullestDevices::kMostWords> over{};
  for (std::size_t row = 0; row < moment_bytes_.size(); ++row) {
    if (!(moment_bytes_[row] > mesh.limit_bytes)) continue;
    const std::uint64_t* with = &fullest.schedules_with[row * fullest.words];
    for (std::size_t word = 0; word < fullest.words; ++word) over[word] |= with[word];
  }
  std::size_t unfit = 0;
  for (const std::uint64_t word : over) unfit += static_cast<std::size_t>(std::popcount(word));
  return unfit;
}

void SearchWorker::price_step(const Mesh& mesh, const StateChoice& choice) {
  step_priced_ = true;
  pricer_.price_step(mesh.placed, layer_, state_, &choice.end);
  least_apart_s_ = pricer_.least_time(mesh.placed, layer_, state_, false);
  least_paired_s_ = mesh.overlaps ? pricer_.least_time(mesh.placed, layer_, state_, true) : least_apart_s_;
}

bool SearchWorker::none_matters(Mesh& mesh, Candidate& candidate, const StateChoice& choice, std::size_t first) {
  const FullestDevices& fullest = *mesh.fullest;
  const double least = std::ranges::min(bytes_at(mesh, fullest.least));
  double least_s = least_step(mesh, choice.end_s);
  const auto matter = [&] {
    if (least <= mesh.limit_bytes && candidates_.wants(least_s, least, candidate.chips, mesh.cell)) return true;
    return counts_ && least <= most_missed(mesh) && missed_.wants(least_s, candidates_.fastest_s());
  };
  // The work says enough of most, the pipeline of most others, and what the state exposes of nearly all that are left.
  if (matter()) {
    if (mesh.placed.plan.pipeline > 1)
      least_s = Pricer::with_host(mesh.placed, least_makespans(mesh, candidate.plan).fastest + choice.end_s);
    if (mesh.placed.plan.pipeline == 1 || matter()) {
      price_step(mesh, choice);
      least_s = std::min(least_apart_s_, least_paired_s_);
      if (std::isnan(least_s) || matter()) return false;
    }
  }
  if (!counts_) return true;
  const bool lacking_matters = !cells_.empty() && !candidates_.fits_in_cell(mesh.cell);
  if (lacking_matters && least - mesh.limit_bytes < cells_[mesh.cell].missing_bytes) return false;
  bool priced = false;
  std::size_t unfit = 0;
  if (least > mesh.limit_bytes) {
    unfit = mesh.legal.size();
  } else if (std::ranges::max(bytes_at(mesh, fullest.most)) > mesh.limit_bytes) {
    price_moments(mesh);
    priced = true;
    unfit = count_unfit(mesh);
  }
  if (unfit > 0) reject(Rejection::memory, mesh.cell, static_cast<double>(unfit));
  draw_sample(mesh, candidate, first, [&](std::size_t l) {
    if (!priced) price_moments(mesh);
    priced = true;
    return bytes_of(mesh, l);
  });
  return true;
}

// Meshes of the same stages share them, unless their stages are on other links.
SearchWorker::LeastMakespans& SearchWorker::least_makespans(Mesh& mesh, const Plan& plan) {
  LeastMakespans& least = mesh.chunks->least;
  const Hops hops = Pricer::hops(mesh.placed, layer_, plan.sequence_parallel);
  if (least.layer == layers_priced_ && least.microbatches == mesh.microbatches && least.hops == hops) return least;
  least.layer = layers_priced_, least.microbatches = mesh.microbatches, least.hops = hops;
  pricer_.price_still(mesh.placed, layer_, plan, still_);
  const std::vector<DeviceKinds>& kinds = mesh.chunks->kinds;
  least.seconds.resize(kinds.size());
  least.simulated.assign(kinds.size(), LeastMakespans::kNotYet);
  least.fastest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (mesh.fullest->of[i].empty()) continue;
    const double work = overlaps_forward_backward(kinds[i].kind) ? least_paired_work_s_ : least_work_s_;
    const ScheduleShape shape = shape_of_kinds(kinds[i], mesh.microbatches);
    least.seconds[i] = max(work, pricer_.least_makespan(mesh.placed, layer_, still_, kinds[i], shape));
    least.fastest = std::min(least.fastest, least.seconds[i]);
  }
  return least;
}

Tick SearchWorker::least_simulated(Mesh& mesh, const Plan& plan, std::size_t kind, const ScheduleShape& shape) {
  Tick& least = least_makespans(mesh, plan).simulated[kind];
  if (least == LeastMakespans::kNotYet) {
    pricer_.price_still(mesh.placed, layer_, plan, still_);
    least = pricer_.least_simulated(mesh.placed, layer_, still_, shape);
  }
  return least;
}

void SearchWorker::price_schedules(Mesh& mesh, Candidate& candidate, const StateChoice& choice, std::size_t first) {
  const bool known = !std::isnan(least_work_s_) && mesh.rates_known;
  step_priced_ = false;
  if (known && mesh.runs.empty() && none_matters(mesh, candidate, choice, first)) return;
  // Memory first: it is cheap, and mostly decides.
  double least_unfit = std::numeric_limits<double>::infinity();
  std::size_t unfit = 0, asked = 0;
  bytes_.resize(mesh.legal.size());
  price_moments(mesh);
  for (std::size_t l = 0; l < mesh.legal.size(); ++l) {
    if (!runs(mesh, first, l)) continue;
    ++asked;
    bytes_[l] = bytes_of(mesh, l);
    if (bytes_[l] <= mesh.limit_bytes) continue;
    ++unfit;
    least_unfit = std::min(least_unfit, bytes_[l]);
  }
  if (unfit > 0) {
    reject(Rejection::memory, mesh.cell, static_cast<double>(unfit));
    if (!cells_.empty())
      cells_[mesh.cell].missing_bytes = std::min(cells_[mesh.cell].missing_bytes, least_unfit - mesh.limit_bytes);
  }
  const auto wanted = [&](std::size_t l, double step_s) {
    return bytes_[l] <= mesh.limit_bytes
               ? candidates_.wants(step_s, bytes_[l], candidate.chips, mesh.cell)
               : counts_ && bytes_[l] <= most_missed(mesh) && missed_.wants(step_s, candidates_.fastest_s());
  };
  in_time_.clear();
  if (known) {
    draw_sample(mesh, candidate, first, [&](std::size_t l) { return bytes_[l]; });
    const bool pipelined = mesh.placed.plan.pipeline > 1;
    const LeastMakespans* least = pipelined ? &least_makespans(mesh, candidate.plan) : nullptr;
    for (std::size_t l = 0; l < mesh.legal.size(); ++l) {
      const double work = pipelined ? least->seconds[mesh.legal[l]] : least_work_s_;
      if (runs(mesh, first, l) && wanted(l, Pricer::with_host(mesh.placed, work + choice.end_s)))
        in_time_.push_back(l);
    }
    if (in_time_.empty()) return;
  }
  // What is too slow without any bubble needs no schedule.
  if (!step_priced_) price_step(mesh, choice);
  if (std::isnan(std::min(least_apart_s_, least_paired_s_))) {
    reject(Rejection::rate, mesh.cell, static_cast<double>(asked - unfit));
    return;
  }
  if (!known) {
    draw_sample(mesh, candidate, first, [&](std::size_t l) { return bytes_[l]; });
    for (std::size_t l = 0; l < mesh.legal.size(); ++l)
      if (runs(mesh, first, l)) in_time_.push_back(l);
  }
  for (const std::size_t l : in_time_) {
    const DeviceKinds& kinds = mesh.chunks->kinds[mesh.legal[l]];
    candidate.plan.schedule = kinds.kind, candidate.plan.virtual_stages = kinds.virtual_stages;
    candidate.price = {};
    candidate.price.memory_bytes = bytes_[l];
    if (!wanted(l, overlaps_forward_backward(kinds.kind) ? least_paired_s_ : least_apart_s_)) continue;
    const ScheduleShape shape = shape_of_kinds(kinds, mesh.microbatches);
    pricer_.bound(mesh.placed, layer_, state_, kinds, shape, candidate.price);
    if (!wanted(l, candidate.price.step_time_s)) continue;
    if (known && kinds.stages > 1) {
      if (const Tick least = least_simulated(mesh, candidate.plan, mesh.legal[l], shape); least > 0) {
        pricer_.bound(mesh.placed, layer_, state_, kinds, shape, candidate.price,
                      Pricer::least_of_slower(least, shape));
        if (!wanted(l, candidate.price.step_time_s)) continue;
      }
    }
    if (bytes_[l] <= mesh.limit_bytes)
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
  price_moments(mesh);
  for (std::size_t l = 0; l < mesh.legal.size(); ++l)
    if (runs(mesh, first, l)) missing = std::min(missing, bytes_of(mesh, l) - mesh.limit_bytes);
}

}  // namespace roofscape::engine
