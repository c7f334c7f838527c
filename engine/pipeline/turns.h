// How an order is gone through, whether to run it (order_run.cpp) or to make it ready to run (run_plan.cpp). In rounds,
// each device takes a turn of a few operations, which ends early where a result that it reads is not there yet. What is
// left after a round in which no device ran any is a deadlock. Rounds are as regular as the schedule, so that branches are
// predicted: to call back the devices that wait, and ask no others, cost a fifth more. For these two files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "engine/pipeline/schedule.h"

namespace roofscape::engine {

// Operations of a turn. Few enough that the devices' operations mix, so that neighbours seldom wait for each other;
// enough that what is read together lies together in memory.
inline constexpr std::uint32_t kTurn = 4;

// `line`: working memory, the devices in the order in which they take their turns. `run_turn` says whether any operation
// of the device ran.
template <class RunTurn>
void take_turns(std::vector<std::uint32_t>& line, std::size_t devices, RunTurn&& run_turn) {
  line.resize(devices);
  std::iota(line.begin(), line.end(), 0u);
  for (std::size_t ran = devices; ran > 0;) {
    ran = 0;
    for (const std::uint32_t device : line) ran += run_turn(device) ? 1 : 0;
    // Where few ran, they may wait against the direction of the round.
    if (ran < devices / 4) std::reverse(line.begin(), line.end());
  }
}

// Where results are looked up: in rows, one for each place on the way of a microbatch, with an entry for each microbatch. A
// microbatch passes 2L places: the forwards of its L stages at places 0 .. L-1, then their backwards at L .. 2L-1 (the
// backward of stage s at 2L-1-s). The operation at place q reads row q and writes row q + 1; every entry has one reader. A
// second direction has rows of its own; what nobody reads goes to one more.
class ResultRows {
 public:
  explicit ResultRows(const Orders& orders)
      : length_(orders.route_length), directions_(orders.device_of.size() / orders.route_length) {}
  std::size_t count() const { return unread() + 1; }
  std::size_t unread() const { return directions_ * of_direction(); }
  std::size_t directions() const { return directions_; }
  // What the first stage reads, which is there from the beginning.
  std::size_t given(std::size_t direction) const { return direction * of_direction(); }
  // That a forward reads, and a backward or input gradient.
  std::size_t read_forth(std::size_t stage) const { return given(stage / length_) + stage % length_; }
  std::size_t read_back(std::size_t stage) const {
    return given(stage / length_) + 2 * length_ - 1 - stage % length_;
  }

 private:
  std::size_t of_direction() const { return 2 * length_ + 1; }
  std::size_t length_, directions_;
};

}  // namespace roofscape::engine
