// What must hold of any frame: no string cut at the side or outside the window, none on top of another.
#pragma once

#include "tests/app/window/ui_harness.h"

namespace roofscape::test {

// Strings that are neither wholly inside their clip nor wholly out of sight sideways. A scrolled region may cut a
// line at its top and bottom edge.
void check_texts(const Harness& h, float width);

// Whether a string with these words was drawn.
bool drawn(const Harness& h, std::string_view words);

// A letter or digit as it is typed for a command.
void press(Harness& h, char key);

// A size of the window.
struct WindowSize {
  float width, height;
};

// No two upright strings on each other.
void check_overlaps(const Harness& h);

}  // namespace roofscape::test
