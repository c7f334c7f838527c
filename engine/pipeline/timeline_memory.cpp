// Activation memory of a device: allocated when a forward starts, freed at the end of a whole backward, or in part at
// the end of the input gradient and the rest at the end of the weight gradient.
#include <algorithm>

#include "engine/pipeline/timeline_analysis.h"

namespace roofscape::engine {
namespace {

// What an operation frees of a stage's activations: from a list, or everything at once, counted in chunks.
struct Listed {
  const ActivationSizes& sizes;
  double after_input(std::uint32_t s) const { return sizes.freed_after_input[s]; }
  double after_weight(std::uint32_t s) const { return sizes.freed_after_weight[s]; }
};
struct WholeChunks {
  KeptUntil kept;
  double after_input(std::uint32_t) const { return kept == KeptUntil::input_gradient ? 1 : 0; }
  double after_weight(std::uint32_t) const { return kept == KeptUntil::input_gradient ? 0 : 1; }
};

template <class Sizes>
double allocated(const Sizes& sizes, Op op) {
  const std::uint32_t s = op.stage();
  return op.kind() == OpKind::forward ? sizes.after_input(s) + sizes.after_weight(s) : 0;
}

template <class Sizes>
double freed(const Sizes& sizes, Op op) {
  const std::uint32_t s = op.stage();
  switch (op.kind()) {
    case OpKind::forward:
      return 0;
    case OpKind::backward:
      return sizes.after_input(s) + sizes.after_weight(s);
    case OpKind::backward_input:
      return sizes.after_input(s);
    case OpKind::backward_weight:
      return sizes.after_weight(s);
  }
  return 0;
}

// Calls at_start(op, amount) and at_end(op, amount) for the operations of a device, overlapped pairs as one.
template <class Sizes, class AtStart, class AtEnd>
void walk(const Orders& orders, const Sizes& sizes, std::size_t device, AtStart at_start, AtEnd at_end) {
  double amount = 0;
  for (std::uint32_t i = orders.first[device]; i < orders.first[device + 1]; ++i) {
    const std::uint32_t first = i;
    amount += allocated(sizes, orders.ops[i]);
    if (orders.ops[i].joined_with_next()) amount += allocated(sizes, orders.ops[++i]);
    at_start(first, amount);
    amount -= freed(sizes, orders.ops[first]);
    if (i != first) amount -= freed(sizes, orders.ops[i]);
    at_end(first, amount);
  }
}

}  // namespace

void peak_microbatches(const Orders& orders, KeptUntil kept, std::vector<double>& out) {
  out.assign(orders.devices(), 0);
  for (std::size_t r = 0; r < out.size(); ++r)  // counted in whole chunks, divided at the end
    walk(
        orders, WholeChunks{kept}, r, [&](std::uint32_t, double amount) { out[r] = std::max(out[r], amount); },
        [](std::uint32_t, double) {});
  for (double& most : out) most /= orders.passes_per_device;
}

void memory_trace(const Orders& orders, const PipelineTimes& times, const Timeline& timeline,
                  const ActivationSizes& sizes, std::uint32_t device, std::vector<MemoryPoint>& out) {
  out.clear();
  out.push_back({0, 0});
  const auto add = [&out](Tick time, double amount) {
    if (out.back().amount == amount) return;
    if (out.back().time == time)
      out.back().amount = amount;
    else
      out.push_back({time, amount});
  };
  walk(
      orders, Listed{sizes}, device, [&](std::uint32_t op, double amount) { add(timeline.start[op], amount); },
      [&](std::uint32_t op, double amount) { add(op_end(orders, times, timeline, op), amount); });
}

}  // namespace roofscape::engine
