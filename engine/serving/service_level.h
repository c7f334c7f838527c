// What a plan can promise: the largest batch whose times stay within a limit. Both the time per token and, where
// decoding steps run between the chunks of a prompt, the time to first token rise with the batch.
#pragma once

#include "engine/scenario.h"

namespace roofscape::engine {

enum class ServedTime : std::uint8_t { first_token, output_token };

// Sequences, all replicas together: at most `most`, at least one for every replica and stage. 0: not even that few.
// The memory is not looked at; a limit of exactly what evaluate() says of a batch holds.
int largest_batch_within(const Scenario&, ServedTime, double limit_s, int most);

// Seconds, as evaluate() has them.
double served_time(const Scenario&, ServedTime);

}  // namespace roofscape::engine
