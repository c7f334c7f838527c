// Which cluster: the best plan of a workload on each of several, and the order in which they answer what is asked for
// ("the cheapest way to thirty days", "the smallest that holds it", "which chip?").
//
// The plan of a cluster is the exact optimum that search() or search_serving() finds, with the numbers evaluate() gives,
// in the scenario's mode: the fastest; serving, the one of which all chips generate most, unless the fastest is asked
// for by time. It may leave chips idle, which then neither cost nor take energy.
// Workload and formats stay as they are. Units are SI, money in dollars; NaN: not known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"
#include "engine/search/progress.h"

namespace roofscape::engine {

enum class ClusterObjective : std::uint8_t {
  cost,    // of the run; where the scenario serves, of a million tokens, sustained
  time,    // of the run; per output token, sustained
  chips,   // of the cluster, then as by cost
  energy,  // of the run; serving has none
};
inline constexpr EnumTable<ClusterObjective> kClusterObjectiveIds{"cost", "time", "chips", "energy"};

struct ClusterRequest {
  ClusterObjective objective = ClusterObjective::cost;
  // Training: what a run may take; 0: anything. What users of a server are promised stands in its scenario.
  double most_run_days = 0, most_cost_usd = 0;
  friend bool operator==(const ClusterRequest&, const ClusterRequest&) = default;
};

enum class ClusterVerdict : std::uint8_t {
  meets,          // all that is asked for
  too_long,       // its best plan takes longer than most_run_days
  too_expensive,  // or costs more than most_cost_usd
  no_price,       // what it costs is limited, and not known
  none_fits,      // no plan can run or keeps what is promised
  no_figure,      // the chip lacks a figure that pricing needs: of all plans, or of those that would fit
};
inline constexpr EnumTable<ClusterVerdict> kClusterVerdictIds{"meets",    "too-long",  "too-expensive",
                                                              "no-price", "none-fits", "no-figure"};

struct NamedCluster {
  std::string name;  // as it was asked for
  Cluster cluster;
  friend bool operator==(const NamedCluster&, const NamedCluster&) = default;
};

// A quarter to four times as many chips as the cluster has, of its kind, as far as they can be put together; named
// CHIP:N, where `chip` is what its kind is called.
std::vector<NamedCluster> clusters_around(const Cluster&, std::string_view chip);

struct ClusterAnswer {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::string name;
  ClusterVerdict verdict = ClusterVerdict::none_fits;
  Scenario scenario;               // on this cluster, with its best plan where there is one
  bool runs = false;               // there is one
  std::vector<ChipField> missing;  // where the verdict is no_figure: what most plans need, as far as it is known
  std::int64_t chips = 0;          // of the cluster
  double used_chips = kUnknown;    // by the plan
  double time_s = kUnknown, cost_usd = kUnknown, energy_kwh = kUnknown;
  double step_time_s = kUnknown, mfu = kUnknown;              // training
  double tokens_per_s = kUnknown, ttft_s = kUnknown;          // tokens of all chips; serving: to the first token
  double memory_bytes = kUnknown, capacity_bytes = kUnknown;  // of the fullest chip
  bool is_calibrated = true;  // false: in calibrated mode, on a chip that no run has been fitted to
};

// The best plan of the scenario on a cluster. Its verdict says only whether there is a plan; rank() says the rest.
ClusterAnswer best_on(const Scenario&, const NamedCluster&, ClusterObjective, SearchProgress* progress = nullptr,
                      std::size_t workers = 1, const SearchWorkers& run = {});
// The scenario on the cluster of an answer with its plan, where it has one; what no plan names stays.
Scenario moved_to(Scenario, const ClusterAnswer&);
// What a report of a scenario comes to beside such answers; it runs if the report has no errors.
ClusterAnswer answer_of(std::string name, const Scenario&, const Report&);
// The same with its verdict; nothing where the scenario has no numbers.
std::optional<ClusterAnswer> present_answer(std::string name, const Scenario&, const Report&, const ClusterRequest&);
// Verdicts, and the order: those that meet the request by its objective, then by time, then by chips; then those that
// do not, by verdict and in the same order.
void rank(std::vector<ClusterAnswer>&, const ClusterRequest&);

// One answer for each cluster, ranked. Empty where `progress` says stop; it counts each cluster from the start.
// `workers` threads through `run` search one after the other.
std::vector<ClusterAnswer> choose_cluster(const Scenario&, std::span<const NamedCluster>, const ClusterRequest&,
                                          SearchProgress* progress = nullptr, std::size_t workers = 1,
                                          const SearchWorkers& run = {});

}  // namespace roofscape::engine
