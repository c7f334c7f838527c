#include "widgets/canvas/palette.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace roofscape::widgets {
namespace {

// What a meaning looks like. `ink` meanings take the theme's ink colours instead of a hue.
struct Look {
  Hue hue;
  Hatch hatch;
  enum Kind : std::uint8_t { coloured, idle, faint, inked, tinted } kind = coloured;
  std::string_view name;
};

constexpr Look kMemory[kMemoryPartCount] = {{Hue::blue, Hatch::none, Look::coloured, "weights"},
                                            {Hue::sky, Hatch::horizontal, Look::coloured, "gradients"},
                                            {Hue::purple, Hatch::cross, Look::coloured, "optimizer"},
                                            {Hue::orange, Hatch::slash, Look::coloured, "activations"},
                                            {Hue::green, Hatch::backslash, Look::coloured, "kv_cache"},
                                            {Hue::grey, Hatch::vertical, Look::coloured, "buffers"},
                                            {Hue::grey, Hatch::dots, Look::faint, "reserve"},
                                            {Hue::vermilion, Hatch::cross, Look::coloured, "over_capacity"}};

constexpr Look kOps[kTimelinePartCount] = {{Hue::blue, Hatch::none, Look::coloured, "forward"},
                                           {Hue::orange, Hatch::slash, Look::coloured, "backward"},
                                           {Hue::green, Hatch::backslash, Look::coloured, "backward_weight"},
                                           {Hue::sky, Hatch::cross, Look::coloured, "recompute"},
                                           {Hue::grey, Hatch::sparse_slash, Look::idle, "idle"},
                                           {Hue::grey, Hatch::dots, Look::coloured, "step_end"}};

struct AxisLook {
  Look look;
  Dash dash;  // lengths at line width 2
};
constexpr AxisLook kAxes[kStepPartCount] = {{{Hue::grey, Hatch::none, Look::inked, "compute"}, {}},
                                            {{Hue::grey, Hatch::cross, Look::inked, "recompute"}, {}},
                                            {{Hue::sky, Hatch::horizontal, Look::coloured, "data"}, {2, 4}},
                                            {{Hue::blue, Hatch::none, Look::coloured, "fsdp"}, {10, 4}},
                                            {{Hue::orange, Hatch::slash, Look::coloured, "tensor"}, {12, 4, 2, 4}},
                                            {{Hue::green, Hatch::backslash, Look::coloured, "context"}, {6, 3}},
                                            {{Hue::yellow, Hatch::cross, Look::coloured, "expert"}, {3, 3}},
                                            {{Hue::grey, Hatch::vertical, Look::coloured, "pipeline"}, {1, 4}},
                                            {{Hue::grey, Hatch::sparse_slash, Look::tinted, "bubble"}, {}},
                                            {{Hue::purple, Hatch::cross, Look::coloured, "optimizer"}, {}},
                                            {{Hue::grey, Hatch::dots, Look::coloured, "host"}, {}}};

struct RoofLook {
  Look look;
  Marker marker;
};
constexpr RoofLook kRoofs[] = {{{Hue::blue, Hatch::none, Look::coloured, "matmul"}, Marker::circle},
                               {{Hue::orange, Hatch::none, Look::coloured, "attention"}, Marker::diamond},
                               {{Hue::green, Hatch::none, Look::coloured, "vector"}, Marker::square}};

template <class Enum>
constexpr std::size_t index(Enum e) {
  return static_cast<std::size_t>(e);
}

constexpr float kPlanWidth = 1.375f;  // of a curve: 2.2 pt in print
constexpr Colour kBlack{0, 0, 0, 255}, kWhite{255, 255, 255, 255};
constexpr double kLeastContrast = 3;  // of graphics against the panel
constexpr double kDarkFill = 0.16;    // luminance below which a hatch is white
constexpr float kEdgeShade = 0.32f, kReserveShare = 0.45f, kLatestChunkShare = 0.5f;
constexpr float kHatchWidth = 0.64f;  // of a line of the grid: 0.35 pt in print
constexpr float kBubbleTint = 0.12f;  // of ink: often the largest part of a step, and never its faintest
constexpr float kFaintGrey = 0.6f;    // of the idle hatch in the panel: what chunks fade into on a light one
constexpr double kTextContrast = 4.5;

Fill fill_from(const Theme& theme, const Look& look, float em) {
  switch (look.kind) {
    case Look::idle: {
      Fill fill;
      fill.hatch = look.hatch;
      fill.hatch_ink = theme.bub;
      fill.hatch_width = kHatchWidth * theme.grid_width * em;
      return fill;
    }
    case Look::tinted: {
      Fill fill = hatched(theme, mix(theme.panel, theme.ink, kBubbleTint), look.hatch, em);
      fill.hatch_ink = theme.bub;
      fill.edge = theme.bub;
      fill.edge_width = theme.edge_width * em;
      return fill;
    }
    case Look::inked:
      return hatched(theme, theme.ink2, look.hatch, em);
    case Look::faint:
      return hatched(theme, mix(theme.panel, theme.fill(look.hue), kReserveShare), look.hatch, em);
    case Look::coloured:
      break;
  }
  return hatched(theme, theme.fill(look.hue), look.hatch, em);
}

Colour line_from(const Theme& theme, const Look& look) {
  if (look.kind == Look::inked) return theme.ink;
  if (look.kind == Look::idle || look.kind == Look::tinted) return theme.bub;
  return theme.stroke(look.hue);
}

}  // namespace

Colour cleared(Colour colour, Colour towards, Colour ground, double least) {
  if (contrast(colour, ground) >= least) return colour;
  constexpr int kSteps = 50;
  for (int i = 1; i < kSteps; ++i) {
    const Colour mixed = mix(colour, towards, static_cast<float>(i) / kSteps);
    if (contrast(mixed, ground) >= least) return mixed;
  }
  return towards;
}

Colour readable(Colour text, Colour ground) { return cleared(text, text_on(ground), ground, kTextContrast); }

Fill hatched(const Theme& theme, Colour colour, Hatch hatch, float em) {
  Fill fill;
  fill.colour = colour;
  fill.hatch = hatch;
  // Mixed here instead of drawn with opacity: crossings look the same everywhere and files need no transparency.
  fill.hatch_ink = mix(colour, luminance(colour) < kDarkFill ? kWhite : kBlack, theme.hatch_opacity);
  fill.hatch_width = kHatchWidth * theme.grid_width * em;
  if (contrast(colour, theme.panel) < kLeastContrast) {
    // Towards black on a light panel, where light fills vanish; dark themes have theirs lightened instead.
    fill.edge = mix(colour, theme.dark() ? kWhite : kBlack, kEdgeShade);
    fill.edge_width = theme.edge_width * em;
  }
  return fill;
}

Fill fill_of(const Theme& theme, MemoryPart part, float em) { return fill_from(theme, kMemory[index(part)], em); }
Fill fill_of(const Theme& theme, TimelinePart kind, float em) { return fill_from(theme, kOps[index(kind)], em); }
Fill fill_of(const Theme& theme, StepPart axis, float em) { return fill_from(theme, kAxes[index(axis)].look, em); }
Fill fill_of(const Theme& theme, Roof kind, float em) { return fill_from(theme, kRoofs[index(kind)].look, em); }

Colour line_of(const Theme& theme, MemoryPart part) { return line_from(theme, kMemory[index(part)]); }
Colour line_of(const Theme& theme, TimelinePart kind) { return line_from(theme, kOps[index(kind)]); }
Colour line_of(const Theme& theme, StepPart axis) { return line_from(theme, kAxes[index(axis)].look); }
Colour line_of(const Theme& theme, Roof kind) { return line_from(theme, kRoofs[index(kind)].look); }

Marker marker_of(Roof kind) { return kRoofs[index(kind)].marker; }

Dash dash_of(StepPart axis, float width) { return kAxes[index(axis)].dash.scaled(width / 2); }

Stroke stroke_of(const Theme& theme, StepPart axis, float em, bool dashed) {
  const float width = theme.data_width * em;
  return {line_of(theme, axis), width, dashed ? dash_of(axis, width) : Dash{}};
}

Stroke plan_stroke(const Theme& theme, float em) { return {theme.ink, kPlanWidth * theme.data_width * em, {}}; }

Fill chunk_of(const Theme& theme, Fill fill, int chunk, int chunks) {
  if (chunks < 2 || chunk <= 0 || !fill.colour.visible()) return fill;
  const float share =
      kLatestChunkShare * static_cast<float>(std::min(chunk, chunks - 1)) / static_cast<float>(chunks - 1);
  const Colour whole = fill.colour;
  const Colour ground = theme.dark() ? theme.panel : mix(theme.panel, theme.bub, kFaintGrey);
  fill.colour = mix(whole, ground, share);
  fill.hatch_ink = mix(fill.hatch_ink, ground, share);
  // The edge is as clear as it must be and no more: in the full hue it would be seen before the block.
  fill.edge = kTransparent;
  fill.edge_width = 0;
  if (contrast(fill.colour, theme.panel) < kLeastContrast) {
    fill.edge = cleared(fill.colour, theme.dark() ? whole : kBlack, theme.panel, kLeastContrast);
    fill.edge_width = fill.hatch_width * theme.edge_width / std::max(kHatchWidth * theme.grid_width, 1e-6f);
  }
  return fill;
}

// Nine stops of the viridis map by Smith and van der Walt, straight lines between them (close enough for a key and
// cells).
Colour viridis(double t) {
  constexpr std::array<Colour, 9> kStops{{{68, 1, 84, 255},
                                          {71, 44, 122, 255},
                                          {59, 81, 139, 255},
                                          {44, 113, 142, 255},
                                          {33, 144, 141, 255},
                                          {39, 173, 129, 255},
                                          {92, 200, 99, 255},
                                          {170, 220, 50, 255},
                                          {253, 231, 37, 255}}};
  if (!(t > 0)) return kStops.front();
  if (t >= 1) return kStops.back();
  const double scaled = t * (kStops.size() - 1);
  const auto i = static_cast<std::size_t>(scaled);
  return mix(kStops[i], kStops[i + 1], static_cast<float>(scaled - static_cast<double>(i)));
}

LineShades::LineShades(const Theme& theme) : plain_(theme.dark() ? 0 : 1), strong_(theme.dark() ? 1 : 0) {
  if (contrast(viridis(plain_), theme.panel) >= kLeastContrast) return;
  // Contrast grows along the way from one end to the other, which is one of luminance.
  double faint = plain_, clear = strong_;
  for (int i = 0; i < 24; ++i) {
    const double middle = (faint + clear) / 2;
    (contrast(viridis(middle), theme.panel) < kLeastContrast ? faint : clear) = middle;
  }
  plain_ = clear;
}

Colour LineShades::operator()(double t) const {
  const double share = t > 0 ? std::min(t, 1.0) : 0;
  return viridis(plain_ + share * (strong_ - plain_));
}

std::string_view name_of(MemoryPart part) { return kMemory[index(part)].name; }
std::string_view name_of(TimelinePart kind) { return kOps[index(kind)].name; }
std::string_view name_of(StepPart axis) { return kAxes[index(axis)].look.name; }
std::string_view name_of(Roof kind) { return kRoofs[index(kind)].look.name; }

}  // namespace roofscape::widgets
