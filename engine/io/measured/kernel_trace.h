// The kernels of one rank as a profiler saw them, and what they add up to over several ranks. For the .cpp files of
// engine/io/measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/io/json/result.h"
#include "engine/io/measured/text_stream.h"
#include "engine/studies/measured_run.h"

namespace roofscape::io {

inline constexpr std::size_t kMostTracedKernels = 40'000'000;

struct TracedKernel {
  double start_us = 0, end_us = 0;
  std::uint32_t name = 0;   // of RankTrace::names
  std::uint32_t group = 0;  // of RankTrace::groups; collectives
  std::int64_t correlation = -1;
};
struct StepMark {
  double start_us = 0, end_us = 0;
};
struct KernelName {
  std::string text;
  std::optional<engine::MeasuredCollective> collective;
  engine::WorkKind work = engine::WorkKind::unknown;
};
struct RankTrace {
  std::vector<KernelName> names;
  std::vector<std::string> groups;  // process groups; the first is that of kernels that name none
  std::vector<TracedKernel> kernels;
  std::vector<std::pair<std::int64_t, double>> launches;  // correlation, and when the host's call was over
  std::vector<StepMark> steps;                            // by the profiler; on the device where it has them
  std::optional<double> allocated_bytes, reserved_bytes;
  std::optional<int> rank;
};

// A Chrome trace as PyTorch's profiler writes it.
Result<RankTrace> read_chrome_trace(TextStream&, const std::string& file);

// `steps`: how many a trace without marks holds.
engine::MeasuredRun measured_of(std::vector<RankTrace> ranks, int steps);

}  // namespace roofscape::io
