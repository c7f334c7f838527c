// An edit and what has to follow it, as one step: where the scenario as edited could not run, the nearest plan that
// does (engine/studies/nearest_plan.h states the rule); custom mode with the values of the calibrated one. What is
// typed is held to the letter, so that an impossible plan can still be asked for.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/core/scenario_changes.h"
#include "engine/scenario/chip.h"
#include "engine/scenario/scenario.h"

namespace roofscape::app {

struct EditNature {
  std::string path = {};     // of the control that was used; empty: something else (a button, a preset, a list)
  bool typed = false;        // this value and no other
  bool keep_product = true;  // what one mesh axis takes the others give
  engine::Axis partner = engine::Axis::fsdp;
};

struct SettledEdit {
  engine::Scenario scenario;
  std::vector<ScenarioChange> also = {};  // changed beside what was edited
  bool runs = true;                       // false: no plan near it does
  bool reached = true;                    // the edited value; false: the nearest to it that runs
};

// `base`: the scenario when the control was taken hold of; `now`: the present one, which may hold what earlier values
// of the same control made follow; `edited`: the present one with the edit. `chips`: those that ship, whose calibrated
// values count as untouched in custom mode.
SettledEdit settle_edit(const engine::Scenario& base, const engine::Scenario& now, const engine::Scenario& edited,
                        const EditNature& nature, std::span<const engine::Chip> chips);

// The mesh axes that may give way first, and which of them does: the preferred one where it has ranks to give, else
// the one with the most.
inline constexpr std::array kPartners{engine::Axis::data, engine::Axis::fsdp, engine::Axis::tensor,
                                      engine::Axis::context, engine::Axis::pipeline};
engine::Axis giving_partner(const engine::Parallelism& plan, engine::Axis preferred);

// Mesh axes, those of prefill chips included.
bool is_mesh_axis(std::string_view path);

}  // namespace roofscape::app
