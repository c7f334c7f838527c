// Invariants (tests/engine/invariants.h) over N random scenarios in one process: valid plans of both kinds on every chip,
// in every mode, and presets with any fields edited, most of which cannot run. Prints each kind of violation with the first
// scenario that shows it, and what was checked; exit status 1 where something is violated.
//   bench_properties N [SEED]
// The fixtures of the tests check with doctest, here without its cases.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <string>

#include "engine/evaluate/evaluate.h"
#include "tests/app/surfaces/any_scenario.h"
#include "tests/engine/edited_scenario.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/invariants.h"

namespace {

using namespace roofscape;

constexpr int kTraced = 8, kMonotone = 16,
              kWritten = 32;  // checked of one in so many: each costs as much as many evaluations
constexpr std::size_t kMostShown = 20;

struct Counts {
  long valid = 0, edited = 0, complete = 0, runs = 0, serves = 0, traced = 0, priced = 0, written = 0, violations = 0;
};

std::string fault_of(const engine::Scenario& s, const engine::Report& r, bool valid, long i, Counts& counts) {
  std::string fault;
  const auto check = [&fault](auto&& of) {
    if (fault.empty()) fault = of();
  };
  // A chip of which not every figure is published leaves quantities out.
  const bool complete = valid && !r.has_errors() && tests::has_all_figures(s, r);
  counts.complete += complete;
  if (!complete)
    check([&] { return tests::report_fault(r); });
  else if (s.serves())
    check([&] { return tests::serving_fault(s, r); });
  else
    check([&] { return tests::training_fault(s, r); });
  check([&] { return tests::price_fault(s, r); });
  counts.priced += !s.serves() && !r.has_errors();
  if (i % kTraced == 0) check([&] { return tests::traced_fault(s, r); }), ++counts.traced;
  if (complete && i % kMonotone == 0)
    check([&] { return s.serves() ? tests::serving_not_monotone(s, r) : tests::training_not_monotone(s, r); });
  if (i % kWritten == 0) check([&] { return tests::round_trip_fault(s, tests::library()); }), ++counts.written;
  return fault;
}

}  // namespace

int main(int argc, char** argv) {
  const long wanted = argc > 1 ? std::atol(argv[1]) : 0;
  if (wanted <= 0) {
    fmt::print(stderr, "bench_properties N [SEED]: N scenarios, at least 1\n");
    return 2;
  }
  doctest::Context checks;
  checks.setAsDefaultForAssertsOutOfTestCases();
  std::mt19937 rng(argc > 2 ? static_cast<unsigned>(std::atol(argv[2])) : 1u);
  const tests::Choose choose = [&rng](std::uint32_t below) { return static_cast<std::uint32_t>(rng() % below); };
  engine::EvaluationScratch scratch;
  engine::Report report;
  Counts counts;
  std::map<std::string, long> found;  // violations by what they are
  const auto start = std::chrono::steady_clock::now();
  for (long i = 0; i < wanted; ++i) {
    const bool valid = i % 4 != 3;
    const auto kind = i % 4 == 1 ? engine::WorkloadKind::serving : engine::WorkloadKind::training;
    const engine::Scenario s =
        valid ? tests::any_scenario(rng, kind)
              : tests::edited_scenario(tests::library(), 1 + static_cast<int>(choose(8)), choose);
    engine::evaluate(s, scratch, report);
    ++(valid ? counts.valid : counts.edited);
    counts.runs += !report.has_errors(), counts.serves += s.serves();
    const std::string fault = fault_of(s, report, valid, i, counts);
    if (fault.empty()) continue;
    ++counts.violations;
    if (++found[fault] == 1 && found.size() <= kMostShown)
      fmt::print("scenario {}: {}\n{}\n", i, fault, io::write_scenario(s, tests::library()));
  }
  for (const auto& [fault, times] : found) fmt::print("{} times: {}\n", times, fault);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print(
      "{} scenarios in {:.0f} s: {} valid ({} with all figures of the chip), {} edited; {} can run, {} serve; {} "
      "traced, {} priced as by a search, {} "
      "written "
      "and read back; {} violations\n",
      wanted, took.count(), counts.valid, counts.complete, counts.edited, counts.runs, counts.serves, counts.traced,
      counts.priced, counts.written, counts.violations);
  return counts.violations > 0 ? 1 : 0;
}
