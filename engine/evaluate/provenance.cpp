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

bool has_unverified_source(const Scenario& s) {
  const auto says = [](std::string_view source) { return source.find(kUnverified) != std::string_view::npos; };
  const Chip& chip = s.cluster.chip;
  if (says(s.model.source) || says(chip.calibration.source)) return true;
  return std::any_of(chip.fields.begin(), chip.fields.end(), [&](const Sourced& one) { return says(one.source); });
}

Provenance unverified_inputs(const Scenario& s, const Report& report) {
  if (!has_unverified_source(s)) return {};
  Trace trace;
  if (s.serves()) {
    (void)run_serving<Traced>(s, &trace);
  } else {
    PipelineReport pipeline;
    StepLength length;
    if (report.pipeline.simulated) length.found = &*report.pipeline.simulated;
    (void)run_evaluation<Traced>(s, &trace, pipeline, length);
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
