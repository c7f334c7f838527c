#include "widgets/figures/training/figure_schedules_layout.h"

#include <algorithm>
#include <cmath>

#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/training/figure_pipeline_blocks.h"

namespace roofscape::widgets::schedules {

using engine::ScheduleKind;
using engine::ScheduleVariant;
using gantt::kTicksPerSecond;

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

double baseline_end(const FigureInput& input) {
  if (input.baseline == nullptr || !input.baseline->report.pipeline.drawn()) return 0;
  return static_cast<double>(input.baseline->report.pipeline.timeline.makespan);
}
std::optional<float> baseline_x(const FigureInput& input, const SchedulesLayout& l) {
  const double end = baseline_end(input);
  if (!(end > 0) || end < l.from || end > l.to) return std::nullopt;
  return l.x(end / kTicksPerSecond / l.unit.seconds);
}

std::string idle_text(const FigureInput& input, const ScheduleVariant& v) {
  return input.texts.format("figure.schedules.idle_of",
                            {schedule_name(input, v.shape), format_percent(v.idle_fraction)});
}

const ScheduleVariant* fastest(const ComparedSchedules& c) {
  const ScheduleVariant *best = nullptr, &own = variant(c, c.shape().kind);
  for (const ScheduleKind kind : schedules_by_rank())
    if (const ScheduleVariant& v = variant(c, kind);
        v.legal() && (best == nullptr || v.step_time_s < best->step_time_s))
      best = &v;
  return best != nullptr && own.legal() && own.step_time_s == best->step_time_s ? &own : best;
}

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

namespace {

constexpr float kWide = 560;  // from this width on names stand at the left and numbers at the right
constexpr float kMostRow = 40, kComfortableRow = 18, kLeastRows = 48, kMostRows = 76;
constexpr float kScheduleBarShare = 0.84f;  // of a row
constexpr float kLeastScheduleRow = 1.5f;   // of two schedules where only one has comfortable rows
constexpr std::size_t kWorthComparing = 3;
constexpr std::size_t kMostNotes = 7;
constexpr float kNoteShare = 0.27f;  // of the height

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
  // A head goes over two lines, but no word of it is cut.
  for (Column* column : {&l.idle, &l.held})
    for (std::size_t at = 0; at < column->head.size();) {
      const std::size_t end = std::min(column->head.find(' ', at), column->head.size());
      const float width = canvas.text_width(std::string_view(column->head).substr(at, end - at), plain);
      column->width = std::max(column->width, width + canvas.px(kHeadGap));
      at = end + 1;
    }
  float names = 0;
  for (const ScheduleVariant* v : l.shown)
    names = std::max(names, canvas.text_width(schedule_name(input, v->shape), bold));
  const bool stages = std::all_of(l.shown.begin(), l.shown.end(),
                                  [](const ScheduleVariant* v) { return row_word(v->shape) == "figure.stage"; });
  l.word = word(stages ? "figure.stage" : "figure.device");
  // The word stands over the numbers in a column, which is as wide for it; beside names there is room.
  const float numbers = std::max(canvas.text_width(format_count(devices - 1), bold) + canvas.px(kRowNumberGap + 2),
                                 l.wide ? 0 : canvas.text_width(l.word, plain) + canvas.px(kRowNumberGap));
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

}  // namespace

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
  // Where names stand over the rows the times do too, and nothing but the baseline's under them.
  const float gap = canvas.px(8) + (l.wide || input.baseline != nullptr ? line : 0),
              name = l.wide ? 0 : line + canvas.px(3);
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
  l.notes = notes_of(input, c, l.shown, !l.wide), l.brief_notes = notes_of(input, c, l.shown, true);
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

}  // namespace roofscape::widgets::schedules
