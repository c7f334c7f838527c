// What every fuzz target has: the shipped presets, the English texts, and the rule that an error is one line.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/io/presets/preset_library.h"
#include "engine/io/presets/resources.h"
#include "engine/io/scenario/scenario_json.h"
#include "widgets/plot/text_table.h"

namespace roofscape::fuzz {

inline const io::PresetLibrary& library() {
  static const io::PresetLibrary shipped;
  return shipped;
}
inline const widgets::TextTable& english() {
  static const auto words = io::read_flat_map(io::embedded_text("assets/strings/en.json"), "en.json").value();
  static const widgets::TextTable texts({words.begin(), words.end()});
  return texts;
}
inline void one_line(const io::InputError& error) {
  const std::string text = io::to_text(error, english());
  if (text.empty() || text.find('\n') != std::string::npos) std::abort();
}
inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace roofscape::fuzz
