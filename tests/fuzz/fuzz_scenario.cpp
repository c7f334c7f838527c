// Any bytes as a scenario: read, evaluated, written and read again as the same. Run by libFuzzer.
#include "engine/evaluate/evaluate.h"
#include "engine/io/export/report_json.h"
#include "tests/fuzz/fuzz_words.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace roofscape;
  const io::PresetLibrary& library = fuzz::library();
  const std::string_view text = fuzz::text_of(data, size);
  const auto scenario = io::read_scenario(text, "fuzz.json", library);
  if (!scenario) {
    fuzz::one_line(scenario.error());
    return 0;
  }
  const auto again = io::read_scenario(io::write_scenario(scenario.value(), library), "again.json", library);
  if (!again || !(again.value() == scenario.value())) std::abort();
  io::report_json(scenario.value(), engine::evaluate(scenario.value()), library);
  return 0;
}
