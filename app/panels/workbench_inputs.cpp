#include "app/panels/workbench_inputs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "app/panels/field_text.h"
#include "app/panels/panel_parts.h"
#include "engine/base/read_number.h"
#include "widgets/figures/blocks/block_text.h"
#include "widgets/plot/plot.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app {

using namespace widgets;
using engine::BlockInput;
using engine::InputKind;

namespace {

constexpr float kInputLabel = 148, kWideInputLabel = 216, kWayBack = 22;
constexpr float kBesideTrack = kWayBack + 6 + 13;  // the way back, and the gap before the box
constexpr float kInputBox = 100;                   // has room for a count of parameters, in small letters
constexpr float kTrack = 60;                       // what the track keeps of a wide box
constexpr float kBesideLabel = 204;                // what track, box and the way back take at least

struct Inputs {
  PanelContext& ctx;
  Workbench& bench;
  const Workbench::Kept& kept;
  float x, y, width;

  std::string id(std::string_view name) const { return "bench.in." + std::string(name); }
  float label_width() const { return confined(width / ctx.px(1) - kBesideLabel, kInputLabel, kWideInputLabel); }
  float box_width() const {
    return confined(width / ctx.px(1) - label_width() - kTrack - kBesideTrack, kBoxWidth, kInputBox);
  }
  const std::string* given(std::string_view name) const {
    const auto found = kept.given.find(name);
    return found == kept.given.end() ? nullptr : &found->second;
  }
  // The words under an input: what is wrong with it, else what it may be and where its value is from.
  std::string words(std::string_view name, std::string rest, bool& wrong) const {
    wrong = kept.reply.error && kept.reply.error->path == name;
    if (!wrong) return rest;
    const io::InputError& e = *kept.reply.error;
    std::string message = ctx.ui.texts.write(e.message);
    return e.remedy.empty() ? message : ctx.format("ui.bench.wrong", {message, ctx.ui.texts.write(e.remedy)});
  }
  void way_back(std::string_view name) {
    if (given(name) == nullptr && !bench.bench(ctx.session).start.contains(name)) return;
    const auto& start = bench.bench(ctx.session).start;
    const auto was = start.find(name);
    const bool same = was != start.end() && given(name) != nullptr && was->second == *given(name);
    const float side = std::round(ctx.px(kWayBack));
    const Rect r{x + width - side, y + std::round((ctx.px(kRowHeight) - side) / 2), side, side};
    const std::string tip = same || was == start.end() ? std::string(ctx.text("ui.bench.leave_out"))
                                                       : ctx.format("ui.bench.back", {was->second});
    if (!icon_button(ctx.ui, r, "bench.reset." + std::string(name), same ? Icon::close : Icon::restore, {tip, {}}))
      return;
    if (same)
      bench.leave_out(ctx.session, name);
    else
      bench.reset_input(ctx.session, name);
  }
  void under(const std::string& text, bool wrong) {
    const Theme& t = ctx.ui.theme;
    const TextStyle s = ctx.style(wrong ? mark_colour(t, Mark::error) : t.ink3, kSmallText);
    y += draw_prose(ctx.ui.canvas, {x, y}, text, s, width) + ctx.px(6);
  }
  void label(std::string_view words, bool wrong) {
    const TextStyle s = ctx.style(ctx.ui.theme.ink);
    const float middle = y + ctx.px(kRowHeight) / 2;
    ctx.ui.canvas.text({x, middle}, ellipsize(ctx.ui.canvas, words, s, ctx.px(label_width() - (wrong ? 22 : 6))), s);
    if (wrong)
      draw_mark(ctx.ui.canvas, ctx.ui.theme, {x + ctx.px(label_width() - 15), middle}, ctx.px(12), Mark::error);
  }
  Rect box(float right) const {
    const float h = std::round(ctx.px(kControlHeight)), at = x + ctx.px(label_width());
    return {at, y + std::round((ctx.px(kRowHeight) - h) / 2), std::max(ctx.px(60), x + width - right - at), h};
  }

  void preset(std::string_view name, io::PresetKind kind) {
    const auto all = ctx.session.library().list(kind);
    std::vector<Option> options{{std::string(ctx.text("ui.bench.none")), {}}};
    int now = 0;
    for (const io::Preset& p : all) {
      if (given(name) != nullptr && *given(name) == p.id) now = static_cast<int>(options.size());
      options.push_back({p.name, {}});
    }
    label(ctx.text("ui.bench." + std::string(name)), false);
    const int next = drop_down(ctx.ui, box(ctx.px(kWayBack + 6)), id(name), options, now, {std::string(name), {}},
                               ctx.text("calc." + std::string(name)));
    way_back(name);
    if (next == 0 && now != 0)
      bench.leave_out(ctx.session, name);
    else if (next != now)
      bench.set(ctx.session, name, all[static_cast<std::size_t>(next - 1)].id);
    y += std::round(ctx.px(kRowHeight + 6));
  }

  // "found for arithmetic time = 1 ms"
  std::string found_text(const engine::SolvedInput& solved) const {
    const auto& outputs = bench.shown().outputs;
    const auto wanted = std::find_if(outputs.begin(), outputs.end(),
                                     [&](const engine::BlockOutput& o) { return o.name == solved.wanted.output; });
    return ctx.format("ui.bench.found", {output_label(ctx.ui.texts, *wanted), solved.wanted.text});
  }

  void input(const BlockInput& in) {
    const engine::BlockValue* value = kept.reply.question ? &kept.reply.question->call.value(in.name) : nullptr;
    const std::string* text = given(in.name);
    const std::string domain = ctx.ui.texts.write(engine::domain_of(in)), symbol = std::string(engine::unit_text(in)),
                      noun = ctx.ui.texts.plural_key("unit." + symbol, 0),
                      unit = ctx.ui.texts.has(noun) ? std::string(ctx.text(noun)) : symbol;
    const auto& solved = kept.reply.question ? kept.reply.question->solved : std::nullopt;
    const bool found = solved && solved->input == in.name;
    const std::string source = found                                   ? found_text(*solved)
                               : text != nullptr                       ? std::string(ctx.text("ui.bench.given"))
                               : value != nullptr && value->is_known() ? source_text(ctx.ui.texts, value->source)
                                                                       : std::string(ctx.text("ui.bench.unknown"));
    std::string rest = unit.empty() || unit == "1" ? ctx.format("ui.bench.domain", {domain, source})
                                                   : ctx.format("ui.bench.domain_unit", {unit, domain, source});
    bool wrong = false;
    rest = words(in.name, std::move(rest), wrong);
    Readout tip{input_label(ctx.ui.texts, in), {}};
    tip.rows.emplace_back(ctx.text("ui.bench.input"), std::string(in.name));
    tip.rows.emplace_back(ctx.text("ui.bench.default"), ctx.ui.texts.write(io::default_of(in)));
    const auto& key = io::about_key(in);
    const std::string about(ctx.text(key));
    const float right = ctx.px(kWayBack + 6);
    if (in.kind == InputKind::choice && value != nullptr && value->is_known()) {
      std::vector<Option> options;
      for (const std::string_view c : in.choices) options.push_back({block_word(ctx.ui.texts, c), {}});
      const int now = static_cast<int>(value->numbers.front());
      label(input_label(ctx.ui.texts, in), wrong);
      const int next = drop_down(ctx.ui, box(right), id(in.name), options, now, tip, about);
      if (next != now && next >= 0)
        bench.set(ctx.session, in.name, std::string(in.choices[static_cast<std::size_t>(next)]));
    } else if (in.kind == InputKind::flag && value != nullptr && value->is_known()) {
      const bool now = value->numbers.front() > 0.5;
      if (check_box(ctx.ui, {x, y + ctx.px(kRowHeight) / 2}, id(in.name), input_label(ctx.ui.texts, in), now, tip,
                    about) != now)
        bench.set(ctx.session, in.name, now ? "false" : "true");
    } else if (const auto number = number_of(in, text, value)) {
      ControlInfo info;
      const std::string control = id(in.name);
      info.id = control;
      info.label = input_label(ctx.ui.texts, in);
      info.label_width = label_width();
      info.box_width = box_width();
      info.off = text == nullptr && !found;
      info.tip = tip;
      info.about = about;
      if (wrong) info.mark = Mark::error;
      const auto middle = bench.bench(ctx.session).middle.find(in.name);
      SliderRange range = input_range(in, middle == bench.bench(ctx.session).middle.end() ? *number : middle->second);
      const Edited edited = slider(ctx.ui, {x, y}, width - right, info, range, *number);
      if (edited.value != *number) bench.set(ctx.session, in.name, input_text(edited.value));
      tell_refused(ctx, edited, input_label(ctx.ui.texts, in), engine::domain_of(in));
    } else {
      label(input_label(ctx.ui.texts, in), wrong);
      const std::string now = text != nullptr ? *text : value != nullptr ? input_text(in, *value) : std::string();
      const Rect r = box(right);
      if (const auto typed = typed_line(ctx, r, id(in.name), now, ctx.text("ui.bench.unknown"));
          typed && *typed != now) {
        std::string entered;  // "4, 8" is what the command line writes as "4,8"
        std::copy_if(typed->begin(), typed->end(), std::back_inserter(entered), [](char c) { return c != ' '; });
        if (in.is_numeric() && !in.is_list())
          if (const auto n = engine::read_number(entered, engine::quantity(in.q).unit)) entered = input_text(*n);
        bench.set(ctx.session, in.name, std::move(entered));
      }
      if (!ctx.ui.io.editing(id(in.name)) && r.contains(ctx.ui.io.pointer()))
        ctx.ui.io.hint(id(in.name), r, tip, about);
    }
    way_back(in.name);
    y += std::round(ctx.px(kRowHeight));
    under(rest, wrong);
  }

  // The number that stands in a slider; none for lists, and for what is unknown or no number.
  std::optional<double> number_of(const BlockInput& in, const std::string* text,
                                  const engine::BlockValue* value) const {
    if (in.is_list() || !in.is_numeric()) return std::nullopt;
    if (text != nullptr) {
      double number = 0;
      const auto read = std::from_chars(text->data(), text->data() + text->size(), number);
      if (read.ec != std::errc{} || read.ptr != text->data() + text->size() || !std::isfinite(number))
        return std::nullopt;
      return number;
    }
    if (value == nullptr || !value->is_known()) return std::nullopt;
    return value->numbers.front();
  }
};

}  // namespace

// What is typed may lie outside of the track; the block says what is wrong with it.
SliderRange input_range(const BlockInput& in, double middle) {
  SliderRange range;
  range.unit = engine::quantity(in.q).unit;
  range.minimum = std::numeric_limits<double>::lowest();
  range.maximum = std::numeric_limits<double>::max();
  range.whole = in.kind == InputKind::integer;
  const bool share = in.high <= 1;
  if (share || middle <= 0) {
    range.kind = SliderKind::linear;
    range.track_from = std::max(in.low, middle < 0 ? 4 * middle : 0.0);
    range.track_to = std::min(in.high, middle < 0 ? -4 * middle : share ? 1.0 : 10.0);
    if (!(range.track_to > range.track_from)) range.track_to = range.track_from + 1;
    return range;
  }
  const bool counted = range.whole || range.unit.notation == engine::Notation::count;
  range.kind = counted ? SliderKind::power_of_two : SliderKind::logarithmic;
  const double scale = counted ? 1024 : 1000, from = counted ? std::exp2(std::round(std::log2(middle))) : middle;
  range.track_from = std::max({from / scale, in.low, counted ? 1.0 : 0.0});
  range.track_to = std::max(range.track_from * 2, std::min(from * scale, in.high));
  return range;
}

float block_inputs(PanelContext& ctx, Point top_left, float width, Workbench& bench, const Workbench::Kept& kept) {
  Inputs in{ctx, bench, kept, top_left.x, top_left.y, width};
  const engine::BuildingBlock& block = bench.shown();
  in.y += section_head(ctx, top_left, width, ctx.text("ui.bench.inputs"));
  if (block.takes_chip()) in.preset("chip", io::PresetKind::chip);
  if (block.takes_model()) in.preset("model", io::PresetKind::model);
  for (const BlockInput& one : block.inputs) in.input(one);
  return in.y;
}

}  // namespace roofscape::app
