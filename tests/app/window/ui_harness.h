// Drives a Workspace with no window and no OpenGL: an ImGui context whose texture requests are satisfied, frames
// stepped by hand, and a pointer that goes to controls by the names they report.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/shell/workspace.h"
#include "engine/io/presets/preset_library.h"
#include "engine/io/scenario/scenario_json.h"
#include "tests/app/window/workspace_inspector.h"
#include "widgets/ui/canvas_screen.h"
#include "widgets/ui/imgui_compat.h"

namespace roofscape::test {

namespace compat = widgets::compat;

const io::PresetLibrary& presets();
const std::shared_ptr<const io::PresetLibrary>& shared_presets();  // the same

const widgets::FontStack& test_fonts();

engine::Scenario preset(const std::string& id);

// The scenario that most cases are about: one pipeline stage on a torus, in ideal mode, whose numbers are the book's.
inline constexpr const char* kBookScenario = "llama3-70b-v5p-pod";

class Harness {
 public:
  explicit Harness(const std::string& scenario = kBookScenario, float width = 1920, float height = 1080,
                   const std::string& theme = "dark");
  Harness(engine::Scenario start, const std::string& origin, float width, float height,
          const std::string& theme = "dark", const app::Settings& settings = {});
  ~Harness();
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;

  void step(int frames = 1);
  void resize(float width, float height);
  void move(widgets::Point p);
  void press(int button = 0);
  void release(int button = 0);
  void click(widgets::Point p, int button = 0);
  void wait(double seconds);
  void key(widgets::KeyPress k);
  void let_go(widgets::Key k);  // a letter that was down
  void type(std::string text);
  // Both in one frame, as after a paste or on a slow machine.
  void type_and_press(std::string text, widgets::KeyPress k);
  const widgets::Probe::Place* place(std::string_view name) const { return parts.probe.find(name); }
  // Scrolls until a control is in sight. False if it is not drawn at all.
  bool reach(std::string_view name);
  void click(std::string_view name, int button = 0);
  // Presses the track at one share of its length and moves to another, without letting go; `at_each` stop, the first too.
  void hold(std::string_view name, float from, float to, int stops, const std::function<void()>& at_each = {});
  // The same, and lets go.
  void drag(std::string_view name, float from, float to, int stops = 6);
  // The table of numbers and the pipeline, which do not stand in the grid by default, beside roofline and memory.
  void show_numbers();
  float width() const { return width_; }
  const widgets::ScreenFonts& atlas() const { return atlas_; }
  const engine::Scenario& scenario() const { return workspace.session().scenario(); }
  const engine::Report& report() const { return workspace.session().report(); }

 private:
  static widgets::TextTable texts(const std::string& language);
  static widgets::Theme themed(const std::string& name);
  ImGuiContext* context_;
  widgets::ScreenFonts atlas_;

 public:
  widgets::ScreenCanvas canvas;
  app::Workspace workspace;
  app::WorkspaceInspector parts{workspace};
  bool control = false;

 private:
  float width_, height_;
  double now_ = 1;
  std::vector<widgets::KeyPress> keys_;
  std::vector<widgets::Key> released_;
  std::string typed_;
};

}  // namespace roofscape::test
