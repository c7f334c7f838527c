// bench_sweep s1|s1-calibrated [--json]: prices the fixed sweep S1 from nothing, and says how fast that went.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <string_view>

#include "engine/io/presets/preset_library.h"
#include "tests/bench/sweep_s1.h"

using namespace roofscape;

int main(int argc, char** argv) {
  const bool json = argc == 3 && std::string_view(argv[2]) == "--json";
  const std::string_view sweep = argc > 1 ? argv[1] : "";
  const bool calibrated = sweep == "s1-calibrated";
  if ((sweep != "s1" && !calibrated) || (argc > 2 && !json)) {
    fmt::print(stderr, "usage: bench_sweep s1|s1-calibrated [--json]\n");
    return 2;
  }
  const io::PresetLibrary library;
  engine::Scenario s1 = bench::s1_scenario(*library.find_model("gpt3-175b"), *library.find_chip("a100-80g"));
  if (calibrated) s1.assumptions.mode = engine::Mode::calibrated;
  // Nothing is kept from one sweep to the next. The median of some tells more than one, and processor time more than
  // the clock on a machine that does other things too; there is one thread.
  bench::S1Result result;
  std::array<double, 11> taken{};
  for (double& seconds : taken) {
    const std::clock_t begin = std::clock();
    bench::sweep_s1(s1, 20, result);
    seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  }
  std::sort(taken.begin(), taken.end());
  const double seconds = taken[taken.size() / 2];
  if (json) {
    fmt::print("{}", bench::s1_json(result, seconds));
    return 0;
  }
  const auto points = static_cast<double>(result.points.size());
  fmt::print("{} points, {} fit, {} simulated in {:.3f} ms: {:.1f} million points/s\n", points, result.fit,
             result.simulated, 1e3 * seconds, points / seconds / 1e6);
  return 0;
}
