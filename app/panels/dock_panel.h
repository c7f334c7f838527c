// Controls on the wall: one to three fields of the scenario, or inputs of a building block, as large sliders under a
// figure that is projected.
#pragma once

#include <span>
#include <string>

#include "app/panels/panel_context.h"
#include "app/session/settings.h"
#include "engine/blocks/block.h"

namespace roofscape::app {

// Those of the paths that are fields which this kind of workload reads.
std::vector<std::string> usable_controls(std::span<const std::string> paths, const engine::Scenario& scenario);
// What stands there while nothing was pinned.
std::vector<std::string> usual_controls(const engine::Scenario& scenario);

// What this many controls take.
float dock_height(const PanelContext& ctx, std::size_t controls);
engine::Scenario dock_panel(PanelContext& ctx, const widgets::Rect& r, std::span<const std::string> paths,
                            engine::Scenario scenario);
// The same of numbers that a block takes; `first` is what its sliders are laid out around. What was moved, if anything.
struct MovedInput {
  std::string name;
  double value = 0;
};
std::optional<MovedInput> block_dock(PanelContext& ctx, const widgets::Rect& r, std::span<const std::string> inputs,
                                     const engine::BlockCall& call, const engine::BlockCall& first);

// One step of a field up or down: the next power of two or whole number, a tenth of a share, the next choice. As it
// was at the end of its domain.
engine::Scenario step_field(const engine::Field& field, int by, engine::Scenario scenario);

}  // namespace roofscape::app
