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
  for (const io::TourReference& one : names) {
    const auto q = engine::find_quantity(engine::without_index(one.name));
    if (!one.state.empty() || !q || !input.report.quantities[*q]) continue;
    const bool drawn = std::any_of(canvas.tags().begin(), canvas.tags().end(),
                                   [&](const TagRegion& tag) { return tag.id == one.name && !tag.rect.empty(); });
    if (!drawn || !lies_on_axis(frames.front().x, frames.front().frame.x, *input.report.quantities[*q])) continue;
    MarkOffer offer{{Kind::bar, one.name, alone ? std::string() : one.name},
                    t.format("ui.scene.mark.bar", {quantity_label(t, *q)})};
    if (std::none_of(out.begin(), out.end(), [&](const MarkOffer& had) { return had.mark.tag == one.name; }))
      out.push_back(std::move(offer));
  }
  if (!alone) return out;
  const auto q = engine::find_quantity(engine::without_index(names.front().name));
  const auto value = q ? input.report.quantities[*q] : std::nullopt;
  if (!value) return out;
  const DrawnFrame& frame = frames.front();
  if (const std::string title = bare(frame.frame.x.title);
      !title.empty() && lies_on_axis(frame.x, frame.frame.x, *value))
    out.push_back({{Kind::x, {}, {}}, t.format("ui.scene.mark.x", {title})});
  if (const std::string title = bare(frame.frame.y.title.empty() ? frame.title : frame.frame.y.title);
      !title.empty() && lies_on_axis(frame.y, frame.frame.y, *value))
    out.push_back({{Kind::y, {}, {}}, t.format("ui.scene.mark.y", {title})});
  return out;
}

}  // namespace roofscape::app
