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

// The schedules of a number of stages with so many microbatches.
struct Schedules {
  struct One {
    const DeviceKinds* kinds;
    ScheduleShape shape;
    DistinctMoments::Rows rows;  // of `moments`
    bool legal;
  };
  std::vector<One> all;
  DistinctMoments moments;  // of all of them
};

// Chunks are every divisor of the layers of a stage.
struct Stages {
  int pipeline;
  std::vector<DeviceKinds> kinds;
  HeldKinds held = HeldKinds();
  std::map<int, Schedules> schedules;  // by microbatches
};

std::vector<Stages> all_stages(int n_layers) {
  std::vector<Stages> out;
  std::vector<int> layers;
  for (const int pipeline : kDegrees) {
    Stages& stages = out.emplace_back(Stages{pipeline, {}, HeldKinds(false), {}});
    const int held = n_layers / pipeline;
    for (int v = 1; v <= (pipeline > 1 ? held : 1); ++v) {
      if (held % v != 0) continue;
      const ScheduleKind kind = v > 1 ? ScheduleKind::interleaved_1f1b : ScheduleKind::one_f_one_b;
      find_device_kinds(kind, pipeline, v, {.n_layers = n_layers}, layers, stages.kinds.emplace_back());
    }
  }
  return out;
}

// A mesh of a tensor degree; all of one share their layers.
struct Mesh {
  PlacedMesh placed;
  Stages* stages = nullptr;
  HeldByKind held;           // whatever the choices of a layer
  EndReduction<double> end;  // the same
  bool end_known = false;
  const Schedules* schedules = nullptr;  // none where the microbatch does not divide
};

const Schedules& schedules_of(Stages& stages, int microbatches, const PipelinePlan& pipeline) {
  const auto [place, is_new] = stages.schedules.try_emplace(microbatches);
  Schedules& schedules = place->second;
  if (!is_new) return schedules;
  std::vector<DeviceMoments> fullest;
  for (const DeviceKinds& kinds : stages.kinds) {
    Plan plan;
    plan.pipeline = kinds.stages, plan.schedule = kinds.kind, plan.virtual_stages = kinds.virtual_stages;
    const ScheduleShape shape = shape_of(plan, microbatches, pipeline);
    fullest_devices(kinds, shape, stages.held, fullest);
    const bool legal = kinds.virtual_stages == 1 || microbatches % kinds.stages == 0;
    schedules.all.push_back({&kinds, shape, schedules.moments.add(fullest), legal});
  }
  return schedules;
}

// Every number of stages, with the optimizer sharded and not.
void add_meshes(Pricer& pricer, std::vector<Stages>& all, int chips, int tensor, std::vector<Mesh>& out) {
  std::size_t used = 0;
  for (Stages& stages : all) {
    Plan plan;
    plan.tensor = tensor, plan.pipeline = stages.pipeline;
    const int ranks = chips / (tensor * stages.pipeline);
    for (const bool sharded : {true, false}) {
      if (sharded && ranks == 1) continue;
      plan.fsdp = sharded ? ranks : 1, plan.data = sharded ? 1 : ranks;
      plan.zero_stage = sharded ? 1 : 0;
      if (used == out.size()) out.emplace_back();
      Mesh& mesh = out[used++];
      pricer.place(plan, mesh.placed);
      mesh.stages = &stages;
      mesh.held.clear();
      mesh.end_known = false;
    }
  }
  out.resize(used);
}

// What the pipelines of the schedules run at least with the layer that was priced last: the same of two meshes of the
// same stages and links that differ in where the optimizer is.
struct LeastMakespans {
  const Schedules* of = nullptr;
  Hops hops;
  std::vector<double> seconds;
};

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
  std::vector<Stages> stages = all_stages(s1.model.n_layers);
  std::vector<Mesh> meshes;
  PricedLayer layer;
  PricedState state(pricer);
  LeastMakespans least;
  std::vector<double> bytes, seconds;  // of each of the moments; of each of the schedules
  out.plans.clear(), out.best.clear();
  out.points.resize(kPoints);
  out.simulated = 0;
  std::vector<std::pair<double, std::uint32_t>> candidates(kPoints);
  std::size_t points = 0, kept = 0, fit = 0, illegal = 0;
  for (const int tensor : kDegrees) {
    add_meshes(pricer, stages, chips, tensor, meshes);
    for (const int microbatch : kMicrobatches) {
      for (Mesh& mesh : meshes) {
        Pricer::set_microbatch(mesh.placed, microbatch);
        const int microbatches = microbatches_of(mesh.placed.plan, batch);
        mesh.schedules = microbatches > 0 ? &schedules_of(*mesh.stages, microbatches, s1.pipeline) : nullptr;
      }
      for (const CheckpointPolicy policy : kPolicies) {
        for (const bool sequence_parallel : {false, true}) {
          bool layer_priced = false;
          least.of = nullptr;
          for (Mesh& each : meshes) {
            if (each.schedules == nullptr) continue;
            const PlacedMesh& mesh = each.placed;
            Plan plan = mesh.plan;
            plan.policy = policy, plan.sequence_parallel = sequence_parallel;
            if (!layer_priced) pricer.price_layer(mesh, plan, layer), layer_priced = true;
            pricer.price_buffers(mesh, layer, plan, state, &each.held);
            pricer.price_step(mesh, layer, state, each.end_known ? &each.end : nullptr);
            if (!each.end_known) each.end = state.own_end, each.end_known = true;
            pricer.memories(mesh, layer, state, each.schedules->moments, bytes);
            if (mesh.plan.pipeline > 1) {
              const Hops hops = Pricer::hops(mesh, layer, sequence_parallel);
              if (least.of != each.schedules || !(least.hops == hops)) {
                least.of = each.schedules, least.hops = hops;
                least.seconds.clear();
                for (const Schedules::One& one : each.schedules->all)
                  least.seconds.push_back(pricer.least_makespan(mesh, layer, state, *one.kinds, one.shape));
              }
              seconds.resize(least.seconds.size());
              pricer.bounds(mesh, layer, state, least.seconds, seconds);
            } else {
              const Schedules::One& one = each.schedules->all.front();
              Price price;
              pricer.bound(mesh, layer, state, *one.kinds, one.shape, price);
              seconds.assign(1, price.step_time_s);
            }
            const auto number = static_cast<std::uint32_t>(out.plans.size());
            out.plans.push_back(plan);
            const double capacity = mesh.in.chip.hbm_capacity;
            const bool one_stage = mesh.plan.pipeline == 1;
            for (std::size_t i = 0; i < each.schedules->all.size(); ++i) {
              const Schedules::One& one = each.schedules->all[i];
              const double fullest = each.schedules->moments.fullest(one.rows, bytes);
              const bool fits = fullest <= capacity;
              out.points[points] = {
                  seconds[i], fullest, number,   static_cast<std::uint16_t>(one.shape.virtual_stages),
                  one_stage,  fits,    one.legal};
              // Written in any case: whether it fits is not foreseen.
              candidates[kept] = {seconds[i], static_cast<std::uint32_t>(points)};
              kept += fits && one.legal;
              fit += fits;
              illegal += !one.legal;
              ++points;
            }
          }
        }
      }
    }
  }
  out.points.resize(points), candidates.resize(kept);
  out.fit = fit, out.illegal = illegal;
  const PlacedMesh& any = meshes.front().placed;  // all are of all chips
  out.step_at_peak_s = utilisation(pricer.flops().flops_model, any.counts.chips, any.in.chip.peak_flops, 1.0);

  // Smallest bound first; a heap, as few of them are looked at.
  const auto later = [](const auto& a, const auto& b) { return a > b; };
  std::make_heap(candidates.begin(), candidates.end(), later);
  std::vector<std::pair<double, std::uint32_t>> exact;  // ascending, at most `best`
  while (best > 0 && !candidates.empty()) {
    std::pop_heap(candidates.begin(), candidates.end(), later);
    const auto [bound, i] = candidates.back();
    candidates.pop_back();
    if (exact.size() == best && bound > exact.back().first) break;
    S1Point& point = out.points[i];
    if (!point.exact) {
      Price price{point.step_time_s, point.memory_bytes, false};
      pricer.simulate(out.plan(point), price,
                      [&] { return exact.size() < best || price.step_time_s <= exact.back().first; });
      if (!price.exact) continue;
      point.step_time_s = price.step_time_s, point.exact = true;
      ++out.simulated;
    }
    const std::pair<double, std::uint32_t> entry{point.step_time_s, i};
    exact.insert(std::upper_bound(exact.begin(), exact.end(), entry), entry);
    if (exact.size() > best) exact.pop_back();
  }
  for (const auto& entry : exact) out.best.push_back(entry.second);
}

Plan S1Result::plan(const S1Point& point) const {
  Plan plan = plans[point.plan];
  plan.virtual_stages = point.virtual_stages;
  plan.schedule = point.virtual_stages > 1 ? ScheduleKind::interleaved_1f1b : ScheduleKind::one_f_one_b;
  return plan;
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
    io::OrderedJson row = {{"plan", io::plan_json(result.plan(point))},
                           {"step_s", point.step_time_s},
                           {"memory_bytes", point.memory_bytes},
                           {"mfu", result.mfu(point)}};
    if (top.empty()) json["best"] = row;
    top.push_back(std::move(row));
  }
  json["top"] = std::move(top);
  return io::pretty_text(json);
}

}  // namespace roofscape::bench
