// The products of one Transformer layer in the forward pass of one microbatch under a plan: of each operand the
// dimensions, over which mesh axes each is cut, and what is left on one chip; the FLOPs of one chip; and the collectives
// before and after (scaling book, chapters 3 to 5; Megatron-LM, Shoeybi et al. 2019, for the tensor axis). Of a model
// with dense layers and layers with experts a layer with experts. Scenarios that train only.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

enum class LayerDim : std::uint8_t {
  tokens,  // of one microbatch, all data ranks together
  d_model,
  qkv,       // queries, keys and values beside each other
  heads,     // of all heads beside each other: queries, outputs
  kv,        // keys, or values, of all heads beside each other
  keys,      // positions that a query may meet
  d_ff,      // of one MLP or expert
  gate_up,   // twice that: the gate beside the way up
  experts,   // that a router chooses among
  routed_to  // tokens that one expert gets in the mean
};
inline constexpr EnumTable<LayerDim> kLayerDimIds{"tokens", "d_model", "qkv",     "heads",   "kv",
                                                  "keys",   "d_ff",    "gate_up", "experts", "routed_to"};

struct ShardedDim {
  LayerDim dim = LayerDim::tokens;
  double whole = 1, local = 1;               // elements, of all and of one chip while it computes
  AxisArray<int> ways{1, 1, 1, 1, 1, 1};     // by axis: into how many parts it is cut
  AxisArray<int> at_rest{1, 1, 1, 1, 1, 1};  // weights under ZeRO-3: cut further while nothing is computed
};

struct LayerMove {
  Axis axis = Axis::tensor;
  CollectiveKind kind = CollectiveKind::all_gather;
  double bytes = 0, time_s = 0;  // of one call, as in the report
};

// [rows, contraction] x [contraction, columns] = [rows, columns], `experts` times over where there are experts.
// Attention: queries [rows, contraction], keys and values [columns, kv], outputs [rows, contraction]; rows x contraction
// x columns is one of its two products.
struct LayerProduct {
  OperationKind kind = OperationKind::qkv;
  bool shared_expert = false;
  ShardedDim rows = {}, contraction = {}, columns = {};
  ShardedDim kv = {};        // attention alone
  ShardedDim experts = {};   // whole 1: no experts
  double flops = 0;          // executed on one chip
  double adapter_rank = 0;   // of A [contraction, r] and B [r, columns] beside frozen weights; 0: none
  double adapter_flops = 0;  // of both, on one chip
  double all_flops() const { return flops + adapter_flops; }
  std::vector<LayerMove> before = {}, after = {};
};

struct LayerProductsStudy {
  std::vector<LayerProduct> products;  // in the order they are computed
  std::vector<LayerMove> weights;      // what gathers the layer's weights; empty: they lie as they are used
  double flops = 0;                    // of all products, with their adapters
  bool frozen = false;                 // only adapters are trained
  bool known() const { return !products.empty(); }
};

// `report`: the scenario's own.
LayerProductsStudy layer_products_study(const Scenario& scenario, const Report& report);

}  // namespace roofscape::engine
