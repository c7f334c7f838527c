// One thread's share of a search: parts of the space, each a group of meshes with the same tensor, context and expert
// degree, and a microbatch. What the shares come to is merged by search(); nothing in it depends on who did which
// part.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "engine/search/candidates.h"
#include "engine/search/fastest_missed.h"
#include "engine/search/plan_sample.h"
#include "engine/search/search.h"

namespace roofscape::engine {

// What a cell of the mesh map has of plans.
struct CellCounts {
  double plans = 0;
  std::array<double, kRejections> rejected{};
  double missing_bytes = std::numeric_limits<double>::infinity();  // of the smallest plan that lacks memory alone
  double fit() const;
  void merge(const CellCounts&);
};

// What a search is after: the list and the front alone need not know of the plans that cannot be in them.
enum class SearchAim : std::uint8_t { list, all };

class SearchWorker {
 public:
  // Of the scenario with one combination of settings, which `choices` are of. These, the request and what is known must
  // outlive it.
  SearchWorker(const Scenario&, const SearchRequest&, const SpaceChoices&, KnownBest&, const std::atomic<bool>* stop,
               SearchAim aim = SearchAim::all);
  SearchWorker(const SearchWorker&) = delete;
  SearchWorker& operator=(const SearchWorker&) = delete;

  // Of the plans those that are of the space, can run and fit, priced, each once.
  std::vector<Candidate> priced(std::span<const Plan> plans);
  // So priced, by whichever worker; the others are told that they have been, before they process a part.
  void take_seeds(std::vector<Candidate> seeds) { candidates_.take_seeds(std::move(seeds)); }
  void take_known_front() { candidates_.take_known_front(); }
  // What is best among these plans alone, as if the space had no others.
  void find_among(std::span<const Plan> plans);
  // Takes the orders for its own until it is gone; before the first part, and before seeds.
  void lend_orders(OrderSpans& orders) { pricer_.lend_orders(orders); }
  // All parts, those first whose chips have least work without recomputation.
  std::vector<std::size_t> fastest_first(std::size_t parts);
  // `part` of choices.groups x choices.microbatches; `number`: its own among those of all settings.
  void process(std::size_t part, std::size_t number);
  void finish();
  // Takes over what another has found in other parts; both have finished.
  void merge(const SearchWorker& other);

  double plans() const { return plans_; }
  const std::array<double, kRejections>& rejected() const { return rejected_; }
  const std::vector<CellCounts>& cells() const { return cells_; }
  const Candidates& candidates() const { return candidates_; }
  const FastestMissed& missed() const { return missed_; }
  PlanSample& sample() { return sample_; }
  std::size_t simulated() const { return candidates_.simulated() + missed_.simulated(); }

 private:
  // Of the schedules and chunks of a number of stages, with a number of microbatches.
  struct FullestDevices {
    static constexpr std::size_t kMostWords = 4;
    DistinctMoments moments;
    std::vector<DistinctMoments::Rows> of;  // each schedule, of `moments`; empty where it is not legal
    // Of all that are: one of `most` takes as much as the fullest, and one of `least` no more than any.
    DistinctMoments most, least;
    std::size_t schedules = 0;  // that are
    // Of each of `moments` the schedules that have it: so many words each, bits by number.
    std::size_t words = 0;
    std::vector<std::uint64_t> schedules_with;
    // Once all schedules are there.
    void settle(const DeviceRange&);
  };
  // What the work of each schedule takes at least with the choices of a layer, whatever the training state.
  struct LeastMakespans {
    std::size_t layer = 0;  // as layers_priced_; 0: of none
    int microbatches = 0;
    Hops hops;
    std::vector<double> seconds;  // by kinds; of those that are not legal anything
    double fastest = 0;           // of those that are
    static constexpr Tick kNotYet = -1;
    std::vector<Tick> simulated;  // by kinds, as Pricer::least_simulated
  };
  // Schedules and chunks of a number of stages.
  struct Chunks {
    int pipeline = 1;
    std::size_t at = 0;  // among the numbers of stages
    std::vector<SpaceChoices::Chunking> all;
    std::vector<DeviceKinds> kinds;  // of each; none where there are more stages than layers
    HeldKinds held;
    std::map<int, FullestDevices> fullest;  // by microbatches
    LeastMakespans least;
  };
  // ZeRO stage and place of the optimizer, and what its state takes at least.
  struct StateChoice {
    int zero = 0;
    bool offload_optimizer = false;
    double bytes = 0;
    bool too_large = false;
    std::size_t at = 0;          // among the states of the mesh
    double end_s = 0;            // behind the layers' work a step takes at least this long
    EndReduction<double> end{};  // once it is not too large
  };
  // A mesh, with ZeRO stages that run on the same software.
  struct Mesh {
    PlacedMesh placed;
    Chunks* chunks = nullptr;
    int microbatches = 1;
    std::size_t layer = 0;  // the first mesh that has the same layers
    std::size_t cell = 0;
    double limit_bytes = 0;
    bool rates_known = true;  // else every plan's time has to be looked at
    std::vector<StateChoice> states;
    std::vector<HeldByKind> held;    // by StateChoice::at
    std::vector<std::size_t> legal;  // of chunks->kinds
    // With a framework asked for: whether it runs the plan of a layer's choices, a state, a place of activations and a
    // legal schedule, in this order of nesting.
    std::vector<bool> runs;
    std::size_t states_tested = 0;
    bool overlaps = false;  // one of them joins forwards with backwards
    const FullestDevices* fullest = nullptr;
  };

  Plan mesh_of_part(std::size_t part) const;
  // Why a pipeline cannot be run.
  static std::optional<Rejection> reject_schedule(const DeviceKinds&, const ScheduleShape&);
  // A plan of the space, whether it fits or not.
  bool can_run(const Plan& plan);
  void reject(Rejection why, std::size_t cell, double count);
  void place_meshes(const Plan& group);
  void place_mesh(const Plan& plan, Chunks& chunks, const std::vector<int>& zeros, std::size_t cell,
                  int microbatches);
  // Schedules and chunks that a plan of these stages can name.
  std::size_t count_schedules(const Chunks&, Plan plan) const;
  ScheduleShape shape_of_kinds(const DeviceKinds&, int microbatches) const;
  void test_schedules(Mesh& mesh);
  void test_framework(Mesh& mesh);
  void test_state(Mesh& mesh);
  // `layer`: of the choices of a layer.
  void price_mesh(Mesh& mesh, bool sequence_parallel, CheckpointPolicy policy, std::size_t layer);
  // What a step of a state takes at least by the work of layer_ and what follows it, however its pipeline runs.
  double least_step(const Mesh& mesh, double end_s) const;
  // By no more of its memory than the state's bytes.
  bool too_slow_for_its_state(Mesh& mesh, const StateChoice& choice, const Plan& plan);
  // Of state_, whose choices the candidate has. `first`: of mesh.runs.
  void price_schedules(Mesh& mesh, Candidate& candidate, const StateChoice& choice, std::size_t first);
  // Of state_, with what a step takes without any bubble.
  void price_step(const Mesh& mesh, const StateChoice& choice);
  // Whether what all schedules take together says that none of them can matter; then they have been counted and drawn.
  bool none_matters(Mesh& mesh, Candidate& candidate, const StateChoice& choice, std::size_t first);
  LeastMakespans& least_makespans(Mesh& mesh, const Plan& plan);
  Tick least_simulated(Mesh& mesh, const Plan& plan, std::size_t kind, const ScheduleShape& shape);
  // Of each of the moments that its schedules have.
  void price_moments(const Mesh& mesh);
  std::span<const double> bytes_at(const Mesh& mesh, const DistinctMoments& moments);
  double bytes_of(const Mesh& mesh, std::size_t legal) const;
  std::size_t count_unfit(const Mesh& mesh) const;  // of the legal schedules
  // What a plan that is the fastest missed takes at most.
  static double most_missed(const Mesh& mesh) { return (1 + kNearMissShare) * mesh.limit_bytes; }
  // `bytes`: of a legal schedule by its number.
  template <class Bytes>
  void draw_sample(Mesh& mesh, Candidate& candidate, std::size_t first, Bytes bytes);
  // Whether one of its plans can lack less than all that are known of a cell in which none runs.
  bool may_lack_least(const Mesh& mesh, const StateChoice& choice) const;
  void measure_too_large(Mesh& mesh, const StateChoice& choice, std::size_t first);
  // Of the i-th legal schedule.
  static bool runs(const Mesh& mesh, std::size_t first, std::size_t i) {
    return mesh.runs.empty() || mesh.runs[first + i];
  }
  std::size_t first_of(const Mesh& mesh, std::size_t layer, std::size_t state, std::size_t offload) const {
    return ((layer * mesh.states_tested + state) * choices_.offload_activations.size() + offload) * mesh.legal.size();
  }

  const Scenario& s_;
  const PlanSpace& space_;
  const SpaceChoices& choices_;
  bool counts_ = true;         // else some of what is rejected is passed over uncounted
  Scenario launched_;          // with the plan that a framework is asked about
  bool runs_nothing_ = false;  // a framework is asked for, and cannot run the scenario whatever the plan
  Pricer pricer_;
  Candidates candidates_;
  FastestMissed missed_;
  PlanSample sample_;
  double plans_ = 0;
  std::array<double, kRejections> rejected_{};
  std::vector<CellCounts> cells_;  // empty: nobody asked

  int microbatch_ = 1;
  std::vector<bool> sequence_parallel_;        // that the group allows
  double per_layer_ = 1, refused_layers_ = 0;  // choices of a layer that it allows, and that it does not
  std::vector<Chunks> chunks_;
  std::vector<Mesh> meshes_;
  std::size_t meshes_used_ = 0;
  PricedLayer layer_;
  std::size_t layers_priced_ = 0;
  double least_work_s_ = 0, least_paired_work_s_ = 0;  // of layer_
  PricedState state_{pricer_}, still_{pricer_};
  // Of state_, once its step is priced: a step without any bubble, of schedules that overlap no passes and of others.
  bool step_priced_ = false;
  double least_apart_s_ = 0, least_paired_s_ = 0;
  std::vector<double> moment_bytes_;  // by row, of mesh.fullest->moments
  std::vector<double> range_bytes_;   // of its `most` or `least`
  std::vector<double> bytes_;         // by legal schedule
  std::vector<std::size_t> in_time_;  // of the legal schedules those that may be fast enough for their memory
  std::vector<int> layers_;
  std::vector<DeviceMoments> schedule_devices_;
};

}  // namespace roofscape::engine
