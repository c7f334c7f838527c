// A slider and what it changes move together: the verdict and the figures of a frame are of the value that the slider
// has in it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/app/window/ui_harness.h"
#include "tests/capture_binding.h"

using namespace roofscape;
using test::Harness;

namespace {

// All texts between the rails, below the menu and above the status bar: the verdict and the figures.
std::vector<std::string> shown_between_rails(const Harness& h) {
  std::vector<std::string> out;
  for (const auto& t : h.canvas.drawn_texts())
    if (t.rect.x > 345 && t.rect.right() < 1540 && t.rect.y > 60 && t.rect.bottom() < 1040) out.push_back(t.text);
  return out;
}

std::string first_difference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
    if (i >= a.size() || i >= b.size() || a[i] != b[i])
      return (i < a.size() ? a[i] : "nothing") + " -> " + (i < b.size() ? b[i] : "nothing");
  return {};
}

}  // namespace

TEST_CASE("the verdict and the figures are of the slider's value in the frame in which it moves") {
  for (const auto& [preset, slider] : {std::pair{"llama3-8b-8-h100", "workload.global_batch_sequences"},
                                       std::pair{"llama3-8b-8-h100", "workload.sequence_length"},
                                       std::pair{"llama3-405b-16k-h100", "workload.global_batch_sequences"},
                                       std::pair{"llama3-70b-v5p-pod", "parallelism.tensor"},
                                       std::pair{"llama3-70b-serving-8-h100", "workload.prompt_tokens"}}) {
    CAPTURE_BINDING(preset);
    CAPTURE_BINDING(slider);
    Harness h(preset);
    REQUIRE(h.reach(slider));
    const widgets::Rect track = h.place(std::string(slider) + ".track")->rect;
    h.move({track.x + track.w * 0.4f, track.centre().y});
    h.press();
    int moved = 0;
    for (int i = 0; i < 12; ++i) {
      const engine::Scenario before = h.scenario();
      widgets::compat::move_pointer(track.x + track.w * (0.5f + 0.4f * std::sin(0.9f * static_cast<float>(i))),
                                    track.centre().y);
      h.step();
      if (h.scenario() == before) continue;
      ++moved;
      const auto first = shown_between_rails(h);
      h.step();
      CHECK(first_difference(first, shown_between_rails(h)) == "");
      h.step(4);  // what is worked out over several frames has come
    }
    CHECK(moved > 3);
    h.release();
  }
}
