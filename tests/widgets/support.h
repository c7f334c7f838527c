// What the drawing tests share: the shipped themes, read without a JSON library, one FontStack, and a sample figure
// that uses every verb.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>

#include "widgets/canvas.h"
#include "widgets/palette.h"
#include "widgets/theme.h"
#include "tests/test_paths.h"

namespace roofscape::widgets::testing {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// The theme files are flat objects of strings, which a regular expression can read.
inline std::map<std::string, std::string> theme_tokens(const std::string& name) {
  const std::string text = read_file(roofscape::test::source_dir() / "assets/themes" / (name + ".json"));
  const std::regex pair("\"([^\"]+)\"\\s*:\\s*\"([^\"]*)\"");
  std::map<std::string, std::string> tokens;
  for (std::sregex_iterator it(text.begin(), text.end(), pair), end; it != end; ++it) tokens[(*it)[1]] = (*it)[2];
  return tokens;
}

inline Theme theme(const std::string& name) { return Theme::from_tokens(theme_tokens(name)); }

inline const FontStack& fonts() {
  static const FontStack stack;
  return stack;
}

inline constexpr const char* kEnglish = "memory of one pipeline stage, 62.9 GB";
inline constexpr const char* kKorean = "파이프라인 단계의 메모리";
inline constexpr const char* kRussian = "память одной ступени конвейера";
inline constexpr const char* kSymbols = "\u22123 \u2264 \u221a2 \u2192 10\u00b9\u2079";

// 400 x 260: all hatches, markers, dashes, arrows, a clip, three languages, turned text, tags.
void draw_sample(Canvas& canvas, const Theme& theme);

}  // namespace roofscape::widgets::testing
