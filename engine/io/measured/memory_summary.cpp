#include "engine/io/measured/memory_summary.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "engine/base/text_pieces.h"
#include "engine/io/json/json_text.h"

namespace roofscape::io {

using engine::HeldMemory;
using engine::MeasuredRun;
using engine::say;

namespace {

constexpr double kMostHeldBytes = 1e18;

struct MemoryNumber {
  std::string_view row, key;  // of the summary, of the statistics
  std::optional<double> MeasuredRun::*number;
};
constexpr std::array kMemoryNumbers{
    MemoryNumber{"Allocated memory", "allocated_bytes.all.peak", &MeasuredRun::allocated_bytes},
    MemoryNumber{"GPU reserved memory", "reserved_bytes.all.peak", &MeasuredRun::reserved_bytes}};

// Columns of the profiler's timeline after the first, which is empty: torch/profiler/_memory_profiler.py.
constexpr std::array kTimelineColumns{HeldMemory::weights,     HeldMemory::optimizer,   HeldMemory::activations,
                                      HeldMemory::other,       HeldMemory::activations, HeldMemory::gradients,
                                      HeldMemory::activations, HeldMemory::other};

InputError no_memory_number(std::string_view file, std::string_view path) {
  return {std::string(file), std::string(path), say("error.measured.memory"), say("error.measured.memory.remedy")};
}

// "61234 MiB" in bytes.
std::optional<double> bytes_of_cell(std::string_view cell) {
  cell = engine::trimmed(cell);
  double value = 0;
  const auto [end, problem] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (problem != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  const std::string_view unit = engine::trimmed(cell.substr(static_cast<std::size_t>(end - cell.data())));
  double factor = 1;
  for (const std::string_view known : {"B", "KiB", "MiB", "GiB", "TiB", "PiB"}) {
    if (unit == known) return value * factor <= kMostHeldBytes ? std::optional(value * factor) : std::nullopt;
    factor *= 1024;
  }
  return std::nullopt;
}

// The cells between bars of a line: "|  a  |  b  |".
std::string_view cell_of(std::string_view line, std::size_t n) {
  for (std::size_t i = 0; i <= n; ++i) {
    const std::size_t bar = line.find('|');
    if (bar == std::string_view::npos) return {};
    line.remove_prefix(bar + 1);
  }
  const std::size_t end = line.find('|');
  return end == std::string_view::npos ? std::string_view() : engine::trimmed(line.substr(0, end));
}

}  // namespace

bool is_memory_summary(std::string_view text) {
  return text.substr(0, 2000).find("PyTorch CUDA memory summary") != std::string_view::npos;
}

bool is_memory_stats(std::string_view text) {
  return text.starts_with('{') && text.find("\"allocated_bytes.all.") != std::string_view::npos;
}

bool is_memory_timeline(std::string_view text) {
  if (!text.starts_with('[')) return false;
  text = engine::trimmed(text.substr(1));
  if (!text.starts_with('[')) return false;
  text = engine::trimmed(text.substr(1));
  return !text.empty() && (text.front() == '-' || (text.front() >= '0' && text.front() <= '9'));
}

Result<MeasuredRun> read_memory_summary(std::string_view text, std::string_view file) {
  MeasuredRun out;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    for (const MemoryNumber& row : kMemoryNumbers) {
      if (cell_of(line, 0) != row.row) continue;
      const auto peak = bytes_of_cell(cell_of(line, 2));
      if (!peak) {
        InputError error = no_memory_number(file, row.row);
        error.place = say("error.csv.line", number);
        return error;
      }
      if (*peak > 0) out.*row.number = *peak;
    }
  }
  if (!out.allocated_bytes && !out.reserved_bytes) return no_memory_number(file, {});
  return out;
}

Result<MeasuredRun> read_memory_stats(std::string_view text, std::string_view file) {
  const auto parsed = parse_json(text, file);
  if (!parsed) return parsed.error();
  if (!parsed->is_object()) return no_memory_number(file, {});
  MeasuredRun out;
  for (const MemoryNumber& row : kMemoryNumbers) {
    const auto member = parsed->find(row.key);
    if (member == parsed->end()) continue;
    if (!member->is_number()) return no_memory_number(file, row.key);
    const double bytes = member->get<double>();
    if (!(bytes >= 0) || bytes > kMostHeldBytes) return no_memory_number(file, row.key);
    if (bytes > 0) out.*row.number = bytes;
  }
  if (!out.allocated_bytes && !out.reserved_bytes) return no_memory_number(file, kMemoryNumbers.front().key);
  return out;
}

Result<MeasuredRun> read_memory_timeline(std::string_view text, std::string_view file) {
  const auto parsed = parse_json(text, file);
  if (!parsed) return parsed.error();
  const Json& all = parsed.value();
  if (!all.is_array() || all.size() != 2 || !all[1].is_array()) return no_memory_number(file, {});
  MeasuredRun out;
  double most = 0;
  for (std::size_t i = 0; i < all[1].size(); ++i) {
    const Json& row = all[1][i];
    const std::string path = "1." + std::to_string(i);
    if (!row.is_array() || row.size() != kTimelineColumns.size() + 1) return no_memory_number(file, path);
    std::array<double, engine::kEnumCount<HeldMemory>> held{};
    double sum = 0;
    for (std::size_t k = 0; k < kTimelineColumns.size(); ++k) {
      if (!row[k + 1].is_number()) return no_memory_number(file, path);
      // What was freed of what the profiler had not seen before counts below nothing.
      const double bytes = std::max(0.0, row[k + 1].get<double>());
      if (!(bytes <= kMostHeldBytes)) return no_memory_number(file, path);
      held[static_cast<std::size_t>(kTimelineColumns[k])] += bytes;
      sum += bytes;
    }
    if (sum <= most) continue;
    most = sum;
    out.held_bytes = held;
    out.allocated_bytes = sum;
  }
  if (!out.allocated_bytes) return no_memory_number(file, {});
  return out;
}

}  // namespace roofscape::io
