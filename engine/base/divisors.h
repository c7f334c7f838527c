// The numbers that divide one: degrees of a mesh, microbatches, experts per rank.
#pragma once

#include <vector>

namespace roofscape::engine {

std::vector<int> divisors(int n);  // ascending; none of a number below 1

}  // namespace roofscape::engine
