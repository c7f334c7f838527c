// The table of quantities: every number that a report, a tooltip, a figure or a derivation can show has a row in
// report_quantities.def or, for the building blocks, block_quantities.def, and is named by a value of Q. Ids and units
// of the report's JSON, labels and canvas tags come from it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/quantity_names.h"  // Q, made of the first column of the tables
#include "engine/base/unit.h"

namespace roofscape::engine {

struct Quantity {
  std::string_view id;      // stable, "step.time_s"
  std::string_view symbol;  // as on a blackboard, "T_step"; [] stands for the mesh axis or stage
  Unit unit;
  std::string_view source;  // of the formula; "input" if it is one
};

// By Q. Compiled once, in quantity.cpp: the rows are too many for every file that names one.
extern const std::array<Quantity, kQuantityCount> kQuantities;

inline const Quantity& quantity(Q q) { return kQuantities[static_cast<std::size_t>(q)]; }
inline bool is_input(const Quantity& row) { return row.source == "input"; }
// What a row comes once for; rows with an index have no slot of their own in a report.
enum class IndexKind : std::uint8_t { none, axis, stage, operation, block, block_axis, level_axis, product, matrix };
IndexKind index_kind(const Quantity& row);
inline bool is_indexed(const Quantity& row) { return index_kind(row) != IndexKind::none; }

// Whether a quantity is of a step, a request or a run that takes place: its times, the rates and shares taken of
// them, the days, energy and money they come to. A plan that breaks a rule has none of these; sizes, memory and the
// limits of chips and models stand without it.
bool is_of_a_run(Q q);

std::optional<Q> find_quantity(std::string_view id);
// The id of a row from that of one of its values: "links.bytes_per_s" from "links.bytes_per_s[fsdp]".
constexpr std::string_view without_index(std::string_view id) { return id.substr(0, id.find('[')); }

// The parts that add up to step.time_s, in order; the total is defined as their left-to-right sum.
inline constexpr std::array kStepParts{
    Q::step_matmul, Q::step_attention, Q::step_recompute, Q::step_hbm,    Q::step_data,
    Q::step_fsdp,   Q::step_tensor,    Q::step_context,   Q::step_expert, Q::step_pipeline_transfer,
    Q::step_bubble, Q::step_optimizer, Q::step_offload,   Q::step_host};
// The parts that add up to memory.chip_total_bytes, in order.
inline constexpr std::array kMemoryParts{Q::memory_weights,     Q::memory_gradients, Q::memory_optimizer,
                                         Q::memory_activations, Q::memory_buffers,   Q::memory_reserve};
// Serving: the parts that add up to serving.decode_step_s, to serving.prefill_s and to memory.chip_total_bytes.
inline constexpr std::array kDecodeParts{Q::decode_attention, Q::decode_linear, Q::decode_exposed,
                                         Q::decode_transfer,  Q::decode_draft,  Q::decode_host};
inline constexpr std::array kPrefillParts{Q::prefill_work, Q::prefill_exposed, Q::prefill_bubble};
inline constexpr std::array kServingMemoryParts{Q::memory_weights, Q::memory_kv_cache, Q::memory_activations,
                                                Q::memory_reserve};

}  // namespace roofscape::engine
