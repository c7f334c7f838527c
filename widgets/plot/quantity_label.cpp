#include "widgets/plot/quantity_label.h"

#include <algorithm>

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

std::string source_text(const TextTable& texts, std::string_view source) {
  constexpr std::string_view kSeparator = "; ";
  std::string out;
  for (std::string_view rest = source; !rest.empty();) {
    const std::size_t end = std::min(rest.find(kSeparator), rest.size());
    const std::string_view part = rest.substr(0, end);
    const std::string key = "source." + std::string(part);
    out += (out.empty() ? "" : kSeparator);
    out += texts.has(key) ? texts.text(key) : part;
    rest.remove_prefix(std::min(end + kSeparator.size(), rest.size()));
  }
  return out;
}

std::string parameters_text(const TextTable& texts, double parameters, bool trim_zeros) {
  const auto number = [&](double unit) { return format_significant(parameters / unit, 3, trim_zeros); };
  if (parameters >= 999.5e6) return texts.format("unit.parameters.billions", {number(1e9)});
  if (parameters >= 999.5e3) return texts.format("unit.parameters.millions", {number(1e6)});
  return format_count(parameters);
}

}  // namespace roofscape::widgets
