// Geometry: rectangles cut, met and kept within limits.
#include <doctest/doctest.h>

#include <random>

#include "widgets/canvas/geometry.h"

using namespace roofscape::widgets;

TEST_CASE("a number stays between its limits, and is the lower one where there is no room between them") {
  CHECK(confined(3.0f, 1.0f, 5.0f) == 3.0f);
  CHECK(confined(0.0f, 1.0f, 5.0f) == 1.0f);
  CHECK(confined(9.0f, 1.0f, 5.0f) == 5.0f);
  for (const float v : {-10.0f, 3.0f, 4.0f, 5.0f, 10.0f}) CHECK(confined(v, 5.0f, 3.0f) == 5.0f);
}

TEST_CASE("a strip that is cut off and what is left make up the rectangle, however large the cut") {
  std::mt19937 random(1);
  const auto any = [&random] { return static_cast<float>(random() % 400); };
  for (int i = 0; i < 2000; ++i) {
    const Rect whole{any(), any(), any(), any()};
    const float cut = any();
    Rect rest = whole;
    const Rect top = rest.cut_top(cut);
    CHECK(top.h + rest.h == whole.h);
    CHECK(top.bottom() == rest.y);
    CHECK(top.h <= whole.h);
    rest = whole;
    const Rect right = rest.cut_right(cut);
    CHECK(right.w + rest.w == whole.w);
    CHECK(right.x == rest.right());
    CHECK_FALSE(intersection(rest, right).w > 0);
  }
}
