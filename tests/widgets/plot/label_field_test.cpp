// LabelField: labels that cover nothing.
#include <doctest/doctest.h>

#include <array>

#include "tests/widgets/support.h"
#include "widgets/plot/label_field.h"

using namespace roofscape::widgets;

TEST_CASE("a label takes the first place that covers nothing and lies in the room") {
  LabelField field({0, 0, 100, 50});
  field.take({0, 0, 30, 30});
  const std::array<Point, 3> corners{Point{90, 10}, {10, 10}, {40, 10}};
  const auto place = field.place({20, 10}, corners);
  REQUIRE(place);
  CHECK(*place == Rect{40, 10, 20, 10});
  CHECK(!field.place({20, 10}, corners));  // taken now
}

TEST_CASE("around a mark: right first, then left, then above") {
  LabelField field({0, 0, 100, 60});
  const Rect mark{40, 25, 10, 10};
  CHECK(field.place_around(mark, {20, 10}, 4)->x == 54);
  CHECK(field.place_around(mark, {20, 10}, 4)->right() == 36);
  CHECK(field.place_around(mark, {20, 10}, 4)->bottom() == 21);
}

TEST_CASE("what names a mark stands where it could not name another") {
  LabelField field({0, 0, 200, 100});
  const Rect mark{80, 40, 10, 10};
  field.take_mark(mark);
  field.take_mark({120, 42, 10, 10});  // a label to the right would end beside it
  CHECK(field.place_naming(mark, {24, 10}, 4)->right() == 76);
  LabelField alone({0, 0, 200, 100});
  alone.take_mark(mark);
  CHECK(alone.place_naming(mark, {24, 10}, 4)->x == 94);
  LabelField crowded({0, 0, 200, 100});
  for (const Rect& one :
       {mark, Rect{40, 40, 10, 10}, Rect{120, 40, 10, 10}, Rect{80, 20, 10, 10}, Rect{80, 60, 10, 10}})
    crowded.take_mark(one);
  CHECK_FALSE(crowded.place_naming(mark, {60, 8}, 2));
}

TEST_CASE("a slanted line covers what it passes and not the rest of its box") {
  LabelField field({0, 0, 100, 100});
  field.take_line({0, 100}, {100, 0}, 4);
  CHECK(field.is_free({5, 5, 20, 20}));
  CHECK(field.is_free({75, 75, 20, 20}));
  CHECK(!field.is_free({45, 45, 10, 10}));
}
