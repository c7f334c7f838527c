// The parts of a Workspace, for tests to look at and to set.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/shell/workspace.h"

namespace roofscape::app {

class WorkspaceInspector {
  Workspace& workspace_;

 public:
  explicit WorkspaceInspector(Workspace& workspace) : workspace_(workspace) {}

  Session& session = workspace_.session_;
  Tabs& tabs = workspace_.tabs_;
  std::shared_ptr<const Pinned>& baseline = workspace_.baseline_;
  Settings& settings = workspace_.settings_;
  PanelStates& panels = workspace_.panels_;
  const Hovered& hovered = workspace_.hovered_;
  widgets::StudyCache& studies = workspace_.studies_;
  const widgets::HeldAxes& held_axes = workspace_.held_axes_;
  std::shared_ptr<const engine::EvidenceSet>& evidence = workspace_.evidence_;
  SearchJob& searching = workspace_.searching_;
  ClusterJob& choosing = workspace_.choosing_;
  MeasuredJob& measuring = workspace_.measuring_;
  widgets::Interaction& interaction = workspace_.interaction_;
  const widgets::Probe& probe = workspace_.probe_;

  const std::map<std::string, std::size_t, std::less<>>& tour_places = workspace_.tour_places_;

  void open_tour(const std::string& id) { workspace_.open_tour(id); }
  std::vector<std::size_t> deck() const { return workspace_.deck(); }
  void go_to_scene(std::size_t scene) { workspace_.go_to_scene(scene); }
  void save_as(const std::filesystem::path& file) { workspace_.save_as(file); }
  void export_current_figure() { workspace_.export_current_figure(); }
  void open_derivation(const std::string& id) { workspace_.open_derivation(id); }
  void run_entry(const PaletteEntry& entry) { workspace_.run_entry(entry); }
  void show_tab(std::size_t tab) { workspace_.show_tab(tab); }
  void step_tabs(int by) { workspace_.step_tabs(by); }
  void pin_or_unpin() { workspace_.pin_or_unpin(); }
  void lift_search_limits() { workspace_.lift_search_limits(); }
};

}  // namespace roofscape::app
