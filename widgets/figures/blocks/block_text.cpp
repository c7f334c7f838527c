#include "widgets/figures/blocks/block_text.h"

#include "widgets/plot/quantity_label.h"

namespace roofscape::widgets {

using engine::OutputKind;

std::string input_label(const TextTable& texts, const engine::BlockInput& in) {
  if (in.is_numeric()) return quantity_label(texts, in.q);
  return std::string(texts.text("calc.input." + std::string(in.name) + ".label"));
}

bool is_quantity(const engine::BlockOutput& out) {
  return out.kind == OutputKind::number || out.kind == OutputKind::list || out.kind == OutputKind::flags;
}

std::string output_label(const TextTable& texts, const engine::BlockOutput& out) {
  if (is_quantity(out)) return quantity_label(texts, out.q);
  return std::string(texts.text("calc.output." + std::string(out.name) + ".label"));
}

std::string block_name(const TextTable& texts, const engine::BuildingBlock& block) {
  return std::string(texts.text("calc." + std::string(block.id) + ".name"));
}

std::string block_word(const TextTable& texts, std::string_view word) {
  // Schedules have their names as fields of a scenario do.
  for (const std::string_view family : {"calc.word.", "choice.pipeline.schedule."})
    if (const std::string key = std::string(family) + std::string(word); texts.has(key))
      return std::string(texts.text(key));
  return std::string(word);
}

}  // namespace roofscape::widgets
