#include "engine/serving/serving_fixes.h"

#include <algorithm>
#include <array>

#include "engine/serving/service_level.h"
#include "engine/serving/serving_evaluation.h"

namespace roofscape::engine {

namespace {

constexpr double kWorth = 1e-3;  // a gain below that is none
constexpr double kSame = 1e-9;

std::ptrdiff_t errors_of(const Report& r) {
  return std::count_if(r.diagnostics.begin(), r.diagnostics.end(),
                       [](const Diagnostic& d) { return d.severity == Severity::error; });
}

bool worth(const Scenario& s, const Report& now, const Scenario& then_scenario, const Report& then) {
  if (const auto before = errors_of(now), after = errors_of(then); before != after || after > 0) return after < before;
  const auto holds = [](const Scenario& scenario, const Report& r) {
    return std::array{r.fits(), keeps_promise(scenario, r), r.quantities.value_or(Q::steady_load, 0) < 1};
  };
  const auto held = holds(s, now), holding = holds(then_scenario, then);
  bool mends = false;
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (held[i] && !holding[i]) return false;
    mends = mends || (!held[i] && holding[i]);
  }
  if (mends) return true;
  // Above 1: more of it than now.
  const auto ratio = [&](Q q) {
    const double a = now.quantities.value_or(q, 0), b = then.quantities.value_or(q, 0);
    return a > 0 && b > 0 ? b / a : 1.0;
  };
  const double rate = ratio(Q::sustained_tokens_per_chip);
  if (rate > 1 + kWorth) return true;
  constexpr std::array kBetterLess{Q::mixed_token_time_q, Q::ttft, Q::memory_total};
  bool less = false;
  for (const Q q : kBetterLess) {
    if (ratio(q) > 1 + kSame) return false;
    less = less || ratio(q) < 1 - kWorth;
  }
  return rate >= 1 - kSame && less;
}

}  // namespace

void keep_worthy_fixes(const Scenario& s, FixRoom* room, Report& report) {
  for (Diagnostic& d : report.diagnostics) {
    if (d.fix.empty()) continue;
    if (room != nullptr) {
      room->scenario = s;
      for (const FieldEdit& edit : d.fix)
        if (in_domain(*edit.field, edit.value)) apply(room->scenario, edit);
      if (room->scenario.serves()) {
        evaluate_serving(room->scenario, nullptr, room->report);
        if (worth(s, report, room->scenario, room->report)) continue;
      }
    }
    d.fix = {};
  }
}

}  // namespace roofscape::engine
