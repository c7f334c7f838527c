// Any bytes as what a real run left behind: a trace, a database, a table of kernels, a log, a row of numbers. What is read has times
// that are numbers, and lies over a prediction with a sum that closes. Run by libFuzzer.
#include <cmath>
#include <optional>

#include "engine/evaluate/evaluate.h"
#include "engine/io/measured/kernel_table.h"
#include "engine/io/measured/kernel_trace.h"
#include "engine/io/measured/log_lines.h"
#include "engine/io/measured/measured_input.h"
#include "engine/io/measured/memory_summary.h"
#include "engine/io/measured/nsys_database.h"
#include "engine/studies/measured_run.h"
#include "tests/fuzz/fuzz_words.h"

namespace {

using namespace roofscape;

void lay_over(const io::Result<engine::MeasuredRun>& run) {
  if (!run) return fuzz::one_line(run.error());
  static const engine::Scenario scenario = io::load_scenario("llama3-8b-8-h100", fuzz::library()).value();
  static const engine::Report report = engine::evaluate(scenario);
  const engine::MeasuredComparison c = engine::compare_measured(scenario, report, run.value());
  if (!std::isfinite(c.unexplained_s) || (c.measured_s && !std::isfinite(*c.measured_s))) std::abort();
  if (!c.measured_s) return;
  double sum = c.unexplained_s;
  for (const engine::StepTermRow& row : c.terms) sum += row.measured_s.value_or(row.predicted_s);
  if (std::abs(sum - *c.measured_s) > 1e-6 * (std::abs(sum) + *c.measured_s + *c.predicted_s)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  (void)io::is_measured_run(text);
  (void)io::is_measured_row(text);
  const auto stream = io::TextStream::of(text);
  auto trace = io::read_chrome_trace(*stream, "fuzz.json");
  if (!trace) {
    fuzz::one_line(trace.error());
  } else {
    std::vector<io::RankTrace> ranks;
    ranks.push_back(trace.value());
    ranks.push_back(std::move(trace).value());
    lay_over(io::measured_of(std::move(ranks), 2));
  }
  if (io::is_sqlite(text)) {
    auto traces = io::read_nsys_database_of(text, "fuzz.sqlite");
    if (traces)
      lay_over(io::measured_of(std::move(traces).value(), 2));
    else
      fuzz::one_line(traces.error());
  }
  lay_over(io::read_nsys_table(text, "fuzz.csv", 3));
  lay_over(io::read_operation_times(text, "fuzz.csv", 1));
  lay_over(io::read_training_log(text, "fuzz.log"));
  lay_over(io::read_measured_row(text, "fuzz.txt"));
  lay_over(io::read_memory_summary(text, "fuzz.txt"));
  lay_over(io::read_memory_stats(text, "fuzz.json"));
  lay_over(io::read_memory_timeline(text, "fuzz.json"));
  return 0;
}
