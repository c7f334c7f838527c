#include "engine/evaluate/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "engine/evaluate/evaluate.h"
#include "engine/inputs/inputs.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::engine {

namespace {

// Inputs that have another name in the table of fields. Those of the model have the same.
struct FieldOf {
  Q input;
  std::string_view path;
};
constexpr FieldOf kFields[] = {{Q::batch_sequences, "workload.global_batch_sequences"},
                               {Q::sequence_length, "workload.sequence_length"},
                               {Q::train_tokens, "workload.train_tokens"},
                               {Q::stated_mfu, "assumptions.stated_mfu"},
                               {Q::overlap, "assumptions.overlap"},
                               {Q::reserve_bytes, "assumptions.reserve_bytes"},
                               {Q::microbatch_sequences, "pipeline.microbatch_sequences"}};

// Inputs that are figures of the chip.
std::optional<ChipField> chip_field_of(Q input, const Scenario& s) {
  switch (input) {
    case Q::peak_flops:
      return peak_field(s.precision.compute);
    case Q::hbm_capacity:
      return ChipField::hbm_bytes;
    case Q::hbm_bandwidth:
      return ChipField::hbm_bytes_per_s;
    case Q::ici_axis_bandwidth:
      return ChipField::ici_bytes_per_s_per_axis_bidirectional;
    case Q::nvlink_bandwidth:
      return ChipField::scaleup_bytes_per_s_per_chip_oneway;
    case Q::node_bandwidth:
      return ChipField::scaleout_bytes_per_s_per_node_oneway;
    case Q::dcn_bandwidth:
      return ChipField::dcn_bytes_per_s_per_chip;
    case Q::price:
      return ChipField::price_usd_per_chip_hour;
    case Q::board_power:
      return ChipField::board_power_watts;
    case Q::pcie_bandwidth:
      return ChipField::host_pcie_bytes_per_s_per_chip;
    default:
      return std::nullopt;
  }
}

bool grow(Sourced& figure, double factor) {
  if (!figure.value || *figure.value == 0) return false;
  *figure.value *= factor;
  return true;
}

// Makes the input larger. Returns the share it grew by; 0 where it cannot.
double grow(Scenario& s, Q input, double more) {
  if (const auto field = chip_field_of(input, s)) {
    Chip& chip = s.cluster.chip;
    if (input == Q::node_bandwidth && !s.cluster.fabric.empty()) {
      s.cluster.fabric[0].bytes_per_s_per_child *= 1 + more;
      return more;
    }
    // An axis that does not wrap is read off the figure of one link.
    if (input == Q::ici_axis_bandwidth) (void)grow(chip[ChipField::ici_bytes_per_s_per_link_oneway], 1 + more);
    return grow(chip[*field], 1 + more) ? more : 0;
  }
  std::string_view path = quantity(input).id;
  for (const FieldOf& f : kFields)
    if (f.input == input) path = f.path;
  const Field* field = find_field(path);
  if (field == nullptr || (field->kind != FieldKind::integer && field->kind != FieldKind::number)) return 0;
  const double now = field->get(s);
  if (!(now > 0)) return 0;
  const double wanted = now * (1 + more),
               next = field->kind == FieldKind::integer ? std::max(std::round(wanted), now + 1) : wanted;
  if (!in_domain(*field, next)) return 0;
  field->set(s, next);
  return field->get(s) / now - 1;
}

}  // namespace

std::vector<SensitivityRow> sensitivity(const Scenario& scenario, const Derivation& derivation, double more) {
  std::vector<SensitivityRow> rows;
  if (derivation.lines.empty()) return rows;
  const DerivationLine& top = derivation.lines.front();
  if (is_indexed(quantity(top.quantity)) || top.is_input) return rows;
  Report report;
  EvaluationScratch scratch;
  evaluate(scenario, scratch, report);
  const auto before = report.quantities[top.quantity];
  if (!before || *before == 0) return rows;
  const bool possible = !report.has_errors();
  for (const DerivationLine& line : derivation.lines) {
    if (!line.is_input ||
        std::any_of(rows.begin(), rows.end(), [&](const SensitivityRow& r) { return r.input == line.quantity; }))
      continue;
    Scenario larger = scenario;
    double grown = grow(larger, line.quantity, more);
    if (grown == 0) continue;
    evaluate(larger, scratch, report);
    // Sequences that no longer divide by the ranks say nothing: a count is doubled where a tenth more is no plan.
    if (possible && report.has_errors()) {
      larger = scenario;
      grown = grow(larger, line.quantity, 1);
      if (grown == 0) continue;
      evaluate(larger, scratch, report);
      if (report.has_errors()) continue;
    }
    const auto after = report.quantities[top.quantity];
    if (after && *after != *before) rows.push_back({line.quantity, grown, *before, *after});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const SensitivityRow& a, const SensitivityRow& b) {
    return std::abs(a.change()) > std::abs(b.change());
  });
  return rows;
}

}  // namespace roofscape::engine
