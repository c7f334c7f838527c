#include "app/panels/findings.h"

#include <memory>
#include <optional>

namespace roofscape::app {

namespace {

struct Findings {
  std::optional<engine::Scenario> of;
  bool offered = false;  // the fixes were evaluated
  std::vector<engine::OfferedFinding> list;
  std::optional<engine::BestEdit> search;  // for the best change, some plans a frame
};

constexpr int kPlansAFrame = 24;

}  // namespace

const std::vector<engine::OfferedFinding>& findings(const PanelContext& ctx) {
  Findings& kept = *ctx.studies.get<std::shared_ptr<Findings>>(0, [] { return std::make_shared<Findings>(); });
  const engine::Scenario& s = ctx.session.scenario();
  const bool held = ctx.ui.io.anything_held();
  if (kept.of == s && (kept.offered || held)) {
    if (kept.search && !held) {
      if (kept.search->step(kPlansAFrame, ctx.studies.operations_left)) {
        engine::add_best_edit(kept.search->offer(), kept.list);
        kept.search.reset();
      } else {
        ctx.studies.unfinished = true;  // another frame, please
      }
    }
    return kept.list;
  }
  kept.search.reset();
  kept.of = s;
  kept.offered = !held;
  const engine::Report& report = ctx.session.report();
  if (kept.offered) {
    kept.list = engine::vetted_findings(s, report);
    kept.search.emplace(s, report);
    ctx.studies.unfinished = true;
    return kept.list;
  }
  // A control is being dragged: what is wrong, without what to do about it.
  kept.list.clear();
  for (const engine::Diagnostic& d : report.diagnostics) {
    if (d.code.starts_with("advice.")) continue;
    kept.list.push_back({d, std::nullopt});
    kept.list.back().diagnostic.fix.clear();
  }
  return kept.list;
}

}  // namespace roofscape::app
