// An accelerator chip: its published figures, each with the place it was published. Which figures exist is one table
// (kChipFields), from which JSON keys, editors and explanations are made.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/unit.h"

namespace roofscape::engine {

// A published number. Without a value the number is unknown, and the source says why.
struct Sourced {
  std::optional<double> value;
  std::string source;
  friend bool operator==(const Sourced&, const Sourced&) = default;
};

enum class ChipField : std::uint8_t {
  peak_bf16_dense_flops_per_s,
  peak_fp8_dense_flops_per_s,
  peak_fp32_vector_flops_per_s,
  hbm_bytes,
  hbm_bytes_per_s,
  vmem_bytes_per_s,
  l2_bytes_per_s,
  ici_torus_dims,
  ici_bytes_per_s_per_link_oneway,
  ici_bytes_per_s_per_axis_bidirectional,
  dcn_bytes_per_s_per_chip,
  host_pcie_bytes_per_s_per_chip,
  scaleup_bytes_per_s_per_chip_oneway,
  scaleup_domain_chips,
  scaleout_bytes_per_s_per_node_oneway,
  price_usd_per_chip_hour,
};

struct ChipFieldRow {
  ChipField field;
  std::string_view id;
  Unit unit;
};
inline constexpr std::array kChipFields{
    ChipFieldRow{ChipField::peak_bf16_dense_flops_per_s, "peak_bf16_dense_flops_per_s", unit::flop_per_s},
    ChipFieldRow{ChipField::peak_fp8_dense_flops_per_s, "peak_fp8_dense_flops_per_s", unit::flop_per_s},
    ChipFieldRow{ChipField::peak_fp32_vector_flops_per_s, "peak_fp32_vector_flops_per_s", unit::flop_per_s},
    ChipFieldRow{ChipField::hbm_bytes, "hbm_bytes", unit::bytes},
    ChipFieldRow{ChipField::hbm_bytes_per_s, "hbm_bytes_per_s", unit::bytes_per_s},
    ChipFieldRow{ChipField::vmem_bytes_per_s, "vmem_bytes_per_s", unit::bytes_per_s},
    ChipFieldRow{ChipField::l2_bytes_per_s, "l2_bytes_per_s", unit::bytes_per_s},
    ChipFieldRow{ChipField::ici_torus_dims, "ici_torus_dims", unit::count},
    ChipFieldRow{ChipField::ici_bytes_per_s_per_link_oneway, "ici_bytes_per_s_per_link_oneway", unit::bytes_per_s},
    ChipFieldRow{ChipField::ici_bytes_per_s_per_axis_bidirectional, "ici_bytes_per_s_per_axis_bidirectional",
                 unit::bytes_per_s},
    ChipFieldRow{ChipField::dcn_bytes_per_s_per_chip, "dcn_bytes_per_s_per_chip", unit::bytes_per_s},
    ChipFieldRow{ChipField::host_pcie_bytes_per_s_per_chip, "host_pcie_bytes_per_s_per_chip", unit::bytes_per_s},
    ChipFieldRow{ChipField::scaleup_bytes_per_s_per_chip_oneway, "scaleup_bytes_per_s_per_chip_oneway",
                 unit::bytes_per_s},
    ChipFieldRow{ChipField::scaleup_domain_chips, "scaleup_domain_chips", unit::chips},
    ChipFieldRow{ChipField::scaleout_bytes_per_s_per_node_oneway, "scaleout_bytes_per_s_per_node_oneway",
                 unit::bytes_per_s},
    ChipFieldRow{ChipField::price_usd_per_chip_hour, "price_usd_per_chip_hour", unit::dollars},
};

enum class Interconnect : std::uint8_t { torus, switched };

struct Chip {
  std::string id, name, vendor;
  Interconnect interconnect = Interconnect::torus;
  std::array<int, 3> pod_shape{1, 1, 1};  // torus chips: the largest slice
  std::string pod_source;
  std::array<Sourced, kChipFields.size()> fields;

  const Sourced& operator[](ChipField field) const { return fields[static_cast<std::size_t>(field)]; }
  Sourced& operator[](ChipField field) { return fields[static_cast<std::size_t>(field)]; }
  friend bool operator==(const Chip&, const Chip&) = default;
};

}  // namespace roofscape::engine
