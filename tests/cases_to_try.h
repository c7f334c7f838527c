// How many random cases a property is tried on. Under the sanitizers an eighth: there memory and undefined behaviour are
// tested, on the same code paths; values are tested by the build that ships.
#pragma once

namespace roofscape::tests {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr int kFewerCases = 8;
#else
inline constexpr int kFewerCases = 1;
#endif

constexpr int cases_to_try(int all) { return all / kFewerCases; }

}  // namespace roofscape::tests
