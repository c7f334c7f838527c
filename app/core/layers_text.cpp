#include "app/core/layers_text.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/io/scenario/layer_layout.h"
#include "engine/pipeline/schedule.h"

namespace roofscape::app {
namespace {

constexpr std::string_view kBetween = " ,;\t";

std::optional<int> whole(std::string_view text) {
  constexpr int kMost = 10000;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > kMost) return std::nullopt;
  return value;
}

}  // namespace

std::string layers_text(const std::vector<int>& layers) { return fmt::format("{}", fmt::join(layers, " ")); }

std::optional<std::vector<int>> read_layers_text(std::string_view text) {
  if (io::is_layer_layout(text)) {
    auto layout = io::read_layer_layout(text);
    return layout ? std::optional(std::move(layout).value()) : std::nullopt;
  }
  std::vector<int> layers;
  for (std::size_t at = text.find_first_not_of(kBetween); at != std::string_view::npos;
       at = text.find_first_not_of(kBetween)) {
    text.remove_prefix(at);
    const std::string_view word = text.substr(0, text.find_first_of(kBetween));
    text.remove_prefix(word.size());
    const std::size_t times = word.find('x');
    const std::optional<int> value = whole(word.substr(0, times));
    const std::optional<int> count =
        times == std::string_view::npos ? std::optional(1) : whole(word.substr(times + 1));
    if (!value || !count || layers.size() + static_cast<std::size_t>(*count) > engine::kMaxVirtualStages)
      return std::nullopt;
    layers.insert(layers.end(), static_cast<std::size_t>(*count), *value);
  }
  return layers.empty() ? std::nullopt : std::optional(layers);
}

}  // namespace roofscape::app
