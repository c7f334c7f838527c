// Changes that are worth offering. Every one was evaluated: it says what it gains, in the numbers evaluate() gives for
// the changed scenario, and one that gains nothing is not offered. Made on demand, where findings are shown; evaluate()
// does not pay for it.
//
// Plans are ranked by what matters first: one that runs (no error), one that fits the memory, one that keeps what is
// promised (serving), then the rate at which it trains or serves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/evaluate.h"
#include "engine/report.h"
#include "engine/scenario.h"

namespace roofscape::engine {

enum class GainMeasure : std::uint8_t {
  runs,          // it could not run and does now
  fits,          // it did not fit and does now
  promise,       // it broke the service level and keeps it now
  step_time,     // seconds of a training step of the same work
  train_rate,    // training tokens a second, where the change is one of the work itself
  serving_rate,  // sustained tokens a second for each chip of the cluster
  settles,       // a setting of how it is counted: the finding is gone
};

struct Gain {
  GainMeasure measure = GainMeasure::step_time;
  bool timed = false;            // the numbers are seconds of a step; else tokens a second, for each chip where it serves
  double before = 0, after = 0;  // 0: unknown
  double memory_bytes = 0;       // of the fullest chip, after the change
  // Of the measure's number: -0.51 for half the time, 0.2 for a fifth more tokens; 0 where there was none before.
  double change() const { return before > 0 && after > 0 ? after / before - 1 : 0; }
};

// How good a plan is, for comparisons.
struct Standing {
  bool runs = false, fits = false, keeps_promise = false;
  double rate = 0;          // tokens a second, for each chip of the cluster where it serves; 0: unknown
  double memory_bytes = 0;
};
Standing standing(const Scenario&, const Report&);
bool better(const Standing&, const Standing& than);

// What a change gains; nothing where it is no better.
std::optional<Gain> gain_of(const Scenario&, const Report&, const Fix&);

// The changes of the plan that are one step away: one field, or the few that go together (a factor moved from one mesh
// axis to another, with the microbatch that keeps their number). Never the model, the chips, the number formats or the
// work; the sequences that are decoded together count as plan where a service level bounds them or they do not fit.
std::vector<Fix> single_edits(const Scenario&, const Report&);

struct Offer {
  Fix fix;
  Gain gain;
};
// The best of single_edits; where none of them runs or fits, the best of two in a row. Nothing where the best gains
// less than kWorthOffering of the rate.
inline constexpr double kWorthOffering = 0.01;
std::optional<Offer> best_edit(const Scenario&, const Report&);

// The same in pieces, for a window that has other things to do in a frame.
class BestEdit {
 public:
  BestEdit(const Scenario&, const Report&);
  ~BestEdit();
  BestEdit(BestEdit&&) noexcept;
  BestEdit& operator=(BestEdit&&) noexcept;
  bool step(int plans);  // evaluates so many more plans; true when there are none left
  std::optional<Offer> offer();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The findings of a report as they are shown: without fixes that do not help and advice that would not pay, with what
// each fix gains, and with the best change (advice.best_edit) where no fix is as good.
struct OfferedFinding {
  Diagnostic diagnostic;
  std::optional<Gain> gain;  // of its fix; none: it has no fix
};
std::vector<OfferedFinding> offered_findings(const Scenario&, const Report&);
// Its two halves: the findings without the best change, and that change put among them where no fix is as good.
std::vector<OfferedFinding> vetted_findings(const Scenario&, const Report&);
void add_best_edit(const Scenario&, const std::optional<Offer>& best, std::vector<OfferedFinding>& findings);

}  // namespace roofscape::engine
