// Any bytes as a scenario: read, evaluated, written and read again as the same. Run by libFuzzer.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine/evaluate/evaluate.h"
#include "engine/io/export/report_json.h"
#include "engine/io/presets/resources.h"
#include "engine/io/scenario/scenario_json.h"
#include "widgets/plot/text_table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace roofscape;
  static const io::PresetLibrary library;
  static const auto words = io::read_flat_map(io::embedded_text("assets/strings/en.json"), "en.json").value();
  static const widgets::TextTable english({words.begin(), words.end()});
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto scenario = io::read_scenario(text, "fuzz.json", library);
  if (!scenario) {
    if (io::to_text(scenario.error(), english).find('\n') != std::string::npos) std::abort();
    return 0;
  }
  const auto again = io::read_scenario(io::write_scenario(scenario.value(), library), "again.json", library);
  if (!again || !(again.value() == scenario.value())) std::abort();
  io::report_json(scenario.value(), engine::evaluate(scenario.value()), library);
  return 0;
}
