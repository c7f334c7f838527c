#include "engine/io/export/figure_data.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/io/export/csv.h"
#include "engine/io/json/pretty.h"

namespace roofscape::io {
namespace {

std::vector<std::string_view> parts(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (std::size_t end = 0; end != std::string_view::npos; text.remove_prefix(end + 1)) {
    end = text.find(separator);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
  }
  return out;
}

std::vector<std::string_view> lines(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text.empty() ? std::vector<std::string_view>{} : parts(text, '\n');
}

OrderedJson value(std::string_view field) {
  if (field.empty()) return nullptr;
  double number = 0;
  const auto [end, problem] = std::from_chars(field.data(), field.data() + field.size(), number);
  if (problem == std::errc() && end == field.data() + field.size() && std::isfinite(number))
    return number_json(number);
  return std::string(field);
}

}  // namespace

std::string csv_of_table(std::string_view tab_separated) {
  std::string out;
  for (const std::string_view line : lines(tab_separated)) {
    const char* before = "";
    for (const std::string_view field : parts(line, '\t')) {
      out.append(before).append(csv_field(field));
      before = ",";
    }
    out += '\n';
  }
  return out;
}

std::string figure_data_json(const FigureTable& table) {
  OrderedJson json{{"format", "roofscape/figure-data"},
                   {"version", 1},
                   {"title", table.title},
                   {"takeaway", table.takeaway},
                   {"context", table.context}};
  const std::vector<std::string_view> all = lines(table.tab_separated);
  json["columns"] = OrderedJson::array();
  json["rows"] = OrderedJson::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    OrderedJson row = OrderedJson::array();
    for (const std::string_view field : parts(all[i], '\t'))
      row.push_back(i == 0 ? OrderedJson(std::string(field)) : value(field));
    if (i == 0)
      json["columns"] = std::move(row);
    else
      json["rows"].push_back(std::move(row));
  }
  if (!table.record.empty()) {
    const OrderedJson record = OrderedJson::parse(table.record, nullptr, false);
    for (const char* key : {"figure", "with", "scenario", "baseline"})
      if (record.is_object() && record.contains(key)) json[key] = record[key];
  }
  return pretty_text(json);
}

}  // namespace roofscape::io
