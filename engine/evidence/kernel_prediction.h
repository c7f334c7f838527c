// What one kernel on one chip is predicted to take. For the .cpp files of engine/evidence.
#pragma once

#include <string>

#include "engine/evidence/measured_prediction.h"
#include "engine/scenario/chip.h"

namespace roofscape::evidence {

// A matrix multiplication, several of them, attention, a pass over vectors, a copy to or from the host.
Prediction kernel_value(const io::Measurement&, const engine::Cluster&, engine::Mode, const std::string& quantity);

// Operations are timed on one device of a chip that has several: it has its share of the chip's units and bandwidth.
void keep_one_device(engine::Chip&, int devices);

// What the calibrations say is of steps, which keep a chip at its power limit. A few kernels in a row run at the boost
// clock: their rates are higher.
void run_at_boost_clock(engine::Chip&);

// What a measured piece of a step is summed up under: "gemm fp8", "attention_forward bf16", "vector bf16", "host_link",
// "layer", "decode_layer", "fits"; empty: it is none.
std::string operation_of(const io::Measurement&, const std::string& quantity);

}  // namespace roofscape::evidence
