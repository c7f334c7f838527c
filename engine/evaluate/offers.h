// Changes that are worth offering. Every one was evaluated: it says what it gains, in the numbers evaluate() gives
// for the changed scenario, and one that gains nothing is not offered. Made on demand, where findings are shown; a
// report states findings with their fixes, and evaluate() does not pay for finding out which of them help.
//
// Plans are ranked by what matters first: one that runs (no error), one that fits the memory, one that keeps up with
// the requests that arrive and one that keeps what is promised (serving), then the rate at which it trains or serves,
// then how soon a request is served, then the memory it takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/single_edits.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

enum class GainMeasure : std::uint8_t {
  runs,          // it could not run and does now
  fits,          // it did not fit and does now
  keeps_up,      // more requests arrived than it serves; now it serves them
  promise,       // it broke the service level and keeps it now
  step_time,     // seconds of a training step of the same work
  train_rate,    // training tokens a second, where the change is one of the work itself
  serving_rate,  // sustained tokens a second for each chip of the cluster
  request_time,  // seconds from a request to its last token, at the same rate
  memory,        // bytes of the fullest chip, at the same rate and times
  settles,       // a setting of how it is counted: the finding is gone
};
inline constexpr EnumTable<GainMeasure> kGainIds{"runs",       "fits",         "keeps_up",     "promise", "step_time",
                                                 "train_rate", "serving_rate", "request_time", "memory",  "settles"};

struct Gain {
  GainMeasure measure = GainMeasure::step_time;
  bool timed = false;            // the numbers are seconds
  double before = 0, after = 0;  // seconds, bytes (memory), else tokens a second (serving: a chip); 0: unknown
  double memory_bytes = 0;       // of the fullest chip, after the change
  // Of the measure's number: -0.51 for half the time, 0.2 for a fifth more tokens; 0 where there was none before.
  double change() const { return before > 0 && after > 0 ? after / before - 1 : 0; }
};

// How good a plan is, for comparisons.
struct Standing {
  bool runs = false, fits = false;
  bool keeps_up = false, keeps_promise = false;  // serving; true of training
  double rate = 0;                               // tokens a second, for each chip of the cluster where it serves
  double request_s = 0;                          // serving: from a request to its last token
  double step_s = 0;                             // training
  double memory_bytes = 0;                       // of the fullest chip; 0 of any of these: unknown
};
Standing standing(const Scenario&, const Report&);
// A strict weak order.
bool better(const Standing&, const Standing& than);

// A change, what it gains and what it leads to.
struct Offer {
  Fix fix;
  Gain gain;
  Standing leads_to;
};

// The best of single_edits; where none of them runs or fits, the best of two in a row. Nothing where the best gains
// less than kWorthOffering of the rate. No service level that is kept is broken for more tokens.
inline constexpr double kWorthOffering = 0.01;
std::optional<Offer> best_edit(const Scenario&, const Report&);

// The same in pieces, for a window that has other things to do in a frame.
class BestEdit {
 public:
  BestEdit(const Scenario&, const Report&);
  ~BestEdit();
  BestEdit(BestEdit&&) noexcept;
  BestEdit& operator=(BestEdit&&) noexcept;
  // Evaluates so many more plans, as long as operations are left, and takes off what it simulated; true when there are
  // no more plans.
  bool step(int plans, std::int64_t& operations_left);
  void finish();
  std::optional<Offer> offer() const;
  // All single edits that are worth offering; where it takes two in a row, the best pair alone.
  std::vector<Offer> offers() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The findings of a report as they are shown: without fixes that do not help and advice that would not pay, with what
// each fix gains, and with the best change (advice.best_edit) where no fix is as good.
struct OfferedFinding {
  Diagnostic diagnostic;
  std::optional<Gain> gain = {};  // of its fix; none: it has no fix
  Standing leads_to = {};         // where there is one
};
// Of the edits and of the fixes of findings the best, the best first, and one of those that come to the same.
std::vector<Offer> best_offers(std::vector<Offer> edits, const std::vector<OfferedFinding>&, std::size_t most);
std::vector<OfferedFinding> offered_findings(const Scenario&, const Report&);
// Its two halves: the findings without the best change, and that change put among them where no fix is as good.
std::vector<OfferedFinding> vetted_findings(const Scenario&, const Report&);
void add_best_edit(const std::optional<Offer>& best, std::vector<OfferedFinding>& findings);

}  // namespace roofscape::engine
