// Lines of training logs. For the .cpp files of engine/io/measured.
#pragma once

#include <string_view>

#include "engine/io/json/result.h"
#include "engine/studies/measured_run.h"

namespace roofscape::io {

// Whether any line of the text is a line of a step that is known.
bool is_training_log(std::string_view text);
// The median over the lines of steps; of memory the most.
Result<engine::MeasuredRun> read_training_log(std::string_view text, std::string_view file);

}  // namespace roofscape::io
