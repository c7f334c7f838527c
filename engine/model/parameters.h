// Parameter counts of a dense Transformer (scaling book, chapter 4): exact to the last one.
#pragma once

#include "engine/inputs.h"
#include "engine/scalar.h"

namespace roofscape::engine {

template <Scalar S>
struct Parameters {
  S mlp_layer, attention_layer, norms_layer;  // of one layer; not rows of the quantity table
  S layer;
  S mlp, attention, norms, embedding, head, vocab;  // of the model; head: unembedding (0 if tied) and final norm
  S total, active;
};

template <Scalar S>
Parameters<S> count_parameters(const ModelDims<S>&);
extern template Parameters<double> count_parameters<double>(const ModelDims<double>&);
extern template Parameters<Traced> count_parameters<Traced>(const ModelDims<Traced>&);

}  // namespace roofscape::engine
