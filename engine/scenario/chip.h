// An accelerator chip: its published figures, each with the place it was published. Which figures exist is one table
// (chip_fields.def), from which JSON keys, editors and explanations are made.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/unit.h"
#include "engine/scenario/calibration.h"

namespace roofscape::engine {

// A published number. Without a value the number is unknown, and the source says why.
struct Sourced {
  std::optional<double> value;
  std::string source;
  bool assumed = false;  // typical of such parts: no one states it of this one
  friend bool operator==(const Sourced&, const Sourced&) = default;
};

enum class ChipField : std::uint8_t {
#define CHIP_FIELD(name, unit) name,
#include "engine/scenario/chip_fields.def"
#undef CHIP_FIELD
};

struct ChipFieldRow {
  ChipField field;
  std::string_view id;
  Unit unit;
};
inline constexpr std::array kChipFields{
#define CHIP_FIELD(name, unit) ChipFieldRow{ChipField::name, #name, unit},
#include "engine/scenario/chip_fields.def"
#undef CHIP_FIELD
};

enum class Interconnect : std::uint8_t { torus, switched };

struct Chip {
  std::string id, name, vendor;
  Interconnect interconnect = Interconnect::torus;
  std::array<int, 3> pod_shape{1, 1, 1};  // torus chips: the largest slice
  std::string pod_source;
  std::array<Sourced, kChipFields.size()> fields;
  Calibration calibration;  // what software reaches on it; read in calibrated mode only

  const Sourced& operator[](ChipField field) const { return fields[static_cast<std::size_t>(field)]; }
  Sourced& operator[](ChipField field) { return fields[static_cast<std::size_t>(field)]; }
  friend bool operator==(const Chip&, const Chip&) = default;
};

// Of a message to the next chip or, of switched chips, to another of its node or into the fabric.
constexpr ChipField latency_field(Interconnect links) {
  return links == Interconnect::torus ? ChipField::ici_hop_latency_s : ChipField::scaleup_hop_latency_s;
}

}  // namespace roofscape::engine
