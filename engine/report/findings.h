// How diagnostics are written: the scenario and the quantities looked at, and one more finding in the report.
#pragma once

#include <string_view>

#include "engine/report/report.h"
#include "engine/scenario/scenario.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::engine {

class Findings {
 public:
  Findings(const Scenario& s, Report& report) : s_(s), r_(report) {}
  const Scenario& scenario() const { return s_; }
  const Report& report() const { return r_; }
  double quantity(Q q) const { return r_.quantities.value_or(q, 0); }
  bool knows(Q q) const { return r_.quantities[q].has_value(); }
  // `field` is the path of the control it belongs to; `fix` what a click would set.
  void add(Severity severity, std::string_view code, const DiagnosticValues& values, std::string_view field = {},
           const Fix& fix = {}, std::string_view detail = {}) {
    r_.diagnostics.push_back({severity, code, values, field, fix, detail});
  }
  static FieldEdit edit(std::string_view path, double value) { return {find_field(path), value}; }

 private:
  const Scenario& s_;
  Report& r_;
};

}  // namespace roofscape::engine
