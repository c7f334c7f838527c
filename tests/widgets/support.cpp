#include "tests/widgets/support.h"

#include <fstream>
#include <regex>
#include <sstream>
#include "tests/test_paths.h"

namespace roofscape::widgets::testing {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::map<std::string, std::string> theme_tokens(const std::string& name) {
  const std::string text = read_file(roofscape::test::source_dir() / "assets/themes" / (name + ".json"));
  const std::regex pair("\"([^\"]+)\"\\s*:\\s*\"([^\"]*)\"");
  std::map<std::string, std::string> tokens;
  for (std::sregex_iterator it(text.begin(), text.end(), pair), end; it != end; ++it) tokens[(*it)[1]] = (*it)[2];
  return tokens;
}

Theme theme(const std::string& name) { return Theme::from_tokens(theme_tokens(name)); }

const FontStack& fonts() {
  static const FontStack stack;
  return stack;
}

}  // namespace roofscape::widgets::testing
