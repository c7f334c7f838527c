#include "tests/widgets/figures/golden.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include <fmt/format.h>
#include <fstream>

#include "tests/test_paths.h"
#include "tests/widgets/support.h"

namespace roofscape::widgets::testing {
namespace {

std::string golden_path(const std::string& name) {
  return (test::source_dir() / "tests/golden" / (name + ".txt")).string();
}

// Line by line: words equal, numbers within what rounding to 0.1 can make of one.
std::string first_difference(const std::string& expected, const std::string& actual) {
  const char *a = expected.c_str(), *b = actual.c_str();
  int line = 1;
  while (*a && *b) {
    const bool number_a =
        std::isdigit(static_cast<unsigned char>(*a)) || (*a == '-' && std::isdigit(static_cast<unsigned char>(a[1])));
    const bool number_b =
        std::isdigit(static_cast<unsigned char>(*b)) || (*b == '-' && std::isdigit(static_cast<unsigned char>(b[1])));
    if (number_a && number_b) {
      char *end_a = nullptr, *end_b = nullptr;
      if (std::abs(std::strtod(a, &end_a) - std::strtod(b, &end_b)) > 0.1001) break;
      a = end_a;
      b = end_b;
      continue;
    }
    if (*a != *b) break;
    if (*a == '\n') ++line;
    ++a, ++b;
  }
  if (!*a && !*b) return {};
  const auto rest = [](const char* s) {
    return std::string(s, std::min<std::size_t>(60, std::char_traits<char>::length(s)));
  };
  return fmt::format("line {}: \"{}\" instead of \"{}\"", line, rest(b), rest(a));
}

}  // namespace

void check_golden(const std::string& name, const std::string& actual) {
  if (std::getenv("ROOFSCAPE_UPDATE_GOLDEN")) {
    std::ofstream(golden_path(name), std::ios::binary) << actual;
    return;
  }
  CAPTURE(name);
  CHECK(first_difference(read_file(golden_path(name)), actual) == "");
}

}  // namespace roofscape::widgets::testing
