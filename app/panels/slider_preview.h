// The band under a slider: whether each value along its track would fit, and what would bound it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/panel_context.h"
#include "engine/base/enum_table.h"
#include "engine/evaluate/evaluate.h"
#include "engine/pipeline/order_span.h"

namespace roofscape::app {

enum class Outcome : std::uint8_t { compute, network, other, too_large, impossible };
inline constexpr engine::EnumTable<Outcome> kOutcomeIds{"compute", "network", "other", "too_large", "impossible"};
Outcome outcome_of(const engine::Report& report);

// The band of a field: it is evaluated once while nothing but the field itself changes, and over several frames where
// pipelines are long.
struct SliderPreview {
  std::vector<double> values;     // along the track
  std::vector<Outcome> outcomes;  // of the first of them; of all once the band is finished
  std::vector<widgets::Notch> notches;
  engine::EvaluationScratch scratch;
  engine::OrderSpans spans;
  engine::Report report;
  bool finished() const { return outcomes.size() == values.size(); }
};
// What it depends on.
struct SliderPreviewKey {
  std::string path;
  engine::Scenario scenario;            // with the field at the first notch
  std::optional<engine::Axis> partner;  // of a mesh axis that keeps the product
  friend bool operator==(const SliderPreviewKey&, const SliderPreviewKey&) = default;
};

// Of a field over these values.
std::span<const widgets::Notch> slider_preview(PanelContext& ctx, const engine::Field& field,
                                               const widgets::SliderRange& range, const engine::Scenario& scenario);
// The values it shows: powers of two, whole numbers, or steps of the track.
std::vector<double> preview_values(const engine::Field& field, const widgets::SliderRange& range);

}  // namespace roofscape::app
