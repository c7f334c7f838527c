// Rows of a rail that asks for something and says what came of it: a label with a control, a pair of words, a sentence.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "app/panels/panel_context.h"

namespace roofscape::app {

struct RailRows {
  PanelContext& ctx;
  float x, y, width;

  void label(std::string_view words, bool off = false);
  widgets::Rect box(float right) const;  // of the control beside a label; `right`: room that stays free
  void next();
  float end() const { return x + width; }
  void pair(std::string_view left, std::string_view right, const widgets::TextStyle& value);
  void prose(const std::string& words, bool is_error = false);
  // One of several, over the whole width; which is chosen.
  int choice(std::string_view id, std::span<const std::string> names, int selected, std::string_view title);
  bool word_button(std::string_view id, std::string_view words);  // as wide as its words, on a row of its own
};

// A rail over its whole place, scrolled where its rows are longer: `rows` draws them from the top down.
void scrolled_rail(PanelContext& ctx, const widgets::Rect& r, std::string_view id,
                   const std::function<void(RailRows&)>& rows);

// What the scenario promises to its users, in words: that no limits are set, where none are.
std::string promise_words(const PanelContext& ctx);

}  // namespace roofscape::app
