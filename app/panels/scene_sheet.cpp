#include "app/panels/scene_sheet.h"

#include <algorithm>
#include <cmath>

#include "app/session/file_list.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

namespace {

constexpr std::size_t kMostMarks = 4;
constexpr std::array<std::string_view, SceneSheetState::kBoxes> kBoxIds{"scene.tour", "scene.title", "scene.question",
                                                                        "scene.answer", "scene.sentence"};

// One line that is typed into, with its label over it.
void scene_box(PanelContext& ctx, Rect& rest, SceneSheetState& state, std::size_t box) {
  const std::string id(kBoxIds[box]);
  Rect label = rest.cut_top(std::round(ctx.px(20)));
  const TextStyle small = ctx.style(ctx.ui.theme.ink2, kSmallText);
  ctx.ui.canvas.text({label.x, label.centre().y}, ctx.text("ui." + id), small);
  const Rect r = rest.cut_top(std::round(ctx.px(kControlHeight)));
  rest.cut_top(std::round(ctx.px(6)));
  if (ctx.ui.io.editing(id)) {
    text_box(ctx.ui, r, id);
    state.words[box] = ctx.ui.io.entry().text;
    state.box = box;
    return;
  }
  const ItemState s = ctx.ui.item(id, r);
  draw_control_frame(ctx.ui, r, s.hovered, s.ring);
  const TextStyle text = ctx.style(ctx.ui.theme.ink);
  const Rect inside = r.inset(ctx.px(8), 0);
  ctx.ui.canvas.text({inside.x, r.centre().y}, ellipsize(ctx.ui.canvas, state.words[box], text, inside.w), text);
  if (s.pressed || s.clicked) {
    state.box = box;
    ctx.ui.io.start_entry(id, state.words[box]);
  }
}

// Where the class sets its guess: on the line below the figure, or on the figure.
void mark_choice(PanelContext& ctx, Rect& rest, SceneSheetState& state) {
  if (!state.offer) return;
  const std::string& answer = state.words[SceneSheetState::answer];
  if (state.offered_for != answer) {
    state.offers = state.offer(ctx.ui.canvas.metrics(), answer);
    state.offered_for = answer;
  }
  if (state.offers.size() < 2) {
    state.mark = {};
    return;
  }
  std::vector<std::string> names;
  int selected = 0;
  for (std::size_t i = 0; i < state.offers.size() && i < kMostMarks; ++i) {
    if (mark_word(state.offers[i].mark) == mark_word(state.mark)) selected = static_cast<int>(i);
    names.push_back(state.offers[i].name);
  }
  Rect label = rest.cut_top(std::round(ctx.px(20)));
  ctx.ui.canvas.text({label.x, label.centre().y}, ctx.text("ui.scene.mark"),
                     ctx.style(ctx.ui.theme.ink2, kSmallText));
  const Rect r = rest.cut_top(std::round(ctx.px(kControlHeight)));
  rest.cut_top(std::round(ctx.px(6)));
  selected = segmented(ctx.ui, r, "scene.mark", names, selected);
  state.mark = state.offers[static_cast<std::size_t>(selected)].mark;
}

}  // namespace

SheetReply scene_sheet(PanelContext& ctx, const Rect& window, SceneSheetState& state) {
  const Theme& t = ctx.ui.theme;
  Rect r = sheet_ground(ctx, window, std::min(window.w - ctx.px(24), ctx.px(680)),
                        std::min(window.h - ctx.px(24), ctx.px(462)));
  const auto clip = ctx.ui.canvas.clip(r);
  r = r.inset(ctx.px(24), ctx.px(14));
  const Rect head = r.cut_top(ctx.px(34));
  ctx.ui.canvas.text({head.x, head.centre().y}, ctx.text(state.edits ? "ui.scene.edit" : "ui.scene.add"),
                     ctx.style(t.ink, 1.25f, Weight::bold));
  // Enter and Tab go on to the next line; Enter in the last one is done.
  const std::size_t first = state.edits ? SceneSheetState::title : SceneSheetState::tour;
  if (!ctx.ui.io.editing_any()) ctx.ui.io.start_entry(kBoxIds[state.box], state.words[state.box]);
  const bool enter = ctx.ui.io.take(Key::enter), next = ctx.ui.io.take(Key::tab),
             back = ctx.ui.io.take({Key::tab, false, true, false}), cancels = ctx.ui.io.take(Key::escape);
  bool accept = enter && state.box + 1 == SceneSheetState::kBoxes;
  for (std::size_t box = first; box < SceneSheetState::kBoxes; ++box) scene_box(ctx, r, state, box);
  mark_choice(ctx, r, state);
  if (!accept && (enter || next || back)) {
    const std::size_t count = SceneSheetState::kBoxes - first;
    state.box = first + (state.box - first + (back ? count - 1 : 1)) % count;
    ctx.ui.io.start_entry(kBoxIds[state.box], state.words[state.box]);
  }
  Rect foot = r.cut_bottom(std::round(ctx.px(kControlHeight)));
  const TextStyle small = ctx.style(state.problem.empty() ? t.ink3 : t.err, kSmallText);
  const std::string where = state.problem.empty() ? ctx.format("ui.files.target", {state.file}) : state.problem;
  ctx.ui.canvas.text({r.x, r.y + ctx.px(12)}, ellipsize(ctx.ui.canvas, where, small, r.w), small);
  const Rect ok = foot.cut_right(ctx.px(110));
  foot.cut_right(ctx.px(10));
  const Rect no = foot.cut_right(ctx.px(110));
  accept = button(ctx.ui, ok, "scene.ok", ctx.text("ui.save.ok"), true) || accept;
  const bool cancel = button(ctx.ui, no, "scene.cancel", ctx.text("ui.save.cancel")) || cancels;
  if (!accept && !cancel) return {};
  ctx.ui.io.stop_entry();
  return {true, cancel ? std::string() : std::string("scene")};
}

}  // namespace roofscape::app
