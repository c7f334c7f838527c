#include "engine/studies/layer_products.h"

#include <algorithm>
#include <utility>

#include "engine/inputs/inputs.h"
#include "engine/model/adapter.h"
#include "engine/model/layer_operations.h"
#include "engine/model/parameters.h"
#include "engine/model/qkv_width.h"
#include "engine/scenario/mesh_size.h"
#include "engine/studies/layer_overlap.h"

namespace roofscape::engine {
namespace {

class LayerProducts {
 public:
  LayerProducts(const Scenario& s, const Report& report)
      : s_(s), mesh_(s.parallelism), report_(report), in_(make_inputs<double>(s, nullptr)) {}

  LayerProductsStudy all() {
    const ModelDims<double>& m = in_.model;
    const Parameters<double> p = count_parameters(m);
    const LayerKey key = layer_key(s_);
    const LayerWidths<double> w = layer_widths(in_, key);
    const int tensor = mesh_.tensor;
    const ShardedDim tokens = token_dim(), d_model = weight_dim(LayerDim::d_model, m.d_model);
    const double heads = m.is.mla ? m.n_heads * m.v_head_dim : m.n_heads * m.d_head;

    const double qkv_local = m.is.mla ? p.qkv_layer / (tensor * m.d_model) : qkv_width(in_, w);
    const double kv = m.is.mla ? w.kv * tensor : m.n_kv_heads * m.d_head;
    const double qkv_whole =
        m.is.mla ? p.qkv_layer / m.d_model : heads + 2 * kv + (m.is.rel_pos_projection ? heads : 0);
    add({.kind = OperationKind::qkv,
         .rows = tokens,
         .contraction = at_rest(d_model),
         .columns = cut(LayerDim::qkv, qkv_whole, qkv_local, Axis::tensor, tensor)});
    attention(tokens, w.attention, heads, cut(LayerDim::kv, kv, w.kv, Axis::tensor, tensor));
    add({.kind = OperationKind::attention_out,
         .rows = tokens,
         .contraction = cut(LayerDim::heads, heads, heads / tensor, Axis::tensor, tensor),
         .columns = at_rest(d_model)});
    const double ups = key.gated_mlp ? 2 : 1;
    if (m.is.moe) {
      add({.kind = OperationKind::router,
           .rows = tokens,
           .contraction = at_rest(d_model),
           .columns = weight_dim(LayerDim::experts, m.n_experts)});
      if (m.is.shared_experts)
        mlp(tokens, at_rest(d_model), m.n_shared_experts * m.d_ff_expert, ups, tensor, {}, true);
      experts(d_model, ups);
    } else {
      mlp(tokens, at_rest(d_model), m.d_ff, ups, tensor, {}, false);
    }
    moves();
    if (in_.adapter.on) adapters(p, ups);
    for (const LayerProduct& product : study_.products) study_.flops += product.all_flops();
    return std::move(study_);
  }

 private:
  static ShardedDim weight_dim(LayerDim dim, double whole) { return {.dim = dim, .whole = whole, .local = whole}; }
  static ShardedDim cut(LayerDim dim, double whole, double local, Axis axis, int ways) {
    ShardedDim out{.dim = dim, .whole = whole, .local = local};
    out.ways[axis] = ways;
    return out;
  }
  ShardedDim token_dim() const {
    const double local = microbatch_tokens(in_.microbatch_sequences, in_.sequence_length, double(mesh_.context));
    ShardedDim out{.dim = LayerDim::tokens,
                   .whole = local * mesh_.context * static_cast<double>(data_ranks(mesh_)),
                   .local = local};
    out.ways[Axis::data] = mesh_.data;
    out.ways[Axis::fsdp] = mesh_.fsdp;
    out.ways[Axis::context] = mesh_.context;
    return out;
  }
  // The dimension of weights that ZeRO-3 cuts.
  ShardedDim at_rest(ShardedDim dim) const {
    if (mesh_.zero_stage < 3) return dim;
    dim.at_rest[Axis::fsdp] = mesh_.fsdp;
    dim.at_rest[Axis::context] = mesh_.context;
    return dim;
  }

  void add(LayerProduct product) {
    product.flops =
        2 * product.rows.local * product.contraction.local * product.columns.local * product.experts.local;
    study_.products.push_back(std::move(product));
  }

  // Scores and values are two products of the same size; what a mask or a window leaves out is not computed.
  void attention(const ShardedDim& tokens, double width, double heads, const ShardedDim& kv) {
    LayerProduct product{.kind = OperationKind::attention, .rows = tokens, .kv = kv};
    product.contraction = cut(LayerDim::heads, heads, heads / mesh_.tensor, Axis::tensor, mesh_.tensor);
    product.columns = weight_dim(LayerDim::keys, in_.sequence_length);
    product.flops = attention_forward_flops(in_, width, tokens.local, true);
    study_.products.push_back(std::move(product));
  }

  void mlp(const ShardedDim& rows, const ShardedDim& d_model, double width, double ups, int tensor,
           const ShardedDim& experts, bool shared) {
    add({.kind = OperationKind::gate_up,
         .shared_expert = shared,
         .rows = rows,
         .contraction = d_model,
         .columns = cut(ups > 1 ? LayerDim::gate_up : LayerDim::d_ff, ups * width, ups * width / tensor, Axis::tensor,
                        tensor),
         .experts = experts});
    add({.kind = OperationKind::down,
         .shared_expert = shared,
         .rows = rows,
         .contraction = cut(LayerDim::d_ff, width, width / tensor, Axis::tensor, tensor),
         .columns = d_model,
         .experts = experts});
  }

  // Every expert gets the tokens that the ranks of its group send: as many as this rank sends out, in the mean.
  void experts(ShardedDim d_model, double ups) {
    const ModelDims<double>& m = in_.model;
    const int split = in_.experts_split_tensor ? mesh_.expert_tensor : mesh_.tensor;
    const double tokens = token_dim().local;
    const ShardedDim all =
        cut(LayerDim::experts, m.n_experts, m.n_experts / mesh_.expert, Axis::expert, mesh_.expert);
    ShardedDim rows = weight_dim(LayerDim::routed_to, 0);
    rows.local = tokens * m.experts_per_token / m.n_experts * mesh_.expert * split / mesh_.tensor;
    // Ranks that hold the same part of the same experts, each for its own tokens.
    const auto groups = static_cast<int>(expert_ranks(mesh_) / mesh_.expert);
    rows.whole = rows.local * groups;
    const Axis apart = mesh_.fsdp >= std::max(mesh_.data, mesh_.context) ? Axis::fsdp
                       : mesh_.data >= mesh_.context                     ? Axis::data
                                                                         : Axis::context;
    rows.ways[apart] = groups;
    // Their weights are shared by the ranks that hold the same experts.
    if (mesh_.zero_stage >= 3) d_model.at_rest[Axis::fsdp] = std::max(1, mesh_.fsdp * mesh_.context / mesh_.expert);
    mlp(rows, d_model, m.d_ff_expert, ups, split, all, false);
  }

  // What is trained beside the frozen weights, as operations have it (layer_operations.h): two products of r.
  void adapters(const Parameters<double>& p, double ups) {
    study_.frozen = true;
    const ModelDims<double>& m = in_.model;
    const AdapterInputs<double>& adapter = in_.adapter;
    const AdapterParameters<double> a = adapter_parameters(in_, p);
    const double share = p.moe_share;
    const double expert = m.is.moe && share > 0 ? a.experts / ((ups + 1) * m.n_experts * share) : 0;
    const auto beside = [&](const LayerProduct& product) {
      const double matrices = product.kind == OperationKind::gate_up ? ups : 1;
      switch (product.kind) {
        case OperationKind::qkv:
          return a.qkv;
        case OperationKind::attention_out:
          return a.attention_out;
        case OperationKind::gate_up:
        case OperationKind::down:
          if (product.shared_expert)
            return adapter.mlp ? matrices * adapter.rank * (m.d_model + m.n_shared_experts * m.d_ff_expert) : 0.0;
          if (m.is.moe) return matrices * m.experts_per_token * expert;
          return product.kind == OperationKind::gate_up ? a.gate_up_active : a.down_active;
        default:
          return 0.0;
      }
    };
    const double tokens = token_dim().local;
    for (LayerProduct& product : study_.products) {
      product.adapter_flops = 2 * tokens * beside(product) / mesh_.tensor;
      if (product.adapter_flops > 0) product.adapter_rank = adapter.rank;
    }
  }

  // Which collectives of a layer's forward stand where. The last two products are those of the MLP that is computed last.
  void moves() {
    std::vector<LayerProduct>& all = study_.products;
    LayerProduct &into_attention = all[0], &attention = all[1], &out_of_attention = all[2];
    LayerProduct &into_mlp = all[3], &into_experts = all[all.size() - 2], &out_of_mlp = all.back();
    for (const CollectiveRow& row : report_.collectives) {
      if (row.backward || row.end_of_step) continue;
      const LayerMove move{moves_over(s_, row), row.kind, row.bytes, row.time_s};
      switch (row.axis) {
        case Axis::tensor:
          if (row.kind == CollectiveKind::all_gather) {
            into_attention.before.push_back(move);
            into_mlp.before.push_back(move);
          } else {
            out_of_attention.after.push_back(move);
            out_of_mlp.after.push_back(move);
          }
          break;
        case Axis::context:
          attention.before.push_back(move);
          if (row.kind == CollectiveKind::all_to_all) attention.after.push_back(move);
          break;
        case Axis::expert:
          into_experts.before.push_back(move);
          out_of_mlp.after.insert(out_of_mlp.after.begin(), move);
          break;
        case Axis::fsdp:
          study_.weights.push_back(move);
          break;
        case Axis::data:
        case Axis::pipeline:
          break;  // between stages, or once a step
      }
    }
  }

  const Scenario& s_;
  const Parallelism& mesh_;
  const Report& report_;
  const Inputs<double> in_;
  LayerProductsStudy study_;
};

}  // namespace

LayerProductsStudy layer_products_study(const Scenario& s, const Report& report) {
  if (s.serves()) return {};
  return LayerProducts(s, report).all();
}

}  // namespace roofscape::engine
