// Calibration: the few numbers by which a chip with its software stays below its data sheet (calibration_parameters.def). Values
// come from presets/calibration, where each has its origin; the engine only calculates with them. In ideal mode none
// is read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/enum_table.h"
#include "engine/base/unit.h"

namespace roofscape::engine {

enum class Calibrated : std::uint8_t {
#define CALIBRATION(name, id, symbol, unit, least, most, ideal) name,
#include "engine/base/calibration_parameters.def"
#undef CALIBRATION
};

// What a host takes of a training step. Software that was fitted to training has none of it where it serves.
inline constexpr std::array kHostTimes{Calibrated::step_host, Calibrated::issue, Calibrated::expert_issue};

// What a host takes of the kernels of layers, of which a step that is replayed as one graph has none.
constexpr bool starts_layers(Calibrated parameter) {
  return parameter == Calibrated::issue || parameter == Calibrated::expert_issue || parameter == Calibrated::wait;
}

struct CalibrationRow {
  Calibrated parameter;
  std::string_view id;
  Unit unit;
  double least, most, ideal;
};
inline constexpr std::array kCalibrationRows{
#define CALIBRATION(name, id, symbol, unit, least, most, ideal) \
  CalibrationRow{Calibrated::name, id, unit, least, most, ideal},
#include "engine/base/calibration_parameters.def"
#undef CALIBRATION
};
inline constexpr std::size_t kCalibrationCount = kCalibrationRows.size();

struct CalibrationValues {
  std::array<double, kCalibrationCount> values = [] {
    std::array<double, kCalibrationCount> ideal{};
    for (std::size_t i = 0; i < kCalibrationCount; ++i) ideal[i] = kCalibrationRows[i].ideal;
    return ideal;
  }();
  constexpr double operator[](Calibrated p) const { return values[static_cast<std::size_t>(p)]; }
  constexpr double& operator[](Calibrated p) { return values[static_cast<std::size_t>(p)]; }
  friend bool operator==(const CalibrationValues&, const CalibrationValues&) = default;
};

// Generations of software: what their kernels and schedules do, whatever the chip. The last three serve, the rest
// trains; JAX does both.
enum class SoftwareStack : std::uint8_t {
  megatron_2021,  // Megatron-LM and Megatron-DeepSpeed before FlashAttention: scores in HBM, transfers after the work
  megatron,       // Megatron-Core and its relatives: fused attention, transfers partly under the work
  megatron_2026,  // Megatron-Core with the whole step as one graph: fused experts, their transfers beside other work
  torch_fsdp,     // PyTorch with (hybrid) fully sharded data parallelism
  xla,            // JAX: compiled, collectives scheduled by the compiler
  faster_transformer,  // fused kernels started one by one; a batch of requests runs from start to end (2021 to 2023)
  torch_compile,       // compiled PyTorch as a graph, one batch from start to end (gpt-fast)
  inflight,  // TensorRT-LLM, vLLM and SGLang: graphs of kernels, paged cache, requests join and leave the batch
};
inline constexpr std::size_t kSoftwareStacks = kEnumCount<SoftwareStack>;
inline constexpr EnumTable<SoftwareStack> kSoftwareStackIds{"megatron-2021", "megatron", "megatron-2026",
                                                            "torch-fsdp",    "xla",      "faster-transformer",
                                                            "torch-compile", "inflight"};
constexpr bool is_serving_stack(SoftwareStack stack) { return stack >= SoftwareStack::faster_transformer; }
// Whose values a stack has on a chip of which no file tells its own, but for those that start layers; itself: nobody's.
constexpr SoftwareStack forerunner(SoftwareStack stack) {
  return stack == SoftwareStack::megatron_2026 ? SoftwareStack::megatron : stack;
}

// What one chip has with each stack.
struct Calibration {
  std::array<CalibrationValues, kSoftwareStacks> stacks;
  std::string source;  // "presets/calibration/h100.json"; empty: there is none for this chip
  friend bool operator==(const Calibration&, const Calibration&) = default;
};

}  // namespace roofscape::engine
