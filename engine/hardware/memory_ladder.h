// The ladder of memories a chip can reach, from its registers to the rest of its cluster: how much each rung holds,
// and how fast one chip moves bytes to or from it, one way (scaling book, chapters 2 and 12; CS231n lecture on
// large-scale training). Published figures only: a capacity or a rate that no maker states is absent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

enum class Memory : std::uint8_t {
  registers,
  vector_registers,
  tensor_memory,
  shared_memory,
  vmem,
  cmem,
  l2,
  last_level_cache,
  hbm,
  node,    // HBM of the chips of one node, over its links
  torus,   // HBM of one slice, over its torus
  fabric,  // HBM below one switch of a fabric level; without stated levels, of the whole cluster
  dcn,     // HBM of all slices, over the data-centre network
};
inline constexpr EnumTable<Memory> kMemoryIds{
    "registers", "vector_registers", "tensor_memory", "shared_memory", "vmem",  "cmem",
    "l2",        "last_level_cache", "hbm",           "node",          "torus", "fabric",
    "dcn"};

struct MemoryRung {
  Memory memory = Memory::hbm;
  std::string level;                    // fabric: name of the level, may be empty
  std::optional<double> bytes;          // of a chip; across chips, of all that the rung reaches
  std::optional<double> bytes_per_s;    // of one chip, one way
  double chips = 1;                     // whose memory it is
  std::optional<double> flop_per_byte;  // arithmetic a byte must bring for the rung not to be the limit
};

// From near to far. Parts the chip does not have, and rungs that reach no further than the one before, are not in it.
// FLOPs are those of ladder_peak().
std::vector<MemoryRung> memory_ladder(const Cluster&, ChipField peak = ChipField::peak_bf16_dense_flops_per_s);

// The peak asked for where it is published; else that of bf16, and for older chips of fp16 or fp32.
ChipField ladder_peak(const Chip&, ChipField peak);

}  // namespace roofscape::engine
