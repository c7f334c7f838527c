#include "app/panels/list_table.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "app/panels/panel_parts.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

namespace {

constexpr float kNarrowColumn = 76;  // of words that are cut
constexpr float kBar = 54;

const ListRow::Bar* bar_of(const ListRow& row, std::size_t column) {
  const auto found =
      std::find_if(row.bars.begin(), row.bars.end(), [column](const ListRow::Bar& b) { return b.column == column; });
  return found == row.bars.end() ? nullptr : &*found;
}

}  // namespace

ListTable::ListTable(PanelContext& ctx, const Rect& r, std::span<const search::PlanColumn> columns,
                     std::span<const ListRow* const> rows)
    : ctx_(ctx), r_(r), list_(columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    Placed column;
    column.index = i;
    column.width = ctx.ui.canvas.text_width(columns[i].heading, small());
    bool bars = false;
    for (const ListRow* row : rows) {
      column.width = std::max(column.width, ctx.ui.canvas.text_width(row->cells[i], ctx.style({}, 1, Weight::bold)));
      bars |= bar_of(*row, i) != nullptr;
    }
    column.bar = bars ? ctx.px(kBar) : 0;
    column.width += column.bar;
    columns_.push_back(column);
  }
  place();
}

void ListTable::scroll(std::string_view id, const Rect& rows) {
  if (!scrolled()) return;
  const Rect view{moving_, rows.y, r_.right() - ctx_.px(kListScrollBar) - moving_, rows.h};
  const float offset = scroll_across(ctx_.ui, id, view, content_);
  for (Placed& c : columns_) {
    if (c.stays) continue;
    c.x -= offset;
    // In part in sight is not: a number that is cut reads as another.
    c.seen = c.x >= view.x - 1 && c.x + c.width <= view.right() + 1;
  }
}

void ListTable::head(float y) {
  for (const Placed& c : columns_)
    if (c.seen) put(c, y, list_[c.index].heading, small());
}

void ListTable::row(float y, const ListRow& row, std::string_view rank, bool present, bool lit) {
  const Theme& t = ctx_.ui.theme;
  TextStyle r = ctx_.style(present ? t.ink : t.ink2, 1, Weight::bold);
  r.halign = HAlign::right;
  ctx_.ui.canvas.text({r_.x + rank_, y}, rank, r);
  for (const Placed& c : columns_) {
    if (!c.seen) continue;
    const ListRow::Bar* bar = bar_of(row, c.index);
    const bool over = bar != nullptr && bar->share > 1;
    put(c, y, row.cells[c.index],
        ctx_.style(over                                      ? t.err
                   : list_[c.index].result || lit || present ? t.ink
                                                             : t.ink2));
    if (bar == nullptr || c.bar <= 0) continue;
    const Rect place{c.x, y - ctx_.px(3), ctx_.px(kBar - 10), ctx_.px(6)};
    ctx_.ui.canvas.rect(place, {.colour = t.ctlh});
    ctx_.ui.canvas.rect({place.x, place.y, place.w * static_cast<float>(std::min(1.0, bar->share)), place.h},
                        {.colour = over ? t.err : t.ink2});
  }
}

TextStyle ListTable::small() const { return ctx_.style(ctx_.ui.theme.ink3, kSmallText); }

void ListTable::put(const Placed& c, float y, std::string_view text, TextStyle style) {
  const bool right = list_[c.index].number;
  style.halign = right ? HAlign::right : HAlign::left;
  const Point at{right ? c.x + c.width : c.x, y};
  if (list_[c.index].spare)  // may be narrower than its words; the tip has them whole
    ctx_.ui.canvas.text(at, ellipsize(ctx_.ui.canvas, text, style, c.width + 1), style);
  else
    ctx_.ui.canvas.text(at, text, style);
}

// Bars go first, where all columns have room without them. Then spare columns are narrowed and go, the last first; what
// is left over is shared out. Where all others have no room either, all but the first result are scrolled.
void ListTable::place() {
  rank_ = ctx_.px(44);
  const float least = ctx_.px(10), narrow = ctx_.px(kNarrowColumn), room = r_.w - rank_ - ctx_.px(26);
  const auto taken = [&] {
    float sum = 0;
    for (const Placed& c : columns_) sum += c.width + least;
    return sum;
  };
  const auto spare = [this](const Placed& c) { return list_[c.index].spare; };
  // What goes without the spare columns' words but for their beginning, and without bars.
  float narrowest = taken();
  for (const Placed& c : columns_) narrowest -= spare(c) ? std::max(0.0f, c.width - narrow) : c.bar;
  if (taken() > room && narrowest <= room)
    for (Placed& c : columns_) c.width -= std::exchange(c.bar, 0.0f);
  while (taken() > room) {
    const auto last = std::find_if(columns_.rbegin(), columns_.rend(), spare);
    if (last == columns_.rend()) break;
    const float over = taken() - room;
    if (last->width - over >= narrow) {
      last->width -= over;
      break;
    }
    columns_.erase(std::next(last).base());
  }
  float gap = least + std::clamp((room - taken()) / static_cast<float>(columns_.size()), 0.0f, ctx_.px(30));
  float x = r_.x + rank_;
  const bool scrolls = taken() > room;
  if (scrolls) {
    const auto first =
        std::find_if(columns_.begin(), columns_.end(), [this](const Placed& c) { return list_[c.index].result; });
    if (first != columns_.end()) {
      first->stays = true;
      std::rotate(columns_.begin(), first, std::next(first));
    }
    gap = least;
  }
  for (Placed& c : columns_) {
    x += gap;
    c.x = x;
    x += c.width;
    if (c.stays) moving_ = x + gap;
  }
  if (scrolls) content_ = x - moving_ + gap;
}

}  // namespace roofscape::app
