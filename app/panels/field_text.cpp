#include "app/panels/field_text.h"

#include "widgets/canvas/number_format.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app {

using namespace widgets;

std::string field_label(const TextTable& texts, std::string_view path) {
  const std::string shorter = "rail." + std::string(path);
  if (texts.has(shorter)) return std::string(texts.text(shorter));
  // Sizes of a model have the texts of their quantities.
  const std::string label = "field." + std::string(path) + ".label";
  return texts.has(label) ? std::string(texts.text(label)) : quantity_label(texts, path);
}
std::string field_label(const PanelContext& ctx, std::string_view path) { return field_label(ctx.ui.texts, path); }

std::string field_value(const PanelContext& ctx, const engine::Field& field, double value) {
  return field_value(ctx.ui.texts, field, value);
}
std::string field_value(const TextTable& texts, const engine::Field& field, double value) {
  if (field.kind == engine::FieldKind::choice) {
    const auto i = static_cast<std::size_t>(value);
    if (i >= field.choices.size()) return {};
    return std::string(texts.text("choice." + std::string(field.path) + "." + std::string(field.choices[i])));
  }
  if (field.kind == engine::FieldKind::boolean) return std::string(texts.text(value != 0 ? "ui.on" : "ui.off"));
  return format(value, field.unit, {.unit = field.unit.notation != engine::Notation::count, .trim_zeros = true});
}

std::string unit_in_box(const PanelContext& ctx, const engine::Unit& unit, double value) {
  if (unit.symbol == "1") return {};
  const std::string shorter = "ui.unit." + std::string(unit.symbol);
  const std::string counted = ctx.ui.texts.plural_key(shorter, value);
  if (ctx.ui.texts.has(counted)) return std::string(ctx.text(counted));
  return ctx.ui.texts.has(shorter) ? std::string(ctx.text(shorter)) : ctx.ui.texts.noun(unit, value);
}

std::string unit_words(const PanelContext& ctx, const engine::Unit& unit) {
  if (unit.notation == engine::Notation::percent) return "%";
  return unit.symbol == "1" ? std::string(ctx.text("ui.unit.ratio")) : std::string(unit.symbol);
}

void tell_refused(PanelContext& ctx, const Edited& edited, std::string_view label, const engine::Sentence& domain) {
  if (!edited.refused) return;
  if (!edited.problem.empty())
    ctx.requests.message = {true,
                            ctx.format("ui.number.refused", {std::string(label), ctx.ui.texts.write(edited.problem)}),
                            ctx.ui.texts.write(edited.remedy)};
  else
    ctx.requests.message = {
        true, ctx.format("ui.number.clamped", {std::string(label), *edited.refused, ctx.ui.texts.write(domain)}), {}};
}

}  // namespace roofscape::app
