// The error band beside a number: where a measurement is expected, from the published runs near the scenario, or that
// there are too few of them and why. A click opens the evidence figure.
#pragma once

#include <optional>
#include <string>

#include "app/panels/panel_context.h"
#include "engine/studies/evidence.h"

namespace roofscape::app {

// Null where no band can be told: predictions are not there yet, the values of the mode are the user's own, or the
// plan is not possible.
const engine::ErrorBand* band_of(const PanelContext& ctx, engine::EvidenceKind kind);

// Words for the line under a value: how many runs the band is of, or that there is none.
std::string band_words(const PanelContext& ctx, engine::EvidenceKind kind);

struct BandedValue {
  std::string id;  // of the item
  engine::EvidenceKind kind = engine::EvidenceKind::step;
  double value = 0;  // as predicted, in base units
  engine::Unit unit;
  bool rate = false;  // goes with one over the predicted time (MFU)
};
// The range with its bar, or a "±?" that says why there is none, right of a value, as far as it fits `room`.
void draw_error_band(PanelContext& ctx, widgets::Point left_middle, float room, const BandedValue& value);
// The same readout and click on words that stand elsewhere.
void band_item(PanelContext& ctx, const widgets::Rect& r, const BandedValue& value);

}  // namespace roofscape::app
