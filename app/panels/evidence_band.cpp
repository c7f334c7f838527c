#include "app/panels/evidence_band.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/evidence_text.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;
using engine::ErrorBand;
using engine::EvidenceKind;

namespace {

constexpr std::size_t kNamedSources = 3;

struct Bands {
  std::array<ErrorBand, engine::kEvidenceKinds> of;
};
struct BandsKey {
  const engine::EvidenceSet* evidence;
  engine::Scenario scenario;
  friend bool operator==(const BandsKey&, const BandsKey&) = default;
};

bool ideal(const PanelContext& ctx) { return ctx.session.scenario().assumptions.mode == engine::Mode::ideal; }

// Why there is not even a reason: nothing was compared.
std::string_view absence_key(const PanelContext& ctx) {
  return ctx.session.scenario().assumptions.mode == engine::Mode::custom ? "evidence.custom" : "evidence.waiting";
}

std::pair<double, double> range_of(const ErrorBand& band, const BandedValue& v) {
  return v.rate ? std::pair(band.least_rate(v.value), band.most_rate(v.value))
                : std::pair(band.least(v.value), band.most(v.value));
}

Readout tip_of(const PanelContext& ctx, const ErrorBand& band, const BandedValue& v) {
  const TextTable& t = ctx.ui.texts;
  Readout tip;
  if (!band.validated()) {
    tip.title = t.text("evidence.none");
    tip.rows.emplace_back(t.text("evidence.reason"), outside_text(t, band, ctx.session.scenario()));
  } else {
    const auto [least, most] = range_of(band, v);
    tip.title = t.format("evidence.expected", {range_text(t, least, most, v.unit)});
    tip.rows.emplace_back(t.text("evidence.runs"), format_count(static_cast<double>(band.near.size())));
    tip.rows.emplace_back(t.text(ideal(ctx) ? "evidence.errors.ideal" : "evidence.errors"),
                          errors_text(t, band.low, band.high));
    if (band.guessed > 0)
      tip.rows.emplace_back(t.text("evidence.guessed"), format_count(static_cast<double>(band.guessed)));
    for (std::size_t i = 0; i < std::min(band.families.size(), kNamedSources); ++i)
      tip.rows.emplace_back(i == 0 ? t.text("evidence.sources") : std::string_view(), band.families[i]);
    if (band.families.size() > kNamedSources)
      tip.rows.emplace_back(
          std::string(),
          t.format("evidence.more", {format_count(static_cast<double>(band.families.size() - kNamedSources))}));
  }
  tip.rows.emplace_back(t.text("ui.tip.click"), t.text("evidence.click"));
  return tip;
}

// A line from end to end of the range with the predicted value as a tick; in ideal mode that lies beside it.
void draw_range(PanelContext& ctx, const Rect& r, double least, double most, double value) {
  const double from = std::min(least, value), to = std::max(most, value);
  if (!(to > from)) return;
  const auto x = [&](double v) { return r.x + static_cast<float>((v - from) / (to - from)) * r.w; };
  const Theme& t = ctx.ui.theme;
  const float y = r.centre().y;
  ctx.ui.canvas.line({x(from), y}, {x(to), y}, {t.edge, std::max(1.0f, ctx.px(1)), {}});
  ctx.ui.canvas.line({x(least), y}, {x(most), y}, {t.ink2, ctx.px(3), {}});
  ctx.ui.canvas.line({x(value), r.y}, {x(value), r.bottom()}, {t.ink, ctx.px(2), {}});
}

}  // namespace

const ErrorBand* band_of(const PanelContext& ctx, EvidenceKind kind) {
  const engine::Scenario& s = ctx.session.scenario();
  if (ctx.evidence == nullptr || s.assumptions.mode == engine::Mode::custom || ctx.session.report().has_errors())
    return nullptr;
  const Bands& bands = ctx.studies.get<Bands>(BandsKey{ctx.evidence.get(), s}, [&] {
    Bands made;
    for (std::size_t k = 0; k < engine::kEvidenceKinds; ++k)
      made.of[k] = engine::error_band(ctx.evidence->of(s.assumptions.mode).points, s, static_cast<EvidenceKind>(k));
    return made;
  });
  return &bands.of[static_cast<std::size_t>(kind)];
}

std::string band_words(const PanelContext& ctx, EvidenceKind kind) {
  const ErrorBand* band = band_of(ctx, kind);
  if (band == nullptr) return std::string(ctx.text(absence_key(ctx)));
  if (!band->validated()) return std::string(ctx.text("evidence.none"));
  return ctx.format(ideal(ctx) ? "evidence.words.ideal" : "evidence.words",
                    {format_count(static_cast<double>(band->near.size()))});
}

void band_item(PanelContext& ctx, const Rect& r, const BandedValue& v) {
  const ErrorBand* band = band_of(ctx, v.kind);
  if (band == nullptr) return;
  const ItemState s = ctx.ui.item(v.id, r, Interaction::Focus::none);
  if (s.hovered) {
    ctx.ui.io.set_cursor(Cursor::hand);
    ctx.ui.io.hint(v.id, r, tip_of(ctx, *band, v),
                   std::string(ctx.text(ideal(ctx) ? "evidence.about.ideal" : "evidence.about")));
  }
  if (s.clicked) ctx.requests.evidence = v.kind;
}

void draw_error_band(PanelContext& ctx, Point at, float room, const BandedValue& v) {
  const ErrorBand* band = band_of(ctx, v.kind);
  if (band == nullptr || !(v.value > 0)) return;
  Canvas& canvas = ctx.ui.canvas;
  const float least_room = ctx.px(36);
  if (!band->validated()) {
    const TextStyle quiet = ctx.style(ctx.ui.theme.ink3, kSmallText);
    const std::string_view words = ctx.text("evidence.none.mark");
    const float width = canvas.text_width(words, quiet);
    if (width > room) return;
    canvas.text(at, words, quiet);
    band_item(ctx, {at.x - ctx.px(4), at.y - ctx.px(9), width + ctx.px(8), ctx.px(18)}, v);
    return;
  }
  const auto [least, most] = range_of(*band, v);
  const TextStyle style = ctx.style(ctx.ui.theme.ink2, kSmallText);
  std::string words = range_text(ctx.ui.texts, least, most, v.unit);
  // An ideal value is none of those that were measured.
  if (ideal(ctx))
    if (std::string said = ctx.format("evidence.range.ideal", {words}); canvas.text_width(said, style) <= room)
      words = std::move(said);
  const float width = canvas.text_width(words, style);
  if (width <= room) {
    canvas.text({at.x, at.y - ctx.px(5)}, words, style);
    draw_range(ctx, {at.x, at.y + ctx.px(5), width, ctx.px(7)}, least, most, v.value);
    band_item(ctx, {at.x, at.y - ctx.px(13), width, ctx.px(26)}, v);
  } else if (room >= least_room) {
    draw_range(ctx, {at.x, at.y - ctx.px(4), std::min(room, ctx.px(56)), ctx.px(8)}, least, most, v.value);
    band_item(ctx, {at.x, at.y - ctx.px(10), std::min(room, ctx.px(56)), ctx.px(20)}, v);
  }
}

}  // namespace roofscape::app
