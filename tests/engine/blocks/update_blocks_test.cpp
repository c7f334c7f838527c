// Adapters and Muon as their papers and the libraries that run them count.
#include <doctest/doctest.h>

#include "tests/engine/blocks/ask.h"

using namespace roofscape;
using tests::ask;
using tests::number;

TEST_CASE("adapters of Llama 3 8B have as many parameters as the PEFT library prints") {
  CHECK(number(ask("adapters", {"model=llama3-8b", "rank=16", "targets=linear"}), "parameters") == 41'943'040);
  CHECK(number(ask("adapters", {"model=llama3-8b", "rank=8", "targets=query_value"}), "parameters") == 3'407'872);
  CHECK(number(ask("adapters", {"model=llama3-8b", "rank=16", "targets=attention"}), "parameters") == 13'631'488);
}

TEST_CASE("adapters of GPT-3 have the 4.7 and 37.7 million parameters of Hu et al. 2021, table 4") {
  CHECK(number(ask("adapters", {"model=gpt3-175b", "rank=1", "targets=query_value"}), "parameters") == 4'718'592);
  CHECK(number(ask("adapters", {"model=gpt3-175b", "rank=8", "targets=query_value"}), "parameters") == 37'748'736);
}

TEST_CASE("GPT-3 with adapters takes a third of the memory of training it with moments in 16 bits") {
  const auto asked =
      ask("adapters", {"model=gpt3-175b", "rank=4", "targets=query_value", "gradient_bytes=0", "optimizer_bytes=4"});
  CHECK(number(asked, "reduction") == doctest::Approx(3).epsilon(0.001));
}

TEST_CASE("frozen weights cost four FLOP of six") {
  const auto asked = ask("adapters", {"model=llama3-70b", "rank=1"});
  CHECK(number(asked, "flops_ratio") == doctest::Approx(2.0 / 3).epsilon(0.001));
  CHECK(number(asked, "flops_ratio") > 2.0 / 3);
}

TEST_CASE("weights in four bits fit where those in sixteen do not") {
  const std::vector<std::string> model{"model=llama3-70b", "chip=h100-sxm"};
  CHECK(ask("adapters", model)->find("fits")->numbers.front() == 0);
  auto quantized = model;
  quantized.emplace_back("weight_bytes=0.5");
  CHECK(ask("adapters", quantized)->find("fits")->numbers.front() == 1);
}

TEST_CASE(
    "Muon's overhead is at most 0.7 % of NanoGPT's and 0.5 % of Llama 3 405B's steps, as Jordan et al. 2024 say") {
  CHECK(number(ask("muon", {"rows=768", "columns=768", "tokens=524288"}), "overhead_bound") ==
        doctest::Approx(0.007).epsilon(0.05));
  CHECK(number(ask("muon", {"rows=16384", "columns=16384", "tokens=16e6"}), "overhead_bound") ==
        doctest::Approx(0.005).epsilon(0.05));
}

TEST_CASE("the overhead of a square matrix is its bound, of any other less, whichever side is the longer") {
  const auto of = [](std::string rows, std::string columns) {
    return ask("muon", {"rows=" + rows, "columns=" + columns, "tokens=1e6"});
  };
  CHECK(number(of("4096", "4096"), "matrix_overhead") ==
        doctest::Approx(number(of("4096", "4096"), "overhead_bound")));
  CHECK(number(of("4096", "16384"), "matrix_overhead") < number(of("4096", "16384"), "overhead_bound"));
  CHECK(number(of("4096", "16384"), "matrix_flops") == number(of("16384", "4096"), "matrix_flops"));
}

TEST_CASE("at the tokens for 1 % Muon's overhead is 1 %") {
  const double tokens = number(ask("muon", {"model=llama3-70b"}), "tokens_for_1_percent");
  CHECK(number(ask("muon", {"model=llama3-70b", "tokens=" + fmt::format("{:.17g}", tokens)}), "overhead") ==
        doctest::Approx(0.01));
}

TEST_CASE("Muon saves one moment of what it updates") {
  const auto asked = ask("muon", {"model=llama3-8b", "optimizer_bytes=8"});
  CHECK(number(asked, "saved_bytes") == doctest::Approx(4 * number(asked, "updated")));
  CHECK(number(asked, "updated") == 32.0 * (4096.0 * (2 * 4096 + 2 * 1024) + 3 * 4096.0 * 14336));
}
