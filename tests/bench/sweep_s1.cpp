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
  std::vector<DeviceMoments> fullest;  // working memory
};

std::vector<Stages> all_stages(int n_layers) {
  std::vector<Stages> out;
  std::vector<int> layers;
  for (const int pipeline : kDegrees) {
    Stages& stages = out.emplace_back(Stages{pipeline, {}, HeldKinds(false), {}, {}});
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
  schedules.all.reserve(stages.kinds.size());
  for (const DeviceKinds& kinds : stages.kinds) {
    Plan plan;
    plan.pipeline = kinds.stages, plan.schedule = kinds.kind, plan.virtual_stages = kinds.virtual_stages;
    const ScheduleShape shape = shape_of(plan, microbatches, pipeline);
    fullest_devices(kinds, shape, stages.held, stages.fullest);
    const bool legal = kinds.virtual_stages == 1 || microbatches % kinds.stages == 0;
    schedules.all.push_back({&kinds, shape, schedules.moments.add(stages.fullest), legal});
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

// All points, each with a bound of its step time, and as candidates those that fit and are legal.
void price_points(const Scenario& s1, Pricer& pricer, S1Result& out) {
  const int chips = static_cast<int>(chip_count(s1.cluster)), batch = s1.workload.global_batch_sequences;
  std::vector<Stages> stages = all_stages(s1.model.n_layers);
  std::vector<Mesh> meshes;
  PricedLayer layer;
  PricedState state(pricer);
  LeastMakespans least;
  std::vector<double> bytes, seconds;  // of each of the moments; of each of the schedules
  out.plans.clear();
  out.points.resize(kPoints);
  std::vector<std::pair<double, std::uint32_t>>& candidates = out.candidates;
  candidates.resize(kPoints);
  std::uint32_t points = 0;
  std::size_t kept = 0, fit = 0, illegal = 0;
  const auto add_points = [&](const Schedules& schedules, const PlacedMesh& mesh, const Plan& plan) {
    const auto number = static_cast<std::uint32_t>(out.plans.size());
    out.plans.push_back(plan);
    const double capacity = mesh.in.chip.hbm_capacity;
    const double* step_s = seconds.data();
    S1Point* to = out.points.data() + points;
    auto* candidate = candidates.data() + kept;
    for (const Schedules::One& one : schedules.all) {
      const double fullest = schedules.moments.fullest(one.rows, bytes);
      const bool one_stage = one.shape.stages == 1, fits = fullest <= capacity;
      *to++ = {*step_s,   fullest, number,   static_cast<std::uint16_t>(one.shape.virtual_stages),
               one_stage, fits,    one.legal};
      // Written in any case: whether it fits is not foreseen.
      *candidate = {*step_s++, points++};
      candidate += fits && one.legal;
      fit += fits;
      illegal += !one.legal;
    }
    kept = static_cast<std::size_t>(candidate - candidates.data());
  };
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
          if (tensor == 1 && sequence_parallel) continue;
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
              if (least.of != each.schedules || !(least.hops == state.hops)) {
                least.of = each.schedules, least.hops = state.hops;
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
            add_points(*each.schedules, mesh, plan);
            if (tensor > 1) continue;
            // A group of one sends nothing, this way or that.
            plan.sequence_parallel = true;
            add_points(*each.schedules, mesh, plan);
          }
        }
      }
    }
  }
  out.points.resize(points), candidates.resize(kept);
  out.fit = fit, out.illegal = illegal;
  const PlacedMesh& any = meshes.front().placed;  // all are of all chips
  out.step_at_peak_s = utilisation(pricer.flops().flops_model, any.counts.chips, any.in.chip.peak_flops, 1.0);
}

// Simulates the candidates, the smallest bound first, until none can be among the best any more.
void find_best(Pricer& pricer, std::size_t best, S1Result& out) {
  std::vector<std::pair<double, std::uint32_t>>& candidates = out.candidates;
  out.best.clear();
  out.simulated = 0;
  // A heap, as few of them are looked at.
  const auto later = [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second > b.second;
  };
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
  Pricer pricer(s1);
  price_points(s1, pricer, out);
  find_best(pricer, best, out);
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
