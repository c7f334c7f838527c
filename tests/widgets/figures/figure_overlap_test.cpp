#include <doctest/doctest.h>

#include "engine/studies/layer_overlap.h"
#include "tests/widgets/figures/preset_fixture.h"
#include "widgets/canvas/number_format.h"
#include "widgets/canvas/palette.h"

#include <algorithm>
#include <map>

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {

// DP, FSDP, HSDP or TP, as the option names them.
FigureView with_strategy(std::string_view id) { return view_of("overlap", {{"strategy", id}}); }

}  // namespace

TEST_CASE("a plan's lanes are its compute and the axes that move something") {
  const auto canvas = drawn("overlap", preset_case("llama3-70b-v5p-pod"), "dark", 15, 560, 400);
  for (const char* name : {"compute", "fsdp 1024", "tensor 4", "context 2", "forward", "backward"}) {
    CAPTURE(name);
    CHECK(canvas->find_text(name));
  }
  CHECK_FALSE(canvas->find_text("data 1"));
}

TEST_CASE("weights are gathered for the next layer while a layer computes, forward upwards and backward downwards") {
  const std::string data = find_figure("overlap")->data(input_of(preset_case("llama3-8b-8-h100"), theme("dark")), {});
  CHECK(data.find("plan\tfsdp\tgather\tforward\t15\t0\t") != std::string::npos);  // under layer 14
  CHECK(data.find("plan\tfsdp\tgather\tbackward\t15\t") != std::string::npos);    // under layer 16
  CHECK(data.find("plan\tfsdp\ttransfer\tbackward\t17\t") != std::string::npos);  // its gradients, under layer 16
}

TEST_CASE("what is exposed is named and hatched on the compute lane") {
  const auto exposed = drawn("overlap", preset_case("deepseek-v3-2048-h800"), "dark", 15, 560, 400);
  CHECK(exposed->find_text("exposed"));
  CHECK(exposed->count_tags("layer.exposed_forward_s") == 3);
  const auto hidden = drawn("overlap", preset_case("llama3-8b-8-h100"), "dark", 15, 560, 400);
  CHECK_FALSE(hidden->find_text("exposed"));
  CHECK(hidden->count_tags("layer.exposed_forward_s") == 0);
}

TEST_CASE("each plain strategy has its own lanes") {
  const FigureCase c = preset_case("llama3-8b-8-h100");
  CHECK(drawn("overlap", c, "dark", 15, 560, 400, with_strategy("dp"))->find_text("data 8"));
  CHECK(drawn("overlap", c, "dark", 15, 560, 400, with_strategy("fsdp"))->find_text("fsdp 8"));
  CHECK(drawn("overlap", c, "dark", 15, 560, 400, with_strategy("hsdp"))->find_text("fsdp 8"));
  CHECK(drawn("overlap", c, "dark", 15, 560, 400, with_strategy("tp"))->find_text("tensor 8"));
}

TEST_CASE("calibrated, what is computed again takes the kernels' time, which the step counts") {
  engine::Scenario s = preset_case("llama3-8b-8-h100").scenario;
  s.checkpointing.policy = engine::CheckpointPolicy::block;
  for (const engine::Mode mode : {engine::Mode::ideal, engine::Mode::calibrated, engine::Mode::custom}) {
    s.assumptions.mode = mode;
    const FigureCase c = evaluated(s);
    const engine::LayerOverlap o = engine::layer_overlap(c.scenario, c.report);
    const auto q = [&](engine::Q id) { return c.report.quantities.value_or(id, 0); };
    CAPTURE(static_cast<int>(mode));
    CHECK(o.forward.compute_s == q(engine::Q::layer_work_forward));
    CHECK(o.backward.recompute_s == q(engine::Q::layer_again));
    if (mode != engine::Mode::ideal)  // the 6 P convention has the vocabulary again too
      CHECK(o.backward.recompute_s * q(engine::Q::layers_a_stage) == doctest::Approx(q(engine::Q::step_recompute)));
  }
}

TEST_CASE("what moves once per step says which part of it a microbatch's layer carries") {
  engine::Scenario s = preset_case("llama3-8b-8-h100").scenario;
  s.parallelism = {};
  s.parallelism.data = 8;
  s.parallelism.zero_stage = 0;
  const FigureCase c = evaluated(s);
  const double microbatches = *c.report.quantities[engine::Q::microbatches];
  REQUIRE(microbatches > 2);
  const engine::LayerOverlap o = engine::layer_overlap(c.scenario, c.report);
  const auto data = static_cast<std::size_t>(engine::Axis::data);
  CHECK(o.carried[data] == doctest::Approx(1 / microbatches));
  // The parts of all microbatches are the AllReduce, whole.
  double all_reduce = 0;
  for (const engine::CollectiveRow& row : c.report.collectives)
    if (row.axis == engine::Axis::data) all_reduce = row.time_s;
  CHECK(o.backward.transfer_s[data] * microbatches == doctest::Approx(all_reduce));
  const auto canvas = drawn("overlap", c, "dark", 15, 1100, 400);
  bool said = false;
  for (const TextRun& run : canvas->texts()) said = said || run.text.starts_with("Once per step");
  CHECK(said);
}

TEST_CASE("strategies share one axis of time") {
  const FigureCase c = preset_case("llama3-8b-8-h100");
  const auto canvas = drawn("overlap", c, "dark", 15, 1100, 700, with_strategy("all"));
  // The longest layer reaches the end of the axis; blocks of a shorter one end before.
  std::map<int, float> ends;
  int strategy = -1;
  for (const TagRegion& tag : canvas->tags()) {
    if (tag.id == "overlap.strategy")
      strategy = tag.index;
    else
      ends[strategy] = std::max(ends[strategy], tag.rect.right());
  }
  float longest = 0, shortest = 1e9f;
  for (const auto& [which, right] : ends) longest = std::max(longest, right), shortest = std::min(shortest, right);
  CHECK(shortest < longest - 20);
}

TEST_CASE("a strategy that could not run says why instead of times") {
  const auto canvas = drawn("overlap", preset_case("llama3-70b-v5p-pod"), "dark", 15, 560, 400, with_strategy("dp"));
  CHECK(canvas->find_text("Would not run: Too few sequences"));
  CHECK(canvas->count_tags("overlap.block") == 0);
}

TEST_CASE("all strategies stand under one another, each with its layer's time, its exposed share and its lanes") {
  const FigureCase c = preset_case("llama3-8b-8-h100");
  const auto canvas = drawn("overlap", c, "dark", 15, 1100, 700, with_strategy("all"));
  for (const char* text :
       {"the plan", "DP", "FSDP", "HSDP", "TP", "data 8", "fsdp 8", "tensor 8", "a layer", "exposed"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
  CHECK(canvas->count_tags("overlap.strategy") == 5);
  // The share that the figure of one strategy tells of tensor parallelism alone.
  const Theme dark = theme("dark");
  const FigureHead alone = find_figure("overlap")->head(input_of(c, dark), with_strategy("tp"));
  const TagRegion* tp = canvas->find_tag("overlap.strategy", static_cast<int>(engine::Strategy::tensor));
  REQUIRE(tp);
  CHECK(alone.takeaway.starts_with(tp->readout.rows[0].second + " exposed"));
}

TEST_CASE("with all strategies the takeaway is the plan's share and the plain strategy that exposes least") {
  const auto told = [](const char* preset) {
    return find_figure("overlap")->head(input_of(case_of(preset), theme("dark")), with_strategy("all")).takeaway;
  };
  CHECK(told("llama3-8b-8-h100") == "the plan hides a layer's transfers, 15\u202f% of its time");
  const auto q = [](engine::Q id) { return case_of("deepseek-v3-2048-h800").report.quantities.value_or(id, 0); };
  const double exposed = q(engine::Q::layer_exposed_forward) + q(engine::Q::layer_exposed_backward),
               layer = q(engine::Q::layer_time_forward) + q(engine::Q::layer_time_backward);
  CHECK(told("deepseek-v3-2048-h800")
            .starts_with("the plan exposes " + format_share(exposed / layer) +
                         " of a layer; of the plain strategies that run "));
}

TEST_CASE("strategies that could not run say so") {
  const auto canvas =
      drawn("overlap", preset_case("llama3-70b-v5p-pod"), "dark", 15, 1100, 700, with_strategy("all"));
  const TagRegion* dp = canvas->find_tag("overlap.strategy", static_cast<int>(engine::Strategy::data));
  REQUIRE(dp);
  CHECK(dp->readout.rows.back().second == "Too few sequences");
}

TEST_CASE("a page has room for every strategy of a plan with four streams") {
  FigureView view = with_strategy("all");
  view.print = true;
  const auto canvas = drawn("overlap", preset_case("llama3-70b-v5p-pod"), "print", 9, 425, 284, view);
  CHECK(canvas->count_tags("overlap.strategy") == 5);
  CHECK(canvas->audit_text() == "");
}

TEST_CASE("the key explains the numbers of layers only where a block has one") {
  const std::string_view note = english().text("figure.overlap.note");
  CHECK(drawn("overlap", preset_case("llama3-8b-8-h100"), "dark", 15, 1000, 500)->find_text(note));
  CHECK_FALSE(
      drawn("overlap", preset_case("llama3-8b-8-h100"), "print", 9, 425, 170, with_strategy("all"))->find_text(note));
}

TEST_CASE("lanes too low for names have their axes in the key") {
  const auto canvas = drawn("overlap", preset_case("llama3-70b-v5p-pod"), "dark", 15, 900, 300, with_strategy("all"));
  CHECK_FALSE(canvas->find_text("fsdp 1024"));
  for (const char* axis : {"data", "fsdp", "tensor", "context"}) CHECK(canvas->find_text(axis));
}

TEST_CASE("where the height is short the plan keeps its place and the last strategies go") {
  const auto canvas = drawn("overlap", preset_case("llama3-70b-v5p-pod"), "dark", 15, 480, 200, with_strategy("all"));
  CHECK(canvas->find_text("the plan"));
  CHECK_FALSE(canvas->find_text("TP"));
}

TEST_CASE("where a layer hides its transfers the takeaway says what the step exposes elsewhere") {
  const FigureCase c = preset_case("llama3-405b-16k-h100-8k");
  const FigureHead head = find_figure("overlap")->head(input_of(c, theme("dark")), {});
  CHECK(head.takeaway == "a layer hides its transfers, 29\u202f% of its time; elsewhere " +
                             format_duration(*c.report.quantities[engine::Q::step_fsdp]) + " per step are exposed");
}

TEST_CASE("a layer without transfers is no step without them") {
  const FigureCase c = evaluated(tests::with(preset_case("llama3-8b-8-h100").scenario,
                                             {"cluster.nodes=16", "parallelism.pipeline=2", "parallelism.data=8",
                                              "parallelism.zero_stage=1", "workload.global_batch_sequences=256"}));
  const auto q = [&](engine::Q id) { return c.report.quantities.value_or(id, 0); };
  CHECK(find_figure("overlap")->head(input_of(c, theme("dark")), {}).takeaway ==
        "no transfers in a layer of " +
            format_duration(q(engine::Q::layer_time_forward) + q(engine::Q::layer_time_backward)) + "; elsewhere " +
            format_duration(q(engine::Q::step_data)) + " per step are exposed");
}

TEST_CASE("weights gathered ahead have a shade of their own in both passes, which the key names") {
  const auto canvas = drawn("overlap", preset_case("llama3-8b-8-h100"), "dark", 15, 900, 500);
  CHECK(canvas->find_text("weights gathered ahead"));
  const Theme dark = theme("dark");
  const Colour shade = chunk_of(dark, fill_of(dark, StepPart::fsdp, 15), 1, 2).colour;
  int blocks = 0;
  for (const Primitive& p : canvas->primitives()) blocks += p.kind == Primitive::Kind::fill && p.colour == shade;
  CHECK(blocks == 3 + 3 + 1);  // layers forward, backward, and the key
  CHECK_FALSE(drawn("overlap", preset_case("deepseek-v3-2048-h800"), "dark", 15, 900, 500)
                  ->find_text("weights gathered ahead"));  // ZeRO-1 gathers none
}

TEST_CASE("the overlap takeaway says how much of a layer's time is exposed") {
  const FigureCase c = preset_case("deepseek-v3-2048-h800");
  const auto q = [&](engine::Q id) { return c.report.quantities.value_or(id, 0); };
  const double exposed = q(engine::Q::layer_exposed_forward) + q(engine::Q::layer_exposed_backward),
               layer = q(engine::Q::layer_time_forward) + q(engine::Q::layer_time_backward);
  CHECK(find_figure("overlap")->head(input_of(c, theme("dark")), {}).takeaway ==
        format_duration(exposed) + " exposed in a layer, " + format_share(exposed / layer) +
            " of its time; overlapped pairs of passes hide " + format_share(1 - q(engine::Q::exposed_left)) +
            " of it");
  const FigureCase plain = evaluated(tests::with(c.scenario, {"pipeline.schedule=1f1b"}));
  CHECK(find_figure("overlap")->head(input_of(plain, theme("dark")), {}).takeaway.ends_with("of its time"));
}

TEST_CASE(
    "a plan that is drawn once more is magnified by what it is shorter than the longest, on torus and switches") {
  int magnified = 0, plain = 0;
  for (const char* preset : {"llama3-405b-16k-h100", "llama3-70b-v5p-pod", "llama3-70b-v5p-4-pods",
                             "deepseek-v3-2048-h800", "llama3-8b-8-h100", "gpt3-175b-1024-a100"})
    for (const engine::Mode mode : {engine::Mode::ideal, engine::Mode::calibrated}) {
      CAPTURE(preset);
      CAPTURE(static_cast<int>(mode));
      engine::Scenario s = preset_case(preset).scenario;
      s.assumptions.mode = mode;
      const FigureCase c = evaluated(s);
      const auto layer_s = [&](engine::Strategy strategy) {
        const auto o = strategy == engine::Strategy::plan ? engine::layer_overlap(c.scenario, c.report)
                                                          : engine::layer_overlap(c.scenario, strategy);
        return o.forward.total_s() + o.backward.total_s();
      };
      const double own = layer_s(engine::Strategy::plan);
      double longest = own;
      for (const engine::Strategy strategy :
           {engine::Strategy::data, engine::Strategy::fsdp, engine::Strategy::hybrid, engine::Strategy::tensor})
        longest = std::max(longest, layer_s(strategy));
      const auto canvas = drawn("overlap", c, "dark", 15, 900, 700, with_strategy("all"));
      const bool wanted = own < 0.4 * longest;
      CHECK((canvas->find_text("magnified " + format_ratio(longest / own)) != nullptr) == wanted);
      CHECK(canvas->count_tags("layer.work_forward_s") == (wanted ? 6 : 3));  // the plan's layers, and once more
      (wanted ? magnified : plain) += 1;
    }
  CHECK(magnified > 0);
  CHECK(plain > 0);
}
