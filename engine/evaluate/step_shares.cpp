#include "engine/evaluate/step_shares.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>

namespace roofscape::engine {

StepShares step_shares(const Report& report) {
  StepShares out;
  const auto& q = report.quantities;
  const double step = q.value_or(Q::step_time, 0);
  if (!(step > 0)) return out;
  std::array<StepShare, 5 + kAxisCount> all{};
  std::size_t n = 0;
  const auto add = [&](BoundKind kind, Axis axis, std::initializer_list<Q> parts) {
    double seconds = 0;
    for (const Q part : parts) seconds += q.value_or(part, 0);
    if (!(seconds > 0)) return;
    all[n] = {kind, axis, seconds, seconds / step, {}};
    for (const Q part : parts) all[n].parts.push_back(part);
    ++n;
  };
  if (updates_by_products(q.value_or(Q::muon_products, 0), q.value_or(Q::step_optimizer, 0))) {
    add(BoundKind::compute, Axis::data, {Q::step_matmul, Q::step_attention, Q::step_recompute, Q::step_optimizer});
    add(BoundKind::hbm, Axis::data, {Q::step_hbm});
  } else {
    add(BoundKind::compute, Axis::data, {Q::step_matmul, Q::step_attention, Q::step_recompute});
    add(BoundKind::hbm, Axis::data, {Q::step_hbm, Q::step_optimizer});
  }
  for (std::size_t i = 0; i < kExposedParts.size(); ++i)
    add(BoundKind::mesh_axis, static_cast<Axis>(i), {kExposedParts[i]});
  add(BoundKind::bubble, Axis::data, {Q::step_bubble});
  add(BoundKind::host, Axis::data, {Q::step_host});
  add(BoundKind::offload, Axis::data, {Q::step_offload});
  std::stable_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n),
                   [](const StepShare& a, const StepShare& b) { return a.seconds > b.seconds; });
  for (std::size_t i = 0; i < n; ++i) out.push_back(all[i]);
  return out;
}

double compute_share(const Report& report) {
  for (const StepShare& group : step_shares(report))
    if (group.kind == BoundKind::compute) return group.share;
  return 0;
}

}  // namespace roofscape::engine
