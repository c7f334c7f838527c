#include "engine/io/measured/measured_input.h"

#include <array>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

#include "engine/base/utf8.h"
#include "engine/io/json/json_text.h"
#include "engine/io/measured/kernel_table.h"
#include "engine/io/measured/kernel_trace.h"
#include "engine/io/measured/log_lines.h"
#include "engine/io/measured/memory_summary.h"
#include "engine/io/measured/nsys_database.h"

namespace roofscape::io {

using engine::MeasuredRun;
using engine::say;

namespace {

constexpr std::size_t kBeginning = std::size_t{64} << 10, kMostLogBytes = std::size_t{256} << 20;

std::string_view after_blanks(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t from = text.find_first_not_of(" \t\r\n");
  return from == std::string_view::npos ? std::string_view() : text.substr(from);
}

enum class MeasuredInput { trace, database, nsys, operations, row, log, memory, memory_stats, memory_timeline, none };

bool is_operation_table(std::string_view text) {
  const std::string_view head = text.substr(0, text.find('\n'));
  std::string small(head);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text.starts_with('[')
             ? small.find("\"flops\"") != std::string::npos || text.find("\"flops\"") != text.npos
             : small.find("flops") != std::string::npos && small.find("seconds") != std::string::npos;
}

MeasuredInput kind_of_input(std::string_view beginning) {
  if (is_sqlite(beginning)) return MeasuredInput::database;
  const std::string_view text = after_blanks(beginning);
  if (text.starts_with('{') || text.starts_with('[')) {
    for (const std::string_view sign : {"\"traceEvents\"", "\"ph\"", "\"schemaVersion\"", "\"deviceProperties\""})
      if (text.find(sign) != std::string_view::npos) return MeasuredInput::trace;
    if (is_memory_timeline(text)) return MeasuredInput::memory_timeline;
    if (is_memory_stats(text)) return MeasuredInput::memory_stats;
    if (text.starts_with('[') && is_operation_table(text)) return MeasuredInput::operations;
    return is_measured_row(text) ? MeasuredInput::row : MeasuredInput::none;
  }
  if (is_memory_summary(text)) return MeasuredInput::memory;
  if (is_nsys_table(text)) return MeasuredInput::nsys;
  if (is_operation_table(text)) return MeasuredInput::operations;
  if (is_training_log(text)) return MeasuredInput::log;
  return is_measured_row(text) ? MeasuredInput::row : MeasuredInput::none;
}

// The numbers of one input into those of all. Two that differ are refused.
struct NumberOfRun {
  std::string_view name;
  std::optional<double> MeasuredRun::*number;
};
constexpr std::array kNumbersOfRun{NumberOfRun{"step", &MeasuredRun::step_s},
                                   NumberOfRun{"tflops", &MeasuredRun::flops_per_chip_per_s},
                                   NumberOfRun{"mfu", &MeasuredRun::mfu},
                                   NumberOfRun{"tokens_per_s_per_chip", &MeasuredRun::tokens_per_chip_per_s},
                                   NumberOfRun{"allocated", &MeasuredRun::allocated_bytes},
                                   NumberOfRun{"reserved", &MeasuredRun::reserved_bytes}};

class Collected {
 public:
  Failure add(MeasuredRun one, const std::string& source) {
    for (std::size_t i = 0; i < kNumbersOfRun.size(); ++i) {
      const auto& [name, number] = kNumbersOfRun[i];
      if (!(one.*number)) continue;
      // A profiler slows the step down that it looks at: what a log says goes before.
      if (run_.*number && from_trace_[i] == one.kernels.has_value() && run_.*number != one.*number)
        return InputError{source, std::string(name), say("error.measured.twice", from_[i]),
                          say("error.measured.twice.remedy")};
      if (run_.*number && one.kernels) continue;
      run_.*number = one.*number;
      from_[i] = source;
      from_trace_[i] = one.kernels.has_value();
    }
    run_.log_steps += one.log_steps;
    if (one.held_bytes) run_.held_bytes = one.held_bytes;
    run_.operations.insert(run_.operations.end(), std::make_move_iterator(one.operations.begin()),
                           std::make_move_iterator(one.operations.end()));
    if (!one.lanes.empty()) run_.lanes = std::move(one.lanes);
    if (one.kernels) {
      if (run_.kernels && (run_.kernels->timeline || one.kernels->timeline))
        return InputError{
            source, {}, say("error.measured.kernels_twice"), say("error.measured.kernels_twice.remedy")};
      if (run_.kernels)
        add_sums(*one.kernels);
      else
        run_.kernels = std::move(one.kernels);
    }
    run_.sources.push_back(source);
    return std::nullopt;
  }
  MeasuredRun take() { return std::move(run_); }

 private:
  // Kernels and copies are two tables of one run.
  void add_sums(const engine::MeasuredKernels& more) {
    engine::MeasuredKernels& sums = *run_.kernels;
    for (std::size_t i = 0; i < sums.work.size(); ++i) {
      sums.work[i].seconds += more.work[i].seconds;
      sums.work[i].own_s += more.work[i].own_s;
      sums.work[i].count += more.work[i].count;
    }
    for (std::size_t i = 0; i < sums.collectives.size(); ++i) {
      sums.collectives[i].seconds += more.collectives[i].seconds;
      sums.collectives[i].count += more.collectives[i].count;
    }
    sums.unknown.insert(sums.unknown.end(), more.unknown.begin(), more.unknown.end());
    sums.keep_longest_unknown();
  }

  MeasuredRun run_;
  std::array<std::string, kNumbersOfRun.size()> from_;
  std::array<bool, kNumbersOfRun.size()> from_trace_{};
};

// Of a kind that is read as a whole.
Result<MeasuredRun> read_whole(MeasuredInput kind, std::string_view text, const std::string& source, int steps) {
  switch (kind) {
    case MeasuredInput::nsys:
      return read_nsys_table(text, source, steps);
    case MeasuredInput::operations:
      return read_operation_times(text, source, steps);
    case MeasuredInput::row:
      return read_measured_row(text, source);
    case MeasuredInput::memory:
      return read_memory_summary(text, source);
    case MeasuredInput::memory_stats:
      return read_memory_stats(text, source);
    case MeasuredInput::memory_timeline:
      return read_memory_timeline(text, source);
    default:
      return read_training_log(text, source);
  }
}

InputError no_measured_kind(const std::string& input, std::string_view beginning) {
  // Pickle, of which reading can run code.
  if (beginning.starts_with('\x80'))
    return {input, {}, say("error.measured.pickle"), say("error.measured.memory.remedy")};
  return {input, {}, say("error.measured.none"), say("error.measured.none.remedy")};
}

// A line of the command line is named by its beginning.
std::string name_of_input(const std::string& input, bool file) {
  return file ? input
              : "\"" + std::string(engine::whole_characters(input, 40)) + (input.size() > 40 ? "..." : "") + "\"";
}

}  // namespace

bool is_measured_run(std::string_view beginning) { return kind_of_input(beginning) != MeasuredInput::none; }

Result<MeasuredRun> read_measured_run(const std::vector<std::string>& inputs, const MeasuredOptions& options) {
  Collected all;
  std::vector<RankTrace> ranks;
  std::vector<std::string> rank_sources;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string& input = inputs[i];
    const auto count = static_cast<double>(inputs.size());
    const ReadProgress progress = [&](double share) {
      return !options.progress || options.progress((static_cast<double>(i) + share) / count);
    };
    std::error_code unknown;
    const bool file = input.size() < 4096 && std::filesystem::exists(input, unknown);
    const MeasuredInput given = file ? MeasuredInput::none : kind_of_input(input);
    const bool memory = given == MeasuredInput::memory || given == MeasuredInput::memory_stats ||
                        given == MeasuredInput::memory_timeline;
    if (!file && !memory && !is_training_log(input) && !is_measured_row(input)) {
      const auto missing = first_bytes(input, 1);
      return missing ? no_measured_kind(input, {}) : missing.error();
    }
    const std::string source = name_of_input(input, file);
    if (!file) {
      auto read = memory                   ? read_whole(given, after_blanks(input), source, options.steps)
                  : is_training_log(input) ? read_training_log(input, source)
                                           : read_measured_row(input, source);
      if (!read) return read.error();
      if (auto failure = all.add(std::move(read).value(), source)) return *std::move(failure);
      continue;
    }
    const auto beginning = first_bytes(input, kBeginning);
    if (!beginning) return beginning.error();
    MeasuredInput kind = kind_of_input(beginning.value());
    if (kind == MeasuredInput::trace) {
      auto stream = TextStream::open(input, progress);
      if (!stream) return stream.error();
      auto trace = read_chrome_trace(*stream.value(), input);
      if (!trace) return trace.error();
      if (trace->rank)
        for (std::size_t k = 0; k < ranks.size(); ++k)
          if (ranks[k].rank == trace->rank)
            return InputError{source,
                              {},
                              say("error.measured.same_rank", *trace->rank, rank_sources[k]),
                              say("error.measured.same_rank.remedy")};
      ranks.push_back(std::move(trace).value());
      rank_sources.push_back(source);
      continue;
    }
    if (kind == MeasuredInput::database) {
      auto traces = read_nsys_database(input, progress);
      if (!traces) return traces.error();
      for (RankTrace& trace : traces.value()) {
        ranks.push_back(std::move(trace));
        rank_sources.push_back(source);
      }
      continue;
    }
    auto text = whole_text(input, kMostLogBytes, progress);
    if (!text) return text.error();
    // What is printed before the first step may be long.
    if (kind == MeasuredInput::none && is_training_log(text.value())) kind = MeasuredInput::log;
    if (kind == MeasuredInput::none) return no_measured_kind(input, beginning.value());
    if (kind != MeasuredInput::log && !is_utf8(text.value()))
      return InputError{source, {}, say("error.file.not_utf8"), say("error.file.utf8.remedy")};
    const std::string_view whole = after_blanks(text.value());
    auto read = read_whole(kind, whole, source, options.steps);
    if (!read) return read.error();
    if (auto failure = all.add(std::move(read).value(), source)) return *std::move(failure);
  }
  if (!ranks.empty()) {
    std::string sources;
    for (std::size_t i = 0; i < rank_sources.size(); ++i)  // a database has those of several ranks
      if (i == 0 || rank_sources[i] != rank_sources[i - 1]) sources += (i == 0 ? "" : ", ") + rank_sources[i];
    if (auto failure = all.add(measured_of(std::move(ranks), options.steps), sources)) return *std::move(failure);
  }
  return all.take();
}

}  // namespace roofscape::io
