// Window: GLFW and OpenGL around a Workspace. Draws only when something happened: four frames after an event, then it
// waits without a timeout (with one while a hover text is due), and not at all while iconified.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/shell/autosave.h"
#include "app/shell/workspace.h"

namespace roofscape::app {

struct WindowOptions {
  int width = 0, height = 0;                     // 0: the settings, else the screen
  float scale = 0;                               // 0: what the system says
  std::optional<std::filesystem::path> capture;  // draw `frames` frames, write this PNG, end
  int frames = 4;
  bool keep_settings = true;  // write them when they change
};

// Shows the workspace until it is closed, and keeps what is open with `autosave` (null: nothing is kept). Returns the exit code: 0, or 1 if there is no display or no OpenGL 3.3
// (said on standard error).
int run_window(Workspace& workspace, Autosave* autosave, const WindowOptions& options);

}  // namespace roofscape::app
