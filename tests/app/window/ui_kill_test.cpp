// The window killed while it edits, saves, exports and searches: whatever was being written is whole, and what was open
// comes back as it was at the last edit. ROOFSCAPE_KILLS asks for more than a few kills.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

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

constexpr const char* kDone[] = {"tab.new",     "tab.next",     "tab.close",    "edit.undo",
                                 "view.search", "baseline.pin", "figure.export"};

// What was open at the last two moments, told by a process that is killed to the one that is left.
class OpenAtTheEnd {
 public:
  OpenAtTheEnd()
      : moments_(static_cast<Moments*>(
            ::mmap(nullptr, sizeof(Moments), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    REQUIRE(moments_ != MAP_FAILED);
  }
  OpenAtTheEnd(const OpenAtTheEnd&) = delete;
  OpenAtTheEnd& operator=(const OpenAtTheEnd&) = delete;
  ~OpenAtTheEnd() { ::munmap(moments_, sizeof(Moments)); }
  // Before it is written: a kill at any moment finds the file as it was before, or as it is now.
  void tell(std::string_view session) {
    const std::size_t now = std::hash<std::string_view>()(session);
    if (now == moments_->last) return;
    moments_->before = moments_->last.load();
    moments_->last = now;
  }
  bool knows(std::string_view session) const {
    const std::size_t kept = std::hash<std::string_view>()(session);
    return kept == moments_->last || kept == moments_->before;
  }

 private:
  struct Moments {
    std::atomic<std::size_t> before, last;
  };
  Moments* moments_;
};

// Edits without end, each followed by what the window does after a frame.
template <class StartTimer>
[[noreturn]] void use_window(const std::filesystem::path& folder, OpenAtTheEnd& open, std::mt19937& random,
                             StartTimer&& start_timer) {
  test::Harness h("llama3-8b-8-h100", 1280, 720);
  h.parts.settings.export_as.asked = true;
  h.parts.settings.export_as.folder = folder / "exported";
  app::Autosave autosave(folder / "state");
  autosave.restore(h.workspace, false);
  autosave.run(h.workspace, 0);
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
    open.tell(h.workspace.session_text());
    autosave.run(h.workspace, now);
    // A slow machine has something to lose before it may be killed.
    if (!started && (started = std::filesystem::exists(folder / "state" / "session.json"))) start_timer();
    if (chance(4) == 0) h.parts.save_as(folder / "saved.json");
    if (chance(8) == 0) (void)app::write_settings(folder / "settings.json", h.parts.settings);
  }
}

// How many figures a killed window left.
int check_exported(const std::filesystem::path& folder) {
  int figures = 0;
  if (!std::filesystem::exists(folder)) return 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".svg" && extension != ".pdf" && extension != ".png") continue;  // what a writer had not renamed
    CAPTURE(entry.path());
    const std::string text = test::text_of(entry.path());
    const std::string_view end = extension == ".svg" ? "</svg>" : extension == ".pdf" ? "%%EOF" : "IEND";
    CHECK(text.find(end, text.size() - std::min<std::size_t>(text.size(), 12)) != std::string::npos);
    ++figures;
  }
  std::filesystem::remove_all(folder);
  return figures;
}

void check_files(const std::filesystem::path& folder, const OpenAtTheEnd& open) {
  const auto session_file = folder / "state" / "session.json";
  const std::string text = test::text_of(session_file);
  const auto session = io::read_session(text, session_file.string(), test::presets());
  REQUIRE(session.ok());
  CHECK(session->unread.empty());
  CHECK(open.knows(text));
  if (const auto file = folder / "saved.json"; std::filesystem::exists(file))
    CHECK(io::read_scenario(test::text_of(file), file.string(), test::presets()).ok());
  if (const auto file = folder / "settings.json"; std::filesystem::exists(file))
    CHECK(app::settings_in(test::text_of(file), file.string()).ok());
  for (const auto& entry : std::filesystem::directory_iterator(folder / "state"))
    CHECK(entry.path().filename().string().find("damaged") == std::string::npos);
}

}  // namespace

TEST_CASE("a window that is killed leaves whole files, and what was open at its last edit opens again") {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "state");
  (void)test::presets(), (void)test::test_fonts();  // read once, before the processes part
  const char* wanted = std::getenv("ROOFSCAPE_KILLS");
  const int kills = wanted == nullptr ? 3 : std::max(1, std::atoi(wanted));
  std::mt19937 random(5);
  OpenAtTheEnd open;
  int figures = 0;
  for (int kill = 0; kill < kills; ++kill) {
    CAPTURE(kill);
    const auto seed = random();
    REQUIRE(test::killed_at_random(random, 900'000, [&](auto&& start_timer) {
      std::mt19937 own(static_cast<unsigned>(seed));
      use_window(folder.path(), open, own, start_timer);
    }));
    check_files(folder.path(), open);
    figures += check_exported(folder.path() / "exported");
  }
  MESSAGE(kills << " kills left " << figures << " exported figures");
}
