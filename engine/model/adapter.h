// Low-rank adapters (LoRA, Hu et al. 2021): beside a frozen matrix of a x b an A of a x r and a B of r x b, r (a + b)
// parameters each. Queries, keys, values, gate and up have one each; of latent attention those to the latents and from
// them; every routed expert its own. Router, embedding, head, norms and biases have none.
#pragma once

#include "engine/base/scalar.h"
#include "engine/inputs/inputs.h"
#include "engine/model/parameters.h"

namespace roofscape::engine {

template <Scalar S>
struct AdapterParameters {
  // Of the mean layer, by the operation they stand beside; `active`: those a token passes through.
  S qkv{}, attention_out{}, gate_up{}, down{};
  S gate_up_active{}, down_active{};
  S experts{};          // of gate_up and down, those of routed experts
  S layer{}, active{};  // sums
  int in_qkv = 0;       // adapters beside that operation
};
template <Scalar S>
AdapterParameters<S> adapter_parameters(const Inputs<S>&, const Parameters<S>&);
extern template AdapterParameters<double> adapter_parameters<double>(const Inputs<double>&,
                                                                     const Parameters<double>&);
extern template AdapterParameters<Traced> adapter_parameters<Traced>(const Inputs<Traced>&,
                                                                     const Parameters<Traced>&);

}  // namespace roofscape::engine
