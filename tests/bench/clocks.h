// The clocks of benchmarks: processor time, which leaves out what else the machine does.
#pragma once

#include <time.h>

namespace roofscape::bench {

inline double milliseconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}
inline double thread_ms() { return milliseconds_of(CLOCK_THREAD_CPUTIME_ID); }
// Of all threads together.
inline double process_ms() { return milliseconds_of(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace roofscape::bench
