#include <doctest/doctest.h>

#include "tests/widgets/figures/preset_fixture.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

TEST_CASE("parts of a dense model have a row each, with parameters and FLOPs") {
  const auto canvas = drawn("parameters", preset_case("llama3-8b-8-h100"), "dark", 15, 560, 400);
  for (const char* text :
       {"embedding", "attention", "attention scores", "MLP", "norms", "output head", "8.03\u202fB", "5.64\u202fB"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
  CHECK_FALSE(canvas->find_text("router"));
}

TEST_CASE("the columns of numbers have heads, and the longest bar ends on the axis") {
  const auto canvas = drawn("parameters", preset_case("deepseek-v3-2048-h800"), "dark", 15, 560, 400);
  int heads = 0;
  for (const TextRun& run : canvas->texts()) heads += run.text == "parameters" || run.text == "FLOPs per token";
  CHECK(heads == 4);  // two of them the key's
  CHECK(canvas->find_text("100"));
}

TEST_CASE("a mixture of experts shows what a token passes through and what it does not") {
  const FigureCase c = preset_case("deepseek-v3-2048-h800");
  const auto canvas = drawn("parameters", c, "dark", 15, 560, 400);
  CHECK(canvas->find_tag("params.inactive"));
  CHECK(canvas->find_text("633\u202fB"));
  CHECK(find_figure("parameters")->head(input_of(c, theme("dark")), {}).takeaway ==
        "671\u202fB parameters, 37.6\u202fB active per token: 6\u202f%");
}

TEST_CASE("a part's readout has its exact parameters and its share of both totals") {
  const auto canvas = drawn("parameters", preset_case("llama3-8b-8-h100"), "dark", 15, 560, 400);
  const TagRegion* tag = canvas->find_tag("params.mlp");
  REQUIRE(tag);
  REQUIRE(tag->readout.rows.size() == 4);
  CHECK(tag->readout.rows[0].second == "5\u202f637\u202f144\u202f576");  // 32 layers x 3 x 4096 x 14336
  CHECK(tag->readout.rows[1].second == "70\u202f%");
}

TEST_CASE("a report without parameters says so") {
  FigureCase c = sixteen_stages();
  c.report.quantities.clear();
  const auto canvas = drawn("parameters", c, "dark", 15, 560, 400);
  REQUIRE(canvas->texts().size() == 1);
  CHECK(canvas->texts()[0].text == "The parameters of this model are not known.");
}
