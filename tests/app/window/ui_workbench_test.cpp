// The workbench: every building block opens live, answers as `calc` does, says what is wrong with an input, and
// copies itself as a command line.
#include <doctest/doctest.h>

#include "app/session/workbench.h"
#include "engine/io/export/block_json.h"
#include "tests/app/window/ui_checks.h"
#include "tests/engine/io/io_fixture.h"

using namespace roofscape;
using test::drawn;
using test::Harness;
using widgets::Key;
using widgets::key_of;

namespace {

app::Workbench& bench(Harness& h) { return h.parts.panels.workbench; }

void open(Harness& h, std::string_view block) {
  bench(h).show(block);
  h.step(3);
}

// What `calc` makes of the words after its name in a copied command line.
std::vector<std::string> assignments(const std::string& command, const std::string& block) {
  const std::string head = "roofscape-cli calc " + block;
  REQUIRE(command.starts_with(head));
  std::vector<std::string> words;
  std::string word;
  for (const char c : command.substr(head.size()) + " ") {
    if (c != ' ')
      word += c;
    else if (!word.empty())
      words.push_back(std::exchange(word, {}));
  }
  return words;
}

const app::BlockReply& reply(Harness& h) { return bench(h).reply(h.parts.session).reply; }

double output(Harness& h, std::string_view name) {
  REQUIRE(reply(h).result);
  const engine::BlockAnswer* answer = reply(h).result->find(name);
  REQUIRE(answer != nullptr);
  REQUIRE_FALSE(answer->numbers.empty());
  return answer->numbers.front();
}

}  // namespace

TEST_CASE("every building block opens with answers, and its command line asks calc the same") {
  Harness h;
  for (const engine::BuildingBlock& block : engine::blocks()) {
    CAPTURE(block.id);
    open(h, block.id);
    REQUIRE(reply(h).result);
    for (const engine::BlockInput& in : block.inputs) CHECK(h.place("bench.in." + std::string(in.name)) != nullptr);
    for (const engine::BlockOutput& out : block.outputs)
      CHECK(h.place("bench.out." + std::string(out.name)) != nullptr);
    const std::string command = app::command_line(block, bench(h).bench(h.parts.session).given);
    const auto question =
        io::read_block_question(block.id, assignments(command, std::string(block.id)), test::presets());
    REQUIRE(question.ok());
    const auto answer = io::answer(question.value());
    REQUIRE(answer.ok());
    CHECK(io::block_json(question.value(), answer.value()) == io::block_json(*reply(h).question, *reply(h).result));
    CHECK(widgets::compat::audit_draw_data().outside == 0);
  }
}

TEST_CASE("a block that is opened elsewhere comes into sight in the list, which may be scrolled away from it") {
  Harness h(test::kBookScenario, 1280, 720);
  const auto in_sight = [&h](std::string_view block) {
    const auto* row = h.parts.probe.find("bench.block." + std::string(block));
    return row != nullptr && row->visible.h == row->rect.h;
  };
  for (const std::string_view block : {"batching", "matmul", "adapters"}) {
    CAPTURE(block);
    open(h, block);
    CHECK(in_sight(block));
  }
  const widgets::Point at = h.parts.probe.find("bench.block.adapters")->visible.centre();
  widgets::compat::move_pointer(at.x, at.y);
  for (int i = 0; i < 20; ++i) {
    widgets::compat::turn_wheel(3);
    h.step();
  }
  h.step(3);
  CHECK(in_sight("matmul"));
  CHECK_FALSE(in_sight("adapters"));
}

TEST_CASE("no text of a block is cut or lies on another, at every size") {
  for (const auto& [w, hgt] : {std::pair{1024.0f, 700.0f}, {1280.0f, 720.0f}, {1920.0f, 1080.0f}}) {
    Harness h("llama3-70b-v5p-pod", w, hgt);
    for (const engine::BuildingBlock& block : engine::blocks()) {
      CAPTURE(block.id);
      open(h, block.id);
      test::check_texts(h, w);
      test::check_overlaps(h);
    }
  }
}

TEST_CASE("an edited input changes the outputs, and is reset alone or with all others") {
  Harness h;
  open(h, "matmul");
  const double before = output(h, "flops");
  const app::BlockInputs start = bench(h).bench(h.parts.session).given;
  bench(h).set(h.parts.session, "d_in", app::input_text(2 * reply(h).question->call.number("d_in")));
  h.step(2);
  CHECK(output(h, "flops") == 2 * before);
  h.click(h.place("bench.reset.d_in")->visible.centre());
  CHECK(bench(h).bench(h.parts.session).given == start);
  bench(h).set(h.parts.session, "d_in", "128");
  h.step(2);
  h.click(h.place("workbench.reset")->visible.centre());
  CHECK(bench(h).bench(h.parts.session).given == start);
}

TEST_CASE("a number is typed into its box and slid along its track") {
  Harness h;
  open(h, "matmul");
  h.click(h.place("bench.in.batch.box")->visible.centre());
  h.type("512");
  h.key({Key::enter});
  CHECK(reply(h).question->call.number("batch") == 512);
  const widgets::Rect track = h.place("bench.in.batch.track")->rect;
  h.click({track.x + track.w * 0.95f, track.centre().y});
  CHECK(reply(h).question->call.number("batch") > 512);
}

TEST_CASE("an illegal input is marked with the reason and the remedy, and the rest stays") {
  Harness h;
  open(h, "matmul");
  bench(h).set(h.parts.session, "batch", "-3");
  h.step(2);
  REQUIRE(reply(h).error);
  CHECK(reply(h).error->path == "batch");
  CHECK(drawn(h, "is not in its domain"));
  CHECK(drawn(h, "number > 0"));
  CHECK_FALSE(reply(h).result);
  CHECK(reply(h).question->call.value("d_in").is_known());
  CHECK(h.place("bench.in.d_in.track") != nullptr);
}

TEST_CASE("an output opens its derivation and closes it again") {
  Harness h;
  open(h, "matmul");
  h.click(h.place("bench.out.flops")->visible.centre());
  REQUIRE(bench(h).kept);
  REQUIRE_FALSE(bench(h).kept->derivations.empty());
  CHECK(bench(h).kept->derivations.front().lines.front().value == output(h, "flops"));
  CHECK(h.place("bench.why.0." + bench(h).kept->derivations.front().lines.front().uses.front()) != nullptr);
  h.click(h.place("bench.out.flops")->visible.centre());
  CHECK(bench(h).kept->derivations.empty());
}

TEST_CASE("an output's value is typed, the input found for it is shown, and clearing it returns to the inputs") {
  Harness h;
  open(h, "matmul");
  const app::BlockInputs start = bench(h).bench(h.parts.session).given;
  const double before = output(h, "flops");
  h.click(h.place("bench.want.flops")->visible.centre());
  h.type(app::input_text(4 * before));
  h.key({Key::enter});
  h.step(2);
  REQUIRE(reply(h).question);
  REQUIRE(reply(h).question->solved);
  CHECK(output(h, "flops") == 4 * before);
  const std::string solved = reply(h).question->solved->input;
  CHECK(drawn(h, "found for FLOPs"));
  // Another input can be open instead.
  const std::string other = solved == "d_in" ? "d_out" : "d_in";
  bench(h).solve_for(h.parts.session, other);
  h.step(2);
  REQUIRE(reply(h).question->solved);
  CHECK(reply(h).question->solved->input == other);
  CHECK(output(h, "flops") == 4 * before);
  CHECK(app::command_line(bench(h).shown(), bench(h).bench(h.parts.session).given).ends_with("solve=" + other));
  h.click(h.place("bench.forwards")->visible.centre());
  h.step(2);
  CHECK(bench(h).bench(h.parts.session).given == start);
}

TEST_CASE("Escape in the box of an output returns to the inputs, and the workbench stays open") {
  Harness h;
  open(h, "matmul");
  const app::BlockInputs start = bench(h).bench(h.parts.session).given;
  bench(h).want(h.parts.session, "flops", "1e15");
  h.step(2);
  CHECK(bench(h).bench(h.parts.session).given != start);
  h.click(h.place("bench.want.flops")->visible.centre());
  h.key({Key::escape});
  h.step(2);
  CHECK(bench(h).open);
  CHECK(bench(h).bench(h.parts.session).given == start);
}

TEST_CASE("a value that no input gives says why, and the inputs stay") {
  Harness h;
  open(h, "pipeline-bubble");
  bench(h).want(h.parts.session, "max_mfu", "200%");
  h.step(2);
  REQUIRE(reply(h).error);
  CHECK(drawn(h, "is never 200% whatever"));
  CHECK(h.place("bench.in.stages") != nullptr);
}

TEST_CASE("an input that is set by hand while it is solved for ends the asking") {
  Harness h;
  open(h, "matmul");
  bench(h).want(h.parts.session, "flops", "1e15");
  h.step(2);
  REQUIRE(reply(h).question->solved);
  const std::string solved = reply(h).question->solved->input;
  bench(h).set(h.parts.session, solved, "256");
  h.step(2);
  CHECK_FALSE(reply(h).question->solved);
  CHECK(reply(h).question->call.number(solved) == 256);
}

TEST_CASE("every output with a value is asked backwards as calc asks it") {
  Harness h;
  for (const engine::BuildingBlock& block : engine::blocks()) {
    if (block.is_simulated) continue;
    CAPTURE(block.id);
    open(h, block.id);
    for (const engine::BlockOutput& out : block.outputs) {
      if (!app::can_ask_backwards(block, out) || out.kind != engine::OutputKind::number) continue;
      const engine::BlockAnswer* answer = reply(h).result->find(out.name);
      if (answer->is_absent()) continue;
      CAPTURE(out.name);
      bench(h).want(h.parts.session, out.name, app::input_text(answer->numbers.front()));
      // What is already so is reached by the input that is open, if any is.
      if (const auto& asked = reply(h); asked.question && asked.question->solved && asked.result)
        CHECK(asked.result->find(out.name)->numbers.size() == 1);
      else
        CHECK(asked.error);
      bench(h).ask_forwards(h.parts.session);
      break;  // one of each block
    }
  }
}

TEST_CASE("the workbench draws the block's figure, over the input that is chosen") {
  Harness h;
  open(h, "matmul");
  REQUIRE(bench(h).kept.has_value());
  CHECK(bench(h).kept->picture.over == "batch");
  CHECK(bench(h).kept->data.lines.size() == 1);
  CHECK(h.place("bench.figure") != nullptr);
  bench(h).benches.find("matmul")->second.over = "d_in";
  h.step(1);
  CHECK(bench(h).kept->data.over->name == "d_in");
  bench(h).benches.find("matmul")->second.over = "dtype";
  h.step(1);
  CHECK(bench(h).kept->data.is_choice());
}

TEST_CASE("with the workbench open an export writes the block's figure, and a copy is its data") {
  const test::TemporaryFolder folder;
  Harness h;
  open(h, "kv-cache");
  h.parts.settings.export_as.asked = true;
  h.parts.settings.export_as.folder = folder.path().string();
  h.key({key_of('E'), true, false, false});
  REQUIRE(std::filesystem::exists(folder.path() / "kv-cache.svg"));
  CHECK(test::text_of(folder.path() / "kv-cache.svg").find("KV cache: bytes of the cache") != std::string::npos);
  std::string copied;
  h.workspace.actions().copy_text = [&](const std::string& text) { copied = text; };
  h.key({key_of('C'), true, false, false});
  CHECK(copied.starts_with("sequence_length tokens"));
}

TEST_CASE("an input that moves moves the figure's present point in the same frame") {
  Harness h;
  open(h, "matmul");
  bench(h).set(h.parts.session, "batch", "512");
  h.step(1);
  REQUIRE(bench(h).kept.has_value());
  CHECK(bench(h).kept->data.now == 512);
}

TEST_CASE("the list has all blocks below their topics, and by other words finds the block that is meant") {
  Harness h;
  open(h, "matmul");
  CHECK(bench(h).listed.size() == engine::blocks().size());
  h.click(h.place("bench.search")->visible.centre());
  h.type("gemm");
  h.key({Key::enter});
  CHECK(bench(h).shown().id == "matmul");
  CHECK(h.place("bench.block.roofline") == nullptr);
}

TEST_CASE("the search leaves the blocks that have all words, and Enter opens the first") {
  Harness h;
  open(h, "matmul");
  h.click(h.place("bench.search")->visible.centre());
  h.type("kv");
  h.step(2);
  CHECK(h.place("bench.block.kv-cache") != nullptr);
  CHECK(h.place("bench.block.matmul") == nullptr);
  h.type("-cache");
  h.key({Key::enter});
  CHECK(bench(h).shown().id == "kv-cache");
}

TEST_CASE("the workbench opens by its key and from the palette, keeps what was given, and Escape closes it") {
  Harness h;
  h.key({Key::f6});
  CHECK(bench(h).open);
  const engine::Scenario before = h.scenario();
  bench(h).show("ridge");
  h.step(2);
  bench(h).set(h.parts.session, "chip", "tpu-v5e");
  h.key({Key::escape});
  CHECK_FALSE(bench(h).open);
  h.key({key_of('P'), true, false, false});
  h.type("calc ridge");
  h.step();
  h.key({Key::enter});
  CHECK(bench(h).open);
  CHECK(bench(h).bench(h.parts.session).given.at("chip") == "tpu-v5e");
  CHECK(h.scenario() == before);
}

TEST_CASE("the command line is copied, quoted where a shell would cut it") {
  Harness h;
  std::string copied;
  h.workspace.actions().copy_text = [&](const std::string& text) { copied = text; };
  open(h, "ridge");
  h.click(h.place("workbench.copy")->visible.centre());
  CHECK(copied == app::command_line(bench(h).shown(), bench(h).bench(h.parts.session).given));
  const engine::BuildingBlock& block = *engine::find_block("matmul");
  CHECK(app::command_line(block, {{"batch", "512"}, {"chip", "tpu-v5e"}}) ==
        "roofscape-cli calc matmul chip=tpu-v5e batch=512");
  CHECK(app::command_line(block, {{"batch", "a b'c"}}) == "roofscape-cli calc matmul batch='a b'\\''c'");
}

TEST_CASE("inputs, outputs and answers of every block are named in words, not by their ids") {
  Harness h;
  for (const engine::BuildingBlock& block : engine::blocks()) {
    open(h, block.id);
    CAPTURE(block.id);
    for (const auto& t : h.canvas.drawn_texts()) {
      const widgets::Rect cut = widgets::intersection(t.rect, t.clip);
      if (cut.empty() || t.rect.x < h.place("bench.search")->rect.right() ||
          t.rect.x > h.place("bench.close")->rect.right())
        continue;
      // Ids stand in hints and in formulas, which are upright words with an underscore and nothing else.
      CHECK_MESSAGE((t.text.find('_') == std::string::npos || t.text.find(' ') != std::string::npos), t.text);
    }
  }
}
