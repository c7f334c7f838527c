// The grid of figures: what stands where is chosen, moved and kept, and there is room for it at any size and zoom.
#include <doctest/doctest.h>

#include <filesystem>
#include <optional>

#include "app/session/session_file.h"
#include "app/shell/commands.h"
#include "tests/app/window/ui_checks.h"
#include "tests/capture_binding.h"
#include "tests/engine/io/io_fixture.h"
#include "widgets/figures/figures.h"

using namespace roofscape;
using test::Harness;
using widgets::Key;
using widgets::Rect;

namespace {

Rect cell_of(const Harness& h, const std::string& figure) {
  const auto* p = h.place("figure." + figure);
  return p == nullptr ? Rect{} : p->rect;
}

void drag_from_to(Harness& h, widgets::Point a, widgets::Point b) {
  h.move(a);
  h.press();
  h.move({(a.x + b.x) / 2, (a.y + b.y) / 2});
  h.move(b);
  h.release();
  h.wait(1);
}

}  // namespace

TEST_CASE("the title of a cell lists every figure and the numbers, and puts the chosen one there") {
  Harness h("llama3-405b-16k-h100");
  const auto cells = h.parts.settings.arrangement.cells;
  h.click("figure.roofline.title");
  REQUIRE(h.parts.interaction.popup_open("figure.roofline.title"));
  CHECK(h.parts.interaction.popup().options.size() == widgets::figures().size() + 1);
  h.type("schedules");
  h.key({Key::enter});
  h.step(2);
  CHECK(h.parts.settings.arrangement.cells[0] == "schedules");
  CHECK(h.place("figure.schedules") != nullptr);
  CHECK(h.place("figure.roofline") == nullptr);
  // A figure that already stands elsewhere changes places.
  h.click("figure.schedules.title");
  h.type("memory");
  h.key({Key::enter});
  h.step(2);
  CHECK(h.parts.settings.arrangement.cells[0] == "memory");
  CHECK(h.parts.settings.arrangement.cells[2] == "schedules");
  CHECK(h.parts.settings.arrangement == h.parts.settings.arrangement);
  h.parts.settings.arrangement.cells[1] = app::kNumbersCell;
  h.step(2);
  h.click("numbers.title");
  CHECK(h.parts.interaction.popup_open("numbers.title"));
  h.key({Key::escape});
  app::find_command("view.layout_reset")->run(h.workspace);
  h.step(2);
  CHECK(h.parts.settings.arrangement.cells == cells);
}

TEST_CASE("every figure can stand in every cell at every size") {
  for (const auto& [w, hgt] : {std::pair{1024.0f, 700.0f}, {1920.0f, 1080.0f}}) {
    Harness h("llama3-405b-16k-h100", w, hgt);
    auto& cells = h.parts.settings.arrangement.cells;
    const auto at_first = cells;
    for (const widgets::FigureRow& row : widgets::figures())
      for (std::size_t place = 0; place < app::kCellCount; ++place) {
        cells = at_first;
        if (const auto other = std::find(cells.begin(), cells.end(), row.name); other != cells.end())
          std::swap(*other, cells[place]);
        cells[place] = row.name;
        h.parts.panels.grid.pair = {static_cast<int>(place % 2), static_cast<int>(place % 2)};
        h.step(2);
        CAPTURE(row.name);
        CHECK(h.place("figure." + std::string(row.name)) != nullptr);
        CHECK(widgets::compat::audit_draw_data().outside == 0);
      }
  }
}

TEST_CASE("the menu of a figure offers its choices, and a right click on the picture opens the same") {
  Harness h("llama3-405b-16k-h100");
  for (std::size_t i = 0; i < widgets::figures().size(); ++i) {
    const widgets::FigureRow& row = widgets::figures()[i];
    CAPTURE(row.name);
    h.parts.panels.figures.maximised = i;
    h.step(2);
    const std::string id = "figure." + std::string(row.name);
    h.click(id + ".menu");
    REQUIRE(h.parts.interaction.popup_open(id + ".menu"));
    for (std::size_t o = 0; o < row.options.size(); ++o)
      if (row.options[o].choices.size() > 1) {
        const auto& options = h.parts.interaction.popup().options;
        const std::string wanted(h.workspace.texts().text(id + "." + std::string(row.options[o].key) + "." +
                                                          std::string(row.options[o].choices[1])));
        const std::string heading(h.workspace.texts().text(id + "." + std::string(row.options[o].key)));
        std::size_t at = 0;  // options may share words: the choice is the first of them under its heading
        while (at < options.size() && !(options[at].heading && options[at].text == heading)) ++at;
        while (at < options.size() && (options[at].text != wanted || options[at].heading)) ++at;
        REQUIRE(at < options.size());
        h.parts.interaction.popup().highlighted = static_cast<int>(at);
        h.key({Key::enter});
        h.step(2);
        CHECK(h.parts.panels.figures.choices[i][o] == 1);
        h.click(id + ".menu");
      }
    h.key({Key::escape});
    if (const auto* p = h.place(id); p != nullptr && p->visible.h > 20) {
      h.click(p->rect.centre(), 1);
      CHECK(h.parts.interaction.popup_open(id + ".menu"));
      h.key({Key::escape});
    }
  }
}

TEST_CASE("splitters move rails, columns and rows, and a double click puts them back") {
  Harness h("llama3-405b-16k-h100");
  const app::Arrangement before = h.parts.settings.arrangement;
  struct Move {
    const char* id;
    float dx, dy;
  };
  for (const Move& m : {Move{"splitter.left", 60, 0}, Move{"splitter.right", -50, 0}, Move{"splitter.column", 90, 0},
                        Move{"splitter.row", 0, -70}}) {
    CAPTURE(m.id);
    const auto* p = h.place(m.id);
    REQUIRE(p != nullptr);
    CHECK(std::min(p->rect.w, p->rect.h) == 8.0f);
    const widgets::Point a = p->rect.centre(), b{a.x + m.dx, a.y + m.dy};
    drag_from_to(h, a, b);
    CHECK_FALSE(h.parts.settings.arrangement == before);
    const widgets::Point now = h.place(m.id)->rect.centre();
    CHECK(std::abs(now.x - (m.dx != 0 ? b.x : now.x)) < 2);
    CHECK(std::abs(now.y - (m.dy != 0 ? b.y : now.y)) < 2);
    CHECK(h.parts.settings.arrangement == h.parts.settings.arrangement);
    h.press();
    h.release();
    h.press();
    h.release();
    h.wait(1);
    CHECK(h.parts.settings.arrangement == before);
  }
  CHECK(h.parts.session.history().undo_depth() == 0);
}

TEST_CASE("a splitter dragged to the edge leaves room for what is beside it") {
  for (const auto& [w, hgt] :
       {std::pair{1024.0f, 700.0f}, {1280.0f, 720.0f}, {1920.0f, 1080.0f}, {3840.0f, 2160.0f}}) {
    Harness h("llama3-405b-16k-h100", w, hgt);
    for (const std::string_view id : app::kSplitterIds)
      for (const float to : {0.0f, 1.0f}) {
        const auto* p = h.place(id);
        if (p == nullptr) continue;
        CAPTURE(id);
        CAPTURE_BINDING(w);
        drag_from_to(h, p->rect.centre(), {to * w, to * hgt});
        CHECK(widgets::compat::audit_draw_data().outside == 0);
        test::check_texts(h, w);
        for (const auto& [name, place] : h.parts.probe.all())
          if (name.starts_with("figure.") && name.find('.', 7) == std::string::npos && place.rect.w > 0)
            CHECK(place.rect.w >= 150);
      }
  }
}

TEST_CASE("at every zoom from 75 to 400 percent and every size something is shown and nothing is cut") {
  for (const auto& [w, hgt] : {std::pair{1024.0f, 700.0f}, {1280.0f, 720.0f}, {1920.0f, 1080.0f}, {3840.0f, 2160.0f}})
    for (const double zoom : {0.75, 1.0, 1.5, 2.0, 3.0, 4.0}) {
      Harness h("llama3-405b-16k-h100", w, hgt);
      h.parts.settings.zoom = zoom;
      h.step(3);
      CAPTURE_BINDING(w);
      CAPTURE(zoom);
      CHECK(widgets::compat::audit_draw_data().outside == 0);
      test::check_texts(h, w);
      test::check_overlaps(h);
      std::size_t shown = 0;
      for (const auto& [name, place] : h.parts.probe.all())
        if (name.ends_with(".title")) ++shown;
      CHECK(shown >= 1);
    }
}

TEST_CASE("rails fold and open again, and stay so in the settings") {
  Harness h("llama3-405b-16k-h100");
  const float before = cell_of(h, "memory").w;
  h.key({widgets::key_of('L'), true, false, false});
  CHECK(h.place("parallelism.tensor") == nullptr);
  CHECK(cell_of(h, "memory").w > before);
  CHECK_FALSE(h.parts.settings.arrangement.left_open);
  h.key({widgets::key_of('D'), true, false, false});
  CHECK(h.parts.settings.arrangement.right_open == false);
  h.key({widgets::key_of('L'), true, false, false});
  CHECK(h.place("parallelism.tensor") != nullptr);
}

TEST_CASE("every setting is read back as it was written") {
  app::Settings s;
  s.theme = "light";
  s.language = "ko";
  s.zoom = 1.375;
  s.width = 1600;
  s.height = 900;
  s.arrangement.cells = {"bubble", "numbers", "schedules", "memory"};
  s.arrangement.column = 0.3125f;
  s.arrangement.row = 0.71f;
  s.arrangement.left = 410;
  s.arrangement.right = 505.5f;
  s.arrangement.left_open = false;
  s.arrangement.right_open = false;
  s.other_cells = {"ladder", "kv", "queue", "decode-step"};
  s.mesh.keep_product = false;
  s.mesh.partner = engine::Axis::pipeline;
  s.export_as.folder = "/somewhere";
  s.pinned = {"parallelism.tensor", "checkpointing.k"};
  s.deck = {"step", "roofline"};
  s.still = true;
  // None of them is the default's, and none is left out: whoever adds a setting must name it here. The kind is the
  // scenario's, which the session brings.
  const auto none_is_default = [](const app::Settings& given, const app::Settings& other) {
    const auto& [theme, language, zoom, width, height, arrangement, kind, other_cells, mesh, export_as, pinned, deck,
                 still] = given;
    const auto& [keep_product, partner] = mesh;
    const auto& [cells, column, row, left, right, left_open, right_open] = arrangement;
    const app::Arrangement& a = other.arrangement;
    CHECK(kind == other.kind);
    return theme != other.theme && language != other.language && zoom != other.zoom && width != other.width &&
           height != other.height && other_cells != other.other_cells && keep_product != other.mesh.keep_product &&
           partner != other.mesh.partner && export_as != other.export_as && pinned != other.pinned &&
           deck != other.deck && still != other.still && cells != a.cells && column != a.column && row != a.row &&
           left != a.left && right != a.right && left_open != a.left_open && right_open != a.right_open;
  };
  CHECK(none_is_default(s, app::Settings{}));
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "settings.json";
  REQUIRE(app::write_settings(file, s));
  CHECK(app::read_settings(file) == s);
}

TEST_CASE("mesh axes that keep their product do so again the next time the window opens") {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "settings.json";
  engine::Scenario start = test::preset("llama3-405b-16k-h100-8k");
  start.parallelism.data = 2;
  start.parallelism.fsdp /= 2;
  {
    Harness h(start, "", 1920, 1080);
    h.click("mesh.partner");
    h.type("data");
    h.key({Key::enter});
    h.step(2);
    CHECK(h.parts.settings.mesh.partner == engine::Axis::data);
    REQUIRE(app::write_settings(file, h.parts.settings));
  }
  Harness h(start, "", 1920, 1080, "dark", app::read_settings(file));
  const int product = h.scenario().parallelism.data * h.scenario().parallelism.tensor;
  CHECK(h.place("mesh.partner") != nullptr);
  h.drag("parallelism.tensor", 0.35f, 0.0f);
  CHECK(h.scenario().parallelism.tensor == 1);
  CHECK(h.scenario().parallelism.data == product);
}

TEST_CASE("a settings file that is nonsense leaves every setting as it is by default") {
  const test::TemporaryFolder folder;
  for (const char* text :
       {"", "{", "[]",
        "{\"zoom\": \"nan\", \"width\": \"wide\", \"mesh.partner\": \"expert\", \"mesh.keep_product\": \"\"}",
        "{\"theme\": \"da\\\"rk\", \"layout.column\": \"\"}"}) {
    CAPTURE(text);
    CHECK(app::read_settings(folder.write("settings.json", text)) == app::Settings{});
  }
}

TEST_CASE("settings that cannot be read are moved aside with what is wrong, and nothing of the file is lost") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("settings.json", "{\"theme\": ");
  std::optional<io::InputError> problem;
  CHECK(app::read_settings(file, &problem) == app::Settings{});
  REQUIRE(problem.has_value());
  CHECK(problem->file == file.string());
  const auto aside = app::set_aside(file);
  CHECK(aside.filename() == "settings.json.damaged-1");
  CHECK(test::text_of(aside) == "{\"theme\": ");
  CHECK(!std::filesystem::exists(file));
  problem.reset();
  CHECK(app::read_settings(file, &problem) == app::Settings{});
  CHECK(!problem.has_value());  // there is none
}

TEST_CASE("the layout is read back from the settings file as it was written, whatever stands in the file") {
  const auto file = std::filesystem::temp_directory_path() / "roofscape-layout-settings.json";
  app::Settings s;
  s.arrangement.cells = {"bubble", "numbers", "schedules", "memory"};
  s.arrangement.column = 0.625f;
  s.arrangement.right = 500;
  s.arrangement.left_open = false;
  s.arrangement.right_open = true;
  REQUIRE(app::write_settings(file, s));
  CHECK(app::read_settings(file) == s);
  s.arrangement.cells[1] = "no_such_figure";
  REQUIRE(app::write_settings(file, s));
  Harness h("llama3-405b-16k-h100");
  h.parts.settings.arrangement = app::read_settings(file).arrangement;
  h.step(2);
  CHECK(h.place("figure.network") != nullptr);  // what stands there by default
  std::filesystem::remove(file);
}
