// The layers of a plan's virtual stages as training frameworks are told them.
//   Megatron-LM, --pipeline-model-parallel-layout: "Ettt|(tt|)*29L". A letter each module (E embedding, t layer, L head
//     and loss), a bar between virtual stages, x*n and (...)*n for repetition; commas say nothing.
//   torchtitan, module_fqns_per_model_part: [["tok_embeddings", "layers.0"], ["layers.1", "norm", "output"]].
// Both list virtual stages along the way of a microbatch, as Scenario::pipeline.layers_per_stage does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/io/json/result.h"
#include "engine/scenario/scenario.h"

namespace roofscape::io {

// Looks like one of the two, and like no list of numbers.
bool is_layer_layout(std::string_view text);
// Layers by virtual stage. Refused: what is no layout, an embedding or a head that is not at its end, layers that predict
// further tokens (m), torchtitan's layers out of order. The error has no file and no path.
Result<std::vector<int>> read_layer_layout(std::string_view text);
// Gives a plan the layers of a layout, and as many chunks per device as that has, interleaved where the schedule knows
// one chunk only. Refused: stages that the devices do not share evenly.
Failure take_layer_layout(std::string_view text, engine::Scenario& scenario);

std::string megatron_layout(const std::vector<int>& layers);
std::string torchtitan_modules(const std::vector<int>& layers);

}  // namespace roofscape::io
