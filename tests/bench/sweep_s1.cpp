#include "tests/bench/sweep_s1.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/io/export/plan_json.h"
#include "engine/io/json/pretty.h"
#include "engine/training/run.h"

namespace roofscape::bench {

using namespace engine;

namespace {

constexpr int kDegrees[] = {1, 2, 4, 8, 16, 32};
constexpr int kMicrobatches[] = {1, 2, 4, 8, 16};
constexpr CheckpointPolicy kPolicies[] = {CheckpointPolicy::block, CheckpointPolicy::attention,
                                          CheckpointPolicy::none};
constexpr std::size_t kPoints = 9960;

// A schedule with so many microbatches.
struct Schedule {
  const DeviceKinds* kinds;
  ScheduleShape shape;
  std::vector<DeviceMoments> fullest;
  bool legal;
};

// The schedules of a pipeline degree: chunks are every divisor of the layers of a stage. What depends on the number of
// microbatches is made once for each.
struct Chunks {
  int pipeline;
  std::vector<DeviceKinds> kinds;
  HeldKinds held = HeldKinds();
  std::map<int, std::vector<Schedule>> schedules;  // by microbatches
};

std::vector<Chunks> all_chunks(int n_layers) {
  std::vector<Chunks> out;
  std::vector<int> layers;
  for (const int pipeline : kDegrees) {
    Chunks& chunks = out.emplace_back(Chunks{pipeline, {}, HeldKinds(false), {}});
    const int held = n_layers / pipeline;
    for (int v = 1; v <= (pipeline > 1 ? held : 1); ++v) {
      if (held % v != 0) continue;
      const ScheduleKind kind = v > 1 ? ScheduleKind::interleaved_1f1b : ScheduleKind::one_f_one_b;
      find_device_kinds(kind, pipeline, v, {.n_layers = n_layers}, layers, chunks.kinds.emplace_back());
    }
  }
  return out;
}

// A mesh of a tensor degree; all of one share their layers.
struct Mesh {
  PlacedMesh placed;
  Chunks* chunks = nullptr;
  const std::vector<Schedule>* schedules = nullptr;  // none where the microbatch does not divide
};

const std::vector<Schedule>& schedules_of(Chunks& chunks, int microbatches, const PipelinePlan& pipeline) {
  const auto [place, is_new] = chunks.schedules.try_emplace(microbatches);
  for (std::size_t c = 0; is_new && c < chunks.kinds.size(); ++c) {
    const DeviceKinds& kinds = chunks.kinds[c];
    Plan plan;
    plan.pipeline = kinds.stages, plan.schedule = kinds.kind, plan.virtual_stages = kinds.virtual_stages;
    const ScheduleShape shape = shape_of(plan, microbatches, pipeline);
    Schedule& schedule = place->second.emplace_back(Schedule{&kinds, shape, {}, false});
    fullest_devices(kinds, shape, chunks.held, schedule.fullest);
    schedule.legal = kinds.virtual_stages == 1 || microbatches % kinds.stages == 0;
  }
  return place->second;
}

// Every pipeline, with the optimizer sharded and not.
void add_meshes(Pricer& pricer, std::vector<Chunks>& all, int chips, int tensor, std::vector<Mesh>& out) {
  out.clear();
  for (Chunks& chunks : all) {
    Plan plan;
    plan.tensor = tensor, plan.pipeline = chunks.pipeline;
    const int pipeline = chunks.pipeline;
    const int ranks = chips / (tensor * pipeline);
    for (const bool sharded : {true, false}) {
      if (sharded && ranks == 1) continue;
      plan.fsdp = sharded ? ranks : 1, plan.data = sharded ? 1 : ranks;
      plan.zero_stage = sharded ? 1 : 0;
      Mesh& mesh = out.emplace_back();
      pricer.place(plan, mesh.placed);
      mesh.placed.plan.zero_stage = plan.zero_stage;
      mesh.chunks = &chunks;
    }
  }
}

}  // namespace

Scenario s1_scenario(const TransformerShape& model, const Chip& chip) {
  Scenario s;
  s.name = "S1";
  s.model = model;
  s.cluster.chip = chip;
  s.cluster.nodes = 512;
  s.cluster.node_size = 8;
  s.workload.global_batch_sequences = 4096;
  s.workload.sequence_length = 2048;
  s.precision.gradients = Dtype::bf16;
  s.precision.master_weights = Dtype::fp32;
  s.assumptions.flops = FlopsConvention::exact;
  s.assumptions.overlap = 0;
  return s;
}

void sweep_s1(const Scenario& s1, std::size_t best, S1Result& out) {
  const int chips = static_cast<int>(chip_count(s1.cluster)), batch = s1.workload.global_batch_sequences;
  Pricer pricer(s1);
  std::vector<Chunks> chunks = all_chunks(s1.model.n_layers);
  std::vector<Mesh> meshes;
  meshes.reserve(2 * std::size(kDegrees));
  PricedLayer layer;
  PricedState state;
  out.best.clear();
  out.fit = out.illegal = out.simulated = 0;
  out.points.reserve(kPoints);
  std::size_t points = 0, fit = 0, illegal = 0;
  std::vector<std::pair<double, std::size_t>> candidates;
  candidates.reserve(kPoints);
  for (const int tensor : kDegrees) {
    add_meshes(pricer, chunks, chips, tensor, meshes);
    for (const int microbatch : kMicrobatches) {
      for (Mesh& mesh : meshes) {
        Pricer::set_microbatch(mesh.placed, microbatch);
        const int microbatches = microbatches_of(mesh.placed.plan, batch);
        mesh.schedules = microbatches > 0 ? &schedules_of(*mesh.chunks, microbatches, s1.pipeline) : nullptr;
      }
      for (const CheckpointPolicy policy : kPolicies) {
        for (const bool sequence_parallel : {false, true}) {
          bool layer_priced = false;
          for (const Mesh& each : meshes) {
            const PlacedMesh& mesh = each.placed;
            if (each.schedules == nullptr) continue;
            Plan plan = mesh.plan;
            plan.policy = policy, plan.sequence_parallel = sequence_parallel;
            if (!layer_priced) pricer.price_layer(mesh, plan, layer), layer_priced = true;
            pricer.price_state(mesh, layer, plan, state);
            const double capacity = mesh.in.chip.hbm_capacity;
            const double ideal =
                utilisation(pricer.flops().flops_model, mesh.counts.chips, mesh.in.chip.peak_flops, 1.0);
            for (const Schedule& schedule : *each.schedules) {
              if (points == out.points.size()) out.points.emplace_back();
              S1Point& point = out.points[points];
              point.plan = plan;
              point.plan.schedule = schedule.shape.kind, point.plan.virtual_stages = schedule.shape.virtual_stages;
              point.price.memory_bytes = pricer.memory(mesh, layer, state, schedule.fullest);
              pricer.bound(mesh, layer, state, *schedule.kinds, schedule.shape, point.price);
              point.mfu = ideal / point.price.step_time_s;
              point.fits = point.price.memory_bytes <= capacity;
              point.legal = schedule.legal;
              fit += point.fits;
              illegal += !point.legal;
              if (point.fits && point.legal) candidates.emplace_back(point.price.step_time_s, points);
              ++points;
            }
          }
        }
      }
    }
  }

  out.points.resize(points);
  out.fit = fit, out.illegal = illegal;

  // Smallest bound first; a heap, as few of them are looked at.
  const auto later = [](const auto& a, const auto& b) { return a > b; };
  std::make_heap(candidates.begin(), candidates.end(), later);
  std::vector<std::pair<double, std::size_t>> exact;  // ascending, at most `best`
  while (best > 0 && !candidates.empty()) {
    std::pop_heap(candidates.begin(), candidates.end(), later);
    const auto [bound, i] = candidates.back();
    candidates.pop_back();
    if (exact.size() == best && bound > exact.back().first) break;
    S1Point& point = out.points[i];
    if (!point.price.exact) {
      const Price price = pricer.price(point.plan, true);
      point.mfu *= point.price.step_time_s / price.step_time_s;
      point.price = price;
      ++out.simulated;
    }
    const std::pair<double, std::size_t> entry{point.price.step_time_s, i};
    exact.insert(std::upper_bound(exact.begin(), exact.end(), entry), entry);
    if (exact.size() > best) exact.pop_back();
  }
  for (const auto& entry : exact) out.best.push_back(entry.second);
}

std::string s1_json(const S1Result& result, double seconds) {
  io::OrderedJson json;
  json["points"] = result.points.size();
  json["fit"] = result.fit;
  json["illegal"] = result.illegal;
  json["seconds"] = seconds;
  json["points_per_s"] = static_cast<double>(result.points.size()) / seconds;
  io::OrderedJson top = io::OrderedJson::array();
  for (const std::size_t i : result.best) {
    const S1Point& point = result.points[i];
    io::OrderedJson row = {{"plan", io::plan_json(point.plan)},
                           {"step_s", point.price.step_time_s},
                           {"memory_bytes", point.price.memory_bytes},
                           {"mfu", point.mfu}};
    if (top.empty()) json["best"] = row;
    top.push_back(std::move(row));
  }
  json["top"] = std::move(top);
  return io::pretty_text(json);
}

}  // namespace roofscape::bench
