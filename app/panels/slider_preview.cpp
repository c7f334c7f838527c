#include "app/panels/slider_preview.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include "app/session/settle_edit.h"
#include "engine/studies/nearest_plan.h"

namespace roofscape::app {

using namespace widgets;

namespace {
constexpr int kSteps = 16;

Notch notch_of(const Theme& t, double value, Outcome outcome) {
  switch (outcome) {
    case Outcome::compute:
      return {value, t.ok, false};
    case Outcome::network:
      return {value, t.warn, false};
    case Outcome::other:
      return {value, t.ink3, false};
    case Outcome::too_large:
      return {value, t.err, false};
    case Outcome::impossible:
      return {value, t.err, true};
  }
  return {value, t.ink3, false};
}
}  // namespace

Outcome outcome_of(const engine::Report& report) {
  if (report.has_errors()) return Outcome::impossible;
  if (!report.fits()) return Outcome::too_large;
  if (report.bound.kind == engine::BoundKind::compute) return Outcome::compute;
  return report.bound.kind == engine::BoundKind::mesh_axis ? Outcome::network : Outcome::other;
}

std::vector<double> preview_values(const engine::Field& field, const SliderRange& range) {
  std::vector<double> values;
  const double from = range.track_from, to = range.track_to;
  switch (range.kind) {
    case SliderKind::power_of_two:
      for (double v = from; v <= to; v *= 2) values.push_back(v);
      break;
    case SliderKind::logarithmic:
      for (int i = 0; i <= kSteps; ++i) values.push_back(from * std::pow(to / from, static_cast<double>(i) / kSteps));
      break;
    case SliderKind::integer:
    case SliderKind::linear: {
      const double step = std::max(range.kind == SliderKind::integer ? 1.0 : 0.0, (to - from) / kSteps);
      for (double v = from; v <= to + 1e-9 && step > 0; v += step) values.push_back(range.whole ? std::round(v) : v);
      break;
    }
  }
  std::erase_if(values, [&](double v) { return !engine::in_domain(field, range.whole ? std::round(v) : v); });
  return values;
}

std::span<const Notch> slider_preview(PanelContext& ctx, const engine::Field& field, const SliderRange& range,
                                      const engine::Scenario& scenario) {
  std::vector<double> values = preview_values(field, range);
  if (values.empty()) return {};
  // Of a mesh axis what the others give way to is shown, from where the drag began.
  const bool meshed = ctx.mesh.keep_product && is_mesh_axis(field.path);
  const engine::Scenario& base = meshed ? ctx.base : scenario;
  const std::optional<engine::Axis> partner =
      meshed ? std::optional(giving_partner(base.parallelism, ctx.mesh.partner)) : std::nullopt;
  const auto with = [&](double value) {
    engine::Scenario varied = base;
    field.set(varied, range.whole ? std::round(value) : value);
    return varied;
  };
  SliderPreview& band = *ctx.studies.get<std::shared_ptr<SliderPreview>>(
      SliderPreviewKey{std::string(field.path), with(values.front()), partner},
      [] { return std::make_shared<SliderPreview>(); });
  if (band.values != values) {  // the track has other ends now
    band.values = std::move(values);
    band.outcomes.clear();
  }
  while (!band.finished() && ctx.studies.operations_left > 0) {
    const double value = band.values[band.outcomes.size()];
    engine::Scenario varied = with(value);
    const std::array held{field.path};
    if (partner) varied = engine::nearest_plan_that_runs(base, varied, {held, *partner, true, true}).scenario;
    const std::size_t before = band.spans.operations_run();
    engine::evaluate_without_timeline(varied, band.scratch, band.spans, band.report);
    ctx.studies.operations_left -= static_cast<std::int64_t>(band.spans.operations_run() - before);
    band.outcomes.push_back(outcome_of(band.report));
  }
  if (!band.finished()) ctx.studies.unfinished = true;
  band.notches.clear();
  for (std::size_t i = 0; i < band.outcomes.size(); ++i)
    band.notches.push_back(notch_of(ctx.ui.theme, band.values[i], band.outcomes[i]));
  return band.notches;
}

}  // namespace roofscape::app
