// The figures of the book's charts on shipped presets: clean at all sizes, with all their options and with long
// words; and what each of them must show.
#include <doctest/doctest.h>

#include <set>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "tests/capture_binding.h"
#include "tests/widgets/figures/preset_fixture.h"
#include "widgets/canvas/number_format.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {

constexpr std::string_view kBookFigures[]{"network", "comm-roofline", "matmul", "collective", "sharded-matmul"};
constexpr const char* kBookPresets[]{"llama3-70b-v5p-pod", "llama3-405b-16k-h100", "deepseek-v3-2048-h800",
                                     "llama3-8b-8-h100"};

std::unique_ptr<RecordCanvas> book(const char* figure, const char* preset, FigureView view = {}, float width = 900,
                                   float height = 500) {
  return drawn(figure, case_of(preset), "dark", 15, width, height, view);
}

}  // namespace

TEST_CASE("figures of the book are clean at any size, with all options and long words") {
  for (const char* preset : kBookPresets)
    for (const std::string_view name : kBookFigures) {
      const FigureRow& row = *find_figure(name);
      for (FigureView view : views_of(row)) {
        CAPTURE(preset);
        CAPTURE(name);
        CAPTURE(static_cast<int>(view.choices[0]));
        CAPTURE(static_cast<int>(view.choices[1]));
        CAPTURE(static_cast<int>(view.choices[2]));
        const FigureCase& c = case_of(preset);
        check_clean_everywhere(row, c, view);
      }
    }
}

TEST_CASE("figures of the book have a takeaway and a table for every preset") {
  for (const char* preset : kBookPresets)
    for (const std::string_view name : kBookFigures) {
      CAPTURE(preset);
      CAPTURE(name);
      const FigureRow& row = *find_figure(name);
      check_takeaway_and_table(row, case_of(preset));
    }
}

TEST_CASE("network: crossings of the book's block are its bounds, at their place and with their number") {
  const auto canvas = book("network", "llama3-70b-v5p-pod", view_of("network", {{"layer", "mlp"}}));
  for (const auto& [id, tokens, text] : {std::tuple{"bounds.mixed_tokens_per_chip_sum", 453.6, "454"},
                                         std::tuple{"bounds.fsdp_tokens_per_chip_3_axes", 850.0, "850"},
                                         std::tuple{"bounds.mixed_tokens_per_chip_max", 113.4, "113"}}) {
    CAPTURE_BINDING(id);
    REQUIRE(canvas->count_tags(id) == 1u);
    CHECK(canvas->find_tag(id)->rect.centre().x ==
          doctest::Approx(between_ticks(*canvas, "32", 32, "2048", 2048, tokens, false)).epsilon(0.002));
    CHECK(canvas->find_text(text));
  }
  CHECK(canvas->find_text("now 512"));
}

TEST_CASE("network: regions and lines are named where they are") {
  const auto canvas = book("network", "llama3-70b-v5p-pod");
  for (const char* text : {"this plan: network-bound", "this plan: hidden", "compute", "this plan"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
  const auto all = book("network", "llama3-70b-v5p-pod", view_of("network", {{"alternatives", "all"}}));
  for (const char* text : {"this plan", "FSDP on 3 axes", "FSDP + tensor, sum"}) {
    CAPTURE(text);
    CHECK(all->find_text(text));
  }
}

TEST_CASE("network: where pairs of passes hide, the region is that of the plan without pairs") {
  CHECK(book("network", "deepseek-v3-2048-h800")->find_text("this plan without pairs: network-bound"));
  const FigureCase c = evaluated(tests::with(case_of("deepseek-v3-2048-h800").scenario, {"pipeline.schedule=1f1b"}));
  CHECK(drawn("network", c, "dark", 15, 900, 500)->find_text("this plan: network-bound"));
}

TEST_CASE("network: unless all are asked for, one alternative stands beside the plan") {
  for (const char* preset : {"llama3-70b-v5p-pod", "llama3-405b-16k-h100-8k"}) {
    const auto canvas = book("network", preset);
    std::set<std::string> lines;
    for (const TagRegion& t : canvas->tags())
      if (t.id.starts_with("network.") && !t.id.starts_with("network.crossing")) lines.insert(t.id);
    CAPTURE(preset);
    CHECK(lines.size() == 3u);  // arithmetic, the plan, the alternative
    CHECK(lines.contains("network.compute"));
    CHECK(lines.contains("network.plan"));
  }
}

TEST_CASE("network: its takeaway says what the present batch needs") {
  const Theme dark = theme("dark");
  CHECK(find_figure("network")->head(input_of(case_of("llama3-70b-v5p-pod"), dark), {}).takeaway ==
        "512 tokens per chip: this plan's forward pass is network-bound below 534");
  // Tensor parallelism alone moves and computes in proportion to the tokens.
  CHECK(find_figure("network")->head(input_of(case_of("llama3-405b-16k-h100-8k"), dark), {}).takeaway ==
        "1024 tokens per GPU: this plan's forward pass hides, at any batch");
}

TEST_CASE("network: gradients that are reduced behind a pipeline hide under no layer") {
  const FigureCase c = evaluated(
      tests::with(case_of("llama3-8b-8-h100").scenario,
                  {"cluster.nodes=16", "parallelism.pipeline=2", "parallelism.data=8", "parallelism.fsdp=4",
                   "parallelism.tensor=2", "parallelism.zero_stage=1", "workload.global_batch_sequences=256"}));
  const FigureView backward = view_of("network", {{"pass", "backward"}});
  const auto canvas = drawn("network", c, "dark", 15, 900, 500, backward);
  const std::string end = format_duration(*c.report.quantities[engine::Q::step_data]);
  CHECK(canvas->find_text("After the last microbatch this plan reduces gradients: " + end +
                          " per step that no layer hides."));
  CHECK(find_figure("network")->head(input_of(c, theme("dark")), backward).takeaway ==
        "16\u202f384 tokens per GPU: this plan's backward pass hides, from 31.5 on; the plan exposes " + end +
            " at the step's end");
  // Forward nothing is reduced; with fewer tokens the hops of its messages outlast the arithmetic.
  CHECK(find_figure("network")->head(input_of(c, theme("dark")), {}).takeaway ==
        "16\u202f384 tokens per GPU: this plan's forward pass hides, from 31.5 on");
}

TEST_CASE("network: the shade ends where the plan's own line meets the arithmetic") {
  for (const char* preset : {"llama3-70b-v5p-pod", "llama3-8b-8-h100"}) {
    CAPTURE(preset);
    const auto canvas = book("network", preset);
    const TagRegion* crossing = canvas->find_tag("network.crossing.plan");
    REQUIRE(crossing);
    float shade_end = 0;
    for (const Primitive& p : canvas->primitives())
      if (p.kind == Primitive::Kind::fill && p.points.size() == 4 && std::abs(p.points[2].y - p.points[0].y) > 100)
        shade_end = std::max(p.points[0].x, p.points[2].x);
    CHECK(shade_end == doctest::Approx(crossing->rect.centre().x).epsilon(1e-3));
  }
}

TEST_CASE("network: a plan that gathers weights for every microbatch says why it hides later than FSDP") {
  const auto has_note = [](const char* preset) {
    return book("network", preset)
               ->find_text(
                   "This plan gathers weights for each of its 16 microbatches, the other lines once per step.") !=
           nullptr;
  };
  CHECK(has_note("llama3-8b-8-h100"));          // ZeRO-3, 16 microbatches of a sequence
  CHECK_FALSE(has_note("llama3-70b-v5p-pod"));  // ZeRO-3, one
}

TEST_CASE("network: a strategy that is the plan's line to the pixel is named with it") {
  const auto canvas = book("network", "llama3-405b-16k-h100-8k", view_of("network", {{"alternatives", "all"}}));
  CHECK(canvas->find_text("this plan, tensor 8"));
  CHECK_FALSE(canvas->find_text("tensor 8"));
}

TEST_CASE("network: of a whole layer it also says from where the book's two matrices hide") {
  constexpr const char* kNote =
      "Of the book's two matrices alone, as the bounds count them, FSDP + tensor hides from 454 on.";
  CHECK(book("network", "llama3-70b-v5p-pod")->find_text(kNote));
  CHECK_FALSE(book("network", "llama3-70b-v5p-pod", view_of("network", {{"layer", "mlp"}}))->find_text(kNote));
}

TEST_CASE("comm-roofline: the flat roof's number type and height stand in the title of its axis") {
  CHECK(book("comm-roofline", "llama3-70b-v5p-pod")
            ->find_text("\u2191 reachable FLOP/s per chip; bf16 peak 459\u202fTFLOP/s"));
}

TEST_CASE("comm-roofline: every tier keeps its name in a small window") {
  const auto canvas = book("comm-roofline", "llama3-405b-16k-h100", {}, 480, 320);
  for (const char* text :
       {"HBM 3.35\u202fTB/s", "NVLink 450\u202fGB/s", "PCIe 64\u202fGB/s", "fabric 50\u202fGB/s"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
}

TEST_CASE("comm-roofline: in a column the slopes are named in the note, from the left") {
  const auto canvas = book("comm-roofline", "llama3-405b-16k-h100", {}, 320, 320);
  std::string words;
  for (const TextRun& run : canvas->texts()) words += run.text + " ";
  const std::size_t node = words.find("NVLink 450\u202fGB/s"), fabric = words.find("fabric 50\u202fGB/s");
  CAPTURE(words);
  REQUIRE(node != std::string::npos);
  REQUIRE(fabric != std::string::npos);
  CHECK(words.find("Slopes from the left:") < node);
  CHECK(node < fabric);
  CHECK(words.find("HBM 3.35") == std::string::npos);  // it carries nothing, and is not drawn
}

TEST_CASE("comm-roofline: a dot's name stands over no other dot") {
  const auto canvas = book("comm-roofline", "llama3-405b-16k-h100");
  const TextRun* name = canvas->find_text("fsdp 8");
  REQUIRE(name);
  CHECK(name->anchor.x > canvas->find_tag("step.context_exposed_s")->rect.centre().x);
}

TEST_CASE("matmul: the regions' names keep clear of the present value") {
  const auto canvas = book("matmul", "llama3-70b-v5p-pod", {}, 560, 373);
  const TextRun* now = canvas->find_text("now 2048");
  REQUIRE(now);
  for (const TextRun& run : canvas->texts())
    if (run.text.starts_with("compute-bound"))
      CHECK(std::abs(run.bounds.centre().x - now->bounds.centre().x) > run.bounds.w / 2);
}

TEST_CASE("sharded-matmul: the moves of the two matrices are told in full in a small window") {
  const auto canvas =
      book("sharded-matmul", "llama3-70b-v5p-pod", view_of("sharded-matmul", {{"view", "mlp"}}), 480, 320);
  std::string words;
  for (const TextRun& run : canvas->texts()) words += run.text + " ";
  CHECK(words.find("AllGather In, ReduceScatter Out") != std::string::npos);
}

TEST_CASE("comm-roofline: every axis that moves something is a dot with its name, every tier a roof") {
  const auto canvas = book("comm-roofline", "llama3-405b-16k-h100");
  for (const char* text : {"tensor 8", "context 16", "fsdp 8", "pipeline 16", "NVLink 450\u202fGB/s",
                           "fabric 50\u202fGB/s", "PCIe 64\u202fGB/s"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
  REQUIRE(canvas->count_tags("step.tensor_exposed_s") == 1u);
  // Its links let it reach the peak: the dot is on the flat roof.
  CHECK(canvas->find_tag("step.tensor_exposed_s")->rect.centre().y ==
        doctest::Approx(between_ticks(*canvas, "100\u202fT", 100e12, "1\u202fP", 1e15, 989e12, true)).epsilon(0.002));
}

TEST_CASE("matmul: each mix turns at its critical batch, which is written there") {
  const auto canvas = book("matmul", "llama3-8b-8-h100");
  for (const auto& [id, peak, text] :
       {std::tuple{"matmul.critical.bf16", 989e12, "322"}, std::tuple{"matmul.critical.int8_weights", 989e12, "161"},
        std::tuple{"matmul.critical.int8", 2e15, "326"}}) {
    CAPTURE_BINDING(id);
    REQUIRE(canvas->count_tags(id) == 1u);
    CHECK(canvas->find_text(text));
    CHECK(canvas->find_tag(id)->rect.centre().y ==
          doctest::Approx(between_ticks(*canvas, "10\u202fT", 10e12, "1\u202fP", 1e15, peak, true)).epsilon(0.002));
  }
  CHECK(canvas->find_text("now 8192"));
}

TEST_CASE("collective: regimes, the size between them and the plan's message are marked") {
  const auto canvas = book("collective", "llama3-70b-v5p-pod");
  for (const char* text : {"latency-bound", "bandwidth-bound", "15.8\u202fMB", "plan 428\u202fMB", "AllReduce",
                           "AllToAll", "AllGather, ReduceScatter"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
  CHECK(canvas->find_tag("collective.crossing.all_gather")->rect.centre().x ==
        doctest::Approx(between_ticks(*canvas, "10\u202fk", 1e4, "100\u202fM", 1e8, 44e-6 * 360e9, false))
            .epsilon(0.01));
}

TEST_CASE("collective: the axis of time is numbered in durations") {
  const auto canvas = book("collective", "llama3-70b-v5p-pod");
  for (const char* text : {"\u2191 time of one collective", "100\u202f\u00b5s", "1\u202fms", "100\u202fms"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
}

TEST_CASE("collective: state that is sharded over fsdp and context names both") {
  CHECK(find_figure("collective")
            ->head(input_of(case_of("llama3-70b-v5p-pod"), theme("dark")), {})
            .takeaway.starts_with("fsdp 1024 \u00d7 context 2: latency-bound up to"));
}

TEST_CASE("collective: an axis that only exchanges says what each rank exchanges, as the topology does") {
  const FigureCase c = case_of("deepseek-v3-2048-h800");
  CHECK(find_figure("collective")->head(input_of(c, theme("dark")), {}).takeaway ==
        "expert 64: latency-bound up to 21.9\u202fMB, then an AllToAll of 114\u202fGB/s per rank");
  const FigureView published = view_of("collective", {{"hop", "published"}});
  CHECK(find_figure("collective")->head(input_of(c, theme("dark")), published).takeaway ==
        "expert 64: AllToAll of 114\u202fGB/s per rank");
}

TEST_CASE("collective: a latency that nobody publishes is a typical one, and says that it is assumed") {
  constexpr const char* kAssumed =
      "Latency of a hop: 1.00\u202f\u00b5s, assumed. Makers of these links publish none.";
  const auto gpu = book("collective", "llama3-405b-16k-h100-8k");
  CHECK(gpu->find_text(kAssumed));
  CHECK(gpu->find_text("latency-bound"));
  CHECK_FALSE(book("collective", "llama3-70b-v5p-pod")->find_text(kAssumed));  // TPU v5p: published
}

TEST_CASE("comm-roofline: what a step would hide and a forward pass does not is said") {
  const auto takeaway = [](const FigureCase& c) {
    return find_figure("comm-roofline")->head(input_of(c, theme("dark")), {}).takeaway;
  };
  CHECK(
      takeaway(case_of("deepseek-v3-2048-h800")) ==
      "over a step each axis alone can hide; expert 64 is the tightest, compute takes 1.26\u00d7 as long; forward it "
      "takes 1.41\u00d7 as long as compute");
  const engine::Scenario free_routing =
      tests::with(tests::preset("deepseek-v3-2048-h800"), {"model.moe.groups_per_token=0"});
  CHECK(takeaway(evaluated(free_routing)) ==
        "over a step expert 64 caps a GPU at 1.91\u202fPFLOP/s; forward it takes 1.85\u00d7 as long as compute");
}

TEST_CASE("collective: a group of one rank says so") {
  CHECK(book("collective", "llama3-8b-8-h100", view_of("collective", {{"group", "tensor"}}))
            ->find_text("This group has one rank: nothing to exchange."));
}

TEST_CASE("sharded-matmul: a plan of eight ranks is drawn as eight blocks, a wider one says how many are") {
  CHECK_FALSE(book("sharded-matmul", "llama3-405b-16k-h100")->find_text("8 of 8 ranks drawn"));
  FigureCase c = case_of("llama3-70b-v5p-pod");
  c.scenario.parallelism.tensor = 16;
  const auto canvas = drawn("sharded-matmul", c, "dark", 15, 900, 500);
  bool said = false;
  for (const TextRun& run : canvas->texts()) said = said || run.text.ends_with("; 8 of 16 ranks drawn");
  CHECK(said);
}

TEST_CASE("sharded-matmul: the key has the sums that are not whole yet, where there are any") {
  CHECK(book("sharded-matmul", "llama3-70b-v5p-pod")->find_text("partial sums of one rank"));
  CHECK_FALSE(book("sharded-matmul", "llama3-70b-v5p-pod", view_of("sharded-matmul", {{"view", "mlp"}}))
                  ->find_text("partial sums of one rank"));
}

TEST_CASE("matmul: a plan that computes in fp8 is judged by fp8") {
  const FigureCase c = case_of("deepseek-v3-2048-h800");
  CHECK(book("matmul", "deepseek-v3-2048-h800")->find_text("compute-bound in fp8"));
  CHECK(find_figure("matmul")->head(input_of(c, theme("dark")), {}).takeaway.starts_with("fp8 is compute-bound"));
}

TEST_CASE("sharded-matmul: every case says what moves, and every way has its time") {
  const auto canvas = book("sharded-matmul", "llama3-70b-v5p-pod");
  for (const char* text : {"1: contracting dimension not sharded", "2: contracting dimension sharded in W",
                           "3: contracting dimension sharded in both", "4: both outputs' dimensions on one axis",
                           "no communication", "AllGather W", "AllGather In", "AllReduce Out", "ReduceScatter Out"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
  for (const char* id : {"sharded-matmul.case1", "sharded-matmul.case2.all_gather.weights",
                         "sharded-matmul.case3.reduce_scatter.out", "sharded-matmul.case4.all_gather.in"}) {
    CAPTURE(id);
    CHECK(canvas->count_tags(id) == 1u);
    CHECK(canvas->find_tag(id)->readout.rows.size() <= 4);
  }
}

TEST_CASE("the collective figure says what experts send to ranks that are not its group's") {
  for (const char* mode : {"assumptions.mode=ideal", "assumptions.mode=calibrated"}) {
    const FigureCase c = evaluated(tests::with(tests::preset("gpt-oss-120b-64-h100"), {mode}));
    double experts = 0;
    for (const engine::CollectiveRow& row : c.report.collectives)
      if (row.axis == engine::Axis::fsdp) experts = std::max(experts, row.experts_bytes);
    REQUIRE(experts > 0);
    const auto canvas = drawn("collective", c, "dark", 15, 1600, 500, view_of("collective", {{"group", "fsdp"}}));
    const std::string words = "Not drawn: " + format(experts, engine::unit::bytes) +
                              " of experts, which go between the 8 ranks that hold the same ones.";
    CHECK(std::any_of(canvas->texts().begin(), canvas->texts().end(),
                      [&](const TextRun& run) { return run.text.find(words) != std::string::npos; }));
  }
}
