// The tables and headlines of serving figures are the report's numbers: to the last bit in the tables, to the digits
// shown in the headlines. Over random scenarios that serve, in every mode.
#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/service_level.h"
#include "tests/engine/serving_fixture.h"
#include "tests/widgets/figures/figure_fixture.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/figures.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using engine::Q;

namespace {

std::vector<std::vector<std::string>> rows_of(const std::string& table) {
  std::vector<std::vector<std::string>> out;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    out.emplace_back();
    for (std::string cell; std::getline(cells, cell, '\t');) out.back().push_back(cell);
  }
  if (!out.empty()) out.erase(out.begin());
  return out;
}

double number(const std::string& text) { return std::stod(text); }

engine::Scenario random_small(std::mt19937& rng, int i) {
  engine::Scenario s = tests::random_serving_scenario(rng);
  s.name = "a scenario";
  s.assumptions.mode = i % 2 == 0 ? engine::Mode::calibrated : engine::Mode::ideal;
  // On the grid of batches that figures show.
  s.workload.batch = s.parallelism.data * s.parallelism.fsdp * s.parallelism.pipeline * 4;
  return s;
}

}  // namespace

TEST_CASE("serving figures say what evaluate says, in their tables and in their headlines") {
  std::mt19937 rng(20);
  const Theme dark = theme("dark");
  int compared = 0, trades = 0;
  for (int i = 0; i < 150; ++i) {
    CAPTURE(i);
    FigureCase c;
    c.scenario = random_small(rng, i);
    c.report = engine::evaluate(c.scenario);
    if (c.report.has_errors() || !c.report.quantities[Q::mixed_token_time_q]) continue;
    ++compared;
    const FigureInput input = input_of(c, dark);
    const auto q = [&c](Q id) { return c.report.quantities.value_or(id, 0); };
    const auto table = [&input](const char* figure) { return rows_of(find_figure(figure)->data(input, {})); };
    const auto headline = [&input](const char* figure) { return find_figure(figure)->head(input, {}).takeaway; };

    for (const auto& row : table("latency-throughput")) {
      engine::Scenario at = c.scenario;
      at.parallelism.tensor = std::stoi(row[0]), at.parallelism.data = std::stoi(row[1]);
      at.workload.batch = std::stoi(row[2]);
      const engine::Report r = engine::evaluate(at);
      CHECK(number(row[3]) == *r.quantities[Q::mixed_token_time_q]);
      CHECK(number(row[4]) == *r.quantities[Q::sustained_tokens_per_chip]);
      CHECK(number(row[5]) == *r.quantities[Q::memory_total]);
      CHECK(number(row[6]) == *r.quantities[Q::ttft]);
      CHECK(number(row[7]) == *r.quantities[Q::time_per_output_token]);
      CHECK(number(row[8]) == *r.quantities[Q::serving_tokens_per_chip]);
      CHECK((row[9] == "yes") == r.fits());
      CHECK((row[10] == "yes") == engine::keeps_promise(at, r));
      ++trades;
    }
    const std::string trade = headline("latency-throughput");
    CHECK(trade.find(format_duration(q(Q::mixed_token_time_q)) + " per token sustained") != std::string::npos);
    CHECK(trade.find(format(q(Q::sustained_tokens_per_chip), engine::unit::tokens_per_s)) != std::string::npos);

    double step = 0;
    for (const auto& row : table("decode-step"))
      for (const Q part : {Q::decode_exposed, Q::decode_transfer, Q::decode_draft, Q::decode_host, Q::decode_step})
        if (row[0] == engine::quantity(part).id && row[2] == "no") {
          CHECK(number(row[1]) == doctest::Approx(q(part)).epsilon(1e-9));
          if (part == Q::decode_step) step = number(row[1]);
        }
    CHECK(step == q(Q::decode_step));
    CHECK(headline("decode-step").find(format_duration(q(Q::time_per_output_token)) + " per token, decoding alone") !=
          std::string::npos);
    CHECK(headline("serving-memory").find(format(q(Q::memory_total), engine::unit::bytes)) != std::string::npos);
  }
  CHECK(compared > 60);
  CHECK(trades > 500);
}
