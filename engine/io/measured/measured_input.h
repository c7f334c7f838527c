// What says how long a step of a real run took, and what ran in it: lines of a training log (Megatron-LM, torchtitan,
// MaxText, nanotron), a row of numbers, operations or kernel sums as a table (Nsight Systems' CSV), traces of PyTorch's
// profiler (Chrome trace JSON), SQLite exports of Nsight Systems, what PyTorch says of its memory. Recognised by content;
// any of them but a database may be packed with gzip. Errors say file and place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/io/json/result.h"
#include "engine/io/measured/text_stream.h"
#include "engine/studies/measured_run.h"

namespace roofscape::io {

struct MeasuredOptions {
  int steps = 0;               // that a table of kernels or a trace without marks holds; 0: one
  ReadProgress progress = {};  // over all inputs
};

// Each input is a file, or, where there is no such file, a log line or "step=12.1s,mfu=0.41,memory=61GiB" itself. Several
// traces are ranks of one job. What two inputs say differently of one number is refused with both.
Result<engine::MeasuredRun> read_measured_run(const std::vector<std::string>& inputs, const MeasuredOptions&);

// Whether a file's beginning looks like one of these: for a file that is dropped.
bool is_measured_run(std::string_view beginning);

}  // namespace roofscape::io
