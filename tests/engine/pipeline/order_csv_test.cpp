// Orders as torch's CSV: read, checked and written.
#include "engine/pipeline/order_csv.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "engine/pipeline/simulate.h"
#include "tests/engine/pipeline/pipeline_fixture.h"

namespace roofscape::engine {
namespace {

using test::words_of;

bool same(const Orders& a, const Orders& b) {
  return a.first == b.first && a.ops == b.ops && a.device_of == b.device_of && a.microbatches == b.microbatches &&
         a.route_length == b.route_length && a.passes_per_device == b.passes_per_device;
}

Timeline run(const Orders& orders, const PipelineTimes& times) {
  SimulationScratch scratch;
  Timeline timeline;
  REQUIRE(simulate(orders, times, scratch, timeline).finished());
  return timeline;
}

std::string fault(const char* csv, std::uint32_t microbatches = 0) {
  OrderFromCsv read;
  const auto found = read_order_csv(csv, microbatches, read);
  return found ? words_of(*found) : std::string();
}

// 1F1B of two stages.
constexpr const char* kGood = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n";

}  // namespace

TEST_CASE("every schedule comes back from its CSV as it went, with the same Gantt") {
  for (const ScheduleKind kind : kSchedules)
    for (const int p : {2, 4, 8}) {
      CAPTURE(schedule_id(kind));
      CAPTURE(p);
      ScheduleShape shape{kind, p, 4 * p, default_virtual_stages(kind)};
      REQUIRE(check_schedule(shape));
      Orders orders;
      make_orders(shape, orders);
      OrderFromCsv read;
      const auto found = read_order_csv(order_csv(orders), 0, read);
      CHECK_FALSE(found);
      if (found) continue;
      CHECK(same(read.orders, orders));
      const PipelineTimes times = even_times(shape, 800, 1000, 600, 20, overlaps_forward_backward(kind) ? 2000 : 0);
      const Timeline own = run(orders, times), from_file = run(read.orders, times);
      CHECK(own.start == from_file.start);
      CHECK(own.makespan == from_file.makespan);
    }
}

TEST_CASE("the CSV of torch's interleaved 1F1B of two ranks is the built-in order") {
  // As torch prints it, on its grid of time steps.
  constexpr const char* kTorch =
      "0F0,0F1,2F0,2F1,0F2,2B0,0F3,2B1,2F2,0B0,2F3,0B1,,2B2,,2B3,,0B2,,0B3\r\n"
      ",1F0,1F1,3F0,3B0,3F1,3B1,1F2,1B0,1F3,1B1,3F2,3B2,3F3,3B3,1B2,,1B3,,\r\n";
  OrderFromCsv read;
  const auto found = read_order_csv(kTorch, 0, read);
  CAPTURE((found ? words_of(*found) : std::string()));
  REQUIRE_FALSE(found);
  Orders orders;
  make_orders({ScheduleKind::interleaved_1f1b, 2, 4, 2}, orders);
  CHECK(order_csv(read.orders) == order_csv(orders));
  CHECK(same(read.orders, orders));
}

TEST_CASE("cells that move data, blanks and quotes are passed over, and counted") {
  OrderFromCsv read;
  REQUIRE_FALSE(
      read_order_csv("0UNSHARD, \"0F0\",0SEND_F0,0F1,,0RECV_B0,0I0,0W0,0B1,0REDUCE_GRAD\r\n"
                     "1RECV_F0,1F0,1B0,,1SEND_B0,1F1,1B1,1RESHARD\r\n\r\n",
                     0, read));
  CHECK(read.dropped == 7);
  CHECK(order_csv(read.orders) == "0F0,0F1,0I0,0W0,0B1\n1F0,1B0,1F1,1B1\n");
}

TEST_CASE("a pair is written as torch writes it and read in either sequence") {
  OrderFromCsv read;
  for (const char* cell : {"(0F1;0B0)OVERLAP_F_B", "(0B0;0F1)OVERLAP_F_B"}) {
    REQUIRE_FALSE(read_order_csv("0F0," + std::string(cell) + ",0B1\n", 0, read));
    CHECK(order_csv(read.orders) == "0F0,(0F1;0B0)OVERLAP_F_B,0B1\n");
  }
}

TEST_CASE("what is wrong with an order is one line with row and column") {
  CHECK(fault(kGood).empty());
  CHECK(fault(kGood, 2).empty());
  const std::pair<const char*, const char*> wrong[] = {
      {"", "row 1, column 1: no operation stands in the file"},
      {"0F0,0X0\n", "row 1, column 2: \"0X0\" is no operation; such as 2F0: stage, one of F B I W, microbatch"},
      {"0F0,(0F1;0I0)OVERLAP_F_B\n",
       "row 1, column 2: \"(0F1;0I0)OVERLAP_F_B\" is no pair; such as (0F1;1B0)OVERLAP_F_B: a forward and a whole "
       "backward"},
      {"0F0,0F1,0B0,0B1\n1F0,1B0,1F1\n", "row 2, column 3: 1F1 stands here, and 1B1 is missing"},
      {"0F0,0F1,0B0,0I1\n1F0,1B0,1F1,1B1\n", "row 1, column 4: 0I1 stands here, and 0W1 is missing"},
      {"0F0,0F1,0B0,0B1\n1F0,1B0\n", "row 2, column 3: 1F1 is missing in this row"},
      {"0F0,0F1,0B0,0F1,0B1\n1F0,1B0,1F1,1B1\n", "row 1, column 4: 0F1 stands a second time, first in column 2"},
      {"0F0,0B0,0I0\n", "row 1, column 3: 0I0 stands beside 0B0: a backward is whole (B) or in two parts (I and W)"},
      {"0F0,0B0\n2F0,2B0\n", "row 2, column 1: 2F0 is of stage 2, and no row holds stage 1"},
      {"0F0,0B0\n0F1,0B1\n", "row 2, column 1: 0F1 is of stage 0, which row 1 holds"},
      {"0F0,0F1,0B1,0B0\n1F0,1B0,1F1,1B1\n", ""},
      {"0B0,0F0\n", "row 1, column 1: 0B0 waits for 0F0, which cannot run before it: the rows wait for each other"},
      {"0F0,0B0,0F1,0B1\n1F1,1F0,1B0,1B1\n",
       "row 1, column 2: 0B0 waits for 1B0, which cannot run before it: the rows wait for each other"},
  };
  for (const auto& one : wrong) {
    CAPTURE(std::string(one.first));
    CHECK(fault(one.first) == one.second);
  }
  const auto rows = [](int count) {
    std::string csv;
    for (int s = 0; s < count; ++s) csv += std::to_string(s) + "F0," + std::to_string(s) + "B0\n";
    return csv;
  };
  CHECK(fault(rows(1024).c_str()).empty());
  CHECK(fault(rows(1025).c_str()) == "row 1025, column 1: a pipeline has 1024 devices at most");
  CHECK(fault("0F0,0F2,0B0,0B2\n", 2) == "row 1, column 2: 0F2 is of microbatch 2, and the step has 2: 0 to 1");
}

}  // namespace roofscape::engine
