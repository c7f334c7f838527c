#include "engine/pipeline/layer_split.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace roofscape::engine {
namespace {

// The stage whose turn it is to hold a layer less.
int less_at(int turn, int stages, bool looped) {
  if (looped) return turn % 2 == 0 ? stages - 1 - turn / 2 : turn / 2;
  const int half = stages / 2;
  return turn < stages - half ? stages - 1 - turn : turn - (stages - half);
}

}  // namespace

void split_layers(const LayerSplit& split, ScheduleKind kind, int virtual_stages, std::vector<int>& out) {
  const int n = std::max(1, virtual_stages), last = n - 1;
  if (listed_layers(split, n) == ListedLayers::used) {
    out = split.listed;
    return;
  }
  out.assign(static_cast<std::size_t>(n), 0);
  // An end that counts for more than the others can hold is left with none, and the others share the rest.
  int embedding = n > 1 ? split.embedding_as_layers : 0, head = n > 1 ? split.head_as_layers : 0;
  int first_dealt = 0, end_dealt = n, level = 0, lacking = 0;
  while (true) {
    const int dealt = end_dealt - first_dealt, work = split.n_layers + embedding + head;
    level = (work + dealt - 1) / dealt;
    lacking = level * dealt - work;
    if (embedding > level && dealt > 1)
      ++first_dealt, embedding = 0;
    else if (head > level && dealt > 1)
      --end_dealt, head = 0;
    else
      break;
  }
  for (int s = first_dealt; s < end_dealt; ++s) out[static_cast<std::size_t>(s)] = level;
  if (first_dealt == 0) out.front() -= embedding;
  if (end_dealt == n) out[static_cast<std::size_t>(last)] -= head;
  // Of one layer each, only the ends can do without.
  const bool looped = level == 1 || facts_of(kind).placement == StagePlacement::looped;
  for (int turn = 0; lacking > 0; turn = (turn + 1) % n) {
    int& layers = out[static_cast<std::size_t>(less_at(turn, n, looped))];
    if (layers > 0) --layers, --lacking;
  }
}

std::vector<int> split_layers(const LayerSplit& split, ScheduleKind kind, int virtual_stages) {
  std::vector<int> out;
  split_layers(split, kind, virtual_stages, out);
  return out;
}

void first_layers(const std::vector<int>& layers, int count, std::vector<int>& out) {
  out.assign(layers.size(), 0);
  for (std::size_t s = 0; s < layers.size() && count > 0; ++s) {
    out[s] = std::min(layers[s], count);
    count -= out[s];
  }
}

ListedLayers listed_layers(const LayerSplit& split, int virtual_stages) {
  const std::vector<int>& listed = split.listed;
  if (listed.empty()) return ListedLayers::none;
  if (virtual_stages < 2 || std::cmp_not_equal(listed.size(), virtual_stages)) return ListedLayers::other_count;
  if (listed.front() < 0 || listed.back() < 0 ||
      std::any_of(listed.begin() + 1, listed.end() - 1, [](int layers) { return layers < 1; }))
    return ListedLayers::empty_between;
  if (std::accumulate(listed.begin(), listed.end(), std::int64_t{0}) != split.n_layers)
    return ListedLayers::other_sum;
  return ListedLayers::used;
}

bool layers_suffice(const LayerSplit& split, const std::vector<int>& dealt, int devices) {
  const int stages = static_cast<int>(dealt.size());
  if (devices <= 1 || listed_layers(split, stages) == ListedLayers::used) return true;
  if (std::any_of(dealt.begin() + 1, dealt.end() - 1, [](int layers) { return layers == 0; })) return false;
  const bool alone = stages > devices;
  return (dealt.front() > 0 || alone || split.embedding_as_layers > 0) &&
         (dealt.back() > 0 || alone || split.head_as_layers > 0);
}

bool layers_suffice(const LayerSplit& split, ScheduleKind kind, int devices, int passes_per_device) {
  return devices <= 1 || layers_suffice(split, split_layers(split, kind, devices * passes_per_device), devices);
}

}  // namespace roofscape::engine
