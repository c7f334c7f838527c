// How the tables of blocks are written: short makers of inputs and outputs. For the blocks_*.cpp files only.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>

#include "engine/blocks/block.h"
#include "engine/inputs/inputs.h"
#include "engine/model/parameters.h"

namespace roofscape::engine::block_table {

struct In : BlockInput {
  In& def(double x) {
    fallback = {x};
    return *this;
  }
  In& def(std::initializer_list<double> x) {
    fallback = x;
    return *this;
  }
  In& at_least(double x) {
    low = x, above_low = false;
    return *this;
  }
  In& any() {
    low = std::numeric_limits<double>::lowest(), above_low = false;
    return *this;
  }
  In& up_to(double x) {
    high = x;
    return *this;
  }
  In& of(std::string_view field) {
    chip_field = field;
    return *this;
  }
  In& chip(Sourced (*f)(const Chip&, const BlockCall&)) {
    of_chip = f;
    return *this;
  }
  In& chip_list(BlockValue (*f)(const Chip&)) {
    list_of_chip = f;
    return *this;
  }
  In& model(std::optional<double> (*f)(const TransformerShape&)) {
    of_model = f;
    return *this;
  }
  In& yields(std::string_view other) {
    yields_to = other;
    return *this;
  }
  In& from(std::string_view text, std::optional<double> (*f)(const BlockCall&)) {
    computed_text = text, computed = f;
    return *this;
  }
  In& entries(std::size_t n) {
    longest = n;
    return *this;
  }
};

inline In make(std::string_view name, InputKind kind, Q q) {
  In in;
  in.name = name, in.kind = kind, in.q = q;
  if (kind == InputKind::integer || kind == InputKind::integers) in.low = 1, in.above_low = false, in.high = 1e15;
  return in;
}
inline In number(std::string_view name, Q q) { return make(name, InputKind::number, q); }
inline In fraction(std::string_view name, Q q) { return number(name, q).up_to(1); }
inline In whole(std::string_view name, Q q) { return make(name, InputKind::integer, q); }
inline In numbers(std::string_view name, Q q) { return make(name, InputKind::numbers, q); }
inline In wholes(std::string_view name, Q q) { return make(name, InputKind::integers, q); }
inline In flag(std::string_view name, bool fallback) {
  In in;
  in.name = name, in.kind = InputKind::flag, in.fallback = {fallback ? 1.0 : 0.0};
  return in;
}
inline In flags(std::string_view name) {
  In in;
  in.name = name, in.kind = InputKind::flags;
  return in;
}
inline In choice(std::string_view name, std::initializer_list<std::string_view> words) {  // the first is the default
  In in;
  in.name = name, in.kind = InputKind::choice, in.choices = words, in.fallback = {0};
  return in;
}
// The same of ids of an enumeration: the default comes first, then the others in their order.
inline In choice(std::string_view name, std::span<const std::string_view> ids, std::string_view fallback) {
  In in = choice(name, {fallback});
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(in.choices), [&](auto id) { return id != fallback; });
  return in;
}
inline In words(std::string_view name, std::initializer_list<std::string_view> all) {
  In in;
  in.name = name, in.kind = InputKind::words, in.choices = all, in.longest = all.size();
  return in;
}

inline BlockOutput out(std::string_view name, Q q) { return {name, OutputKind::number, q, 0, {}}; }
inline BlockOutput out_list(std::string_view name, Q q) { return {name, OutputKind::list, q, 0, {}}; }
inline BlockOutput out_flags(std::string_view name, Q q) { return {name, OutputKind::flags, q, 0, {}}; }
inline BlockOutput out_holds(std::string_view name, Q q, double threshold) {
  return {name, OutputKind::holds, q, threshold, {}};
}
inline BlockOutput out_word(std::string_view name, Q q, double threshold, std::string_view at_least,
                            std::string_view below) {
  return {name, OutputKind::word, q, threshold, {at_least, below}};
}
// A word that the block says; one of `words`, where they are given, can be asked for.
inline BlockOutput out_said(std::string_view name, std::span<const std::string_view> words = {}) {
  return {name, OutputKind::word, Q::n_layers, 0, {words.begin(), words.end()}};
}
inline BlockOutput out_table(std::string_view name) { return {name, OutputKind::table, Q::n_layers, 0, {}}; }

// For In::model: a size that every model has.
inline std::optional<double> some(double x) { return x; }
Parameters<double> parameters_of(const TransformerShape&);

// The dense peak of the call's input "dtype".
Sourced peak_of(const Chip&, const BlockCall&);

// Inputs that many blocks share.
In peak_input();                     // "peak_flops_per_s"
In vector_input();                   // "vector_flops_per_s"
In dtype_input();                    // which peak of the chip
In hbm_input();                      // "hbm_bytes_per_s"
In axis_input();                     // "axis_bytes_per_s": a torus axis, both directions
In link_input();                     // "link_bytes_per_s": one link of it, one direction
In hop_input();                      // "hop_s"
In neighbour_link_input();           // "link_bytes_per_s" of any chip: ICI, or of a GPU into its node, one direction
In element_input(double bytes = 2);  // "element_bytes"
// Torus axes: how many the chip has; and how many are left to FSDP beside one of tensor, as make_inputs shares them
// out where a mesh says nothing.
In torus_axes_input(std::string_view name, Q q, double fallback);
In fsdp_axes_input(std::string_view name, Q q, double fallback);

// A size of a model by its name in model files: n_layers, d_model, d_ff, n_heads, n_kv_heads, d_head, vocab_size.
In size_input(std::string_view name);
std::vector<In> model_inputs();        // all of them, gated_mlp, tied_embeddings
std::vector<In> expert_inputs();       // experts, experts_per_token, expert_d_ff, shared_experts, dense_layers
std::vector<In> window_inputs();       // window, local_layers
std::vector<In> latent_inputs();       // kv_rank, rope_dim
std::vector<In> latent_head_inputs();  // nope_dim, value_dim: of the heads written out
// "experts" and "experts_per_token" where only their ratio counts; a fallback of 0 is none.
In expert_count_input(double fallback);
In chosen_experts_input(double fallback);
In matrices_input();  // "matrices" of an MLP: three where it is gated
// The MLP width that tensor ranks split and a token meets: of a mixture of experts that of the experts it passes.
In met_width_input();
// The MLP width whose weights are moved and stored: that of all experts.
In moved_width_input();
In parameters_input();         // "parameters", all of them
In active_parameters_input();  // "active_parameters", which a token passes through
// The dimensions of the model preset, if there is one, with what is typed in laid over them.
template <Scalar S>
ModelDims<S> dims_of(const BlockRun<S>&);
extern template ModelDims<double> dims_of<double>(const BlockRun<double>&);
extern template ModelDims<Traced> dims_of<Traced>(const BlockRun<Traced>&);
// Dims as the inputs of the engine's formulas for `keys` keys of a sequence, nothing split.
template <Scalar S>
Inputs<S> alone(const BlockRun<S>&, const ModelDims<S>&, const S& keys);
extern template Inputs<double> alone<double>(const BlockRun<double>&, const ModelDims<double>&, const double&);
extern template Inputs<Traced> alone<Traced>(const BlockRun<Traced>&, const ModelDims<Traced>&, const Traced&);

// Refuses what no model can be, by the input to blame; what is unknown is possible.
template <Scalar S>
bool is_possible(BlockRun<S>&);
extern template bool is_possible<double>(BlockRun<double>&);
extern template bool is_possible<Traced>(BlockRun<Traced>&);
// Refuses what does not come out even: `ways` parts of a size, by their inputs. True where one of them is unknown.
template <Scalar S>
bool divides(BlockRun<S>& io, std::string_view ways, double n, Sentence size, double of);
extern template bool divides<double>(BlockRun<double>&, std::string_view, double, Sentence, double);
extern template bool divides<Traced>(BlockRun<Traced>&, std::string_view, double, Sentence, double);
// Widths of what a layer's matrices put out where they are not F, N H and K H: of the experts that a token passes
// through, of the heads that latent attention makes.
In attention_width_input();
std::vector<In> width_inputs();

template <class... Parts>
std::vector<BlockInput> inputs(Parts&&... parts) {
  std::vector<BlockInput> all;
  const auto add = [&all](const auto& part) {
    if constexpr (std::is_base_of_v<BlockInput, std::decay_t<decltype(part)>>)
      all.push_back(part);
    else
      all.insert(all.end(), part.begin(), part.end());
  };
  (add(parts), ...);
  return all;
}

template <Scalar S>
S one() {
  return constant<S>(1);
}

// The families, in the order of the table.
std::vector<BuildingBlock> roofline_blocks();
std::vector<BuildingBlock> hardware_blocks();
std::vector<BuildingBlock> network_blocks();
std::vector<BuildingBlock> sharding_blocks();
std::vector<BuildingBlock> model_blocks();
std::vector<BuildingBlock> memory_blocks();
std::vector<BuildingBlock> update_blocks();
std::vector<BuildingBlock> bounds_blocks();
std::vector<BuildingBlock> parallelism_blocks();
std::vector<BuildingBlock> pipeline_blocks();
std::vector<BuildingBlock> run_blocks();
std::vector<BuildingBlock> serving_blocks();
std::vector<BuildingBlock> serving_limit_blocks();

}  // namespace roofscape::engine::block_table
