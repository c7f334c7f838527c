#include "widgets/figures/common/empty_state.h"

#include "widgets/figures/common/figure_head.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

void draw_empty_state(Canvas& canvas, const Theme& theme, const Rect& area, std::string_view why) {
  const auto group = canvas.group(kEmptyState);
  const TextStyle style = small_text(canvas, theme.ink2, HAlign::centre);
  const float pitch = FontStack::kLineHeight * style.em;
  const auto lines = wrap(canvas, why, style, area.w - canvas.px(24), 4);
  float y = area.centre().y - pitch * (static_cast<float>(lines.size()) - 1) / 2;
  for (const std::string& line : lines) {
    canvas.text({area.centre().x, y}, line, style);
    y += pitch;
  }
}

}  // namespace roofscape::widgets
