#include "engine/evaluate/provenance.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "engine/base/trace.h"
#include "engine/evaluate/evaluation.h"
#include "engine/evaluate/serving_evaluation.h"

namespace roofscape::engine {

bool Provenance::reaches(Q quantity) const { return std::binary_search(reached.begin(), reached.end(), quantity); }

Provenance unverified_inputs(const Scenario& s) {
  Trace trace;
  if (s.serves()) {
    (void)run_serving<Traced>(s, &trace);
  } else {
    PipelineReport pipeline;
    (void)run_evaluation<Traced>(s, &trace, pipeline);
  }
  Provenance out;
  const std::vector<TraceNode>& nodes = trace.nodes();
  std::vector<char> doubtful(nodes.size(), 0);
  // What was simulated has no operands: it rests on whatever the step does.
  bool any = false;
  std::map<std::pair<std::uint16_t, std::int16_t>, std::size_t> last;  // the last to be named is the one reported
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const TraceNode& n = nodes[i];
    switch (n.verb) {
      case Verb::constant:
        break;
      case Verb::input:
        if (trace.source(n).find(kUnverified) != std::string::npos) {
          doubtful[i] = 1;
          any = true;
          const std::string id(quantity(static_cast<Q>(n.row)).id);
          if (std::find(out.inputs.begin(), out.inputs.end(), id) == out.inputs.end()) out.inputs.push_back(id);
        }
        break;
      case Verb::simulated:
        doubtful[i] = any ? 1 : 0;
        break;
      case Verb::named:
      case Verb::ceil:
      case Verb::floor:
      case Verb::sqrt:
        doubtful[i] = doubtful[n.a];
        break;
      default:
        doubtful[i] = static_cast<char>(doubtful[n.a] | doubtful[n.b]);
        break;
    }
    if (n.row != 0xffff) last[{n.row, n.index}] = i;
  }
  for (const auto& [key, node] : last)
    if (doubtful[node] != 0) out.reached.push_back(static_cast<Q>(key.first));
  std::sort(out.reached.begin(), out.reached.end());
  out.reached.erase(std::unique(out.reached.begin(), out.reached.end()), out.reached.end());
  return out;
}

}  // namespace roofscape::engine
