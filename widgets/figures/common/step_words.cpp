#include "widgets/figures/common/step_words.h"

#include <cstddef>

#include "engine/evaluate/step_shares.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/figure_head.h"

namespace roofscape::widgets {

namespace {

constexpr double kLarge = 0.2;  // of the step: a second group as large as this is named beside the first

std::string group_text(const TextTable& texts, const engine::StepShare& group) {
  return texts.format("step.group", {bound_name(texts, {group.kind, group.axis}), format_share(group.share)});
}

}  // namespace

std::string bound_name(const TextTable& texts, const engine::Bound& bound) {
  if (bound.kind == engine::BoundKind::none) return {};
  const std::string id(bound.id());
  const std::string key = "ui.bound." + id;
  return std::string(texts.text(texts.has(key) ? key : "bound." + id));
}

bool names_second(const engine::Report& report) {
  const engine::StepShares groups = engine::step_shares(report);
  return groups.size() > 1 && groups[1].share >= kLarge;
}

double bound_share(const engine::Report& report) {
  for (const engine::StepShare& group : engine::step_shares(report))
    if (group.kind == report.bound.kind &&
        (group.kind != engine::BoundKind::mesh_axis || group.axis == report.bound.axis))
      return group.share;
  return 0;
}

double exposed_network_share(const engine::Report& report) {
  double exposed = 0;
  for (const engine::StepShare& group : engine::step_shares(report))
    if (group.kind == engine::BoundKind::mesh_axis && group.axis != engine::Axis::pipeline) exposed += group.share;
  return exposed;
}

std::string step_words(const engine::Report& report, const TextTable& texts) {
  const engine::StepShares groups = engine::step_shares(report);
  if (groups.empty()) return {};
  std::string out = group_text(texts, groups[0]);
  if (names_second(report)) out += std::string(texts.text("figure.list_separator")) + group_text(texts, groups[1]);
  return out;
}

std::vector<Claim> step_claims(const FigureInput& input) {
  std::vector<Claim> claims;
  if (!(input.report.quantities.value_or(engine::Q::step_time, 0) > 0)) return claims;
  claims.push_back(claim_of(input, engine::Q::step_time));
  const engine::StepShares groups = engine::step_shares(input.report);
  for (std::size_t i = 0; i < groups.size() && i < (names_second(input.report) ? 2u : 1u); ++i)
    claims.push_back(share_claim(input, {groups[i].parts.begin(), groups[i].parts.end()}, engine::Q::step_time));
  return claims;
}

std::string bound_words(const engine::Report& report, const TextTable& texts) {
  const double step = report.quantities.value_or(engine::Q::step_time, 0);
  if (!(step > 0)) return bound_name(texts, report.bound);
  const engine::StepShares groups = engine::step_shares(report);
  const engine::Bound& bound = report.bound;
  // A network that is busy longest may hide for the most part: what is exposed is the smaller share of the step.
  if (bound.kind == engine::BoundKind::mesh_axis && bound.axis != engine::Axis::pipeline) {
    return texts.format("step.network", {bound_name(texts, bound),
                                         format_share(report.quantities.value_or(engine::Q::network_total, 0) / step),
                                         format_share(exposed_network_share(report))});
  }
  // HBM is busy longest under arithmetic that hides it.
  if (!groups.empty() && groups[0].kind != bound.kind)
    return texts.format("step.busy", {bound_name(texts, bound), step_words(report, texts)});
  return step_words(report, texts);
}

}  // namespace roofscape::widgets
