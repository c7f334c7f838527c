// Runs an order once. A plan (run_plan.h) pays where the same order is run again with other times; what is run once is
// run here straight from its lists, in less time than it takes to make a plan of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/pipeline/timeline.h"

namespace roofscape::engine {

// Working memory, kept between calls by whoever calls often.
struct OrderRunScratch {
  // What all operations of one stage and kind have in common. A line of the cache each.
  struct alignas(64) Route {
    const Tick* input = nullptr;   // by microbatch: when what it reads is done
    Tick* output = nullptr;        //   and what it makes
    Tick latency = 0;              // of its input, from another device
    Tick duration = 0, sends = 0;  // `sends`: how long a blocking send keeps the device after it
    // Of the latest pair that a forward was the first half of: the stage of the second, and how long it lasts.
    static constexpr std::uint32_t kNone = 0xffffffffu;
    Tick pair_duration = 0;
    std::uint32_t paired_with = kNone;
  };
  struct Device {
    std::uint32_t next = 0, end = 0;  // of its operations
    Tick free = 0;                    // when it is, after the latest
    Tick busy = 0;                    // so far
  };
  std::vector<Route> routes;
  // When each result is done, in the rows of ResultRows. Each run counts its time from a moment behind all that are there
  // from those before it: what is earlier than its beginning is not there yet, and nothing has to be cleared.
  std::vector<Tick> done;
  Tick latest = 0;  // of all that are there
  std::vector<Device> devices;
  std::vector<std::uint32_t> line;  // the devices in the order in which they take their turns
};

// What simulate() gives, or false for a deadlock. The order must be one of make_orders or have passed check_order, and
// the times must fit it (check_times).
bool run_order(const Orders& orders, const PipelineTimes& times, OrderRunScratch& scratch, Timeline& out);

}  // namespace roofscape::engine
