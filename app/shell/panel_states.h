// What the panels of a window remember from frame to frame, each its own. Never undone, never part of a scenario.
#pragma once

#include "app/panels/editor_panel.h"
#include "app/panels/figure_grid.h"
#include "app/panels/palette_panel.h"
#include "app/panels/presenter_panel.h"
#include "app/panels/preset_table_panel.h"
#include "app/panels/projector_panel.h"
#include "app/panels/right_rail.h"
#include "app/panels/search_panel.h"
#include "app/panels/sheet_panel.h"
#include "app/panels/tour_panel.h"
#include "app/panels/wall.h"
#include "app/panels/wall_marks.h"
#include "app/panels/workbench_panel.h"

namespace roofscape::app {

struct PanelStates {
  FiguresState figures;
  GridState grid;
  RightRailState right_rail;
  EditorState editor;
  Workbench workbench;
  PresetTableView table;
  SearchView search;
  ProjectorState projector;
  TourState tour;
  WallState wall;
  WallMarks marks;
  PresenterMark presenter_mark;
  SheetState sheets;
  PaletteState palette;
};

}  // namespace roofscape::app
