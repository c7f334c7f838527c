#include "app/shell/window.h"

#include <GLFW/glfw3.h>
#include <cairo.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/shell/presenter_window.h"
#include "engine/base/utf8.h"
#include "engine/io/json/files.h"
#include "engine/scenario/scenario_title.h"
#include "widgets/ui/imgui_compat.h"

namespace roofscape::app {

using namespace widgets;

namespace {

constexpr int kFramesAfterEvent = 4;

// What the callbacks collect between two frames.
struct Events {
  std::vector<KeyPress> keys;
  std::vector<Key> released;
  std::string typed;
  std::vector<std::string> dropped;
  int frames = kFramesAfterEvent;
};

Events* events_of(GLFWwindow* window) {
  auto* events = static_cast<Events*>(glfwGetWindowUserPointer(window));
  events->frames = kFramesAfterEvent;
  return events;
}

// By physical position, so that shortcuts work on every layout.
Key key_of_glfw(int key) {
  if ((key >= GLFW_KEY_A && key <= GLFW_KEY_Z) || (key >= GLFW_KEY_0 && key <= GLFW_KEY_9))
    return static_cast<Key>(key);
  if (key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_9) return static_cast<Key>('0' + key - GLFW_KEY_KP_0);
  if (key >= GLFW_KEY_F1 && key <= GLFW_KEY_F12)
    return static_cast<Key>(static_cast<int>(Key::f1) + key - GLFW_KEY_F1);
  switch (key) {
    case GLFW_KEY_SPACE:
      return key_of(' ');
    case GLFW_KEY_EQUAL:
    case GLFW_KEY_KP_ADD:
      return Key::equal;
    case GLFW_KEY_MINUS:
    case GLFW_KEY_KP_SUBTRACT:
      return Key::minus;
    case GLFW_KEY_PERIOD:
      return key_of('.');
    case GLFW_KEY_LEFT_BRACKET:
      return key_of('[');
    case GLFW_KEY_RIGHT_BRACKET:
      return key_of(']');
    case GLFW_KEY_LEFT:
      return Key::left;
    case GLFW_KEY_RIGHT:
      return Key::right;
    case GLFW_KEY_UP:
      return Key::up;
    case GLFW_KEY_DOWN:
      return Key::down;
    case GLFW_KEY_HOME:
      return Key::home;
    case GLFW_KEY_END:
      return Key::end;
    case GLFW_KEY_PAGE_UP:
      return Key::page_up;
    case GLFW_KEY_PAGE_DOWN:
      return Key::page_down;
    case GLFW_KEY_TAB:
      return Key::tab;
    case GLFW_KEY_ENTER:
    case GLFW_KEY_KP_ENTER:
      return Key::enter;
    case GLFW_KEY_ESCAPE:
      return Key::escape;
    case GLFW_KEY_BACKSPACE:
      return Key::backspace;
    case GLFW_KEY_DELETE:
      return Key::del;
    default:
      return Key::none;
  }
}

void install_callbacks(GLFWwindow* window) {
  glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int, int action, int mods) {
    Events* e = events_of(w);
    const Key k = key_of_glfw(key);
    // A letter that is held is pressed once: what it does is done until it is let go.
    const bool letter = k >= widgets::key_of('A') && k <= widgets::key_of('Z');
    if (letter && action == GLFW_RELEASE) e->released.push_back(k);
    if (letter && action == GLFW_REPEAT && mods == 0) return;
    if (action != GLFW_RELEASE && k != Key::none)
      e->keys.push_back(
          {k, (mods & GLFW_MOD_CONTROL) != 0, (mods & GLFW_MOD_SHIFT) != 0, (mods & GLFW_MOD_ALT) != 0});
  });
  glfwSetCharCallback(window, [](GLFWwindow* w, unsigned int c) {
    engine::append_utf8(events_of(w)->typed, static_cast<char32_t>(c));
  });
  glfwSetDropCallback(window, [](GLFWwindow* w, int count, const char** paths) {
    for (int i = 0; i < count; ++i) events_of(w)->dropped.emplace_back(paths[i]);
  });
  glfwSetCursorPosCallback(window, [](GLFWwindow* w, double, double) { events_of(w); });
  glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int, int, int) { events_of(w); });
  glfwSetScrollCallback(window, [](GLFWwindow* w, double, double) { events_of(w); });
  glfwSetCursorEnterCallback(window, [](GLFWwindow* w, int) { events_of(w); });
  glfwSetWindowFocusCallback(window, [](GLFWwindow* w, int) { events_of(w); });
  glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { events_of(w); });
  glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) { events_of(w); });
  glfwSetWindowContentScaleCallback(window, [](GLFWwindow* w, float, float) { events_of(w); });
}

bool write_png(const std::filesystem::path& file, int width, int height) {
  std::vector<unsigned char> rgba(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, rgba.data());
  cairo_surface_t* surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
  unsigned char* out = cairo_image_surface_get_data(surface);
  const int stride = cairo_image_surface_get_stride(surface);
  if (out == nullptr) return false;
  cairo_surface_flush(surface);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const unsigned char* from = &rgba[(static_cast<std::size_t>(height - 1 - y) * static_cast<std::size_t>(width) +
                                         static_cast<std::size_t>(x)) *
                                        4];
      unsigned char* to = out + static_cast<std::ptrdiff_t>(y) * stride + static_cast<std::ptrdiff_t>(x) * 4;
      to[0] = from[2];
      to[1] = from[1];
      to[2] = from[0];
      to[3] = 255;
    }
  cairo_surface_mark_dirty(surface);
  std::string bytes;
  const auto append = [](void* out_bytes, const unsigned char* data, unsigned int length) {
    static_cast<std::string*>(out_bytes)->append(reinterpret_cast<const char*>(data), length);
    return CAIRO_STATUS_SUCCESS;
  };
  const bool good = cairo_surface_write_to_png_stream(surface, append, &bytes) == CAIRO_STATUS_SUCCESS;
  cairo_surface_destroy(surface);
  return good && !io::write_file_atomically(file, bytes);
}

// Jobs wake the window from their threads, until GLFW is let go.
std::mutex g_wake_mutex;
bool g_can_wake = false;

void wake_window() {
  const std::lock_guard lock(g_wake_mutex);
  if (g_can_wake) glfwPostEmptyEvent();
}
void allow_waking(bool can) {
  const std::lock_guard lock(g_wake_mutex);
  g_can_wake = can;
}

GLFWwindow* g_clipboard_owner =
    nullptr;  // GLFW's clipboard functions want a window; Interaction's hooks have no argument

// Everything GLFW and ImGui hold, let go in the right order.
class Screen {
 public:
  Screen() = default;
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen() {
    if (backends_) compat::stop_backends();
    if (context_) ImGui::DestroyContext();
    if (window != nullptr) glfwDestroyWindow(window);
    allow_waking(false);
    if (glfw_) glfwTerminate();
    g_clipboard_owner = nullptr;
  }
  bool start(int width, int height, bool remembered, bool maximised, Events& events) {
    glfwSetErrorCallback([](int, const char* what) { fmt::print(stderr, "roofscape: {}\n", what); });
    glfw_ = glfwInit() == GLFW_TRUE;
    if (!glfw_) return false;
    allow_waking(true);
    // A remembered size may be that of another screen.
    int x = 0, y = 0, screen_width = 0, screen_height = 0;
    if (GLFWmonitor* monitor = glfwGetPrimaryMonitor())
      glfwGetMonitorWorkarea(monitor, &x, &y, &screen_width, &screen_height);
    if (screen_width <= 0 || screen_height <= 0) screen_width = 1280, screen_height = 720;
    if (width <= 0 || height <= 0 || (remembered && (width > screen_width || height > screen_height)))
      width = screen_width, height = screen_height;
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_MAXIMIZED, maximised ? GLFW_TRUE : GLFW_FALSE);
    // What a desktop knows the window by, and finds its icon with (packaging/roofscape.desktop).
    glfwWindowHintString(GLFW_X11_CLASS_NAME, "roofscape");
    glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "roofscape");
#ifdef GLFW_WAYLAND_APP_ID
    glfwWindowHintString(GLFW_WAYLAND_APP_ID, "roofscape");
#endif
    window = glfwCreateWindow(width, height, "Roofscape", nullptr, nullptr);
    if (window == nullptr) return false;
    g_clipboard_owner = window;
    glfwSetWindowSizeLimits(window, kLeastWindowWidth, kLeastWindowHeight, GLFW_DONT_CARE, GLFW_DONT_CARE);
    glfwSetWindowUserPointer(window, &events);
    glfwMakeContextCurrent(window);
    glfwSwapInterval(1);
    install_callbacks(window);
    IMGUI_CHECKVERSION();
    ImGui::CreateContext();
    context_ = true;
    ImGui::GetIO().IniFilename = nullptr;
    ImGui::GetIO().LogFilename = nullptr;
    backends_ = compat::start_backends(window);
    return backends_;
  }
  GLFWwindow* window = nullptr;

 private:
  bool glfw_ = false, context_ = false, backends_ = false;
};

// The monitor that most of the window is on.
GLFWmonitor* monitor_of(GLFWwindow* window) {
  int x = 0, y = 0, w = 0, h = 0, count = 0;
  glfwGetWindowPos(window, &x, &y);
  glfwGetWindowSize(window, &w, &h);
  GLFWmonitor** all = glfwGetMonitors(&count);
  GLFWmonitor* best = glfwGetPrimaryMonitor();
  int most = 0;
  for (int i = 0; i < count; ++i) {
    int mx = 0, my = 0;
    glfwGetMonitorPos(all[i], &mx, &my);
    const GLFWvidmode* mode = glfwGetVideoMode(all[i]);
    if (mode == nullptr) continue;
    const int across = std::max(0, std::min(x + w, mx + mode->width) - std::max(x, mx));
    const int down = std::max(0, std::min(y + h, my + mode->height) - std::max(y, my));
    if (across * down <= most) continue;
    most = across * down;
    best = all[i];
  }
  return best;
}

struct FullScreen {
  bool on = false;
  int x = 0, y = 0, width = 0, height = 0;
  void set(GLFWwindow* window, bool wanted) {
    if (on == wanted) return;
    if (on) {
      glfwSetWindowMonitor(window, nullptr, x, y, width, height, GLFW_DONT_CARE);
    } else if (GLFWmonitor* monitor = monitor_of(window)) {
      glfwGetWindowPos(window, &x, &y);
      glfwGetWindowSize(window, &width, &height);
      const GLFWvidmode* mode = glfwGetVideoMode(monitor);
      glfwSetWindowMonitor(window, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
    }
    on = wanted;
  }
};

ImGuiMouseCursor imgui_cursor(Cursor cursor) {
  switch (cursor) {
    case Cursor::hand:
      return ImGuiMouseCursor_Hand;
    case Cursor::text:
      return ImGuiMouseCursor_TextInput;
    case Cursor::resize_x:
      return ImGuiMouseCursor_ResizeEW;
    case Cursor::resize_y:
      return ImGuiMouseCursor_ResizeNS;
    case Cursor::arrow:
      break;
  }
  return ImGuiMouseCursor_Arrow;
}

UiInput take_input(Events& events, GLFWwindow* window) {
  const ImGuiIO& io = ImGui::GetIO();
  UiInput input;
  if (io.MousePos.x > -1e6f) input.pointer = {io.MousePos.x, io.MousePos.y};
  if (glfwGetWindowAttrib(window, GLFW_HOVERED) == 0 && !io.MouseDown[0]) input.pointer = {-1, -1};
  input.down = {io.MouseDown[0], io.MouseDown[1]};
  input.wheel = io.MouseWheel;
  input.wheel_across = io.MouseWheelH;
  input.control = io.KeyCtrl;
  input.shift = io.KeyShift;
  input.alt = io.KeyAlt;
  input.keys = std::exchange(events.keys, {});
  input.released = std::exchange(events.released, {});
  input.typed = std::exchange(events.typed, {});
  input.now_s = glfwGetTime();
  return input;
}

}  // namespace

int run_window(Workspace& workspace, Autosave* autosave, const WindowOptions& options) {
  Events events;
  Screen screen;
  const bool sized = options.width > 0;
  const int width = sized ? options.width : workspace.settings().width;
  const int height = sized ? options.height : workspace.settings().height;
  if (!screen.start(width, height, !sized, !sized && workspace.settings().width == 0, events)) {
    fmt::print(stderr, "roofscape: {}\n", workspace.texts().text("ui.no_window"));
    return 1;
  }
  GLFWwindow* window = screen.window;
  ScreenFonts atlas(workspace.fonts());
  atlas.add_characters(workspace.characters());
  ScreenCanvas canvas(workspace.fonts(), atlas);
  canvas.set_tagging(
      Tagging::none);  // the workspace asks for tags near the pointer; all of them cost more than the picture
  FullScreen full_screen;
  PresenterWindow presenter(window, [&events](GLFWwindow* other) {
    glfwSetWindowUserPointer(other, &events);
    install_callbacks(other);
  });
  workspace.actions().copy_text = [&](const std::string& text) { glfwSetClipboardString(window, text.c_str()); };
  workspace.actions().toggle_full_screen = [&] { full_screen.set(window, !full_screen.on); };
  // The wall goes back to how it found the window: one that was full screen already stays so.
  bool was_full = false;
  workspace.actions().set_full_screen = [&](bool on) {
    if (on) was_full = full_screen.on;
    if (!options.capture) full_screen.set(window, on || was_full);
  };
  workspace.set_wake(wake_window);
  workspace.actions().close = [&] { glfwSetWindowShouldClose(window, GLFW_TRUE); };
  workspace.interaction().read_clipboard = [] {
    const char* text = glfwGetClipboardString(g_clipboard_owner);
    return std::string(text != nullptr ? text : "");
  };
  workspace.interaction().write_clipboard = [](const std::string& text) {
    glfwSetClipboardString(g_clipboard_owner, text.c_str());
  };

  if (autosave != nullptr) autosave->run(workspace, glfwGetTime());  // what it was started with, beside what was kept
  if (options.capture) workspace.finish_evidence();
  Settings written = workspace.settings();
  std::string title;
  int drawn = 0;
  bool good = true, settings_told = false;
  while (true) {
    if (glfwWindowShouldClose(window) != 0) {
      if (autosave == nullptr || autosave->finish(workspace) || workspace.may_close()) break;
      glfwSetWindowShouldClose(window, GLFW_FALSE);  // a sheet asks
      events.frames = kFramesAfterEvent;
    }
    if (options.capture) {
      glfwPollEvents();
    } else if (events.frames > 0) {
      glfwPollEvents();
    } else {
      // What only a frame would answer does not wake a window that draws none.
      const bool iconified = glfwGetWindowAttrib(window, GLFW_ICONIFIED) != 0;
      double wake = iconified ? -1 : workspace.interaction().wake_in();
      if (const double clock = presenter.wake_in(); clock >= 0 && !iconified)
        wake = wake < 0 ? clock : std::min(wake, clock);
      if (autosave != nullptr) {
        const bool told = !workspace.save_problem().empty();
        autosave->run(workspace, glfwGetTime());
        if (told == workspace.save_problem().empty()) events.frames = 2;  // the status bar says so
        const double again = autosave->wake_in(glfwGetTime());
        if (again >= 0) wake = wake < 0 ? again : std::min(wake, again);
      }
      if (wake >= 0) {
        glfwWaitEventsTimeout(std::max(wake, 0.001));
        events.frames = std::max(events.frames, 2);
      } else {
        glfwWaitEvents();
      }
      if (workspace.has_search_news()) events.frames = std::max(events.frames, 2);
    }
    if (workspace.has_measured_news()) events.frames = std::max(events.frames, 2);
    if (workspace.take_evidence()) events.frames = std::max(events.frames, 2);
    if (!options.capture && glfwGetWindowAttrib(window, GLFW_ICONIFIED) != 0) {
      events.frames = 0;
      continue;
    }
    if (events.frames <= 0) continue;
    --events.frames;
    if (!events.dropped.empty()) workspace.drop(std::exchange(events.dropped, {}));

    float scale = options.scale;
    if (scale <= 0) {
      float unused = 1;
      glfwGetWindowContentScale(window, &scale, &unused);
    }
    workspace.set_content_scale(std::clamp(scale, 0.5f, 8.0f));
    int w = 0, h = 0, pixels_w = 0, pixels_h = 0;
    glfwGetWindowSize(window, &w, &h);
    glfwGetFramebufferSize(window, &pixels_w, &pixels_h);
    if (w <= 0 || h <= 0 || pixels_w <= 0) continue;
    const Rect area{0, 0, static_cast<float>(w), static_cast<float>(h)};
    atlas.add_characters(workspace.take_new_characters());
    if (atlas.update(workspace.em_px(area))) compat::fonts_changed();

    compat::begin_backend_frame();
    workspace.frame(canvas, ImGui::GetBackgroundDrawList(), take_input(events, window), area);
    ImGui::SetMouseCursor(imgui_cursor(workspace.interaction().cursor()));
    glViewport(0, 0, pixels_w, pixels_h);
    const Colour ground = workspace.theme().win;
    glClearColor(static_cast<float>(ground.r) / 255, static_cast<float>(ground.g) / 255,
                 static_cast<float>(ground.b) / 255, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    compat::render_backend();
    if (options.capture && ++drawn >= std::max(1, options.frames)) {
      good = write_png(*options.capture, pixels_w, pixels_h);
      if (!good)
        fmt::print(stderr, "roofscape: {}: {}\n", options.capture->string(),
                   workspace.texts().text("ui.capture.failed"));
      break;
    }
    if (options.capture) events.frames = kFramesAfterEvent;
    glfwSwapBuffers(window);
    presenter.follow(workspace, canvas);
    workspace.start_evidence();  // once there is something to see

    const std::string name = engine::scenario_title(workspace.session().scenario());
    const std::string wanted = name.empty() ? "Roofscape" : name + " \u2013 Roofscape";
    if (wanted != title) {
      title = wanted;
      glfwSetWindowTitle(window, title.c_str());
    }
    if (!full_screen.on && !sized && glfwGetWindowAttrib(window, GLFW_MAXIMIZED) == 0) workspace.remember_size(w, h);
    if (options.keep_settings && events.frames == 0 && !(workspace.settings() == written)) {
      written = workspace.settings();
      if (!write_settings(settings_file(), written) && !std::exchange(settings_told, true))
        workspace.say({true, std::string(workspace.texts().text("ui.settings.unsaved")), {}});
    }
  }
  workspace.set_wake({});
  workspace.actions() = {};
  return good ? 0 : 1;
}

}  // namespace roofscape::app
