// The few kinds of devices a pipeline has. Devices that hold equally many layers and the same of embedding and head
// differ only in what they have in flight and when they start, so one of each kind decides memory, and one the bound.
#pragma once

#include <vector>

#include "engine/pipeline/schedule.h"

namespace roofscape::engine {

struct DeviceKind {
  int layers = 0;
  bool embedding = false, head = false;
  int first = 0;        // device of the kind that has most in flight
  int hops = 0;         // of the device that starts last: stages a microbatch passes before it ...
  int layers_before = 0;  // ... and the layers in them
};

struct DeviceKinds {
  ScheduleKind kind = ScheduleKind::one_f_one_b;
  int stages = 1, virtual_stages = 1;  // devices, chunks of one
  bool doubled = false;                // both directions on every device (DualPipe)
  std::vector<DeviceKind> kinds;
};

// `layers` is working memory.
void find_device_kinds(ScheduleKind kind, int stages, int virtual_stages, int n_layers, std::vector<int>& layers,
                       DeviceKinds& out);

}  // namespace roofscape::engine
