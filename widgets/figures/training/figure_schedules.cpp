// The schedules figure: the scenario's step under one schedule after the other, on one time axis. Beside the rows
// stand what idles and how many microbatches a device holds; schedules that cannot run are listed with the reason. As
// many are drawn as have room, the plan's own always among them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/studies/schedule_comparison.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/stage_rows.h"
#include "widgets/figures/training/figure_pipeline_blocks.h"
#include "widgets/figures/training/figure_pipeline_parts.h"

namespace roofscape::widgets {

using engine::ScheduleKind;
using engine::ScheduleVariant;

namespace {

using gantt::kTicksPerSecond;

constexpr float kWide = 560;  // from this width on names stand at the left and numbers at the right
constexpr float kBar = 46;    // of the longest bar of held microbatches
constexpr float kNumberColumnGap = 16;
constexpr float kMostRow = 40, kComfortableRow = 18, kLeastRows = 48, kMostRows = 76;
constexpr float kScheduleBarShare = 0.84f;  // of a row
constexpr float kLeastScheduleRow = 8;      // of two schedules where only one has comfortable rows
constexpr std::size_t kWorthComparing = 3;
constexpr std::size_t kMostNotes = 7;
constexpr float kNoteShare = 0.27f;  // of the height

// All schedules of a step, and the levels of those that are too long to draw without.
struct ComparedSchedules {
  ComparedSchedules(const engine::Scenario& scenario, std::shared_ptr<engine::ScheduleReports> kept)
      : all(scenario, std::move(kept)) {}
  engine::ScheduleComparison all;
  std::array<std::optional<engine::TimelineDetail>, engine::kScheduleKinds> levels;

  const engine::ScheduleShape& shape() const { return all.shape(); }
  const engine::TimelineDetail& levels_of(const engine::PipelineReport& p) {
    auto& own = levels[static_cast<std::size_t>(p.shape.kind)];
    if (!own) engine::make_detail(p.orders, p.times, p.timeline, own.emplace());
    return *own;
  }
};
// Null where there is no pipeline. In a window it may not be finished yet.
ComparedSchedules* comparison_of(const FigureInput& input) {
  if (input.scenario.parallelism.pipeline < 2) return nullptr;
  const auto& held = input.studies.get<std::shared_ptr<ComparedSchedules>>(input.scenario, [&] {
    // Orders stay from edit to edit: most change times alone.
    return std::make_shared<ComparedSchedules>(input.scenario,
                                               input.studies.get<std::shared_ptr<engine::ScheduleReports>>(
                                                   0, [] { return std::make_shared<engine::ScheduleReports>(); }));
  });
  if (!held->all.advance(input.studies.operations_left)) input.studies.unfinished = true;
  return held.get();
}

const ScheduleVariant& variant(const ComparedSchedules& c, ScheduleKind kind) {
  return c.all.variants()[static_cast<std::size_t>(kind)];
}

// As few decimals as show every peak that is written exactly, two at most.
int decimals_of(const ScheduleVariant& v, bool each) {
  const std::vector<double>& peaks = v.pipeline().peak_microbatches;
  if (peaks.empty()) return 0;
  const double most = *std::max_element(peaks.begin(), peaks.end());
  int decimals = 0;
  for (const double peak : peaks)
    while ((each || peak == most) && decimals < 2 &&
           std::abs(peak * std::pow(10, decimals) - std::round(peak * std::pow(10, decimals))) > 1e-6)
      ++decimals;
  return decimals;
}

// A column of numbers at the right of the rows.
struct Column {
  std::string head;
  float right = 0, width = 0;
};

struct SchedulesLayout {
  bool wide = false;
  bool each = false;  // numbers of every device; else one for all
  std::vector<const ScheduleVariant*> shown;
  std::vector<StageRows> rows;  // by schedule shown; `header` is where the name stands
  Rect header, plot;
  float name_right = 0;
  Column idle, held;
  std::vector<std::string> notes, brief_notes;  // with the reasons of what cannot run, and without
  Rect foot;
  double from = 0, to = 1;  // visible time in ticks
  TimeUnit unit{};
  Frame frame;
  Scale x;
};

// Where the baseline's schedule ends, in ticks; 0: it has none.
double baseline_end(const FigureInput& input) {
  if (input.baseline == nullptr || !input.baseline->report.pipeline.drawn()) return 0;
  return static_cast<double>(input.baseline->report.pipeline.timeline.makespan);
}
// The same on the axis, if it is in sight.
std::optional<float> baseline_x(const FigureInput& input, const SchedulesLayout& l) {
  const double end = baseline_end(input);
  if (!(end > 0) || end < l.from || end > l.to) return std::nullopt;
  return l.x(end / kTicksPerSecond / l.unit.seconds);
}

std::string idle_text(const FigureInput& input, const ScheduleVariant& v) {
  return input.texts.format("figure.schedules.idle_of",
                            {schedule_name(input, v.shape), format_percent(v.idle_fraction)});
}

// The one that takes least, of several the plan's own; null if none can run.
const ScheduleVariant* fastest(const ComparedSchedules& c) {
  const ScheduleVariant *best = nullptr, &own = variant(c, c.shape().kind);
  for (const ScheduleKind kind : schedules_by_rank())
    if (const ScheduleVariant& v = variant(c, kind);
        v.legal() && (best == nullptr || v.step_time_s < best->step_time_s))
      best = &v;
  return best != nullptr && own.legal() && own.step_time_s == best->step_time_s ? &own : best;
}

// Which schedules to draw: the plan's own, the fastest, then the most telling ones; in the order of these.
std::vector<const ScheduleVariant*> choose(const ComparedSchedules& c, std::size_t count) {
  std::vector<const ScheduleVariant*> out;
  const auto add = [&](const ScheduleVariant* v) {
    if (v != nullptr && v->drawn() && out.size() < count && std::find(out.begin(), out.end(), v) == out.end())
      out.push_back(v);
  };
  add(&variant(c, c.shape().kind));
  add(fastest(c));
  for (const ScheduleKind kind : schedules_by_rank()) add(&variant(c, kind));
  const auto rank = [order = schedules_by_rank()](const ScheduleVariant* v) {
    return std::find(order.begin(), order.end(), v->shape.kind);
  };
  std::sort(out.begin(), out.end(),
            [&](const ScheduleVariant* a, const ScheduleVariant* b) { return rank(a) < rank(b); });
  return out;
}

// The rule that the shape breaks; of a legal one, what else stands against the plan with this schedule.
ScheduleReason why_not(const FigureInput& input, const ScheduleVariant& v) {
  if (v.status.legal() && v.report != nullptr)
    for (const engine::Diagnostic& d : v.report->diagnostics)
      if (d.severity == engine::Severity::error)
        return {std::string(input.texts.text("diagnostic." + std::string(d.code) + ".title")), {}};
  return schedule_reason(input, v.shape, v.status);
}

// What is not drawn: why it cannot be, or what it would idle. Brief: of others than the plan's own only that they cannot.
std::vector<std::string> notes_of(const FigureInput& input, const ComparedSchedules& c,
                                  const std::vector<const ScheduleVariant*>& shown, bool brief) {
  const TextTable& t = input.texts;
  std::vector<std::string> out;
  std::string more, none;
  for (const ScheduleKind kind : schedules_by_rank()) {
    const ScheduleVariant& v = variant(c, kind);
    if (std::find(shown.begin(), shown.end(), &v) != shown.end()) continue;
    if (!v.known) continue;
    if (v.legal()) {
      if (!more.empty()) more += t.text("figure.list_separator");
      more += idle_text(input, v);
      continue;
    }
    if (brief && !v.own) {
      none += (none.empty() ? "" : std::string(t.text("figure.list_separator"))) + schedule_name(input, v.shape);
      continue;
    }
    const auto [reason, remedy] = why_not(input, v);
    // The plan's own first: it is what one wants to know.
    out.insert(v.own ? out.begin() : out.end(),
               t.format("figure.schedules.cannot", {schedule_name(input, v.shape), reason, remedy}));
  }
  const bool after = !out.empty() && !variant(c, c.shape().kind).legal();
  if (!more.empty()) out.insert(out.begin() + (after ? 1 : 0), t.format("figure.schedules.more", {more}));
  if (!none.empty()) out.push_back(t.format("figure.schedules.cannot.others", {none}));
  return out;
}

void place_notes(const Canvas& canvas, const FigureInput& input, Rect& rest, SchedulesLayout& l) {
  const TextStyle style = small_text(canvas, input.theme.ink2, HAlign::left);
  const float pitch = FontStack::kLineHeight * style.em;
  const auto most = std::min(kMostNotes, static_cast<std::size_t>(std::max(0.0f, rest.h * kNoteShare / pitch)));
  const auto lines_of = [&](const std::vector<std::string>& notes, std::size_t at_most) {
    std::vector<std::string> lines;
    for (const std::string& note : notes) {
      if (lines.size() >= at_most) break;
      for (const std::string& line :
           wrap(canvas, note, style, rest.w, static_cast<int>(std::min<std::size_t>(4, at_most - lines.size()))))
        lines.push_back(line);
    }
    return lines;
  };
  std::vector<std::string> lines = lines_of(l.notes, most + 1);
  if (lines.size() > most) lines = lines_of(l.brief_notes, most);
  l.notes = std::move(lines);
  l.foot = rest.cut_bottom(pitch * static_cast<float>(l.notes.size()));
}

void place_columns(const Canvas& canvas, const FigureInput& input, Rect& rest, SchedulesLayout& l, int devices) {
  const TextTable& t = input.texts;
  const TextStyle bold = small_text(canvas, {}, HAlign::right, Weight::bold),
                  plain = small_text(canvas, {}, HAlign::right);
  const auto word = [&](std::string_view key) { return std::string(t.text(key)); };
  l.idle.head = word(l.each ? "figure.schedules.idle" : "figure.schedules.idle_mean");
  l.held.head = word(l.each ? "figure.schedules.held" : "figure.schedules.held_most");
  l.idle.width =
      std::max(canvas.text_width(format_percent(0.999), plain), canvas.text_width(format_percent(0), plain)) +
      canvas.px(kNumberColumnGap);
  l.held.width = canvas.px(kBar) + canvas.text_width(format_fixed(99.99, 2), plain) + canvas.px(kNumberColumnGap + 6);
  float names = 0;
  for (const ScheduleVariant* v : l.shown)
    names = std::max(names, canvas.text_width(schedule_name(input, v->shape), bold));
  const float numbers = canvas.text_width(format_count(devices - 1), bold) + canvas.px(10);
  if (l.wide) {
    l.held.right = rest.right();
    rest.cut_right(l.held.width);
    l.idle.right = rest.right();
    rest.cut_right(l.idle.width);
    rest.cut_right(canvas.px(4));
    l.name_right = rest.x + names;
    rest.cut_left(names + canvas.px(12));
  }
  rest.cut_left(std::min(numbers, rest.w / 3));
}

SchedulesLayout lay_out(const Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view,
                        const ComparedSchedules& c, int key_rows_wanted) {
  SchedulesLayout l;
  const int devices = c.shape().stages;
  const float line = small_line(canvas);
  Rect rest = area;
  l.wide = rest.w >= canvas.px(kWide);
  // A wide one has two lines of heads over its columns, and as many of the key beside them.
  const float head =
      canvas.px(26) + (l.wide ? line : key_row_height(canvas) * static_cast<float>(key_rows_wanted - 1));

  // How many have room, given comfortable rows; then what is left for each.
  const float gap = line + canvas.px(8), name = l.wide ? 0 : line + canvas.px(3);
  const float rows_wanted =
      confined(static_cast<float>(devices) * canvas.px(kComfortableRow), canvas.px(kLeastRows), canvas.px(kMostRows));
  const float usual_head = canvas.px(26) + (l.wide ? line : 0);  // how many are drawn is not for the key to say
  const float about = rest.h * 0.93f - usual_head - 2 * line - canvas.px(16);
  const auto room_for = [&](float rows) {
    return static_cast<std::size_t>(std::clamp(about / (rows + gap + name), 1.0f, 10.0f));
  };
  std::size_t count = room_for(rows_wanted);
  // On a wall few have room: lower rows, which are large there, for a third one.
  if (count < kWorthComparing)
    count = std::min(kWorthComparing, room_for(std::min(rows_wanted, canvas.px(kLeastRows))));
  // One alone is no comparison: two as soon as their rows can be told apart.
  if (count < 2 && about * 0.82f / 2 - gap - name >= static_cast<float>(devices) * canvas.px(kLeastScheduleRow))
    count = 2;
  l.shown = choose(c, count);
  if (l.shown.empty()) return l;
  l.notes = notes_of(input, c, l.shown, false), l.brief_notes = notes_of(input, c, l.shown, true);
  place_notes(canvas, input, rest, l);
  l.header = rest.cut_top(head);

  double total = baseline_end(input);
  for (const ScheduleVariant* v : l.shown) total = std::max(total, static_cast<double>(v->makespan));
  l.from = std::clamp(view.from, 0.0, 1.0) * total;
  l.to = std::max(l.from + 1, std::clamp(view.to, 0.0, 1.0) * total);
  l.unit = time_unit(l.to / kTicksPerSecond);
  const double per_tick = 1 / (kTicksPerSecond * l.unit.seconds);
  const Scale range(ScaleKind::linear, l.from * per_tick, l.to * per_tick, 0, 1);
  PlotAxis bare;
  bare.grid = bare.line = false;
  const auto n = static_cast<float>(l.shown.size());
  const auto pitch_in = [&](float height) {
    return std::min((height / n - gap - name) / static_cast<float>(devices), canvas.px(kMostRow));
  };
  // Whether every device has room for its numbers decides the words over them, these the width.
  l.frame = {time_axis(canvas, input, range, l.unit, rest.w), bare};
  l.each = pitch_in(plot_rect(canvas, rest, l.frame).h) >= line;
  place_columns(canvas, input, rest, l, devices);
  const float limit = rest.right();
  const Rect framed = plot_rect(canvas, rest, l.frame);
  l.plot =
      rect_between(rest.x, rest.y, l.wide ? limit - canvas.px(kNumberColumnGap) : framed.right(), framed.bottom());
  const float pitch = pitch_in(l.plot.h);
  if (!(pitch > 0) || l.plot.w < canvas.px(40)) {
    l.shown.clear();
    return l;
  }
  const float group = pitch * static_cast<float>(devices) + gap + name;
  l.plot.h = group * n;
  l.frame.x = time_axis(canvas, input, range, l.unit, l.plot.w);
  l.x = range.with_range(l.plot.x, l.plot.right());
  constexpr std::array kSteps{1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000};
  for (std::size_t i = 0; i < l.shown.size(); ++i) {
    StageRows rows;
    rows.area = {area.x, l.plot.y + group * static_cast<float>(i), area.w, group};
    rows.header = {area.x, rows.area.y, area.w, name};
    rows.plot = {l.plot.x, rows.area.y + name, l.plot.w, pitch * static_cast<float>(devices)};
    rows.pitch = pitch;
    rows.count = devices;
    rows.bar_height = pitch < canvas.px(4) ? pitch : pitch * kScheduleBarShare;
    rows.label_every = kSteps.back();
    for (auto it = kSteps.rbegin(); it != kSteps.rend(); ++it)
      if (static_cast<float>(*it) * pitch >= line) rows.label_every = *it;
    l.rows.push_back(rows);
  }
  return l;
}

void draw_names(Canvas& canvas, const FigureInput& input, const FigureView& view, const SchedulesLayout& l,
                std::size_t i) {
  const Theme& theme = input.theme;
  const ScheduleVariant& v = *l.shown[i];
  const StageRows& rows = l.rows[i];
  const TextStyle bold = small_text(canvas, theme.ink, HAlign::left, Weight::bold);
  const float line = small_line(canvas);
  const std::string name = schedule_name(input, v.shape);
  const std::string own = v.own ? std::string(input.texts.text("figure.schedules.own")) : std::string();
  Rect tag;
  if (l.wide) {
    const float y = rows.plot.y + std::max(line, rows.pitch) / 2;
    canvas.text({rows.area.x, y}, name, bold);
    if (!own.empty() && rows.plot.h >= 2 * line)
      canvas.text({rows.area.x, y + line},
                  ellipsize(canvas, own, small_text(canvas, theme.ink3, HAlign::left), l.name_right - rows.area.x),
                  small_text(canvas, theme.ink3, HAlign::left));
    tag = rect_between(rows.area.x, y - line / 2, l.name_right, y + line / 2);
  } else {
    const TextStyle plain = small_text(canvas, theme.ink2, HAlign::right);
    const Point at{rows.plot.x, rows.header.y + rows.header.h / 2};
    const std::string shown = ellipsize(canvas, name, bold, rows.plot.w);
    canvas.text(at, shown, bold);
    const std::string idle = input.texts.format("figure.schedules.idle_alone", {format_percent(v.idle_fraction)});
    const float width = canvas.text_width(idle, plain);
    float right = rows.plot.right();
    if (const auto base = baseline_x(input, l);
        base && *base > right - width - canvas.px(4) && *base < right + canvas.px(4))
      right = *base - canvas.px(4);  // left of the line where the baseline ends
    if (canvas.text_width(shown, bold) + canvas.px(10) + width <= right - rows.plot.x)
      canvas.text({right, at.y}, idle, plain);
    tag = {at.x, rows.header.y, rows.plot.w, rows.header.h};
  }
  canvas.tag_with("schedule." + std::string(engine::schedule_id(v.shape.kind)), -1, tag, [&] {
    Readout out;
    out.title = idle_text(input, v);
    out.rows.emplace_back(std::string(input.texts.text("figure.pipeline.duration")),
                          format_duration(static_cast<double>(v.makespan) / kTicksPerSecond));
    const auto& peaks = v.pipeline().peak_microbatches;
    if (!peaks.empty())
      out.rows.emplace_back(std::string(input.texts.text("figure.schedules.held_most")),
                            format_significant(*std::max_element(peaks.begin(), peaks.end()), 3, true));
    return out;
  });
  const float right = rows.plot.x - canvas.px(8);
  for (int d = 0; d < rows.count; ++d) {
    const bool here = view.hovered_stage == d;
    if (!here && (d % rows.label_every != 0 ||
                  (view.hovered_stage && std::abs(static_cast<float>(*view.hovered_stage - d)) * rows.pitch < line)))
      continue;
    canvas.text(
        {right, rows.bar(d).centre().y}, format_count(d),
        small_text(canvas, here ? theme.ink : theme.ink2, HAlign::right, here ? Weight::bold : Weight::regular));
  }
}

void draw_column_heads(Canvas& canvas, const FigureInput& input, const SchedulesLayout& l) {
  if (!l.wide) return;
  const TextStyle style = small_text(canvas, input.theme.ink3, HAlign::right);
  const float pitch = FontStack::kLineHeight * style.em;
  for (const Column* column : {&l.idle, &l.held}) {
    const std::vector<std::string> lines = wrap(canvas, column->head, style, column->width - canvas.px(6), 2);
    float y = l.header.bottom() - canvas.px(2) - pitch * (static_cast<float>(lines.size()) - 0.5f);
    for (const std::string& text : lines) canvas.text({column->right, y}, text, style), y += pitch;
  }
}

void draw_numbers(Canvas& canvas, const FigureInput& input, const SchedulesLayout& l, std::size_t i,
                  double most_held) {
  if (!l.wide) return;
  const Theme& theme = input.theme;
  const ScheduleVariant& v = *l.shown[i];
  int decimals = 0;  // the column keeps one number of them
  for (const ScheduleVariant* of : l.shown) decimals = std::max(decimals, decimals_of(*of, l.each));
  const StageRows& rows = l.rows[i];
  const std::vector<double>& peaks = v.pipeline().peak_microbatches;
  const TextStyle plain = small_text(canvas, theme.ink2, HAlign::right),
                  dark = small_text(canvas, theme.ink, HAlign::right);
  Fill fill = fill_of(theme, MemoryPart::activations, canvas.em());
  const float start = l.held.right - l.held.width + canvas.px(kNumberColumnGap);
  const float height = rows.bar_height * (l.each ? 0.6f : 0.8f);
  if (height < canvas.px(6)) fill.edge_width = 0;
  for (int d = 0; d < rows.count && d < static_cast<int>(peaks.size()); ++d) {
    const auto at = static_cast<std::size_t>(d);
    const float y = rows.bar(d).centre().y;
    const Rect bar{start, y - height / 2, canvas.px(kBar) * static_cast<float>(peaks[at] / most_held), height};
    canvas.rect(bar, fill);
    canvas.tag_with(v.own ? engine::quantity(engine::Q::stage_in_flight).id : "schedule.held", d, bar, [&] {
      Readout out;
      out.title = input.texts.format("figure.schedules.readout.held", {format_fixed(peaks[at], decimals)});
      out.rows.emplace_back(std::string(input.texts.text(row_word(v.pipeline().shape))), format_count(d));
      return out;
    });
    if (!l.each) continue;
    canvas.text({l.idle.right, y},
                format_percent(static_cast<double>(v.pipeline().idle[at]) / static_cast<double>(v.makespan)), plain);
    canvas.text({l.held.right, y}, format_fixed(peaks[at], decimals), dark);
  }
  if (l.each || peaks.empty()) return;
  const float y = std::max(rows.plot.centre().y, rows.plot.y + small_line(canvas) / 2);
  canvas.text({l.idle.right, y}, format_percent(v.idle_fraction), plain);
  canvas.text({l.held.right, y}, format_fixed(*std::max_element(peaks.begin(), peaks.end()), decimals), dark);
}

// The time of a schedule under the line at its end.
struct EndLabel {
  std::string text;
  TextStyle style;
  Rect box;
};
EndLabel end_label(Canvas& canvas, const FigureInput& input, const SchedulesLayout& l, std::size_t i) {
  const double end = static_cast<double>(l.shown[i]->makespan) / kTicksPerSecond / l.unit.seconds;
  EndLabel out{format_significant(end), small_text(canvas, input.theme.ink, HAlign::centre, Weight::bold), {}};
  const float half = canvas.text_width(out.text, out.style) / 2;
  const float most =
      std::max(l.plot.x + half, (l.wide ? l.idle.right - l.idle.width : canvas.bounds().right()) - half);
  out.box = {confined(l.x(end), l.plot.x + half, most) - half, l.rows[i].plot.bottom() + canvas.px(3), 2 * half,
             small_line(canvas)};
  // Beside the line where the baseline ends, not under it.
  if (const auto base = baseline_x(input, l)) {
    const float gap = canvas.px(3);
    if (*base > out.box.x - gap && *base < out.box.right() + gap) {
      const float right = *base + gap, left = *base - gap - out.box.w;
      const bool fits = right + out.box.w <= most + half;
      out.box.x = fits && (l.x(end) >= *base || left < l.plot.x) ? right : left;
    }
  }
  return out;
}

void draw_end(Canvas& canvas, const FigureInput& input, const SchedulesLayout& l, std::size_t i) {
  const auto end = static_cast<double>(l.shown[i]->makespan);
  if (end < l.from || end > l.to) return;
  const StageRows& rows = l.rows[i];
  const float x = l.x(end / kTicksPerSecond / l.unit.seconds), over = canvas.px(l.wide ? 3 : 1);
  canvas.line({x, rows.plot.y - over}, {x, rows.plot.bottom() + canvas.px(3)}, {input.theme.ink, canvas.px(2), {}});
  const EndLabel label = end_label(canvas, input, l, i);
  haloed_text(canvas, input.theme, label.box.centre(), label.text, label.style);
}

// A dashed line through all schedules where that of the baseline ends, with its time over the axis.
void draw_baseline_end(Canvas& canvas, const FigureInput& input, const SchedulesLayout& l) {
  const auto at = baseline_x(input, l);
  if (!at) return;
  const double end = baseline_end(input);
  const float x = *at, y = l.plot.bottom() - small_line(canvas) / 2;
  canvas.line({x, l.plot.y}, {x, l.plot.bottom()},
              {input.theme.ink2, input.theme.axis_width * 1.5f * canvas.em(), Dash{3, 3}.scaled(canvas.px(1))});
  const TextStyle style = small_text(canvas, input.theme.ink2, HAlign::left);
  const std::string text = input.texts.format(
      "figure.step.readout",
      {std::string(input.texts.text("figure.step.baseline")), format_duration(end / kTicksPerSecond)});
  const float width = canvas.text_width(text, style), gap = canvas.px(5);
  // On the side where the time of the last schedule does not stand, or beyond that.
  const bool right = x + gap + width <= l.plot.right() && static_cast<double>(l.shown.back()->makespan) < end;
  Rect box{right || x - gap - width < l.plot.x ? x + gap : x - gap - width, y - small_line(canvas) / 2, width,
           small_line(canvas)};
  if (const Rect other = end_label(canvas, input, l, l.shown.size() - 1).box; !intersection(box, other).empty())
    box.x = other.x - gap - width >= l.plot.x ? other.x - gap - width : other.right() + gap;
  haloed_text(canvas, input.theme, {box.x, y}, text, style);
}

// The key over the rows: what it lists, and where it stands.
struct SchedulesKey {
  std::vector<KeyEntry> entries;
  std::string note, brief_note;
  float left = 0, room = 0;
  int rows = 1;
};

SchedulesKey schedules_key(Canvas& canvas, const FigureInput& input, const SchedulesLayout& l,
                           const std::vector<gantt::Gantt>& gantts) {
  const TextTable& t = input.texts;
  SchedulesKey out;
  bool split = false, whole = false;
  int chunks = 1;
  for (const ScheduleVariant* v : l.shown) {
    const bool splits = engine::splits_backward(v->shape.kind);
    split = split || splits;
    whole = whole || !splits || engine::overlaps_forward_backward(v->shape.kind);
    const int of = engine::default_virtual_stages(v->shape.kind);
    chunks = std::max({chunks, of, v->shape.virtual_stages, engine::directions(v->shape.kind)});
  }
  const float em = canvas.em();
  const auto entry = [&](std::string_view key, TimelinePart kind) {
    const std::string brief = std::string(key) + ".brief";
    return KeyEntry{std::string(t.text(key)), fill_of(input.theme, kind, em),
                    t.has(brief) ? std::string(t.text(brief)) : std::string()};
  };
  std::vector<KeyEntry>& entries = out.entries;
  entries.push_back(entry("figure.pipeline.forward", TimelinePart::forward));
  entries.push_back(entry(!split   ? "figure.pipeline.backward"
                          : !whole ? "figure.pipeline.backward_input"
                                   : "figure.schedules.backward_or_input",
                          TimelinePart::backward));
  if (split)
    entries.push_back(
        entry(whole ? "figure.schedules.weight" : "figure.pipeline.backward_weight", TimelinePart::backward_weight));
  if (std::any_of(gantts.begin(), gantts.end(), [](const gantt::Gantt& g) { return g.recomputes; }))
    entries.push_back(entry("figure.pipeline.recompute", TimelinePart::recompute));
  entries.push_back(
      {std::string(t.text("figure.pipeline.idle")), gantt::idle_swatch(input.theme, gantts.front(), em)});
  if (std::any_of(gantts.begin(), gantts.end(), [&](const gantt::Gantt& g) { return g.shows_step_end(canvas); }))
    entries.push_back(entry("figure.pipeline.step_end", TimelinePart::step_end));
  const bool splits = std::any_of(gantts.begin(), gantts.end(),
                                  [&](const gantt::Gantt& g) { return gantt::splits_bars(canvas, input, g); });
  out.note = gantt::key_note(t, chunks, splits);
  out.brief_note = gantt::key_note(t, splits ? 1 : chunks, splits);
  const float right = l.wide ? l.idle.right - l.idle.width : l.plot.right();
  // Over the rows if it fits there, else from the edge of the figure on where that saves a second row.
  out.left = l.plot.x;
  out.rows = key_rows(canvas, right - out.left, entries);
  if (out.rows > 1 && key_rows(canvas, right - l.header.x, entries) == 1) out.left = l.header.x, out.rows = 1;
  out.room = right - out.left;
  return out;
}

void draw_schedules_key(Canvas& canvas, const FigureInput& input, const SchedulesLayout& l, const SchedulesKey& key) {
  const float up = canvas.px(14) + key_row_height(canvas) * static_cast<float>(key.rows - 1) / 2;
  draw_fitting_key(canvas, input.theme, {key.left, l.header.bottom() - up}, key.room, key.entries, key.note,
                   key.brief_note);
}

std::vector<gantt::Gantt> gantts_of(const Canvas& canvas, const FigureInput& input, ComparedSchedules& c,
                                    const SchedulesLayout& l) {
  std::vector<gantt::Gantt> out;
  for (std::size_t i = 0; i < l.shown.size(); ++i) {
    gantt::Gantt& g =
        out.emplace_back(gantt::make_gantt(canvas, input.theme, l.shown[i]->pipeline(), l.rows[i], l.from, l.to));
    if (g.detail == gantt::Detail::shares) g.levels = &c.levels_of(g.pipeline);
    // The quantities of stages are the plan's own.
    if (!l.shown[i]->own) g.scope = "schedule." + std::string(engine::schedule_id(g.pipeline.shape.kind)) + "/";
  }
  return out;
}

FigureHead schedules_head(const FigureInput& input, const FigureView&) {
  const TextTable& t = input.texts;
  FigureHead head;
  if (input.baseline) head.context = compared_context(input);
  head.title = t.text("figure.schedules.title");
  ComparedSchedules* c = comparison_of(input);
  if (c == nullptr || !c->all.done()) return head;  // which is fastest is not known yet
  const ScheduleVariant *best = fastest(*c), &own = variant(*c, c->shape().kind);
  if (best == nullptr) return head;
  const auto name_of = [&](const ScheduleVariant& v) { return say(head, name_claim(schedule_name(input, v.shape))); };
  const auto idle_of = [&](const ScheduleVariant& v) {
    return say(head, data_claim("idle share", v.idle_fraction, format_percent(v.idle_fraction)));
  };
  const std::string name = name_of(*best), idle = idle_of(*best);
  if (best == &own)
    head.takeaway = t.format("figure.schedules.takeaway.own", {name, idle});
  else if (own.legal()) {
    const double shorter = 1 - best->step_time_s / own.step_time_s;
    const std::string less = say(head, own_claim("schedules.shorter", shorter, format_percent(shorter)));
    head.takeaway = t.format("figure.schedules.takeaway", {name, less, name_of(own), idle, idle_of(own)});
    head.brief = t.format("figure.schedules.takeaway.brief", {name, less});
  } else
    head.takeaway = t.format("figure.schedules.takeaway.alone", {name, idle});
  return head;
}

void draw_schedules(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, schedules_head(input, view));
  if (rest.empty()) return;
  ComparedSchedules* c = comparison_of(input);
  if (c == nullptr) {
    if (input.report.pipeline.shape.stages > 1) return draw_schedule_reason(canvas, rest, input);
    return draw_one_stage(canvas, rest, input, input.texts.text("figure.schedules.try"));
  }
  SchedulesLayout l = lay_out(canvas, rest, input, view, *c, 1);
  std::vector<gantt::Gantt> gantts;
  SchedulesKey key;
  // What the key lists depends on the rows, and a second line of it takes room from them.
  for (const int rows : {1, 2}) {
    if (rows > 1) l = lay_out(canvas, rest, input, view, *c, rows);
    if (l.shown.empty()) {
      if (choose(*c, 1).empty()) draw_schedule_reason(canvas, rest, input);
      return;
    }
    gantts = gantts_of(canvas, input, *c, l);
    key = schedules_key(canvas, input, l, gantts);
    if (l.wide || key.rows <= rows) break;
  }
  for (const StageRows& rows : l.rows) {
    StageRows band = rows;  // the tint ends where the rows do
    draw_stage_tint(canvas, input.theme, band, view.hovered_stage);
  }
  draw_frame(canvas, input.theme, l.plot, l.x, Scale(ScaleKind::linear, 0, 1, l.plot.bottom(), l.plot.y), l.frame);
  draw_schedules_key(canvas, input, l, key);
  draw_column_heads(canvas, input, l);
  double most_held = 1e-9;
  for (const ScheduleVariant* v : l.shown)
    for (const double peak : v->pipeline().peak_microbatches) most_held = std::max(most_held, peak);
  for (std::size_t i = 0; i < l.shown.size(); ++i) {
    draw_names(canvas, input, view, l, i);
    gantt::draw_blocks(canvas, input, gantts[i]);
    draw_numbers(canvas, input, l, i, most_held);
    draw_end(canvas, input, l, i);
  }
  draw_baseline_end(canvas, input, l);
  const TextStyle style = small_text(canvas, input.theme.ink2, HAlign::left);
  float y = l.foot.y;
  const float pitch = FontStack::kLineHeight * style.em;
  for (const std::string& note : l.notes) canvas.text({l.foot.x, y + pitch / 2}, note, style), y += pitch;
}

std::string schedules_data(const FigureInput& input, const FigureView&) {
  std::string out = "schedule\tchunks\tlegal\tmakespan s\tidle share\tmost microbatches held\tstep s\tmemory bytes\n";
  const ComparedSchedules* c = comparison_of(input);
  if (c == nullptr) return out;
  for (const engine::ScheduleVariant& v : c->all.variants()) {
    const std::vector<double> peaks = v.drawn() ? v.pipeline().peak_microbatches : std::vector<double>();
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", engine::schedule_id(v.shape.kind), v.shape.virtual_stages,
                       v.legal() ? "yes" : "no", static_cast<double>(v.makespan) * 1e-12, v.idle_fraction,
                       peaks.empty() ? 0.0 : *std::max_element(peaks.begin(), peaks.end()), v.step_time_s,
                       v.memory_bytes);
  }
  return out;
}

}  // namespace

extern constinit const FigureRow schedules_figure{
    .name = "schedules",
    .needs = Needs::stages,
    .about = About::schedules,
    .width_pt = kPageWidth,
    .height_pt = 472.0f,
    .head = schedules_head,
    .draw = draw_schedules,
    .data = schedules_data,
};

}  // namespace roofscape::widgets
