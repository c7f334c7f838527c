#include "app/panels/preset_table_panel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/panels/panel_parts.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;
using TableKind = PresetTableView::Kind;

namespace {

constexpr float kTableTitle = 46, kTableRow = 26;
constexpr float kTableScrollBar = 12;              // at the right of the rows and under them
constexpr float kNameShare = 0.34f;                // of the width, at most, for the names
constexpr float kLeastHead = 62, kColumnGap = 16;  // a head is broken into lines of this width or its column's
constexpr std::string_view kTableSearch = "table.search";

std::string sort_id(std::string_view column) { return "table.sort." + std::string(column); }

// The columns placed: names at the left stay, the numbers are scrolled where they have no room.
class PlacedTable {
 public:
  PlacedTable(PanelContext& ctx, const Rect& r, PresetTableView& view, const PresetTableView::Shown& shown)
      : ctx_(ctx), r_(r), view_(view), shown_(shown) {
    const float most = std::round(r.w * kNameShare), pad = ctx.px(14);
    for (const PresetTable::Row& row : shown.table.rows)
      name_width_ = std::max(name_width_, ctx.ui.canvas.text_width(row.name, name_style(true)));
    name_width_ = std::round(confined(name_width_, ctx.px(110), most));
    moving_ = r.x + pad + name_width_ + ctx.px(kColumnGap);
    float x = moving_;
    for (std::size_t i = 0; i < shown.table.columns.size(); ++i) {
      Column c;
      for (const auto& cells : shown.cells) c.width = std::max(c.width, ctx.ui.canvas.text_width(cells[i], cell()));
      const std::string_view label = ctx.text(shown.table.columns[i].label);
      c.width = std::ceil(std::max({c.width, ctx.px(kLeastHead), longest_word(label)}));
      c.head = wrapped_lines(ctx.ui.canvas, label, small(), c.width);
      c.x = x;
      x += c.width + ctx.px(kColumnGap);
      lines_ = std::max(lines_, c.head.size());
      columns_.push_back(std::move(c));
    }
    content_ = x - moving_;
  }

  float head_height() const { return std::round(prose_height(small(), lines_) + ctx_.px(20)); }
  bool scrolled() const { return moving_ + content_ > r_.right() - ctx_.px(kTableScrollBar); }
  // The bar under the rows, where there is one; `rows`: where a wheel turned sideways means it.
  void scroll(const Rect& rows) {
    if (!scrolled()) return;
    const Rect view{moving_, rows.y, r_.right() - ctx_.px(kTableScrollBar) - moving_, rows.h};
    const float offset = scroll_across(ctx_.ui, "table.across", view, content_);
    for (Column& c : columns_) {
      c.x -= offset;
      // In part in sight is not: a number that is cut reads as another.
      c.seen = c.x >= view.x - 1 && c.x + c.width <= view.right() + 1;
    }
  }
  void heads(const Rect& head) {
    const float gap = ctx_.px(kColumnGap) / 2;
    head_cell({r_.x + ctx_.px(14), head.y, name_width_, head.h}, "name", {ctx_.text("ui.table.name")}, false);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Column& c = columns_[i];
      if (c.seen) head_cell({c.x - gap, head.y, c.width + gap, head.h}, shown_.table.columns[i].id, c.head, true);
    }
  }
  bool is_cut(std::size_t index, bool now) const {
    return ctx_.ui.canvas.text_width(shown_.table.rows[index].name, name_style(now)) > name_width_;
  }
  void row(const Rect& row, std::size_t index, bool now) {
    const Theme& t = ctx_.ui.theme;
    const float y = row.centre().y;
    ctx_.ui.canvas.text({r_.x + ctx_.px(14), y},
                        ellipsize(ctx_.ui.canvas, shown_.table.rows[index].name, name_style(now), name_width_),
                        name_style(now));
    TextStyle number = cell();
    number.colour = now ? t.ink : t.ink2;
    number.halign = HAlign::right;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i].seen)
        ctx_.ui.canvas.text({columns_[i].x + columns_[i].width, y}, shown_.cells[index][i], number);
  }

 private:
  struct Column {
    float x = 0, width = 0;
    std::vector<std::string_view> head;
    bool seen = true;
  };
  // A head is broken between words only.
  float longest_word(std::string_view text) const {
    float longest = 0;
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = std::min(text.find(' ', from), text.size());
      longest = std::max(longest, ctx_.ui.canvas.text_width(text.substr(from, end - from), small()));
      from = end + 1;
    }
    return longest;
  }
  TextStyle small() const { return ctx_.style(ctx_.ui.theme.ink2, kSmallText); }
  TextStyle cell() const { return ctx_.style(ctx_.ui.theme.ink2); }
  TextStyle name_style(bool now) const {
    return ctx_.style(ctx_.ui.theme.ink, 1, now ? Weight::bold : Weight::regular);
  }
  // The words stand at the foot of the head, with the mark of the order under them.
  void head_cell(const Rect& r, std::string_view column, const std::vector<std::string_view>& words, bool right) {
    const Theme& t = ctx_.ui.theme;
    const std::string id = sort_id(column);
    const ItemState s = ctx_.ui.item(id, r);
    const bool sorted = view_.sorting().column == column;
    TextStyle style = small();
    if (sorted || s.hovered) style.colour = t.ink;
    if (right) style.halign = HAlign::right;
    const float line = prose_height(style, 1), foot = ctx_.px(14);
    float y = r.bottom() - foot - line * static_cast<float>(words.size()) + line / 2;
    const float x = right ? r.right() : r.x;
    for (const std::string_view word : words) {
      ctx_.ui.canvas.text({x, y}, word, style);
      y += line;
    }
    if (sorted) {
      // A wedge that points to where the values grow.
      const float half = ctx_.px(4), top = r.bottom() - ctx_.px(10), bottom = top + ctx_.px(5);
      const float middle = right ? r.right() - half : r.x + half;
      const bool falls = view_.sorting().descending;
      const float point = falls ? bottom : top, base = falls ? top : bottom;
      ctx_.ui.canvas.polygon({{middle - half, base}, {middle + half, base}, {middle, point}}, {.colour = t.ink});
    }
    if (s.ring) ctx_.ui.canvas.frame(r.inset(0, ctx_.px(2)), {t.ink, ctx_.px(2), {}}, ctx_.px(3));
    if (s.hovered) {
      ctx_.ui.io.set_cursor(Cursor::hand);
      ctx_.ui.io.hint(id, r, {}, std::string(ctx_.text(sorted ? "ui.table.reverse" : "ui.table.sort")));
    }
    if (s.clicked) view_.sort(column);
  }

  PanelContext& ctx_;
  Rect r_;
  PresetTableView& view_;
  const PresetTableView::Shown& shown_;
  std::vector<Column> columns_;
  std::size_t lines_ = 1;
  float name_width_ = 0, moving_ = 0, content_ = 0;
};

// Which table, what is searched for, and at the right what can be done with it. What was accepted in the search, if
// something was.
std::optional<std::string> title_bar(PanelContext& ctx, Rect head, PresetTableView& view) {
  const float side = std::round(ctx.px(24)), h = std::round(ctx.px(kControlHeight));
  const auto middle = [&](const Rect& b, float height) {
    return Rect{b.x, std::round(head.centre().y - height / 2), b.w, height};
  };
  if (icon_button(ctx.ui, middle(head.cut_right(side), side), "table.close", Icon::close,
                  {std::string(ctx.text("ui.table.close")), {}}))
    view.open = false;
  head.cut_right(ctx.px(8));
  // Both are commands of the figure that is shown, and mean the table where it is.
  for (const auto& [id, command] :
       {std::pair{"table.save", "figure.export"}, std::pair{"table.copy", "edit.copy_data"}}) {
    const std::string_view words = ctx.text(std::string("ui.") + id);
    const float w = std::round(ctx.ui.canvas.text_width(words, ctx.style({})) + ctx.px(24));
    if (button(ctx.ui, middle(head.cut_right(w), h), id, words)) ctx.requests.run(command);
    head.cut_right(ctx.px(8));
  }
  const std::vector<std::string> kinds{std::string(ctx.text("ui.table.models")),
                                       std::string(ctx.text("ui.table.chips"))};
  float width = 0;
  for (const std::string& kind : kinds) width += ctx.ui.canvas.text_width(kind, ctx.style({})) + ctx.px(28);
  const int chosen = segmented(ctx.ui, middle(head.cut_left(std::round(width)), h), "table.kind", kinds,
                               static_cast<int>(view.kind));
  if (chosen != static_cast<int>(view.kind)) view.show(static_cast<TableKind>(chosen));
  head.cut_left(ctx.px(10));
  const Rect box = middle(head.cut_left(std::min(head.w, ctx.px(260))), std::round(ctx.px(28)));
  const auto accepted =
      typed_line(ctx, box, kTableSearch, view.search,
                 ctx.text(view.kind == TableKind::models ? "ui.editor.find.model" : "ui.table.find.chip"));
  if (ctx.ui.io.editing(kTableSearch))
    view.search = ctx.ui.io.entry().text;
  else if (accepted)
    view.search = *accepted;
  head.cut_left(ctx.px(12));
  const std::string words =
      ctx.format(view.kind == TableKind::models ? "ui.table.of.models" : "ui.table.of.chips",
                 {format_count(static_cast<double>(view.shown(ctx.session, ctx.ui.texts).table.rows.size()))});
  const TextStyle quiet = ctx.style(ctx.ui.theme.ink3, kSmallText);
  if (ctx.ui.canvas.text_width(words, quiet) <= head.w - ctx.px(8))
    ctx.ui.canvas.text({head.x, head.centre().y}, words, quiet);
  return accepted;
}

}  // namespace

engine::Scenario preset_table_panel(PanelContext& ctx, const Rect& r, PresetTableView& view,
                                    engine::Scenario scenario) {
  const Theme& t = ctx.ui.theme;
  const float pad = std::round(ctx.px(14)), row_h = std::round(ctx.px(kTableRow));
  ctx.ui.canvas.rect(r, {.colour = t.panel});
  const auto clip = ctx.ui.canvas.clip(r);
  Rect rest = r;
  const auto accepted = title_bar(ctx, rest.cut_top(std::round(ctx.px(kTableTitle))).inset(pad, 0), view);
  separator(ctx, rest.x, rest.right(), rest.y);
  const PresetTableView::Shown& shown = view.shown(ctx.session, ctx.ui.texts);  // until the next frame
  if (shown.table.rows.empty()) {
    draw_prose(ctx.ui.canvas, {rest.x + pad, rest.y + ctx.px(10)}, ctx.format("ui.list.none", {view.search}),
               ctx.style(t.ink2), rest.w - 2 * pad);
    return scenario;
  }
  PlacedTable table(ctx, rest, view, shown);
  table.scroll(rest);
  if (table.scrolled()) rest.cut_bottom(ctx.px(kTableScrollBar));
  table.heads(rest.cut_top(table.head_height()));
  separator(ctx, rest.x + pad, rest.right() - pad, rest.y);
  const PresetTable::Row* chosen = nullptr;
  const auto inner = ctx.ui.canvas.clip(rest);
  const ScrollRegion scroll =
      begin_scroll(ctx.ui, view.kind == TableKind::models ? "table.models" : "table.chips", rest);
  float y = scroll.content_top + ctx.px(2);
  for (std::size_t i = 0; i < shown.table.rows.size(); ++i, y += row_h) {
    const PresetTable::Row& one = shown.table.rows[i];
    const Rect row{rest.x + ctx.px(6), y, rest.w - ctx.px(22), row_h};
    const bool now = has_row(ctx.session.scenario(), view.kind, one);
    const std::string_view name = one.id.empty() ? one.name : one.id;
    if (now) chosen_row(ctx.ui, scroll, name, row);
    if (row.bottom() < rest.y || row.y > rest.bottom()) continue;
    const std::string id = "table.row." + std::string(name);
    const ItemState s = ctx.ui.item(id, row);
    if (now || s.hovered) ctx.ui.canvas.rect(row, {.colour = now ? t.ctlh : t.ctl}, ctx.px(3));
    if (s.ring) ctx.ui.canvas.frame(row, {t.ink, ctx.px(2), {}}, ctx.px(3));
    if (s.hovered) {
      ctx.ui.io.set_cursor(Cursor::hand);
      if (table.is_cut(i, now)) ctx.ui.io.hint(id, row, {one.name, {}});
    }
    if (s.clicked) chosen = &one;
    table.row(row, i, now);
  }
  end_scroll(ctx.ui, scroll, y + ctx.px(4));
  // Enter takes what was found best.
  if (accepted && chosen == nullptr && shown.best && !ctx.ui.io.pressed_now())
    chosen = &shown.table.rows[*shown.best];
  return chosen == nullptr ? scenario : with_row(std::move(scenario), view.kind, *chosen, ctx.session);
}

}  // namespace roofscape::app
