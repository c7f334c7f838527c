#include "app/panels/block_text.h"

#include "widgets/plot/quantity_label.h"

namespace roofscape::app {

using engine::OutputKind;

std::string input_label(const widgets::TextTable& texts, const engine::BlockInput& in) {
  if (in.is_numeric()) return widgets::quantity_label(texts, in.q);
  return std::string(texts.text("calc.input." + std::string(in.name) + ".label"));
}

bool is_quantity(const engine::BlockOutput& out) {
  return out.kind == OutputKind::number || out.kind == OutputKind::list || out.kind == OutputKind::flags;
}

std::string output_label(const widgets::TextTable& texts, const engine::BlockOutput& out) {
  if (is_quantity(out)) return widgets::quantity_label(texts, out.q);
  return std::string(texts.text("calc.output." + std::string(out.name) + ".label"));
}

std::string block_word(const widgets::TextTable& texts, std::string_view word) {
  const std::string key = "calc.word." + std::string(word);
  return std::string(texts.has(key) ? texts.text(key) : word);
}

}  // namespace roofscape::app
