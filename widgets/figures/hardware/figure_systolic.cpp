// The systolic figure: a systolic array as it fills with rows of inputs and drains, at five shown_moments, and the share of its cells
// that work in every cycle. Option: rows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "engine/studies/systolic.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_options.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/line_chart.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

using engine::SystolicRun;

namespace {

enum class InputRows : std::uint8_t { n128, n8, n512, n4096 };
constexpr std::array<std::string_view, 4> kInputRows{"128", "8", "512", "4096"};
constexpr std::array<std::int64_t, 4> kRowCounts{128, 8, 512, 4096};
constexpr FigureOptions kSystolicOptions{OptionOf<InputRows>{"rows", kInputRows}};

constexpr float kSquaresShare = 0.42f;                 // of the height
constexpr float kMostSquare = 190, kLeastSquare = 26;  // px
constexpr float kCaptionLines = 2.5f;                  // of small text under a square
constexpr float kSquareGap = 1.2f;                     // between squares, in small text
constexpr float kChartUnderSquares = 14.5f;            // em
constexpr float kWeightTint = 0.3f;                    // of cells that hold a weight and wait
constexpr int kBusyPoints = 240, kSystolicNoteLines = 7;

SystolicRun systolic_of(const FigureInput& input, const FigureView& view) {
  return engine::systolic_run(input.scenario,
                              kRowCounts[static_cast<std::size_t>(kSystolicOptions.chosen<InputRows>(view))]);
}

// While it fills, in the middle and while it drains; each once.
std::vector<std::int64_t> shown_moments(const SystolicRun& run) {
  const std::int64_t side = run.side, last = run.cycles - 1;
  std::vector<std::int64_t> out{side / 2, side, last / 2, last - side, last - side / 2};
  // Of few rows a band that passes.
  if (run.rows < side) out = {last / 10, 3 * last / 10, last / 2, last - 3 * last / 10, last - last / 10};
  for (std::int64_t& cycle : out) cycle = std::clamp<std::int64_t>(cycle, 0, last);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

FigureHead systolic_head(const FigureInput& input, const FigureView& view) {
  const SystolicRun run = systolic_of(input, view);
  FigureHead head;
  head.title = input.texts.format("figure.systolic.title", {format_count(run.side)});
  head.context = chips_context(input);
  const std::string rows =
      say(head, data_claim("rows", static_cast<double>(run.rows), format_count(static_cast<double>(run.rows))));
  const std::string cycles =
      say(head, data_claim("cycles", static_cast<double>(run.cycles), format_count(static_cast<double>(run.cycles))));
  const std::string share =
      say(head, data_claim("utilisation", run.utilisation(), format_percent(run.utilisation(), 0)));
  head.takeaway = input.texts.format("figure.systolic.takeaway", {rows, cycles, share});
  head.brief = input.texts.format("figure.systolic.brief", {share});
  return head;
}

// The corners of the cells that work: between two lines across the square, in which i + j is the same.
std::vector<Point> band_corners(const Rect& square, const SystolicRun& run, std::int64_t cycle) {
  const auto band = run.band(cycle);
  const double side = run.side;
  // Cells of i + j = s reach from s to s + 2 along the diagonal; half of that on either side is their line.
  const double low = band.first == 0 ? 0 : static_cast<double>(band.first) + 0.5;
  const double high = band.last == 2 * run.side - 2 ? 2 * side : static_cast<double>(band.last) + 1.5;
  const auto at = [&](double i, double j) {
    return Point{square.x + static_cast<float>(j / side) * square.w,
                 square.y + static_cast<float>(i / side) * square.h};
  };
  // Where i + j = s enters the square at its top or right side, and leaves it at the left or the bottom.
  const auto upper = [&](double s) { return s <= side ? at(0, s) : at(s - side, side); };
  const auto lower = [&](double s) { return s <= side ? at(s, 0) : at(side, s - side); };
  std::vector<Point> out{upper(low)};
  if (low < side && high > side) out.push_back(at(0, side));
  out.push_back(upper(high));
  out.push_back(lower(high));
  if (low < side && high > side) out.push_back(at(side, 0));
  out.push_back(lower(low));
  return out;
}

void draw_cells(Canvas& canvas, const FigureInput& input, const SystolicRun& run, std::int64_t cycle,
                const Rect& square) {
  const Theme& theme = input.theme;
  const Fill weights = fill_of(theme, MemoryPart::weights, canvas.em());
  canvas.rect(square, {.colour = mix(theme.panel, weights.colour, kWeightTint)});
  const std::vector<Point> corners = band_corners(square, run, cycle);
  if (corners.size() > 2) canvas.polygon(corners, {.colour = theme.fill(Hue::orange)});
  canvas.frame(square, {theme.axis, theme.axis_width * canvas.em(), {}});
}

std::string busy_text(double share) { return format_percent(share, 0); }

Chart systolic_chart(const FigureInput& input, const SystolicRun& run, const std::vector<std::int64_t>& shown,
                     float em) {
  const TextTable& t = input.texts;
  const Theme& theme = input.theme;
  Chart chart;
  chart.x_title = t.text("figure.systolic.x");
  chart.y_title = t.text("figure.systolic.y");
  chart.x_kind = chart.y_kind = ScaleKind::linear;
  chart.x_from = 0, chart.x_to = static_cast<double>(run.cycles);
  chart.y_from = 0, chart.y_to = 108;
  chart.y_unit = 0.01;
  const auto readout = [input, run](const ChartPoint& p) {
    Readout out;
    const auto cycle = static_cast<std::int64_t>(p.x);
    out.title = input.texts.format("figure.systolic.cycle", {format_count(static_cast<double>(cycle))});
    out.rows.emplace_back(std::string(input.texts.text("figure.systolic.busy")), busy_text(run.busy_share(cycle)));
    return out;
  };
  ChartLine busy;
  busy.stroke = {theme.stroke(Hue::orange), theme.data_width * em, {}};
  busy.tag = "systolic.busy";
  busy.readout = readout;
  for (int i = 0; i <= kBusyPoints; ++i) {
    const std::int64_t cycle = (run.cycles - 1) * i / kBusyPoints;
    if (busy.points.empty() || static_cast<double>(cycle) > busy.points.back().x)
      busy.points.push_back({static_cast<double>(cycle), 100 * run.busy_share(cycle)});
  }
  chart.lines.push_back(std::move(busy));
  ChartLine mean;
  mean.stroke = {theme.ink, theme.axis_width * em, Dash{em * 0.3f, em * 0.2f}};
  mean.points = {{0, 100 * run.utilisation()}, {static_cast<double>(run.cycles), 100 * run.utilisation()}};
  mean.label = t.format("figure.systolic.mean", {busy_text(run.utilisation())});
  mean.weight = Weight::bold;
  mean.essential = true;
  chart.lines.push_back(std::move(mean));
  for (const std::int64_t cycle : shown) {
    ChartDot dot;
    dot.at = {static_cast<double>(cycle), 100 * run.busy_share(cycle)};
    dot.colour = theme.stroke(Hue::orange);
    dot.tag = "systolic.moment";
    dot.readout = readout(dot.at);
    chart.dots.push_back(std::move(dot));
  }
  return chart;
}

std::string cycle_text(const FigureInput& input, std::int64_t cycle) {
  return input.texts.format("figure.systolic.cycle", {format_count(static_cast<double>(cycle))});
}

std::vector<std::string> note_lines(const Canvas& canvas, const FigureInput& input, const SystolicRun& run,
                                    float width) {
  const std::string note = input.texts.format(run.of_chip ? "figure.systolic.note" : "figure.systolic.note.usual",
                                              {format_count(static_cast<double>(run.cycles - run.rows))});
  return wrap(canvas, note, small_text(canvas, {}, HAlign::left), width, kSystolicNoteLines);
}

float widest_square(const Canvas& canvas, float width, float count) {
  return (width - kSquareGap * kSmallText * canvas.em() * (count - 1)) / count;
}

// In a column the squares are as large as its width has them, over a chart that is not flat.
float systolic_height(const Canvas& canvas, float width, const FigureInput& input, const FigureView& view) {
  if (width >= canvas.px(kJournalColumn)) return 0;
  const SystolicRun run = systolic_of(input, view);
  const float line = 1.35f * kSmallText * canvas.em();
  return widest_square(canvas, width, static_cast<float>(shown_moments(run).size())) + kCaptionLines * line +
         kChartUnderSquares * canvas.em() + foot_height(canvas, note_lines(canvas, input, run, width).size(), line);
}

void draw_systolic(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const TextTable& t = input.texts;
  const Theme& theme = input.theme;
  Rect rest = draw_figure_head(canvas, area, input, view, systolic_head(input, view));
  if (rest.empty()) return;
  const SystolicRun run = systolic_of(input, view);
  const float small = kSmallText * canvas.em(), line = 1.35f * small;
  const TextStyle prose = small_text(canvas, theme.ink3, HAlign::left);
  draw_foot_lines(canvas, rest, note_lines(canvas, input, run, rest.w), line, prose);

  const std::vector<std::int64_t> shown = shown_moments(run);
  const auto count = static_cast<float>(shown.size());
  const float gap = kSquareGap * small, captions = kCaptionLines * line;
  const float side = std::floor(
      std::min({widest_square(canvas, rest.w, count), kSquaresShare * rest.h - captions, canvas.px(kMostSquare)}));
  if (side >= canvas.px(kLeastSquare)) {
    Rect row = rest.cut_top(side + captions);
    const float step = count > 1 ? (row.w - side) / (count - 1) : 0;
    const bool centred = std::all_of(shown.begin(), shown.end(), [&](std::int64_t moment) {
      return canvas.text_width(cycle_text(input, moment), prose) <= side;
    });
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const auto group = canvas.group("systolic.moment", static_cast<int>(i));
      const Rect square{std::round(row.x + step * static_cast<float>(i)), row.y, side, side};
      draw_cells(canvas, input, run, shown[i], square);
      const std::string share = busy_text(run.busy_share(shown[i]));
      // Under the square; a wider one at either end on its side of the row.
      const HAlign align = centred                 ? HAlign::centre
                           : i == 0                ? HAlign::left
                           : i + 1 == shown.size() ? HAlign::right
                                                   : HAlign::centre;
      const float x = align == HAlign::left ? square.x : align == HAlign::right ? square.right() : square.centre().x;
      const float room = centred                           ? side + gap
                         : i == 0 || i + 1 == shown.size() ? side + gap
                                                           : std::max(side, step - gap / 2);
      const TextStyle head = small_text(canvas, theme.ink2, align),
                      bold = small_text(canvas, theme.ink, align, Weight::bold);
      const std::string cycle = cycle_text(input, shown[i]);
      canvas.text({x, square.bottom() + 0.75f * line}, ellipsize(canvas, cycle, head, room), head);
      canvas.text({x, square.bottom() + 1.7f * line}, share, bold);
      canvas.tag_with("systolic.array", static_cast<int>(i), square, [&] {
        Readout out;
        out.title = cycle;
        out.rows.emplace_back(std::string(t.text("figure.systolic.busy")), share);
        out.rows.emplace_back(std::string(t.text("figure.systolic.cells")),
                              format_count(static_cast<double>(run.busy(shown[i]))));
        return out;
      });
    }
  }
  draw_line_chart(canvas, rest, theme,
                  on_held_axes(systolic_chart(input, run, shown, canvas.em()), input, "systolic"));
}

std::string systolic_data(const FigureInput& input, const FigureView& view) {
  const SystolicRun run = systolic_of(input, view);
  std::string out = "cycle\tbusy cells\tbusy share\tside\trows\tcycles\tutilisation\n";
  for (std::int64_t cycle = 0; cycle < run.cycles; ++cycle)
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", cycle, run.busy(cycle), run.busy_share(cycle), run.side,
                       run.rows, run.cycles, run.utilisation());
  return out;
}

}  // namespace

extern constinit const FigureRow systolic_figure{
    .name = "systolic",
    .subject = Subject::any,
    .about = About::chips,
    .rests = Rests::nothing,
    .options = kSystolicOptions.rows,
    .head = systolic_head,
    .draw = draw_systolic,
    .data = systolic_data,
    .own_height = systolic_height,
};

}  // namespace roofscape::widgets
