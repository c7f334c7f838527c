// Any bytes as the file of a calibration, of measurements, of a recipe of figures, of a tour, of a layout of layers and of
// a model's config.json, and as the model or the cluster of a scenario. Run by libFuzzer.
#include "engine/io/huggingface/hf_config.h"
#include "engine/io/presets/calibration_json.h"
#include "engine/io/presets/measurements.h"
#include "engine/io/scenario/figure_recipe.h"
#include "engine/io/scenario/layer_layout.h"
#include "engine/io/tour/tour.h"
#include "tests/fuzz/fuzz_words.h"

namespace {

template <class Read>
void answered(const Read& read) {
  if (!read) roofscape::fuzz::one_line(read.error());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace roofscape;
  const std::string_view text = fuzz::text_of(data, size);
  answered(io::read_calibration(text, "fuzz.json", "fuzz",
                                [](std::string_view) -> const io::CalibrationFile* { return nullptr; }));
  answered(io::read_measurements_file(text, "fuzz.json"));
  answered(io::read_recipe(text, "fuzz.json"));
  answered(io::read_tour(text, "fuzz.json", fuzz::library()));
  answered(io::read_layer_layout(text));
  answered(io::read_hf_config(text, "fuzz.json"));
  for (const char* part : {"model", "cluster"}) {
    const auto scenario =
        io::read_scenario("{\"" + std::string(part) + "\": " + std::string(text) + "}", "fuzz.json", fuzz::library());
    answered(scenario);
    if (!scenario) continue;
    const auto again =
        io::read_scenario(io::write_scenario(scenario.value(), fuzz::library()), "again.json", fuzz::library());
    if (!again || !(again.value() == scenario.value())) std::abort();
  }
  return 0;
}
