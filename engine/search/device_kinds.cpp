#include "engine/search/device_kinds.h"

#include <algorithm>
#include <utility>

#include "engine/pipeline/in_flight.h"
#include "engine/training/stage_time.h"

namespace roofscape::engine {
namespace {

// Whether `a` takes at least as much memory as `b`. A head without the embedding is left out: where both are one
// matrix it holds a copy of it.
bool covers(const DeviceMoments& x, const DeviceMoments& y) {
  const DeviceKinds::Held &a = x.held, &b = y.held;
  if (a.dense < b.dense || a.layers - a.dense < b.layers - b.dense) return false;
  if (x.in_flight < y.in_flight || a.head < b.head || a.embedding < b.embedding) return false;
  if (b.head && a.embedding != b.embedding) return false;
  return std::all_of(y.moments.begin(), y.moments.end(), [&x](const HeldMicrobatches& less) {
    return std::any_of(x.moments.begin(), x.moments.end(), [&less](const HeldMicrobatches& more) {
      return more.all >= less.all && more.postponed >= less.postponed;
    });
  });
}

// The same of devices of different schedules.
bool covers_other(const DeviceMoments& a, const DeviceMoments& b) {
  return a.doubled == b.doubled && a.chunks_in_turn <= b.chunks_in_turn && covers(a, b);
}

// Whether `a` has all the work that `b` has, and at least as much before it, whatever a layer, the ends and a hop take.
bool outlasts(const DeviceKind& a, const DeviceKind& b) {
  return a.layers - a.dense >= b.layers - b.dense && a.dense >= b.dense && a.embedding >= b.embedding &&
         a.head >= b.head && a.before.hops >= b.before.hops && a.before.dense >= b.before.dense &&
         a.before.layers - a.before.dense >= b.before.layers - b.before.dense &&
         a.before.embeddings >= b.before.embeddings;
}

}  // namespace

void find_device_kinds(ScheduleKind kind, int stages, int virtual_stages, const LayerSplit& split,
                       std::vector<int>& layers, DeviceKinds& out, bool given_order) {
  out.kind = kind, out.stages = stages, out.virtual_stages = virtual_stages;
  out.doubled = directions(kind) == 2 && stages > 1;
  // The first device, the last, and those between, of which some may hold a layer more.
  constexpr std::size_t kUsual = 4;
  out.kinds.clear(), out.kinds.reserve(kUsual);
  out.held.clear(), out.held.reserve(kUsual);
  const int chunks = stages * virtual_stages;
  split_layers(split, kind, chunks, layers);
  out.layers_suffice = layers_suffice(split, layers, stages);
  if (stages > 1) first_layers(layers, split.first_dense, out.dense);
  out.largest_chunk = *std::max_element(layers.begin(), layers.end());
  const bool each =
      stages > 1 && (given_order || splits_backward(kind) || facts_of(kind).placement == StagePlacement::v);
  const bool folded = stages > 1 && facts_of(kind).placement == StagePlacement::v;
  const bool looped = virtual_stages > 1 && !folded && !out.doubled;
  const auto at = [&](int chunk) { return layers[static_cast<std::size_t>(chunk)]; };
  const auto dense_at = [&](int chunk) { return stages > 1 ? out.dense[static_cast<std::size_t>(chunk)] : 0; };
  DeviceKind::Way before, before_last;  // of the next device
  const auto pass = [&](DeviceKind::Way& way, int chunk) {
    ++way.hops, way.layers += at(chunk), way.dense += dense_at(chunk), way.embeddings += chunk == 0;
  };
  const int last_chunk = chunks - stages;
  for (int chunk = 0; looped && chunk < last_chunk; ++chunk) pass(before_last, chunk);
  for (int r = 0; r < stages; ++r) {
    DeviceKinds::Held held{r, 0, 0, false, false};
    const auto hold = [&](int chunk) {
      held.layers += at(chunk), held.dense += dense_at(chunk);
      held.embedding = held.embedding || chunk == 0;
      held.head = held.head || chunk == chunks - 1;
    };
    hold(r);
    if (folded)
      hold(chunks - 1 - r);
    else if (out.doubled)
      hold(stages - 1 - r);
    else
      for (int chunk = r + stages; chunk < chunks; chunk += stages) hold(chunk);
    DeviceKind device{double(held.layers), double(held.dense), held.embedding, held.head, {}, {}};
    // DualPipe is fed from both ends; the way from the nearer one is what a device waits for.
    if (!out.doubled || r < stages / 2)
      device.before = before;
    else
      device.before.hops = stages - 1 - r;
    pass(before, r);
    if (looped) {
      const int last = last_chunk + r;
      device.around = before_last;
      device.around.layers -= stages * (held.layers - at(last));
      device.around.dense -= stages * (held.dense - dense_at(last));
      if (held.embedding) device.around.embeddings -= stages;
      pass(before_last, last);
    }
    const auto known = std::find_if(out.kinds.begin(), out.kinds.end(), [&](const DeviceKind& other) {
      return other.layers == device.layers && other.dense == device.dense && other.embedding == device.embedding &&
             other.head == device.head;
    });
    // Of devices alike the first holds most microbatches, but not along a V, nor of those that are put off.
    if (known == out.kinds.end() || each) out.held.push_back(held);
    if (known == out.kinds.end()) {
      out.kinds.push_back(device);
    } else if (device.before.layers >= known->before.layers) {
      known->before = device.before, known->around = device.around;
    }
  }
  out.decisive = out.kinds.size();
  for (std::size_t i = 0; i < out.decisive;) {
    DeviceKind& one = out.kinds[i];
    const auto longer = [&one](const DeviceKind& other) { return &other != &one && outlasts(other, one); };
    if (std::none_of(out.kinds.begin(), out.kinds.end(), longer))
      ++i;
    else
      std::swap(one, out.kinds[--out.decisive]);
  }
}

std::size_t HeldKinds::number_of(const DeviceMoments& device) {
  const DeviceKinds::Held& mine = device.held;
  const auto place = std::find_if(known_.begin(), known_.end(), [&](const Known& known) {
    const DeviceKinds::Held& held = known.held;
    return held.layers == mine.layers && held.dense == mine.dense && held.embedding == mine.embedding &&
           held.head == mine.head && known.doubled == device.doubled && known.chunks_in_turn == device.chunks_in_turn;
  });
  const auto number = static_cast<std::size_t>(place - known_.begin());
  if (place == known_.end()) known_.push_back({mine, device.doubled, device.chunks_in_turn});
  return number;
}

void fullest_devices(const DeviceKinds& kinds, const ScheduleShape& shape, HeldKinds& numbers,
                     std::vector<DeviceMoments>& out) {
  out.clear();
  for (const DeviceKinds::Held& held : kinds.held) {
    const HeldMoments moments = shape.stages > 1 ? held_moments(shape, held.device) : HeldMoments{{1, 0}};
    const DeviceMoments load{held, kinds.doubled,       numbers.by_turns() ? chunks_in_turn(shape) : 1,
                             0,    moments.front().all, moments};
    if (std::any_of(out.begin(), out.end(), [&](const auto& known) { return covers(known, load); })) continue;
    std::erase_if(out, [&](const auto& known) { return covers(load, known); });
    out.push_back(load);
  }
  for (DeviceMoments& device : out) device.kind = numbers.number_of(device);
}

DistinctMoments::Rows DistinctMoments::add(const std::vector<DeviceMoments>& schedule) {
  if (kinds_.empty()) {  // few have more
    constexpr std::size_t kKinds = 8, kRows = 32;
    kinds_.reserve(kKinds), rows_.reserve(2 * kRows);
    kind_.reserve(kRows), in_flight_.reserve(kRows), postponed_.reserve(kRows);
  }
  Rows out{static_cast<std::uint32_t>(rows_.size()), 0};
  for (const DeviceMoments& device : schedule) {
    const auto alike = [&device](const DeviceMoments& other) { return other.kind == device.kind; };
    if (std::none_of(kinds_.begin(), kinds_.end(), alike)) kinds_.push_back(device);
    for (const HeldMicrobatches& held : device.moments) {
      std::size_t row = 0;
      while (row < size() &&
             (kind_[row] != device.kind || in_flight_[row] != held.all || postponed_[row] != held.postponed))
        ++row;
      rows_.push_back(static_cast<std::uint16_t>(row));
      ++out.count;
      if (row < size()) continue;
      kind_.push_back(static_cast<std::uint16_t>(device.kind));
      in_flight_.push_back(held.all), postponed_.push_back(held.postponed);
    }
  }
  return out;
}

void DeviceRange::add(const std::vector<DeviceMoments>& schedule) {
  for (const DeviceMoments& device : schedule) {
    if (std::any_of(most.begin(), most.end(), [&](const auto& known) { return covers_other(known, device); }))
      continue;
    std::erase_if(most, [&](const auto& known) { return covers_other(device, known); });
    most.push_back(device);
  }
  // One device of each: whichever has most of everything, as far as one has.
  const DeviceMoments& full = *std::max_element(schedule.begin(), schedule.end(), [](const auto& a, const auto& b) {
    return (1 + a.in_flight) * a.held.layers < (1 + b.in_flight) * b.held.layers;
  });
  if (std::any_of(least.begin(), least.end(), [&](const auto& known) { return covers_other(full, known); })) return;
  std::erase_if(least, [&](const auto& known) { return covers_other(known, full); });
  least.push_back(full);
}

}  // namespace roofscape::engine
