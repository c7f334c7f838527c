// Prefill and decoding on the roofline of a chip (scaling book, chapters 1, 7 and 8): linear layers and attention of each,
// by arithmetic intensity. Attention counts its FLOPs here in every convention. The roof and the places are those of peak
// rates, whatever the scenario's mode.
#pragma once

#include <vector>

#include "engine/scenario.h"

namespace roofscape::engine {

enum class ServingPhase : std::uint8_t { prefill, decode };
enum class LayerShare : std::uint8_t { linear, attention };

struct PhaseWork {
  ServingPhase phase = ServingPhase::decode;
  LayerShare share = LayerShare::linear;
  double flops = 0, hbm_bytes = 0;      // of one pass on one chip: weights and caches
  double intensity_flop_per_byte = 0;
  double attainable_flop_per_s = 0;     // the lower of the roofs at that intensity
  double share_of_phase = 0;            // of the time of both at the roof
};

// Where linear layers of decoding would be with another batch.
struct BatchPlace {
  int batch = 1;
  double intensity_flop_per_byte = 0, attainable_flop_per_s = 0;
  bool fits = false;
};

struct PhaseRoofline {
  double peak_flop_per_s = 0, hbm_bytes_per_s = 0, ridge_flop_per_byte = 0;
  std::vector<PhaseWork> works;      // prefill before decoding; empty: nothing is served, or figures are not known
  std::vector<BatchPlace> batches;   // rising, each clearly further than the one before
  double critical_batch = 0;         // sequences at which linear layers of decoding are at the ridge
};

PhaseRoofline phase_roofline(const Scenario&);

}  // namespace roofscape::engine
