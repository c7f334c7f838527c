// Prices plans of one scenario with the functions evaluate() calls, in nested pieces: a mesh, a layer on it, the
// training state on it, and last the pipeline. Whoever loops over plans keeps the outer pieces while the inner ones
// change; the nesting is the cache. A price has the memory exactly, and a step time that the step is never shorter
// than; where there is no pipeline it is the step time itself. exact() simulates. No texts; nothing is allocated once
// the working memory has grown.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/inputs/inputs.h"
#include "engine/pipeline/in_flight.h"
#include "engine/pipeline/one_f_one_b_run.h"
#include "engine/pipeline/order_span.h"
#include "engine/search/device_kinds.h"
#include "engine/search/plan.h"
#include "engine/training/layer_time.h"
#include "engine/training/paired_stages.h"
#include "engine/training/pipeline_run.h"
#include "engine/training/training_cost.h"

namespace roofscape::engine {

// 1. A mesh on the cluster's links, and a microbatch on it.
struct PlacedMesh {
  Plan plan;  // its mesh and microbatch count
  Inputs<double> in;
  LinkRates<double> rates;
  StepCounts<double> counts;
};

// 2. A layer: tensor, context, expert, microbatch, sequence parallel, checkpointing; their links, and the calibration,
// which two meshes of the same degrees need not have in common (share_layers).
struct PricedLayer {
  LayerTime<double> cost;
  StageBlocks<double> still;  // blocks where no training state moves through layers; the same for all meshes
};

// Whether the layers of two meshes with the same tensor, context and expert degree and microbatch take the same: the
// links of these axes can depend on what the others leave of a torus, and the calibration on the software that the
// number of stages and the ZeRO stage choose.
bool share_layers(const PlacedMesh&, const PlacedMesh&);

// What the kinds of devices met so far hold (by DeviceMoments::kind), on a mesh with a ZeRO stage and a place of the
// optimizer. Weights, gradients and optimizer state stay while the choices of a layer change.
struct HeldByKind {
  struct OfKind {
    bool has_state = false, has_rest = false;  // the rest: whatever is in flight
    DeviceLoad<double> load;                   // of one of them, by which the rest is told
    StageMemory<double> memory;
  };
  std::vector<OfKind> kinds;
  bool knows(std::size_t kind) const { return kind < kinds.size() && kinds[kind].has_rest; }
  void clear() {
    for (OfKind& kind : kinds) kind.has_state = kind.has_rest = false;
  }
  void clear_rest() {
    for (OfKind& kind : kinds) kind.has_rest = false;
  }
};

class Pricer;

// From a stage to the next, in seconds.
struct Hops {
  double least = 0;  // the bytes over the fastest of the links, without latency
  double transfer = 0, in_node = 0;
  int stages_in_node = 1;
  friend bool operator==(const Hops&, const Hops&) = default;
};

// 3. The training state on a mesh: ZeRO stage and offload.
struct PricedState {
  // The keys of the pricer's scenario; what a plan chooses of them is set for each.
  explicit PricedState(const Pricer&);

  StageKey stage;
  PlanKey plan;
  const StageBlocks<double>* blocks = nullptr;
  StageBlocks<double> moving;
  StageWork<double> work;
  EndReduction<double> own_end;
  const EndReduction<double>* end = nullptr;  // another's, or its own
  StepCost<double> step;                      // all parts but the pipeline's and offload
  WorkingMemory<double> buffers;
  Hops hops;
  // Of the bound: one microbatch through a layer, and through the embedding and the head.
  double pass = 0, first = 0, last = 0;
  // Of a layer (with experts, where dense ones come first), of a dense one, of one with the head. Priced when the first
  // schedule asks that splits the backward pass; 0 where what is rounded to nothing would not add up.
  static constexpr double kNotYet = -1;
  double input_gradient = kNotYet, dense_input_gradient = 0, last_input_gradient = 0;
  double paired_work = kNotYet;  // what a device works at least where passes are joined
  HeldByKind own_held;
  HeldByKind* held = nullptr;  // another's, or its own
};

struct Price {
  // Without a pipeline, or from exact(): the step's, infinite where evaluate() finds it too long to be simulated; else
  // a bound it never goes below.
  double step_time_s = 0;
  double memory_bytes = 0;  // of the fullest device
  bool exact = false;
};

class Pricer {
 public:
  explicit Pricer(const Scenario&);
  Pricer(const Pricer&) = delete;
  Pricer& operator=(const Pricer&) = delete;
  // Runs schedules with orders that another keeps, for as long as this lives.
  void lend_orders(OrderSpans& orders) { with_order_ = &orders; }
  OrderSpans& orders() { return *with_order_; }

  // What chooses the calibration of a plan, beside the scenario: its stages, ZeRO stage and what that shards over.
  // One value in modes that do not ask.
  SoftwareStack software(const Plan&);
  // Reads data, fsdp, tensor, context, pipeline, expert and microbatch of the plan, and of its other choices software().
  void place(const Plan&, PlacedMesh& out);
  static void set_microbatch(PlacedMesh&, int sequences);
  // Reads sequence_parallel and policy; of the mesh tensor, context, expert and the microbatch.
  void price_layer(const PlacedMesh&, const Plan&, PricedLayer& out) const;
  // Reads zero_stage, sequence_parallel, policy and offload. In two steps: what memory() needs, and the rest. `held`: of
  // this mesh, ZeRO stage and place of the optimizer, kept by whoever asks for several choices of a layer.
  void price_buffers(const PlacedMesh&, const PricedLayer&, const Plan&, PricedState& out,
                     HeldByKind* held = nullptr) const;
  // After the first step, which does not depend on it.
  static void set_offload_activations(PricedState& state, bool on) { state.plan.offload_activations = on; }
  // `end`: what is reduced behind the last backward, of this mesh, its stages and ZeRO stage; no choice of a layer and no
  // microbatch changes it.
  void price_step(const PlacedMesh&, const PricedLayer&, PricedState& out,
                  const EndReduction<double>* end = nullptr) const;
  void price_state(const PlacedMesh&, const PricedLayer&, const Plan&, PricedState& out) const;
  // Weights, gradients and optimizer state of a device with so many layers: what it holds whatever runs, and whichever
  // of the model's layers they are.
  double state_bytes(const PlacedMesh&, const PricedLayer&, const Plan&, int layers, bool embedding, bool head) const;
  // No plan of the mesh's group with this layer takes less: its work, without any traffic of training state.
  // `overlaps`: by a schedule that joins forwards with backwards, which takes less still.
  double least_work(const PlacedMesh&, const PricedLayer&, bool overlaps) const;
  // What follows the work of the layers whatever a layer keeps, for a state and whether or not its activations are
  // offloaded: reductions that nothing hides, and the optimizer, here or on the host.
  static double least_end(const PlacedMesh&, const PricedLayer&, PricedState&);
  // The pipeline's work of a schedule, in seconds: no state of the mesh makes it shorter, and no other mesh with these
  // layers, stages, microbatches and hops has another. Of a state from price_still(), whose layers must outlive it.
  double least_makespan(const PlacedMesh&, const PricedLayer&, PricedState&, const DeviceKinds&,
                        const ScheduleShape&) const;
  static Hops hops(const PlacedMesh&, const PricedLayer&, bool sequence_parallel);
  void price_still(const PlacedMesh&, const PricedLayer&, const Plan&, PricedState& out) const;
  // The step of which all parts but the host's take this long.
  static double with_host(const PlacedMesh&, double others);
  // The step without any bubble; no schedule makes it shorter, or none that overlaps.
  double least_time(const PlacedMesh&, const PricedLayer&, PricedState&, bool overlaps) const;
  // Memory of the fullest device, exactly, in bytes; `devices` from fullest_devices(). Of shapes whose microbatches
  // do not fill the stages: by formula.
  double memory(const PlacedMesh&, const PricedLayer&, PricedState&, std::span<const DeviceMoments> devices) const;
  // Of each of the moments, by row. A schedule takes as much as the one of its rows that takes most.
  void memories(const PlacedMesh&, const PricedLayer&, PricedState&, const DistinctMoments&,
                std::vector<double>& out) const;
  // The step time, exact where there is no pipeline. `least_s`: what the pipeline is known to run at least.
  void bound(const PlacedMesh&, const PricedLayer&, PricedState&, const DeviceKinds&, const ScheduleShape&, Price&,
             double least_s = 0) const;
  // The same of pipelines that run at least so long, in seconds, of schedules that do not overlap.
  void bounds(const PlacedMesh&, const PricedLayer&, PricedState&, std::span<const double> makespans,
              std::span<double> step_times_s) const;
  // What the pipeline of a state from price_still() runs at least, by what has decided steps of the shape that were
  // simulated before: 0 where nothing is known. The shape must be legal, and in stages.
  Tick least_simulated(const PlacedMesh&, const PricedLayer&, const PricedState&, const ScheduleShape&);
  // What a pipeline runs at least whose stages take no less than those of one that runs at least so long, but for the
  // rounding of sums that are added in another order.
  static double least_of_slower(Tick makespan, const ScheduleShape&);
  // The step time that evaluate() gives. The shape must be legal.
  void exact(const PlacedMesh&, PricedLayer&, PricedState&, const ScheduleShape&, Price&);
  // All pieces in a row. The shape must be legal; checked by whoever made the plan.
  Price price(const Plan&, bool simulate);
  // The same of a plan whose memory is known: the step time alone. Before the pipeline is run `wanted()` is asked if
  // more has become known of what the step takes at least, which the price says then; false leaves it at that.
  template <class Wanted>
  void simulate(const Plan& plan, Price& price, const Wanted& wanted) {
    const ScheduleShape shape = price_pieces(plan);
    if (shape.stages > 1 && bound_simulated(shape, price) && !wanted()) return;
    exact(mesh_, layer_, state_, shape, price);
  }

  const Scenario& scenario() const { return base_; }
  const StageKey& stage_key() const { return stage_key_; }
  const PlanKey& plan_key() const { return plan_key_; }
  const LayerSplit& layer_split() const { return stage_key_.layers; }
  const ModelFlops<double>& flops() const { return flops_; }

 private:
  Scenario base_, placed_;
  LayerKey layer_key_;
  StageKey stage_key_;
  PlanKey plan_key_;
  ModelFlops<double> flops_;
  // A step of a schedule that runs without an order, and what it depends on. Plans that differ in the training state,
  // or in nothing a stage takes time for, share it.
  struct Span {
    ScheduleShape shape;
    // Layer, embedding and head, forth and back; layers of either kind.
    std::array<double, 10> blocks{};
    std::array<Tick, 3> hops{};  // between nodes; stages in one; between these
    StepSpan step;
  };
  // What a device holds whatever is in flight.
  static const StageMemory<double>& held(const PlacedMesh&, const PricedLayer&, PricedState&, const DeviceMoments&);
  ScheduleShape price_pieces(const Plan&);  // into mesh_, layer_ and state_
  // Of these: whether more is known of the step than the price has, which it is raised to then.
  bool bound_simulated(const ScheduleShape&, Price&);
  // How long the stages take, into wanted_ or times_. False: too long to be simulated, or more than ticks can count.
  bool set_stages(const PlacedMesh&, const PricedLayer&, const PricedState&, const ScheduleShape&);
  StepSpan simulate_stages(const ScheduleShape&);
  static void price_passes(const PlacedMesh&, const PricedLayer&, PricedState&);
  static void price_input_gradients(const PlacedMesh&, const PricedLayer&, PricedState&);
  static void finish_paired(const PlacedMesh&, const PricedLayer&, PricedState&, double makespan,
                            StepCost<double>& step);
  void pair_stages(const PlacedMesh&, const PricedLayer&, const PricedState&, const ScheduleShape&);
  // The work and the parts of the step beside the pipeline's, of stages that are paired where the schedule overlaps.
  struct OfStep {
    const StageWork<double>* work = nullptr;
    StepCost<double>* parts = nullptr;
  };
  OfStep step_of(const PlacedMesh&, const PricedLayer&, PricedState&, const ScheduleShape&);
  static double split_makespan(const PlacedMesh&, const LayerTime<double>&, const PricedState&, const DeviceKinds&,
                               const ScheduleShape&, const WorkBeforeReturn&);
  void deal_layers(const LayerTime<double>&, const LayerSplit&, ScheduleKind, int stages);
  StageLayers<double> stage_layers(const LayerTime<double>&, int stage) const;

  std::array<Span, 16> spans_;
  std::size_t spans_used_ = 0, spans_next_ = 0;
  // Of set_stages(): the step if it is among spans_, or the stages' times.
  Span wanted_;
  bool spanned_ = false;
  PipelineTimes times_;
  OneFOneBScratch without_order_;
  OrderSpans own_orders_;
  OrderSpans* with_order_ = &own_orders_;
  PipelineScratch scratch_;
  StageTime<double> stage_;
  StageWork<double> paired_work_;  // as the last schedule that overlaps has them
  StepCost<double> paired_step_;
  // Of price():
  PlacedMesh mesh_;
  PricedLayer layer_;
  PricedState state_{*this};
  DeviceKinds kinds_;
  HeldKinds held_kinds_;
  std::vector<DeviceMoments> devices_;
  std::vector<int> layers_, dense_;
};

}  // namespace roofscape::engine
