// Whole scenarios out of choices: a plan that ships, and some of its fields set to any value of their domains, the ends
// first of all. Most cannot run; each has a report. The choices come from a random generator or from the bytes of a fuzzer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "engine/io/presets/preset_library.h"
#include "engine/scenario/scenario.h"

namespace roofscape::tests {

using Choose = std::function<std::uint32_t(std::uint32_t below)>;  // 0 to below - 1

void edit_fields(engine::Scenario&, int edits, const Choose&);
// A preset, on the chip of another cluster or with another model where the choices say so, with `edits` of its fields edited.
engine::Scenario edited_scenario(const io::PresetLibrary&, int edits, const Choose&);

}  // namespace roofscape::tests
