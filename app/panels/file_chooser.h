// The file chooser: a line for a path, what stands in the folder, and the files opened lately.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/panels/sheet.h"

namespace roofscape::app {

struct FileChooserState {
  std::vector<std::string> recent;  // paths, the newest first
  bool started = false;
  std::filesystem::path folder;  // what is not typed with a folder lies in it
  std::string typed;
  int highlighted = -1;            // of the rows as they were drawn last
  float scroll = 0;                // rows
  std::string problem;             // why what was typed cannot be opened
  std::filesystem::path replaces;  // a file that exists: asked before it is replaced
};

// To open a file, or to say where a scenario is saved: the answer is its path.
SheetReply file_chooser(PanelContext& ctx, const widgets::Rect& window, bool saves, FileChooserState& state);

}  // namespace roofscape::app
