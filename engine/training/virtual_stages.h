// How many virtual stages the layers of a model can be spread over.
#pragma once

namespace roofscape::engine {

// One layer each; with several chunks a device, the first and the last may hold the embedding or the output head alone
// (Llama 3, 2024, section 3.3.2: 126 layers on 16 stages of 8 chunks). split_layers takes layers from the ends first.
constexpr int most_virtual_stages(int n_layers, int chunks) { return n_layers + (chunks > 1 ? 2 : 0); }

}  // namespace roofscape::engine
