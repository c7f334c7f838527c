// Prefill: the whole prompt goes through the model at once and fills the cache (scaling book, chapters 7 and 8). Its
// linear layers do 2 P FLOP a token, attention 4 T^2 N H a layer (half of it where the masked part is left out); it
// is limited by arithmetic from the critical batch in tokens on. Tokens found in a prefix cache are not computed
// again.
#pragma once

#include "engine/serving/decode.h"

namespace roofscape::engine {

// Keys that each of `fresh` new tokens meets, on the mean, behind `cached` ones: all of the prompt, or without the
// masked half the cached ones and half of the new.
template <Scalar S>
S prefill_span(const S& cached, const S& fresh, bool causal) {
  return causal ? cached + fresh / constant<S>(2) : cached + fresh;
}
// Scores and values of `tokens` queries that meet `span` keys each, over heads of `width` elements together and
// `layers` layers.
template <Scalar S>
S attention_flops(const S& tokens, const S& span, const S& width, const S& layers) {
  return constant<S>(4, unit::flop_each) * tokens * span * width * layers;
}
// Share of a prompt's linear FLOPs that a prefix found in the cache saves.
template <Scalar S>
S prefix_saving(const S& hit_tokens, const S& prompt_tokens) {
  return hit_tokens / prompt_tokens;
}
// A prompt cut into chunks of at most so many tokens.
template <Scalar S>
S prefill_chunks(const S& tokens, const S& chunk) {
  return ceil(tokens / chunk);
}

}  // namespace roofscape::engine
