// The table of models and chips in the window: every number of it, order, search, what a click takes, what is copied
// and written, and how it looks at every size.
#include <doctest/doctest.h>

#include <algorithm>

#include "app/shell/commands.h"
#include "tests/app/window/ui_checks.h"
#include "tests/engine/io/io_fixture.h"

using namespace roofscape;
using app::PresetTableView;
using test::drawn;
using test::Harness;
using widgets::Key;

namespace {

PresetTableView& view(Harness& h) { return h.parts.panels.table; }

const PresetTableView::Shown& shown(Harness& h) { return view(h).shown(h.parts.session, h.workspace.texts()); }

void open(Harness& h, PresetTableView::Kind kind = PresetTableView::Kind::models) {
  view(h).show(kind);
  h.step(3);
}

std::vector<std::string> ids(Harness& h) {
  std::vector<std::string> out;
  for (const app::PresetTable::Row& row : shown(h).table.rows) out.push_back(row.id);
  return out;
}

}  // namespace

TEST_CASE("F8 opens the table of models over the figures, Escape and F8 close it") {
  Harness h;
  h.key({Key::f8});
  h.step(2);
  CHECK(view(h).open);
  CHECK(h.place("table.row.llama3-70b") != nullptr);
  h.key({Key::escape});
  h.step(2);
  CHECK_FALSE(view(h).open);
  h.key({Key::f8});
  h.key({Key::f8});
  h.step(2);
  CHECK_FALSE(view(h).open);
}

TEST_CASE("each kind of table has a row for each preset and a cell for each number") {
  Harness h;
  for (const auto& [kind, presets] : {std::pair{PresetTableView::Kind::models, io::PresetKind::model},
                                      {PresetTableView::Kind::chips, io::PresetKind::chip}}) {
    open(h, kind);
    CHECK(shown(h).all == test::presets().list(presets).size());
    for (const auto& cells : shown(h).cells) CHECK(cells.size() == shown(h).table.columns.size());
  }
}

TEST_CASE("the table and the editor open at the row of the present model and chip, however far down it is") {
  Harness h("llama3-70b-v5p-pod", 1280, 560);
  const auto in_sight = [&h](std::string_view row) {
    const auto* place = h.parts.probe.find(row);
    return place != nullptr && place->visible.h == place->rect.h;
  };
  open(h);
  CHECK(in_sight("table.row.llama3-70b"));
  open(h, PresetTableView::Kind::chips);
  CHECK(in_sight("table.row.tpu-v5p"));
  h.key({Key::escape});
  h.key({Key::f2});
  h.step(3);
  CHECK(in_sight("editor.preset.llama3-70b"));
}

TEST_CASE("a click on a head sorts by its column, another one turns the order round, values that are missing last") {
  Harness h;
  for (const auto kind : {PresetTableView::Kind::models, PresetTableView::Kind::chips}) {
    open(h, kind);
    const std::size_t columns = shown(h).table.columns.size();
    for (std::size_t column = 0; column < columns; ++column) {
      const std::string id(shown(h).table.columns[column].id);
      CAPTURE(id);
      for (const bool descending : {false, true}) {
        view(h).sort(id);
        CHECK(view(h).sorting().descending == descending);
        const auto& rows = shown(h).table.rows;
        for (std::size_t i = 1; i < rows.size(); ++i) {
          const auto &a = rows[i - 1].values[column], &b = rows[i].values[column];
          CHECK((!b || (a && (descending ? *a >= *b : *a <= *b))));
        }
      }
    }
  }
  open(h, PresetTableView::Kind::models);
  h.click("table.sort.params");
  h.step(2);
  CHECK(view(h).sorting() == PresetTableView::Sorting{"params", false});
}

TEST_CASE("what is typed finds rows by name, id or alias, and Enter takes the best into the scenario") {
  Harness h;
  open(h, PresetTableView::Kind::chips);
  h.click("table.search");
  h.type("ironwood");
  h.step(2);
  REQUIRE(shown(h).best);
  CHECK(ids(h) == std::vector<std::string>{"tpu-7x"});
  h.key({Key::enter});
  h.step(2);
  CHECK(h.scenario().cluster.chip.id == "tpu-7x");
  view(h).search = "no such chip";
  h.step(2);
  CHECK(drawn(h, h.workspace.texts().format("ui.list.none", {"no such chip"})));
}

TEST_CASE("a click on a row takes its model or chip into the scenario, as one step of undo") {
  Harness h;
  const engine::Scenario before = h.scenario();
  open(h);
  view(h).search = "gpt3-175b";  // of more rows than stand in the window
  h.step(2);
  REQUIRE(h.reach("table.row.gpt3-175b"));
  h.click("table.row.gpt3-175b");
  h.step(2);
  CHECK(h.scenario().model == *test::presets().find_model("gpt3-175b"));
  CHECK(view(h).open);
  CHECK(h.parts.session.undo());
  CHECK(h.scenario() == before);
  view(h).search.clear();
  open(h, PresetTableView::Kind::chips);
  REQUIRE(h.reach("table.row.b200"));
  h.click("table.row.b200");
  h.step(2);
  CHECK(h.scenario().cluster.chip.id == "b200");
}

TEST_CASE("a model that was read from a file stands in the table under its name") {
  Harness h;
  engine::TransformerShape model = *test::presets().find_model("llama3-8b");
  model.id.clear();
  model.name = "zzq, a \"file\"";
  h.parts.session.remember_model(model);
  open(h);
  view(h).search = "zzq";
  REQUIRE(shown(h).table.rows.size() == 1);
  CHECK(csv_of(shown(h).table).find("\n\"zzq, a \"\"file\"\"\",8030261248,") != std::string::npos);
  h.step(2);
  h.click("table.row." + model.name);
  h.step(2);
  CHECK(h.scenario().model == model);
}

TEST_CASE("copy and save give the rows that are shown, in their order") {
  const test::TemporaryFolder folder;
  Harness h;
  std::string copied;
  h.workspace.actions().copy_text = [&](const std::string& text) { copied = text; };
  h.parts.settings.export_as.folder = folder.path().string();
  open(h);
  view(h).search = "llama";
  view(h).sort("params");
  h.step(2);
  h.click("table.copy");
  h.step(2);
  CHECK(copied == tsv_of(shown(h).table));
  for (const std::string name : {"models.csv", "models-2.csv"}) {
    h.click("table.save");
    h.step(2);
    CHECK(test::text_of(folder.path() / name) == csv_of(shown(h).table));
  }
  CHECK(std::count(copied.begin(), copied.end(), '\n') ==
        static_cast<std::ptrdiff_t>(shown(h).table.rows.size()) + 1);
}

TEST_CASE("a figure that is asked for comes out from under the table, the editor and the workbench") {
  Harness h;
  const auto ask = [&] {
    app::find_command("figure.roofline")->run(h.workspace);
    h.step(2);
    CHECK(h.parts.panels.figures.maximised.has_value());
    CHECK(h.place("figure.roofline") != nullptr);
  };
  for (const std::string_view under : {"view.table", "view.workbench", "editor.model"}) {
    CAPTURE(under);
    app::find_command(under)->run(h.workspace);
    h.step(2);
    ask();
  }
}

TEST_CASE("no text of the table is cut or lies on another, at every size") {
  for (const test::WindowSize size : {test::WindowSize{1024, 700}, {1280, 720}, {1920, 1080}, {2560, 1440}})
    for (const auto kind : {PresetTableView::Kind::models, PresetTableView::Kind::chips}) {
      CAPTURE(size.width);
      Harness h("llama3-8b-8-h100", size.width, size.height);
      open(h, kind);
      test::check_texts(h, size.width);
      test::check_overlaps(h);
      CHECK(widgets::compat::audit_draw_data().outside == 0);
    }
}
