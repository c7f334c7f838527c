// An order made ready to run: which operation waits for which, in a sequence in which everything an operation waits
// for comes before it. It depends on the order alone. What can be wrong with an order is found here, once; simulate()
// then runs the same order with any times in one pass without a check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/pipeline/schedule.h"
#include "engine/pipeline/simulation_status.h"

namespace roofscape::engine {

struct RunPlan {
  // One operation in running order. It starts when the operation before it on its device is over and the result of
  // `producer`, on another device, has arrived. One that reads nothing from another device names itself, with a kind
  // that has no producer. An overlapped pair starts with its second half: the step of the first says when the pair
  // could start but for the second half's input, and all that waits for either half waits for the second.
  struct Step {
    std::uint32_t producer, kind;
    friend bool operator==(const Step&, const Step&) = default;
  };
  // Operations of one device that run one after the other, as they stand in its list. The steps of the first turn come
  // first, then those of the next. What comes first in a device's list has nothing before it.
  struct Turn {
    std::uint32_t first;
    std::uint16_t count;
    bool first_of_device;
    friend bool operator==(const Turn&, const Turn&) = default;
  };
  // What the steps of a kind have in common: how long the operation before and the producer keep them waiting.
  struct Kind {
    std::uint32_t before, producer;  // rows of `works`; kNoWork: no time at all
    std::uint32_t device;            // of the step
  };
  static constexpr std::uint32_t kNoDevice = 0xffffffffu;
  // All operations of one stage and kind, or all overlapped pairs of two stages: they last equally long.
  struct Work {
    std::uint32_t first = 0;   // 4 * stage + kind of the operation; of a pair, of its forward
    std::uint32_t second = 0;  // of a pair, of its backward; else kNoWork
    std::uint32_t device = 0;
    std::uint32_t count = 0;  // operations (pairs) of the step
    // The other devices that its results go to: of a pair, that of the forward and that of the backward.
    std::uint32_t receiver = kNoDevice, second_receiver = kNoDevice;
  };
  static constexpr std::uint32_t kNoWork = 0xffffffffu;

  std::vector<Step> steps;  // as many as operations
  std::vector<Turn> turns;
  std::vector<Kind> kinds;
  std::vector<Work> works;                  // by 4 * stage + kind, then the pairs
  std::vector<std::uint32_t> first_halves;  // of pairs: they start with the operation after them
  // By device, and what that operation is; kNoWork for a device that does nothing.
  std::vector<std::uint32_t> last_op;
  std::vector<std::uint32_t> last_work;
  std::size_t ops = 0;
  std::size_t stages = 0;  // virtual stages
  std::uint32_t microbatches = 0;
  bool empty() const { return last_op.empty(); }
  void clear() { last_op.clear(), last_work.clear(); }
  // What its large tables hold of memory, used or not.
  std::size_t bytes() const {
    return steps.capacity() * sizeof(Step) + turns.capacity() * sizeof(Turn) +
           first_halves.capacity() * sizeof(first_halves[0]);
  }
};

// Working memory, kept between calls by whoever calls often.
struct RunPlanScratch {
  // Which entries an operation of one stage and kind reads and writes, and which other device its result goes to. A
  // line of the cache each.
  struct alignas(64) Route {
    std::size_t input = 0, output = 0;  // rows of `producers`, before the microbatch is added
    std::uint32_t device = 0, receiver = RunPlan::kNoDevice;
    std::uint32_t latest_kind = 0, newest_kind = 0;  // of its steps: the one used last, and the head of their chain
    std::uint32_t latest_before = 0, latest_producer = 0;  // works that make the kind used last
    std::uint32_t newest_pair = 0;                         // head of the chain of pairs it is the first half of
    std::uint32_t count = 0;
    bool from_other_device = false;
  };
  struct Device {
    std::uint32_t begin = 0, next = 0, end = 0;  // of its operations
    std::uint32_t before = 0;                    // the work of the latest
  };
  struct Chained {
    std::uint64_t key = 0;
    std::uint32_t next = 0;
  };
  std::vector<Route> routes;
  std::vector<std::uint32_t> producers;  // [direction][position along the way forth and back][microbatch]
  std::vector<std::uint32_t> work_of;    // by operation, where there are pairs
  std::vector<Device> devices;
  std::vector<std::uint32_t> line;        // the devices in the order in which they take their turns
  std::vector<Chained> chain;             // by kind: what makes it one, and the next older one of the same route
  std::vector<std::uint32_t> pair_chain;  // by pair: the next older one
  std::vector<std::uint32_t> places;      // of steps_by_level.h
};

// Anything but `finished` leaves `out` empty.
SimulationStatus make_run_plan(const Orders& orders, RunPlanScratch& scratch, RunPlan& out);

}  // namespace roofscape::engine
