// What lies over the figures, and the one key that takes it away again.
#include "app/shell/workspace.h"

namespace roofscape::app {

Workspace::Cover Workspace::cover() const {
  if (panels_.editor.open) return Cover::editor;
  if (panels_.workbench.open) return Cover::workbench;
  if (panels_.table.open) return Cover::table;
  return panels_.search.open ? Cover::search : Cover::none;
}

void Workspace::uncover() { panels_.editor.open = panels_.workbench.open = panels_.table.open = false; }

void Workspace::escape() {
  if (panels_.sheets.shown != Sheet::none)
    panels_.sheets.shown = Sheet::none;
  else if (drop_guess(panels_.tour))
    return;
  else if (panels_.wall.blank != WallState::Blank::none)
    blank(WallState::Blank::none);
  else if (!panels_.wall.digits.empty())
    panels_.wall.digits.clear();
  else if (on_wall() && panels_.marks.any())
    panels_.marks.clear();
  else if (panels_.tour.open() && !panels_.tour.derivation.trail.empty())
    panels_.tour.derivation.trail.clear();
  else if (panels_.tour.open())
    leave_tour();
  else if (panels_.projector.open)
    toggle_projector();
  else if (panels_.editor.open)
    panels_.editor.open = false;
  else if (panels_.workbench.open)
    panels_.workbench.open = false;
  else if (panels_.table.open)
    panels_.table.open = false;
  else if (panels_.figures.pipeline.cursor)
    panels_.figures.pipeline.leave_playback();
  else if (panels_.figures.maximised)
    panels_.figures.maximised.reset();
  else if (panels_.search.open && panels_.right_rail.derivation.trail.empty())
    panels_.search.open = false;
  else if (session_.message())
    session_.dismiss_message();
  else if (!panels_.right_rail.derivation.trail.empty())
    panels_.right_rail.derivation.trail.clear();
  else
    interaction_.clear_focus();
}

}  // namespace roofscape::app
