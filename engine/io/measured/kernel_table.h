// Tables of kernels and rows of numbers. For the .cpp files of engine/io/measured.
#pragma once

#include <string_view>

#include "engine/io/json/result.h"
#include "engine/studies/measured_run.h"

namespace roofscape::io {

// Nsight Systems: nsys stats --report cuda_gpu_kern_sum --format csv, its memory operations too.
bool is_nsys_table(std::string_view text);
Result<engine::MeasuredRun> read_nsys_table(std::string_view text, std::string_view file, int steps);
// Operations with their FLOPs, bytes and seconds (engine/io/import/measured_file.h), each once a step.
Result<engine::MeasuredRun> read_operation_times(std::string_view text, std::string_view file, int steps);

// Numbers of a step by name: "step=12.1s,mfu=41%,memory=61GiB", a JSON object of them, or CSV with one row.
bool is_measured_row(std::string_view text);
Result<engine::MeasuredRun> read_measured_row(std::string_view text, std::string_view file);

}  // namespace roofscape::io
