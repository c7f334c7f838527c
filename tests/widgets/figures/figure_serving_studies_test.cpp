// The figures kv, serving-roofline and prefill-decode, and the limits in latency-throughput: what each must show.
// That they are clean at any size is in figure_serving_test.cpp.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/widgets/figures/preset_fixture.h"
#include "widgets/canvas/number_format.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using engine::Q;

namespace {

std::unique_ptr<RecordCanvas> shown(const char* figure, const FigureCase& c, const FigureView& view = {}) {
  return drawn(figure, c, "dark", 15, 700, 460, view);
}
std::string table(const char* figure, const FigureCase& c) {
  const Theme dark = theme("dark");
  return find_figure(figure)->data(input_of(c, dark), {});
}
// Strokes through the letters of a turned text, the grid aside.
int lines_across(const RecordCanvas& canvas, const TextRun& run) {
  const auto inside = [&](Point p) {
    int sides = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const Point a = run.corners[i], way = run.corners[(i + 1) % 4] - a, to = p - a;
      sides += way.x * to.y - way.y * to.x > 0 ? 1 : -1;
    }
    return std::abs(sides) == 4;
  };
  int n = 0;
  for (const Primitive& p : canvas.primitives()) {
    if (p.kind != Primitive::Kind::stroke || p.colour == theme("dark").grid) continue;
    bool through = false;
    for (std::size_t i = 1; i < p.points.size(); ++i) {
      const Point from = p.points[i - 1], way = p.points[i] - from;
      for (int k = 0; k <= 200; ++k) through = through || inside(from + way * (static_cast<float>(k) / 200));
    }
    n += through;
  }
  return n;
}
FigureCase limited(const char* preset, double ttft_s, double token_s) {
  engine::Scenario s = case_of(preset).scenario;
  s.workload.slo = {ttft_s, token_s};
  return evaluated(s);
}

}  // namespace

TEST_CASE("kv: the plan's point stands at its own cache, and levels are those of its weights and memory") {
  const FigureCase& c = case_of("llama3-70b-serving-8-h100");
  const auto canvas = shown("kv", c);
  CHECK(canvas->find_text("batch 128"));
  const TagRegion* own = canvas->find_tag("workload.batch");
  REQUIRE(own);
  CHECK(own->readout.rows[0].second == format(*c.report.quantities[Q::memory_kv_cache], engine::unit::bytes));
  REQUIRE(canvas->find_tag("memory.weights_bytes"));
  CHECK(canvas->find_tag("memory.weights_bytes")->readout.title ==
        "weights, " + format(*c.report.quantities[Q::memory_weights], engine::unit::bytes));
  REQUIRE(canvas->find_tag("memory.capacity_bytes"));
  CHECK(canvas->find_tag("memory.capacity_bytes")->readout.title == "memory, 80\u202fGB");
}
TEST_CASE("kv: every length has its name at its line, and the crossing with the weights its batch") {
  const auto canvas = shown("kv", case_of("llama3-70b-serving-8-h100"));
  for (const char* text : {"640 tokens", "2560 tokens", "10\u202f240 tokens", "weights", "memory"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
  CHECK(canvas->find_tag("serving.kv_equals_weights_batch"));
  // 70.55 GB over 163 840 B x 2560 are 168.2 sequences.
  CHECK(
      takeaway("kv", case_of("llama3-70b-serving-8-h100")).find("at least as large as they are from batch 169 on") !=
      std::string::npos);
}
TEST_CASE("kv: no line runs through the name of another length") {
  for (const char* preset : {"llama2-13b-16-v5e", "llama3-70b-16-v5e", "llama3-8b-serving-8-h100"}) {
    CAPTURE(preset);
    const auto canvas = drawn("kv", calibrated_case(preset), "dark", 9, 425, 283);
    for (const TextRun& run : canvas->texts())
      if (run.style.angle != 0) {
        CAPTURE(run.text);
        CHECK(lines_across(*canvas, run) == 0);
      }
  }
}
TEST_CASE("kv: along the length it says where the model was not made for any more") {
  const FigureView view = view_of("kv", {{"over", "length"}});
  const auto canvas = shown("kv", case_of("llama3-8b-serving-8-h100"), view);
  CHECK(canvas->find_tag("serving.sequence_tokens"));
  CHECK(canvas->find_text("tokens of a sequence \u2192"));
}

TEST_CASE("serving-roofline: linear layers and attention of both phases, each with its intensity") {
  const auto canvas = shown("serving-roofline", case_of("llama3-70b-16-v5e"));
  for (const char* text :
       {"prefill, linear", "prefill, attention", "decoding, linear, batch 32", "decoding, attention"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
  const TagRegion* attention = canvas->find_tag("serving.decode.attention_s");
  REQUIRE(attention);
  CHECK(attention->readout.rows[0].second == "16\u202fFLOP/B");
}
TEST_CASE("serving-roofline: the critical batch stands at the ridge") {
  const auto canvas = shown("serving-roofline", case_of("llama3-70b-16-v5e"));
  CHECK(canvas->find_text("critical batch 120"));
  REQUIRE(canvas->find_tag("serving.critical_batch_sequences"));
  CHECK(canvas->find_tag("serving.critical_batch_sequences")->readout.rows[0].second == "240\u202fFLOP/B");
}
TEST_CASE("serving-roofline: beyond the critical batch linear layers are said to be at the peak") {
  engine::Scenario s = case_of("llama3-70b-16-v5e").scenario;
  s.workload.batch = 256;
  CHECK(takeaway("serving-roofline", evaluated(s)) == "with batch 256 linear layers of decoding are at the peak");
}
TEST_CASE("serving-roofline: calibrated, the roof is that of the mode, and the data sheet's is named beside it") {
  engine::Scenario s = case_of("llama3-70b-serving-8-h100").scenario;
  s.assumptions.mode = engine::Mode::calibrated;
  const FigureCase c = evaluated(s);
  const auto canvas = shown("serving-roofline", c);
  CHECK(canvas->find_text(format(*c.report.quantities[Q::peak_flops], engine::unit::flop_per_s)));
  CHECK(canvas->find_text("peak 1.98\u202fPFLOP/s"));
  CHECK_FALSE(shown("serving-roofline", case_of("llama3-70b-serving-8-h100"))->find_text("peak 1.98\u202fPFLOP/s"));
}

TEST_CASE("prefill-decode: the plan's split and the best one are marked, with what they serve for each GPU") {
  const FigureCase& c = case_of("deepseek-v3-h800-wide-expert");
  const auto canvas = shown("prefill-decode", c);
  CHECK(canvas->find_text("this plan, 160"));
  CHECK(canvas->find_text("served"));
  const TagRegion* own = canvas->find_tag("serving.prefill_chips");
  REQUIRE(own);
  CHECK(own->readout.title == "160 prefill, 128 decoding");
  CHECK(own->readout.rows[2].second ==
        format(*c.report.quantities[Q::requests_per_s] / 288, engine::unit::requests_per_s));
}
TEST_CASE("prefill-decode: plans whose chips do both are a line of their own") {
  const auto canvas = shown("prefill-decode", case_of("llama3-8b-serving-8-h100"));
  CHECK(canvas->find_text("all chips do both"));
  CHECK_FALSE(shown("prefill-decode", case_of("deepseek-v3-h800-wide-expert"))->find_text("all chips do both"));
}

TEST_CASE("queue: three percentiles of the first token, and of the time per token where that is asked for") {
  const FigureCase& c = case_of("llama3-70b-serving-8-h100");
  const auto canvas = shown("queue", c);
  for (const char* text : {"p50", "p90", "p99"}) CHECK(canvas->find_text(text));
  CHECK(canvas->find_tag("serving.ttft_s"));
  const FigureView view = view_of("queue", {{"time", "per-token"}});
  CHECK(shown("queue", c, view)->find_tag("serving.sustained_time_per_token_s"));
}
TEST_CASE("queue: the scenario's own arrivals and its promised first token are marked") {
  engine::Scenario s = case_of("llama3-70b-serving-8-h100").scenario;
  s.workload.arrivals_per_s = 10;
  s.workload.slo.ttft_s = 0.05;
  const auto canvas = shown("queue", evaluated(s));
  CHECK(canvas->find_text("now 10"));
  CHECK(canvas->find_text("target 50.0\u202fms"));
}
TEST_CASE("queue: the times that the takeaway tells stand at their dots") {
  const FigureCase& c = case_of("llama3-70b-serving-8-h100");
  const auto canvas = shown("queue", c);
  const std::string told = takeaway("queue", c);
  int dots = 0;
  for (const TextRun& run : canvas->texts())
    if (run.text.ends_with("\u202fms") && told.find(run.text) != std::string::npos) ++dots;
  CHECK(dots == 2);
}

TEST_CASE("latency-throughput: a promised time per token is a box with its limit, without one there is none") {
  CHECK(shown("latency-throughput", limited("llama3-70b-serving-8-h100", 0, 0.01))->find_text("target 10\u202fms"));
  const auto without = shown("latency-throughput", case_of("llama3-70b-serving-8-h100"));
  CHECK(std::none_of(without->texts().begin(), without->texts().end(),
                     [](const TextRun& t) { return t.text.starts_with("target"); }));
}
TEST_CASE("latency-throughput: with limits the takeaway names the best point that keeps them, or that none does") {
  CHECK(takeaway("latency-throughput", limited("llama3-70b-serving-8-h100", 0, 0.01))
            .find("within the limits tensor 8 at batch") != std::string::npos);
  CHECK(takeaway("latency-throughput", limited("llama3-70b-serving-8-h100", 0, 1e-4))
            .find("no point keeps the limits") != std::string::npos);
}
TEST_CASE("latency-throughput: the table says which points keep the limits") {
  const std::string data = table("latency-throughput", limited("llama3-70b-serving-8-h100", 0, 0.01));
  CHECK(data.find("\tyes\tno\t") != std::string::npos);
  CHECK(data.find("\tyes\tyes\t") != std::string::npos);
}
TEST_CASE("latency-throughput with limits is clean at any size and with long words") {
  for (const double limit : {0.002, 0.01, 0.5})
    check_clean_everywhere(*find_figure("latency-throughput"), limited("llama3-70b-serving-8-h100", 1, limit), {});
}
TEST_CASE("the options of the figures of serving are clean too") {
  for (const char* preset : {"llama2-13b-16-v5e", "llama3-8b-serving-8-h100", "deepseek-v3-h800-wide-expert"})
    for (const char* figure : {"kv", "queue"})
      for (const FigureView& view : views_of(*find_figure(figure))) {
        CAPTURE(preset);
        check_clean_everywhere(*find_figure(figure), case_of(preset), view);
      }
}
