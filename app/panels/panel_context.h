// What every panel gets. A panel is a function `Scenario panel(PanelContext&, const Rect&, ..., Scenario)`: it draws
// the session and returns an edited copy. It never changes the session. What it remembers from frame to frame is a
// state of its own, declared beside it, which it is handed; what it wants done beyond that (a command, a derivation
// opened) it asks for in `requests`.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/command.h"
#include "app/session/pinned.h"
#include "app/session/search_view.h"
#include "app/session/session.h"
#include "app/session/settings.h"
#include "engine/evidence/evidence_points.h"
#include "widgets/figures/common/figure.h"
#include "widgets/figures/common/held_axes.h"
#include "widgets/figures/common/study_cache.h"
#include "widgets/plot/build_up_canvas.h"
#include "widgets/ui/controls.h"

namespace roofscape::app {

// A control that edited the scenario, and whether a value was typed into it.
struct UsedControl {
  std::string path;
  bool typed = false;
};

// What panels want done beyond the scenario they return.
struct PanelRequests {
  std::vector<std::string> commands;             // by id, run after the frame
  std::string derivation;                        // an id that explain() understands; empty: none
  std::optional<engine::EvidenceKind> evidence;  // the figure of published runs, of this kind of number
  std::optional<Message> message;                // for the strip
  std::string copied;                            // text for the clipboard; empty: none
  UsedControl used;                              // the one of this frame
  std::string pin;                               // a field to put on the wall, or to take away

  void run(std::string_view command) { commands.emplace_back(command); }
  void explain(std::string_view id) {
    if (!id.empty()) derivation = id;
  }
};

// What the pointer is on, whichever panel draws it; it lights up in all of them.
struct Hovered {
  std::optional<int> stage, operation;
  std::optional<engine::Q> part;  // of the step
  std::optional<widgets::FoundPlan> plan;
  std::optional<std::size_t> answer;  // of clusters, by its place in their list
};

// What of the window is in sight in this frame, for panels that say less where another one says it.
struct InSight {
  bool compact = false;      // a small window: fewer words
  bool figures = true;       // not covered by the editor, the workbench or the search
  bool diagnostics = false;  // their panel
  bool comparison = false;   // the figure that draws what differs from the baseline
};

struct PanelContext {
  widgets::Ui& ui;
  const Session& session;
  PanelRequests& requests;
  std::span<const Command> commands;                         // all there are
  std::function<bool(const Command&)> usable = {}, on = {};  // a command's state; empty: all usable, none on

  // Beside the report.
  const Pinned* baseline = nullptr;                            // null: none
  const engine::MeasuredRun* run = nullptr;                    // measured; null: none
  const std::shared_ptr<const engine::EvidenceSet>& evidence;  // null: not computed yet
  const widgets::SearchSeen& found;                            // by the search of plans
  widgets::StudyCache& studies;

  const Hovered& hovered;  // in the frame before
  Hovered& next_hovered;   // found in this one
  InSight in_sight = {};

  // How an edit of the mesh is settled, and the scenario when the control that is held was taken hold of.
  const MeshEditing& mesh;
  std::span<const std::string> pinned = {};  // fields whose controls stand on the wall
  std::string_view stepped = {};             // of those the one that [ and ] step
  widgets::HeldAxes& axes;
  widgets::BuildStep built = widgets::BuildStep::all;  // how far figures on the wall are built up
  const engine::Scenario& base;

  const Command* command(std::string_view id) const { return find_command(commands, id); }
  std::string_view text(std::string_view key) const { return ui.texts.text(key); }
  std::string format(std::string_view key, std::initializer_list<std::string> a) const {
    return ui.texts.format(key, a);
  }
  float px(float v) const { return ui.px(v); }
  widgets::TextStyle style(widgets::Colour c, float size = 1, widgets::Weight w = widgets::Weight::regular) const {
    return widgets::text_style(ui, c, size, w);
  }
};

}  // namespace roofscape::app
