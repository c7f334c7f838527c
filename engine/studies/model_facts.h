// What tells models apart: sizes, ratios and counts of a Transformer, one row each, for tables of models. Parameters
// and the KV cache are the engine's own counts (scaling book, chapter 4).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "engine/base/unit.h"
#include "engine/scenario/transformer_shape.h"

namespace roofscape::engine {

struct ModelFact {
  std::string_view id;  // "d_model"; its words are the texts model_fact.<id>
  Unit unit;
  std::optional<double> (*value)(const TransformerShape&);  // nothing: the model has no such number
};

std::span<const ModelFact> model_facts();

}  // namespace roofscape::engine
