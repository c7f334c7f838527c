// What PyTorch says of the memory of a rank: torch.cuda.memory_summary() as text, torch.cuda.memory_stats() as JSON, and
// the profiler's export_memory_timeline() as JSON. For the .cpp files of engine/io/measured.
#pragma once

#include <string_view>

#include "engine/io/json/result.h"
#include "engine/studies/measured_run.h"

namespace roofscape::io {

// By the beginning of a file.
bool is_memory_summary(std::string_view text);
bool is_memory_stats(std::string_view text);
bool is_memory_timeline(std::string_view text);

// The peak of what is allocated and reserved. Of a timeline also by what holds it.
Result<engine::MeasuredRun> read_memory_summary(std::string_view text, std::string_view file);
Result<engine::MeasuredRun> read_memory_stats(std::string_view text, std::string_view file);
Result<engine::MeasuredRun> read_memory_timeline(std::string_view text, std::string_view file);

}  // namespace roofscape::io
