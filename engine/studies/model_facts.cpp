#include "engine/studies/model_facts.h"

#include <array>

#include "engine/inputs/inputs.h"
#include "engine/model/kv_cache.h"
#include "engine/model/parameters.h"

namespace roofscape::engine {

namespace {

using Shape = TransformerShape;
using Number = std::optional<double>;

constexpr double kBf16Bytes = 2;

Parameters<double> parameters_of(const Shape& m) { return count_parameters(make_model_dims<double>(m, nullptr)); }
Number if_known(int n) { return n > 0 ? Number(n) : std::nullopt; }

constexpr std::array kFacts{
    ModelFact{"params", unit::parameters, [](const Shape& m) { return Number(parameters_of(m).total); }},
    ModelFact{"active", unit::parameters, [](const Shape& m) { return Number(parameters_of(m).active); }},
    ModelFact{"n_layers", unit::count, [](const Shape& m) { return Number(m.n_layers); }},
    ModelFact{"d_model", unit::count, [](const Shape& m) { return Number(m.d_model); }},
    ModelFact{"d_ff", unit::count, [](const Shape& m) { return Number(m.d_ff); }},
    // Of a mixture of experts what a token passes through, mean of the layers.
    ModelFact{"ff_ratio", unit::one,
              [](const Shape& m) { return Number(active_ff(make_model_dims<double>(m, nullptr)) / m.d_model); }},
    ModelFact{"n_heads", unit::count, [](const Shape& m) { return Number(m.n_heads); }},
    ModelFact{"n_kv_heads", unit::count,
              [](const Shape& m) { return m.is_mla() ? std::nullopt : Number(m.n_kv_heads); }},
    ModelFact{"heads_per_kv_head", unit::one,
              [](const Shape& m) {
                return m.is_mla() ? std::nullopt : Number(static_cast<double>(m.n_heads) / m.n_kv_heads);
              }},
    ModelFact{"d_head", unit::count, [](const Shape& m) { return Number(m.d_head); }},
    ModelFact{"vocab", unit::count, [](const Shape& m) { return Number(m.vocab_size); }},
    ModelFact{"experts", unit::count, [](const Shape& m) { return if_known(m.moe.n_routed_experts); }},
    ModelFact{"experts_per_token", unit::count, [](const Shape& m) { return if_known(m.moe.experts_per_token); }},
    // Of one token, while no window is full.
    ModelFact{"kv_bytes_per_token", unit::bytes,
              [](const Shape& m) {
                return Number(kv_cache_bytes_per_token(make_model_dims<double>(m, nullptr), kBf16Bytes, 1.0));
              }},
    ModelFact{"context", unit::tokens, [](const Shape& m) { return if_known(m.max_context_tokens); }},
};

}  // namespace

std::span<const ModelFact> model_facts() { return kFacts; }

}  // namespace roofscape::engine
