// Diagnostics: what is wrong or worth knowing about a Scenario, as data. The text of a code is in the strings table
// under "diagnostic.<code>" with numbered placeholders for the values, or under "diagnostic.<code>.<detail>" where a
// code has several reasons; the title alone is "diagnostic.<code>.title".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/enum_table.h"
#include "engine/base/fixed_list.h"
#include "engine/base/unit.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::engine {

enum class Severity : std::uint8_t { error, warning, note };
inline constexpr EnumTable<Severity> kSeverityIds{"error", "warning", "note"};

struct DiagnosticValue {
  double value = 0;
  Unit unit = unit::count;
};

using DiagnosticValues = FixedList<DiagnosticValue, 8>;
using Fix = FixedList<FieldEdit, 8>;

struct Diagnostic {
  Severity severity = Severity::note;
  std::string_view code;         // stable: "mesh.idle_chips"
  DiagnosticValues values;       // {0}, {1}, ... of the text
  std::string_view field_path;   // the control it belongs to; empty if it is about the whole
  Fix fix;                       // a suggested change; empty if there is none
  std::string_view detail = {};  // which of several reasons the code has; mostly empty
};

}  // namespace roofscape::engine
