// Chips and clusters: peaks from units and clocks, totals of pods, switch trees, ratios of two figures.
#include <algorithm>
#include <array>

#include "engine/blocks/spec.h"
#include "engine/hardware/compute_units.h"
#include "engine/hardware/torus_collective.h"
#include "engine/inputs/placement.h"

namespace roofscape::engine::block_table {

namespace {

// What a chip's peak is published as against what its units make: the clock that would make it, and how much faster
// the matrix units are than the vector units, of the published figures where there are both.
template <Scalar S>
void against_published(BlockRun<S>& io, const S& a_cycle, const S& peak, const S& vector) {
  const S published = io[Q::peak_flops], published_vector = io[Q::vector_peak];
  io.out(Q::units_clock, published / a_cycle);
  io.out(Q::units_share, peak / published);
  const bool both = io.knows(Q::peak_flops) && io.knows(Q::vector_peak);
  io.out(Q::ridge_matmul_to_vector, both ? published / published_vector : peak / vector);
}

template <Scalar S>
void gpu_peak(BlockRun<S>& io) {
  const BlockCall& call = io.call();
  const S sms = io[Q::gpu_sms], clock = io[Q::unit_clock];
  const S lanes_sm = io.out(Q::gpu_lanes_sm, io[Q::gpu_partitions] * io[Q::gpu_lanes]);
  const S lanes = io.out(Q::gpu_lanes_total, sms * lanes_sm);
  const S two = constant<S>(2, unit::flop_each);
  const S vector_cycle = io.out(Q::gpu_vector_cycle, two * lanes_sm);
  // As typed, else as the chip states it, else of the tile.
  const bool is_tile = call.is_typed("tile_m") || call.is_typed("tile_n") || call.is_typed("tile_k");
  const bool is_stated = call.is_typed("flops_per_cycle") || (!is_tile && call.chip() != nullptr);
  const S core_cycle = is_stated ? io[Q::gpu_core_cycle]
                                 : tensor_core_flops_a_cycle(io[Q::gpu_core_m], io[Q::gpu_core_n], io[Q::gpu_core_k]);
  const S core = io.out(Q::gpu_core_flops, core_cycle);
  const S sm_cycle = io.out(Q::gpu_sm_cycle, io[Q::gpu_cores] * core);
  io.out(Q::gpu_cycle_ratio, sm_cycle / vector_cycle);
  const S peak = io.out(Q::gpu_peak, peak_of_units(sms, sm_cycle, clock));
  const S vector = io.out(Q::gpu_vector_peak, peak_of_units(sms, vector_cycle, clock));
  io.out(Q::gpu_vector_peak_no_fma, peak_of_units(lanes, constant<S>(1, unit::flop_each), clock));
  against_published(io, named(Q::gpu_chip_cycle, sms * sm_cycle), peak, vector);
  const S smem = io.out(Q::gpu_smem, sms * io[Q::gpu_smem_sm]);
  const S registers = io.out(Q::gpu_registers, sms * io[Q::gpu_registers_sm]);
  io.out(Q::gpu_on_chip, smem + registers);
  const S warps = resident_warps(io[Q::gpu_registers_sm], constant<S>(4, unit::bytes_each),
                                 io[Q::gpu_registers_thread], constant<S>(32));
  const S resident = io.out(Q::gpu_warps, min(floor(warps), io[Q::gpu_most_warps]));
  io.out(Q::gpu_occupancy, resident / io[Q::gpu_most_warps]);
}

template <Scalar S>
void tpu_peak(BlockRun<S>& io) {
  const S clock = io[Q::unit_clock], cores = io[Q::tpu_cores];
  const S cycle =
      io.out(Q::tpu_mxu_cycle, mxu_flops_a_cycle(io[Q::tpu_mxu_rows], io[Q::tpu_mxu_dim], io[Q::tpu_mxu_cycles]));
  io.out(Q::tpu_mxu_peak, peak_of_units(one<S>(), cycle, clock));
  const S mxus = io.out(Q::tpu_mxus_total, cores * io[Q::tpu_mxus]);
  const S peak = io.out(Q::tpu_peak, peak_of_units(mxus, cycle, clock));
  const S lanes = io.out(Q::tpu_lanes, io[Q::tpu_vpu_rows] * io[Q::tpu_vpu_columns]);
  const S alus_core = io.out(Q::tpu_alus_core, lanes * io[Q::tpu_alus]);
  const S alus = io.out(Q::tpu_alus_total, cores * alus_core);
  const S one_flop = constant<S>(1, unit::flop_each);
  io.out(Q::tpu_vector_core, peak_of_units(alus_core, one_flop, clock));
  const S vector = io.out(Q::tpu_vector_peak, peak_of_units(alus, one_flop, clock));
  against_published(io, named(Q::tpu_chip_cycle, mxus * cycle), peak, vector);
  const S registers = io.out(Q::tpu_registers_core, io[Q::tpu_registers] * lanes * io[Q::tpu_register_width]);
  io.out(Q::tpu_registers_chip, cores * registers);
}

template <Scalar S>
void pod(BlockRun<S>& io) {
  const auto dims = io.list(Q::pod_dims);
  const auto sizes = io.integers(Q::pod_dims);
  if (dims.empty()) return io.rest_needs("shape");
  S part = dims.front();
  io.out(Q::pod_cumulative, 0, part);
  for (std::size_t i = 1; i < dims.size(); ++i) part = io.out(Q::pod_cumulative, static_cast<int>(i), part * dims[i]);
  const S chips = io.out(Q::pod_chips, part);
  const S per_host = io[Q::pod_chips_per_host];
  io.out(Q::pod_hosts, ceil(chips / per_host));
  io.out(Q::pod_cores, chips * io[Q::tpu_cores]);
  io.out(Q::pod_peak, chips * io[Q::peak_flops]);
  io.out(Q::pod_hbm, chips * io[Q::hbm_capacity]);
  io.out(Q::pod_hbm_rate, chips * io[Q::hbm_bandwidth]);
  io.out(Q::pod_dcn_host, per_host * io[Q::dcn_bandwidth]);
  io.out(Q::pod_dcn, chips * io[Q::dcn_bandwidth]);
  io.out(Q::pod_link_total, constant<S>(2) * io[Q::pod_torus_axes] * io[Q::transfer_link]);
  // Which rings close is the chip's rule (engine/inputs/placement.h).
  if (sizes.size() > 3) return io.without(Q::pod_wraps, "not_a_torus");
  if (!io.knows(Q::pod_torus_axes)) return io.rest_needs("torus_axes");
  Cluster slice;
  if (io.call().chip() != nullptr) slice.chip.pod_shape = io.call().chip()->pod_shape;
  slice.chip[ChipField::ici_torus_dims].value = io.integer(Q::pod_torus_axes);
  for (std::size_t i = 0; i < sizes.size(); ++i) slice.slice[i] = sizes[i];
  const std::array<bool, 3> closes = closing_axes(slice);
  for (std::size_t i = 0; i < sizes.size(); ++i) io.simulated(Q::pod_wraps, static_cast<int>(i), closes[i] ? 1 : 0);
}

template <Scalar S>
void fat_tree(BlockRun<S>& io) {
  const S link = io[Q::tree_link], ports = io[Q::tree_ports], leaves = io[Q::tree_leaves];
  const S node = io.out(Q::tree_node_rate, io[Q::tree_node_links] * link);
  io.out(Q::tree_gpu_rate, io[Q::tree_gpu_links] * io[Q::tree_gpu_link]);
  io.out(Q::tree_node_gpu_rate, io[Q::tree_gpus_node] * io[Q::tree_gpu_links] * io[Q::tree_gpu_link]);
  io.out(Q::tree_node_switch_rate, io[Q::tree_node_switches] * ports * io[Q::tree_gpu_link]);
  const S unit_gpus = io.out(Q::tree_unit_gpus, io[Q::tree_gpus_node] * io[Q::tree_nodes_unit]);
  const S half = ports / constant<S>(2);  // down, the other half up
  const S leaf = io.out(Q::tree_leaf_rate, leaves * half * link);
  const S leaf_node = io.out(Q::tree_leaf_node_rate, leaf / io[Q::tree_nodes_unit]);
  const S cables = io[Q::tree_cables];
  const S cable = io.out(Q::tree_cable_rate, leaves * io[Q::tree_spines] * cables * link);
  io.out(Q::tree_cable_node_rate, cable / io[Q::tree_nodes_unit]);
  const S spine = io.out(Q::tree_spine_rate, io[Q::tree_spines] * ports * link);
  const S gpus = io[Q::tree_gpus];
  const S nodes = io.out(Q::tree_nodes, ceil(gpus / io[Q::tree_gpus_node]));
  const S units = io.out(Q::tree_units, ceil(gpus / unit_gpus));
  const S spine_node = io.out(Q::tree_spine_node_rate, spine / nodes);
  const S least = io.out(Q::tree_bisection_node, min(min(node, leaf_node), spine_node));
  io.out(Q::tree_bisection_gpu, least / io[Q::tree_gpus_node]);
  io.out(Q::tree_oversubscription, node / spine_node);
  io.out(Q::tree_spines_needed, ceil(nodes * node / (ports * link)));
  io.out(Q::tree_spines_needed_cores, ceil(nodes * node / (half * link)));
  const S leaf_switches = io.out(Q::tree_leaf_switches, units * leaves);
  io.out(Q::tree_two, ports * ports / constant<S>(2));
  io.out(Q::tree_three, ports * ports * ports / constant<S>(4));
  io.out(Q::tree_all_cables, nodes * io[Q::tree_node_links] + leaf_switches * io[Q::tree_spines] * cables);
  const S inside = io.out(Q::tree_inside_switches, nodes * io[Q::tree_node_switches]);
  io.out(Q::tree_switches, inside + leaf_switches + io[Q::tree_spines] + io[Q::tree_cores]);
}

template <Scalar S>
void ratio(BlockRun<S>& io) {
  const S a = io[Q::ratio_value], b = io[Q::ratio_reference];
  const S r = io.out(Q::ratio_ratio, a / b);
  io.out(Q::ratio_change, r - one<S>());
  io.out(Q::ratio_inverse, b / a);
  const S kept = io.out(Q::ratio_remaining, one<S>() - io[Q::ratio_loss]);
  io.out(Q::ratio_net, (one<S>() + io[Q::ratio_gain]) * kept);
}

template <Scalar S>
void array(BlockRun<S>& io) {
  auto shape = io.list(Q::array_shape);
  const auto sizes = io.integers(Q::array_shape);
  const auto shards = io.list(Q::array_shards), mesh = io.list(Q::array_mesh), tile = io.list(Q::array_tile);
  if (shards.size() > shape.size() && !shape.empty()) return io.fail("shards", say("error.block.entries"));
  if (tile.size() > shape.size()) return io.fail("tile", say("error.block.entries"));
  for (std::size_t i = 0; i < shards.size() && i < shape.size(); ++i)
    if (!divides(io, "shards", value_of(shards[i]), say("error.block.a_dimension"), value_of(shape[i]))) return;
  const auto product = [](const std::vector<S>& list) {
    S p = list.front();
    for (std::size_t i = 1; i < list.size(); ++i) p = p * list[i];
    return p;
  };
  const S b = io[Q::array_width];
  const S ways = io.out(Q::array_ways, shards.empty() ? one<S>() : product(shards));
  const S devices = io.out(Q::array_devices, mesh.empty() ? ways : product(mesh));
  const S copies = io.out(Q::array_copies, devices / ways);
  if (value_of(copies) < 1) return io.fail("shards", say("error.block.devices"), say("error.block.devices.remedy"));
  if (!divides(io, "shards", value_of(ways), say("error.block.mesh_devices"), value_of(devices))) return;
  if (shape.empty()) return io.rest_needs("shape");
  for (std::size_t i = 0; i < shape.size(); ++i)
    io.out(Q::array_local_dims, static_cast<int>(i), i < shards.size() ? shape[i] / shards[i] : shape[i] * one<S>());
  const S elements = io.out(Q::array_elements, product(shape));
  const S bytes = io.out(Q::array_bytes, elements * b);
  const S local = io.out(Q::array_local_bytes, bytes / ways);
  io.out(Q::array_total_bytes, bytes * copies);
  io.out(Q::array_load, local / io[Q::hbm_bandwidth]);
  if (tile.empty()) return io.rest_needs("tile");
  // The last dimensions are tiled; each is padded up to whole tiles.
  const std::size_t first = shape.size() - tile.size();
  for (std::size_t i = first; i < shape.size(); ++i)
    shape[i] = io.out(Q::array_padded_dims, static_cast<int>(i), tile[i - first] * ceil(shape[i] / tile[i - first]));
  const S padded = io.out(Q::array_padded, product(shape));
  io.out(Q::array_padded_bytes, padded * b);
  io.out(Q::array_growth, padded / elements);
}

// The clock that peaks are stated at: with boost, where there is one.
Sourced clock_of(const Chip& chip, const BlockCall&) {
  const Sourced& boost = chip[ChipField::clock_hz_boost];
  return boost.value ? boost : chip[ChipField::clock_hz_base];
}
// Of one partition.
Sourced lanes_of(const Chip& chip, const BlockCall&) {
  Sourced lanes = chip[ChipField::fp32_cores_per_sm];
  const auto partitions = chip[ChipField::subpartitions_per_sm].value;
  lanes.value = lanes.value && partitions ? std::optional(*lanes.value / *partitions) : std::nullopt;
  return lanes;
}
// Vector registers of one core, of 4 bytes in each place of its vector unit.
Sourced registers_of(const Chip& chip, const BlockCall&) {
  Sourced bytes = chip[ChipField::vreg_bytes_per_chip];
  const auto cores = chip[ChipField::tensorcores_per_chip].value, rows = chip[ChipField::vpu_sublanes].value,
             columns = chip[ChipField::vpu_lanes].value;
  if (bytes.value && cores && rows && columns)
    bytes.value = *bytes.value / (*cores * *rows * *columns * 4);
  else
    bytes.value.reset();
  return bytes;
}
// How many times as fast as in bf16 a chip's matrix units are in the format that is asked, by its published peaks;
// nothing where it has no such peak.
std::optional<double> speed_to_bf16(const Chip& chip, const BlockCall& call) {
  const auto asked = peak_of(chip, call).value, bf16 = chip[peak_field(Dtype::bf16)].value;
  return asked && bf16 ? std::optional(*asked / *bf16) : std::nullopt;
}
// Chip files state what a tensor core does in bf16, or fp16 on chips before it.
Sourced core_cycle_of(const Chip& chip, const BlockCall& call) {
  Sourced flops = chip[ChipField::matmul_flops_per_cycle_per_tensor_core];
  if (!flops.value || call.word("dtype") == "bf16" || call.word("dtype") == "fp16") return flops;
  const auto speed = speed_to_bf16(chip, call);
  flops.value = speed ? std::optional(*flops.value * *speed) : std::nullopt;
  flops.source = speed ? flops.source + "; times its published peak over that of bf16" : peak_of(chip, call).source;
  return flops;
}
// Eight rows of bf16 take eight cycles; other formats go by their published peaks.
Sourced mxu_cycles_of(const Chip& chip, const BlockCall& call) {
  constexpr double kBf16Cycles = 8;
  Sourced cycles{kBf16Cycles, "How to Scale Your Model, ch. 2"};
  if (call.word("dtype") == "bf16") return cycles;
  const auto speed = speed_to_bf16(chip, call);
  cycles.value = speed ? std::optional(kBf16Cycles / *speed) : std::nullopt;
  cycles.source = speed ? cycles.source + "; by its published peak over that of bf16" : peak_of(chip, call).source;
  return cycles;
}
In published_peak() { return number("published_flops_per_s", Q::peak_flops).chip(peak_of); }
In published_vector() {
  return number("published_vector_flops_per_s", Q::vector_peak).of("peak_fp32_vector_flops_per_s");
}
// The largest slice of a torus.
BlockValue pod_of(const Chip& chip) {
  if (chip.interconnect != Interconnect::torus) return {{}, "switched chips have no pod of their own"};
  BlockValue pod{{}, chip.pod_source};
  const auto axes = static_cast<std::size_t>(chip[ChipField::ici_torus_dims].value.value_or(3));
  for (std::size_t i = 0; i < axes && chip.pod_shape[0] > 1; ++i) pod.numbers.push_back(chip.pod_shape[i]);
  return pod;
}

}  // namespace

std::vector<BuildingBlock> hardware_blocks() {
  return {
      {"gpu-peak",
       "scaling book ch. 12; CS231n lecture",
       inputs(whole("sms", Q::gpu_sms).of("sm_count"), dtype_input(),
              whole("partitions", Q::gpu_partitions).def(4).of("subpartitions_per_sm"),
              number("lanes", Q::gpu_lanes).def(32).chip(lanes_of),
              whole("tensor_cores_per_sm", Q::gpu_cores).def(4).of("tensor_cores_per_sm"),
              number("flops_per_cycle", Q::gpu_core_cycle).chip(core_cycle_of),
              whole("tile_m", Q::gpu_core_m).def(16), whole("tile_n", Q::gpu_core_n).def(8),
              whole("tile_k", Q::gpu_core_k).def(4), number("clock_hz", Q::unit_clock).chip(clock_of),
              number("smem_bytes_per_sm", Q::gpu_smem_sm).def(262144).of("smem_l1_bytes_per_sm"),
              number("register_bytes_per_sm", Q::gpu_registers_sm).def(262144).of("register_bytes_per_sm"),
              whole("registers_per_thread", Q::gpu_registers_thread).def(256),
              whole("most_warps", Q::gpu_most_warps).def(64), published_peak(), published_vector()),
       {out("lanes_per_sm", Q::gpu_lanes_sm), out("lanes", Q::gpu_lanes_total),
        out("vector_flops_per_cycle", Q::gpu_vector_cycle), out("tensor_core_flops_per_cycle", Q::gpu_core_flops),
        out("sm_flops_per_cycle", Q::gpu_sm_cycle), out("cycle_ratio", Q::gpu_cycle_ratio),
        out("peak_flops_per_s", Q::gpu_peak), out("published_clock_hz", Q::units_clock),
        out("peak_to_published", Q::units_share), out("matmul_to_vector", Q::ridge_matmul_to_vector),
        out("vector_flops_per_s", Q::gpu_vector_peak), out("vector_flops_per_s_no_fma", Q::gpu_vector_peak_no_fma),
        out("smem_bytes", Q::gpu_smem), out("register_bytes", Q::gpu_registers), out("on_chip_bytes", Q::gpu_on_chip),
        out("resident_warps", Q::gpu_warps), out("occupancy", Q::gpu_occupancy)},
       gpu_peak<double>,
       gpu_peak<Traced>},
      {"tpu-peak",
       "scaling book ch. 2",
       inputs(number("clock_hz", Q::unit_clock).chip(clock_of), dtype_input(),
              whole("cores", Q::tpu_cores).def(1).of("tensorcores_per_chip"),
              whole("mxus", Q::tpu_mxus).def(4).of("mxus_per_tensorcore"),
              whole("mxu_dim", Q::tpu_mxu_dim).def(128).of("mxu_dim"), whole("mxu_rows", Q::tpu_mxu_rows).def(8),
              whole("mxu_cycles", Q::tpu_mxu_cycles).def(8).chip(mxu_cycles_of),
              whole("vpu_rows", Q::tpu_vpu_rows).def(8).of("vpu_sublanes"),
              whole("vpu_columns", Q::tpu_vpu_columns).def(128).of("vpu_lanes"),
              whole("vpu_alus", Q::tpu_alus).def(4).of("vpu_alus_per_lane"),
              whole("vregs", Q::tpu_registers).def(64).chip(registers_of),
              number("vreg_word_bytes", Q::tpu_register_width).def(4), published_peak(), published_vector()),
       {out("mxu_flops_per_cycle", Q::tpu_mxu_cycle), out("mxu_flops_per_s", Q::tpu_mxu_peak),
        out("mxus", Q::tpu_mxus_total), out("peak_flops_per_s", Q::tpu_peak), out("lanes_per_core", Q::tpu_lanes),
        out("alus_per_core", Q::tpu_alus_core), out("alus", Q::tpu_alus_total),
        out("vector_flops_per_s_per_core", Q::tpu_vector_core), out("vector_flops_per_s", Q::tpu_vector_peak),
        out("published_clock_hz", Q::units_clock), out("peak_to_published", Q::units_share),
        out("matmul_to_vector", Q::ridge_matmul_to_vector), out("vreg_bytes_per_core", Q::tpu_registers_core),
        out("vreg_bytes", Q::tpu_registers_chip)},
       tpu_peak<double>,
       tpu_peak<Traced>},
      {"pod",
       "scaling book ch. 2; CS231n lecture",
       inputs(wholes("shape", Q::pod_dims).chip_list(pod_of),
              whole("chips_per_host", Q::pod_chips_per_host).def(4).of("chips_per_host"),
              whole("cores_per_chip", Q::tpu_cores).def(1).of("tensorcores_per_chip"), dtype_input(), peak_input(),
              number("hbm_bytes", Q::hbm_capacity).of("hbm_bytes"), hbm_input(),
              number("dcn_bytes_per_s", Q::dcn_bandwidth).of("dcn_bytes_per_s_per_chip"),
              whole("torus_axes", Q::pod_torus_axes).up_to(3).of("ici_torus_dims"),
              number("ici_link_bytes_per_s", Q::transfer_link).of("ici_bytes_per_s_per_link_oneway")),
       {out("chips", Q::pod_chips), out_list("cumulative_chips", Q::pod_cumulative), out("hosts", Q::pod_hosts),
        out("cores", Q::pod_cores), out("peak_flops_per_s", Q::pod_peak), out("hbm_bytes", Q::pod_hbm),
        out("hbm_bytes_per_s", Q::pod_hbm_rate), out("dcn_bytes_per_s_per_host", Q::pod_dcn_host),
        out("dcn_bytes_per_s", Q::pod_dcn), out("ici_bytes_per_s_per_chip", Q::pod_link_total),
        out_flags("wraps", Q::pod_wraps)},
       pod<double>,
       pod<Traced>},
      {"fat-tree",
       "scaling book ch. 12",
       inputs(whole("gpus", Q::tree_gpus).def(1024), whole("gpus_per_node", Q::tree_gpus_node).def(8),
              whole("links_per_node", Q::tree_node_links).def(8), number("link_bytes_per_s", Q::tree_link).def(50e9),
              whole("nodes_per_unit", Q::tree_nodes_unit).def(32), whole("leaves_per_unit", Q::tree_leaves).def(8),
              whole("ports", Q::tree_ports).def(64), whole("spines", Q::tree_spines).def(16),
              whole("cores", Q::tree_cores).def(0).at_least(0),
              number("cables", Q::tree_cables)
                  .from("ports / 2 / spines",
                        [](const BlockCall& c) { return std::optional(c.number("ports") / 2 / c.number("spines")); }),
              whole("switches_per_node", Q::tree_node_switches).def(4).at_least(0),
              whole("nvlinks_per_gpu", Q::tree_gpu_links).def(18),
              number("nvlink_bytes_per_s", Q::tree_gpu_link).def(25e9)),
       {out("gpu_bytes_per_s", Q::tree_gpu_rate),
        out("node_gpu_bytes_per_s", Q::tree_node_gpu_rate),
        out("node_switch_bytes_per_s", Q::tree_node_switch_rate),
        out("node_bytes_per_s", Q::tree_node_rate),
        out("gpus_per_unit", Q::tree_unit_gpus),
        out("nodes", Q::tree_nodes),
        out("units", Q::tree_units),
        out("leaf_bytes_per_s_per_unit", Q::tree_leaf_rate),
        out("leaf_bytes_per_s_per_node", Q::tree_leaf_node_rate),
        out("cable_bytes_per_s_per_unit", Q::tree_cable_rate),
        out("cable_bytes_per_s_per_node", Q::tree_cable_node_rate),
        out("spine_bytes_per_s", Q::tree_spine_rate),
        out("spine_bytes_per_s_per_node", Q::tree_spine_node_rate),
        out("bisection_bytes_per_s_per_node", Q::tree_bisection_node),
        out("bisection_bytes_per_s_per_gpu", Q::tree_bisection_gpu),
        out("oversubscription", Q::tree_oversubscription),
        out("spines_for_full_bisection", Q::tree_spines_needed),
        out("spines_for_full_bisection_with_cores", Q::tree_spines_needed_cores),
        out("leaf_switches", Q::tree_leaf_switches),
        out("node_switches", Q::tree_inside_switches),
        out("switches", Q::tree_switches),
        out("two_tier_endpoints", Q::tree_two),
        out("three_tier_endpoints", Q::tree_three),
        out("cables", Q::tree_all_cables)},
       fat_tree<double>,
       fat_tree<Traced>},
      {"ratio",
       "scaling book ch. 10; CS231n lecture",
       inputs(number("value", Q::ratio_value), number("reference", Q::ratio_reference),
              fraction("loss", Q::ratio_loss).at_least(0), number("gain", Q::ratio_gain).def(0).at_least(0)),
       {out("ratio", Q::ratio_ratio), out("change", Q::ratio_change), out("inverse", Q::ratio_inverse),
        out("remaining", Q::ratio_remaining), out("net", Q::ratio_net)},
       ratio<double>,
       ratio<Traced>},
      {"array",
       "scaling book ch. 3 and 9",
       inputs(wholes("shape", Q::array_shape), number("element_bytes", Q::array_width).def(2),
              wholes("shards", Q::array_shards), wholes("mesh", Q::array_mesh), wholes("tile", Q::array_tile),
              hbm_input()),
       {out("elements", Q::array_elements), out("bytes", Q::array_bytes), out("ways", Q::array_ways),
        out("devices", Q::array_devices), out_list("shape_per_device", Q::array_local_dims),
        out("bytes_per_device", Q::array_local_bytes), out("copies", Q::array_copies),
        out("total_bytes", Q::array_total_bytes), out("load_s", Q::array_load),
        out("padded_elements", Q::array_padded), out("padded_bytes", Q::array_padded_bytes),
        out("growth", Q::array_growth)},
       array<double>,
       array<Traced>},
  };
}

}  // namespace roofscape::engine::block_table
