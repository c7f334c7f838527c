// Any bytes as a launch file: whatever format its content is taken for, it is read with a receipt or refused in one line,
// and what was read complete is evaluated. Run by libFuzzer.
#include <iterator>

#include "engine/evaluate/evaluate.h"
#include "engine/io/import/import_launch.h"
#include "tests/fuzz/fuzz_words.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace roofscape;
  const io::PresetLibrary& library = fuzz::library();
  if (size == 0) return 0;
  // The last byte chooses the chips.
  constexpr const char* kClusters[] = {"", "h100-sxm", "h100-sxm:64", "tpu-v5p:512", "tpu-7x"};
  const std::string_view text = fuzz::text_of(data, size - 1);
  const auto imported =
      io::import_launch(text, "fuzz", {kClusters[data[size - 1] % std::size(kClusters)], {}}, library);
  if (!imported) {
    fuzz::one_line(imported.error());
    return 0;
  }
  if (io::receipt_json(imported.value(), library, fuzz::english()).empty()) std::abort();
  // Large meshes are legal and slow.
  if (!imported->complete() || imported->scenario.workload.global_batch_sequences > 4096) return 0;
  const auto again = io::read_scenario(io::write_scenario(imported->scenario, library), "again.json", library);
  if (!again) std::abort();
  if (engine::chip_count(again->cluster) <= 4096 && again->pipeline.virtual_stages <= 8)
    engine::evaluate(again.value());
  return 0;
}
