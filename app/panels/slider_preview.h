// The band under a slider: whether each value along its track would fit, and what would bound it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/panel_context.h"
#include "engine/base/enum_table.h"

namespace roofscape::app {

enum class Outcome : std::uint8_t { compute, network, other, too_large, impossible };
inline constexpr engine::EnumTable<Outcome> kOutcomeIds{"compute", "network", "other", "too_large", "impossible"};
Outcome outcome_of(const engine::Report& report);

// The band of a field, and what it depends on: it is evaluated once while nothing but the field itself changes.
using SliderPreview = std::vector<widgets::Notch>;
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
