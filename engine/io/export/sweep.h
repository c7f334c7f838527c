// Sweeps (engine/studies/sweep.h) as `roofscape-cli sweep` takes and prints them. Values are texts as they are typed
// after "path=", so presets (model, cluster, cluster.chip) can be varied like numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/quantity.h"
#include "engine/io/json/result.h"
#include "engine/io/presets/preset_library.h"
#include "engine/scenario/scenario.h"
#include "engine/studies/sweep.h"

namespace roofscape::io {

struct VariedField {
  std::string path;
  std::vector<std::string> values;
};
// "workload.batch=1,8,16"
Result<VariedField> read_varied_field(std::string_view text);

// Ids with commas, of quantities that have a slot in a report; empty: the ones that matter most to this kind of
// workload.
Result<std::vector<engine::Q>> read_sweep_quantities(std::string_view list, engine::WorkloadKind kind);

struct SweepTable {
  std::vector<VariedField> varied;
  std::vector<engine::Q> quantities;
  std::vector<engine::SweepRow> rows;  // the last field varies fastest
  bool has_errors() const;
};
inline constexpr std::size_t kMostSweepRows = 100000;

// Fails on a path or value that cannot be set, and on more than kMostSweepRows combinations.
Result<SweepTable> run_sweep(const engine::Scenario&, std::vector<VariedField>, std::vector<engine::Q>,
                             const PresetLibrary&);

std::string sweep_csv(const SweepTable&);  // numbers in full
std::string sweep_json(const SweepTable&);

}  // namespace roofscape::io
