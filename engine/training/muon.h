// Muon: momentum made orthogonal by Newton-Schulz iterations, matrix by matrix, at the end of a step. For the matrices
// of the layers, each by itself: queries, keys, values and the output of attention, gate, up and down of an MLP and of
// every expert, the router, the projections of latent attention. Embedding, head, norms and biases stay with Adam
// (Jordan et al. 2024, "Muon: an optimizer for hidden layers"; Liu et al. 2025, "Muon is Scalable for LLM Training").
//
// FLOPs of one iteration of an m x n matrix, m <= n: X X' takes 2 m^2 n, its square 2 m^3, their sum times X 2 m^2 n.
// Over the 6 m n of each token of the batch that is at most steps x m / tokens (Jordan et al. 2024). HBM: each of the
// three reads what it multiplies and writes what it makes, 3 m n + 4 m^2 elements.
//
// The matrix has to be whole. Over tensor its slices are gathered, or each is taken for a matrix (muon.tensor). Over
// the ranks that share training state (muon.homes):
//   replicated   from ZeRO-1 on momentum is gathered, and every rank makes all updates of its matrices orthogonal (at
//                most a gather in 16 bits beside what ZeRO-1 sends anyway: the upper bound of Liu et al. 2025)
//   distributed  each matrix has one home. ZeRO-1 and 2 hold state by whole matrices then: nothing more is sent than
//                gradients to their home and weights from it (Megatron-LM's layer-wise optimizer). ZeRO-3 sends
//                momentum to the home and the update back, an AllToAll each way. Without ZeRO the updates are gathered.
//                Where no ranks share state the replicas of data are the homes, as without ZeRO.
// No home works less than on one matrix. In ideal mode what is sent hides under the products; calibrated, one waits for
// the other, matrix by matrix.
#pragma once

#include "engine/base/scalar.h"
#include "engine/inputs/inputs.h"
#include "engine/training/layer_time.h"
#include "engine/training/stage_time.h"

namespace roofscape::engine {

// Matrices of a kind have the same shape; the index of their quantities.
enum class MuonMatrix : std::uint8_t {
  query,
  key_value,
  output,
  mlp,
  expert,
  shared_expert,
  router,
  query_down,  // of latent attention: to the latents and from them
  query_up,
  latent_down,
  latent_up,
  positions
};
inline constexpr EnumTable<MuonMatrix> kMuonMatrices{"query",    "key_value",     "output",    "mlp",
                                                     "expert",   "shared_expert", "router",    "query_down",
                                                     "query_up", "latent_down",   "latent_up", "positions"};

// FLOPs of one matrix of these sides, whichever is shorter.
template <Scalar S>
S newton_schulz_flops(const S& shorter, const S& longer, const S& steps) {
  return constant<S>(2, unit::flop_each) * shorter * shorter * (constant<S>(2) * longer + shorter) * steps;
}

template <Scalar S>
MuonParameters<S> muon_parameters(const Inputs<S>&, const Parameters<S>&);

// What Muon adds to the end of a step, mean of the stages. Reads of the stage's key the ZeRO stage.
template <Scalar S>
void muon_work(const Inputs<S>&, const LayerTime<S>&, const LinkRates<S>&, const StepCounts<S>&, const StageKey&,
               MuonWork<S>& out);

extern template MuonParameters<double> muon_parameters<double>(const Inputs<double>&, const Parameters<double>&);
extern template MuonParameters<Traced> muon_parameters<Traced>(const Inputs<Traced>&, const Parameters<Traced>&);
extern template void muon_work<double>(const Inputs<double>&, const LayerTime<double>&, const LinkRates<double>&,
                                       const StepCounts<double>&, const StageKey&, MuonWork<double>&);
extern template void muon_work<Traced>(const Inputs<Traced>&, const LayerTime<Traced>&, const LinkRates<Traced>&,
                                       const StepCounts<Traced>&, const StageKey&, MuonWork<Traced>&);

}  // namespace roofscape::engine
