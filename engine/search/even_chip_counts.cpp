#include "engine/search/even_chip_counts.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "engine/base/divisors.h"
#include "engine/inputs/placement.h"
#include "engine/model/split_heads.h"
#include "engine/search/plan_space.h"

namespace roofscape::engine {
namespace {

std::vector<int> divisors_to(int n, int most) {
  std::vector<int> out = divisors(n);
  std::erase_if(out, [most](int divisor) { return divisor > most; });
  return out;
}

// Products of one number of each, up to `most`; rising, each once.
std::vector<int> products(std::span<const int> some, std::span<const int> others, int most) {
  std::vector<int> out;
  for (const int one : some)
    for (const int other : others)
      if (const std::int64_t product = std::int64_t{one} * other; product <= most)
        out.push_back(static_cast<int>(product));
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

int odd_factor(int n) { return n >> std::countr_zero(static_cast<unsigned>(n)); }
// Numbers come falling.
void keep_if_simpler(int count, std::vector<int>& kept) {
  if (kept.empty() || odd_factor(count) < odd_factor(kept.back())) kept.push_back(count);
}

}  // namespace

std::vector<int> even_chip_counts(const Scenario& s) {
  const int chips = shared_chips(s.cluster);
  std::vector<int> tensors = divisors_to(s.model.n_heads, kMostTensorDegree);
  std::erase_if(tensors,
                [&](int tensor) { return !splits_heads(s.model, tensor) || crosses_nodes(s.cluster, tensor); });
  const std::vector<int> contexts = divisors_to(s.workload.sequence_length, kMostContextDegree),
                         stages = divisors_to(s.model.n_layers, kMostPipelineDegree);
  const int batch = s.workload.global_batch_sequences;
  // Of a power of two, as most clusters have, there is nothing simpler.
  if (std::has_single_bit(static_cast<unsigned>(chips)))
    for (const int tensor : tensors)
      for (const int context : contexts)
        for (const int pipeline : stages)
          if (const std::int64_t model = std::int64_t{tensor} * context * pipeline;
              model <= chips && chips % model == 0 && batch % (chips / model) == 0)
            return {chips};
  const std::vector<int> counts =
      products(products(products(tensors, contexts, chips), stages, chips), divisors(batch), chips);
  std::vector<int> out;
  for (auto count = counts.rbegin(); count != counts.rend(); ++count) keep_if_simpler(*count, out);
  return out;
}

// A number with an odd factor m is one of them only if it is the largest multiple of its power of two: the next one,
// m + 1 times that power, is larger and simpler.
std::vector<int> simpler_chip_counts(int chips) {
  std::vector<int> out;
  for (int power = 0; chips >> power > 0; ++power) keep_if_simpler(chips >> power << power, out);
  return out;
}

}  // namespace roofscape::engine
