// A derivation as text, the way it would be written on a board: the formula in symbols, the same with numbers put in,
// which side of a maximum decided and by how much, the source at the right, and the inputs once at the end.
#pragma once

#include <string>
#include <string_view>

#include "engine/evaluate/explain.h"
#include "engine/evaluate/zero_reason.h"
#include "widgets/plot/text_table.h"

namespace roofscape::app {

// What a derivation does not say of itself; empty: nothing.
struct DerivationNotes {
  std::string asked;          // a sentence below what the number is: why it is zero
  std::string critical_path;  // below the makespan: what fills it
};
// `levels` of formulas: 1 is that of the number alone; inputs are those of the formulas shown.
inline constexpr int kAllLevels = 1000;
std::string derivation_text(const engine::Derivation& derivation, const widgets::TextTable& texts,
                            int levels = kAllLevels, const DerivationNotes& notes = {});

// Why a number of the scenario is zero, as a sentence.
std::string zero_text(const engine::ZeroReason& reason, const engine::Scenario& scenario,
                      const widgets::TextTable& texts);

// The key of what is said of a number that no formula gives: it came out of a simulated schedule, or was found by the
// rule that its source states.
std::string_view counted_key(engine::Q quantity);

// "critical path: 8 forward passes 1.2 s + 8 backward passes 2.4 s + 3 transfers 1 ms"; empty where none was simulated.
std::string critical_path_text(const engine::PipelineReport& pipeline, const widgets::TextTable& texts);

// "T_comms decides, 2.3 % above T_math" for a max or min; empty for anything else.
std::string decision_text(const engine::Expression& expression, const widgets::TextTable& texts);

}  // namespace roofscape::app
