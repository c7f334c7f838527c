// The table of every editable number, choice and switch of a Scenario: path, kind, domain, unit. JSON reading and
// writing, `--set path=value`, the schema, the controls of the window and the suggested edits of diagnostics all use
// this one table, so a field cannot exist in one of them and be forgotten in another.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/sentence.h"
#include "engine/base/unit.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

enum class FieldKind : std::uint8_t { integer, number, boolean, choice };

struct Field {
  std::string_view path;  // "parallelism.tensor"; an element of a list is "cluster.slice.0"
  FieldKind kind = FieldKind::integer;
  std::optional<WorkloadKind> only = {};  // the one kind of workload whose arithmetic reads it; none: both do
  double minimum = 0, maximum = 0;        // inclusive, integer and number
  Unit unit = unit::count;
  std::span<const std::string_view> choices;  // choice: the words, in the order of the enumeration
  double (*get)(const Scenario&) = nullptr;   // choices as index, switches as 0 or 1
  void (*set)(Scenario&, double) = nullptr;   // the value is inside the domain
};

// Of the lists a scenario has beside the table a switch stands in it. Of pipeline.layers_per_stage a switch stands in it: on lists the
// layers as they are dealt, off deals them again. Files have the list alone.
inline constexpr std::string_view kLayersByHand = "pipeline.layers_by_hand";
// And of the order of operations (pipeline.order): on gives the one that the schedule makes, off takes it back.
inline constexpr std::string_view kGivenOrder = "pipeline.given_order";

std::span<const Field> scenario_fields();
const Field* find_field(std::string_view path);  // null if there is none
bool applies(const Field&, WorkloadKind);        // whether the arithmetic of this kind reads it
bool in_domain(const Field&, double value);      // also: whole for integers, finite
Sentence domain_of(const Field&);                // "a whole number from 1 to 65536", "one of: sum, max"

// One change of one field: what diagnostics suggest and what a control does.
struct FieldEdit {
  const Field* field = nullptr;
  double value = 0;
};
void apply(Scenario&, const FieldEdit&);

}  // namespace roofscape::engine
