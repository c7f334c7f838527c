#include "engine/pipeline/layer_split.h"

#include <algorithm>
#include <numeric>
#include <random>

#include <doctest/doctest.h>

#include "engine/pipeline/schedule.h"

using namespace roofscape::engine;

namespace {

using Layers = std::vector<int>;
constexpr ScheduleKind k1f1b = ScheduleKind::one_f_one_b, kInterleaved = ScheduleKind::interleaved_1f1b;

// What each stage counts for.
Layers weights(const LayerSplit& split, Layers layers) {
  layers.front() += split.embedding_as_layers;
  layers.back() += split.head_as_layers;
  return layers;
}

Layers by_device(const Layers& layers, const ScheduleShape& shape) {
  std::vector<std::uint16_t> device_of;
  place_stages(shape, device_of);
  Layers held(static_cast<std::size_t>(shape.stages));
  for (std::size_t i = 0; i < device_of.size(); ++i) held[device_of[i]] += layers[i % layers.size()];
  return held;
}

}  // namespace

TEST_CASE("126 layers over 16 stages: first and last hold 7, the rest 8") {
  const Layers layers = split_layers({.n_layers = 126}, k1f1b, 16);
  CHECK(layers.front() == 7);
  CHECK(layers.back() == 7);
  CHECK(std::count(layers.begin(), layers.end(), 8) == 14);
}

// Llama 3 (2024), section 3.3.2.
TEST_CASE("126 layers on 128 chunks leave the embedding and the head a chunk of their own") {
  const Layers layers = split_layers({.n_layers = 126}, kInterleaved, 128);
  CHECK(layers.front() == 0);
  CHECK(layers.back() == 0);
  CHECK(std::count(layers.begin(), layers.end(), 1) == 126);
}

TEST_CASE("with embedding and head counted as a layer each, 46 layers fill 12 stages with three less at the ends") {
  CHECK(split_layers({46, 1, 1, {}}, k1f1b, 12) == Layers{3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3});
}

TEST_CASE("a head that counts as three layers leaves Gemma 2 9B 8 layers on the last of four stages") {
  CHECK(split_layers({42, 0, 3, {}}, k1f1b, 4) == Layers{11, 12, 11, 8});
}

TEST_CASE("dealt layers add up, and what stages count for differs by one at most unless an end is too heavy") {
  std::mt19937 rng(71);
  const auto pick = [&rng](int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); };
  for (int i = 0; i < 20'000; ++i) {
    const int stages = pick(1, 40);
    const ScheduleKind kind = static_cast<ScheduleKind>(pick(0, kScheduleKinds - 1));
    const LayerSplit split{pick(1, 130), pick(0, 12), pick(0, 12), {}};
    const Layers layers = split_layers(split, kind, stages);
    REQUIRE(std::accumulate(layers.begin(), layers.end(), 0) == split.n_layers);
    REQUIRE(*std::min_element(layers.begin(), layers.end()) >= 0);
    if (stages == 1) continue;
    const Layers counts = weights(split, layers);
    int low = 1 << 20, high = 0;
    for (std::size_t s = 0; s < counts.size(); ++s) {
      const bool too_heavy = layers[s] == 0 && (s == 0 || s + 1 == counts.size());
      if (!too_heavy) low = std::min(low, counts[s]), high = std::max(high, counts[s]);
    }
    REQUIRE(high - low <= 1);
  }
}

TEST_CASE("layers dealt on a V or from both ends leave devices one layer apart, and twice that with shared ends") {
  for (const ScheduleKind kind : {ScheduleKind::zb_v, ScheduleKind::dualpipe, ScheduleKind::dualpipe_v})
    for (int devices = 2; devices <= 16; devices += 2)
      for (int n = 2 * devices; n <= 130; ++n) {
        const ScheduleShape shape{kind, devices, 4 * devices, default_virtual_stages(kind), 0};
        const Layers held = by_device(split_layers({.n_layers = n}, kind, devices * passes_per_device(shape)), shape);
        const auto [low, high] = std::minmax_element(held.begin(), held.end());
        REQUIRE(*high - *low <= 1);
      }
}

TEST_CASE("48 layers on a V of 16 devices: three on each") {
  const ScheduleShape shape{ScheduleKind::zb_v, 16, 32, 2, 0};
  CHECK(by_device(split_layers({.n_layers = 48}, ScheduleKind::zb_v, 32), shape) == Layers(16, 3));
}

TEST_CASE("listed layers are used where there are as many as virtual stages, they add up and none between is empty") {
  const auto listed = [](Layers layers, int stages) { return listed_layers({8, 0, 0, std::move(layers)}, stages); };
  CHECK(listed({}, 4) == ListedLayers::none);
  CHECK(listed({3, 2, 2, 1}, 4) == ListedLayers::used);
  CHECK(listed({0, 4, 4, 0}, 4) == ListedLayers::used);
  CHECK(listed({3, 2, 2, 1}, 8) == ListedLayers::other_count);
  CHECK(listed({3, 2, 2, 2}, 4) == ListedLayers::other_sum);
  CHECK(listed({4, 0, 2, 2}, 4) == ListedLayers::empty_between);
  CHECK(split_layers({8, 0, 0, {3, 2, 2, 1}}, k1f1b, 4) == Layers{3, 2, 2, 1});
  CHECK(split_layers({8, 0, 0, {3, 2, 2, 1}}, k1f1b, 2) == Layers{4, 4});
}

TEST_CASE("an end may be without layers where a device has several stages, where it counts as layers, or by hand") {
  CHECK_FALSE(layers_suffice({.n_layers = 3}, k1f1b, 4, 1));
  CHECK(layers_suffice({3, 0, 1, {}}, k1f1b, 4, 1));
  CHECK(layers_suffice({3, 0, 0, {1, 1, 1, 0}}, k1f1b, 4, 1));
  CHECK(layers_suffice({.n_layers = 6}, kInterleaved, 4, 2));
  CHECK_FALSE(layers_suffice({.n_layers = 5}, kInterleaved, 4, 2));
  CHECK(layers_suffice({.n_layers = 6}, ScheduleKind::zb_v, 4, 2));
}
