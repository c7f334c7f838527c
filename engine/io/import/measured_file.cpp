#include "engine/io/import/measured_file.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/base/text_pieces.h"
#include "engine/io/json/json_text.h"
#include "engine/io/json/nearest.h"

namespace roofscape::io {

using engine::say;
using engine::Sentence;

namespace {

using engine::MeasuredOperation;
using Row = std::array<std::string, 4>;

constexpr std::array<std::string_view, 4> kColumns{"name", "flops", "bytes", "seconds"};
constexpr double kLargest = 1e30;

std::optional<std::size_t> column_of(std::string_view name) {
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    bool same = kColumns[i].size() == name.size();
    for (std::size_t k = 0; same && k < name.size(); ++k) {
      const char c = name[k];
      same = kColumns[i][k] == (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    }
    if (same) return i;
  }
  return std::nullopt;
}

InputError unknown_column(std::string_view file, Sentence place, std::string_view name) {
  const std::string_view near = nearest_word(name, kColumns);
  return {std::string(file),
          {},
          say("error.csv.unknown_column", in_quotes(name)),
          near.empty() ? say("error.csv.columns.remedy") : did_you_mean(near),
          std::move(place)};
}

Sentence row_place(std::size_t row) { return say("error.csv.row", row); }
Sentence cell_place(std::size_t row, std::size_t column) { return say("error.csv.cell", row, kColumns[column]); }

// Into `out`, which has its name. Zero bytes or seconds have no place on a roofline.
std::optional<InputError> put_number(double value, std::size_t column, MeasuredOperation& out, std::string_view file,
                                     std::size_t row, const std::string& as_written) {
  if (!(value > 0) || value > kLargest)
    return InputError{std::string(file),
                      {},
                      say("error.out_of_range", as_written),
                      say("error.csv.positive"),
                      cell_place(row, column)};
  (column == 1 ? out.flops : column == 2 ? out.bytes : out.seconds) = value;
  return std::nullopt;
}

// Cells of the line that begins at `at`, which moves past it. A cell in quotation marks may hold anything, a doubled
// mark is one. False: a mark is not closed.
bool next_line(std::string_view text, std::size_t& at, char separator, std::vector<std::string>& cells) {
  cells.assign(1, {});
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c != '"')
        cells.back() += c;
      else if (at + 1 < text.size() && text[at + 1] == '"')
        cells.back() += text[at++];
      else
        quoted = false;
    } else if (c == '"' && engine::trimmed(cells.back()).empty()) {
      cells.back().clear();
      quoted = true;
    } else if (c == separator) {
      cells.emplace_back();
    } else if (c == '\n') {
      ++at;
      return true;
    } else {
      cells.back() += c;
    }
  }
  return !quoted;
}

Result<std::vector<MeasuredOperation>> read_csv(std::string_view text, std::string_view file) {
  const auto fail = [&](Sentence place, Sentence message, Sentence remedy = {}) {
    return InputError{std::string(file), {}, std::move(message), std::move(remedy), std::move(place)};
  };
  const std::string_view first = text.substr(0, text.find('\n'));
  char separator = ',';
  for (const char c : {'\t', ';'})
    if (first.find(c) != std::string_view::npos && first.find(',') == std::string_view::npos) separator = c;
  const Sentence first_line = say("error.csv.line", 1);
  std::vector<std::string> cells;
  std::size_t at = 0;
  if (!next_line(text, at, separator, cells)) return fail(first_line, say("error.csv.open_quote"));
  std::vector<std::size_t> order;
  std::array<bool, kColumns.size()> seen{};
  for (const std::string& cell : cells) {
    const auto column = column_of(engine::trimmed(cell));
    if (!column) return unknown_column(file, first_line, engine::trimmed(cell));
    if (seen[*column])
      return fail(first_line, say("error.csv.twice", kColumns[*column]), say("error.csv.columns.remedy"));
    seen[*column] = true;
    order.push_back(*column);
  }
  for (std::size_t i = 0; i < kColumns.size(); ++i)
    if (!seen[i]) return fail(first_line, say("error.csv.no_column", kColumns[i]), say("error.csv.columns.remedy"));

  std::vector<MeasuredOperation> out;
  while (at < text.size()) {
    const std::size_t row = out.size() + 1;
    if (!next_line(text, at, separator, cells)) return fail(row_place(row), say("error.csv.open_quote"));
    if (cells.size() == 1 && engine::trimmed(cells.front()).empty()) continue;
    if (cells.size() != order.size())
      return fail(row_place(row), say("error.csv.columns", cells.size(), order.size()),
                  say("error.csv.comma.remedy"));
    MeasuredOperation& point = out.emplace_back();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string_view cell = engine::trimmed(cells[i]);
      if (order[i] == 0) {
        point.name = cell;
        continue;
      }
      double value = 0;
      const auto [end, problem] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (problem != std::errc() || end != cell.data() + cell.size())
        return fail(cell_place(row, order[i]), say("error.not_a_number", in_quotes(cell)),
                    say("error.csv.number.remedy"));
      if (auto error = put_number(value, order[i], point, file, row, std::string(cell))) return *std::move(error);
    }
  }
  return out;
}

Result<std::vector<MeasuredOperation>> read_json(std::string_view text, std::string_view file) {
  auto parsed = parse_json(text, file);
  if (!parsed) return parsed.error();
  const Json& json = parsed.value();
  if (!json.is_array()) return InputError{std::string(file), {}, is_kind(json), say("error.csv.json.remedy")};
  const auto fail = [&](Sentence place, Sentence message, Sentence remedy) {
    return InputError{std::string(file), {}, std::move(message), std::move(remedy), std::move(place)};
  };
  std::vector<MeasuredOperation> out;
  for (const Json& item : json) {
    const std::size_t row = out.size() + 1;
    if (!item.is_object()) return fail(row_place(row), is_kind(item), say("error.csv.columns.remedy"));
    for (const auto& [key, value] : item.items())
      if (!column_of(key)) return unknown_column(file, row_place(row), key);
    MeasuredOperation& point = out.emplace_back();
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      const auto found = item.find(kColumns[i]);
      if (found == item.end())
        return fail(row_place(row), say("error.csv.none", kColumns[i]), say("error.csv.columns.remedy"));
      if (i == 0) {
        if (!found->is_string()) return fail(cell_place(row, i), say("error.not_text", shown(*found)), {});
        point.name = found->get<std::string>();
        continue;
      }
      if (!found->is_number())
        return fail(cell_place(row, i), say("error.not_a_number", shown(*found)), say("error.csv.number.remedy"));
      if (auto error = put_number(found->get<double>(), i, point, file, row, found->dump())) return *std::move(error);
    }
  }
  return out;
}

}  // namespace

Result<std::vector<MeasuredOperation>> read_measured(std::string_view text, std::string_view file) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // spreadsheets write a byte order mark
  if (!is_utf8(text))
    return InputError{std::string(file), {}, say("error.file.not_utf8"), say("error.file.utf8.remedy")};
  const std::string_view start = engine::trimmed(text);
  auto read = start.starts_with('[') || start.starts_with('{') ? read_json(text, file) : read_csv(text, file);
  if (read && read.value().empty())
    return InputError{std::string(file), {}, say("error.csv.no_rows"), say("error.csv.columns.remedy")};
  return read;
}

}  // namespace roofscape::io
