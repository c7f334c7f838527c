#include "engine/evidence/peers.h"

#include <array>
#include <cmath>
#include <map>
#include <string>

namespace roofscape::evidence {

std::span<const Peer> peers() {
  static constexpr std::array kPeers{
      Peer{"Calculon", "Korthikanti et al. 2022, table 5", "korthikanti2022", "table5", 0.0365, 8},
      Peer{"vTrain", "vTrain, several nodes", "vtrain", "multi", 0.147, 0},
      Peer{"vTrain", "vTrain, one node", "vtrain", "single", 0.084, 1440},
  };
  return kPeers;
}

std::vector<PeerComparison> compare_with_peers(std::span<const io::Measurement> entries,
                                               const Validation& validation) {
  std::map<std::string_view, const io::Measurement*> by_id;
  for (const io::Measurement& entry : entries) by_id.emplace(entry.id, &entry);
  std::vector<PeerComparison> out;
  for (const Peer& peer : peers()) {
    PeerComparison c{&peer, 0, 0, 0, 0};
    for (const ValidationRow& row : validation.rows) {
      const auto entry = by_id.find(row.id);
      if (entry == by_id.end() || row.family != peer.family || !entry->second->table.starts_with(peer.table))
        continue;
      if (row.kind != "training_time" || row.restates || !row.predicted) continue;
      ++c.rows, c.fitted += std::abs(row.error);
      if (const auto& without = row.left_out[static_cast<std::size_t>(io::LeftOutKind::source)])
        ++c.rows_left_out, c.left_out += std::abs(*without);
    }
    if (c.rows > 0) c.fitted /= static_cast<double>(c.rows);
    if (c.rows_left_out > 0) c.left_out /= static_cast<double>(c.rows_left_out);
    out.push_back(c);
  }
  return out;
}

}  // namespace roofscape::evidence
