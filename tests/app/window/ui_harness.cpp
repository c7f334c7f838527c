#include <doctest/doctest.h>

#include "tests/app/window/ui_harness.h"

#include <utility>

#include "app/core/strings.h"
#include "engine/io/scenario/scenario_json.h"

namespace roofscape::test {

const std::shared_ptr<const io::PresetLibrary>& shared_presets() {
  static const auto library = std::make_shared<const io::PresetLibrary>();
  return library;
}
const io::PresetLibrary& presets() { return *shared_presets(); }

const widgets::FontStack& test_fonts() {
  static const widgets::FontStack fonts;
  return fonts;
}

engine::Scenario preset(const std::string& id) {
  auto loaded = io::load_scenario(id, presets());
  REQUIRE(loaded.ok());
  return std::move(loaded).value();
}

Harness::Harness(const std::string& scenario, float width, float height, const std::string& theme)
    : Harness(preset(scenario), scenario, width, height, theme) {}

Harness::Harness(engine::Scenario start, const std::string& origin, float width, float height,
                 const std::string& theme, const app::Settings& settings)
    : context_(ImGui::CreateContext()),
      atlas_(test_fonts()),
      canvas(test_fonts(), atlas_),
      workspace(shared_presets(), test_fonts(), std::move(start), origin, texts(settings.language), themed(theme),
                settings),
      width_(width),
      height_(height) {
  ImGui::GetIO().LogFilename = nullptr;
  atlas_.add_characters(workspace.characters());
  canvas.set_audit(true);
  canvas.set_tagging(widgets::Tagging::none);  // as in the window
  step(2);
}

Harness::~Harness() { ImGui::DestroyContext(context_); }

void Harness::step(int frames) {
  for (int i = 0; i < frames; ++i) {
    const widgets::Rect area{0, 0, width_, height_};
    atlas_.add_characters(workspace.take_new_characters());
    atlas_.update(workspace.em_px(area));
    compat::headless_frame_begin(width_, height_, 1.0f / 60);
    now_ += 1.0 / 60;
    const ImGuiIO& io = ImGui::GetIO();
    widgets::UiInput input;
    input.pointer = {io.MousePos.x, io.MousePos.y};
    input.down = {io.MouseDown[0], io.MouseDown[1]};
    input.wheel = io.MouseWheel;
    input.control = control;
    input.keys = std::exchange(keys_, {});
    input.released = std::exchange(released_, {});
    input.typed = std::exchange(typed_, {});
    input.now_s = now_;
    workspace.frame(canvas, ImGui::GetBackgroundDrawList(), input, area);
    compat::headless_frame_end();
  }
}

void Harness::resize(float width, float height) {
  width_ = width;
  height_ = height;
  step(2);
}

void Harness::move(widgets::Point p) {
  compat::move_pointer(p.x, p.y);
  step(2);
}

void Harness::press(int button) {
  compat::press_pointer(button, true);
  step();
}

void Harness::release(int button) {
  compat::press_pointer(button, false);
  step(2);
}

void Harness::click(widgets::Point p, int button) {
  move(p);
  press(button);
  release(button);
  now_ += 1;  // the next press is no double click
}

void Harness::wait(double seconds) {
  now_ += seconds;
  step(2);
}

void Harness::key(widgets::KeyPress k) {
  keys_.push_back(k);
  step(2);
}

void Harness::let_go(widgets::Key k) {
  released_.push_back(k);
  step(2);
}

void Harness::type(std::string text) {
  typed_ = std::move(text);
  step();
}

void Harness::type_and_press(std::string text, widgets::KeyPress k) {
  typed_ = std::move(text);
  keys_.push_back(k);
  step(2);
}

bool Harness::reach(std::string_view name) {
  for (int tries = 0; tries < 60; ++tries) {
    const auto* p = place(name);
    if (p == nullptr) return false;
    if (p->visible.h > p->rect.h * 0.98f) return true;
    const bool below = p->rect.centre().y > height_ / 2;
    const std::string path(name);
    const bool right = path.starts_with("fix.") || path.starts_with("why.");
    // The editor scrolls in the middle of the window.
    if (path.starts_with("edit."))
      compat::move_pointer(width_ * 0.5f, height_ * 0.7f);
    else
      compat::move_pointer(right ? width_ - 60 : 60,
                           right && !path.starts_with("fix.") ? height_ * 0.8f : height_ * (right ? 0.3f : 0.5f));
    compat::turn_wheel(below ? -1.0f : 1.0f);
    step(3);
  }
  return false;
}

void Harness::click(std::string_view name, int button) {
  REQUIRE_MESSAGE(reach(name), std::string(name));
  click(place(name)->visible.centre(), button);
}

void Harness::hold(std::string_view name, float from, float to, int stops, const std::function<void()>& at_each) {
  REQUIRE_MESSAGE(reach(name), std::string(name));
  const auto* track = place(std::string(name) + ".track");
  REQUIRE(track != nullptr);
  const widgets::Rect r = track->rect;
  const auto at = [&](float share) { return widgets::Point{r.x + share * r.w, r.centre().y}; };
  move(at(from));
  press();
  for (int i = 0; i <= stops; ++i) {
    move(at(from + (to - from) * static_cast<float>(i) / static_cast<float>(stops)));
    if (at_each) at_each();
  }
}

void Harness::drag(std::string_view name, float from, float to, int stops) {
  hold(name, from, to, stops);
  release();
  now_ += 1;
}

void Harness::show_numbers() {
  parts.settings.arrangement.cells = {"roofline", std::string(app::kNumbersCell), "memory", "pipeline"};
  step(2);
}

widgets::TextTable Harness::texts(const std::string& language) {
  auto loaded = app::load_texts(language.empty() ? "en" : language);
  REQUIRE(loaded.ok());
  return std::move(loaded).value();
}

widgets::Theme Harness::themed(const std::string& name) {
  auto loaded = app::load_theme(name);
  REQUIRE(loaded.ok());
  return std::move(loaded).value();
}

}  // namespace roofscape::test
