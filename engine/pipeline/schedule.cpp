#include "engine/pipeline/schedule.h"

#include <array>

#include "engine/pipeline/order_writer.h"

namespace roofscape::engine {
namespace {

constexpr std::array<std::string_view, kScheduleKinds> kIds = {
    "gpipe", "1f1b",  "eager-1f1b", "interleaved-1f1b", "looped-bfs",
    "zb-h1", "zb-h2", "zb-v",       "dualpipe",         "dualpipev"};

bool folds_to_v(ScheduleKind kind) { return kind == ScheduleKind::zb_v || kind == ScheduleKind::dualpipe_v; }

void write_device(ScheduleKind kind, const orders::DeviceShape& shape, orders::OrderWriter& out) {
  const std::uint32_t after = shape.devices - 1 - shape.device;
  switch (kind) {
    case ScheduleKind::gpipe:
      return orders::write_gpipe(shape, out);
    case ScheduleKind::one_f_one_b:
      return orders::write_one_f_one_b(shape, after, out);
    case ScheduleKind::eager_1f1b:
      return orders::write_one_f_one_b(shape, 2 * after, out);
    case ScheduleKind::interleaved_1f1b:
      return orders::write_interleaved(shape, out);
    case ScheduleKind::looped_bfs:
      return orders::write_breadth_first(shape, out);
    case ScheduleKind::zb_h1:
      return orders::write_zb_h1(shape, out);
    case ScheduleKind::zb_h2:
      return orders::write_zb_h2(shape, out);
    case ScheduleKind::zb_v:
      return orders::write_zb_v(shape, out);
    case ScheduleKind::dualpipe:
      return orders::write_dualpipe(shape, out);
    case ScheduleKind::dualpipe_v:
      return orders::write_dualpipe_v(shape, out);
  }
}

void place_stages(const ScheduleShape& shape, std::vector<std::uint16_t>& device_of) {
  const int p = shape.stages;
  const bool turns = folds_to_v(shape.kind) || shape.kind == ScheduleKind::dualpipe;
  for (std::size_t s = 0; s < device_of.size(); ++s) {
    const int position = static_cast<int>(s) % p;
    const bool backwards = turns && static_cast<int>(s) >= p;
    device_of[s] = static_cast<std::uint16_t>(backwards ? p - 1 - position : position);
  }
}

}  // namespace

std::string_view schedule_id(ScheduleKind kind) {
  const auto i = static_cast<std::size_t>(kind);
  return i < kIds.size() ? kIds[i] : std::string_view{};
}

std::optional<ScheduleKind> parse_schedule(std::string_view id) {
  for (std::size_t i = 0; i < kIds.size(); ++i)
    if (kIds[i] == id) return static_cast<ScheduleKind>(i);
  return std::nullopt;
}

int default_virtual_stages(ScheduleKind kind) {
  const bool loops = kind == ScheduleKind::interleaved_1f1b || kind == ScheduleKind::looped_bfs;
  return loops || folds_to_v(kind) ? 2 : 1;
}

bool splits_backward(ScheduleKind kind) { return kind >= ScheduleKind::zb_h1; }

bool overlaps_forward_backward(ScheduleKind kind) { return kind >= ScheduleKind::dualpipe; }

int passes_per_device(const ScheduleShape& shape) { return shape.virtual_stages; }

int virtual_stage_count(const ScheduleShape& shape) {
  return shape.stages * (shape.kind == ScheduleKind::dualpipe ? 2 : shape.virtual_stages);
}

void make_orders(const ScheduleShape& shape, Orders& out) {
  out.first.clear();
  out.ops.clear();
  out.device_of.clear();
  out.microbatches = out.route_length = 0;
  out.passes_per_device = 1;
  if (!check_schedule(shape)) return;

  const auto p = static_cast<std::uint32_t>(shape.stages), m = static_cast<std::uint32_t>(shape.microbatches);
  const auto v = static_cast<std::uint32_t>(shape.virtual_stages);
  const auto group = shape.group_size > 0 ? static_cast<std::uint32_t>(shape.group_size) : p;
  out.microbatches = m;
  out.route_length = p * v;
  out.passes_per_device = v;
  out.device_of.resize(static_cast<std::size_t>(virtual_stage_count(shape)));
  place_stages(shape, out.device_of);

  // A forward, a backward and at most a weight gradient of each microbatch on each of its stages.
  const std::size_t most = std::size_t{p} * v * m * (splits_backward(shape.kind) ? 3 : 2);
  out.ops.resize(most);
  out.first.reserve(std::size_t{p} + 1);
  orders::OrderWriter writer(out);
  out.first.push_back(0);
  for (std::uint32_t r = 0; r < p; ++r) {
    write_device(shape.kind, {r, p, m, v, group}, writer);
    out.first.push_back(static_cast<std::uint32_t>(writer.size()));
  }
  out.ops.resize(writer.size());
}

}  // namespace roofscape::engine
