#include "app/panels/pipeline_tools.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/canvas/number_format.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

namespace {

constexpr std::array kSpeeds{5.0, 10.0, 20.0, 40.0, 80.0};  // seconds the whole step takes on the screen
constexpr double kLongestFrame = 0.1;                       // a stall is not caught up with
constexpr double kLeastSpan = 1e-6;
constexpr double kNotch = 0.9;

Readout command_tip(const PanelContext& ctx, std::string_view id) {
  Readout tip{std::string(ctx.text("command." + std::string(id))), {}};
  const Command* c = ctx.command(id);
  if (c != nullptr && c->key.key != Key::none) tip.rows.emplace_back(ctx.text("ui.tip.key"), key_text(c->key));
  return tip;
}

}  // namespace

void PipelineTools::play_or_stop() {
  playing = !playing;
  if (playing && (!cursor || *cursor >= 1)) cursor = 0;
}

void PipelineTools::leave_playback() {
  cursor.reset();
  playing = false;
}

void PipelineTools::show_in(FigureView& figure) const {
  figure.critical_path = critical_path;
  figure.memory_trace = memory_trace;
  figure.cursor = cursor;
}

float pipeline_toggles(PanelContext& ctx, PipelineTools& tools, float right, float middle) {
  const float side = std::round(ctx.px(24)), gap = ctx.px(4);
  const auto toggle = [&](std::string_view command, Icon icon, bool on) {
    right -= side;
    const Rect r{right, std::round(middle - side / 2), side, side};
    if (on) {
      ctx.ui.canvas.rect(r, {.colour = ctx.ui.theme.ctl}, ctx.px(3));
      ctx.ui.canvas.frame(r, {ctx.ui.theme.edge, std::max(1.0f, ctx.px(1)), {}}, ctx.px(3));
    }
    if (icon_button(ctx.ui, r, command, icon, command_tip(ctx, command))) ctx.requests.run(command);
    right -= gap;
  };
  right -= gap;
  toggle("pipeline.play", tools.playing ? Icon::pause : Icon::play, tools.playing);
  if (tools.cursor) {
    // How long the whole step takes on the screen: a click goes on to the next.
    const TextStyle style = ctx.style(ctx.ui.theme.ink2, kSmallText);
    const std::string speed = ctx.format("ui.pipeline.speed", {format_count(tools.shown_s)});
    const float w = std::round(ctx.ui.canvas.text_width(speed, style));
    right -= w + gap;
    const Rect r{right, std::round(middle - side / 2), w, side};
    ctx.ui.canvas.text({r.x, middle}, speed, style);
    if (link(ctx.ui, r, "pipeline.speed", {std::string(ctx.text("ui.pipeline.speed.about")), {}},
             Interaction::Focus::tab_stop)) {
      const auto next = std::upper_bound(kSpeeds.begin(), kSpeeds.end(), tools.shown_s);
      tools.shown_s = next == kSpeeds.end() ? kSpeeds.front() : *next;
    }
    right -= gap;
  }
  toggle("pipeline.memory_trace", Icon::trace, tools.memory_trace);
  toggle("pipeline.critical_path", Icon::path, tools.critical_path);
  return right;
}

void pipeline_gestures(PanelContext& ctx, PipelineTools& tools, const Rect& plot, const ItemState& state,
                       std::pair<double, double>& span) {
  if (plot.empty()) return;
  Interaction& io = ctx.ui.io;
  const double share = std::clamp(static_cast<double>((io.pointer().x - plot.x) / plot.w), 0.0, 1.0);
  if (state.hovered && !state.held)
    if (const float notches = io.take_wheel(plot); notches != 0) {
      const double old = span.second - span.first, at = span.first + old * share;
      const double width = std::clamp(old * std::pow(kNotch, static_cast<double>(notches)), kLeastSpan, 1.0);
      const double from = std::clamp(at - (at - span.first) * width / old, 0.0, 1.0 - width);
      span = {from, from + width};
    }
  if (state.pressed) tools.span_before = span;
  if (state.held && distance(io.pointer(), io.drag_origin()) >= ctx.px(4)) {
    const auto before = tools.span_before;
    const double width = before.second - before.first;
    const double moved = static_cast<double>((io.pointer().x - io.drag_origin().x) / plot.w) * width;
    const double from = std::clamp(before.first - moved, 0.0, 1.0 - width);
    span = {from, from + width};
    if (width < 1) io.set_cursor(Cursor::resize_x);
  }
  if (state.double_clicked) span = tools.span_before = {0.0, 1.0};
}

void run_playback(PanelContext& ctx, PipelineTools& tools, std::pair<double, double>& span) {
  const double now = ctx.ui.io.input().now_s, passed = std::clamp(now - tools.last_s, 0.0, kLongestFrame);
  tools.last_s = now;
  if (!tools.playing || !tools.cursor) return;
  *tools.cursor = std::min(1.0, *tools.cursor + passed / tools.shown_s);
  if (*tools.cursor >= 1) tools.playing = false;
  const double width = span.second - span.first;
  if (*tools.cursor > span.second || *tools.cursor < span.first) {
    const double from = std::clamp(*tools.cursor, 0.0, 1.0 - width);
    span = {from, from + width};
  }
  if (tools.playing) ctx.ui.io.wake_after(0);
}

}  // namespace roofscape::app
