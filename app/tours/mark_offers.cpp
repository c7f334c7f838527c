#include "app/tours/mark_offers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "engine/base/quantity.h"
#include "engine/io/tour/formula.h"
#include "widgets/canvas/canvas_record.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app {

using namespace widgets;
using Kind = io::TourMark::Kind;

namespace {

constexpr float kOfferWidth = 1000, kOfferHeight = 560, kOfferEm = 20;  // of a slide, about
constexpr std::array<std::string_view, 6> kKindWords{"", "x", "y", "bar", "point", "sketch"};

// Whether a value, in base units, lies on the axis, which has a name.
bool lies_on_axis(const Scale& axis, const PlotAxis& words, double value) {
  if (words.ticks.empty()) return false;
  const double low = std::min(axis.from(), axis.to()) * words.unit,
               high = std::max(axis.from(), axis.to()) * words.unit;
  return value >= low && value <= high;
}

// A title of an axis without its arrow.
std::string bare(std::string title) {
  for (const std::string_view arrow : {"\u2191 ", " \u2192"})
    if (const auto at = title.find(arrow); at != std::string::npos) title.erase(at, arrow.size());
  return title;
}

}  // namespace

std::string mark_word(const io::TourMark& mark) {
  std::string out(kKindWords[static_cast<std::size_t>(mark.kind)]);
  if (!mark.tag.empty()) out += ":" + mark.tag;
  return out;
}

std::vector<MarkOffer> mark_offers(const FontStack& fonts, const FigureRow& row, const FigureInput& input,
                                   const FigureView& view, const std::string& answer) {
  const TextTable& t = input.texts;
  std::vector<MarkOffer> out{{{}, std::string(t.text("ui.scene.mark.line"))}};
  engine::Sentence problem;
  const auto formula = io::TourFormula::parse(answer, problem);
  if (!formula) return out;
  RecordCanvas canvas(fonts, kOfferEm, {0, 0, kOfferWidth, kOfferHeight});
  std::vector<DrawnFrame> frames;
  canvas.set_tagging(Tagging::all);
  canvas.set_frames(&frames);
  draw_figure(row, canvas, canvas.bounds(), input, view);
  if (frames.empty()) return out;
  const auto names = formula->references();
  const bool alone = names.size() == 1 && formula->text() == names.front().name;
  const DrawnFrame& frame = frames.front();
  for (const io::TourReference& one : names) {
    const auto q = engine::find_quantity(engine::without_index(one.name));
    const auto value = q && one.state.empty() ? input.report.quantities[*q] : std::nullopt;
    const auto had = [&](const MarkOffer& offer) { return offer.mark.tag == one.name; };
    if (!value || std::any_of(out.begin(), out.end(), had)) continue;
    // Only what the figure draws as this quantity: numbers of other things may lie on the same axes.
    bool row_of_bars = false, mark = false;
    for (const TagRegion& tag : canvas.tags())
      if (tag.id == one.name && !tag.rect.empty())
        (tag.rect.w >= frame.plot.w / 2 || frame.frame.y.ticks.empty() ? row_of_bars : mark) = true;
    const bool on_x = lies_on_axis(frame.x, frame.frame.x, *value);
    if (row_of_bars && on_x)
      out.push_back({{Kind::bar, one.name, alone ? std::string() : one.name},
                     t.format("ui.scene.mark.bar", {quantity_label(t, *q)})});
    if (!mark || !alone) continue;
    if (const std::string title = bare(frame.frame.x.title); !title.empty() && on_x)
      out.push_back({{Kind::x, {}, {}}, t.format("ui.scene.mark.x", {title})});
    if (const std::string title = bare(frame.frame.y.title.empty() ? frame.title : frame.frame.y.title);
        !title.empty() && lies_on_axis(frame.y, frame.frame.y, *value))
      out.push_back({{Kind::y, {}, {}}, t.format("ui.scene.mark.y", {title})});
  }
  return out;
}

}  // namespace roofscape::app
