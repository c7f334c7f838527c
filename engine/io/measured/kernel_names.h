// What a kernel does, by its name in a profiler's output. For the .cpp files of engine/io/measured.
#pragma once

#include <optional>
#include <string_view>

#include "engine/studies/measured_run.h"

namespace roofscape::io {

// Of a kernel that moves data between ranks; none: it does work. `collective`: the profiler's own name for it, where it
// gives one ("_allgather_base"), which tells what NCCL runs as sends and receives.
std::optional<engine::MeasuredCollective> collective_of(std::string_view kernel, std::string_view collective = {});
engine::WorkKind work_of(std::string_view kernel);

}  // namespace roofscape::io
