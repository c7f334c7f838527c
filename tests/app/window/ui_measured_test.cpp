// A measured run in the window: pasted or dropped, read beside it, laid over the plan that is shown.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "app/shell/commands.h"
#include "tests/app/window/ui_harness.h"
#include "tests/engine/io/io_fixture.h"

using namespace roofscape;
using test::Harness;
using widgets::Key;

namespace {

std::string g_log;

bool is_drawn(const Harness& h, const std::string& words) {
  for (const auto& text : h.canvas.drawn_texts())
    if (text.text.find(words) != std::string::npos) return true;
  return false;
}

void settle(Harness& h) {
  h.parts.measuring.wait();
  h.step(2);
}

constexpr const char* kKernelTrace = R"({"traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "ts": 0, "dur": 5000000},
  {"ph": "X", "cat": "kernel", "name": "nvjet_gemm", "ts": 0, "dur": 3000000, "args": {"correlation": 1}},
  {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllGather_RING_LL", "ts": 2500000, "dur": 1500000, "args": {}}]})";

}  // namespace

TEST_CASE("a pasted log line lies over the plan, and over another plan once that is shown") {
  Harness h("llama3-8b-8-h100", 1280, 720);
  g_log = "iteration 100/ 500 | elapsed time per iteration (ms): 9000.0 | throughput per GPU (TFLOP/s/GPU): 412.3 |";
  h.parts.interaction.read_clipboard = [] { return g_log; };
  const engine::Scenario before = h.scenario();
  h.key({widgets::key_of('V'), true, false, false});
  settle(h);
  REQUIRE(h.parts.panels.sheets.shown == app::Sheet::measured);
  CHECK(is_drawn(h, "9.00"));
  CHECK(is_drawn(h, "What alone would close the gap"));
  CHECK(h.scenario() == before);
  CHECK(widgets::compat::audit_draw_data().outside == 0);
  h.key({Key::escape});
  h.step(2);
  CHECK(h.parts.panels.sheets.shown == app::Sheet::none);
  const app::Command* again = app::find_command("file.measured");
  REQUIRE(again != nullptr);
  REQUIRE(app::enabled(*again, h.workspace));
  h.workspace.open("llama3-405b-16k-h100-8k");
  again->run(h.workspace);
  h.step(2);
  REQUIRE(h.parts.panels.sheets.measured.laid.has_value());
  CHECK(h.parts.panels.sheets.measured.laid->scenario == h.scenario());
}

TEST_CASE("a dropped trace is read beside the window and names where the difference is") {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("rank0.json", kKernelTrace).string();
  Harness h("llama3-8b-8-h100", 1920, 1080, "light");
  h.workspace.drop({file});
  h.step();
  settle(h);
  REQUIRE(h.parts.panels.sheets.shown == app::Sheet::measured);
  for (const char* words :
       {"rank0.json beside", "matmuls and attention", "exposed collectives", "unexplained", "AllGather"})
    CHECK_MESSAGE(is_drawn(h, words), words);
  std::string copied;
  h.workspace.actions().copy_text = [&](const std::string& text) { copied = text; };
  h.click("measured.copy");
  h.step(2);
  CHECK(copied.find("exposed collectives") != std::string::npos);
}

TEST_CASE("a trace that is cut off is told in the strip, and the plan stays") {
  const test::TemporaryFolder folder;
  const std::string whole = kKernelTrace;
  const std::string file = folder.write("cut.json", whole.substr(0, whole.size() - 20)).string();
  Harness h("llama3-8b-8-h100", 1280, 720);
  const engine::Scenario before = h.scenario();
  h.workspace.drop({file});
  h.step();
  settle(h);
  REQUIRE(h.parts.session.message().has_value());
  CHECK(h.parts.session.message()->is_error);
  CHECK(h.parts.session.message()->text.find("the trace is not whole JSON") != std::string::npos);
  CHECK(h.parts.panels.sheets.shown == app::Sheet::none);
  CHECK(h.scenario() == before);
}

TEST_CASE("reading that is stopped leaves nothing behind") {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("rank0.json", kKernelTrace).string();
  Harness h("llama3-8b-8-h100", 1280, 720);
  h.workspace.drop({file});
  h.parts.measuring.cancel();
  h.step(3);
  CHECK(h.parts.panels.sheets.shown == app::Sheet::none);
  CHECK_FALSE(h.parts.session.measured().has_value());
}

TEST_CASE("a measured run stands in the figures of the plan until it is removed") {
  Harness h("llama3-405b-16k-h100-8k", 1920, 1080);
  g_log = "step=9s,memory=60GiB";
  h.parts.interaction.read_clipboard = [] { return g_log; };
  h.key({widgets::key_of('V'), true, false, false});
  settle(h);
  h.key({Key::escape});
  h.step(2);
  CHECK(is_drawn(h, "measured: 64.4"));
  const app::Command* forget = app::find_command("file.measured.forget");
  REQUIRE(forget != nullptr);
  REQUIRE(app::enabled(*forget, h.workspace));
  forget->run(h.workspace);
  h.step(2);
  CHECK_FALSE(is_drawn(h, "measured: 64.4"));
  CHECK_FALSE(app::enabled(*forget, h.workspace));
}

TEST_CASE("the frame in which another measured run is read draws that one") {
  const test::TemporaryFolder folder;
  Harness h("llama3-405b-16k-h100-8k", 1920, 1080);
  h.workspace.drop({folder.write("first.log", "step=9s,memory=60GiB").string()});
  settle(h);
  h.key({Key::escape});
  h.step(2);
  REQUIRE(is_drawn(h, "measured: 64.4"));
  // No frame is drawn between the drop and the end of reading.
  h.workspace.drop({folder.write("second.log", "step=9s,memory=50GiB").string()});
  h.parts.measuring.wait();
  const engine::MeasuredRun* before = h.parts.session.measured_run();
  REQUIRE(before != nullptr);
  h.step();
  CHECK(h.parts.session.measured_run() != before);
  CHECK(is_drawn(h, "measured: 53.7"));
  CHECK_FALSE(is_drawn(h, "measured: 64.4"));
}

TEST_CASE("a measured run belongs to its tab, and outlives the window") {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("rank0.json", kKernelTrace).string();
  Harness h("llama3-8b-8-h100", 1280, 720);
  h.workspace.drop({file});
  h.step();
  settle(h);
  h.key({Key::escape});
  const app::Command *add = app::find_command("tab.new"), *back = app::find_command("tab.previous");
  REQUIRE(add != nullptr);
  REQUIRE(back != nullptr);
  add->run(h.workspace);
  const app::Command* forget = app::find_command("file.measured.forget");
  forget->run(h.workspace);
  h.step(2);
  CHECK(h.parts.session.measured_run() == nullptr);
  back->run(h.workspace);
  h.step(2);
  REQUIRE(h.parts.session.measured_run() != nullptr);
  const std::string text = h.workspace.session_text();

  Harness later("llama3-405b-16k-h100-8k", 1280, 720);
  REQUIRE(later.workspace.restore(text, "session.json"));
  later.step();
  settle(later);
  REQUIRE(later.parts.session.measured_run() != nullptr);
  CHECK(later.parts.session.measured_run()->step_s == h.parts.session.measured_run()->step_s);
  CHECK(later.parts.panels.sheets.shown == app::Sheet::none);
  CHECK(later.workspace.session_text() == text);
  // A file that is gone is told once, and looked for again at the next start.
  std::filesystem::remove(file);
  Harness last("llama3-8b-8-h100", 1280, 720);
  REQUIRE(last.workspace.restore(text, "session.json"));
  last.step();
  settle(last);
  CHECK(last.parts.session.measured_run() == nullptr);
  REQUIRE(last.parts.session.message().has_value());
  CHECK(last.parts.session.message()->text.find("rank0.json") != std::string::npos);
  last.parts.session.dismiss_message();
  last.step(3);
  CHECK_FALSE(last.parts.session.message().has_value());
  CHECK(last.workspace.session_text() == text);
}
