#include "app/cli/search_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "engine/io/search_json.h"

namespace roofscape::app::cli {

int bench_sweep(const Context& context) {
  if (context.options.sweep != "s1") {
    complain({{}, {}, "there is no sweep " + io::in_quotes(context.options.sweep), "there is: s1"});
    return kBadInput;
  }
  const engine::TransformerShape* model = context.library.find_model("gpt3-175b");
  const engine::Chip* chip = context.library.find_chip("a100-80g");
  if (model == nullptr || chip == nullptr) {
    complain({{}, {}, "sweep s1 needs the presets gpt3-175b and a100-80g", "leave out --presets"});
    return kBadInput;
  }
  const engine::Scenario s1 = engine::s1_scenario(*model, *chip);
  // Nothing is kept from one sweep to the next. The median of some tells more than one, and processor time more than
  // the clock on a machine that does other things too; there is one thread.
  engine::S1Result result;
  std::array<double, 11> taken{};
  for (double& seconds : taken) {
    const std::clock_t begin = std::clock();
    engine::sweep_s1(s1, 20, result);
    seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  }
  std::sort(taken.begin(), taken.end());
  const double seconds = taken[taken.size() / 2];
  if (context.options.json) return print(io::s1_json(result, seconds), kGood);
  const double points = static_cast<double>(result.points.size());
  std::string text = fmt::format("{} points, {} fit, {} simulated in {:.3f} ms: {:.1f} million points/s\n", points,
                                 result.fit, result.simulated, 1e3 * seconds, points / seconds / 1e6);
  return print(text, kGood);
}

}  // namespace roofscape::app::cli
