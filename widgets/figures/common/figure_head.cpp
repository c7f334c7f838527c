#include "widgets/figures/common/figure_head.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/scenario/checkpoint_policies.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/scenario/scenario_title.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/doubts.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

using engine::Q;

namespace {
// At scale 1 where one em is 9 points: 1 mm around a figure with a head, half of that around a bare one, which stands
// in a text that has margins of its own.
constexpr float kPrintMargin = 4.72f, kBareMargin = 2.36f, kBelowHead = 8;
// The caption may take this share of the height, and so many lines in any case.
constexpr float kContextShare = 0.24f;
constexpr int kContextLines = 3;
constexpr int kHeadLines = 2;  // of a title or takeaway on paper
}  // namespace

std::string short_name(const engine::Chip& chip) {
  std::string name = chip.name;
  if (!chip.vendor.empty() && name.starts_with(chip.vendor + " ")) name.erase(0, chip.vendor.size() + 1);
  for (const std::string_view cut : {", ", " ("}) name = name.substr(0, name.find(cut));
  return name;
}

std::string chip_key(const FigureInput& input, std::string_view stem) {
  const bool gpu = input.scenario.cluster.chip.interconnect == engine::Interconnect::switched;
  return std::string(stem) + (gpu ? ".gpu" : ".chip");
}

namespace {

// A field's value in words: the name of a choice, else the number.
std::string value_text(const TextTable& t, const engine::Field& field, const engine::Scenario& s) {
  const double value = field.get(s);
  if (field.kind == engine::FieldKind::boolean)
    return std::string(t.text(value != 0 ? "figure.context.on" : "figure.context.off"));
  if (field.kind != engine::FieldKind::choice) return t.amount(value, field.unit, {.trim_zeros = true});
  const std::string word(field.choices[static_cast<std::size_t>(value)]);
  const std::string key = "choice." + std::string(field.path) + "." + word;
  return t.has(key) ? std::string(t.text(key)) : word;
}
std::string value_text(const TextTable& t, std::string_view path, const engine::Scenario& s) {
  const engine::Field* field = engine::find_field(path);
  return field == nullptr ? std::string() : value_text(t, *field, s);
}

void join(std::string& out, std::string_view separator, const std::string& more) {
  if (more.empty()) return;
  if (!out.empty()) out += separator;
  out += more;
}

// Mesh and ZeRO stage.
std::string mesh_text(const TextTable& t, const engine::Scenario& s) {
  const std::string_view comma = t.text("figure.list_separator");
  std::string plan;
  for (int i = 0; i < engine::kAxisCount; ++i) {
    const int degree = s.parallelism.degree(static_cast<engine::Axis>(i));
    const std::string key = "figure.axis." + std::string(engine::kAxisIds[static_cast<std::size_t>(i)]);
    if (degree > 1) join(plan, comma, t.format(key, {format_count(degree)}));
  }
  if (!s.serves() && s.parallelism.fsdp * s.parallelism.context > 1)
    join(plan, comma, t.format("figure.zero", {format_count(s.parallelism.zero_stage)}));
  return plan.empty() ? std::string(t.text("figure.no_parallelism")) : plan;
}

// The order of passes where there are stages, and the microbatches where there are several.
std::string schedule_text(const FigureInput& input) {
  const engine::Scenario& s = input.scenario;
  const TextTable& t = input.texts;
  std::string out;
  if (s.parallelism.pipeline > 1) {
    out = value_text(t, "pipeline.schedule", s);
    if (s.pipeline.virtual_stages > 1)
      out = t.format("figure.context.chunks", {out, format_count(s.pipeline.virtual_stages)});
  }
  const double microbatches = input.report.quantities.value_or(Q::microbatches, 1);
  if (microbatches > 1)
    join(out, t.text("figure.list_separator"),
         t.format("figure.context.microbatches",
                  {format_count(microbatches), format_count(s.pipeline.microbatch_sequences)}));
  return out;
}

std::string checkpoints_text(const TextTable& t, const engine::Scenario& s) {
  const engine::CheckpointFacts& facts = engine::facts_of(s.checkpointing.policy);
  const std::string key = "figure.context.keeps." + std::string(facts.id);
  const double counted = facts.count == engine::CheckpointCount::blocks ? s.checkpointing.blocks : s.checkpointing.k;
  return t.format(key, {format_count(counted)});
}

// What is computed in, and what differs from it.
std::string formats_text(const TextTable& t, const engine::Scenario& s) {
  std::string out = value_text(t, "precision.compute", s);
  const auto beside = [&](std::string_view key, std::string_view path) {
    join(out, t.text("figure.list_separator"), t.format(key, {value_text(t, path, s)}));
  };
  if (s.precision.weights != s.precision.compute) beside("figure.context.weights", "precision.weights");
  if (s.serves()) {
    if (s.precision.kv_cache != engine::Dtype::none && s.precision.kv_cache != s.precision.compute)
      beside("figure.context.cache", "precision.kv_cache");
  } else if (s.precision.gradients != engine::Dtype::none && s.precision.gradients != s.precision.compute) {
    beside("figure.context.gradients", "precision.gradients");
  }
  if (s.serves()) return out;
  const auto say_of = [&](const std::string& text) { join(out, t.text("figure.list_separator"), text); };
  if (s.adapter.rank > 0)
    say_of(t.format("figure.context.adapters", {format_count(s.adapter.rank), value_text(t, "adapter.targets", s)}));
  else if (engine::is_muon(s.precision.optimizer))
    say_of(value_text(t, "precision.optimizer", s));
  return out;
}

// Kernels that are not what software of today mostly has.
std::string kernels_text(const TextTable& t, const engine::Scenario& s) {
  static const engine::Scenario usual;
  std::string out;
  for (const engine::Field& field : engine::scenario_fields())
    if (field.path.starts_with("kernels.") && field.get(s) != field.get(usual))
      join(out, t.text("figure.list_separator"),
           t.format("figure.context.kernel",
                    {std::string(t.text("field." + std::string(field.path) + ".label")), value_text(t, field, s)}));
  return out;
}

std::string workload_text(const FigureInput& input) {
  const engine::Scenario& s = input.scenario;
  const TextTable& t = input.texts;
  if (!s.serves())
    return t.format("figure.context.batch",
                    {format_count(s.workload.global_batch_sequences), format_count(s.workload.sequence_length)});
  if (s.workload.has_lengths()) return t.format("figure.context.requests", {format_count(s.workload.batch)});
  return t.format("figure.context.serving", {format_count(s.workload.batch), format_count(s.workload.prompt_tokens),
                                             format_count(s.workload.output_tokens)});
}

}  // namespace

std::string mode_text(const TextTable& t, engine::Mode mode) {
  constexpr std::array<std::string_view, 3> kModes{"ideal", "calibrated", "custom"};
  return t.format("figure.context.mode",
                  {std::string(t.text("figure.mode." + std::string(kModes[static_cast<std::size_t>(mode)])))});
}

namespace {

std::string context_with(const FigureInput& input, const std::string& rates) {
  const engine::Scenario& s = input.scenario;
  const TextTable& t = input.texts;
  const double chips = input.report.quantities.value_or(Q::chips_used, 1);
  std::string out = t.format("figure.context", {engine::model_title(s.model), format_count(chips),
                                                engine::chip_title(s.cluster.chip), mesh_text(t, s)});
  const auto add = [&out](const std::string& part) { join(out, "; ", part); };
  if (!s.serves()) add(schedule_text(input));
  add(workload_text(input));
  if (!s.serves()) {
    add(checkpoints_text(t, s));
    add(kernels_text(t, s));
  }
  add(formats_text(t, s));
  add(rates);
  return out;
}

}  // namespace

float foot_height(const Canvas& canvas, std::size_t lines, float line) {
  return line * static_cast<float>(lines) + canvas.px(4);
}

void draw_foot_lines(Canvas& canvas, Rect& rest, const std::vector<std::string>& lines, float line,
                     const TextStyle& style) {
  Rect foot = rest.cut_bottom(foot_height(canvas, lines.size(), line));
  foot.cut_top(canvas.px(4));
  for (const std::string& words : lines) canvas.text({foot.x, foot.cut_top(line).centre().y}, words, style);
}

std::string context_line(const FigureInput& input) {
  return context_with(input, mode_text(input.texts, input.scenario.assumptions.mode));
}

std::string model_context(const FigureInput& input) { return engine::model_title(input.scenario.model); }

std::string chips_context(const FigureInput& input, std::size_t count) {
  if (count == 0) return engine::chip_title(input.scenario.cluster.chip);
  return input.texts.format("figure.context.chips", {format_count(static_cast<double>(count))});
}

std::string published_context(const FigureInput& input) {
  return context_with(input, std::string(input.texts.text("figure.context.published")));
}

std::string compared_context(const FigureInput& input, std::size_t most) {
  std::string out = context_line(input);
  if (input.baseline == nullptr) return out;
  const TextTable& t = input.texts;
  const engine::Scenario &now = input.scenario, &then = input.baseline->scenario;
  std::vector<std::string> changes;
  const bool other_model = now.model.name != then.model.name,
             other_chip = now.cluster.chip.name != then.cluster.chip.name;
  if (other_model) changes.push_back(engine::model_title(then.model));
  if (other_chip) changes.push_back(engine::chip_title(then.cluster.chip));
  for (const engine::Field& field : engine::scenario_fields()) {
    if ((other_model && field.path.starts_with("model.")) ||
        (other_chip && field.path.starts_with("cluster.chip.")) || field.get(now) == field.get(then))
      continue;
    const std::string label = "field." + std::string(field.path) + ".label";
    changes.push_back(
        t.format("figure.context.change",
                 {t.has(label) ? std::string(t.text(label)) : std::string(field.path), value_text(t, field, then)}));
  }
  std::string list;
  for (std::size_t i = 0; i < changes.size() && i < most; ++i)
    join(list, t.text("figure.list_separator"), changes[i]);
  if (changes.size() > most)
    join(list, t.text("figure.list_separator"),
         t.format("figure.context.more", {format_count(static_cast<double>(changes.size() - most))}));
  join(out, "; ",
       list.empty() ? std::string(t.text("figure.context.same")) : t.format("figure.context.baseline", {list}));
  return out;
}

Rect draw_printed_head(Canvas& canvas, const Rect& area, const Theme& theme, const FigureHead& head,
                       const HeadParts& parts) {
  Rect rest = area.inset(canvas.px(parts.any() ? kPrintMargin : kBareMargin));
  if (!parts.any()) return rest;
  const auto words = canvas.group(kHeadGroup);
  const float height = rest.h;
  if (parts.title || parts.takeaway) {
    TextStyle phrase;
    phrase.em = canvas.em();
    const bool brief = !head.brief.empty() && canvas.text_width(head.takeaway, phrase) > rest.w;
    // What is too long for its line takes two.
    if (parts.title)
      for (const std::string& line :
           wrap(canvas, head.title, stacked_title_style(canvas, theme, head.title), rest.w, kHeadLines))
        rest = draw_head(canvas, theme, rest, {line, {}, true});
    if (parts.takeaway)
      for (const std::string& line : wrap(canvas, brief ? head.brief : head.takeaway, phrase, rest.w, kHeadLines))
        rest = draw_head(canvas, theme, rest, {{}, line, true});
  }
  if (parts.context) {
    TextStyle style;
    style.em = kCaptionText * canvas.em();
    style.colour = theme.ink3;
    style.valign = VAlign::top;
    const float line = FontStack::kLineHeight * style.em;
    const int lines = std::max(kContextLines, static_cast<int>(kContextShare * height / line));
    for (const std::string& text : wrap(canvas, head.context, style, rest.w, lines)) {
      const Rect strip = rest.cut_top(line);
      canvas.text({strip.x, strip.y}, text, style);
    }
  }
  rest.cut_top(canvas.px(kBelowHead));
  return rest;
}

Rect draw_figure_head(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view,
                      const FigureHead& unmarked) {
  if (!view.print) return area;
  FigureHead head = unmarked;
  mark_doubts(head, input);
  if (head.context.empty()) head.context = context_line(input);
  return draw_printed_head(canvas, area, input.theme, head, view.head);
}

}  // namespace roofscape::widgets
