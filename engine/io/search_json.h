// Results of searching plans as JSON.
#pragma once

#include <string>

#include "engine/search/sweep_s1.h"

namespace roofscape::io {

// {"points": n, "fit": n, "illegal": n, "simulated": n, "seconds": s, "points_per_s": n, "best": {...}, "top": [...]};
// `seconds` is the processor time of one sweep.
std::string s1_json(const engine::S1Result& result, double seconds);

}  // namespace roofscape::io
