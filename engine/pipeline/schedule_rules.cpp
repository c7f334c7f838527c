// Which shapes are legal, and the nearest legal value where one is not.
#include <algorithm>

#include "engine/pipeline/schedule.h"

namespace roofscape::engine {
namespace {

// Megatron-LM's rule for groups, and torch's for fewer microbatches than stages.
bool group_fills(int group, int microbatches, int stages) {
  if (microbatches < stages) return group == microbatches;
  if (group < stages || group > microbatches) return false;
  const int rest = microbatches % group;
  return rest == 0 || rest >= stages;
}

// Of orders that are made and run: a report of one, and the dozens of nearby plans that are offered where it does not fit,
// take a hundred bytes an operation and some tenths of a microsecond each. Files may list as many as kMaxOps.
constexpr std::int64_t kMostRun = std::int64_t{1} << 21;
static_assert(kMostRun <= kMaxOps);

std::int64_t largest_count(const ScheduleShape& shape) {  // microbatches that keep the order at kMostRun
  const std::int64_t per_microbatch =
      std::int64_t{shape.stages} * shape.virtual_stages * (splits_backward(shape.kind) ? 3 : 2);
  return kMostRun / per_microbatch;
}

ScheduleStatus broken(ScheduleRule rule, ShapeField field, std::int64_t value, std::int64_t below,
                      std::int64_t above) {
  return {rule, field, static_cast<int>(value), static_cast<int>(below), static_cast<int>(above)};
}

ScheduleStatus check_stages(const ScheduleShape& shape) {
  const int p = shape.stages;
  const bool even = facts_of(shape.kind).placement == StagePlacement::both_ways;
  if (p < 1) return broken(ScheduleRule::stages_positive, ShapeField::stages, p, 0, even ? 2 : 1);
  if (even && p % 2 != 0)
    return broken(ScheduleRule::stages_even, ShapeField::stages, p, p - 1, p < kMaxVirtualStages ? p + 1 : 0);
  const int most = kMaxVirtualStages / std::max(2, facts_of(shape.kind).fixed_chunks);
  if (p > most) return broken(ScheduleRule::too_large, ShapeField::stages, p, most, 0);
  return {};
}

ScheduleStatus check_virtual_stages(const ScheduleShape& shape) {
  const int v = shape.virtual_stages, required = facts_of(shape.kind).fixed_chunks;
  if (required != kAnyChunks && v != required)
    return broken(required == 1 ? ScheduleRule::one_chunk : ScheduleRule::two_chunks, ShapeField::virtual_stages, v,
                  v > required ? required : 0, v < required ? required : 0);
  if (v < 1) return broken(ScheduleRule::virtual_stages_positive, ShapeField::virtual_stages, v, 0, 1);
  if (v > kMaxVirtualStages / shape.stages)
    return broken(ScheduleRule::too_large, ShapeField::virtual_stages, v, kMaxVirtualStages / shape.stages, 0);
  return {};
}

ScheduleStatus check_microbatches(const ScheduleShape& shape) {
  const std::int64_t m = shape.microbatches, p = shape.stages;
  const ScheduleFacts& facts = facts_of(shape.kind);
  const std::int64_t least = facts.least_microbatches.of(p), most = largest_count(shape);
  const bool multiple = facts.chunks_fill_stages && shape.virtual_stages > 1;
  const bool even = facts.placement == StagePlacement::both_ways;
  const std::int64_t step = multiple ? p : even ? 2 : 1;
  // Nearest legal values, or none where the smallest legal step is already too large.
  const std::int64_t last = most - most % step;
  const std::int64_t fewest = std::max(least, step);
  const std::int64_t first = fewest <= last ? fewest : 0;
  if (m < 1) return broken(ScheduleRule::microbatches_positive, ShapeField::microbatches, m, 0, first);
  if (m < least) return broken(ScheduleRule::microbatches_at_least, ShapeField::microbatches, m, 0, first);
  if (m > most) return broken(ScheduleRule::too_large, ShapeField::microbatches, m, first > 0 ? last : 0, 0);
  if (m % step != 0)
    return broken(even ? ScheduleRule::microbatches_even : ScheduleRule::microbatches_fill_stages,
                  ShapeField::microbatches, m, m - m % step, m - m % step + step > last ? 0 : m - m % step + step);
  return {};
}

ScheduleStatus check_group(const ScheduleShape& shape) {
  const int p = shape.stages, m = shape.microbatches, g = shape.group_size;
  if (g == 0) return {};
  if (!facts_of(shape.kind).takes_groups)
    return broken(ScheduleRule::group_size_interleaved_only, ShapeField::group_size, g, 0, 0);
  const auto legal = [&](int group) { return group_fills(group, m, p); };
  if (legal(g)) return {};
  const int least = std::min(p, m);
  int below = std::min(g, m), above = std::max(g, least);
  while (below >= least && !legal(below)) --below;
  while (above <= m && !legal(above)) ++above;
  const bool in_range = g >= least && g <= m;
  return broken(in_range ? ScheduleRule::last_group_fills_stages : ScheduleRule::group_size_range,
                ShapeField::group_size, g, below < least ? 0 : below, above > m ? 0 : above);
}

}  // namespace

int group_under(ScheduleKind kind, int wanted, int stages, int microbatches) {
  if (wanted <= 0 || stages < 2 || !facts_of(kind).takes_groups) return 0;
  int group = std::min(std::max(wanted, std::min(stages, microbatches)), microbatches);
  while (!group_fills(group, microbatches, stages)) ++group;  // all of them in one group are legal
  return group;
}

int group_size_of(const ScheduleShape& shape) {
  if (shape.group_size > 0) return shape.group_size;
  const int m = shape.microbatches, p = shape.stages;
  if (m <= p || !facts_of(shape.kind).takes_groups) return m < p ? m : p;
  int group = p;
  while (!group_fills(group, m, p)) ++group;
  return group;
}

ScheduleStatus check_schedule(const ScheduleShape& shape) {
  if (shape.order) return {};  // it was run when it was read
  if (const ScheduleStatus status = check_stages(shape); !status) return status;
  if (const ScheduleStatus status = check_virtual_stages(shape); !status) return status;
  if (const ScheduleStatus status = check_microbatches(shape); !status) return status;
  return check_group(shape);
}

}  // namespace roofscape::engine
