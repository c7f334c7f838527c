#include "widgets/plot/quantity_label.h"

namespace roofscape::widgets {

namespace {

std::string text_of(const TextTable& texts, std::string_view id, std::string_view which) {
  const std::string key = "quantity." + std::string(engine::without_index(id)) + std::string(which);
  return std::string(texts.text(key));
}

}  // namespace

std::string quantity_label(const TextTable& texts, engine::Q q) {
  return quantity_label(texts, engine::quantity(q).id);
}
std::string quantity_label(const TextTable& texts, std::string_view id) { return text_of(texts, id, ".label"); }

std::string quantity_about(const TextTable& texts, engine::Q q) {
  return quantity_about(texts, engine::quantity(q).id);
}
std::string quantity_about(const TextTable& texts, std::string_view id) { return text_of(texts, id, ".about"); }

}  // namespace roofscape::widgets
