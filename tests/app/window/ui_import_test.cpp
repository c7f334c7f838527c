// Launch files in the window: dropped, pasted or opened, with the receipt of what was read.
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "app/shell/commands.h"
#include "tests/app/window/ui_harness.h"
#include "tests/engine/io/io_fixture.h"

using namespace roofscape;
using test::Harness;
using widgets::Key;

namespace {

// Of 64 GPUs: 8 tensor ranks, 2 pipeline stages.
constexpr const char* kMegatronScript = R"(#!/bin/bash
torchrun --nproc_per_node 8 --nnodes 8 pretrain_gpt.py \
  --tensor-model-parallel-size 8 --pipeline-model-parallel-size 2 --sequence-parallel \
  --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 \
  --group-query-attention --num-query-groups 8 --swiglu --vocab-size 128256 \
  --untie-embeddings-and-output-weights --position-embedding-type rope --normalization RMSNorm \
  --seq-length 8192 --max-position-embeddings 8192 --micro-batch-size 1 --global-batch-size 128 --bf16 \
  --use-distributed-optimizer --recompute-activations
)";
constexpr const char* kServeLine =
    "vllm serve meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size 8 --max-model-len 8192 --max-num-seqs 64";

std::string g_pasted;

struct Dropped {
  test::TemporaryFolder folder;
  std::string path;
  explicit Dropped(const std::string& name, const std::string& text) : path(folder.write(name, text).string()) {}
};

// What somebody copied, and Ctrl+V.
void paste(Harness& h, std::string copied) {
  g_pasted = std::move(copied);
  h.parts.interaction.read_clipboard = [] { return g_pasted; };
  h.key({widgets::key_of('V'), true, false, false});
  h.step(2);
}

bool shows_text(const Harness& h, const std::string& words) {
  for (const auto& text : h.canvas.drawn_texts())
    if (text.text.find(words) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("a dropped launch script opens beside what is open, with its receipt over it") {
  const Dropped file("run.sh", kMegatronScript);
  Harness h("llama3-405b-16k-h100-8k", 1280, 720);
  engine::Scenario edited = h.scenario();
  edited.workload.global_batch_sequences *= 2;
  h.parts.session.update(edited, false);
  h.workspace.drop({file.path});
  h.step(2);
  CHECK(h.parts.tabs.count() == 2);
  CHECK(h.scenario().parallelism.tensor == 8);
  CHECK(h.scenario().parallelism.pipeline == 2);
  CHECK(h.scenario().model.d_model == 4096);
  CHECK(engine::chip_count(h.scenario().cluster) == 64);
  CHECK(h.scenario().cluster.chip.id == edited.cluster.chip.id);  // the script does not say which
  REQUIRE(h.parts.panels.sheets.shown == app::Sheet::import);
  CHECK(shows_text(h, "run.sh, read as Megatron-LM"));
  CHECK(shows_text(h, "those that were open"));
  CHECK(widgets::compat::audit_draw_data().outside == 0);
  h.key({Key::escape});
  CHECK(h.parts.panels.sheets.shown == app::Sheet::none);
  CHECK(h.parts.session.history().undo_depth() == 0);
}

TEST_CASE("another cluster in the receipt changes the plan as one step of undo") {
  const Dropped file("run.sh", kMegatronScript);
  Harness h("llama3-405b-16k-h100-8k", 1280, 720);
  h.workspace.drop({file.path});
  h.step(2);
  const engine::Scenario opened = h.scenario();
  h.click("import.cluster");
  REQUIRE(h.parts.interaction.popup_open("import.cluster"));
  h.type("h200");
  h.key({Key::enter});
  h.step(2);
  CHECK(h.scenario() == opened);  // nothing changes before it is applied
  h.click("import.ok");
  h.step(2);
  CHECK(h.scenario().cluster.chip.id.find("h200") != std::string::npos);
  CHECK(engine::chip_count(h.scenario().cluster) == 64);
  CHECK(h.scenario().parallelism == opened.parallelism);
  CHECK(h.parts.session.history().undo_depth() == 1);
  h.key({widgets::key_of('Z'), true, false, false});
  CHECK(h.scenario() == opened);
}

TEST_CASE("a number of chips in the receipt takes the place of the launcher's") {
  const Dropped file("run.sh", kMegatronScript);
  Harness h("llama3-405b-16k-h100-8k", 1280, 720);
  h.workspace.drop({file.path});
  h.step(2);
  h.click("import.chips");
  h.key({widgets::key_of('A'), true, false, false});
  h.type("128");
  h.key({Key::enter});
  h.step(2);
  CHECK(shows_text(h, "overridden"));
  h.click("import.ok");
  h.step(2);
  CHECK(engine::chip_count(h.scenario().cluster) == 128);
  CHECK(h.scenario().parallelism.tensor == 8);
}

TEST_CASE("what a launch file lacks is asked for before it opens") {
  std::string script = kMegatronScript;
  const std::string vocabulary = "--vocab-size 128256";
  script.replace(script.find(vocabulary), vocabulary.size(), "");
  script.replace(script.find("--num-layers 32"), 15, "--num-layers 31");  // of no model that is known
  const Dropped file("run.sh", script);
  Harness h("llama3-405b-16k-h100-8k", 1280, 720);
  const engine::Scenario before = h.scenario();
  h.workspace.drop({file.path});
  h.step(2);
  REQUIRE(h.parts.panels.sheets.shown == app::Sheet::import);
  CHECK(h.scenario() == before);
  REQUIRE(h.place("import.model.vocab_size") != nullptr);
  h.click("import.ok");
  h.step(2);
  CHECK(h.scenario() == before);  // not while something lacks
  CHECK(shows_text(h, "The file does not say:"));
  h.click("import.model.vocab_size");
  h.type("50k");
  h.key({Key::enter});
  h.step(2);
  h.click("import.ok");
  h.step(2);
  CHECK(h.scenario().model.vocab_size == 50000);
  CHECK(h.scenario().model.n_layers == 31);
}

TEST_CASE("a pasted launch line of a server asks for its requests and opens as a plan that serves") {
  Harness h("llama3-8b-8-h100", 1920, 1080);
  paste(h, kServeLine);
  REQUIRE(h.parts.panels.sheets.shown == app::Sheet::import);
  for (const auto& [field, tokens] :
       {std::pair{"workload.prompt_tokens", "1024"}, {"workload.output_tokens", "256"}}) {
    h.click(std::string("import.") + field);
    h.type(tokens);
    h.key({Key::enter});
    h.step(2);
    CHECK(h.parts.panels.sheets.import.problem == "");
  }
  CHECK(h.parts.panels.sheets.import.draft->ready());
  h.key({Key::enter});
  h.step(2);
  CHECK(h.parts.panels.sheets.shown == app::Sheet::none);
  CHECK(h.scenario().serves());
  CHECK(h.scenario().parallelism.tensor == 8);
  CHECK(h.scenario().workload.prompt_tokens == 1024);
  CHECK(h.scenario().workload.output_tokens == 256);
}

TEST_CASE("Enter asks for what is missing one after the other, and Escape ends that") {
  Harness h("llama3-8b-8-h100", 1920, 1080);
  paste(h, kServeLine);
  for (const char* tokens : {"1024", "256"}) {
    if (!h.parts.interaction.editing_any()) h.key({Key::enter});
    h.step(2);
    REQUIRE(h.parts.interaction.editing_any());
    h.type(tokens);
    h.key({Key::enter});
    h.step(2);
  }
  CHECK(h.parts.panels.sheets.import.draft->ready());
  CHECK_FALSE(h.parts.interaction.editing_any());
  h.key({Key::enter});
  h.step(2);
  CHECK(h.scenario().workload.prompt_tokens == 1024);
  CHECK(h.scenario().workload.output_tokens == 256);
  Harness other("llama3-8b-8-h100", 1920, 1080);
  paste(other, kServeLine);
  other.key({Key::enter});
  other.step(2);
  REQUIRE(other.parts.interaction.editing_any());
  other.key({Key::escape});
  other.step(3);
  CHECK_FALSE(other.parts.interaction.editing_any());
}

TEST_CASE("a value that was begun by a click and ended with Enter is followed by the next one") {
  Harness h("llama3-8b-8-h100", 1920, 1080);
  paste(h, kServeLine);
  h.click("import.workload.prompt_tokens");
  h.step();
  h.type("1024");
  h.key({Key::enter});
  h.step(2);
  REQUIRE(h.parts.interaction.editing_any());
  h.type("256");
  h.key({Key::enter});
  h.step(2);
  CHECK(h.parts.panels.sheets.import.draft->ready());
  CHECK_FALSE(h.parts.interaction.editing_any());
}

TEST_CASE("the palette over a receipt leaves it waiting") {
  Harness h("llama3-8b-8-h100", 1920, 1080);
  paste(h, kServeLine);
  for (const Key end : {Key::escape, Key::enter}) {
    REQUIRE(h.parts.panels.sheets.shown == app::Sheet::import);
    h.key({widgets::key_of('P'), true, false, false});
    h.step(2);
    REQUIRE(h.parts.panels.sheets.shown == app::Sheet::palette);
    h.type("dark");
    h.step();
    h.key({end});
    h.step(2);
  }
  CHECK(h.parts.panels.sheets.shown == app::Sheet::import);
  CHECK(h.parts.panels.sheets.import.draft);
}

TEST_CASE("a launch file that cannot be read is told in the strip with its line") {
  std::string script = kMegatronScript;
  script.replace(script.find("--num-layers 32"), 15, "--num-layers 3x");
  const Dropped file("run.sh", script);
  Harness h("llama3-405b-16k-h100-8k", 1280, 720);
  const engine::Scenario before = h.scenario();
  h.workspace.drop({file.path});
  h.step(2);
  REQUIRE(h.parts.session.message().has_value());
  CHECK(h.parts.session.message()->is_error);
  CHECK(h.parts.session.message()->text.find("run.sh") != std::string::npos);
  CHECK(h.parts.session.message()->text.find("line 4") != std::string::npos);
  CHECK(h.scenario() == before);
  CHECK(h.parts.panels.sheets.shown == app::Sheet::none);
}

TEST_CASE("of several launch files each opens, and those that lack something ask one after the other") {
  std::string lacking = kMegatronScript;
  lacking.replace(lacking.find("--seq-length 8192"), 17, "");
  const Dropped first("one.sh", kMegatronScript), second("two.sh", lacking), third("three.sh", lacking);
  Harness h("llama3-405b-16k-h100-8k", 1280, 720);
  h.workspace.drop({second.path, first.path, third.path});
  h.step(2);
  CHECK(h.parts.session.launch() != nullptr);  // one.sh is open
  CHECK(shows_text(h, "two.sh, read as"));
  h.click("import.cancel");
  h.step(2);
  CHECK(shows_text(h, "three.sh, read as"));
  h.click("import.cancel");
  h.step(2);
  CHECK(h.parts.panels.sheets.shown == app::Sheet::none);
}

TEST_CASE("a value says which line of the launch file it was read from, and what it was once it is edited") {
  const Dropped file("run.sh", kMegatronScript);
  Harness h("llama3-405b-16k-h100-8k", 1920, 1080);
  h.workspace.drop({file.path});
  h.step(2);
  h.key({Key::escape});
  const auto tip_of = [&](const std::string& id) {
    REQUIRE(h.reach(id));
    h.move(h.place(id)->rect.centre());
    h.wait(1);
    std::string out;
    for (const auto& [label, value] : h.parts.interaction.current_hint().readout.rows)
      out += label + ": " + value + "\n";
    return out;
  };
  CHECK(tip_of("parallelism.tensor").find("from: run.sh, line 3: --tensor-model-parallel-size") != std::string::npos);
  engine::Scenario edited = h.scenario();
  edited.parallelism.tensor = 4;
  h.parts.session.update(edited, false);
  h.step();
  CHECK(tip_of("parallelism.tensor").find("from: you; it was 8 (run.sh, line 3: --tensor-model-parallel-size)") !=
        std::string::npos);
}

TEST_CASE("the receipt opens again from the menu while its plan is shown") {
  const Dropped file("run.sh", kMegatronScript);
  Harness h("llama3-405b-16k-h100-8k", 1280, 720);
  const app::Command* receipt = app::find_command("file.receipt");
  REQUIRE(receipt != nullptr);
  CHECK_FALSE(app::enabled(*receipt, h.workspace));
  h.workspace.drop({file.path});
  h.step(2);
  h.key({Key::escape});
  REQUIRE(app::enabled(*receipt, h.workspace));
  receipt->run(h.workspace);
  h.step(2);
  CHECK(h.parts.panels.sheets.shown == app::Sheet::import);
  std::string copied;
  h.workspace.actions().copy_text = [&](const std::string& text) { copied = text; };
  h.click("import.copy");
  h.step(2);
  CHECK(copied.find("--tensor-model-parallel-size") != std::string::npos);
}

TEST_CASE("the receipt of a plan outlives the window, in each of its tabs") {
  const Dropped file("run.sh", kMegatronScript);
  Harness h("llama3-405b-16k-h100-8k", 1280, 720);
  engine::Scenario edited = h.scenario();
  edited.workload.global_batch_sequences *= 2;
  h.parts.session.update(edited, false);  // so that the script opens in a tab of its own
  h.workspace.drop({file.path});
  h.step(2);
  const std::string text = h.workspace.session_text();
  Harness later("llama3-8b-8-h100", 1280, 720);
  REQUIRE(later.workspace.restore(text, "session.json"));
  later.step(2);
  REQUIRE(later.parts.session.launch() != nullptr);
  const app::LaunchImport& kept = *later.parts.session.launch();
  CHECK(kept.file() == h.parts.session.launch()->file());
  CHECK(kept.guessed());
  CHECK(kept.imported().scenario == h.parts.session.launch()->imported().scenario);
  REQUIRE(kept.origin_of("parallelism.tensor") != nullptr);
  CHECK(kept.origin_of("parallelism.tensor")->line == 3);
  CHECK(later.workspace.session_text() == text);
  // A text that is not read any more costs the receipt, not the plan.
  std::string broken = text;
  broken.replace(broken.find("--tensor-model-parallel-size 8"), 30, "--tensor-model-parallel-size x");
  Harness last("llama3-8b-8-h100", 1280, 720);
  REQUIRE(last.workspace.restore(broken, "session.json"));
  CHECK(last.scenario() == h.scenario());
  CHECK(last.parts.session.launch() == nullptr);
}
