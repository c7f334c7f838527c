#include "widgets/figure_head.h"

#include <algorithm>

#include "widgets/number_format.h"
#include "widgets/plot.h"

namespace roofscape::widgets {

using engine::Q;

namespace {
constexpr float kPrintMargin = 12, kBelowHead = 8;
}

std::string chip_key(const FigureInput& input, std::string_view stem) {
  const bool gpu = input.scenario.cluster.chip.interconnect == engine::Interconnect::switched;
  return std::string(stem) + (gpu ? ".gpu" : ".chip");
}

std::string context_line(const FigureInput& input) {
  const engine::Scenario& s = input.scenario;
  const TextTable& t = input.texts;
  std::string plan;
  for (int i = 0; i < engine::kAxisCount; ++i) {
    const int degree = s.parallelism.degree(static_cast<engine::Axis>(i));
    if (degree <= 1) continue;
    if (!plan.empty()) plan += t.text("figure.list_separator");
    const std::string key = "figure.axis." + std::string(engine::kAxisIds[static_cast<std::size_t>(i)]);
    plan += t.format(key, {format_count(degree)});
  }
  if (s.parallelism.fsdp * s.parallelism.context > 1) {
    if (!plan.empty()) plan += t.text("figure.list_separator");
    plan += t.format("figure.zero", {format_count(s.parallelism.zero_stage)});
  }
  if (plan.empty()) plan = t.text("figure.no_parallelism");
  const double chips = input.report.quantities.value_or(Q::chips_used, 1);
  constexpr std::string_view kModes[]{"ideal", "calibrated", "custom"};
  const std::string_view mode = kModes[static_cast<std::size_t>(s.assumptions.mode)];
  return t.format("figure.context", {s.model.name, format_count(chips), s.cluster.chip.name, plan,
                                     std::string(t.text("figure.mode." + std::string(mode)))});
}

std::vector<std::string> wrap(const Canvas& canvas, std::string_view text, const TextStyle& style, float width,
                              int lines) {
  std::vector<std::string> out;
  while (!text.empty() && static_cast<int>(out.size()) < lines) {
    if (static_cast<int>(out.size()) + 1 == lines || canvas.text_width(text, style) <= width) {
      out.push_back(ellipsize(canvas, text, style, width));
      break;
    }
    std::size_t end = 0;  // of the longest run of whole words that fits
    for (std::size_t at = text.find(' '); at != std::string_view::npos; at = text.find(' ', at + 1)) {
      if (canvas.text_width(text.substr(0, at), style) > width) break;
      end = at;
    }
    if (end == 0) {
      // No space in time (Korean runs long): between two characters.
      end = canvas.metrics().fit(text, style.em > 0 ? style.em : canvas.em(), width, style.weight).size();
      if (end == 0) break;
    }
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  return out;
}

Rect draw_figure_head(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view,
                      const FigureHead& head) {
  if (!view.print) return area;
  const Theme& theme = input.theme;
  const Rect inside = area.inset(canvas.px(kPrintMargin));
  TextStyle phrase;
  phrase.em = kSmallText * canvas.em();
  const bool brief = !head.brief.empty() && canvas.text_width(head.takeaway, phrase) > inside.w;
  Rect rest = draw_head(canvas, theme, inside, {head.title, brief ? head.brief : head.takeaway, true});
  TextStyle style;
  style.em = kSmallText * canvas.em();
  style.colour = theme.ink3;
  style.valign = VAlign::top;
  const float line = FontStack::kLineHeight * style.em;
  for (const std::string& text : wrap(canvas, context_line(input), style, rest.w, 2)) {
    const Rect strip = rest.cut_top(line);
    canvas.text({strip.x, strip.y}, text, style);
  }
  rest.cut_top(canvas.px(kBelowHead));
  return rest;
}

}  // namespace roofscape::widgets
