#include "engine/base/divisors.h"

namespace roofscape::engine {

std::vector<int> divisors(int n) {
  std::vector<int> out, other;
  for (int d = 1; d <= n / d; ++d) {
    if (n % d != 0) continue;
    out.push_back(d);
    if (d != n / d) other.push_back(n / d);
  }
  out.insert(out.end(), other.rbegin(), other.rend());
  return out;
}

}  // namespace roofscape::engine
