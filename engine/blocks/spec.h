// How the tables of blocks are written: short makers of inputs and outputs. For the blocks_*.cpp files only.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <span>

#include "engine/blocks/block.h"

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
  In& chip(const Sourced* (*f)(const Chip&, const BlockCall&)) {
    of_chip = f;
    return *this;
  }
  In& model(std::optional<double> (*f)(const TransformerShape&)) {
    of_model = f;
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
inline BlockOutput out_said(std::string_view name) { return {name, OutputKind::word, Q::n_layers, 0, {}}; }
inline BlockOutput out_table(std::string_view name) { return {name, OutputKind::table, Q::n_layers, 0, {}}; }

// Figures of a chip by the key of chip files; null where this chip has no such figure.
const Sourced* chip_figure(const Chip&, std::string_view field);
// The dense peak of the call's input "dtype".
const Sourced* peak_of(const Chip&, const BlockCall&);

// Inputs that many blocks share.
In peak_input();                     // "peak_flops_per_s"
In dtype_input();                    // which peak of the chip
In hbm_input();                      // "hbm_bytes_per_s"
In axis_input();                     // "axis_bytes_per_s": a torus axis, both directions
In element_input(double bytes = 2);  // "element_bytes"
std::vector<In> model_inputs();      // n_layers .. vocab_size, gated_mlp, tied_embeddings
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
std::vector<BuildingBlock> bounds_blocks();
std::vector<BuildingBlock> parallelism_blocks();
std::vector<BuildingBlock> pipeline_blocks();
std::vector<BuildingBlock> run_blocks();
std::vector<BuildingBlock> serving_blocks();
std::vector<BuildingBlock> serving_limit_blocks();

}  // namespace roofscape::engine::block_table
