#include "engine/pipeline/given_order.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/pipeline/order_rules.h"

namespace roofscape::engine {
namespace {

struct Traits {
  bool splits = false, overlaps = false;
};

Traits traits_of(const Orders& orders) {
  Traits out;
  for (const Op op : orders.ops) {
    out.splits = out.splits || op.kind() == OpKind::backward_input;
    out.overlaps = out.overlaps || op.joined_with_next();
  }
  return out;
}

// Whether a schedule has its stages where these are and can do what they do.
bool can_run(ScheduleKind kind, const Orders& orders, Traits traits) {
  const ScheduleFacts& facts = facts_of(kind);
  if ((traits.splits && !facts.splits_backward) || (traits.overlaps && !facts.overlaps)) return false;
  const ScheduleShape shape{kind, static_cast<int>(orders.devices()), static_cast<int>(orders.microbatches),
                            static_cast<int>(orders.passes_per_device), 0};
  if (facts.fixed_chunks != kAnyChunks && facts.fixed_chunks != shape.virtual_stages) return false;
  if (facts.placement == StagePlacement::both_ways && orders.devices() % 2 != 0) return false;
  if (static_cast<std::size_t>(virtual_stage_count(shape)) != orders.device_of.size()) return false;
  std::vector<std::uint16_t> device_of;
  place_stages(shape, device_of);
  return device_of == orders.device_of;
}

// Of all moments those that are the most of something, whatever a put-off gradient takes: the corners of their hull.
HeldMoments outermost(std::vector<HeldMicrobatches> points) {
  std::sort(points.begin(), points.end(), [](const HeldMicrobatches& a, const HeldMicrobatches& b) {
    return a.all != b.all ? a.all > b.all : a.postponed > b.postponed;
  });
  std::vector<HeldMicrobatches> hull;
  for (const HeldMicrobatches& p : points) {
    if (!hull.empty() && p.postponed <= hull.back().postponed) continue;
    while (hull.size() >= 2) {
      const HeldMicrobatches &a = hull[hull.size() - 2], &b = hull.back();
      const bool corner =
          (b.postponed - a.postponed) * (a.all - p.all) > (p.postponed - a.postponed) * (a.all - b.all);
      if (corner) break;
      hull.pop_back();
    }
    hull.push_back(p);
  }
  // More than there is room for: the last ones become one that is as much as any of them.
  while (hull.size() > HeldMoments::capacity()) {
    hull[hull.size() - 2].postponed = hull.back().postponed;
    hull.pop_back();
  }
  HeldMoments out;
  for (const HeldMicrobatches& p : hull) out.push_back(p);
  return out;
}

HeldMoments moments_of(const Orders& orders, std::size_t device) {
  const double passes = orders.passes_per_device;
  std::int64_t held = 0, postponed = 0;
  std::vector<HeldMicrobatches> points;
  for (std::uint32_t i = orders.first[device]; i < orders.first[device + 1]; ++i) {
    switch (orders.ops[i].kind()) {
      case OpKind::forward:
        ++held;
        break;
      case OpKind::backward:
        --held;
        break;
      case OpKind::backward_input:
        ++postponed;
        break;
      case OpKind::backward_weight:
        --held, --postponed;
        break;
    }
    points.push_back({static_cast<double>(held) / passes, static_cast<double>(postponed) / passes});
  }
  return outermost(std::move(points));
}

// Row and column of the first pair, as the text of the order counts them.
OrderFault at_first_pair(const Orders& orders, Sentence message) {
  for (std::size_t device = 0; device < orders.devices(); ++device) {
    std::size_t column = 1;
    for (std::uint32_t i = orders.first[device]; i < orders.first[device + 1]; ++i, ++column)
      if (orders.ops[i].joined_with_next()) return {device + 1, column, std::move(message)};
  }
  return {1, 1, std::move(message)};
}

}  // namespace

bool GivenOrder::same(const GivenOrder& a, const GivenOrder& b) {
  return a.order_ != nullptr && b.order_ != nullptr && a.order_->kind == b.order_->kind &&
         a.order_->csv == b.order_->csv;
}

ListedOrderResult read_listed_order(std::string_view csv, std::optional<ScheduleKind> wanted) {
  OrderFromCsv read;
  if (auto fault = read_order_csv(csv, 0, read)) return {{}, std::move(fault)};
  auto out = std::make_shared<ListedOrder>();
  Orders& orders = read.orders;
  const auto kind = stood_for(orders, wanted);
  if (!kind) return {{}, OrderFault{1, 1, say("error.order.placement")}};
  out->kind = *kind;
  out->stages = static_cast<int>(orders.devices());
  out->microbatches = static_cast<int>(orders.microbatches);
  out->virtual_stages = static_cast<int>(orders.passes_per_device);
  const ScheduleShape shape{out->kind, out->stages, out->microbatches, out->virtual_stages};
  const auto partners = static_cast<std::size_t>(pair_partners(shape));
  out->pairs.resize(orders.device_of.size() * partners);
  for (std::size_t i = 0; i < orders.ops.size(); ++i) {
    if (!orders.ops[i].joined_with_next()) continue;
    const std::size_t stage = orders.ops[i].stage(), other = orders.ops[i + 1].stage();
    const std::size_t nth = partners == 1 ? 0 : other / orders.devices();
    if (std::cmp_not_equal(pair_partner(shape, static_cast<int>(stage), static_cast<int>(nth)), other))
      return {{}, at_first_pair(orders, say("error.order.pair_stages"))};
    ++out->pairs[stage * partners + nth];
  }
  for (std::size_t device = 0; device < orders.devices(); ++device)
    out->moments.push_back(moments_of(orders, device));
  out->dropped = read.dropped;
  out->csv = order_csv(orders);
  out->orders = std::move(orders);
  return {GivenOrder(std::move(out)), std::nullopt};
}

std::optional<ScheduleKind> stood_for(const Orders& orders, std::optional<ScheduleKind> wanted) {
  constexpr std::array kByPlainness{
      ScheduleKind::one_f_one_b, ScheduleKind::interleaved_1f1b, ScheduleKind::zb_h1,          ScheduleKind::zb_v,
      ScheduleKind::dualpipe_v,  ScheduleKind::dualpipe,         ScheduleKind::overlapped_1f1b};
  const Traits traits = traits_of(orders);
  if (wanted && can_run(*wanted, orders, traits)) return wanted;
  for (const ScheduleKind kind : kByPlainness)
    if (can_run(kind, orders, traits)) return kind;
  return std::nullopt;
}

GivenOrder order_of(const GivenOrder& order, const ScheduleShape& shape) {
  const bool fits = order && order->kind == shape.kind && order->stages == shape.stages &&
                    order->microbatches == shape.microbatches && order->virtual_stages == shape.virtual_stages;
  return fits ? order : GivenOrder();
}

// ---- in the place of a schedule's own rules ----

namespace orders {
namespace {

double held_by_list(const ScheduleShape& shape, int device) {
  return shape.order->moments[static_cast<std::size_t>(device)].front().all;
}
HeldMoments moments_by_list(const ScheduleShape& shape, int device) {
  return shape.order->moments[static_cast<std::size_t>(device)];
}
void pairs_by_list(const ScheduleShape& shape, int virtual_stage, std::span<std::int64_t> counts) {
  const auto first = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(virtual_stage) * counts.size());
  std::copy_n(shape.order->pairs.begin() + first, counts.size(), counts.begin());
}

// No device is done before it did all it has to do.
Tick bound_with_pairs(const ScheduleShape& shape, const PipelineTimes& times) {
  std::vector<Tick> work(static_cast<std::size_t>(shape.stages), 0);
  add_work(shape, times, work);
  return *std::max_element(work.begin(), work.end());
}

}  // namespace

extern const OrderRules by_list{
    .write = nullptr, .in_flight = held_by_list, .moments = moments_by_list, .pairs = pairs_by_list};
extern const OrderRules by_list_with_pairs{.write = nullptr,
                                           .in_flight = held_by_list,
                                           .moments = moments_by_list,
                                           .pairs = pairs_by_list,
                                           .lower_bound = bound_with_pairs};

}  // namespace orders
}  // namespace roofscape::engine
