// What a plan can promise (workload.slo): the largest batch whose times stay within its limits. The time per token is
// the sustained one, as the plan runs (steady_state.h). Both it and, where decoding steps run between the chunks of a
// prompt, the time to first token rise with the batch.
#pragma once

#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

struct ServedTimes {
  double ttft_s = 0, token_s = 0;  // token_s: sustained
};
// Seconds, as evaluate() has them; NaN: figures are not known.
ServedTimes served_times(const Scenario&);

// Whether times are within the limits that there are.
bool keeps(const ServiceLevel&, const ServedTimes&);
// The same of an evaluated scenario; one without times keeps no limit.
bool keeps_promise(const Scenario&, const Report&);

// The share of what the plan serves that arrives (Q::steady_load), were this its batch; 0: no arrivals are stated.
double steady_load_of(const Scenario&, int batch);

// Sequences, all replicas together: at most `most`, at least one for every replica and stage. 0: not even that few.
// The memory is not looked at; limits of exactly what evaluate() says of a batch hold.
int largest_batch_within(const Scenario&, const ServiceLevel& limits, int most);

}  // namespace roofscape::engine
