// Rows of a list as words in columns, with a bar beside a number where there is a measure for it and room. What has no
// room is scrolled to; the rank and the first result stay in sight.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/panel_context.h"
#include "widgets/figures/search/plan_table.h"

namespace roofscape::app {

struct ListRow {
  struct Bar {
    std::size_t column = 0;
    double share = 0;  // of what there is: over 1 it is too much, and said in the colour of errors
  };
  std::vector<std::string> cells;  // by column
  std::vector<Bar> bars;
};

inline constexpr float kListScrollBar = 12;  // at the right of the rows and under them

class ListTable {
 public:
  // `rows`: all there are, which give columns their widths.
  ListTable(PanelContext& ctx, const widgets::Rect& r, std::span<const widgets::search::PlanColumn> columns,
            std::span<const ListRow* const> rows);

  bool scrolled() const { return content_ > 0; }
  // The bar under the rows, where there is one; `rows`: what a wheel turned sideways means.
  void scroll(std::string_view id, const widgets::Rect& rows);
  void head(float y);
  void row(float y, const ListRow& row, std::string_view rank, bool present, bool lit);

 private:
  struct Placed {
    std::size_t index = 0;   // of the list's columns
    float x = 0, width = 0;  // width: of bar and text
    float bar = 0;           // of that; 0: none is drawn
    bool stays = false;      // where others are scrolled
    bool seen = true;
  };
  widgets::TextStyle small() const;
  void put(const Placed& c, float y, std::string_view text, widgets::TextStyle style);
  void place();

  PanelContext& ctx_;
  widgets::Rect r_;
  std::span<const widgets::search::PlanColumn> list_;
  std::vector<Placed> columns_;
  float rank_ = 0;
  float moving_ = 0, content_ = 0;  // where scrolled columns begin, and their width; 0: none is scrolled
};

}  // namespace roofscape::app
