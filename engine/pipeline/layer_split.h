// How many layers each virtual stage of a pipeline holds: listed by hand, or dealt as evenly as they go, with the
// embedding and the output head counted as so many layers of work.
#pragma once

#include <vector>

#include "engine/pipeline/schedules.h"

namespace roofscape::engine {

struct LayerSplit {
  int n_layers = 1;
  int embedding_as_layers = 0;  // layers fewer on the first virtual stage,
  int head_as_layers = 0;       // and on the last one
  // By virtual stage, in the order a microbatch passes them; used where they fit (listed_layers).
  std::vector<int> listed = {};
  int first_dense =
      0;  // of a model whose other layers have experts, dense layers before them; they are not dealt apart
};

// Layers of each virtual stage, in the order a microbatch passes them; they add up to those of the model. Dealt,
// every virtual stage gets the same number or one less, with what the first and last count for. The ones with less
// stand where they spread over the devices and where embedding and head add work: on looped placements last, first,
// last but one, second ...; where a device holds a stage of either half (V placements, both directions) from the last
// one down and then from the first one up.
void split_layers(const LayerSplit&, ScheduleKind, int virtual_stages, std::vector<int>& out);
std::vector<int> split_layers(const LayerSplit&, ScheduleKind, int virtual_stages);

// How many of the first `count` layers each virtual stage holds.
void first_layers(const std::vector<int>& layers, int count, std::vector<int>& out);

// Whether listed layers are used, or why the plan cannot use them and deals its layers instead: a plan that is changed
// to other stages, as in a sweep, still runs.
enum class ListedLayers : std::uint8_t {
  none,
  used,
  other_count,    // they are of another number of virtual stages
  other_sum,      // they add up to other layers than the model has
  empty_between,  // a virtual stage between the first and the last has none
};
ListedLayers listed_layers(const LayerSplit&, int virtual_stages);

// Whether every virtual stage has work. The embedding or the head alone may make up one where a device has several
// (Llama 3, 2024, section 3.3.2: 126 layers on 16 stages of 8 chunks), where it counts as layers, or where layers are
// listed so.
bool layers_suffice(const LayerSplit&, ScheduleKind, int devices, int passes_per_device);
// The same of layers that are dealt already, by split_layers.
bool layers_suffice(const LayerSplit&, const std::vector<int>& dealt, int devices);

}  // namespace roofscape::engine
