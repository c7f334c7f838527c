// Sheets over the window: the list of keys, the name of a preset to save, leaving, and those with files of their own.
#pragma once

#include <string>

#include "app/panels/file_chooser.h"
#include "app/panels/import_sheet.h"
#include "app/panels/measured_sheet.h"
#include "app/panels/scene_sheet.h"
#include "app/panels/sheet.h"

namespace roofscape::app {

struct SheetState {
  Sheet shown = Sheet::none;
  Sheet under = Sheet::none;  // what the palette lies over, shown again when it is closed
  Saved saving = Saved::scenario;
  FileChooserState files;
  ImportSheetState import;
  MeasuredSheetState measured;
  SceneSheetState scene;
};

// Draws the sheet that is shown, but for the palette. `save_problem`: what Sheet::leave gives as its reason.
SheetReply sheet_panel(PanelContext& ctx, const widgets::Rect& window, SheetState& state, ExportChoice& exports,
                       const std::string& save_problem);

}  // namespace roofscape::app
