// Measurements that a command works on.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "engine/io/presets/evidence_files.h"

namespace roofscape::app::cli {

// Those of a file, or without one those that ship.
inline io::Result<std::vector<io::Measurement>> measurements(const Context& context, const std::string& file) {
  if (!file.empty()) return io::load_measurements(file);
  auto shipped = io::load_evidence(context.library);
  if (!shipped) return shipped.error();
  return std::move(shipped.value().entries);
}

}  // namespace roofscape::app::cli
