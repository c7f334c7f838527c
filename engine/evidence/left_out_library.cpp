#include "engine/evidence/left_out_library.h"

#include <algorithm>

#include "engine/evidence/calibration_fit.h"

namespace roofscape::evidence {

LeftOutLibrary::LeftOutLibrary(const io::PresetLibrary& with_all) : library_(with_all) {
  std::vector<io::InputError> problems;  // the library has reported them
  files_ = io::shipped_calibrations(problems);
}

const io::PresetLibrary* LeftOutLibrary::without(io::LeftOutKind kind, const io::Measurement& entry) {
  const std::string chip = entry.hardware ? entry.hardware->chip_id : std::string();
  const auto own = std::find_if(files_.begin(), files_.end(), [&](const io::CalibrationFile& file) {
    return std::find(file.chips.begin(), file.chips.end(), chip) != file.chips.end();
  });
  if (own == files_.end() || own->left_out[static_cast<std::size_t>(kind)].empty()) return nullptr;
  std::string name = left_out_name(kind, entry);
  if (kind == kind_ && name == name_) return &library_;
  kind_ = kind;
  name_ = std::move(name);
  for (const io::CalibrationFile& file : files_) {
    const auto& groups = file.left_out[static_cast<std::size_t>(kind)];
    const auto group = groups.find(name_);
    library_.calibrate(file.chips, group != groups.end() ? group->second : file.calibration);
  }
  return &library_;
}

}  // namespace roofscape::evidence
