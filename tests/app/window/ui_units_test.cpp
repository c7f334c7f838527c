// Every box of a number states its unit, in the box or in its tip, and takes it back when it is typed.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "app/core/strings.h"
#include "app/session/workbench.h"
#include "app/shell/commands.h"
#include "engine/base/read_number.h"
#include "engine/blocks/block.h"
#include "tests/app/window/ui_checks.h"

using namespace roofscape;
using test::Harness;

namespace {

std::vector<std::string> boxes(const Harness& h, std::string_view group) {
  std::vector<std::string> out;
  for (const auto& [name, place] : h.parts.probe.all())
    if (name.ends_with(".box") && name.starts_with(group)) out.push_back(name.substr(0, name.size() - 4));
  return out;
}

bool has_letters(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '%' || c == '$'; }) ||
         text == "B" || text == "GB" || text == "MB" || text == "TB";
}

// Whether a string with a unit stands in the box.
bool in_box(const Harness& h, const std::string& id) {
  const widgets::Rect box = h.place(id + ".box")->rect;
  const auto& all = h.canvas.drawn_texts();
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& t) { return box.contains(t.rect.centre()) && has_letters(t.text); });
}

bool in_tip(Harness& h, const std::string& id) {
  REQUIRE(h.reach(id));
  const widgets::Rect row = h.place(id)->visible;
  h.move({row.x + 4, row.centre().y});
  h.wait(2);
  const auto& all = h.canvas.drawn_texts();
  const std::string_view unit = h.workspace.texts().text("ui.tip.unit");
  return std::any_of(all.begin(), all.end(), [&](const auto& t) { return t.text == unit; });
}

// The scrolled regions that boxes stand in: other strings may lie where a box would be that is out of sight.
std::vector<widgets::Rect> regions_of(const Harness& h, const std::vector<std::string>& ids) {
  std::vector<widgets::Rect> out;
  for (const std::string& id : ids) {
    const auto* place = h.place(id + ".box");
    if (!(place->visible == place->rect)) continue;
    for (const auto& t : h.canvas.drawn_texts())
      if (place->rect.contains(t.rect.centre()) && std::find(out.begin(), out.end(), t.clip) == out.end())
        out.push_back(t.clip);
  }
  return out;
}

// What stands in each box lies inside its frame. A string belongs to a box if it begins or ends there, so that labels
// that run into one are found too.
void check_inside(const Harness& h, std::size_t at_least) {
  const auto ids = boxes(h, "");
  CHECK(ids.size() >= at_least);
  const auto regions = regions_of(h, ids);
  for (const std::string& id : ids) {
    CAPTURE(id);
    const widgets::Rect box = h.place(id + ".box")->rect;
    int inside = 0;
    for (const auto& t : h.canvas.drawn_texts()) {
      if (std::find(regions.begin(), regions.end(), t.clip) == regions.end()) continue;
      if (!box.contains({box.centre().x, t.rect.centre().y}) || t.rect.right() <= box.x || t.rect.x >= box.right())
        continue;
      CAPTURE(t.text);
      CHECK(t.rect.x >= box.x);
      CHECK(t.rect.right() <= box.right());
      CHECK(t.rect.y >= box.y);
      CHECK(t.rect.bottom() <= box.bottom());
      ++inside;
    }
    CHECK(inside > 0);
  }
}

constexpr test::WindowSize kBoxSizes[] = {{1024, 640}, {1280, 720}, {1920, 1080}, {2560, 1440}};

void check_boxes(Harness& h, std::string_view group) {
  const auto all = boxes(h, group);
  CHECK(all.size() > 8);
  for (const std::string& id : all) {
    CAPTURE(id);
    CHECK((in_box(h, id) || in_tip(h, id)));
  }
}

}  // namespace

TEST_CASE("every box of the rail has its unit in it or in its tip") {
  for (const char* id : {"llama3-70b-v5p-pod", "llama3-405b-16k-h100", "deepseek-v3-h800-wide-expert"})
    for (const float width : {1280.0f, 1920.0f}) {
      CAPTURE(id);
      CAPTURE(width);
      Harness h(id, width, width * 9 / 16);
      h.parts.settings.arrangement.cells = {std::string(app::kNumbersCell)};
      h.step(2);
      check_boxes(h, "");
    }
}

TEST_CASE("every box of the editor has its unit in it or in its tip") {
  for (const char* command : {"editor.model", "editor.cluster"})
    for (const char* id : {"deepseek-v3-2048-h800", "llama3-70b-v5p-pod"}) {
      CAPTURE(command);
      CAPTURE(id);
      Harness h(id);
      app::find_command(command)->run(h.workspace);
      h.step(2);
      check_boxes(h, "edit.");
    }
}

TEST_CASE("numbers and units stand inside the boxes of the rail and of the editor, at every size") {
  for (const std::string id :
       {"llama3-405b-16k-h100", "deepseek-v3-2048-h800", "llama3-70b-serving-8-h100", "deepseek-v3-h800-wide-expert"})
    for (const test::WindowSize size : kBoxSizes) {
      CAPTURE(id);
      CAPTURE(size.width);
      Harness h(id, size.width, size.height);
      check_inside(h, 9);
      for (const char* command : {"editor.model", "editor.cluster"}) {
        CAPTURE(command);
        app::find_command(command)->run(h.workspace);
        h.step(2);
        check_inside(h, 18);
      }
    }
}

TEST_CASE("numbers and units stand inside the boxes of every building block, at every size") {
  for (const test::WindowSize size : kBoxSizes) {
    CAPTURE(size.width);
    Harness h("llama3-70b-v5p-pod", size.width, size.height);
    for (const engine::BuildingBlock& block : engine::blocks()) {
      CAPTURE(block.id);
      h.parts.panels.workbench.show(block.id);
      h.step(3);
      check_inside(h, 1);
    }
  }
}

TEST_CASE("the word that a box shows is taken back by every field, alone and in full") {
  const auto loaded = app::load_texts("en");
  REQUIRE(loaded.ok());
  const widgets::TextTable& texts = loaded.value();
  for (const engine::Field& field : engine::scenario_fields()) {
    if (field.kind != engine::FieldKind::integer && field.kind != engine::FieldKind::number) continue;
    if (field.unit.symbol == "1") continue;
    CAPTURE(field.path);
    const std::string shorter = "ui.unit." + std::string(field.unit.symbol);
    CHECK(engine::read_number("4 " + std::string(field.unit.symbol), field.unit).value == 4);
    if (texts.has(shorter))
      CHECK(engine::read_number("4 " + std::string(texts.text(shorter)), field.unit).value == 4);
  }
}
