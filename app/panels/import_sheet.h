// The receipt of a launch file: on which chips, what was read of it and where, what was assumed, and controls for what it
// lacks. The plan opens, or changes, when it is accepted.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/sheet.h"
#include "app/session/launch_import.h"

namespace roofscape::app {

struct ImportSheetState {
  std::optional<LaunchImport> draft;  // what the sheet shows
  // The receipt that came with the tab's plan, where the draft began as it: accepting changes that plan. Null: a tab opens.
  std::shared_ptr<const LaunchImport> opened;
  bool changed = false;  // something was given since
  std::string problem;   // why what was given was not taken
  std::string asked;     // the missing field whose value is being typed, one after the other; empty: none
  std::vector<LaunchImport> waiting;

  // The evaluation of the draft, kept while it is the same.
  struct Judged {
    engine::Scenario scenario;
    std::string words;
    bool good = true;
  };
  std::optional<Judged> judged;

  void show(LaunchImport read, std::shared_ptr<const LaunchImport> of_tab);
};

// The answer is kAcceptImport once the plan is wanted as it is.
inline constexpr const char* kAcceptImport = "accept";
SheetReply import_sheet(PanelContext& ctx, const widgets::Rect& window, ImportSheetState& state);

}  // namespace roofscape::app
