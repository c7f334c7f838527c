// The launchers and servers that Roofscape writes plans for and whose rules it knows.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "engine/base/enum_table.h"

namespace roofscape::engine {

enum class Framework : std::uint8_t {
  megatron,
  megatron_bridge,
  torchtitan,
  maxtext,
  jax,
  deepspeed,
  vllm,
  sglang,
  trtllm
};

inline constexpr EnumTable<Framework> kFrameworkIds{
    "megatron", "megatron-bridge", "torchtitan", "maxtext", "jax", "deepspeed", "vllm", "sglang", "trtllm"};
inline constexpr std::size_t kFrameworks = kEnumCount<Framework>;
// As their authors write them.
inline constexpr std::array<std::string_view, kFrameworks> kFrameworkNames{
    "Megatron-LM", "Megatron Bridge", "torchtitan", "MaxText", "JAX", "DeepSpeed", "vLLM", "SGLang", "TensorRT-LLM"};

constexpr std::string_view framework_name(Framework framework) {
  return kFrameworkNames[static_cast<std::size_t>(framework)];
}
// The others train.
constexpr bool is_server(Framework framework) {
  return framework == Framework::vllm || framework == Framework::sglang || framework == Framework::trtllm;
}

}  // namespace roofscape::engine
