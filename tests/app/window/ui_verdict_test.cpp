// The verdict bar says all it says whole: in fewer words where there is less room, never cut.
#include <doctest/doctest.h>

#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/app/surfaces/any_scenario.h"
#include "tests/app/window/ui_checks.h"

using namespace roofscape;
using engine::Scenario;
using test::Harness;

namespace {

constexpr std::array kWindows{std::pair{1024.0f, 700.0f}, std::pair{1280.0f, 720.0f},  std::pair{1366.0f, 768.0f},
                              std::pair{1600.0f, 900.0f}, std::pair{1920.0f, 1080.0f}, std::pair{2560.0f, 1440.0f}};

// The strings of the bar: all that stands between its first label and the bar of the step.
std::vector<widgets::ScreenCanvas::DrawnText> bar_texts(const Harness& h) {
  const auto* first = h.place("verdict.memory");
  REQUIRE(first != nullptr);
  std::vector<widgets::ScreenCanvas::DrawnText> out;
  for (const auto& t : h.canvas.drawn_texts())
    if (t.clip.y < first->rect.y && t.clip.bottom() > first->rect.bottom() + 20 && t.clip.h < 200 &&
        t.rect.y > t.clip.y)
      out.push_back(t);
  return out;
}

void check_whole(Harness& h) {
  const auto texts = bar_texts(h);
  REQUIRE(texts.size() > 8);
  for (const auto& t : texts) {
    CAPTURE(t.text);
    CHECK(t.text.find("\u2026") == std::string::npos);
    CHECK(t.rect.right() <= t.clip.right() + 1);
  }
  for (const char* id : {"verdict.memory", "verdict.bound", "verdict.mfu", "verdict.step", "verdict.ttft",
                         "verdict.token", "verdict.tokens"})
    if (const auto* place = h.place(id)) {
      CAPTURE(id);
      CHECK(place->rect.w > 1);  // its number is there
    }
  // Why a plan cannot run stands over the last picture.
  if (!h.parts.session.report().has_errors()) check_overlaps(h);
}

}  // namespace

TEST_CASE("nothing in the verdict is cut, of any preset in any window") {
  for (const io::Preset& preset : test::presets().list(io::PresetKind::scenario)) {
    CAPTURE(preset.id);
    Harness h(preset.id);
    h.parts.settings.arrangement.cells = {std::string(app::kNumbersCell)};
    for (const auto& window : kWindows) {
      CAPTURE(window.first);
      h.resize(window.first, window.second);
      check_whole(h);
    }
  }
}

TEST_CASE("nothing in the verdict is cut, of random plans with a baseline and without") {
  std::mt19937 rng(5);
  for (int i = 0; i < 24; ++i) {
    CAPTURE(i);
    const auto kind = i % 2 == 0 ? engine::WorkloadKind::training : engine::WorkloadKind::serving;
    Harness h(tests::any_scenario(rng, kind), "", 1280, 720);
    h.parts.settings.arrangement.cells = {std::string(app::kNumbersCell)};
    if (i % 3 == 0) {
      h.parts.pin_or_unpin();
      Scenario other = tests::any_scenario(rng, kind);
      h.parts.session.update(std::move(other), false);
    }
    for (const auto& window : kWindows) {
      CAPTURE(window.first);
      h.resize(window.first, window.second);
      check_whole(h);
    }
  }
}

TEST_CASE("what the verdict says in fewer words it says at length when it is pointed at") {
  Harness h("llama3-405b-16k-h100-8k", 1600, 900);
  bool shortened = false;
  for (const auto& [name, place] : h.parts.probe.all()) {
    if (!name.starts_with("verdict.") || !name.ends_with(".below")) continue;
    shortened = true;
    const widgets::Point middle = place.rect.centre();
    const auto before = h.canvas.drawn_texts().size();
    h.move(middle);
    h.wait(1);
    CHECK(h.canvas.drawn_texts().size() > before);
    break;
  }
  CHECK(shortened);
}
