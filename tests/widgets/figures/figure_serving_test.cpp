// The figures of serving on shipped presets: clean at all sizes and with long words; and what each of them must show.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "tests/widgets/figures/preset_fixture.h"
#include "widgets/canvas/number_format.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using engine::Q;

namespace {

constexpr const char* kServingPresets[]{"llama2-13b-16-v5e", "llama3-70b-16-v5e", "llama3-8b-serving-8-h100",
                                        "llama3-70b-serving-8-h100", "deepseek-v3-h800-wide-expert"};

std::unique_ptr<RecordCanvas> shown_small(const char* figure, const FigureCase& c) {
  return drawn(figure, c, "dark", 15, 560, 400);
}

}  // namespace

TEST_CASE("figures of serving are clean at any size and with long words") {
  for (const char* preset : kServingPresets)
    for (const FigureRow& row : figures()) {
      if (row.subject != Subject::serving) continue;
      CAPTURE(preset);
      CAPTURE(row.name);
      const FigureCase& c = case_of(preset);
      check_clean_everywhere(row, c, {});
    }
}

TEST_CASE("figures of serving have a takeaway and a table for every preset") {
  for (const char* preset : kServingPresets)
    for (const FigureRow& row : figures()) {
      if (row.subject != Subject::serving) continue;
      CAPTURE(preset);
      CAPTURE(row.name);
      check_takeaway_and_table(row, case_of(preset));
    }
}

TEST_CASE("figures of serving say what is missing where the scenario could not be priced") {
  FigureCase c = case_of("llama3-70b-serving-8-h100");
  c.report.quantities.clear();
  for (const FigureRow& row : figures()) {
    if (row.subject != Subject::serving || row.name == "serving-map") continue;  // which prices plans of its own
    CAPTURE(row.name);
    const auto canvas = drawn(std::string(row.name), c, "dark", 15, 560, 400);
    REQUIRE(canvas->texts().size() >= 1);
    CHECK(canvas->texts()[0].text.starts_with("This plan has no "));
  }
}

TEST_CASE("decode-step: reads of the cache and of the weights, what they hide, and the step") {
  // 16 v5e: weights of a small batch take longer to read than to multiply, and transfers hide under the reads.
  const auto canvas = shown_small("decode-step", case_of("llama3-70b-16-v5e"));
  for (const char* text : {"KV cache reads", "weight reads", "hidden FLOPs", "decoding step"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
}

TEST_CASE("decode-step: parts follow one another to the end of the step") {
  const auto canvas = shown_small("decode-step", case_of("llama3-70b-16-v5e"));
  const TagRegion* step = canvas->find_tag("serving.decode_step_s");
  REQUIRE(step);
  CHECK(step->readout.title ==
        "decoding step, " + format_duration(*case_of("llama3-70b-16-v5e").report.quantities[Q::decode_step]));
}

TEST_CASE("decode-step: with drafts a token takes less than a step and has a row of its own") {
  const auto canvas = shown_small("decode-step", case_of("deepseek-v3-h800-wide-expert"));
  CHECK(canvas->find_text("draft model"));
  REQUIRE(canvas->find_tag("serving.time_per_output_token_s"));
  CHECK(canvas->find_tag("serving.time_per_output_token_s")->readout.rows[0].second == "1.85");
  CHECK_FALSE(shown_small("decode-step", case_of("llama3-70b-16-v5e"))->find_tag("serving.time_per_output_token_s"));
}

TEST_CASE("latency-throughput: the plan's point stands at its own time and throughput, with its batch") {
  const FigureCase& c = case_of("llama3-70b-serving-8-h100");
  const auto canvas = shown_small("latency-throughput", c);
  CHECK(canvas->find_text("this plan, batch 128"));
  const TagRegion* own = canvas->find_tag("serving.sustained_time_per_token_s");
  REQUIRE(own);
  REQUIRE(own->readout.rows.size() == 4);
  CHECK(own->readout.rows[0].second == format_duration(*c.report.quantities[Q::mixed_token_time_q]));
  CHECK(own->readout.rows[1].second == format_duration(*c.report.quantities[Q::time_per_output_token]));
}

TEST_CASE("latency-throughput: every tensor degree that runs has its name at the end of its line") {
  const auto canvas = shown_small("latency-throughput", case_of("llama3-70b-serving-8-h100"));
  for (const char* text : {"tensor 8", "tensor 4", "tensor 2"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
}

TEST_CASE("latency-throughput: axes begin at zero and are even, lengths of sequences are lines too") {
  const auto canvas = shown_small("latency-throughput", case_of("llama3-70b-serving-8-h100"));
  const auto x = [&](const char* text) {
    const TextRun* run = canvas->find_text(text);
    REQUIRE(run);
    return run->bounds.centre().x;
  };
  CHECK(x("20") - x("10") == doctest::Approx(x("30") - x("20")).epsilon(0.02));
  const FigureView lengths = view_of("latency-throughput", {{"lines", "context"}});
  const auto other = drawn("latency-throughput", case_of("llama3-70b-serving-8-h100"), "print", 9, 425, 283, lengths);
  for (const char* name : {"640 tokens of context", "2560 tokens of context", "10\u202f240 tokens of context"}) {
    CAPTURE(name);
    CHECK(other->find_text(name));
  }
  CHECK(other->audit_text() == "");
}

TEST_CASE("latency-throughput: the table has points on the Pareto front, none of which is too large for the memory") {
  const Theme dark = theme("dark");
  const std::string data =
      find_figure("latency-throughput")->data(input_of(case_of("llama3-70b-serving-8-h100"), dark), {});
  CHECK(data.find("\tyes\tyes\t") != std::string::npos);
  CHECK(data.find("\tno\tyes\tyes\t") == std::string::npos);
}

TEST_CASE("serving-memory: its parts, the sum and the capacity are rows, and what is free says how many more fit") {
  const FigureCase& c = case_of("llama3-8b-serving-8-h100");
  const auto canvas = shown_small("serving-memory", c);
  for (const char* text : {"weights", "KV cache", "used", "free", "capacity"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
  const double more = *c.report.quantities[Q::max_batch] - c.scenario.workload.batch;
  REQUIRE(canvas->find_tag("memory.free_bytes"));
  CHECK(canvas->find_tag("memory.free_bytes")->readout.rows[1].second == format_count(more));
}

TEST_CASE("serving-memory: a batch that does not fit says what would, and has no free row") {
  engine::Scenario scenario = case_of("llama3-70b-serving-8-h100").scenario;
  scenario.workload.batch = 100000;
  const FigureCase c = evaluated(scenario);
  CHECK(takeaway("serving-memory", c).find("does not fit") != std::string::npos);
  CHECK_FALSE(shown_small("serving-memory", c)->find_tag("memory.free_bytes"));
}
