// What ten percent more of an input does to a number, against what its formula says it must.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/sensitivity.h"
#include "tests/engine/fixtures.h"

using namespace roofscape::engine;
using namespace roofscape;

namespace {

const SensitivityRow* find(const std::vector<SensitivityRow>& rows, Q input) {
  const auto it = std::find_if(rows.begin(), rows.end(), [&](const SensitivityRow& r) { return r.input == input; });
  return it == rows.end() ? nullptr : &*it;
}

std::vector<SensitivityRow> of(const Scenario& s, std::string_view id, double more = 0.1) {
  const auto derivation = explain(s, id);
  REQUIRE(derivation.has_value());
  return sensitivity(s, *derivation, more);
}

}  // namespace

TEST_CASE("a tenth more price is a tenth more cost") {
  const auto rows = of(tests::preset("llama3-405b-16k-h100-8k"), "run.cost_usd");
  const SensitivityRow* row = find(rows, Q::price);
  REQUIRE(row != nullptr);
  CHECK(row->change() == doctest::Approx(0.1));
}

TEST_CASE("a tenth more peak shortens matrix multiplication to 1/1.1") {
  const auto rows = of(tests::preset("llama3-405b-16k-h100-8k"), "step.matmul_s");
  const SensitivityRow* row = find(rows, Q::peak_flops);
  REQUIRE(row != nullptr);
  CHECK(row->after == doctest::Approx(row->before / 1.1));
  CHECK(row->more == 0.1);
}

TEST_CASE("an input that is no part of a number has no row, and the largest change comes first") {
  const auto rows = of(tests::preset("llama3-405b-16k-h100-8k"), "params.total");
  CHECK(find(rows, Q::price) == nullptr);
  CHECK(find(rows, Q::peak_flops) == nullptr);
  CHECK(find(rows, Q::d_model) != nullptr);
  for (std::size_t i = 1; i < rows.size(); ++i) CHECK(std::abs(rows[i - 1].change()) >= std::abs(rows[i].change()));
}

TEST_CASE("a count grows to a whole number and says by how much it grew") {
  const Scenario s = tests::preset("llama3-405b-16k-h100-8k");
  const auto rows = of(s, "params.total");
  const SensitivityRow* row = find(rows, Q::n_layers);
  REQUIRE(row != nullptr);
  const double layers = s.model.n_layers, more = std::round(layers * 1.1);
  CHECK(row->more == doctest::Approx(more / layers - 1));
  Scenario larger = s;
  larger.model.n_layers = static_cast<int>(more);
  CHECK(row->after == evaluate(larger).quantities[Q::params_total]);
}

TEST_CASE("a count whose tenth makes no plan is doubled") {
  // 1127 sequences do not divide by 1024 ranks; twice as many take twice the matrix multiplication.
  const auto rows = of(tests::preset("llama3-70b-v5p-pod"), "step.matmul_s");
  const SensitivityRow* row = find(rows, Q::batch_sequences);
  REQUIRE(row != nullptr);
  CHECK(row->more == 1);
  CHECK(row->change() == doctest::Approx(1));
}

TEST_CASE("an input has no sensitivity of its own") {
  const Scenario s = tests::preset("llama3-405b-16k-h100-8k");
  const auto derivation = explain(s, "chip.peak_flops_per_s");
  REQUIRE(derivation.has_value());
  CHECK(sensitivity(s, *derivation).empty());
  CHECK(sensitivity(s, Derivation{}).empty());
}
