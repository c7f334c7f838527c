// Text goldens of figures, in tests/golden; tests/golden/update.sh writes them anew (ROOFSCAPE_UPDATE_GOLDEN=1).
#pragma once

#include <string>

namespace roofscape::widgets::testing {

// Compares with tests/golden/<name>.txt: numbers may differ by 0.1.
void check_golden(const std::string& name, const std::string& actual);

}  // namespace roofscape::widgets::testing
