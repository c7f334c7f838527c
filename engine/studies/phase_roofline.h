// Prefill and decoding on the roofline of a chip (scaling book, chapters 1, 7 and 8): linear layers and attention of
// each, by arithmetic intensity. Attention counts its FLOPs here in every convention. The roof and the places are
// those of the scenario's mode: peak rates when ideal, else the rates that matrix multiplications and reading of
// weights have in that mode. Attention of a decoding step then stands where its time puts it: a cache is read at a
// rate of its own, which may be under that of weights or over it, but not over the data sheet's.
#pragma once

#include <vector>

#include "engine/scenario/scenario.h"

namespace roofscape::engine {

enum class ServingPhase : std::uint8_t { prefill, decode };
enum class LayerShare : std::uint8_t { linear, attention };

struct PhaseWork {
  ServingPhase phase = ServingPhase::decode;
  LayerShare share = LayerShare::linear;
  double flops = 0, hbm_bytes = 0;  // of one pass on one chip: weights and caches
  double intensity_flop_per_byte = 0;
  double attainable_flop_per_s = 0;  // the lower of the roofs at that intensity (attention: above)
  double share_of_phase = 0;         // of the time of both at that rate
};

// Where linear layers of decoding would be with another batch.
struct BatchPlace {
  int batch = 1;
  double intensity_flop_per_byte = 0, attainable_flop_per_s = 0;
  bool fits = false;
};

struct PhaseRoofline {
  double peak_flop_per_s = 0, hbm_bytes_per_s = 0, ridge_flop_per_byte = 0;  // of the mode
  double ideal_flop_per_s = 0, ideal_hbm_bytes_per_s = 0;                    // of the data sheet; the same when ideal
  std::vector<PhaseWork> works;     // prefill before decoding; empty: nothing is served, or figures are not known
  std::vector<BatchPlace> batches;  // rising, each clearly further than the one before
  double critical_batch = 0;        // sequences at which linear layers of decoding are at the ridge
};

PhaseRoofline phase_roofline(const Scenario&);

}  // namespace roofscape::engine
