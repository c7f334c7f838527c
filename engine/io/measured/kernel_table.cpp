#include "engine/io/measured/kernel_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/read_number.h"
#include "engine/base/text_pieces.h"
#include "engine/base/unit.h"
#include "engine/io/import/measured_file.h"
#include "engine/io/json/json_text.h"
#include "engine/io/json/nearest.h"
#include "engine/io/measured/kernel_names.h"

namespace roofscape::io {

using engine::MeasuredKernels;
using engine::MeasuredRun;
using engine::say;

namespace {

// The cells of one line; a name in quotation marks may hold commas.
std::vector<std::string> cells_of(std::string_view line, char separator) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
      out.back() += line[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (c == separator && !quoted)
      out.emplace_back();
    else
      out.back() += c;
  }
  for (std::string& cell : out) cell = std::string(engine::trimmed(cell));
  return out;
}

// Work and collectives by the names of kernels; no timeline, so what ran under what is not known.
class KernelSums {
 public:
  explicit KernelSums(int steps) : steps_(std::max(1, steps)) { sums_.steps = steps_; }
  void add(const std::string& name, double seconds, double count) {
    const double n = steps_;
    if (const auto collective = collective_of(name)) {
      engine::CollectiveTime& time = sums_.collectives[static_cast<std::size_t>(*collective)];
      time.seconds += seconds / n;
      time.count += count / n;
      return;
    }
    const engine::WorkKind kind = work_of(name);
    engine::WorkTime& time = sums_.work[static_cast<std::size_t>(kind)];
    time.seconds += seconds / n;
    time.own_s += seconds / n;
    time.count += count / n;
    if (kind == engine::WorkKind::unknown) sums_.unknown.emplace_back(name, seconds / n);
  }
  MeasuredRun take() {
    sums_.keep_longest_unknown();
    MeasuredRun out;
    out.kernels = std::move(sums_);
    return out;
  }

 private:
  int steps_;
  MeasuredKernels sums_;
};

struct RowNumber {
  std::string_view name;
  std::optional<double> MeasuredRun::*number;
  const engine::Unit* unit;
  double factor;
};
constexpr std::array kRowNumbers{
    RowNumber{"step", &MeasuredRun::step_s, &engine::unit::seconds, 1},
    RowNumber{"step_s", &MeasuredRun::step_s, &engine::unit::seconds, 1},
    RowNumber{"mfu", &MeasuredRun::mfu, &engine::unit::fraction, 1},
    RowNumber{"tflops", &MeasuredRun::flops_per_chip_per_s, &engine::unit::one, 1e12},
    RowNumber{"tokens_per_s_per_chip", &MeasuredRun::tokens_per_chip_per_s, &engine::unit::one, 1},
    RowNumber{"memory", &MeasuredRun::allocated_bytes, &engine::unit::bytes, 1},
    RowNumber{"allocated", &MeasuredRun::allocated_bytes, &engine::unit::bytes, 1},
    RowNumber{"reserved", &MeasuredRun::reserved_bytes, &engine::unit::bytes, 1},
};

using NamedValue = std::pair<std::string, std::string>;

const RowNumber* row_number(std::string_view name) {
  const auto found =
      std::find_if(kRowNumbers.begin(), kRowNumbers.end(), [&](const RowNumber& row) { return row.name == name; });
  return found == kRowNumbers.end() ? nullptr : &*found;
}

// What a text says by name, whichever of the three forms it has; empty: none of them.
std::vector<NamedValue> named_values(std::string_view text) {
  text = engine::trimmed(text);
  std::vector<NamedValue> out;
  if (text.starts_with('{')) {
    const auto parsed = parse_json(text, {});
    if (!parsed || !parsed->is_object()) return {};
    for (const auto& [key, value] : parsed.value().items())
      out.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
    return out;
  }
  const std::size_t newline = text.find('\n');
  if (newline != std::string_view::npos) {
    const std::string_view head = text.substr(0, newline), row = engine::trimmed(text.substr(newline));
    const char separator = head.find('\t') != std::string_view::npos  ? '\t'
                           : head.find(';') != std::string_view::npos ? ';'
                                                                      : ',';
    const std::vector<std::string> names = cells_of(head, separator), values = cells_of(row, separator);
    if (row.find('\n') != std::string_view::npos || names.size() != values.size()) return {};
    for (std::size_t i = 0; i < names.size(); ++i) out.emplace_back(names[i], values[i]);
    return out;
  }
  for (const std::string& one : cells_of(text, ',')) {
    const std::size_t equals = one.find('=');
    if (equals == std::string::npos) return {};
    out.emplace_back(engine::trimmed(std::string_view(one).substr(0, equals)),
                     engine::trimmed(std::string_view(one).substr(equals + 1)));
  }
  return out;
}

}  // namespace

bool is_nsys_table(std::string_view text) {
  const std::string_view head = text.substr(0, text.find('\n'));
  return head.find("Total Time (ns)") != std::string_view::npos;
}

Result<MeasuredRun> read_nsys_table(std::string_view text, std::string_view file, int steps) {
  KernelSums sums(steps);
  std::optional<std::size_t> time, count, name;
  int line_number = 0;
  bool any = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = engine::trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line_number;
    if (line.empty()) continue;
    const std::vector<std::string> cells = cells_of(line, ',');
    if (!time) {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (cells[i] == "Total Time (ns)") time = i;
        if (cells[i] == "Instances" || cells[i] == "Count") count = i;
        if (cells[i] == "Name" || cells[i] == "Operation") name = i;
      }
      if (!name)
        return InputError{std::string(file),
                          {},
                          say("error.csv.no_column", std::string_view("Name")),
                          say("error.measured.nsys.remedy"),
                          say("error.csv.line", line_number)};
      continue;
    }
    const auto fail = [&](engine::Sentence message) {
      return InputError{std::string(file),
                        {},
                        std::move(message),
                        say("error.measured.nsys.remedy"),
                        say("error.csv.line", line_number)};
    };
    if (cells.size() <= std::max(*time, *name)) return fail(say("error.csv.columns", cells.size(), *name + 1));
    const auto number = [&](std::size_t column) -> std::optional<double> {
      double value = 0;
      const std::string& cell = cells[column];
      const auto [last, problem] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (problem != std::errc() || last != cell.data() + cell.size() || !(value >= 0) || value > 1e30)
        return std::nullopt;
      return value;
    };
    const auto nanoseconds = number(*time);
    if (!nanoseconds) return fail(say("error.not_a_number", in_quotes(cells[*time])));
    // Operations of memory have no word for it in their names.
    constexpr std::string_view kCopy = "[CUDA memcpy";  // "[CUDA memcpy Host-to-Device]"
    const std::string& called = cells[*name];
    sums.add(called.starts_with(kCopy) ? "Memcpy" + called.substr(kCopy.size()) : called, *nanoseconds * 1e-9,
             count && *count < cells.size() ? number(*count).value_or(1) : 1);
    any = true;
  }
  if (!any) return InputError{std::string(file), {}, say("error.csv.no_rows"), say("error.measured.nsys.remedy")};
  return sums.take();
}

Result<MeasuredRun> read_operation_times(std::string_view text, std::string_view file, int steps) {
  auto operations = read_measured(text, file);
  if (!operations) return operations.error();
  KernelSums sums(steps);
  for (const engine::MeasuredOperation& operation : operations.value())
    sums.add(operation.name, operation.seconds, 1);
  MeasuredRun out = sums.take();
  out.operations = std::move(operations).value();
  return out;
}

bool is_measured_row(std::string_view text) {
  const std::vector<NamedValue> values = named_values(text);
  return std::any_of(values.begin(), values.end(),
                     [](const NamedValue& value) { return row_number(value.first) != nullptr; });
}

Result<MeasuredRun> read_measured_row(std::string_view text, std::string_view file) {
  MeasuredRun out;
  for (const auto& [name, written] : named_values(text)) {
    const RowNumber* row = row_number(name);
    if (row == nullptr) {
      std::array<std::string_view, kRowNumbers.size()> names;
      std::transform(kRowNumbers.begin(), kRowNumbers.end(), names.begin(),
                     [](const RowNumber& r) { return r.name; });
      const std::string_view near = nearest_word(name, names);
      return InputError{std::string(file),
                        {},
                        say("error.measured.no_number", in_quotes(name)),
                        near.empty() ? say("error.measured.row.remedy") : did_you_mean(near)};
    }
    const engine::NumberReading number = engine::read_number(written, *row->unit);
    if (!number) return InputError{std::string(file), name, number.problem, number.remedy};
    if (!(*number > 0) || *number * row->factor > 1e30)
      return InputError{std::string(file), name, say("error.out_of_range", in_quotes(written)),
                        say("error.csv.positive")};
    out.*row->number = *number * row->factor;
  }
  return out;
}

}  // namespace roofscape::io
