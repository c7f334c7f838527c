#include "app/panels/dock_panel.h"

#include <algorithm>
#include <cmath>

#include "app/core/strings.h"
#include "app/panels/field_control.h"
#include "app/panels/workbench_inputs.h"
#include "engine/io/export/block_json.h"
#include "widgets/figures/blocks/block_text.h"

namespace roofscape::app {

using namespace widgets;
using engine::Field;
using engine::FieldKind;

namespace {

constexpr float kDockGap = 0.8f, kDockPad = 0.6f;  // em, between controls and inside of one
constexpr float kMostWide = 24;                    // em, of one control

bool is_power_of_two(double x) { return x >= 1 && std::exp2(std::round(std::log2(x))) == x; }

// Steps of a counted field go by doubling where it is large or stands at a power of two.
bool doubles(const Field& field, double at) {
  return field.kind == FieldKind::integer && field.maximum > 64 && field.minimum <= 1 &&
         (is_power_of_two(at) || at > 64);
}

SliderRange range_of(const Field& field, double middle) {
  if (field.kind == FieldKind::integer) {
    if (doubles(field, middle))
      return powers(1, std::min(std::exp2(std::ceil(std::log2(std::max(middle, 1.0)) + 6)), field.maximum));
    return integers(field.minimum, std::min(std::max(4 * middle, field.minimum + 8), field.maximum));
  }
  SliderRange range;
  if (field.maximum <= 1 || middle <= 0) {
    range.kind = SliderKind::linear;
    range.track_from = field.minimum;
    range.track_to = std::min(field.maximum, std::max(1.0, field.minimum + 1));
    return range;
  }
  range.kind = SliderKind::logarithmic;
  range.track_from = std::max(middle / 32, field.minimum);
  range.track_to = std::min(middle * 32, field.maximum);
  return range;
}

// The places of so many controls beside each other, with the ground of each.
std::vector<Rect> dock_places(PanelContext& ctx, const Rect& r, std::size_t controls) {
  std::vector<Rect> out;
  const float gap = std::round(kDockGap * ctx.ui.em()), n = static_cast<float>(std::max<std::size_t>(1, controls));
  const float most = std::round(kMostWide * ctx.ui.em());
  const float w = std::min(most, std::floor((r.w - gap * (n - 1)) / n));
  for (std::size_t i = 0; i < controls; ++i) out.push_back({r.x + static_cast<float>(i) * (w + gap), r.y, w, r.h});
  return out;
}
// The control that keys step is framed where there are others.
Rect draw_dock_ground(PanelContext& ctx, const Rect& place, bool stepped) {
  const Theme& t = ctx.ui.theme;
  ctx.ui.canvas.rect(place, {.colour = t.ctl}, ctx.px(4));
  if (stepped) ctx.ui.canvas.frame(place, {t.ink2, ctx.px(1.5f), {}}, ctx.px(4));
  return place.inset(std::round(kDockPad * ctx.ui.em()), 0);
}

}  // namespace

std::vector<std::string> usable_controls(std::span<const std::string> paths, const engine::Scenario& scenario) {
  std::vector<std::string> out;
  for (const std::string& path : paths)
    if (const Field* field = engine::find_field(path);
        field != nullptr && engine::applies(*field, scenario.workload.kind) && out.size() < kMostPinned)
      out.push_back(path);
  return out;
}

std::vector<std::string> usual_controls(const engine::Scenario& scenario) {
  if (scenario.serves()) return {"workload.batch", "parallelism.tensor"};
  return {"workload.global_batch_sequences", "parallelism.tensor"};
}

float dock_height(const PanelContext& ctx, std::size_t controls) {
  return controls == 0 ? 0 : std::round(kTallRow * ctx.ui.em());
}

engine::Scenario dock_panel(PanelContext& ctx, const Rect& r, std::span<const std::string> paths,
                            engine::Scenario scenario) {
  const std::vector<Rect> places = dock_places(ctx, r, paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const Field* field = engine::find_field(paths[i]);
    if (field == nullptr) continue;
    const Rect inside = draw_dock_ground(ctx, places[i], paths.size() > 1 && ctx.stepped == paths[i]);
    field_tall(ctx, inside, scenario, paths[i], range_of(*field, field->get(ctx.session.loaded())));
  }
  return scenario;
}

std::optional<MovedInput> block_dock(PanelContext& ctx, const Rect& r, std::span<const std::string> inputs,
                                     const engine::BlockCall& call, const engine::BlockCall& first) {
  std::optional<MovedInput> moved;
  const std::vector<Rect> places = dock_places(ctx, r, inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = inputs[i];
    const engine::BlockInput* input = call.block().find_input(name);
    if (input == nullptr || !input->is_numeric() || input->is_list() || !call.value(name).is_known()) continue;
    const Rect inside = draw_dock_ground(ctx, places[i], false);
    const std::string id = "bench.in." + name;
    ControlInfo info;
    info.id = id;
    info.label = input_label(ctx.ui.texts, *input);
    info.about = ctx.text(io::about_key(*input));
    info.tall = true;
    const double value = call.number(name);
    SliderRange range = input_range(*input, first.number(name));
    range.minimum = input->low;
    range.maximum = input->high;
    const Edited edited = slider(ctx.ui, {inside.x, inside.y}, inside.w, info, range, value);
    if (edited.value != value && (edited.value > input->low || !input->above_low)) moved = {name, edited.value};
  }
  return moved;
}

engine::Scenario step_field(const Field& field, int by, engine::Scenario scenario) {
  const double now = field.get(scenario);
  double next = now;
  switch (field.kind) {
    case FieldKind::boolean:
      next = by > 0 ? 1 : 0;
      break;
    case FieldKind::choice:
      next = now + by;
      break;
    case FieldKind::integer:
      next = !doubles(field, now) ? now + by : by > 0 ? 2 * now : std::floor(now / 2);
      break;
    case FieldKind::number:
      next = field.maximum <= 1 ? now + 0.1 * by : by > 0 ? now * std::sqrt(2.0) : now / std::sqrt(2.0);
      break;
  }
  if (field.kind != FieldKind::choice) next = std::clamp(next, field.minimum, field.maximum);
  if (field.kind == FieldKind::boolean || engine::in_domain(field, next)) field.set(scenario, next);
  return scenario;
}

}  // namespace roofscape::app
