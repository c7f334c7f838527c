// Letters in the place of names that have none, and the sentence of the note that tells them.
#include <algorithm>
#include <string>
#include <string_view>

#include "widgets/figures/common/line_chart_parts.h"

namespace roofscape::widgets::chart {

namespace {

constexpr int kTries = 3;  // each letter makes the note longer, and the plot less high

bool is_letter(std::string_view text) { return text.size() == 1 && text[0] >= 'a'; }
std::string next_letter(const Chart& chart) {
  const auto used =
      std::count_if(chart.dots.begin(), chart.dots.end(), [](const auto& d) { return is_letter(d.text); }) +
      std::count_if(chart.lines.begin(), chart.lines.end(), [](const auto& o) { return is_letter(o.along); });
  return std::string(1, static_cast<char>('a' + used));
}

// Puts the next letter in the place of a name.
void letter(const Chart& chart, std::string& name, std::string& told) {
  std::string sign = next_letter(chart);
  told += (told.empty() ? "" : "; ") + sign + ": " + name;
  name = std::move(sign);
}

// Of essential lines the names that have no place, or none that no line runs through.
bool letter_lines(Chart& chart, const Arranged& at, std::string& told) {
  bool some = false;
  for (std::size_t i = 0; i < at.along.size(); ++i) {
    ChartLine& line = chart.lines[i];
    const bool misses = at.along[i] ? at.along[i]->crossed : line.essential && !line.along.empty();
    if (!misses || is_letter(line.along)) continue;
    letter(chart, line.along, told);
    some = true;
  }
  return some;
}

// Of dots the names that have no place, where the chart takes letters for them.
bool letter_dots(Chart& chart, const Arranged& at, std::string& told) {
  bool some = false;
  for (std::size_t i = 0; chart.letters && i < at.names.size(); ++i) {
    std::string& text = chart.dots[i].text;
    if (!name_missing(chart, at.names, i) || text.size() == 1) continue;
    letter(chart, text, told);
    some = true;
  }
  return some;
}

bool names_lines(const Chart& chart) {
  return std::any_of(chart.lines.begin(), chart.lines.end(),
                     [](const ChartLine& o) { return o.essential && !o.along.empty(); });
}

}  // namespace

bool takes_letters(const Chart& chart) { return chart.letters || names_lines(chart); }

Arranged arrange_with_letters(const Canvas& canvas, const Rect& area, const Theme& theme, Chart& chart) {
  Arranged at = arrange(canvas, area, theme, chart);
  for (auto* const letter_some : {letter_lines, letter_dots}) {
    const std::string note = chart.note;
    std::string told;
    for (int i = 0; i < kTries && letter_some(chart, at, told); ++i) {
      chart.note = told + ". " + note;
      at = arrange(canvas, area, theme, chart);
    }
  }
  return at;
}

}  // namespace roofscape::widgets::chart
