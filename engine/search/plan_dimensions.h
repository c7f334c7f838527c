// What a plan consists of, a row for each choice: its name in constraints, the field of the scenario it sets, and how
// to read it off a plan and write it. Constraints, their words, a plan's fields in JSON and the way between a plan and
// a scenario follow from these rows. A choice is a member of Plan and of PlanSpace, a place in Plan's order, and a row.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/scenario/scenario_fields.h"
#include "engine/search/plan_space.h"

namespace roofscape::engine {

// Of a choice that a search leaves as the scenario has it unless it is asked to try others.
struct PlanSetting {
  std::vector<double> PlanSpace::*values = nullptr;
  std::span<const double> worth_trying;  // what "any" asks for
  // What a value comes to for the mesh, ZeRO stage, schedule and microbatch of a plan: two values for which this is
  // the same make one plan. kNothing where the plan does not read it.
  static constexpr double kNothing = -1;
  double (*comes_to)(const Scenario&, const Plan&, double value) = nullptr;
  // What of the plan that depends on, beside the mesh; of a placement, on those of the other axes too.
  enum class Reads : std::uint8_t { mesh, placement, zero_stage, schedule, offload } reads = Reads::mesh;
  // Whether a mesh may have a value that is not the scenario's own; null: always.
  bool (*offered)(const Scenario&, const Plan&, double value) = nullptr;
};

struct PlanDimension {
  std::string_view name;  // "microbatch"
  std::string_view path;  // of the scenario's field, whose words the values of choices and switches have
  Allowed PlanSpace::*allowed = nullptr;   // null: it is a setting
  const PlanSetting* setting = nullptr;    // null: every value is tried unless it is kept out
  double (*get)(const Plan&) = nullptr;    // choices by enumeration, switches as 0 or 1
  void (*set)(Plan&, double) = nullptr;    // to a value of the field's domain
  bool is_knob = false;                    // changes neither the mesh nor the schedule
  bool (*matters)(const Plan&) = nullptr;  // whether another value would make another plan; null: always
  const Field* field = nullptr;            // the row of `path`, looked up once
};

std::span<const PlanDimension> plan_dimensions();
// By its name, or what a framework calls its field (engine/frameworks/synonyms.h). Null: there is none.
const PlanDimension* find_plan_dimension(std::string_view name);

}  // namespace roofscape::engine
