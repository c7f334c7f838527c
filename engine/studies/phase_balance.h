// How many chips prefill and how many decode, where each phase has its own (disaggregated serving; scaling book,
// chapters 7 and 8). The decoding mesh and its batch stay; replicas of the prefill plan are added one group after the
// other. Both phases keep up with as many requests as the slower one; what counts is what that is for each chip of
// both kinds. A plan whose chips do both is taken as often as it needs for the split to be fine enough: for each chip
// that changes nothing.
#pragma once

#include <vector>

#include "engine/scenario/scenario.h"

namespace roofscape::engine {

struct PhaseSplit {
  int prefill_replicas = 1;
  double prefill_chips = 1, decode_chips = 1;
  double prefill_requests_per_s = 0, decode_requests_per_s = 0;  // what each could keep up with
  double requests_per_s = 0;                                     // what both do
  double ttft_s = 0;                                             // the sending of the cache included
  bool own = false;                                              // the scenario's, where it has prefill chips
  double chips() const { return prefill_chips + decode_chips; }
};

struct PhaseBalance {
  std::vector<PhaseSplit> splits;       // by rising prefill chips; empty: nothing is served, or figures are not known
  int decode_copies = 1;                // times the plan's decoding mesh and batch
  int best = -1;                        // most requests for each chip
  double balance_chips = 0;             // prefill chips, not whole ones, at which neither phase waits
  double shared_requests_per_chip = 0;  // where all chips do both; 0: the scenario's phases are apart
};

PhaseBalance phase_balance(const Scenario&);

// The scenario with so many prefill replicas on chips of their own: of its prefill plan, or of the decoding mesh
// where both phases share it, beside so many copies of the decoding mesh and its batch. The cluster grows where it
// has too few chips.
Scenario with_prefill_replicas(const Scenario&, int replicas, int decode_copies = 1);
// Replicas that come together: ranks that share the experts.
int prefill_group(const Scenario&);

}  // namespace roofscape::engine
