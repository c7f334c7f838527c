// An order of a pipeline's operations in the window: dropped as a file, marked where it does not suit, taken back.
#include <doctest/doctest.h>

#include "app/shell/commands.h"
#include "engine/frameworks/rules.h"
#include "engine/pipeline/given_order.h"
#include "tests/app/window/ui_checks.h"
#include "tests/engine/io/io_fixture.h"

using namespace roofscape;
using test::drawn;
using test::Harness;
using widgets::Key;

namespace {

engine::Scenario two_stages() {
  engine::Scenario s = test::preset("llama3-8b-8-h100");
  s.parallelism.fsdp = 4, s.parallelism.pipeline = 2;
  s.pipeline.schedule = engine::ScheduleKind::one_f_one_b, s.pipeline.virtual_stages = 1;
  s.workload.global_batch_sequences = 8;  // two microbatches
  return s;
}

struct TwoStages : Harness {
  TwoStages() : Harness(two_stages(), "", 1920, 1080) {}
  void drop_order(const std::string& csv) {
    folder.write("order.csv", csv);
    workspace.drop({(folder.path() / "order.csv").string()});
    step(3);
  }
  test::TemporaryFolder folder;
};

void from_palette(Harness& h, const std::string& words) {
  h.key({widgets::key_of('P'), true, false, false});
  h.type(words);
  h.step();
  INFO((h.parts.panels.palette.entries.empty() ? std::string("nothing")
                                               : h.parts.panels.palette.entries.front().title));
  REQUIRE_FALSE(h.parts.panels.palette.entries.empty());
  h.key({Key::enter});
  h.step();
}

bool offered(Harness& h) {
  REQUIRE(h.reach("pipeline.given_order"));
  return !drawn(h, h.workspace.texts().text("ui.pipeline.own_order"));
}

}  // namespace

TEST_CASE("a dropped order runs in the scenario, as one step of undo, with its schedule and chunks") {
  TwoStages h;
  const engine::Scenario before = h.scenario();
  h.drop_order("0F0,0F1,2F0,2F1,2B0,2B1,0B0,0B1\n1F0,1F1,3F0,3B0,3F1,3B1,1B0,1B1\n");
  REQUIRE(h.scenario().pipeline.order);
  CHECK(h.scenario().pipeline.schedule == engine::ScheduleKind::interleaved_1f1b);
  CHECK(h.scenario().pipeline.virtual_stages == 2);
  CHECK(h.report().pipeline.shape.order);
  REQUIRE(h.parts.session.message());
  CHECK_FALSE(h.parts.session.message()->is_error);
  h.key({Key{'Z'}, true});
  CHECK(h.scenario() == before);
}

TEST_CASE("a broken order changes nothing and is answered with row and column") {
  TwoStages h;
  const engine::Scenario before = h.scenario();
  h.drop_order("0F0,0F1,0B0\n1F0,1B0,1F1,1B1\n");
  CHECK(h.scenario() == before);
  REQUIRE(h.parts.session.message());
  CHECK(h.parts.session.message()->is_error);
  CHECK(h.parts.session.message()->text.find("order.csv: row 1, column 2: 0F1 stands here, and 0B1 is missing") !=
        std::string::npos);
}

TEST_CASE("the switch of the rail takes a given order back") {
  TwoStages h;
  CHECK_FALSE(offered(h));
  h.drop_order("0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n");
  REQUIRE(h.reach("pipeline.given_order"));
  h.click("pipeline.given_order");
  h.step(2);
  CHECK_FALSE(h.scenario().pipeline.order);
  CHECK_FALSE(offered(h));
}

TEST_CASE("of an order that does not suit the plan the rail's control has the mark, and the title does not say it") {
  TwoStages h;
  h.drop_order("0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n");
  const auto said = [&h] {
    for (const engine::Diagnostic& d : h.report().diagnostics)
      if (d.code == "pipeline.given_order") return true;
    return false;
  };
  CHECK_FALSE(said());
  engine::Scenario more = h.scenario();
  more.workload.global_batch_sequences = 16;
  h.parts.session.update(more, false);
  h.step(2);
  CHECK(said());
  CHECK_FALSE(h.report().pipeline.shape.order);
  CHECK(h.scenario().pipeline.order);
}

TEST_CASE("an order is made for the scenario's times, as one step of undo, and says how much a device may hold") {
  TwoStages h;
  const engine::Scenario before = h.scenario();
  from_palette(h, "zb-2p");
  REQUIRE(h.scenario().pipeline.order);
  CHECK(h.scenario().pipeline.schedule == engine::ScheduleKind::zb_h1);
  CHECK(h.report().pipeline.shape.order);
  REQUIRE(h.parts.session.message());
  CHECK(h.parts.session.message()->text ==
        "An order for this plan, with up to 2 microbatches on a device, runs in this scenario");
  h.key({Key{'Z'}, true});
  CHECK(h.scenario() == before);
}

TEST_CASE("where no order can be made the reason is said and nothing changes") {
  engine::Scenario small = two_stages();
  small.cluster.chip[engine::ChipField::hbm_bytes].value = 1e9;
  Harness h(small, "", 1920, 1080);
  from_palette(h, "order chips hold");
  CHECK(h.scenario() == small);
  REQUIRE(h.parts.session.message());
  CHECK(h.parts.session.message()->is_error);
  CHECK(h.parts.session.message()->text == "No order can be made");
}

TEST_CASE("a pasted layout of Megatron-LM brings its layers and chunks, and is copied out as it came") {
  TwoStages h;
  h.parts.interaction.read_clipboard = [] { return std::string("Et*7|t*8|t*8|t*9L"); };
  h.key({widgets::key_of('V'), true, false, false});
  h.step();
  CHECK(h.scenario().pipeline.layers_per_stage == std::vector<int>{7, 8, 8, 9});
  CHECK(h.scenario().pipeline.virtual_stages == 2);
  std::string copied;
  h.workspace.actions().copy_text = [&copied](const std::string& text) { copied = text; };
  from_palette(h, "copy layers megatron");
  CHECK(copied == "Et*7|t*8|t*8|t*9L");
  from_palette(h, "copy layers torchtitan");
  CHECK(copied.starts_with(R"([["tok_embeddings","layers.0")"));
}

TEST_CASE("a plan is copied out for a launcher, or its broken rule is said and the nearest plan can be taken") {
  Harness h("llama3-405b-16k-h100");
  std::string copied;
  h.workspace.actions().copy_text = [&copied](const std::string& text) { copied = text; };
  const auto run = [&h](std::string_view id) {
    const app::Command* command = app::find_command(id);
    REQUIRE(command != nullptr);
    CHECK((command->enabled == nullptr || command->enabled(h.workspace)));
    command->run(h.workspace);
    h.step();
  };
  run("edit.copy_for.megatron");
  CHECK(copied.find("--tensor-model-parallel-size 8\n") != std::string::npos);
  copied.clear();
  run("edit.copy_for.deepspeed");
  CHECK(copied.empty());
  REQUIRE(h.parts.session.message());
  CHECK(h.parts.session.message()->is_error);
  CHECK(h.parts.session.message()->text.find("DeepSpeed cannot run this plan: ZeRO 2") != std::string::npos);
  run("edit.nearest_for.deepspeed");
  CHECK(engine::broken_rule(engine::Framework::deepspeed, h.scenario()) == nullptr);
  CHECK(h.parts.session.history().undo_depth() == 1);
  run("edit.copy_for.deepspeed");
  CHECK(copied.find("\"train_batch_size\": 128") != std::string::npos);
  CHECK_FALSE(app::find_command("edit.copy_for.vllm")->enabled(h.workspace));
}
