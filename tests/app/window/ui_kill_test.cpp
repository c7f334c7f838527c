// The window killed while it edits, saves, exports and searches: whatever was being written is whole, and what was open
// comes back. ROOFSCAPE_KILLS asks for more than a few kills.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "app/session/settings.h"
#include "app/shell/autosave.h"
#include "app/shell/commands.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/io/scenario/session_json.h"
#include "tests/app/window/ui_harness.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/killed.h"

using namespace roofscape;

namespace {

constexpr const char* kDone[] = {"tab.new", "tab.next", "tab.close", "edit.undo", "view.search", "baseline.pin"};

// Edits without end, each followed by what the window does after a frame.
template <class StartTimer>
[[noreturn]] void use_window(const std::filesystem::path& folder, std::mt19937& random, StartTimer&& start_timer) {
  test::Harness h("llama3-8b-8-h100", 1280, 720);
  app::Autosave autosave(folder / "state");
  autosave.restore(h.workspace, false);
  const auto chance = [&random](std::size_t n) { return random() % n; };
  bool started = false;
  for (double now = 0;; now += 1) {
    h.step();
    const bool edits = chance(3) != 0;
    if (edits && h.place("parallelism.tensor.track") != nullptr)
      h.drag("parallelism.tensor", static_cast<float>(chance(100)) / 100, static_cast<float>(chance(100)) / 100, 2);
    else
      h.parts.run_entry(
          {.kind = app::PaletteKind::command, .title = {}, .detail = {}, .value = kDone[chance(std::size(kDone))]});
    autosave.run(h.workspace, now);
    // A slow machine has something to lose before it may be killed.
    if (!started && (started = std::filesystem::exists(folder / "state" / "session.json"))) start_timer();
    if (chance(4) == 0) (void)h.parts.session.save(folder / "saved.json", h.workspace.texts());
    if (chance(8) == 0) (void)app::write_settings(folder / "settings.json", h.parts.settings);
  }
}

void check_files(const std::filesystem::path& folder, int& sessions) {
  if (const auto file = folder / "state" / "session.json"; std::filesystem::exists(file)) {
    const auto session = io::read_session(test::text_of(file), file.string(), test::presets());
    REQUIRE(session.ok());
    CHECK(session->unread.empty());
    ++sessions;
  }
  if (const auto file = folder / "saved.json"; std::filesystem::exists(file))
    CHECK(io::read_scenario(test::text_of(file), file.string(), test::presets()).ok());
  if (const auto file = folder / "settings.json"; std::filesystem::exists(file))
    CHECK(app::settings_in(test::text_of(file), file.string()).ok());
  for (const auto& entry : std::filesystem::directory_iterator(folder / "state"))
    CHECK(entry.path().filename().string().find("damaged") == std::string::npos);
}

}  // namespace

TEST_CASE("a window that is killed leaves whole files, and its session opens again") {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "state");
  (void)test::presets(), (void)test::test_fonts();  // read once, before the processes part
  const char* wanted = std::getenv("ROOFSCAPE_KILLS");
  const int kills = wanted == nullptr ? 3 : std::max(1, std::atoi(wanted));
  std::mt19937 random(5);
  int sessions = 0;
  for (int kill = 0; kill < kills; ++kill) {
    CAPTURE(kill);
    const auto seed = random();
    REQUIRE(test::killed_at_random(random, 900'000, [&](auto&& start_timer) {
      std::mt19937 own(static_cast<unsigned>(seed));
      use_window(folder.path(), own, start_timer);
    }));
    check_files(folder.path(), sessions);
  }
  CHECK(sessions == kills);
}
