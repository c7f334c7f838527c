#include <doctest/doctest.h>

#include "tests/app/window/ui_checks.h"

#include <algorithm>

namespace roofscape::test {

void check_texts(const Harness& h, float width) {
  for (const auto& t : h.canvas.drawn_texts()) {
    const widgets::Rect cut = widgets::intersection(t.rect, t.clip);
    if (cut.empty()) continue;
    CAPTURE(t.text);
    CHECK(t.rect.x >= t.clip.x - 1.5f);
    CHECK(t.rect.right() <= t.clip.right() + 1.5f);
    CHECK(t.rect.right() <= width + 1);
  }
}

void check_overlaps(const Harness& h) {
  const auto& all = h.canvas.drawn_texts();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const widgets::Rect a = widgets::intersection(all[i].rect, all[i].clip);
    if (a.empty() || !all[i].upright || a.h < all[i].rect.h * 0.9f) continue;
    for (std::size_t k = i + 1; k < all.size(); ++k) {
      const widgets::Rect b = widgets::intersection(all[k].rect, all[k].clip);
      if (b.empty() || !all[k].upright || b.h < all[k].rect.h * 0.9f) continue;
      const widgets::Rect both = widgets::intersection(a, b);
      if (both.w < 3 || both.h < 0.4f * std::min(a.h, b.h)) continue;
      CAPTURE(all[i].text);
      CAPTURE(all[k].text);
      CHECK(both.empty());
    }
  }
}

void press(Harness& h, char key) { h.key({widgets::key_of(key)}); }

bool drawn(const Harness& h, std::string_view words) {
  const auto& all = h.canvas.drawn_texts();
  return std::any_of(all.begin(), all.end(), [&](const auto& t) { return t.text.find(words) != std::string::npos; });
}

}  // namespace roofscape::test
