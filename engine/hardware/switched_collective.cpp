#include "engine/hardware/switched_collective.h"

namespace roofscape::engine {

template <Scalar S>
S level_gather_time(const S& bytes, const S& level_rate, const S& below, const S& inner) {
  return bytes * below / (max(below, inner) * level_rate);
}

template double level_gather_time<double>(const double&, const double&, const double&, const double&);
template Traced level_gather_time<Traced>(const Traced&, const Traced&, const Traced&, const Traced&);

}  // namespace roofscape::engine
