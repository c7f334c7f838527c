#include "engine/search/search_worker.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "engine/frameworks/rules.h"

namespace roofscape::engine {
namespace {

// Whether no speed is unknown that training state or what is offloaded needs.
bool rates_known(const PlacedMesh& mesh) {
  const auto known = [](const AxisArray<double>& rates) {
    return std::none_of(rates.begin(), rates.end(), [](double rate) { return std::isnan(rate); });
  };
  const LinkRates<double>& rates = mesh.rates;
  return known(rates.bandwidth) && known(rates.reduce_bandwidth) && known(rates.latency) &&
         known(rates.wires.share) && !std::isnan(rates.state_bandwidth) &&
         !std::isnan(rates.expert_state_bandwidth) && !std::isnan(rates.expert_state_reduce) &&
         !std::isnan(rates.expert_data_reduce) && !std::isnan(mesh.in.chip.pcie);
}

}  // namespace

double CellCounts::fit() const {
  double fit = plans;
  for (const double count : rejected) fit -= count;
  return fit;
}

void CellCounts::merge(const CellCounts& other) {
  plans += other.plans;
  for (std::size_t i = 0; i < kRejections; ++i) rejected[i] += other.rejected[i];
  missing_bytes = std::min(missing_bytes, other.missing_bytes);
}

SearchWorker::SearchWorker(const Scenario& s, const SearchRequest& request, const SpaceChoices& choices,
                           KnownBest& known, const std::atomic<bool>* stop, SearchAim aim)
    : s_(s),
      space_(request.space),
      choices_(choices),
      counts_(aim == SearchAim::all),
      launched_(s),
      runs_nothing_(space_.runs_on && breaks_any(*space_.runs_on, s, RuleReads::scenario)),
      pricer_(s),
      candidates_(request, request.cells ? choices.cell_count() : 0, pricer_, known, stop),
      missed_(pricer_),
      sample_(request.sample) {
  if (request.cells) cells_.resize(choices.cell_count());
  for (std::size_t i = 0; i < choices.data_divisors.size(); ++i) {
    const int pipeline = choices.data_divisors[i];
    Chunks& chunks = chunks_.emplace_back();
    chunks.pipeline = pipeline;
    chunks.all = choices.chunkings(pipeline);
    chunks.at = i;
    chunks.held = HeldKinds(s.parallelism.keep_gathered == KeepGathered::chunk);
    if (pipeline > s.model.n_layers) {
      continue;
    }
    for (const auto& [kind, v] : chunks.all)
      find_device_kinds(kind, pipeline, v, pricer_.layer_split(), layers_, chunks.kinds.emplace_back(),
                        static_cast<bool>(s.pipeline.order));
  }
}

Plan SearchWorker::mesh_of_part(std::size_t part) const {
  Plan plan = choices_.groups[part / choices_.microbatches.size()].mesh;
  plan.microbatch_sequences = choices_.microbatches[part % choices_.microbatches.size()];
  return plan;
}

std::vector<std::size_t> SearchWorker::fastest_first(std::size_t parts) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  std::vector<std::pair<double, std::size_t>> by_work;
  by_work.reserve(parts);
  PlacedMesh placed;
  for (std::size_t part = 0; part < parts; ++part) {
    Plan plan = mesh_of_part(part);
    plan.policy = CheckpointPolicy::none;
    double work_s = kUnknown;
    if (!choices_.reject_group(plan)) {
      pricer_.place(plan, placed);
      pricer_.price_layer(placed, plan, layer_);
      work_s = pricer_.least_work(placed, layer_, false);
    }
    by_work.emplace_back(std::isnan(work_s) ? kUnknown : work_s, part);
  }
  std::sort(by_work.begin(), by_work.end());
  std::vector<std::size_t> out;
  out.reserve(parts);
  for (const auto& [work_s, part] : by_work) out.push_back(part);
  return out;
}

void SearchWorker::process(std::size_t part, std::size_t number) {
  Plan plan = mesh_of_part(part);
  const Plan group = plan;
  microbatch_ = plan.microbatch_sequences;
  sequence_parallel_ = choices_.sequence_parallel(group.tensor);
  const auto policies = static_cast<double>(choices_.policies.size());
  const std::size_t all = sequence_parallel_.size();
  std::erase_if(sequence_parallel_, [&](bool on) { return choices_.reject_sequence_parallel(group.tensor, on); });
  per_layer_ = static_cast<double>(sequence_parallel_.size()) * policies;
  refused_layers_ = static_cast<double>(all) * policies - per_layer_;
  sample_.start_part(number);
  place_meshes(group);
  for (std::size_t first = 0; first < meshes_used_; ++first) {
    if (meshes_[first].layer != first) continue;
    const auto each = [&](auto&& work) {
      for (std::size_t i = first; i < meshes_used_; ++i)
        if (meshes_[i].layer == first) work(meshes_[i]);
    };
    pricer_.price_layer(meshes_[first].placed, plan, layer_);
    each([&](Mesh& mesh) { test_state(mesh); });
    std::size_t layer = 0;
    for (const bool sequence_parallel : sequence_parallel_)
      for (const CheckpointPolicy policy : choices_.policies) {
        plan.sequence_parallel = sequence_parallel, plan.policy = policy;
        pricer_.price_layer(meshes_[first].placed, plan, layer_);
        ++layers_priced_;
        least_work_s_ = pricer_.least_work(meshes_[first].placed, layer_, false);
        least_paired_work_s_ = pricer_.least_work(meshes_[first].placed, layer_, true);
        each([&](Mesh& mesh) { price_mesh(mesh, sequence_parallel, policy, layer); });
        ++layer;
      }
  }
}

void SearchWorker::finish() {
  candidates_.settle();
  missed_.settle();
}

void SearchWorker::merge(const SearchWorker& other) {
  plans_ += other.plans_;
  for (std::size_t i = 0; i < kRejections; ++i) rejected_[i] += other.rejected_[i];
  for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i].merge(other.cells_[i]);
  candidates_.merge(other.candidates_);
  missed_.merge(other.missed_);
  sample_.merge(other.sample_);
}

void SearchWorker::reject(Rejection why, std::size_t cell, double count) {
  rejected_[static_cast<std::size_t>(why)] += count;
  if (!cells_.empty()) cells_[cell].rejected[static_cast<std::size_t>(why)] += count;
}

void SearchWorker::place_meshes(const Plan& group) {
  meshes_used_ = 0;
  const std::optional<Rejection> whole_group = choices_.reject_group(group);
  const int rest = group.data;
  const double offloads =
      static_cast<double>(choices_.offload_optimizer.size() * choices_.offload_activations.size());
  for (Chunks& chunks : chunks_) {
    if (rest % chunks.pipeline != 0 || !space_.pipeline.allows(chunks.pipeline)) continue;
    const int ranks = rest / chunks.pipeline;
    const std::size_t cell = choices_.cell_of(group.tensor, chunks.at);
    for (const int fsdp : choices_.data_divisors) {
      if (fsdp > ranks) break;
      if (ranks % fsdp != 0 || !space_.fsdp.allows(fsdp) || !space_.data.allows(ranks / fsdp)) continue;
      Plan plan = group;
      plan.pipeline = chunks.pipeline, plan.fsdp = fsdp, plan.data = ranks / fsdp;
      plan.microbatch_sequences = microbatch_;
      if (!choices_.has_mesh(plan)) continue;
      const std::vector<int> zeros = choices_.zero_stages(fsdp, group.context);
      const double states = static_cast<double>(zeros.size() * count_schedules(chunks, plan)) * offloads;
      const double count = states * (per_layer_ + refused_layers_);
      plans_ += count;
      if (!cells_.empty()) cells_[cell].plans += count;
      const int microbatches = microbatches_of(plan, s_.workload.global_batch_sequences);
      std::optional<Rejection> why = whole_group ? whole_group : choices_.reject_mesh(plan);
      if (!why && microbatches == 0) why = Rejection::batch;
      if (why) {
        reject(*why, cell, count);
        continue;
      }
      if (refused_layers_ > 0) reject(Rejection::experts, cell, states * refused_layers_);
      place_mesh(plan, chunks, zeros, cell, microbatches);
    }
  }
}

std::size_t SearchWorker::count_schedules(const Chunks& chunks, Plan plan) const {
  if (choices_.one_setting()) return chunks.all.size();
  return static_cast<std::size_t>(std::ranges::count_if(chunks.all, [&](const SpaceChoices::Chunking& one) {
    plan.schedule = one.kind, plan.virtual_stages = one.virtual_stages;
    return choices_.has_schedule(plan);
  }));
}

// What make_inputs() reads of a plan beside its mesh and microbatch is the software that its ZeRO stage chooses: a
// placed mesh for each.
void SearchWorker::place_mesh(const Plan& wanted, Chunks& chunks, const std::vector<int>& zeros, std::size_t cell,
                              int microbatches) {
  Plan plan = wanted;
  const auto software = [&](int zero) {
    plan.zero_stage = static_cast<std::uint8_t>(zero);
    return pricer_.software(plan);
  };
  for (std::size_t lead = 0; lead < zeros.size(); ++lead) {
    const SoftwareStack stack = software(zeros[lead]);
    bool known = false;
    for (std::size_t i = 0; i < lead && !known; ++i) known = software(zeros[i]) == stack;
    if (known) continue;
    const std::size_t at = meshes_used_++;
    if (at == meshes_.size()) meshes_.emplace_back();
    Mesh& mesh = meshes_[at];
    plan.zero_stage = static_cast<std::uint8_t>(zeros[lead]);
    pricer_.place(plan, mesh.placed);
    mesh.layer = 0;
    while (mesh.layer < at &&
           (meshes_[mesh.layer].layer != mesh.layer || !share_layers(meshes_[mesh.layer].placed, mesh.placed)))
      ++mesh.layer;
    mesh.chunks = &chunks;
    mesh.cell = cell;
    mesh.microbatches = microbatches;
    mesh.limit_bytes = mesh.placed.in.chip.hbm_capacity * (1 - space_.min_free);
    mesh.rates_known = rates_known(mesh.placed);
    mesh.states.clear();
    for (const int zero : zeros)
      if (software(zero) == stack)
        for (const bool offload : choices_.offload_optimizer)
          mesh.states.push_back({zero, offload, 0, false, mesh.states.size()});
    if (mesh.held.size() < mesh.states.size()) mesh.held.resize(mesh.states.size());
    for (HeldByKind& held : mesh.held) held.clear();
    test_schedules(mesh);
    test_framework(mesh);
  }
}

ScheduleShape SearchWorker::shape_of_kinds(const DeviceKinds& kinds, int microbatches) const {
  return schedule_shape(s_.pipeline, kinds.kind, kinds.stages, microbatches, kinds.virtual_stages);
}

std::optional<Rejection> SearchWorker::reject_schedule(const DeviceKinds& kinds, const ScheduleShape& shape) {
  if (kinds.stages == 1) return std::nullopt;
  if (!kinds.layers_suffice) return Rejection::layers;
  if (!check_schedule(shape)) return Rejection::schedule;
  if (2.0 * shape.microbatches * virtual_stage_count(shape) > static_cast<double>(kMaxDrawnOps))
    return Rejection::too_long;
  return std::nullopt;
}

bool SearchWorker::can_run(const Plan& plan) {
  const int microbatches = microbatches_of(plan, s_.workload.global_batch_sequences);
  if (microbatches == 0 || choices_.reject_group(plan) || choices_.reject_mesh(plan) ||
      choices_.reject_sequence_parallel(plan.tensor, plan.sequence_parallel))
    return false;
  const auto chunks =
      std::find_if(chunks_.begin(), chunks_.end(), [&plan](const Chunks& c) { return c.pipeline == plan.pipeline; });
  if (chunks == chunks_.end()) return false;
  const auto kinds = std::find_if(chunks->kinds.begin(), chunks->kinds.end(), [&plan](const DeviceKinds& k) {
    return k.kind == plan.schedule && k.virtual_stages == plan.virtual_stages;
  });
  if (kinds == chunks->kinds.end() || reject_schedule(*kinds, shape_of_kinds(*kinds, microbatches))) return false;
  if (!space_.runs_on) return true;
  apply(launched_, plan);
  return !runs_nothing_ && !breaks_any(*space_.runs_on, launched_, RuleReads::mesh) &&
         !breaks_any(*space_.runs_on, launched_, RuleReads::plan);
}

std::vector<Candidate> SearchWorker::priced(std::span<const Plan> plans) {
  std::vector<Candidate> seeds;
  std::vector<Plan> searched;
  PlacedMesh placed;
  for (const Plan& wanted : plans) {
    const std::optional<Plan> plan = choices_.as_searched(wanted);
    if (!plan || std::find(searched.begin(), searched.end(), *plan) != searched.end() || !can_run(*plan)) continue;
    searched.push_back(*plan);
    pricer_.place(*plan, placed);
    Candidate seed{*plan, pricer_.price(*plan, true), placed.counts.chips, 0};
    // Without a time there is no price; without a pipeline it is exact anyway.
    if (std::isnan(seed.price.step_time_s) ||
        seed.price.memory_bytes > placed.in.chip.hbm_capacity * (1 - space_.min_free))
      continue;
    const auto& stages = choices_.data_divisors;
    seed.cell = choices_.cell_of(
        plan->tensor,
        static_cast<std::size_t>(std::find(stages.begin(), stages.end(), plan->pipeline) - stages.begin()));
    seeds.push_back(seed);
  }
  return seeds;
}

void SearchWorker::find_among(std::span<const Plan> plans) {
  for (const Candidate& one : priced(plans)) candidates_.add(one);
  candidates_.settle();
}

// Which of the schedules can be run; the others are counted for every choice that is left.
void SearchWorker::test_schedules(Mesh& mesh) {
  mesh.legal.clear();
  mesh.overlaps = false;
  const auto [made, is_new] = mesh.chunks->fullest.try_emplace(mesh.microbatches);
  if (is_new) made->second.of.resize(mesh.chunks->kinds.size());
  DeviceRange range;
  mesh.fullest = &made->second;
  Plan plan = mesh.placed.plan;
  for (std::size_t i = 0; i < mesh.chunks->kinds.size(); ++i) {
    const DeviceKinds& kinds = mesh.chunks->kinds[i];
    plan.schedule = kinds.kind, plan.virtual_stages = kinds.virtual_stages;
    if (!choices_.has_schedule(plan)) continue;
    const ScheduleShape shape = shape_of_kinds(kinds, mesh.microbatches);
    if (const std::optional<Rejection> why = reject_schedule(kinds, shape)) {
      reject(*why, mesh.cell,
             static_cast<double>(mesh.states.size() * choices_.offload_activations.size()) * per_layer_);
      continue;
    }
    mesh.legal.push_back(i);
    mesh.overlaps = mesh.overlaps || (kinds.stages > 1 && overlaps_forward_backward(kinds.kind));
    if (!is_new) continue;
    fullest_devices(kinds, shape, mesh.chunks->held, schedule_devices_);
    made->second.of[i] = made->second.moments.add(schedule_devices_);
    range.add(schedule_devices_);
  }
  if (is_new) made->second.settle(range);
}

void SearchWorker::FullestDevices::settle(const DeviceRange& range) {
  most.add(range.most);
  // The first of a device's moments has most microbatches: what that takes, the device takes.
  std::vector<DeviceMoments> smallest = range.least;
  for (DeviceMoments& device : smallest) device.moments = {device.moments.front()};
  least.add(smallest);
  schedules = static_cast<std::size_t>(std::ranges::count_if(of, [](const auto& of_one) { return !of_one.empty(); }));
  words = (of.size() + 63) / 64;
  schedules_with.assign(moments.size() * words, 0);
  for (std::size_t i = 0; i < of.size(); ++i)
    for (const std::uint16_t row : moments.rows(of[i]))
      schedules_with[row * words + i / 64] |= std::uint64_t{1} << i % 64;
}

// Which of the plans left a framework runs, if one is asked for; the others are counted.
void SearchWorker::test_framework(Mesh& mesh) {
  mesh.runs.clear();
  mesh.states_tested = mesh.states.size();
  if (!space_.runs_on) return;
  Scenario& s = launched_;
  apply(s, mesh.placed.plan);
  mesh.runs.resize(sequence_parallel_.size() * choices_.policies.size() * mesh.states.size() *
                   choices_.offload_activations.size() * mesh.legal.size());
  std::size_t at = 0, running = 0;
  if (!runs_nothing_ && !breaks_any(*space_.runs_on, s, RuleReads::mesh)) {
    for (const bool sequence_parallel : sequence_parallel_) {
      s.parallelism.sequence_parallel = sequence_parallel;
      for (const CheckpointPolicy policy : choices_.policies) {
        s.checkpointing.policy = policy;
        for (const StateChoice& state : mesh.states) {
          s.parallelism.zero_stage = state.zero, s.offload.optimizer = state.offload_optimizer;
          for (const bool offload : choices_.offload_activations) {
            s.offload.activations = offload;
            for (const std::size_t i : mesh.legal) {
              const DeviceKinds& kinds = mesh.chunks->kinds[i];
              s.pipeline.schedule = kinds.kind, s.pipeline.virtual_stages = kinds.virtual_stages;
              const bool it_runs = !breaks_any(*space_.runs_on, s, RuleReads::plan);
              mesh.runs[at++] = it_runs;
              running += it_runs;
            }
          }
        }
      }
    }
  }
  reject(Rejection::runs_on, mesh.cell, static_cast<double>(mesh.runs.size() - running));
  if (running == 0) mesh.legal.clear(), mesh.states.clear(), mesh.runs.clear();
}

}  // namespace roofscape::engine
