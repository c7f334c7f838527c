#include "engine/pipeline/critical_chain.h"

#include <algorithm>

namespace roofscape::engine {
namespace {

// Equal ones become one, with their counts added.
template <class Counted>
void add_up(std::vector<Counted>& all) {
  std::sort(all.begin(), all.end());
  std::size_t kept = 0;
  for (const Counted& one : all) {
    if (kept > 0 && all[kept - 1].same(one))
      all[kept - 1].count += one.count;
    else
      all[kept++] = one;
  }
  all.resize(kept);
  all.shrink_to_fit();
}

// Of the halves of a pair, which send at once.
std::uint32_t longer_send(const Orders& orders, const PipelineTimes& times, std::uint32_t first) {
  const auto send = [&](std::uint32_t half) { return send_time(orders, times, orders.ops[half]); };
  return send(first + 1) > send(first) ? first + 1 : first;
}

}  // namespace

ChainCounts::ChainCounts(const Orders& orders, const PipelineTimes& times, const std::vector<CriticalStep>& path,
                         const RepeatedPath& repeated)
    : blocking_send_(times.blocking_send) {
  operations_.reserve(path.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::uint32_t op = path[i].op, first = joined_with_previous(orders, op) ? op - 1 : op;
    const Op half = orders.ops[first];
    const Tick count = 1 + (i >= repeated.first && i < repeated.last ? repeated.times_more : 0);
    operations_.push_back(
        {half.stage_and_kind(), half.joined_with_next() ? orders.ops[first + 1].stage_and_kind() : kNoOp, count});
    std::uint32_t sender = kNoOp;
    if (i + 1 < path.size()) {
      const WaitKind waited = path[i + 1].waited;
      if (waited == WaitKind::transfer || waited == WaitKind::sending) sender = op;
    } else if (blocking_send_) {
      sender = half.joined_with_next() ? longer_send(orders, times, first) : first;
    }
    if (sender == kNoOp) continue;
    const std::uint32_t from = device_of_op(orders, sender), to = receiver_of(orders, orders.ops[sender]);
    if (from != to) hops_.push_back({from, to, count});
  }
  add_up(operations_);
  add_up(hops_);
}

Tick ChainCounts::length(const PipelineTimes& times) const {
  if (blocking_send_ && !times.blocking_send) return 0;
  Tick length = 0;
  for (const Operation& operation : operations_) {
    const Tick lasts = operation.second == kNoOp
                           ? duration_of(times, operation.first / 4, static_cast<OpKind>(operation.first % 4))
                           : duration_of_pair(times, operation.first / 4, operation.second / 4);
    length += operation.count * lasts;
  }
  for (const Hop& hop : hops_) length += hop.count * times.hop(hop.from, hop.to);
  return length;
}

}  // namespace roofscape::engine
