// An order of operations that was given, from a file of torch's or written by hand, ready to take the place of the one
// that a schedule makes: what it is of, what devices hold under it, and its text. Everything else about a plan that
// runs it (where stages are, whether weight gradients are apart, whether passes overlap) is that of the schedule whose
// stages are placed alike.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/pipeline/in_flight.h"
#include "engine/pipeline/order_csv.h"

namespace roofscape::engine {

struct ListedOrder {
  Orders orders;
  ScheduleKind kind = ScheduleKind::one_f_one_b;  // the schedule it stands for
  int stages = 1, microbatches = 1, virtual_stages = 1;
  std::vector<HeldMoments> moments;  // held_moments, by device
  std::vector<std::int64_t> pairs;   // overlapped_pairs, by virtual stage and partner
  std::size_t dropped = 0;           // cells of the file that move data
  std::string csv;                   // as order_csv writes it
};

// What a CSV is an order of, or what it breaks (read_order_csv). Also refused: stages that are placed neither in turn,
// nor as a V, nor from both ends, and pairs of a V or of both ends that are not of the two stages of a device.
struct ListedOrderResult {
  GivenOrder order;
  std::optional<OrderFault> fault;  // none: `order` is there
};
// It stands for `wanted` where that can be (stood_for).
ListedOrderResult read_listed_order(std::string_view csv, std::optional<ScheduleKind> wanted = {});

// The schedule an order stands for: `wanted` where that has its stages placed so and does what it does, else the
// plainest schedule that does; none: no schedule places its stages so.
std::optional<ScheduleKind> stood_for(const Orders& orders, std::optional<ScheduleKind> wanted = {});

// The order where it is one of this shape, else none.
GivenOrder order_of(const GivenOrder& order, const ScheduleShape& shape);

}  // namespace roofscape::engine
