#include "widgets/figures/training/evidence_coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/studies/evidence.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/bar_rows.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

using engine::CoverageRow;

namespace {

struct CoverageStudy {
  std::vector<CoverageRow> rows;
};
struct CoverageKey {
  const engine::Evidence* evidence = nullptr;
  std::size_t points = 0;
  friend bool operator==(const CoverageKey&, const CoverageKey&) = default;
};

const std::vector<CoverageRow>& rows_of(const FigureInput& input, const engine::Evidence& evidence) {
  return input.studies
      .get<CoverageStudy>(CoverageKey{&evidence, evidence.points.size()},
                          [&] { return CoverageStudy{engine::coverage_rows(evidence.points)}; })
      .rows;
}

std::string name_of(const FigureInput& input, const CoverageRow& row) {
  const TextTable& t = input.texts;
  const std::string kind(t.text("figure.evidence.quantity." + std::string(engine::kEvidenceKindIds[row.kind])));
  if (row.part.empty()) return kind;
  if (row.part == "experts")
    return t.format("figure.evidence.coverage.part", {kind, std::string(t.text("figure.evidence.coverage.experts"))});
  std::string part = row.part;
  std::transform(part.begin(), part.end(), part.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return t.format("figure.evidence.coverage.part", {kind, part});
}

std::string count_text(std::size_t n) { return format_count(static_cast<double>(n)); }

bool shows_none(const CoverageRow& row) { return row.coverage.n == 0; }

}  // namespace

FigureHead coverage_head(const FigureInput& input, const engine::Evidence& evidence) {
  const TextTable& t = input.texts;
  FigureHead head;
  head.title = t.text("figure.evidence.title.coverage");
  std::size_t banded = 0, inside = 0, tried = 0, held = 0;
  for (const CoverageRow& row : rows_of(input, evidence)) {
    if (!row.part.empty()) continue;
    banded += row.coverage.n, inside += row.coverage.inside;
    tried += row.without_model.n, held += row.without_model.inside;
  }
  if (banded == 0 || tried == 0) return head;
  const auto share = [&](std::string_view what, std::size_t n, std::size_t of) {
    const double value = static_cast<double>(n) / static_cast<double>(of);
    return say(head, beside_claim("evidence." + std::string(what), value, format_percent(value)));
  };
  const std::string harder = share("held", held, tried);
  head.brief = t.format("figure.evidence.coverage.brief", {harder});
  head.takeaway = t.format("figure.evidence.coverage.takeaway", {share("inside", inside, banded), harder});
  return head;
}

void draw_coverage(Canvas& canvas, const Rect& area, const FigureInput& input, const engine::Evidence& evidence) {
  const TextTable& t = input.texts;
  const Theme& theme = input.theme;
  const auto& rows = rows_of(input, evidence);
  if (rows.empty()) return draw_empty_state(canvas, theme, area, t.text("figure.evidence.none"));
  std::vector<BarRow> bars;
  for (const CoverageRow& row : rows) {
    BarRow& bar = bars.emplace_back();
    bar.name = name_of(input, row);
    bar.bold = row.part.empty();
    bar.weight = static_cast<double>(row.coverage.all);
    if (shows_none(row)) {
      const bool tried = row.trial && row.trial->tried > 0;
      bar.value = kNoValue;
      bar.second = t.format("figure.evidence.coverage.of", {count_text(0), count_text(row.coverage.all)});
      bar.parts.push_back({0,
                           100 * engine::kBandsAim,  // short of its line
                           {},
                           0,
                           tried ? t.format("figure.evidence.coverage.none",
                                            {count_text(row.trial->inside), count_text(row.trial->tried)})
                                 : std::string(t.text("figure.evidence.coverage.few"))});
      continue;
    }
    bar.value = row.without_model.n > 0 ? format_percent(row.without_model.share(), 0) : std::string(kNoValue);
    bar.second = t.format("figure.evidence.coverage.of", {count_text(row.coverage.n), count_text(row.coverage.all)});
    const Hue hue = row.part.empty() ? Hue::blue : Hue::sky;
    if (row.without_model.n > 0)
      bar.parts.push_back({0, 100 * row.without_model.share(), {.colour = theme.fill(hue)}});
    bar.ghost = BarPart{0, 100 * row.coverage.share(), {}};
  }
  BarAxis axis;
  axis.to = 100;
  axis.title = t.text("figure.evidence.coverage.axis");
  axis.value = t.text("figure.evidence.coverage.held");
  axis.second = t.text("figure.evidence.coverage.banded");
  const BarRowsPlot plot = draw_bar_rows(canvas, theme, area, bars, axis);
  // What a band says.
  const float x = plot.x(100 * engine::kBandsAim);
  canvas.line({x, plot.plot.y}, {x, plot.plot.bottom()},
              {theme.ink, theme.axis_width * 1.5f * canvas.em(), Dash{4, 3}.scaled(canvas.px(1))});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!plot.has_row(i)) continue;
    const CoverageRow& row = rows[i];
    canvas.tag_with("evidence.coverage", static_cast<int>(i), plot.band(i, area), [&] {
      Readout r;
      r.title = name_of(input, row);
      const auto of = [&](std::size_t n, std::size_t all) {
        return t.format("figure.evidence.coverage.of", {count_text(n), count_text(all)});
      };
      r.rows.emplace_back(t.text("figure.evidence.coverage.banded"), of(row.coverage.n, row.coverage.all));
      r.rows.emplace_back(t.text("figure.evidence.coverage.inside"), of(row.coverage.inside, row.coverage.n));
      r.rows.emplace_back(t.text("figure.evidence.coverage.held"), of(row.without_model.inside, row.without_model.n));
      if (row.trial && row.trial->holds())
        r.rows.emplace_back(t.text("figure.evidence.coverage.widened"), format_ratio(row.trial->widened));
      return r;
    });
  }
}

std::string coverage_data(const FigureInput& input, const engine::Evidence& evidence) {
  std::string out = "runs of\tn\twith band\tinside\twith band without model\tinside without model\twidened\n";
  for (const CoverageRow& row : rows_of(input, evidence))
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", row.name(), row.coverage.all, row.coverage.n,
                       row.coverage.inside, row.without_model.n, row.without_model.inside,
                       row.trial && row.trial->holds() ? row.trial->widened : 1.0);
  return out;
}

}  // namespace roofscape::widgets
