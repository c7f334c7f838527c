// The lecturer's window beside the wall: on another monitor where there is one, else as any window. It shares the atlas of the
// main window and holds nothing while it is closed. Keys pressed in it do what they do on the wall.
#pragma once

#include <functional>
#include <memory>

#include "app/shell/workspace.h"

struct GLFWwindow;

namespace roofscape::app {

class PresenterWindow {
 public:
  // `adopt`: gives a new window the callbacks of the main one.
  PresenterWindow(GLFWwindow* main, std::function<void(GLFWwindow*)> adopt) : main_(main), adopt_(std::move(adopt)) {}
  PresenterWindow(const PresenterWindow&) = delete;
  PresenterWindow& operator=(const PresenterWindow&) = delete;
  ~PresenterWindow() { close(); }

  // Opens, draws or closes it, as the workspace says. The main window's context is current before and after.
  void follow(Workspace& workspace, widgets::ScreenCanvas& canvas);
  // After how many seconds its clock needs another frame; negative: it is closed.
  double wake_in() const { return window_ != nullptr ? kClockStep_s : -1; }

 private:
  static constexpr double kClockStep_s = 5;
  void open(const Workspace& workspace);
  void close();

  GLFWwindow* main_;
  GLFWwindow* window_ = nullptr;
  std::function<void(GLFWwindow*)> adopt_;
  std::unique_ptr<ImDrawList> list_;
};

}  // namespace roofscape::app
