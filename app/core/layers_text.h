// The layers of a plan's virtual stages as they are shown and typed: "8 9 9 8".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roofscape::app {

std::string layers_text(const std::vector<int>& layers);
// Whole numbers with blanks or commas between them, "8x4" for 8 8 8 8, or a layout of Megatron-LM or torchtitan; none
// where something else stands there.
std::optional<std::vector<int>> read_layers_text(std::string_view text);

}  // namespace roofscape::app
