// Nothing that is open is lost: not to a start with an argument, a second window, a damaged file, a tab of another
// version or a disk that cannot be written to.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/session/session_file.h"
#include "app/shell/autosave.h"
#include "app/shell/commands.h"
#include "engine/io/json/files.h"
#include "engine/io/scenario/figure_recipe.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/io/scenario/session_json.h"
#include "engine/scenario/scenario_title.h"
#include "tests/app/window/ui_harness.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

using namespace roofscape;
using test::Harness;
using widgets::Key;
using widgets::key_of;

namespace {

constexpr widgets::KeyPress kNewTab{key_of('N'), true, false, false};

// The scenarios of a session file, by their names.
std::vector<std::string> kept_in(const std::filesystem::path& file) {
  std::vector<std::string> names;
  const auto read = io::read_session(test::text_of(file), file.string(), test::presets());
  REQUIRE(read.ok());
  for (const io::SavedTab& tab : read->tabs) names.push_back(tab.scenario.name);
  return names;
}

engine::Scenario named(const std::string& name) {
  engine::Scenario s = test::preset("llama3-8b-8-h100");
  s.name = name;
  return s;
}

// A window that was open with these tabs and was closed.
void leave_open(const std::filesystem::path& folder, const std::vector<std::string>& names) {
  Harness h(named(names.front()), "", 1280, 720);
  app::Autosave autosave(folder);
  autosave.restore(h.workspace, false);
  autosave.run(h.workspace, 0);
  h.parts.session.update(named(names.front() + "!"), false);
  h.parts.session.update(named(names.front()), false);
  for (std::size_t i = 1; i < names.size(); ++i) {
    h.key(kNewTab);
    h.parts.session.update(named(names[i]), false);
  }
  CHECK(autosave.finish(h.workspace));
}

}  // namespace

TEST_CASE("a start with an argument opens it beside the tabs that were kept") {
  const test::TemporaryFolder folder;
  leave_open(folder.path(), {"one", "two"});
  {
    Harness h(named("asked"), "", 1280, 720);
    app::Autosave autosave(folder.path());
    autosave.restore(h.workspace, true);
    CHECK(h.scenario().name == "asked");
    CHECK(h.parts.tabs.count() == 3);
    autosave.run(h.workspace, 0);
  }
  CHECK(kept_in(folder.path() / "session.json") == std::vector<std::string>{"one", "two", "asked"});
}

TEST_CASE("the same preset asked for again and again is one tab") {
  const test::TemporaryFolder folder;
  for (int i = 0; i < 3; ++i) {
    Harness h("llama3-8b-8-h100", 1280, 720);
    app::Autosave autosave(folder.path());
    autosave.restore(h.workspace, true);
    CHECK(h.parts.tabs.count() == 1);
    CHECK(autosave.finish(h.workspace));
  }
}

TEST_CASE("a second window keeps its tabs in a file of its own, and the next start has the tabs of both") {
  const test::TemporaryFolder folder;
  leave_open(folder.path(), {"one"});
  {
    Harness first("llama3-8b-8-h100", 1280, 720);
    app::Autosave kept(folder.path());
    kept.restore(first.workspace, false);
    kept.run(first.workspace, 0);
    app::SessionFile second(folder.path());
    CHECK(second.file() != kept.file().file());
    std::vector<std::string> problems;
    CHECK(second.read(problems, test::english()).empty());
    io::SavedSession other;
    other.tabs.push_back({named("two"), {}});
    CHECK_FALSE(second.write(io::write_session(other, test::presets())));
    first.parts.session.update(named("one, edited"), false);
    kept.run(first.workspace, 1);
    CHECK(kept_in(kept.file().file()) == std::vector<std::string>{"one, edited"});
    CHECK(kept_in(second.file()) == std::vector<std::string>{"two"});
  }
  Harness h("llama3-8b-8-h100", 1280, 720);
  app::Autosave autosave(folder.path());
  autosave.restore(h.workspace, false);
  CHECK(h.parts.tabs.count() == 2);
  autosave.run(h.workspace, 0);
  CHECK(kept_in(folder.path() / "session.json").size() == 2);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "session-2.json"));
}

TEST_CASE("a tab that cannot be read is told and its text stays in the file") {
  const test::TemporaryFolder folder;
  leave_open(folder.path(), {"one", "two"});
  std::string text = test::text_of(folder.path() / "session.json");
  // As a newer program might write the first tab.
  const std::size_t at = text.find("\"workload\"");
  REQUIRE(at != std::string::npos);
  text.insert(at, "\"from_the_future\": {\"a\": [1, 2]}, ");
  folder.write("session.json", text);
  for (int start = 0; start < 2; ++start) {
    Harness h("llama3-8b-8-h100", 1280, 720);
    app::Autosave autosave(folder.path());
    autosave.restore(h.workspace, false);
    CHECK(h.scenario().name == "two");
    REQUIRE(h.parts.session.message().has_value());
    CHECK(h.parts.session.message()->is_error);
    CHECK(h.parts.session.message()->text.find("one") != std::string::npos);
    CHECK(h.parts.session.message()->detail.find("from_the_future") != std::string::npos);
    autosave.run(h.workspace, 0);
    h.parts.session.update(named(start == 0 ? "edited" : "two"), false);
    autosave.run(h.workspace, 1);
    h.parts.session.update(named("two"), false);
    CHECK(autosave.finish(h.workspace));
    const std::string kept = test::text_of(folder.path() / "session.json");
    CHECK(kept.find("from_the_future") != std::string::npos);
  }
}

TEST_CASE("a baseline that cannot be read leaves its tab open, is told, and its text is kept") {
  io::SavedSession session;
  session.tabs.push_back({named("tab"), {}});
  session.tabs.front().baseline = named("pinned");
  std::string text = io::write_session(session, test::presets());
  const std::size_t name = text.rfind("\"pinned\"");
  REQUIRE(name != std::string::npos);
  text.insert(name + std::string("\"pinned\"").size(), ", \"from_the_future\": 1");
  for (int again = 0; again < 2; ++again) {
    const auto read = io::read_session(text, "session.json", test::presets());
    REQUIRE(read.ok());
    REQUIRE(read->tabs.size() == 1);
    CHECK(read->tabs.front().scenario.name == "tab");
    CHECK_FALSE(read->tabs.front().baseline.has_value());
    REQUIRE(read->unread.size() == 1);
    CHECK(read->unread.front().name == "pinned");
    text = io::write_session(read.value(), test::presets());
    CHECK(text.find("from_the_future") != std::string::npos);
  }
}

TEST_CASE("a damaged session is moved aside, never overwritten") {
  const test::TemporaryFolder folder;
  const std::vector<std::string> damaged{
      "{\"format\": \"roofscape/session\", \"tabs\": [", "", "[]",
      "{\"format\": \"roofscape/session\", \"version\": 2, \"tabs\": []}",
      "{\"format\": \"roofscape/session\", \"tabs\": [{\"scenario\": {\"nonsense\": 1}}]}"};
  for (std::size_t i = 0; i < damaged.size(); ++i) {
    folder.write("session.json", damaged[i]);
    Harness h("llama3-8b-8-h100", 1280, 720);
    app::Autosave autosave(folder.path());
    autosave.restore(h.workspace, false);
    const auto aside = folder.path() / ("session.json.damaged-" + std::to_string(i + 1));
    REQUIRE(h.parts.session.message().has_value());
    CHECK(h.parts.session.message()->is_error);
    CHECK(h.parts.session.message()->text.find(aside.string()) != std::string::npos);
    autosave.run(h.workspace, 0);
    h.parts.session.update(named("after"), false);
    CHECK(autosave.finish(h.workspace));
    CHECK(test::text_of(aside) == damaged[i]);
    CHECK(kept_in(folder.path() / "session.json") == std::vector<std::string>{"after"});
  }
}

TEST_CASE("a folder that cannot be written to is told, tried again, and asked about before the window closes") {
  const test::TemporaryFolder folder;
  const auto blocked = folder.write("state", "a file stands where the folder should be");
  Harness h("llama3-8b-8-h100", 1280, 720);
  bool closed = false;
  h.workspace.actions().close = [&] { closed = true; };
  app::Autosave autosave(blocked);
  autosave.restore(h.workspace, false);
  autosave.run(h.workspace, 0);
  h.parts.session.update(named("edited"), false);
  autosave.run(h.workspace, 1);
  h.step(2);
  REQUIRE(h.parts.session.message().has_value());
  CHECK(h.parts.session.message()->is_error);
  CHECK_FALSE(h.workspace.save_problem().empty());
  CHECK(autosave.wake_in(1.0) > 0);
  CHECK_FALSE(autosave.finish(h.workspace));
  CHECK_FALSE(h.workspace.may_close());
  h.step(2);
  CHECK(h.parts.panels.sheets.shown == app::Sheet::leave);
  h.click(h.place("leave.cancel")->visible.centre());
  CHECK(h.parts.panels.sheets.shown == app::Sheet::none);
  CHECK_FALSE(closed);
  CHECK_FALSE(h.workspace.may_close());
  h.step(2);
  h.click(h.place("leave.ok")->visible.centre());
  CHECK(closed);
  CHECK(h.workspace.may_close());
  // Once there is room again it is kept without being asked.
  std::filesystem::remove(blocked);
  autosave.run(h.workspace, 2);
  CHECK_FALSE(h.workspace.save_problem().empty());
  autosave.run(h.workspace, 60);
  CHECK(h.workspace.save_problem().empty());
  CHECK(kept_in(blocked / "session.json") == std::vector<std::string>{"edited"});
  CHECK(autosave.wake_in(61) < 0);
}

TEST_CASE("a new tab has no file: saving it asks where, and the file of the other tab stays as it was") {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "plan.json";
  Harness h("llama3-8b-8-h100", 1280, 720);
  h.parts.save_as(file.string());
  const std::string saved = test::text_of(file);
  REQUIRE_FALSE(saved.empty());
  h.key(kNewTab);
  CHECK(h.parts.session.untitled());
  CHECK_FALSE(h.parts.session.saved());
  h.parts.session.update(named("another plan"), false);
  h.key({key_of('S'), true, false, false});
  CHECK(h.parts.panels.sheets.shown == app::Sheet::save_as);
  CHECK(test::text_of(file) == saved);
  h.key({Key::escape});
  // The first tab still saves to its file.
  h.parts.show_tab(0);
  engine::Scenario edited = h.scenario();
  edited.workload.sequence_length *= 2;
  h.parts.session.update(edited, false);
  h.key({key_of('S'), true, false, false});
  CHECK(h.parts.panels.sheets.shown == app::Sheet::none);
  CHECK(test::text_of(file) != saved);
}

TEST_CASE("a file that was changed by something else is not overwritten without a word") {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "plan.json";
  Harness h("llama3-8b-8-h100", 1280, 720);
  h.parts.save_as(file.string());
  const std::string theirs = io::write_scenario(named("theirs"), test::presets());
  folder.write("plan.json", theirs);
  h.parts.session.update(named("mine"), false);
  h.key({key_of('S'), true, false, false});
  CHECK(test::text_of(file) == theirs);
  CHECK(h.parts.panels.sheets.shown == app::Sheet::save_as);
}

TEST_CASE("saving under a name that exists asks before it replaces the file") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("taken.json", "precious");
  Harness h("llama3-8b-8-h100", 1280, 720);
  const auto save_to = [&] {
    h.key({key_of('S'), true, true, false});
    REQUIRE(h.parts.panels.sheets.shown == app::Sheet::save_as);
    h.step();
    h.key({key_of('A'), true, false, false});
    h.type(file.string());
    h.key({Key::enter});
  };
  save_to();
  CHECK(test::text_of(file) == "precious");
  CHECK(h.parts.panels.sheets.shown == app::Sheet::save_as);
  CHECK_FALSE(h.parts.panels.sheets.files.replaces.empty());
  h.key({Key::escape});
  CHECK(test::text_of(file) == "precious");
  save_to();
  h.key({Key::enter});
  CHECK(h.parts.panels.sheets.shown == app::Sheet::none);
  CHECK(test::text_of(file) != "precious");
  CHECK(h.parts.session.file() == file);
  CHECK(h.parts.session.saved());
}

TEST_CASE("files open by path, from the list, lately opened ones again, and dropped ones, each beside what is open") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("plans/mine.json", io::write_scenario(named("mine"), test::presets()));
  folder.write("plans/notes.txt", "no scenario");
  Harness h("llama3-8b-8-h100", 1280, 720);
  engine::Scenario edited = h.scenario();
  edited.workload.sequence_length *= 2;
  h.parts.session.update(edited, false);
  // A path, with its folder completed by Tab.
  h.key({key_of('O'), true, false, false});
  REQUIRE(h.parts.panels.sheets.shown == app::Sheet::open);
  h.step();
  h.type((folder.path() / "pl").string());
  h.key({Key::tab});
  CHECK(h.parts.panels.sheets.files.typed == (folder.path() / "plans").string() + "/");
  CHECK(h.place("file#" + file.string()) != nullptr);
  CHECK(h.place("file#" + (folder.path() / "plans/notes.txt").string()) == nullptr);
  h.type("mi");
  h.key({Key::tab});
  CHECK(h.parts.panels.sheets.files.typed == file.string());
  h.key({Key::enter});
  CHECK(h.parts.panels.sheets.shown == app::Sheet::none);
  CHECK(h.scenario().name == "mine");
  CHECK(h.parts.tabs.count() == 2);
  CHECK(h.parts.tabs.at(0, h.parts.session).scenario() == edited);
  // Opened again it is the same tab.
  h.parts.show_tab(0);
  h.key({key_of('O'), true, false, false});
  h.step();
  const auto* recent = h.place("file#" + file.string());
  REQUIRE(recent != nullptr);
  h.click(recent->visible.centre());
  CHECK(h.parts.tabs.count() == 2);
  CHECK(h.parts.tabs.active() == 1);
  // Dropped while something else is open over the window.
  const auto other = folder.write("other.json", io::write_scenario(named("other"), test::presets()));
  h.key({Key::f1});
  h.workspace.drop({other.string()});
  h.step(2);
  CHECK(h.parts.panels.sheets.shown == app::Sheet::none);
  CHECK(h.scenario().name == "other");
  // A file that is none is told, and the chooser stays.
  h.key({key_of('O'), true, false, false});
  h.step();
  h.type("/no/such/file.json");
  h.key({Key::enter});
  CHECK(h.parts.panels.sheets.shown == app::Sheet::open);
  CHECK_FALSE(h.parts.panels.sheets.files.problem.empty());
  h.key({Key::escape});
  CHECK(h.parts.panels.sheets.shown == app::Sheet::none);
  // The recent files are kept with the session.
  Harness again("llama3-8b-8-h100", 1280, 720);
  REQUIRE(again.workspace.restore(h.workspace.session_text(), "session.json"));
  REQUIRE(again.parts.panels.sheets.files.recent.size() == 2);
  CHECK(again.parts.panels.sheets.files.recent.front() == other.string());
}

TEST_CASE("an export asks where and how the first time, then writes the same way, and replaces nothing") {
  const test::TemporaryFolder folder;
  Harness h("llama3-8b-8-h100", 1280, 720);
  h.key({key_of('E'), true, false, false});
  CHECK(h.parts.panels.sheets.shown == app::Sheet::export_figure);
  CHECK(folder.count() == 0);
  h.step();
  h.parts.settings.export_as.folder = (folder.path() / "figures").string();
  h.click("export.pdf");
  h.click("export.ok");
  CHECK(h.parts.panels.sheets.shown == app::Sheet::none);
  CHECK(folder.count() == 3);  // the folder, SVG and PNG
  REQUIRE(h.parts.session.message().has_value());
  CHECK(h.parts.session.message()->text.find(folder.path().string()) != std::string::npos);
  std::vector<std::string> before;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "figures"))
    before.push_back(test::text_of(entry.path()));
  h.key({key_of('E'), true, false, false});
  CHECK(h.parts.panels.sheets.shown == app::Sheet::none);
  CHECK(folder.count() == 5);
  h.key({key_of('E'), true, true, false});
  CHECK(h.parts.panels.sheets.shown == app::Sheet::export_figure);
}

TEST_CASE(
    "a figure that is added to a recipe is one that the command line makes, with the plan and baseline as they are") {
  const test::TemporaryFolder folder;
  Harness h("llama3-8b-8-h100", 1280, 720);
  h.parts.settings.export_as.folder = folder.path().string();
  h.key({key_of('E'), true, false, false});
  h.step();
  h.click("export.recipe");
  const auto recipe = folder.path() / "figures.json";
  auto read = io::read_recipe(test::text_of(recipe), recipe.string());
  REQUIRE(read.ok());
  REQUIRE(read->size() == 1);
  CHECK(read->front().scenario == "llama3-8b-8-h100");
  CHECK(folder.count() == 1);
  // An edited plan and a baseline have no file: they get one.
  const app::Command *pin = app::find_command("baseline.pin"), *add = app::find_command("figure.recipe");
  REQUIRE(pin != nullptr);
  REQUIRE(add != nullptr);
  pin->run(h.workspace);
  engine::Scenario edited = h.scenario();
  edited.workload.global_batch_sequences *= 2;
  h.parts.session.update(edited, false);
  add->run(h.workspace);
  read = io::read_recipe(test::text_of(recipe), recipe.string());
  REQUIRE(read.ok());
  REQUIRE(read->size() == 2);
  CHECK(read.value()[1].output != read.value()[0].output);
  const auto plan = io::load_scenario(read.value()[1].scenario, test::presets()),
             baseline = io::load_scenario(read.value()[1].baseline, test::presets());
  REQUIRE(plan.ok());
  REQUIRE(baseline.ok());
  CHECK(plan.value() == edited);
  CHECK(baseline->workload.global_batch_sequences * 2 == edited.workload.global_batch_sequences);
}

TEST_CASE("the palette finds opening by other words, and opens a path") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("mine.json", io::write_scenario(named("mine"), test::presets()));
  Harness h("llama3-8b-8-h100", 1280, 720);
  for (const char* word : {"import", "config", "open", "load", "recent"}) {
    CAPTURE(word);
    const auto all = app::palette_entries(h.parts.session, h.workspace.texts(), app::commands(), word, {}, 400);
    CHECK(std::any_of(all.begin(), all.end(), [](const auto& e) { return e.value == "file.open"; }));
  }
  h.key({key_of('P'), true, false, false});
  h.type_and_press(file.string(), {Key::enter});
  CHECK(h.scenario().name == "mine");
}

TEST_CASE("tabs use the room there is for their titles") {
  Harness h("llama3-8b-8-h100", 1920, 1080);
  const std::string longest =
      "A scenario whose name says all of what it is about, with its chips, its schedule and its author";
  h.parts.session.update(named(longest), false);
  h.key(kNewTab);
  h.parts.session.update(named("b"), false);
  h.step(2);
  bool whole = false;
  for (const auto& t : h.canvas.drawn_texts())
    whole = whole || (t.text.find(longest) != std::string::npos && t.rect.y > 30 && t.rect.y < 80);
  CHECK(whole);
}

TEST_CASE("a plan edited from a preset and saved under a file is called edited after reopening, once") {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "plan.json";
  const std::string edited = test::preset("llama3-8b-8-h100").name + " (edited)";
  Harness h("llama3-8b-8-h100", 1280, 720);
  for (const int length : {4096, 2048, 1024}) {
    engine::Scenario s = h.scenario();
    s.workload.sequence_length = length;
    h.parts.session.update(s, false);
    h.parts.save_as(file.string());
    CHECK(engine::scenario_title(h.scenario()) == edited);
    CHECK(test::text_of(file).find("(edited)") == std::string::npos);
    h.workspace.open(file.string());
    CHECK(engine::scenario_title(h.scenario()) == edited);
  }
}

TEST_CASE("a file of one's own keeps its name when it is saved to itself, and is not called edited") {
  const test::TemporaryFolder folder;
  engine::Scenario own = test::preset("llama3-8b-8-h100");
  engine::set_name(own, "My plan");
  const auto file = folder.write("mine.json", io::write_scenario(own, test::presets()));
  Harness h("llama3-8b-8-h100", 1280, 720);
  h.workspace.open(file.string());
  engine::Scenario s = h.scenario();
  s.workload.sequence_length /= 2;
  h.parts.session.update(s, false);
  CHECK(engine::scenario_title(h.scenario()) == "My plan (edited)");
  const std::size_t steps = h.parts.session.history().undo_depth();
  h.key({key_of('S'), true, false, false});
  CHECK(engine::scenario_title(h.scenario()) == "My plan");
  CHECK(h.parts.session.saved());
  CHECK_FALSE(h.parts.session.file_changed());
  CHECK(h.parts.session.history().undo_depth() == steps);
  CHECK(test::text_of(file).find("made_from") == std::string::npos);
  const auto back = io::load_scenario(file.string(), test::presets());
  REQUIRE(back.ok());
  CHECK(engine::scenario_title(back.value()) == "My plan");
}

TEST_CASE("the tab of an edited plan bears the title of its headline") {
  Harness h("llama3-8b-8-h100", 1920, 1080);
  h.key(kNewTab);
  h.parts.show_tab(0);
  engine::Scenario s = h.scenario();
  s.workload.sequence_length /= 2;
  h.parts.session.update(s, false);
  h.step(2);
  const std::string title = engine::scenario_title(h.scenario());
  REQUIRE(title.ends_with("(edited)"));
  int shown = 0;
  for (const auto& t : h.canvas.drawn_texts()) shown += t.text.find(title) != std::string::npos ? 1 : 0;
  CHECK(shown >= 2);  // the top bar, and the tab
}

TEST_CASE("a name typed where a scenario is saved becomes its name, and the file is called after it") {
  const test::TemporaryFolder folder;
  Harness h("llama3-8b-8-h100", 1280, 720);
  h.parts.save_as((folder.path() / "first.json").string());
  const auto save_named = [&](const std::string& typed) {
    h.key({key_of('S'), true, true, false});
    REQUIRE(h.parts.panels.sheets.shown == app::Sheet::save_as);
    h.step();
    h.key({key_of('A'), true, false, false});
    h.type(typed);
    h.key({Key::enter});
    REQUIRE(h.parts.panels.sheets.shown == app::Sheet::none);
  };
  save_named("My plan");
  CHECK(h.parts.session.file() == folder.path() / "my-plan.json");
  CHECK(engine::scenario_title(h.scenario()) == "My plan");
  CHECK(h.parts.session.saved());
  const auto back = io::load_scenario((folder.path() / "my-plan.json").string(), test::presets());
  REQUIRE(back.ok());
  CHECK(back->name == "My plan");
  // The name of a file names the file alone.
  save_named("other.json");
  CHECK(h.parts.session.file() == folder.path() / "other.json");
  CHECK(h.scenario().name == "My plan");
}
