// What many blocks share: inputs that a chip or a model preset fills, and its dimensions as the engine's formulas take
// them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "engine/blocks/spec.h"
#include "engine/hardware/torus_collective.h"
#include "engine/model/layer_operations.h"
#include "engine/model/model_check.h"
#include "engine/model/parameters.h"

namespace roofscape::engine::block_table {

namespace {

using Shape = TransformerShape;
std::optional<double> if_moe(const Shape& m, double x) { return m.is_moe() ? some(x) : std::nullopt; }
std::optional<double> if_latent(const Shape& m, double x) { return m.is_mla() ? some(x) : std::nullopt; }
std::optional<double> if_local(const Shape& m, double x) { return m.has_local_layers() ? some(x) : std::nullopt; }

struct SizeRow {
  std::string_view name;
  Q q;
  std::optional<double> (*of)(const Shape&);
};
constexpr SizeRow kSizes[] = {{"n_layers", Q::n_layers, [](const Shape& m) { return some(m.n_layers); }},
                              {"d_model", Q::d_model, [](const Shape& m) { return some(m.d_model); }},
                              {"d_ff", Q::d_ff, [](const Shape& m) { return some(m.d_ff); }},
                              {"n_heads", Q::n_heads, [](const Shape& m) { return some(m.n_heads); }},
                              {"n_kv_heads", Q::n_kv_heads, [](const Shape& m) { return some(m.n_kv_heads); }},
                              {"d_head", Q::d_head, [](const Shape& m) { return some(m.d_head); }},
                              {"vocab_size", Q::vocab_size, [](const Shape& m) { return some(m.vocab_size); }}};

LayerWidths<double> widths_of(const Shape& m) {
  Inputs<double> in;
  in.model = make_model_dims<double>(m, nullptr);
  in.degrees.fill({1, 1.0});
  return layer_widths(in, LayerKey{});
}

std::optional<double> number_of(const BlockCall& c, std::string_view name) { return c.number(name); }

}  // namespace

Parameters<double> parameters_of(const TransformerShape& m) {
  return count_parameters(make_model_dims<double>(m, nullptr));
}

Sourced peak_of(const Chip& chip, const BlockCall& call) {
  const std::string_view dtype = call.word("dtype");
  if (dtype == "tf32") return chip[ChipField::peak_tf32_dense_flops_per_s];
  if (dtype == "fp4") return chip[ChipField::peak_fp4_dense_flops_per_s];
  return chip[peak_field(dtype == "fp8"    ? Dtype::fp8
                         : dtype == "int8" ? Dtype::int8
                         : dtype == "int4" ? Dtype::int4
                         : dtype == "fp16" ? Dtype::fp16
                         : dtype == "fp32" ? Dtype::fp32
                                           : Dtype::bf16)];
}

In dtype_input() { return choice("dtype", {"bf16", "fp16", "fp8", "int8", "int4", "fp4", "tf32", "fp32"}); }
In peak_input() { return number("peak_flops_per_s", Q::peak_flops).chip(peak_of); }
In vector_input() { return number("vector_flops_per_s", Q::vector_peak).of("peak_fp32_vector_flops_per_s"); }
In hbm_input() { return number("hbm_bytes_per_s", Q::hbm_bandwidth).of("hbm_bytes_per_s"); }
In axis_input() {
  return number("axis_bytes_per_s", Q::ici_axis_bandwidth).of("ici_bytes_per_s_per_axis_bidirectional");
}
In link_input() {
  return number("link_bytes_per_s", Q::transfer_link)
      .of("ici_bytes_per_s_per_link_oneway")
      .from("axis_bytes_per_s / 2",
            [](const BlockCall& c) { return some(one_direction(c.number("axis_bytes_per_s"))); });
}
In hop_input() { return number("hop_s", Q::collective_hop).def(1e-6).at_least(0).of("ici_hop_latency_s"); }
In neighbour_link_input() {
  return number("link_bytes_per_s", Q::context_link).chip([](const Chip& chip, const BlockCall&) {
    return chip[chip.interconnect == Interconnect::torus ? ChipField::ici_bytes_per_s_per_link_oneway
                                                         : ChipField::scaleup_bytes_per_s_per_chip_oneway];
  });
}
In element_input(double bytes) { return number("element_bytes", Q::element_width).def(bytes); }

In torus_axes_input(std::string_view name, Q q, double fallback) {
  return whole(name, q).def(fallback).up_to(3).of("ici_torus_dims");
}
In fsdp_axes_input(std::string_view name, Q q, double fallback) {
  In in = whole(name, q).def(fallback).up_to(3);
  return in.chip([](const Chip& chip, const BlockCall&) {
    Sourced axes = chip[ChipField::ici_torus_dims];
    if (axes.value) axes.value = std::min(2.0, std::max(1.0, *axes.value - 1));
    return axes;
  });
}

In size_input(std::string_view name) {
  const SizeRow& row =
      *std::find_if(std::begin(kSizes), std::end(kSizes), [name](const SizeRow& r) { return r.name == name; });
  In in = whole(name, row.q).model(row.of);
  if (row.q == Q::n_kv_heads) in.from("n_heads", [](const BlockCall& c) { return number_of(c, "n_heads"); });
  if (row.q == Q::d_head)
    in.from("d_model / n_heads", [](const BlockCall& c) -> std::optional<double> {
      const double width = c.number("d_model") / c.number("n_heads");
      return width == std::floor(width) ? some(width) : std::nullopt;
    });
  return in;
}

std::vector<In> model_inputs() {
  std::vector<In> out;
  for (const SizeRow& row : kSizes) out.push_back(size_input(row.name));
  out.push_back(flag("gated_mlp", true).model([](const Shape& m) { return some(m.gated_mlp ? 1 : 0); }));
  out.push_back(flag("tied_embeddings", false).model([](const Shape& m) { return some(m.tied_embeddings ? 1 : 0); }));
  return out;
}

std::vector<In> expert_inputs() {
  return {
      whole("experts", Q::n_routed_experts).model([](const Shape& m) { return if_moe(m, m.moe.n_routed_experts); }),
      whole("experts_per_token", Q::experts_per_token).model([](const Shape& m) {
        return if_moe(m, m.moe.experts_per_token);
      }),
      whole("expert_d_ff", Q::d_ff_expert)
          .model([](const Shape& m) { return if_moe(m, m.expert_width()); })
          .from("d_ff", [](const BlockCall& c) { return number_of(c, "d_ff"); }),
      whole("shared_experts", Q::n_shared_experts)
          .model([](const Shape& m) { return some(m.moe.n_shared_experts); })
          .def(0)
          .at_least(0),
      whole("dense_layers", Q::n_dense_layers)
          .model([](const Shape& m) { return if_moe(m, m.n_layers - m.n_moe_layers()); })
          .def(0)
          .at_least(0)};
}

In expert_count_input(double fallback) {
  In in = whole("experts", Q::ridge_experts).model([](const Shape& m) { return if_moe(m, m.moe.n_routed_experts); });
  return fallback > 0 ? in.def(fallback) : in;
}
In chosen_experts_input(double fallback) {
  In in = whole("experts_per_token", Q::ridge_experts_per_token).model([](const Shape& m) {
    return if_moe(m, m.moe.experts_per_token);
  });
  return fallback > 0 ? in.def(fallback) : in;
}
In matrices_input() {
  return whole("matrices", Q::tp_matrices).def(2).model([](const Shape& m) { return some(m.gated_mlp ? 3 : 2); });
}

std::vector<In> window_inputs() {
  return {whole("window", Q::window_tokens).model([](const Shape& m) {
            return if_local(m, m.local_attention.window_tokens);
          }),
          whole("local_layers", Q::n_local_layers)
              .at_least(0)
              .model([](const Shape& m) { return if_local(m, m.n_local_layers()); })
              .from("n_layers, if there is a window", [](const BlockCall& c) {
                return c.value("window").is_known() ? number_of(c, "n_layers") : std::nullopt;
              })};
}

In attention_width_input() {
  return number("attention_width", Q::attention_width).model([](const Shape& m) {
    return if_latent(m, widths_of(m).attention);
  });
}
std::vector<In> width_inputs() {
  return {number("active_d_ff", Q::active_ff).model([](const Shape& m) { return if_moe(m, widths_of(m).ff); }),
          attention_width_input(),
          number("kv_width", Q::kv_width).model([](const Shape& m) { return if_latent(m, widths_of(m).kv); })};
}

std::vector<In> latent_inputs() {
  return {whole("kv_rank", Q::kv_lora_rank).model([](const Shape& m) { return if_latent(m, m.mla.kv_lora_rank); }),
          whole("rope_dim", Q::qk_rope_head_dim).model([](const Shape& m) {
            return if_latent(m, m.mla.qk_rope_head_dim);
          })};
}

std::vector<In> latent_head_inputs() {
  return {whole("nope_dim", Q::qk_nope_head_dim).model([](const Shape& m) {
            return if_latent(m, m.mla.qk_nope_head_dim);
          }),
          whole("value_dim", Q::v_head_dim).model([](const Shape& m) { return if_latent(m, m.mla.v_head_dim); })};
}

In met_width_input() {
  return number("d_ff", Q::d_ff).model([](const Shape& m) {
    return some(m.is_moe() ? static_cast<double>(m.moe.experts_per_token + m.moe.n_shared_experts) * m.expert_width()
                           : m.d_ff);
  });
}
In moved_width_input() {
  return number("moved_d_ff", Q::moved_ff)
      .model([](const Shape& m) {
        return some(m.is_moe()
                        ? static_cast<double>(m.moe.n_routed_experts + m.moe.n_shared_experts) * m.expert_width()
                        : m.d_ff);
      })
      .from("d_ff", [](const BlockCall& c) { return number_of(c, "d_ff"); });
}

In parameters_input() {
  return number("parameters", Q::state_parameters).model([](const Shape& m) { return some(parameters_of(m).total); });
}
In active_parameters_input() {
  return number("active_parameters", Q::dec_active)
      .model([](const Shape& m) { return some(parameters_of(m).active); })
      .yields("parameters")
      .from("parameters", [](const BlockCall& c) { return number_of(c, "parameters"); });
}

template <Scalar S>
ModelDims<S> dims_of(const BlockRun<S>& io) {
  ModelDims<S> m;
  if (io.call().model() != nullptr) m = make_model_dims<S>(*io.call().model(), io.trace());
  const BlockCall& call = io.call();
  const bool is_preset = call.model() != nullptr;
  // What a block has no input for is the preset's, or unknown.
  const auto take = [&](Q q, S& to) {
    if (io.knows(q) || !is_preset) to = io[q];
  };
  const auto has = [&](std::string_view input) { return call.block().find_input(input) != nullptr; };
  take(Q::n_layers, m.n_layers), take(Q::d_model, m.d_model), take(Q::d_ff, m.d_ff), take(Q::n_heads, m.n_heads);
  take(Q::n_kv_heads, m.n_kv_heads), take(Q::d_head, m.d_head), take(Q::vocab_size, m.vocab_size);
  if (has("gated_mlp")) m.is.gated_mlp = io.flag("gated_mlp");
  if (has("tied_embeddings")) m.is.tied_embeddings = io.flag("tied_embeddings");
  take(Q::n_routed_experts, m.n_experts), take(Q::experts_per_token, m.experts_per_token);
  take(Q::d_ff_expert, m.d_ff_expert), take(Q::n_shared_experts, m.n_shared_experts);
  take(Q::n_dense_layers, m.n_dense_layers);
  take(Q::window_tokens, m.window_tokens), take(Q::n_local_layers, m.n_local_layers);
  take(Q::kv_lora_rank, m.kv_lora_rank), take(Q::qk_rope_head_dim, m.qk_rope_head_dim);
  if (has("experts")) {
    m.is.moe = io.knows(Q::n_routed_experts);
    m.is.shared_experts = call.number("shared_experts") > 0;
    m.is.dense_layers = m.is.moe && call.number("dense_layers") > 0;
  }
  if (has("window")) m.is.local = io.knows(Q::window_tokens);
  m.is.mla = m.is.mla || io.knows(Q::kv_lora_rank);
  return m;
}
template ModelDims<double> dims_of<double>(const BlockRun<double>&);
template ModelDims<Traced> dims_of<Traced>(const BlockRun<Traced>&);

template <Scalar S>
Inputs<S> alone(const BlockRun<S>& io, const ModelDims<S>& m, const S& keys) {
  Inputs<S> in;
  in.model = m;
  in.sequence_length = keys;
  in.microbatch_sequences = in.expert_tensor = constant<S>(1);
  in.degrees.fill({1, constant<S>(1)});
  in.activation_bytes = in.residual_bytes = in.weight_bytes = in.gather_bytes = in.update_bytes =
      constant<S>(2, unit::bytes_each);
  if constexpr (std::same_as<S, Traced>)
    in.zero = io.trace()->zero();
  else
    in.zero = 0, (void)io;
  return in;
}
template Inputs<double> alone<double>(const BlockRun<double>&, const ModelDims<double>&, const double&);
template Inputs<Traced> alone<Traced>(const BlockRun<Traced>&, const ModelDims<Traced>&, const Traced&);

template <Scalar S>
bool is_possible(BlockRun<S>& io) {
  const BlockCall& call = io.call();
  const auto take = [&call](std::string_view name, int& to) {
    if (const double x = call.number(name); std::isfinite(x)) to = static_cast<int>(std::min(x, 1e9));
  };
  TransformerShape m;
  if (std::isfinite(call.number("n_heads")) && std::isfinite(call.number("n_kv_heads")))
    take("n_heads", m.n_heads), take("n_kv_heads", m.n_kv_heads);
  if (std::isfinite(call.number("experts")) && std::isfinite(call.number("experts_per_token"))) {
    take("experts", m.moe.n_routed_experts), take("experts_per_token", m.moe.experts_per_token);
    take("dense_layers", m.moe.n_dense_layers);
  }
  take("local_layers", m.local_attention.n_local_layers);
  // As many layers as it takes, where their number is not known.
  m.n_layers = std::max(m.moe.n_dense_layers, m.local_attention.n_local_layers);
  take("n_layers", m.n_layers);
  const std::optional<ModelFault> fault = model_fault(m);
  if (!fault) return true;
  if (fault->field == "model.moe.n_dense_layers")
    io.fail("dense_layers", say("error.block.layers"), say("error.block.layers.remedy"));
  else if (fault->field == "model.moe.experts_per_token")
    io.fail("experts_per_token", say("error.block.experts"), say("error.block.experts.remedy"));
  else if (fault->field == "model.local_attention.n_local_layers")
    io.fail("local_layers", say("error.block.layers"), say("error.block.layers.remedy"));
  else
    io.fail("n_kv_heads", say("error.block.kv_heads"), say("error.block.kv_heads.remedy"));
  return false;
}
template bool is_possible<double>(BlockRun<double>&);
template bool is_possible<Traced>(BlockRun<Traced>&);

template <Scalar S>
bool divides(BlockRun<S>& io, std::string_view ways, double n, Sentence size, double of) {
  if (!std::isfinite(n) || !std::isfinite(of) || std::fmod(of, n) == 0) return true;
  // The nearest ways below and above that come out even, of the divisors up to a bound and those they pair with.
  constexpr double kMostTried = 1e5;
  double below = 1, above = of >= n ? of : of + 1;
  for (double i = 1; i <= kMostTried && i * i <= of; ++i) {
    if (std::fmod(of, i) != 0) continue;
    for (const double d : {i, of / i}) {
      if (d < n) below = std::max(below, d);
      if (d > n) above = std::min(above, d);
    }
  }
  io.fail(ways, say("error.block.uneven", std::move(size), fmt::format("{:.15g}", of)),
          above <= of ? say("error.nearest_two", fmt::format("{:.15g}", below), fmt::format("{:.15g}", above))
                      : say("error.nearest", fmt::format("{:.15g}", below)));
  return false;
}
template bool divides<double>(BlockRun<double>&, std::string_view, double, Sentence, double);
template bool divides<Traced>(BlockRun<Traced>&, std::string_view, double, Sentence, double);

}  // namespace roofscape::engine::block_table
