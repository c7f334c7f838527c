// Orders as such: every operation exactly once, on the device that holds its stage, within the memory of a schedule.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <tuple>

#include "tests/engine/pipeline/pipeline_fixture.h"

using namespace roofscape::engine;
using namespace roofscape::engine::test;

namespace {

// Empty, or what is wrong.
std::string defect(const Orders& orders) {
  const std::size_t directions = orders.device_of.size() / orders.route_length;
  std::set<std::tuple<std::uint32_t, std::uint32_t, OpKind>> seen;
  for (std::uint32_t r = 0; r < orders.devices(); ++r)
    for (std::uint32_t i = orders.first[r]; i < orders.first[r + 1]; ++i) {
      const Op op = orders.ops[i];
      if (op.stage() >= orders.device_of.size() || op.microbatch() >= orders.microbatches) return "out of range";
      if (orders.device_of[op.stage()] != r) return "on a device that does not hold the stage";
      if (!seen.insert({op.stage(), op.microbatch(), op.kind()}).second) return "twice";
    }
  const std::uint32_t per_direction = orders.microbatches / static_cast<std::uint32_t>(directions);
  for (std::uint32_t s = 0; s < orders.device_of.size(); ++s) {
    const std::uint32_t first = s / orders.route_length * per_direction;
    for (std::uint32_t k = first; k < first + per_direction; ++k) {
      const bool whole = seen.erase({s, k, OpKind::backward}) == 1;
      const bool input = seen.erase({s, k, OpKind::backward_input}) == 1;
      const bool weight = seen.erase({s, k, OpKind::backward_weight}) == 1;
      if (seen.erase({s, k, OpKind::forward}) != 1) return "no forward";
      if (whole ? input || weight : !input || !weight) return "not one whole or one split backward";
    }
  }
  return seen.empty() ? "" : "a microbatch on a way that is not its own";
}

std::string text(const Orders& orders, std::uint32_t device, bool stages = false) {
  static const char* const names[] = {"F", "BW", "B", "W"};
  std::string out;
  for (std::uint32_t i = orders.first[device]; i < orders.first[device + 1]; ++i) {
    const Op op = orders.ops[i];
    out += names[static_cast<int>(op.kind())] + std::to_string(op.microbatch());
    if (stages) out += "." + std::to_string(op.stage());
    if (i + 1 < orders.first[device + 1]) out += op.joined_with_next() ? "&" : " ";
  }
  return out;
}

Orders orders_of(const ScheduleShape& shape) {
  Orders orders;
  make_orders(shape, orders);
  return orders;
}

}  // namespace

TEST_CASE("schedule ids read back to the schedule they name") {
  for (const ScheduleKind kind : kSchedules) CHECK(parse_schedule(schedule_id(kind)) == kind);
}

TEST_CASE("an unknown schedule id names no schedule") {
  CHECK_FALSE(parse_schedule("zb-h3").has_value());
  CHECK_FALSE(parse_schedule("").has_value());
}

TEST_CASE("an op keeps the largest stage and microbatch it is given") {
  const Op op(OpKind::backward_weight, (1u << 29) - 1, 0xffffffffu, true);
  CHECK(op.kind() == OpKind::backward_weight);
  CHECK(op.stage() == (1u << 29) - 1);
  CHECK(op.microbatch() == 0xffffffffu);
  CHECK(op.joined_with_next());
}

TEST_CASE("every schedule runs every operation exactly once on the device that holds it") {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const ScheduleShape shape = random_shape(random, schedule_in_turn(i));
    CAPTURE(schedule_id(shape.kind));
    CAPTURE(shape.stages);
    CAPTURE(shape.microbatches);
    CAPTURE(shape.virtual_stages);
    CAPTURE(shape.group_size);
    CHECK(defect(orders_of(shape)) == "");
  }
}

TEST_CASE("an illegal shape leaves the order empty") {
  Orders orders = orders_of(shape_of(ScheduleKind::gpipe, 4, 8));
  make_orders(shape_of(ScheduleKind::zb_h1, 16, 18, 2), orders);
  CHECK(orders.ops.empty());
  CHECK(orders.devices() == 0);
}

TEST_CASE("making an order again in the same vectors gives the same order") {
  Orders reused = orders_of(shape_of(ScheduleKind::dualpipe, 8, 32));
  const ScheduleShape shape = shape_of(ScheduleKind::zb_v, 3, 7);
  make_orders(shape, reused);
  const Orders fresh = orders_of(shape);
  CHECK(reused.ops == fresh.ops);
  CHECK(reused.first == fresh.first);
  CHECK(reused.device_of == fresh.device_of);
}

TEST_CASE("looped chunks are dealt out round the devices") {
  CHECK(orders_of(shape_of(ScheduleKind::interleaved_1f1b, 3, 3, 2)).device_of ==
        std::vector<std::uint16_t>{0, 1, 2, 0, 1, 2});
}

TEST_CASE("the second chunk of a V comes back through the devices") {
  CHECK(orders_of(shape_of(ScheduleKind::zb_v, 3, 5)).device_of == std::vector<std::uint16_t>{0, 1, 2, 2, 1, 0});
}

TEST_CASE("the second direction of DualPipe starts at the last device") {
  CHECK(orders_of(shape_of(ScheduleKind::dualpipe, 4, 8)).device_of ==
        std::vector<std::uint16_t>{0, 1, 2, 3, 3, 2, 1, 0});
}

TEST_CASE("1F1B on the last device alternates from the start") {
  CHECK(text(orders_of(shape_of(ScheduleKind::one_f_one_b, 3, 3)), 2) == "F0 BW0 F1 BW1 F2 BW2");
}

TEST_CASE("ZB-H1 puts weight gradients off by the number of the device") {
  CHECK(text(orders_of(shape_of(ScheduleKind::zb_h1, 2, 3)), 1) == "F0 B0 F1 B1 W0 F2 B2 W1 W2");
}

TEST_CASE("a group larger than the stages keeps a chunk running longer") {
  ScheduleShape shape = shape_of(ScheduleKind::interleaved_1f1b, 2, 6, 2);
  shape.group_size = 4;  // the last group has the two that are left
  const Orders orders = orders_of(shape);
  std::string forwards;
  for (std::uint32_t i = orders.first[1]; i < orders.first[2]; ++i)
    if (orders.ops[i].kind() == OpKind::forward)
      forwards += std::to_string(orders.ops[i].microbatch()) + "." + std::to_string(orders.ops[i].stage()) + " ";
  CHECK(forwards == "0.1 1.1 2.1 3.1 0.3 1.3 2.3 3.3 4.1 5.1 4.3 5.3 ");
}

TEST_CASE("ZB-V below 2p-1 microbatches is the longer order without the missing ones") {
  const Orders orders = orders_of(shape_of(ScheduleKind::zb_v, 2, 1));
  CHECK(text(orders, 0, true) == "F0.0 F0.3 B0.3 W0.3 B0.0 W0.0");
}

TEST_CASE("the turning point of DualPipe runs its first forward and backward apart") {
  const Orders orders = orders_of(shape_of(ScheduleKind::dualpipe, 2, 4));
  CHECK(text(orders, 0, true) == "F0.0 F2.3 F1.0 BW2.3 F3.3&BW0.0 BW3.3 B1.0 W1.0");
}

TEST_CASE("an overlapped pair is a forward and the whole backward of another microbatch") {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    const ScheduleShape shape = random_shape(random, i % 2 == 0 ? ScheduleKind::dualpipe : ScheduleKind::dualpipe_v);
    const Orders orders = orders_of(shape);
    for (std::size_t j = 0; j < orders.ops.size(); ++j) {
      if (!orders.ops[j].joined_with_next()) continue;
      CHECK(orders.ops[j].kind() == OpKind::forward);
      CHECK(orders.ops[j + 1].kind() == OpKind::backward);
      CHECK(orders.ops[j].stage() != orders.ops[j + 1].stage());
    }
  }
}
