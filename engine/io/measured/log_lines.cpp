#include "engine/io/measured/log_lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace roofscape::io {

using engine::MeasuredRun;
using engine::say;

namespace {

constexpr double kMebibyte = 1024.0 * 1024;

// What follows `mark` in a line: "1,234.5", "7.01K", "41.05%", "47.52GiB"; numbers with their prefix, as they are written
// by these programs. None: the mark is not there, or no number follows.
std::optional<double> number_after(std::string_view line, std::string_view mark) {
  const std::size_t found = line.find(mark);
  if (found == std::string_view::npos) return std::nullopt;
  line.remove_prefix(found + mark.size());
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  std::string digits;
  std::size_t n = 0;
  for (; n < line.size(); ++n) {
    const char c = line[n];
    const bool exponent = (c == 'e' || c == 'E') && !digits.empty();
    const bool sign = (c == '-' || c == '+') && (digits.empty() || digits.back() == 'e' || digits.back() == 'E');
    if ((c >= '0' && c <= '9') || c == '.' || exponent || sign)
      digits += c;
    else if (c != ',')
      break;
  }
  double value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value)) return std::nullopt;
  const std::string_view rest = line.substr(n);
  if (rest.starts_with('%')) return value / 100;
  constexpr std::pair<std::string_view, double> kPrefixes[] = {{"GiB", kMebibyte * 1024},
                                                               {"MiB", kMebibyte},
                                                               {"KiB", 1024},
                                                               {"TiB", kMebibyte * kMebibyte},
                                                               {"K", 1e3},
                                                               {"M", 1e6},
                                                               {"B", 1e9},
                                                               {"T", 1e12}};
  for (const auto& [letters, factor] : kPrefixes)
    if (rest.starts_with(letters)) return value * factor;
  return value;
}

// One number of a log: where it stands, and what it is times to be in SI units.
struct LogMark {
  std::string_view mark;
  std::optional<double> MeasuredRun::*number;
  double factor;
};
struct LogFormat {
  std::string_view step, also;  // what a line of a step holds: a number after the one, and the other somewhere
  std::vector<LogMark> marks;
};
const std::vector<LogFormat>& log_formats() {
  static const std::vector<LogFormat> formats{
      {"elapsed time per iteration (ms):",
       {},
       {{"elapsed time per iteration (ms):", &MeasuredRun::step_s, 1e-3},
        {"throughput per GPU (TFLOP/s/GPU):", &MeasuredRun::flops_per_chip_per_s, 1e12}}},
      {"elapsed_time_per_iteration_ms:",
       {},
       {{"elapsed_time_per_iteration_ms:", &MeasuredRun::step_s, 1e-3},
        {"tokens_per_sec_per_gpu:", &MeasuredRun::tokens_per_chip_per_s, 1},
        {"model_tflops_per_gpu:", &MeasuredRun::flops_per_chip_per_s, 1e12}}},
      {"TFLOP/s/device:",
       "seconds:",
       {{"seconds:", &MeasuredRun::step_s, 1},
        {"TFLOP/s/device:", &MeasuredRun::flops_per_chip_per_s, 1e12},
        {"Tokens/s/device:", &MeasuredRun::tokens_per_chip_per_s, 1}}},
      {"tps:",
       "step:",
       {{"tps:", &MeasuredRun::tokens_per_chip_per_s, 1},
        {"tflops:", &MeasuredRun::flops_per_chip_per_s, 1e12},
        {"mfu:", &MeasuredRun::mfu, 1}}},
  };
  return formats;
}
// Megatron counts MiB and calls them MB; torchtitan prints what its allocator has reserved.
const std::vector<LogMark>& memory_marks() {
  static const std::vector<LogMark> marks{{"max allocated:", &MeasuredRun::allocated_bytes, kMebibyte},
                                          {"max reserved:", &MeasuredRun::reserved_bytes, kMebibyte},
                                          {"Peak allocated:", &MeasuredRun::allocated_bytes, 1},
                                          {"Peak allocated", &MeasuredRun::allocated_bytes, 1},
                                          {"Peak reserved:", &MeasuredRun::reserved_bytes, 1},
                                          {"memory:", &MeasuredRun::reserved_bytes, 1}};
  return marks;
}

// torchtitan colours its lines.
std::string plain(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      out += line[i];
      continue;
    }
    while (i < line.size() && line[i] != 'm') ++i;
  }
  return out;
}

const LogFormat* format_of_line(std::string_view line) {
  for (const LogFormat& format : log_formats())
    if (line.find(format.also) != std::string_view::npos && number_after(line, format.step)) return &format;
  return nullptr;
}

bool memory_line(std::string_view line) {
  return (line.find("max allocated:") != std::string_view::npos && line.find("memory") != std::string_view::npos) ||
         line.find("Peak allocated") != std::string_view::npos;
}

template <class Take>
void for_lines(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (!take(plain(text.substr(0, end)))) return;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

bool is_training_log(std::string_view text) {
  bool found = false;
  for_lines(text, [&](const std::string& line) {
    found = format_of_line(line) != nullptr || memory_line(line);
    return !found;
  });
  return found;
}

Result<MeasuredRun> read_training_log(std::string_view text, std::string_view file) {
  struct Seen {
    std::optional<double> MeasuredRun::*number;
    std::vector<double> values;
  };
  std::vector<Seen> seen;
  const auto add = [&](std::optional<double> MeasuredRun::*number, double value) {
    for (Seen& one : seen)
      if (one.number == number) return one.values.push_back(value);
    seen.push_back({number, {value}});
  };
  MeasuredRun out;
  int line_number = 0;
  Failure failure;
  for_lines(text, [&](const std::string& line) {
    ++line_number;
    const LogFormat* format = format_of_line(line);
    if (format == nullptr && !memory_line(line)) return true;
    const auto take = [&](const LogMark& mark) {
      const auto value = number_after(line, mark.mark);
      if (!value || failure) return;
      if (!(*value > 0) || *value * mark.factor > 1e30)
        failure = InputError{std::string(file), std::string(mark.mark),
                             say("error.out_of_range", in_quotes(std::to_string(*value))), say("error.csv.positive"),
                             say("error.csv.line", line_number)};
      else
        add(mark.number, *value * mark.factor);
    };
    if (format != nullptr) {
      for (const LogMark& mark : format->marks) take(mark);
      ++out.log_steps;
    }
    for (const LogMark& mark : memory_marks()) take(mark);
    return !failure;
  });
  if (failure) return *failure;
  for (Seen& one : seen) {
    const bool memory = one.number == &MeasuredRun::allocated_bytes || one.number == &MeasuredRun::reserved_bytes;
    out.*one.number = memory ? *std::max_element(one.values.begin(), one.values.end()) : median(one.values);
  }
  return out;
}

}  // namespace roofscape::io
