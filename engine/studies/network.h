// When communication hides behind compute (scaling book, chapters 5 and 12): the time of one layer's arithmetic and
// of each strategy's communication over the tokens a chip has, on the scenario's cluster; and from how many tokens a
// chip on each strategy is compute-bound. All strategies use as many chips as the plan's mesh, which stands beside
// them: chips that idle have no tokens.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// What is counted as a layer.
enum class LayerCount : std::uint8_t {
  whole,  // the mean layer of the model as it is evaluated: all its parameters, collectives around attention and MLP
  mlp,    // the book's block: two matrices d_model x d_ff (of experts: those a token meets, and all that are moved),
          // one gather and one reduction; what the bounds are of
};
enum class Pass : std::uint8_t { forward, backward };

struct NetworkQuestion {
  LayerCount count = LayerCount::whole;
  Pass pass = Pass::forward;
  friend bool operator==(const NetworkQuestion&, const NetworkQuestion&) = default;
};

enum class NetworkStrategy : std::uint8_t {
  fsdp,        // over `axes` torus axes; switched: over all chips
  data,        // gradients only
  data_dcn,    // data parallel over the data-centre network between slices
  tensor,      // `degree` ranks over `axes` torus axes; switched: one node
  mixed_sum,   // FSDP and tensor at the best split, transfers one after the other
  mixed_max,   // the same at the same time
  mixed_wire,  // switched: the same, one after the other where they share links
  plan,        // the scenario's own mesh, its axes' transfers as the scenario assumes
};
inline constexpr EnumTable<NetworkStrategy> kNetworkStrategyIds{"fsdp",      "data",      "data_dcn",   "tensor",
                                                                "mixed_sum", "mixed_max", "mixed_wire", "plan"};

struct NetworkLine {
  NetworkStrategy strategy = NetworkStrategy::fsdp;
  int axes = 0, degree = 1;
  std::vector<double> seconds;        // by NetworkStudy::tokens
  std::optional<double> hidden_from;  // tokens a chip from which on arithmetic takes longer
  double seconds_there = 0;
  double ratio_now = 0;  // arithmetic over communication at the present batch
};

struct NetworkStudy {
  std::vector<double> tokens;   // a chip; ascending, even in the logarithm
  std::vector<double> compute;  // seconds
  std::vector<NetworkLine> lines;
  double chips = 0;       // of the mesh
  double tokens_now = 0;  // a chip of the mesh
  // How often a step the plan gathers a layer's weights; the strategies do so once. 0: it keeps them gathered.
  double plan_gathers = 0;
  // The least tokens a chip that some split of FSDP and tensor needs (as the scenario assumes axes overlap), and that
  // FSDP alone needs.
  std::optional<double> mixed_from, fsdp_from;
  NetworkStrategy assumed = NetworkStrategy::mixed_sum;  // of the mixed lines that of the scenario's assumption
  bool known() const { return !compute.empty(); }        // false: peak or bandwidths are not known
};

NetworkStudy network_study(const Scenario&, const NetworkQuestion&);

}  // namespace roofscape::engine
