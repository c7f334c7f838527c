#include "app/shell/presenter_window.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <ctime>
#include <string>

#include <fmt/format.h>

#include "widgets/ui/imgui_compat.h"

namespace roofscape::app {

using namespace widgets;

namespace {

constexpr int kWidth = 1200, kHeight = 720, kLeastPresenterWidth = 560, kLeastPresenterHeight = 400;

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  if (localtime_r(&now, &local) == nullptr) return {};
  return fmt::format("{}:{:02}", local.tm_hour, local.tm_min);
}

// One that the window is not on; null: there is but one.
GLFWmonitor* other_monitor(GLFWwindow* window) {
  int x = 0, y = 0, w = 0, h = 0, count = 0;
  glfwGetWindowPos(window, &x, &y);
  glfwGetWindowSize(window, &w, &h);
  GLFWmonitor** all = glfwGetMonitors(&count);
  for (int i = 0; i < count; ++i) {
    int mx = 0, my = 0;
    glfwGetMonitorPos(all[i], &mx, &my);
    const GLFWvidmode* mode = glfwGetVideoMode(all[i]);
    if (mode == nullptr) continue;
    const int cx = x + w / 2, cy = y + h / 2;
    if (cx < mx || cy < my || cx >= mx + mode->width || cy >= my + mode->height) return all[i];
  }
  return nullptr;
}

}  // namespace

void PresenterWindow::open(const Workspace& workspace) {
  GLFWmonitor* const there = other_monitor(main_);
  int x = 0, y = 0, width = kWidth, height = kHeight;
  if (there != nullptr) glfwGetMonitorWorkarea(there, &x, &y, &width, &height);
  glfwWindowHint(GLFW_MAXIMIZED, GLFW_FALSE);
  glfwWindowHint(GLFW_FOCUS_ON_SHOW, GLFW_FALSE);  // the wall keeps the keys
  glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
  const std::string title(workspace.texts().text("ui.presenter.title"));
  window_ = glfwCreateWindow(std::max(width, kLeastPresenterWidth), std::max(height, kLeastPresenterHeight),
                             title.c_str(), nullptr, main_);
  if (window_ == nullptr) return;
  if (there != nullptr) glfwSetWindowPos(window_, x, y);
  glfwSetWindowSizeLimits(window_, kLeastPresenterWidth, kLeastPresenterHeight, GLFW_DONT_CARE, GLFW_DONT_CARE);
  adopt_(window_);
  glfwMakeContextCurrent(window_);
  glfwSwapInterval(0);  // one wait a frame is enough
  glfwShowWindow(window_);
  // A wall that fills its screen stays there when this window is clicked.
  glfwSetWindowAttrib(main_, GLFW_AUTO_ICONIFY, GLFW_FALSE);
  list_ = std::make_unique<ImDrawList>(ImGui::GetDrawListSharedData());
}

void PresenterWindow::close() {
  if (window_ == nullptr) return;
  list_.reset();
  glfwDestroyWindow(window_);
  window_ = nullptr;
  glfwSetWindowAttrib(main_, GLFW_AUTO_ICONIFY, GLFW_TRUE);
  glfwMakeContextCurrent(main_);
}

void PresenterWindow::follow(Workspace& workspace, ScreenCanvas& canvas) {
  if (window_ != nullptr && glfwWindowShouldClose(window_) != 0) workspace.stop_presenting();
  if (!workspace.presents()) return close();
  if (window_ == nullptr) open(workspace);
  if (window_ == nullptr) return workspace.stop_presenting();
  int w = 0, h = 0, pixels_w = 0, pixels_h = 0;
  glfwGetWindowSize(window_, &w, &h);
  glfwGetFramebufferSize(window_, &pixels_w, &pixels_h);
  if (w <= 0 || h <= 0 || pixels_w <= 0) return glfwMakeContextCurrent(main_);
  glfwMakeContextCurrent(window_);
  const Rect area{0, 0, static_cast<float>(w), static_cast<float>(h)};
  compat::begin_list(*list_, area.w, area.h);
  workspace.draw_presenter(canvas, list_.get(), area, time_of_day(), glfwGetTime());
  glViewport(0, 0, pixels_w, pixels_h);
  glClearColor(0, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  compat::render_list(*list_, area.w, area.h, static_cast<float>(pixels_w) / area.w);
  glfwSwapBuffers(window_);
  glfwMakeContextCurrent(main_);
}

}  // namespace roofscape::app
