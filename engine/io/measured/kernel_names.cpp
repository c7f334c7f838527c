#include "engine/io/measured/kernel_names.h"
#include "engine/base/ascii.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace roofscape::io {

namespace {

using engine::MeasuredCollective;
using engine::WorkKind;

// Of a name of any length what a word may stand in.
std::string small_letters(std::string_view name) { return engine::ascii_lower(name.substr(0, 400)); }

struct WorkWord {
  std::string_view word;
  WorkKind kind;
};
// The first that a name holds decides.
constexpr std::array kWorkWords{
    WorkWord{"memcpy dtoh", WorkKind::host_copy},
    WorkWord{"memcpy htod", WorkKind::host_copy},
    WorkWord{"memcpy device-to-host", WorkKind::host_copy},
    WorkWord{"memcpy host-to-device", WorkKind::host_copy},
    WorkWord{"memcpy", WorkKind::vector},
    WorkWord{"memset", WorkKind::vector},
    WorkWord{"adam", WorkKind::optimizer},
    WorkWord{"multi_tensor", WorkKind::optimizer},
    WorkWord{"multitensor", WorkKind::optimizer},
    WorkWord{"optimizer", WorkKind::optimizer},
    WorkWord{"lamb", WorkKind::optimizer},
    WorkWord{"flash", WorkKind::attention},
    WorkWord{"fmha", WorkKind::attention},
    WorkWord{"attention", WorkKind::attention},
    WorkWord{"attn", WorkKind::attention},
    WorkWord{"sdpa", WorkKind::attention},
    WorkWord{"paged", WorkKind::attention},
    WorkWord{"softmax", WorkKind::vector},
    WorkWord{"gemm", WorkKind::matmul},
    WorkWord{"gemv", WorkKind::matmul},
    WorkWord{"nvjet", WorkKind::matmul},
    WorkWord{"cublas", WorkKind::matmul},
    WorkWord{"cutlass", WorkKind::matmul},
    WorkWord{"xmma", WorkKind::matmul},
    WorkWord{"s16816", WorkKind::matmul},
    WorkWord{"s1688", WorkKind::matmul},
    WorkWord{"matmul", WorkKind::matmul},
    WorkWord{"triton_mm", WorkKind::matmul},
    WorkWord{"splitkreduce", WorkKind::matmul},
    WorkWord{"tensile", WorkKind::matmul},
    WorkWord{"cijk_", WorkKind::matmul},
    WorkWord{"norm", WorkKind::vector},
    WorkWord{"elementwise", WorkKind::vector},
    WorkWord{"triton_", WorkKind::vector},
    WorkWord{"reduce_kernel", WorkKind::vector},
    WorkWord{"dropout", WorkKind::vector},
    WorkWord{"gelu", WorkKind::vector},
    WorkWord{"silu", WorkKind::vector},
    WorkWord{"swiglu", WorkKind::vector},
    WorkWord{"rotary", WorkKind::vector},
    WorkWord{"rope", WorkKind::vector},
    WorkWord{"embedding", WorkKind::vector},
    WorkWord{"cross_entropy", WorkKind::vector},
    WorkWord{"nll_loss", WorkKind::vector},
    WorkWord{"indexselect", WorkKind::vector},
    WorkWord{"index", WorkKind::vector},
    WorkWord{"scatter", WorkKind::vector},
    WorkWord{"gather", WorkKind::vector},
    WorkWord{"catarray", WorkKind::vector},
    WorkWord{"cat_", WorkKind::vector},
    WorkWord{"copy", WorkKind::vector},
    WorkWord{"transpose", WorkKind::vector},
    WorkWord{"permute", WorkKind::vector},
    WorkWord{"topk", WorkKind::vector},
    WorkWord{"sort", WorkKind::vector},
    WorkWord{"cast", WorkKind::vector},
    WorkWord{"quantize", WorkKind::vector},
    WorkWord{"fill", WorkKind::vector},
};

struct CollectiveWord {
  std::string_view word;
  MeasuredCollective kind;
};
constexpr std::array kCollectiveWords{
    CollectiveWord{"alltoall", MeasuredCollective::all_to_all},
    CollectiveWord{"all_to_all", MeasuredCollective::all_to_all},
    CollectiveWord{"reducescatter", MeasuredCollective::reduce_scatter},
    CollectiveWord{"reduce_scatter", MeasuredCollective::reduce_scatter},
    CollectiveWord{"allgather", MeasuredCollective::all_gather},
    CollectiveWord{"all_gather", MeasuredCollective::all_gather},
    CollectiveWord{"allreduce", MeasuredCollective::all_reduce},
    CollectiveWord{"all_reduce", MeasuredCollective::all_reduce},
    CollectiveWord{"sendrecv", MeasuredCollective::send_recv},
    CollectiveWord{"send", MeasuredCollective::send_recv},
    CollectiveWord{"recv", MeasuredCollective::send_recv},
};

std::optional<MeasuredCollective> kind_in(const std::string& name) {
  for (const auto& [word, kind] : kCollectiveWords)
    if (name.find(word) != std::string::npos) return kind;
  return std::nullopt;
}

}  // namespace

std::optional<MeasuredCollective> collective_of(std::string_view kernel, std::string_view collective) {
  const std::string name = small_letters(kernel);
  const bool library = name.find("nccl") != std::string::npos || name.find("rccl") != std::string::npos ||
                       name.find("mscclpp") != std::string::npos;
  // Exchanges of tokens that are written for it.
  if (name.find("deep_ep") != std::string::npos) return MeasuredCollective::all_to_all;
  if (!library && name.find("cross_device_reduce") != std::string::npos) return MeasuredCollective::all_reduce;
  if (!library) return std::nullopt;
  if (const auto stated = kind_in(small_letters(collective))) return stated;
  return kind_in(name).value_or(MeasuredCollective::other);
}

WorkKind work_of(std::string_view kernel) {
  const std::string name = small_letters(kernel);
  const auto found = std::find_if(kWorkWords.begin(), kWorkWords.end(),
                                  [&](const WorkWord& row) { return name.find(row.word) != std::string::npos; });
  return found == kWorkWords.end() ? WorkKind::unknown : found->kind;
}

}  // namespace roofscape::io
