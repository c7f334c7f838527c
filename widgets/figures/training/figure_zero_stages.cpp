// The zero-stages figure: the memory of the fullest chip under ZeRO 0, 1, 2 and 3, one stacked bar each against the
// capacity, with the step that each takes.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/studies/zero_stages.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/stage_rows.h"
#include "widgets/figures/training/figure_memory_parts.h"
#include "widgets/figures/training/figure_pipeline_parts.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

using engine::Q;
using engine::ZeroStagesStudy;
using namespace memory;

namespace {

constexpr float kBarShare = 0.56f;       // of the pitch of rows
constexpr float kMostPitch = 64;         // px
constexpr float kColumnGap = 10;         // px, between the columns of words and the plot
constexpr float kSecondLineFrom = 2.6f;  // lines: rows that are so high say what is sharded under the name

const ZeroStagesStudy& study_of(const FigureInput& input) {
  return input.studies.get<ZeroStagesStudy>(input.scenario,
                                            [&] { return engine::zero_stages_study(input.scenario); });
}

// The figure's input with the plan of one of the stages.
FigureInput with_stage(const FigureInput& input, const ZeroStagesStudy::Variant& variant) {
  FigureInput out{variant.scenario, variant.report, input.texts, input.theme, input.studies};
  out.axes = input.axes;
  return out;
}

double bytes_of(const ZeroStagesStudy::Variant& variant) {
  return variant.report.quantities.value_or(Q::memory_total, 0);
}
std::string stage_name(std::size_t stage) { return "ZeRO-" + std::to_string(stage); }
std::string step_text(const engine::Report& report) {
  const auto step = report.quantities[Q::step_time];
  return step && !report.has_errors() ? format_duration(*step) : "\u2014";
}

FigureHead zero_stages_head(const FigureInput& input, const FigureView&) {
  const TextTable& t = input.texts;
  FigureHead head;
  head.title = t.text(chip_key(input, "figure.zero-stages.title"));
  const ZeroStagesStudy& study = study_of(input);
  if (study.shards < 2) return head;
  const auto bytes = [&](std::size_t stage) {
    const double value = bytes_of(study.stages[stage]);
    return say(head, data_claim("memory bytes", value, bytes_text(value)));
  };
  const std::string first = say(head, name_claim(stage_name(0))), last = say(head, name_claim(stage_name(3)));
  head.takeaway = t.format("figure.zero-stages.takeaway", {first, bytes(0), last, bytes(3)});
  head.brief = t.format("figure.zero-stages.brief", {bytes(0), bytes(3)});
  return head;
}

std::vector<KeyEntry> key_of(const Canvas& canvas, const FigureInput& input, const ZeroStagesStudy& study) {
  std::vector<KeyEntry> out;
  for (const Part& part : parts()) {
    const bool any = std::any_of(study.stages.begin(), study.stages.end(), [&part](const auto& variant) {
      return variant.report.quantities.value_or(part.quantity, 0) > 0;
    });
    if (any) out.push_back({part_name(input, part), fill_of(input.theme, part.look, canvas.em())});
  }
  return out;
}

Readout readout_of(const FigureInput& input, const ZeroStagesStudy::Variant& variant, std::size_t stage) {
  const TextTable& t = input.texts;
  Readout out;
  out.title = t.format("figure.zero-stages.readout", {stage_name(stage), bytes_text(bytes_of(variant))});
  out.rows.emplace_back(t.text("figure.zero-stages.sharded"),
                        t.text("figure.zero-stages.shards." + std::to_string(stage)));
  out.rows.emplace_back(t.text("figure.zero-stages.step"), step_text(variant.report));
  return out;
}

void draw_zero_stages(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const TextTable& t = input.texts;
  const Theme& theme = input.theme;
  Rect rest = draw_figure_head(canvas, area, input, view, zero_stages_head(input, view));
  if (rest.empty()) return;
  const ZeroStagesStudy& study = study_of(input);
  if (study.shards < 2) return draw_empty_state(canvas, theme, rest, std::string(t.text("figure.zero-stages.empty")));

  const float line = small_line(canvas);
  // What there is room for beside the bars and their axis: first the key, then the note.
  const float needed = line * (engine::kZeroStages + 3.4f);
  const std::vector<KeyEntry> key = key_of(canvas, input, study);
  const float key_height = line * static_cast<float>(key_rows(canvas, rest.w, key));
  if (rest.h >= needed + key_height) {
    const Rect strip = rest.cut_top(key_height);
    draw_fitting_key(canvas, theme, {strip.x, strip.centre().y}, strip.w, key, {});
  }
  const std::string note = t.format(study.from_data_axis ? "figure.zero-stages.note.data" : "figure.zero-stages.note",
                                    {format_count(study.shards)});
  const TextStyle prose = small_text(canvas, theme.ink3, HAlign::left);
  const auto lines = wrap(canvas, note, prose, rest.w, 2);
  if (rest.h >= needed + foot_height(canvas, lines.size(), line)) draw_foot_lines(canvas, rest, lines, line, prose);

  // Columns: names, bars, times.
  const Rect header = rest.cut_top(line * 1.2f);
  const TextStyle name_style = small_text(canvas, theme.ink, HAlign::left, Weight::bold);
  const TextStyle what_style = small_text(canvas, theme.ink2, HAlign::left);
  const TextStyle value = small_text(canvas, theme.ink, HAlign::right);
  const std::string step_words(t.text("figure.zero-stages.step"));
  float names = canvas.text_width(stage_name(0), name_style), times = canvas.text_width(step_words, value);
  const float pitch = std::min(canvas.px(kMostPitch), (rest.h - line * 2.2f) / engine::kZeroStages);
  if (pitch <= 0) return;
  const bool says_what = pitch >= line * kSecondLineFrom;
  double most_gb = 0;
  float total_label = 0;
  for (std::size_t stage = 0; stage < study.stages.size(); ++stage) {
    if (says_what)
      names = std::max(names,
                       canvas.text_width(t.text("figure.zero-stages.shards." + std::to_string(stage)), what_style));
    times = std::max(times, canvas.text_width(step_text(study.stages[stage].report), value));
    most_gb = std::max(most_gb, bytes_of(study.stages[stage]) / kGb);
    total_label = std::max(total_label, canvas.text_width(bytes_text(bytes_of(study.stages[stage])), value));
  }
  names = std::min(names, rest.w * 0.3f);
  const Rect rows{rest.x + names + canvas.px(kColumnGap), rest.y, rest.w - names - times - 2 * canvas.px(kColumnGap),
                  pitch * engine::kZeroStages};
  const double capacity_gb = sizes_of(input).capacity_gb;
  const double w = rows.w, room = std::min<double>(total_label + canvas.px(14), 0.5 * w);
  double end = std::max({most_gb * w / (w - room), capacity_gb * 1.12, 1e-9});
  // A total that would lie across the capacity stands past it, and has its room there.
  for (const ZeroStagesStudy::Variant& variant : study.stages) {
    const double gb = bytes_of(variant) / kGb;
    if (gb <= capacity_gb && (capacity_gb - gb) * w < room * end) end = std::max(end, capacity_gb * w / (w - room));
  }
  const Scale x(ScaleKind::linear, 0, kept_range(input.axes, "zero-stages.x", {0, end}).to, rows.x, rows.right());
  Frame frame;
  frame.x = gb_axis(input, x, rows.w, canvas);
  frame.y.grid = frame.y.line = false;
  draw_frame(canvas, theme, rows, x, Scale(ScaleKind::linear, 0, 1, rows.bottom(), rows.y), frame);
  canvas.text({rest.right(), header.centre().y}, step_words, small_text(canvas, theme.ink3, HAlign::right));
  draw_capacity(canvas, input, x, header.centre().y, header.bottom(), rows.bottom());

  for (std::size_t stage = 0; stage < study.stages.size(); ++stage) {
    const ZeroStagesStudy::Variant& variant = study.stages[stage];
    const Rect band{rest.x, rows.y + pitch * static_cast<float>(stage), rest.w, pitch};
    const bool own = input.scenario.parallelism.zero_stage == static_cast<int>(stage);
    const float middle = band.centre().y;
    TextStyle name = name_style;
    if (!own) name.weight = Weight::regular;
    canvas.text({band.x, says_what ? middle - line / 2 : middle}, stage_name(stage), name);
    if (says_what)
      canvas.text({band.x, middle + line / 2},
                  ellipsize(canvas, t.text("figure.zero-stages.shards." + std::to_string(stage)), what_style, names),
                  what_style);
    const Rect bar{rows.x, middle - pitch * kBarShare / 2, rows.w, pitch * kBarShare};
    const FigureInput one = with_stage(input, variant);
    draw_stack(canvas, one, bar, x, variant.report.fullest_stage, !view.compact);
    const double gb = bytes_of(variant) / kGb;
    const bool over = capacity_gb > 0 && gb > capacity_gb;
    TextStyle total =
        small_text(canvas, over ? readable(line_of(theme, MemoryPart::over_capacity), theme.panel) : theme.ink,
                   HAlign::left, own ? Weight::bold : Weight::regular);
    Point at{x(gb) + canvas.px(6), middle};
    const std::string text = bytes_text(bytes_of(variant));
    // Never across the capacity line: past it instead.
    const float limit = capacity_gb > 0 ? x(capacity_gb) : -1;
    if (limit > at.x - canvas.px(3) && limit < at.x + canvas.text_width(text, total) + canvas.px(3))
      at.x = limit + canvas.px(6);
    haloed_text(canvas, theme, at, text, total);
    TextStyle time = value;
    if (own) time.weight = Weight::bold;
    canvas.text({band.right(), middle}, step_text(variant.report), time);
    canvas.tag_with("zero-stages.stage", static_cast<int>(stage), rect_between(band.x, band.y, rows.x, band.bottom()),
                    [&] { return readout_of(input, variant, stage); });
  }
}

std::string zero_stages_data(const FigureInput& input, const FigureView&) {
  std::string out = "ZeRO stage";
  for (const Part& part : parts()) out += fmt::format("\t{}", engine::quantity(part.quantity).id);
  out += "\tmemory bytes\tstep s\n";
  const ZeroStagesStudy& study = study_of(input);
  for (std::size_t stage = 0; stage < study.stages.size(); ++stage) {
    const engine::Report& report = study.stages[stage].report;
    out += fmt::format("{}", stage);
    for (const Part& part : parts()) out += fmt::format("\t{}", report.quantities.value_or(part.quantity, 0));
    out += fmt::format("\t{}\t", bytes_of(study.stages[stage]));
    if (const auto step = report.quantities[Q::step_time]; step && !report.has_errors())
      out += fmt::format("{}", *step);
    out += "\n";
  }
  return out;
}

}  // namespace

extern constinit const FigureRow zero_stages_figure{
    .name = "zero-stages",
    .rests = Rests::memory,
    .height_pt = 240.9f,
    .head = zero_stages_head,
    .draw = draw_zero_stages,
    .data = zero_stages_data,
};

}  // namespace roofscape::widgets
