#include "engine/hardware/memory_ladder.h"

#include <algorithm>

#include "engine/hardware/roofline.h"

namespace roofscape::engine {
namespace {

using Figure = std::optional<double>;

Figure times(Figure a, Figure b) { return a && b ? Figure(*a * *b) : std::nullopt; }

// Links of a chip that lead to another one of the slice.
int torus_links(const std::array<int, 3>& slice) {
  int links = 0;
  for (const int side : slice) links += side > 2 ? 2 : side > 1 ? 1 : 0;
  return links;
}

}  // namespace

ChipField ladder_peak(const Chip& chip, ChipField peak) {
  for (const ChipField field : {peak, ChipField::peak_bf16_dense_flops_per_s, ChipField::peak_fp16_dense_flops_per_s,
                                ChipField::peak_fp32_vector_flops_per_s})
    if (chip[field].value) return field;
  return peak;
}

std::vector<MemoryRung> memory_ladder(const Cluster& cluster, ChipField wanted) {
  const Chip& chip = cluster.chip;
  const auto of = [&](ChipField field) { return chip[field].value; };
  std::vector<MemoryRung> out;
  const Figure peak = of(ladder_peak(chip, wanted));
  const auto add = [&](Memory memory, Figure bytes, Figure rate, double chips = 1, std::string level = {}) {
    if (!bytes && !rate) return;
    MemoryRung& rung = out.emplace_back(MemoryRung{memory, std::move(level), bytes, rate, chips, {}});
    if (peak && rate && *rate > 0) rung.flop_per_byte = ridge_point(*peak, *rate);
  };

  const Figure sms = of(ChipField::sm_count);
  add(Memory::registers, times(of(ChipField::register_bytes_per_sm), sms), {});
  add(Memory::vector_registers, of(ChipField::vreg_bytes_per_chip), {});
  add(Memory::tensor_memory, times(of(ChipField::tmem_bytes_per_sm), sms), {});
  add(Memory::shared_memory, times(of(ChipField::smem_l1_bytes_per_sm), sms),
      times(times(of(ChipField::smem_bytes_per_cycle_per_sm), sms), of(ChipField::clock_hz_boost)));
  add(Memory::vmem, of(ChipField::vmem_bytes_per_chip), of(ChipField::vmem_bytes_per_s));
  add(Memory::cmem, of(ChipField::cmem_bytes_per_chip), {});
  add(Memory::l2, of(ChipField::l2_bytes_per_chip), of(ChipField::l2_bytes_per_s));
  add(Memory::last_level_cache, of(ChipField::llc_bytes_per_chip), {});
  const Figure hbm = of(ChipField::hbm_bytes);
  add(Memory::hbm, hbm, of(ChipField::hbm_bytes_per_s));

  const auto all = static_cast<double>(chip_count(cluster));
  if (chip.interconnect == Interconnect::torus) {
    double slice = 1;
    for (const int side : cluster.slice) slice *= side;
    if (slice > 1)
      add(Memory::torus, times(hbm, slice),
          times(of(ChipField::ici_bytes_per_s_per_link_oneway), torus_links(cluster.slice)), slice);
    // A lone slice has no other to reach, but its host has the network all the same.
    add(Memory::dcn, cluster.slices > 1 ? times(hbm, all) : std::nullopt, of(ChipField::dcn_bytes_per_s_per_chip),
        all);
    return out;
  }
  const auto node = static_cast<double>(cluster.node_size);
  if (cluster.node_size > 1)
    add(Memory::node, times(hbm, node), of(ChipField::scaleup_bytes_per_s_per_chip_oneway), node);
  if (cluster.nodes <= 1) return out;
  if (cluster.fabric.empty())
    add(Memory::fabric, times(hbm, all), of(ChipField::scaleout_bytes_per_s_per_chip_oneway), all);
  double below = node;
  for (std::size_t i = 0; i < cluster.fabric.size() && below < all; ++i) {
    const FabricLevel& level = cluster.fabric[i];
    const bool last = i + 1 == cluster.fabric.size();
    const double reach = last ? all : std::min(all, below * level.degree);
    if (reach > below) add(Memory::fabric, times(hbm, reach), level.bytes_per_s_per_child / below, reach, level.name);
    below = reach;
  }
  return out;
}

}  // namespace roofscape::engine
