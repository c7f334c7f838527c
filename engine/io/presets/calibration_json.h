// Calibrations as JSON, presets/calibration/*.json: what software reaches on the chips of a family.
//
// {"format": "roofscape/calibration", "version": 1, "name": "...", "source": "...", "chips": ["h100-sxm", ...],
//  "inherits": "other-file" (optional: its values first),
//  "pull": 0.1,  how strongly what is searched is held to its start (engine/evidence/calibration_fit.h)
//  "parameters": {id: {"value": x, "start": y, "source": "..."}, ...},  with every stack
//  "stacks": {"megatron": {id: {...}, ...}},                            what that software has of its own
//  "left_out": {"values": ["matmul_efficiency", "megatron.vector_passes", ...],
//               "model": {"GPT-3 175B": [x, ...], ...}, "source": {...}, "fold": {...}}}
// A value with a "start" was searched from there by `calibrate`: with "runs", "sources", "low" and "high" so many runs
// of so many sources decide it within that interval; without, too few do and it stands at its start. One without a
// "start" is a fact, or a guess that nothing measured decides. "left_out" has the values that were found without the
// runs of one model, one source, or one of ten folds.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/io/json/result.h"
#include "engine/scenario/calibration.h"

namespace roofscape::io {

// One value that is searched: of one stack, or of all of them together that have none of their own
// (stack == engine::kSoftwareStacks).
struct SearchedValue {
  std::size_t parameter = 0, stack = 0;
  std::array<bool, engine::kSoftwareStacks> of{};  // the stacks whose value it is
};

// What decides a searched value. runs == 0: too few; it is its start.
struct Decided {
  std::size_t runs = 0, sources = 0;
  double low = 0, high = 0;
};

// Runs that are left out of a fit together.
enum class LeftOutKind : std::uint8_t { model, source, fold };
inline constexpr engine::EnumTable<LeftOutKind> kLeftOutIds{"model", "source", "fold"};
inline constexpr std::size_t kLeftOutKinds = engine::kEnumCount<LeftOutKind>;
using LeftOut = std::array<std::map<std::string, engine::Calibration>, kLeftOutKinds>;

struct CalibrationFile {
  std::string id, name, source, inherits;
  std::vector<std::string> chips;
  double pull = 0.1;
  engine::Calibration calibration;
  engine::Calibration start;            // where the search begins; what is not searched has its value
  std::vector<SearchedValue> searched;  // in the order of the file's table
  std::vector<Decided> decided;         // of each searched value
  LeftOut left_out;                     // by name: the calibration found without those runs
};

// What `calibrate` found for a file.
struct FittedCalibration {
  engine::Calibration calibration;
  double pull = 0;
  std::vector<Decided> decided;  // of each searched value of the file
  LeftOut left_out;              // empty: not computed
};

// `parent` gives the file that this one inherits from; null if there is none of that id.
Result<CalibrationFile> read_calibration(std::string_view text, std::string_view file, std::string_view id,
                                         const std::function<const CalibrationFile*(std::string_view)>& parent);

// The file's text with what was found for it.
Result<std::string> rewrite_calibration(std::string_view text, const CalibrationFile& file,
                                        const FittedCalibration& fitted);
// The text of one that ships; empty if there is none of that id.
std::string_view shipped_calibration_text(std::string_view id);

// Those that ship, in an order in which parents come first; a file that is wrong is in `problems`.
std::vector<CalibrationFile> shipped_calibrations(std::vector<InputError>& problems);

}  // namespace roofscape::io
