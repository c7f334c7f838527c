// The kv figure: keys and values of a decoding chip against its weights and its memory, along the batch (one line a
// length of the sequences) or along the length (one line a batch): engine/studies/cache_growth.h; scaling book,
// chapter 7. Lines are dashed where the memory is full. Option `over`.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "engine/studies/cache_growth.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_options.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/line_chart.h"
#include "widgets/figures/training/figure_memory_parts.h"

namespace roofscape::widgets {

using engine::CacheAxis;
using engine::CacheLine;
using engine::CachePoint;
using engine::CacheStudy;
using engine::Q;
using memory::kGb;

namespace {

constexpr FigureOptions kCacheOptions{OptionOf<CacheAxis>{"over", engine::kCacheAxisIds}};

constexpr float kBeyondContextTint = 0.06f;
constexpr double kLeastShare = 0.02;  // of the weights: a cache below that is not worth an axis

struct CacheKey {
  engine::Scenario scenario;
  CacheAxis axis;
  bool operator==(const CacheKey&) const = default;
};

CacheAxis axis_of(const FigureView& view) { return kCacheOptions.chosen<CacheAxis>(view); }

const CacheStudy& cache_study_of(const FigureInput& input, const FigureView& view) {
  const CacheKey key{input.scenario, axis_of(view)};
  return input.studies.get<CacheStudy>(key, [&] { return engine::cache_growth(key.scenario, key.axis); });
}

bool by_batch(const CacheStudy& study) { return study.axis == CacheAxis::batch; }
std::string cache_text(double bytes, bool as_given = false) {
  return format(bytes, engine::unit::bytes, {.trim_zeros = as_given});
}

// "batch 64" and "2560 tokens": what is along the axis, what a line holds.
std::string batch_name(const FigureInput& input, double batch) {
  return input.texts.format("figure.kv.batch", {format_count(std::round(batch))});
}
std::string length_name(const FigureInput& input, double tokens) {
  return input.texts.format("figure.kv.tokens", {format_count(std::round(tokens))});
}
std::string place_name(const FigureInput& input, const CacheStudy& study, double at) {
  return by_batch(study) ? batch_name(input, at) : length_name(input, at);
}
std::string line_name(const FigureInput& input, const CacheStudy& study, double held) {
  return by_batch(study) ? length_name(input, held) : batch_name(input, held);
}

const CacheLine* own_line(const CacheStudy& study) {
  for (const CacheLine& line : study.lines)
    if (line.own) return &line;
  return nullptr;
}

Readout readout_of(const FigureInput& input, const CacheStudy& study, const CacheLine& line, double at,
                   double kv_bytes) {
  const TextTable& t = input.texts;
  Readout r;
  r.title = t.format("figure.kv.readout", {place_name(input, study, at), line_name(input, study, line.held)});
  r.rows.emplace_back(t.text("figure.kv.cache"), cache_text(kv_bytes));
  r.rows.emplace_back(t.text("figure.kv.weights"), cache_text(study.weight_bytes));
  r.rows.emplace_back(t.text("figure.kv.ratio"), format_ratio(kv_bytes / study.weight_bytes));
  r.rows.emplace_back(t.text("figure.kv.last"),
                      line.last > 0 ? place_name(input, study, line.last) : std::string(t.text("figure.kv.none")));
  return r;
}

// The ends of what a line has inside the axes; its cache is proportional to what is along the axis.
std::vector<ChartPoint> in_sight(const Chart& chart, const std::vector<ChartPoint>& points) {
  if (points.size() < 2) return {};
  const ChartPoint &a = points.front(), &b = points.back();
  const double slope = std::log(b.y / a.y) / std::log(b.x / a.x);
  const auto cut = [&](const ChartPoint& p) {
    const double y = confined(p.y, chart.y_from, chart.y_to);
    return ChartPoint{p.x * std::pow(y / p.y, 1 / slope), y};
  };
  const ChartPoint from = cut(a), to = cut(b);
  if (!(slope > 0) || from.x < chart.x_from * 0.999 || to.x > chart.x_to * 1.001 || from.x >= to.x) return {};
  return {from, to};
}

// A line up to where the memory is full, and dashed beyond.
void add_line(const FigureInput& input, const CacheStudy& study, const CacheLine& line, float width, Chart& chart) {
  const Theme& theme = input.theme;
  ChartLine fits, beyond;
  for (const CachePoint& p : line.points) (p.fits ? fits : beyond).points.push_back({p.at, p.kv_bytes / kGb});
  // The two meet in the last that fits; between points of a doubling the cache is proportional.
  if (line.last > 0 && !beyond.points.empty() && !fits.points.empty()) {
    const ChartPoint& from = fits.points.back();
    const ChartPoint last{
        line.last, from.y * std::pow(beyond.points.front().y / from.y,
                                     std::log(line.last / from.x) / std::log(beyond.points.front().x / from.x))};
    if (last.x > from.x) fits.points.push_back(last);
    beyond.points.insert(beyond.points.begin(), fits.points.back());
  }
  const Colour colour = line_of(theme, MemoryPart::kv_cache);
  fits.stroke = {colour, line.own ? width * 1.5f : width * 0.8f, {}};
  beyond.stroke = {colour, line.own ? width : width * 0.6f, Dash{4, 4}.scaled(width / 2)};
  // Its name runs along the part in sight.
  ChartLine name;
  name.along = line_name(input, study, line.held);
  name.stroke = {kTransparent, 0, {}};
  name.essential = line.own;
  name.points = in_sight(chart, fits.points.size() > 1 ? fits.points : beyond.points);
  for (ChartLine* part : {&fits, &beyond}) {
    if (part->points.size() < 2) continue;
    part->tag = engine::quantity(Q::memory_kv_cache).id;
    part->readout = [&input, &study, &line](const ChartPoint& p) {
      return readout_of(input, study, line, p.x, p.y * kGb);
    };
    if (line.own)
      chart.lines.insert(chart.lines.begin(), std::move(*part));
    else
      chart.lines.push_back(std::move(*part));
  }
  if (name.points.size() == 2) chart.lines.push_back(std::move(name));
}

void add_level(const FigureInput& input, Q q, std::string_view key, double bytes, const Stroke& stroke,
               Chart& chart) {
  ChartLine level;
  level.points = {
      {chart.x_from, bytes / kGb}, {std::sqrt(chart.x_from * chart.x_to), bytes / kGb}, {chart.x_to, bytes / kGb}};
  level.stroke = stroke;
  level.label = input.texts.text(key);
  level.essential = true;
  level.weight = Weight::bold;
  level.tag = engine::quantity(q).id;
  const std::string title = input.texts.format(
      "figure.kv.level", {std::string(input.texts.text(key)), cache_text(bytes, q == Q::hbm_capacity)});
  level.readout = [title](const ChartPoint&) {
    Readout r;
    r.title = title;
    return r;
  };
  chart.lines.push_back(std::move(level));
}

ChartDot dot_of(const FigureInput& input, const CacheStudy& study, const CacheLine& line, double at,
                double kv_bytes) {
  ChartDot dot;
  dot.at = {at, kv_bytes / kGb};
  dot.readout = readout_of(input, study, line, at, kv_bytes);
  return dot;
}

Chart chart_of(const FigureInput& input, const CacheStudy& study, float em) {
  const Theme& theme = input.theme;
  const TextTable& t = input.texts;
  const float width = theme.data_width * em;
  const CacheLine& own = *own_line(study);
  Chart chart;
  chart.x_title = t.text(by_batch(study) ? "figure.kv.x.batch" : "figure.kv.x.length");
  chart.y_title = t.text(chip_key(input, "figure.kv.y"));
  chart.y_labels = TickLabels::si;
  chart.x_from = own.points.front().at, chart.x_to = own.points.back().at;
  double low = std::max(own.points.front().kv_bytes, kLeastShare * study.weight_bytes);
  low = std::min({low, study.weight_bytes, study.kv_bytes});
  const double high = std::max({study.capacity_bytes, study.weight_bytes, study.kv_bytes});
  chart.y_from = low / kGb / 1.3, chart.y_to = high / kGb * 2;

  for (const CacheLine& line : study.lines) add_line(input, study, line, width, chart);
  add_level(input, Q::memory_weights, "figure.kv.weights", study.weight_bytes,
            {line_of(theme, MemoryPart::weights), width * 1.2f, {}}, chart);
  add_level(input, Q::hbm_capacity, "figure.kv.capacity", study.capacity_bytes, {theme.err, width, {}}, chart);

  ChartDot mine = dot_of(input, study, own, study.own, study.kv_bytes);
  mine.size = 11;
  mine.colour = input.report.fits() ? theme.ink : theme.err;
  mine.text = place_name(input, study, study.own);
  mine.tag = engine::quantity(by_batch(study) ? Q::serving_batch : Q::sequence_tokens).id;
  chart.dots.push_back(std::move(mine));
  for (const CacheLine& line : study.lines) {
    if (!(line.equal > 0)) continue;
    ChartDot cross = dot_of(input, study, line, line.crossing, study.weight_bytes);
    cross.size = line.own ? 8.0f : 6.0f;
    cross.bold = line.own;
    cross.colour = line_of(theme, MemoryPart::weights);
    if (std::abs(line.equal - study.own) > 0.1 * study.own || !line.own)
      cross.text = format_significant(line.crossing);
    cross.tag = engine::quantity(Q::kv_equal_batch).id;
    chart.dots.push_back(std::move(cross));
  }
  if (const double made_for = input.scenario.model.max_context_tokens;
      !by_batch(study) && made_for > 0 && made_for < chart.x_to)
    chart.bands.push_back({std::max(made_for, chart.x_from), chart.x_to, kBeyondContextTint,
                           std::string(t.text("figure.kv.beyond_context"))});
  if (input.baseline) {
    const engine::QuantityValues& base = input.baseline->report.quantities;
    add_baseline(chart, input,
                 {base.value_or(by_batch(study) ? Q::serving_batch : Q::sequence_tokens, 0),
                  base.value_or(Q::memory_kv_cache, 0) / kGb});
  }
  // Whether or not their names have room along them.
  std::vector<double> held;
  for (const CacheLine& line : study.lines) held.push_back(line.held);
  std::sort(held.begin(), held.end(), std::greater<>());
  std::string names;
  for (const double value : held) names += (names.empty() ? "" : ", ") + format_count(value);
  chart.note = t.format(by_batch(study) ? "figure.kv.note.batch" : "figure.kv.note.length", {names});
  return chart;
}

FigureHead kv_head(const FigureInput& input, const FigureView& view) {
  const TextTable& t = input.texts;
  FigureHead head;
  if (input.baseline) head.context = compared_context(input);
  head.title = t.text("figure.kv.title");
  const CacheStudy& study = cache_study_of(input, view);
  const CacheLine* own = own_line(study);
  if (own == nullptr) return head;
  Claim ratio = share_claim(input, {Q::memory_kv_cache}, Q::memory_weights);
  ratio.shown = format_ratio(ratio.value);
  head.brief = t.format("figure.kv.takeaway.brief", {say(head, std::move(ratio))});
  head.takeaway =
      own->equal > 0
          ? t.format("figure.kv.takeaway",
                     {head.brief, say(head, own_claim("kv.equal", own->equal, place_name(input, study, own->equal)))})
          : head.brief;
  return head;
}

void draw_kv(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, kv_head(input, view));
  if (rest.empty()) return;
  const CacheStudy& study = cache_study_of(input, view);
  if (own_line(study) == nullptr || own_line(study)->points.size() < 2 ||
      input.report.quantities.value_or(Q::memory_kv_cache, 0) <= 0)
    return draw_empty_state(canvas, input.theme, rest, input.texts.text("figure.kv.empty"));
  draw_line_chart(canvas, rest, input.theme, on_held_axes(chart_of(input, study, canvas.em()), input, "kv"));
}

std::string kv_data(const FigureInput& input, const FigureView& view) {
  const CacheStudy& study = cache_study_of(input, view);
  std::string out = by_batch(study) ? "tokens of a sequence\tbatch" : "batch\ttokens of a sequence";
  out += "\tcache bytes\tweight bytes\tchip bytes\tfits\n";
  for (const CacheLine& line : study.lines)
    for (const CachePoint& p : line.points)
      out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", line.held, p.at, p.kv_bytes, p.weight_bytes, p.chip_bytes,
                         p.fits ? "yes" : "no");
  return out;
}

}  // namespace

extern constinit const FigureRow kv_figure{
    .name = "kv",
    .subject = Subject::serving,
    .rests = Rests::memory,
    .options = kCacheOptions.rows,
    .head = kv_head,
    .draw = draw_kv,
    .data = kv_data,
};

}  // namespace roofscape::widgets
