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

// What is wrong with --steps, 0 where it was not given: it tells how to read what --measured names.
inline io::Failure check_steps(const std::vector<std::string>& measured, int steps) {
  if (steps == 0 || !measured.empty()) return std::nullopt;
  return io::InputError{
      {}, "--steps", engine::say("error.measured.missing"), engine::say("error.measured.missing.remedy")};
}

}  // namespace roofscape::app::cli
