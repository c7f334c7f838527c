// Scenarios for the engine's tests: the shipped presets and random variations of them.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <random>
#include <string>
#include <string_view>

#include "engine/io/scenario/scenario_json.h"
#include "engine/report/report.h"

namespace roofscape::tests {

const io::PresetLibrary& library();

// A scenario that ships, in ideal mode whichever its file writes.
engine::Scenario preset(const std::string& id);

engine::Scenario with(engine::Scenario s, std::initializer_list<std::string_view> assignments);
// A chip that does no more operations per second, in any format.
void slow_down(engine::Chip& chip, double ops_per_s);

// A quantity that the report has to have.
double value_of(const engine::Report& report, engine::Q q);
double value_of(const engine::Scenario& s, engine::Q q);
// One that it may lack: -1, NaN.
double value_if_any(const engine::Scenario& s, engine::Q q);
double value_or_nan(const engine::Report& report, engine::Q q);
double value_or_nan(const engine::Scenario& s, engine::Q q);

// Equal but for rounding.
doctest::Approx near(double x);

// The first finding with this code; null if there is none.
const engine::Diagnostic* finding(const engine::Report& report, std::string_view code);
engine::Scenario fixed(engine::Scenario s, const engine::Diagnostic& d);

// Numbers and choices for random_scenario. `rng` is the caller's, seeded with a constant.
class Dice {
 public:
  explicit Dice(std::mt19937& rng) : rng_(rng) {}
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng_); }
  bool one_in(int n) { return pick(1, n) == 1; }
  int power(int highest) { return 1 << pick(0, highest); }

 private:
  std::mt19937& rng_;
};

void random_schedule(Dice& dice, engine::Scenario& s);

// Experts over as many ranks as divide both; on some plans with a smaller tensor degree inside them.
void random_experts(Dice& dice, engine::Scenario& s);

// A cluster of the chip that has room for the plan.
void random_cluster(Dice& dice, const engine::Chip& chip, engine::Scenario& s);

// A valid scenario: nothing in it is diagnosed as an error. Random model, cluster, mesh, schedule, policies and
// precision; small pipelines keep a case in microseconds.
engine::Scenario random_scenario(std::mt19937& rng);

}  // namespace roofscape::tests
