#include "engine/search/device_kinds.h"

#include <algorithm>

#include "engine/training/stage_cost.h"

namespace roofscape::engine {

void find_device_kinds(ScheduleKind kind, int stages, int virtual_stages, int n_layers, std::vector<int>& layers,
                       DeviceKinds& out) {
  out.kind = kind, out.stages = stages, out.virtual_stages = virtual_stages;
  out.doubled = kind == ScheduleKind::dualpipe && stages > 1;
  out.kinds.clear();
  const int chunks = stages * virtual_stages;
  split_layers(n_layers, chunks, layers);
  const bool folded = stages > 1 && (kind == ScheduleKind::zb_v || kind == ScheduleKind::dualpipe_v);
  int before = 0;
  const auto at = [&](int chunk) { return layers[static_cast<std::size_t>(chunk)]; };
  for (int r = 0; r < stages; ++r) {
    DeviceKind device;
    const auto hold = [&](int chunk) {
      device.layers += at(chunk);
      device.embedding = device.embedding || chunk == 0;
      device.head = device.head || chunk == chunks - 1;
    };
    hold(r);
    if (folded) hold(chunks - 1 - r);
    else if (out.doubled) hold(stages - 1 - r);
    else
      for (int chunk = r + stages; chunk < chunks; chunk += stages) hold(chunk);
    device.first = r;
    // DualPipe is fed from both ends; the way from the nearer one is what a device waits for.
    device.hops = out.doubled ? std::min(r, stages - 1 - r) : r;
    if (!out.doubled || r < stages / 2) device.layers_before = before;
    before += at(r);
    const auto same = [&](const DeviceKind& other) {
      // What a ZB-V device has in flight is not largest at one end where microbatches are few: each is its own kind.
      return kind != ScheduleKind::zb_v && other.layers == device.layers && other.embedding == device.embedding &&
             other.head == device.head;
    };
    const auto known = std::find_if(out.kinds.begin(), out.kinds.end(), same);
    if (known == out.kinds.end()) {
      out.kinds.push_back(device);
    } else if (device.layers_before >= known->layers_before) {
      known->layers_before = device.layers_before;
      known->hops = device.hops;
    }
  }
}

}  // namespace roofscape::engine
