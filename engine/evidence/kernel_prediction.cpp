#include "engine/evidence/kernel_prediction.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "engine/calibration/kernels.h"
#include "engine/hardware/roofline.h"
#include "engine/inputs/inputs.h"

namespace roofscape::evidence {
namespace {

using engine::say;
using engine::Scenario;

// Between kernels that are timed in a row, in flight ahead of the chip: what a captured graph leaves between its own.
// The wider gaps of a training program are its host's.
constexpr double kGapInRow_s = 2.5e-6;
// Alone between two events, behind an empty queue and a cold cache: what a copy of 1 MiB takes, of which half a
// microsecond moves it (H200, presets/evidence/kernels-h200.json). A copy to or from the host: what 4 KiB take.
constexpr double kStartAlone_s = 5e-6, kStartOfHostCopy_s = 9.5e-6;
// The same product of 8192 x 8192 x 8192 in 16 bits on an H200, five times in a row and for twelve seconds: 1.390 and
// 1.632 ms, the clock at 1.98 and 1.48 GHz, then at 688 of 700 watts (tests/bench/gpu, section "sustained").
constexpr double kBoost = 1.632 / 1.390;
constexpr double kMostOfPeak = 0.98;

std::optional<engine::Dtype> dtype_of(const std::string& precision) {
  if (precision == "bf16" || precision == "fp16") return engine::Dtype::bf16;
  if (precision == "fp8") return engine::Dtype::fp8;
  return std::nullopt;
}

// How often a kernel over vectors reads or writes a tensor, each once; 0: it is none.
double passes_of(std::string_view op) {
  struct Row {
    std::string_view op;
    double passes;
  };
  constexpr std::array<Row, 7> kRows{
      {{"softmax", 2}, {"rms_norm", 2}, {"silu", 2}, {"copy", 2}, {"add", 3}, {"fill", 1}, {"sum", 1}}};
  for (const Row& row : kRows)
    if (row.op == op) return row.passes;
  return 0;
}

}  // namespace

Prediction kernel_value(const io::Measurement& entry, const engine::Cluster& cluster, engine::Mode mode,
                        const std::string& quantity) {
  const engine::Chip& chip = cluster.chip;
  const io::MeasuredShape& op = *entry.operation;
  if (quantity == "peak_tflops" || quantity == "fraction_of_peak") return say("evidence.unpredicted.not_measured");
  const auto dtype = dtype_of(entry.precision);
  if (!dtype) return say("evidence.unpredicted.precision_model");
  const auto peak = chip[engine::peak_field(*dtype)].value;
  const auto bandwidth = chip[engine::ChipField::hbm_bytes_per_s].value;
  if (!peak || !bandwidth) return say("evidence.unpredicted.chip_figure");
  const double width = engine::bytes_of(*dtype), out_width = 2;
  Scenario s;
  s.cluster = cluster;
  s.assumptions.mode = mode;
  s.precision.compute = *dtype;
  s.precision.weights = *dtype;
  const bool calibrated = mode != engine::Mode::ideal;
  auto in = engine::make_inputs<double>(s, nullptr);
  double& gap = in.calibration.values[static_cast<std::size_t>(engine::Calibrated::kernel_gap)];
  gap = entry.short_run ? kStartAlone_s : std::min(gap, kGapInRow_s);
  const double memory = calibrated ? in.calibration.hbm : *bandwidth;
  double flops = 0, bytes = 0, seconds = 0;
  if (op.op == "gemm" || op.op == "bmm" || op.op == "grouped_gemm") {
    const double rows = op.m_per_group.value_or(op.m.value_or(0));
    const double times = op.batch.value_or(op.groups.value_or(1));
    if (!(rows > 0) || !op.n || !op.k) return say("evidence.unpredicted.shape");
    const engine::MatmulShape<double> shape{rows, *op.k, *op.n};
    flops = times * engine::matmul_flops(shape);
    bytes = times * (width * (rows * *op.k + *op.k * *op.n) + out_width * rows * *op.n);
    seconds = calibrated ? engine::product_time(in, engine::ProductShape<double>{rows, *op.k, *op.n, times}, width,
                                                engine::is_narrow_float(*dtype) ? *dtype : engine::Dtype::none, -1)
                         : std::max(engine::time_at(flops, *peak), engine::time_at(bytes, *bandwidth));
  } else if (const double passes = passes_of(op.op); passes > 0 && op.elements) {
    bytes = passes * width * *op.elements;
    seconds = engine::time_at(bytes, memory) + (calibrated ? gap : 0);
  } else if (op.op == "attention_forward" || op.op == "attention_backward") {
    if (!op.tokens || !op.heads || !op.d_head) return say("evidence.unpredicted.shape");
    const bool back = op.op == "attention_backward";
    const double forward =
        4 * op.batch.value_or(1) * *op.tokens * *op.tokens * *op.heads * *op.d_head * (op.causal ? 0.5 : 1);
    flops = (back ? engine::kAttentionBackward : 1) * forward;
    const engine::AttentionTime<double> time = engine::attention_time(in, forward, *op.tokens, *op.d_head);
    seconds = !calibrated ? engine::time_at(flops, *peak) : back ? time.backward : time.forward;
  } else if (op.op == "host_to_device" || op.op == "device_to_host") {
    if (!op.bytes) return say("evidence.unpredicted.shape");
    if (!(in.chip.pcie > 0)) return say("evidence.unpredicted.chip_figure");
    bytes = *op.bytes;
    seconds = engine::time_at(bytes, in.achieved.pcie) + (calibrated && entry.short_run ? kStartOfHostCopy_s : 0);
  } else if (op.op == "flash_attention") {
    if (quantity == "tflops_max")
      return *peak * (calibrated ? in.calibration[engine::Calibrated::attention_forward] : 1) / kTera;
    return say("evidence.unpredicted.shape");
  } else {
    return say("evidence.unpredicted.operation");
  }
  if (quantity == "time_s") return seconds;
  if (quantity == "time_ms") return seconds * 1e3;
  if (quantity == "time_us") return seconds * 1e6;
  if (quantity == "tflops" && flops > 0) return flops / seconds / kTera;
  if (quantity == "gb_s") return bytes / seconds / kGiga;
  return say("evidence.unpredicted.quantity");
}

void keep_one_device(engine::Chip& chip, int devices) {
  using enum engine::ChipField;
  for (const engine::ChipField field :
       {engine::peak_field(engine::Dtype::bf16), engine::peak_field(engine::Dtype::fp8), hbm_bytes_per_s,
        tensorcores_per_chip, sm_count})
    if (auto& value = chip[field].value) *value /= devices;
}

void run_at_boost_clock(engine::Chip& chip) {
  using enum engine::Calibrated;
  for (engine::CalibrationValues& values : chip.calibration.stacks)
    for (const engine::Calibrated rate :
         {matmul_efficiency, matmul_efficiency_fp8, matmul_efficiency_fp4, attention_forward, attention_backward})
      values[rate] = std::min(values[rate] * kBoost, std::max(values[rate], kMostOfPeak));
}

std::string operation_of(const io::Measurement& entry, const std::string& quantity) {
  const std::string kind = kind_of(entry, quantity);
  if (kind == "layer") return quantity == "decode_ms" ? "decode_layer" : kind;
  if (kind == "fits") return kind;
  if (kind != "kernel") return {};
  const std::string& op = entry.operation->op;
  if (entry.operation->bytes) return "host_link";
  return (passes_of(op) > 0 ? "vector" : op) + (entry.precision.empty() ? std::string() : " " + entry.precision);
}

}  // namespace roofscape::evidence
