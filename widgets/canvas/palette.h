// Palette: one look per meaning, chosen once. Figures ask for "the fill of activations", never for orange. Within a
// family no two meanings share a hue; across families a hue returns only where the thing moved is the same. A hatch,
// dash or marker always says the same as the colour.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "widgets/canvas/canvas.h"
#include "widgets/canvas/theme.h"

namespace roofscape::widgets {

enum class MemoryPart : std::uint8_t {
  weights,
  gradients,
  optimizer,
  activations,
  kv_cache,
  buffers,
  reserve,
  over_capacity
};
inline constexpr std::size_t kMemoryPartCount = 8;

enum class TimelinePart : std::uint8_t {
  forward,
  backward,  // the whole backward pass, or the gradient of the input where the two are apart
  backward_weight,
  recompute,
  idle,
  step_end,  // gradient reduction, optimizer
};
inline constexpr std::size_t kTimelinePartCount = 6;

// Where the time of a step goes. A mesh axis (engine::Axis) looks as its exposed transfers do.
enum class StepPart : std::uint8_t {
  compute,
  recompute,
  data,
  fsdp,
  tensor,
  context,
  expert,
  pipeline,
  bubble,
  optimizer,
  host
};
inline constexpr std::size_t kStepPartCount = 11;

enum class Roof : std::uint8_t { matmul, attention, vector };

// Fills come ready to use: colour, hatch, hatch ink and, for fills below 3:1 against the panel, the dark edge.
// `em` is that of the canvas.
Fill fill_of(const Theme& theme, MemoryPart part, float em);
Fill fill_of(const Theme& theme, TimelinePart kind, float em);
Fill fill_of(const Theme& theme, StepPart axis, float em);
Fill fill_of(const Theme& theme, Roof kind, float em);

// For strokes and for text in the colour of the meaning.
Colour line_of(const Theme& theme, MemoryPart part);
Colour line_of(const Theme& theme, TimelinePart kind);
Colour line_of(const Theme& theme, StepPart axis);
Colour line_of(const Theme& theme, Roof kind);

Marker marker_of(Roof kind);

// Dash of an axis for a line of this width; empty where it is solid.
Dash dash_of(StepPart axis, float width);
// A curve of an axis: its colour, the data width of the theme, its dash if `dashed`.
Stroke stroke_of(const Theme& theme, StepPart axis, float em, bool dashed);

// The plan itself among others, in every figure: ink, broader than any other curve. Its name is bold.
Stroke plan_stroke(const Theme& theme, float em);

// A later chunk of the same device: up to half mixed into the panel, evenly over `chunks`; on a light panel into
// grey, for half of blue in white is the sky blue of recomputation.
Fill chunk_of(const Theme& theme, Fill fill, int chunk, int chunks);

// `colour` with as little of `towards` in it as gives it this contrast with `ground`; `towards` where nothing does.
Colour cleared(Colour colour, Colour towards, Colour ground, double least);
// For text in the colour of a meaning: darker on a light ground, lighter on a dark one, until it reads at 4.5:1.
Colour readable(Colour text, Colour ground);

// A hatched fill in a colour of one's own, with the ink and the edge the rules ask for.
Fill hatched(const Theme& theme, Colour colour, Hatch hatch, float em);
// Viridis, `t` from 0 to 1 (clamped): for continuous quantities.
Colour viridis(double t);

// Viridis for lines on the panel, `t` from 0 to 1: what is 1 stands out most, so the map runs towards yellow on a
// dark panel and towards purple on a light one, and it is cut where a line would fall below 3:1.
class LineShades {
 public:
  explicit LineShades(const Theme& theme);
  Colour operator()(double t) const;

 private:
  double plain_, strong_;  // where on the map 0 and 1 are
};

// Names as in the string tables and the report: "kv_cache", "backward_weight", "fsdp", "matmul".
std::string_view name_of(MemoryPart part);
std::string_view name_of(TimelinePart kind);
std::string_view name_of(StepPart axis);
std::string_view name_of(Roof kind);

}  // namespace roofscape::widgets
