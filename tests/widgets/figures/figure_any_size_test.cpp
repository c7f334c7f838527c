// Figures as a window can be pulled: any size, language, choice of their options, mode and plan. What the fixed sizes
// of the other tests do not meet is met here by chance; ROOFSCAPE_FIGURE_SIZES asks for more of it.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tests/english.h"
#include "tests/widgets/figures/preset_fixture.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {

constexpr std::array kPlans{"llama3-405b-16k-h100-8k", "deepseek-v3-2048-h800", "llama3-70b-v5p-pod",
                            "llama3-8b-8-h100",        "llama3-70b-16-v5e",     "deepseek-v3-h800-wide-expert"};

}  // namespace

TEST_CASE("no text is cut or covered at any size in any language, whatever is chosen") {
  const char* const wanted = std::getenv("ROOFSCAPE_FIGURE_SIZES");
  const int count = wanted == nullptr ? 12 : std::atoi(wanted);
  std::vector<FigureCase> plans;
  for (const char* plan : kPlans) plans.push_back(preset_case(plan)), plans.push_back(calibrated_case(plan));
  const std::array languages{test::texts_in("en"), test::texts_in("ko"), test::texts_in("ru")};
  const std::array themes{theme("dark"), theme("light"), theme("print")};
  std::mt19937 random(20);
  const auto chance = [&random](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (const FigureRow& row : figures())
    for (int i = 0; i < count; ++i) {
      const FigureCase& c = plans[chance(plans.size())];
      if (!shows(row, c.scenario)) continue;
      const std::size_t look = chance(themes.size()), language = chance(languages.size());
      FigureView view;
      view.print = look == 2;
      for (std::size_t option = 0; option < row.options.size(); ++option)
        if (chance(2) == 0)
          view.choices[option] = static_cast<std::uint8_t>(chance(row.options[option].choices.size()));
      const auto width = static_cast<float>(300 + chance(900)), height = static_cast<float>(220 + chance(600));
      CAPTURE(row.name);
      CAPTURE(c.scenario.name);
      CAPTURE(look);
      CAPTURE(language);
      CAPTURE(height);
      check_clean(row, c, themes[look], look == 2 ? 9 : 15, width, height, view, languages[language]);
    }
}
