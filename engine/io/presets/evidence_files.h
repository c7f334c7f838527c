// The measurements that ship: presets/evidence/<family>.json, each in the format of measurements.h with a "name" for
// people, and over them a user's own files of the same folder. Facts only (configuration, what was measured, where it
// was published); what is predicted for them is computed by the program, never stored.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/io/presets/measurements.h"
#include "engine/io/presets/preset_library.h"

namespace roofscape::io {

struct EvidenceFiles {
  std::vector<Measurement> entries;          // by file name, in the order of each file
  std::map<std::string, std::string> names;  // family: its name
};

// A user's file replaces the shipped one of its name. An id that two files have is an error.
Result<EvidenceFiles> load_evidence(const PresetLibrary&);

}  // namespace roofscape::io
