// Whole scenarios built from bytes through the field table: each has a report that keeps what every report keeps, and
// reads back equal. Run by libFuzzer.
#include "engine/evaluate/evaluate.h"
#include "engine/io/export/report_json.h"
#include "tests/engine/edited_scenario.h"
#include "tests/engine/invariants.h"
#include "tests/fuzz/fuzz_words.h"

namespace {

void expect(const std::string& fault) {
  if (fault.empty()) return;
  std::fprintf(stderr, "%s\n", fault.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace roofscape;
  std::size_t at = 0;
  const auto choose = [&](std::uint32_t below) {
    std::uint32_t n = 0;
    for (std::uint32_t left = below - 1; left > 0; left >>= 8) n = n << 8 | (at < size ? data[at++] : 0);
    return below == 0 ? 0 : n % below;
  };
  const engine::Scenario s =
      tests::edited_scenario(fuzz::library(), static_cast<int>(std::min<std::size_t>(size / 4, 12)), choose);
  const engine::Report report = engine::evaluate(s);
  expect(tests::report_fault(report));
  expect(tests::traced_fault(s, report));
  expect(tests::price_fault(s, report));
  expect(tests::round_trip_fault(s, fuzz::library()));
  return 0;
}
