# Script (cmake -P): writes OUTPUT, the names of the quantities in the tables of the folder TABLES. It is left alone while
# they are the same, so that a changed symbol or source of a row compiles one file anew, not all that name a quantity.
set(names "")
set(total 0)
# names_of(TABLE): appends its rows, and where it includes the calibration's parameters, those.
macro(names_of table)
  file(READ "${TABLES}/${table}" text)
  string(REGEX MATCHALL "\n(QUANTITY\\(|CALIBRATION\\(|#include \"engine/base/calibration)[A-Za-z0-9_]+" rows "${text}")
  foreach(row IN LISTS rows)
    if(row MATCHES "#include")
      names_of(calibration_parameters.def)
      continue()
    endif()
    string(REGEX REPLACE "\n[A-Z]+\\(" "" name "${row}")
    if(row MATCHES "CALIBRATION")
      string(PREPEND name "cal_")
    endif()
    string(APPEND names "  ${name},\n")
    math(EXPR total "${total} + 1")
  endforeach()
endmacro()
names_of(report_quantities.def)
set(reports ${total})
names_of(block_quantities.def)
set(code "// Written by engine/base/quantity_names.cmake. Those of reports first; after them those of the building blocks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace roofscape::engine {

enum class Q : std::uint16_t {
${names}};
inline constexpr std::size_t kReportQuantityCount = ${reports}, kQuantityCount = ${total};

}  // namespace roofscape::engine
")
file(WRITE "${OUTPUT}.new" "${code}")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${OUTPUT}.new")
