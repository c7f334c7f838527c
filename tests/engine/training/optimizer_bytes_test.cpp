// What Adam keeps for a parameter, by the width of its moments: in the report and in the price of a search, in either
// mode, on switches and on a torus.
#include <doctest/doctest.h>

#include <string>

#include "engine/evaluate/evaluate.h"
#include "engine/search/pricing.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/invariants.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::near;
using tests::preset;
using tests::value_of;
using tests::with;

TEST_CASE("Adam keeps 8 bytes a parameter, or 4, or 2 and a scale of 4 for each 256 moments") {
  for (const char* id :
       {"llama3-8b-8-h100", "llama3-405b-16k-h100-8k", "deepseek-v3-2048-h800", "llama3-70b-v5p-pod"})
    for (const char* mode : {"ideal", "calibrated"}) {
      CAPTURE(id);
      CAPTURE(mode);
      const auto of = [&](const std::string& optimizer) {
        return with(preset(id), {"assumptions.mode=" + std::string(mode), "precision.master_weights=none",
                                 "offload.optimizer=false", "precision.optimizer=" + optimizer});
      };
      const Report wide = evaluate(of("adam_fp32")), half = evaluate(of("adam_bf16"));
      const Scenario narrow = of("adam_8bit");
      const Report eight = evaluate(narrow);
      const double parameters = value_of(wide, Q::memory_optimizer) / 8;
      REQUIRE(parameters > 0);
      CHECK(value_of(half, Q::memory_optimizer) == near(4 * parameters));
      CHECK(value_of(eight, Q::memory_optimizer) == near(2 * (1 + 4.0 / 256) * parameters));
      CHECK(value_of(eight, Q::step_optimizer) < value_of(half, Q::step_optimizer));
      CHECK(value_of(half, Q::step_optimizer) < value_of(wide, Q::step_optimizer));

      const Price price = Pricer(tests::without_plan(narrow)).price(plan_of(narrow), true);
      CHECK(price.memory_bytes == value_of(eight, Q::memory_total));
      CHECK(price.step_time_s == value_of(eight, Q::step_time));
    }
}
