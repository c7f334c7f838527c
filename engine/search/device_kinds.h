// The few kinds of devices a pipeline has. Devices that hold equally many layers and the same of embedding and head
// differ only in what they have in flight and when they start, so one of each kind decides memory, and one the bound.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/pipeline/in_flight.h"
#include "engine/pipeline/layer_split.h"
#include "engine/pipeline/schedule.h"
#include "engine/training/memory.h"

namespace roofscape::engine {

// Numbers are doubles: for every plan a search multiplies times by them.
struct DeviceKind {
  double layers = 0, dense = 0;  // of them, the model's first layers that are dense (LayerSplit::first_dense)
  bool embedding = false, head = false;
  // What a microbatch passes before it comes to a chunk: stages, and the layers and the embedding in them.
  struct Way {
    double hops = 0, layers = 0, dense = 0, embeddings = 0;
  };
  Way before;  // to the first chunk, of the device that starts last
  // To the last of looped chunks, less what the same device has of its other chunks meanwhile: as many microbatches as
  // there are stages.
  Way around;
};

struct DeviceKinds {
  // What a device holds, by the device that has most in flight of those that hold the same. Along a V that depends on
  // the number of microbatches, and where weight gradients are put off on what they need: every device is here.
  struct Held {
    int device = 0;
    int layers = 0, dense = 0;
    bool embedding = false, head = false;
  };
  ScheduleKind kind = ScheduleKind::one_f_one_b;
  int stages = 1, virtual_stages = 1;  // devices, chunks of one
  bool doubled = false;                // both directions on every device (DualPipe)
  bool layers_suffice = true;          // for every virtual stage
  double largest_chunk = 0;            // layers of the virtual stage that has most
  // Device 0's first; from `decisive` on those that another outlasts: it has no less work, and no less before it. Where
  // devices do not compute while they send, these can have more to send.
  std::vector<DeviceKind> kinds;
  std::size_t decisive = 0;
  std::vector<Held> held;
  std::vector<int> dense;  // working memory
};

// `layers` is working memory. `given_order`: one that was given may hold most on any device.
void find_device_kinds(ScheduleKind kind, int stages, int virtual_stages, const LayerSplit&, std::vector<int>& layers,
                       DeviceKinds& out, bool given_order = false);

struct DeviceMoments {
  DeviceKinds::Held held;
  bool doubled = false;
  int chunks_in_turn = 1;
  std::size_t kind = 0;  // of what it holds, of HeldKinds: devices of one kind differ in what is in flight alone
  double in_flight = 0;  // the most
  HeldMoments moments;
};
// What devices hold, each once, in the order in which they were met: what is priced of one is kept by its number.
class HeldKinds {
 public:
  // `by_turns`: whether it matters how many chunks are in turn, which it does where weights stay gathered for a chunk.
  explicit HeldKinds(bool by_turns = true) : by_turns_(by_turns) {}
  std::size_t number_of(const DeviceMoments&);
  bool by_turns() const { return by_turns_; }
  void clear() { known_.clear(); }

 private:
  struct Known {
    DeviceKinds::Held held;
    bool doubled = false;
    int chunks_in_turn = 1;
  };
  bool by_turns_ = true;
  std::vector<Known> known_;
};
// The devices of which one takes most memory, whatever a layer, the embedding and the head take: none of them holds
// no more of anything, and has no more in flight, than another.
void fullest_devices(const DeviceKinds& kinds, const ScheduleShape& shape, HeldKinds& numbers,
                     std::vector<DeviceMoments>& out);

// What devices of several schedules have in flight at the moments of which one is their peak, each once: schedules share
// many of them. In columns, so that what they take is one loop.
class DistinctMoments {
 public:
  // Of a schedule's devices; none of a schedule that was not added.
  struct Rows {
    std::uint32_t first = 0, count = 0;
    bool empty() const { return count == 0; }
  };
  Rows add(const std::vector<DeviceMoments>& schedule);
  std::span<const std::uint16_t> rows(Rows of) const { return std::span(rows_).subspan(of.first, of.count); }
  // What the schedule's fullest device takes, where the rows take so many bytes.
  double fullest(Rows of, std::span<const double> bytes) const {
    double most = -1;
    for (const std::uint16_t row : rows(of)) most = std::max(most, bytes[row]);
    return most;
  }
  std::size_t size() const { return in_flight_.size(); }
  // One device for each of the kinds that there are (DeviceMoments::kind).
  const std::vector<DeviceMoments>& kinds() const { return kinds_; }
  const std::vector<std::uint16_t>& kind() const { return kind_; }
  const std::vector<double>& in_flight() const { return in_flight_; }
  const std::vector<double>& postponed() const { return postponed_; }

 private:
  std::vector<DeviceMoments> kinds_;
  std::vector<std::uint16_t> rows_, kind_;
  std::vector<double> in_flight_, postponed_;
};

// Of several schedules with the same stages and microbatches: devices of which one takes as much as the fullest of all
// that they have, and devices of which the smallest takes no more than the fullest of any of the schedules.
struct DeviceRange {
  std::vector<DeviceMoments> most, least;
  void add(const std::vector<DeviceMoments>& schedule);
};

}  // namespace roofscape::engine
