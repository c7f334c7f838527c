// What a published utilisation may mean: the readings of calc mfu.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <variant>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "tests/engine/blocks/ask.h"

namespace roofscape::engine {
namespace {

using tests::ask;
using tests::number;

std::string word(const io::Result<BlockResult>& result, std::string_view name) {
  REQUIRE(result.ok());
  const BlockAnswer* answer = result->find(name);
  REQUIRE(answer != nullptr);
  return answer->word;
}

std::vector<std::string> with(std::vector<std::string> inputs, std::vector<std::string> more) {
  inputs.insert(inputs.end(), more.begin(), more.end());
  return inputs;
}

// Chowdhery et al. 2022, section 4.1 and appendix B: 238.3 k tokens per second on 6,144 TPU v4 of 275 TFLOP/s.
const std::vector<std::string> kPalm{"model=palm-540b", "sequence_length=2048", "peak_flops_per_s=275e12",
                                     fmt::format("tokens_per_s_per_chip={}", 238.3e3 / 6144)};

}  // namespace

TEST_CASE("PaLM's 46.2 % count full attention, its 45.7 % no attention") {
  const auto with_attention = ask("mfu", with(kPalm, {"published_mfu=0.462"})),
             without = ask("mfu", with(kPalm, {"published_mfu=0.457"}));
  CHECK(word(with_attention, "reading") == "full-attention");
  CHECK(number(with_attention, "mfu_full_attention") == doctest::Approx(0.462).epsilon(0.002));
  CHECK(word(without, "reading") == "6p");
  CHECK(number(without, "mfu_6p") == doctest::Approx(0.457).epsilon(0.002));
}

TEST_CASE("the reading a number was made by is the one that fits, of the dense peak and of the sparse one") {
  const std::vector<std::string> run{"model=llama3-8b", "sequence_length=32768", "peak_flops_per_s=1e15",
                                     "tokens_per_s_per_chip=6000"};
  const auto plain = ask("mfu", run);
  for (const char* share : {"mfu_6p", "mfu_full_attention", "mfu_causal_attention", "hfu_8p", "hfu_full_attention",
                            "hfu_causal_attention"})
    for (const double factor : {1.0, 2.0}) {
      CAPTURE(share);
      const double mfu = number(plain, share);
      const auto answer = ask("mfu", with(run, {fmt::format("published_mfu={:.17g}", mfu / factor),
                                                fmt::format("published_achieved_flops_per_s={:.17g}", mfu * 1e15)}));
      CHECK(number(answer, "apart") == doctest::Approx(0).epsilon(1e-12));
      const std::string reading = word(answer, "reading");
      CHECK(reading.ends_with("-of-sparse-peak") == (factor == 2));
      const BlockTable& table = answer->table;
      for (const auto& row : table.rows)
        if (reading.starts_with(std::get<std::string>(row[0])) && factor == 1 &&
            reading == std::get<std::string>(row[0])) {
          CHECK(std::get<double>(row[2]) == doctest::Approx(mfu * 1e15));
          CHECK(std::get<double>(row[5]) == doctest::Approx(6000));  // the throughput that the number means
        }
    }
}

TEST_CASE("without a throughput the readings say which one a published number means") {
  const auto answer =
      ask("mfu", {"model=llama3-405b", "sequence_length=8192", "published_achieved_flops_per_s=400e12"});
  REQUIRE(answer.ok());
  CHECK(answer->find("reading")->missing == std::vector<std::string>{"tokens_per_s_per_chip"});
  REQUIRE(answer->table.columns.back() == "tokens_per_s_per_chip_of_published_flops");
  for (const auto& row : answer->table.rows)
    CHECK(std::get<double>(row[1]) * std::get<double>(row.back()) == doctest::Approx(400e12));
}

TEST_CASE("the MFU of a scenario is the block's of its throughput, by every convention") {
  int asked = 0;
  for (const io::Preset& preset : tests::library().list(io::PresetKind::scenario)) {
    Scenario s = tests::preset(preset.id);
    // The block is of runs that train all weights.
    if (s.serves() || s.parallelism.context > 1 || s.adapter.rank > 0) continue;
    for (const auto& [convention, output] : {std::pair{FlopsConvention::six_p, "mfu_6p"},
                                             {FlopsConvention::exact, "mfu_full_attention"},
                                             {FlopsConvention::exact_causal, "mfu_causal_attention"}}) {
      s.assumptions.flops = convention;
      const Report report = evaluate(s);
      if (!report.quantities[Q::mfu] || tests::library().find_model(s.model.id) == nullptr) continue;
      CAPTURE(preset.id);
      const double tokens = tests::value_of(report, Q::tokens_per_s) / tests::value_of(report, Q::chips_used);
      const auto answer =
          ask("mfu", {"model=" + s.model.id, fmt::format("sequence_length={}", s.workload.sequence_length),
                      fmt::format("peak_flops_per_s={:.17g}", tests::value_of(report, Q::peak_flops)),
                      fmt::format("tokens_per_s_per_chip={:.17g}", tokens)});
      CHECK(number(answer, output) == doctest::Approx(tests::value_of(report, Q::mfu)).epsilon(1e-9));
      ++asked;
    }
  }
  CHECK(asked > 15);
}

}  // namespace roofscape::engine
