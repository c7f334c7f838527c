// Lengths of the units of time, in seconds.
#pragma once

namespace roofscape::engine {

inline constexpr double kSecondsPerMinute = 60, kSecondsPerHour = 3600, kSecondsPerDay = 86400;
inline constexpr double kDaysPerYear = 365.25;  // the Julian year

}  // namespace roofscape::engine
