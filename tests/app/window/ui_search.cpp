#include <doctest/doctest.h>

#include "tests/app/window/ui_search.h"

namespace roofscape::test {

void search(Harness& h) {
  h.key({widgets::Key::f7});
  h.parts.searching.wait();
  h.step(2);
}

void found_again(Harness& h) {
  h.step(2);
  h.parts.searching.wait();
  h.step(2);
}

const engine::ServingSearchResult& served(const Harness& h) { return h.parts.panels.search.found->serving; }

std::size_t dimension(std::string_view id) {
  for (std::size_t i = 0; i < app::kSearchDimensions; ++i)
    if (app::search_dimensions()[i].id == id) return i;
  FAIL("no such dimension");
  return 0;
}

const engine::SearchResult& result(const Harness& h) { return h.parts.panels.search.found->result; }

std::optional<widgets::Point> tag_place(Harness& h, std::string_view id, int index) {
  h.canvas.set_tagging(widgets::Tagging::all);
  h.step();
  std::optional<widgets::Point> at;
  for (const widgets::TagRegion& tag : h.canvas.tags())
    if (tag.id == id && tag.index == index && !tag.rect.empty()) at = tag.rect.centre();
  h.canvas.set_tagging(widgets::Tagging::none);
  return at;
}

void check_list_while_held(Harness& h, const std::string& slider) {
  const engine::Scenario before = h.scenario();
  h.hold(slider, 0.3f, 0.65f, 7, [&h] {
    const auto& view = h.parts.panels.search;
    REQUIRE(view.found);
    CHECK(view.stale == !(view.found->query.scenario == h.scenario()));
    CHECK(h.place("search.row.1") != nullptr);
  });
  h.release();
  found_again(h);
  CHECK_FALSE(h.scenario() == before);
  CHECK(h.parts.panels.search.found->query.scenario == h.scenario());
  CHECK(h.parts.session.history().undo_depth() == 1);
}

void check_readable(std::initializer_list<const char*> presets) {
  struct Size {
    float width, height;
  };
  for (const char* id : presets)
    for (const Size size : {Size{1024, 700}, {1280, 720}, {1920, 1080}}) {
      CAPTURE(id);
      CAPTURE(size.width);
      Harness h(id, size.width, size.height);
      h.key({widgets::Key::f7});
      h.step();
      check_texts(h, size.width);
      h.parts.searching.wait();
      h.step(2);
      CHECK(widgets::compat::audit_draw_data().outside == 0);
      check_texts(h, size.width);
      check_overlaps(h);
    }
}

}  // namespace roofscape::test
