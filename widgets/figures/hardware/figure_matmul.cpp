// The matmul figure: FLOP/s one matrix multiplication of the model can reach over the rows it takes at a time, with
// the critical batch of each mix of number types. Option: matrix.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>

#include "engine/studies/matmul.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_options.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/line_chart.h"
#include "widgets/figures/training/figure_roofline_layout.h"

namespace roofscape::widgets {

using engine::DtypeMix;
using engine::MatmulLine;
using engine::MatmulStudy;

namespace {

enum class Matrix : std::uint8_t { gate_up, down, qkv, attention_out, logits };  // as engine::kStudiedMatmuls
constexpr std::array<std::string_view, engine::kStudiedMatmuls.size()> kMatrices{"gate_up", "down", "qkv",
                                                                                 "attention_out", "logits"};
constexpr FigureOptions kMatmulOptions{OptionOf<Matrix>{"matrix", kMatrices}};

constexpr float kUnderWidth = 3, kUnderTint = 0.3f;  // of a curve; of ink
constexpr float kHbmTint = 0.05f;                    // of ink
constexpr double kRoomForNumbers = 3;                // over the highest roof, as a factor
constexpr double kSamePeak = 0.02;                   // peaks closer than this are one line

engine::OperationKind matrix_of(const FigureView& view) {
  return engine::kStudiedMatmuls[static_cast<std::size_t>(kMatmulOptions.chosen<Matrix>(view))];
}

struct MatmulKey {
  engine::Scenario scenario;
  engine::OperationKind matrix;
  friend bool operator==(const MatmulKey&, const MatmulKey&) = default;
};

const MatmulStudy& matmul_study_of(const FigureInput& input, const FigureView& view) {
  const MatmulKey key{input.scenario, matrix_of(view)};
  return input.studies.get<MatmulStudy>(key, [&] { return engine::matmul_study(key.scenario, key.matrix); });
}

std::string_view mix_id(const MatmulLine& line) { return engine::kDtypeMixIds[line.mix]; }
std::string mix_name(const FigureInput& input, const MatmulLine& line) {
  return std::string(input.texts.text("figure.matmul.mix." + std::string(mix_id(line))));
}

// Number types have no hue of their own: ink, told by dash and name. int8 weights share the slope of int8, so they are a
// broad line under it.
Stroke stroke_of_mix(const Theme& theme, DtypeMix numbers, float em) {
  const float width = theme.data_width * em;
  switch (numbers) {
    case DtypeMix::int8_weights:
      return {mix(theme.panel, theme.ink, kUnderTint), width * kUnderWidth, {}};
    case DtypeMix::int8:
      return {theme.ink2, width, Dash{width * 5, width * 2}};
    case DtypeMix::fp8:
      return {theme.ink2, width, Dash{width * 1.5f, width * 1.5f}};
    case DtypeMix::bf16:
      break;
  }
  return {theme.ink2, width, {}};
}

Readout readout_of(const FigureInput& input, const MatmulStudy& study, const MatmulLine& line, double rows) {
  const TextTable& t = input.texts;
  std::size_t at = 0;
  while (at + 1 < study.rows.size() && study.rows[at] < rows * (1 - 1e-9)) ++at;
  Readout out;
  out.title = t.format("figure.matmul.readout",
                       {mix_name(input, line), format(line.flop_per_s[at], engine::unit::flop_per_s)});
  out.rows.emplace_back(std::string(t.text("figure.matmul.rows")), format_significant(rows));
  out.rows.emplace_back(std::string(t.text("figure.matmul.of_peak")),
                        format_percent(line.flop_per_s[at] / line.peak));
  out.rows.emplace_back(std::string(t.text("figure.matmul.weights")), format(line.weight_bytes, engine::unit::bytes));
  if (line.critical_rows)
    out.rows.emplace_back(std::string(t.text("figure.matmul.critical")), format_significant(*line.critical_rows));
  return out;
}

Chart chart_of(const FigureInput& input, const MatmulStudy& study, float em) {
  const TextTable& t = input.texts;
  const Theme& theme = input.theme;
  Chart c;
  c.x_title = t.text("figure.matmul.x");
  c.y_title = t.text(chip_key(input, "figure.matmul.y"));
  c.y_labels = TickLabels::si;
  c.x_from = study.rows.front(), c.x_to = study.rows.back();
  double low = 1e300, high = 0;
  std::vector<const MatmulLine*> drawn;
  for (const MatmulLine& line : study.lines) {
    ChartLine out;
    out.label = mix_name(input, line);
    // int8 and fp8 with one peak are one line with both names.
    if (line.mix == DtypeMix::fp8 && !drawn.empty() && drawn.back()->mix == DtypeMix::int8 &&
        std::abs(drawn.back()->peak / line.peak - 1) < kSamePeak) {
      c.lines.back().label += std::string(t.text("figure.list_separator")) + out.label;
      continue;
    }
    drawn.push_back(&line);
    out.stroke = stroke_of_mix(theme, line.mix, em);
    if (&line == &study.lines[study.own]) {
      out.essential = true;
      out.stroke = plan_stroke(theme, em);
      out.weight = Weight::bold;
    }
    out.tag = "matmul." + std::string(mix_id(line));
    for (std::size_t i = 0; i < study.rows.size(); ++i) {
      out.points.push_back({study.rows[i], line.flop_per_s[i]});
      low = std::min(low, line.flop_per_s[i]), high = std::max(high, line.flop_per_s[i]);
    }
    out.readout = [&input, &study, &line](const ChartPoint& p) { return readout_of(input, study, line, p.x); };
    c.lines.push_back(std::move(out));
    if (!line.critical_rows) continue;
    ChartDot dot;
    dot.at = {*line.critical_rows, line.peak};
    dot.text = format_significant(*line.critical_rows);
    dot.colour = theme.ink;
    dot.tag = "matmul.critical." + std::string(mix_id(line));
    dot.readout = readout_of(input, study, line, *line.critical_rows);
    c.dots.push_back(std::move(dot));
  }
  // Over the others.
  const auto own_line = std::find_if(c.lines.begin(), c.lines.end(), [](const ChartLine& l) { return l.essential; });
  if (own_line != c.lines.end()) std::rotate(c.lines.begin(), own_line, own_line + 1);
  std::tie(c.y_from, c.y_to) = log_range(low, high * kRoomForNumbers);
  const MatmulLine& own = study.lines[study.own];
  const std::string name = mix_name(input, own);
  const double edge = confined(own.critical_rows.value_or(c.x_to), c.x_from, c.x_to);
  c.bands.push_back({c.x_from, edge, kHbmTint, t.format("figure.matmul.hbm_bound", {name}), false, false,
                     std::string(t.text("figure.matmul.hbm_bound.brief"))});
  c.bands.push_back({edge, c.x_to, 0, t.format("figure.matmul.compute_bound", {name}), false, false,
                     std::string(t.text("figure.matmul.compute_bound.brief"))});
  c.now = Chart::Now{study.rows_now, t.format("figure.matmul.now", {format_count(std::round(study.rows_now))})};
  return c;
}

FigureHead matmul_head(const FigureInput& input, const FigureView& view) {
  const TextTable& t = input.texts;
  FigureHead head;
  const std::string name = roofline::operation_name(input, matrix_of(view));
  head.title = t.format("figure.matmul.title", {name});
  head.context = published_context(input);
  const MatmulStudy& study = matmul_study_of(input, view);
  if (!study.known()) return head;
  const MatmulLine& line = study.lines[study.own];
  const std::string mix = say(head, name_claim(mix_name(input, line)));
  if (!line.critical_rows)
    head.takeaway = t.format("figure.matmul.takeaway.never", {mix});
  else {
    const std::string key =
        study.rows_now >= *line.critical_rows ? "figure.matmul.takeaway.compute" : "figure.matmul.takeaway.hbm";
    head.takeaway = t.format(
        key,
        {say(head, beside_claim("matmul.rows", study.rows_now, format_count(std::round(study.rows_now)))),
         say(head, own_claim("matmul.critical_rows", *line.critical_rows, format_significant(*line.critical_rows))),
         mix});
    head.brief = t.format(key + ".brief", {mix});
  }
  return head;
}

void draw_matmul(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, matmul_head(input, view));
  if (rest.empty()) return;
  const MatmulStudy& study = matmul_study_of(input, view);
  if (!study.known()) return draw_empty_state(canvas, input.theme, rest, input.texts.text("figure.roofline.unknown"));
  draw_line_chart(canvas, rest, input.theme, on_held_axes(chart_of(input, study, canvas.em()), input, "matmul"));
}

std::string matmul_data(const FigureInput& input, const FigureView& view) {
  const MatmulStudy& study = matmul_study_of(input, view);
  std::string out = "rows";
  for (const MatmulLine& line : study.lines) out += fmt::format("\t{} FLOP/s", mix_id(line));
  out += "\n";
  for (std::size_t i = 0; i < study.rows.size(); ++i) {
    out += fmt::format("{}", study.rows[i]);
    for (const MatmulLine& line : study.lines) out += fmt::format("\t{}", line.flop_per_s[i]);
    out += "\n";
  }
  return out;
}

}  // namespace

extern constinit const FigureRow matmul_figure{
    .name = "matmul",
    .subject = Subject::any,
    .about = About::cluster,
    .options = kMatmulOptions.rows,
    .head = matmul_head,
    .draw = draw_matmul,
    .data = matmul_data,
};

}  // namespace roofscape::widgets
