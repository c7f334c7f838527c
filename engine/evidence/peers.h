// Peers on the same rows: what other calculators published of their errors on runs that ship here, beside the errors of
// calibrated mode on those of the rows that do, with the runs of that source left out of the fit and with all runs in it.
// Sources: Isaev et al., "Calculon" (SC 2023), validation on Table 5 of Korthikanti et al. 2022; Bang et al., "vTrain"
// (MICRO 2024), section on validation.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/evidence/validation.h"
#include "engine/io/presets/measurements.h"

namespace roofscape::evidence {

struct Peer {
  std::string_view name;           // "Calculon"
  std::string_view on;             // of which runs: "korthikanti2022 table5"
  std::string_view family, table;  // whose entries these are; table: how its names begin
  double error = 0;                // published, mean of the absolute errors
  std::size_t rows = 0;            // that the peer validated on; 0: not stated
};

struct PeerComparison {
  const Peer* peer = nullptr;
  std::size_t rows = 0;  // that ship, with a prediction
  double fitted = 0;     // mean of ours
  std::size_t rows_left_out = 0;
  double left_out = 0;  // the same without the runs of the source
};

std::span<const Peer> peers();
std::vector<PeerComparison> compare_with_peers(std::span<const io::Measurement>, const Validation&);

}  // namespace roofscape::evidence
