// The tours that ship, and one of a scene of one's own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/io/tour/tour.h"
#include "widgets/plot/text_table.h"

namespace roofscape::tests {

const widgets::TextTable& texts_in(std::string_view language);
const std::vector<io::Tour>& tours();

inline const std::string kScenario = R"("scenario": "llama3-70b-v5p-pod")";
inline const std::string kAnswer = R"("answer": "mfu", "choices": [0.5, "answer"])";
// With members added or replaced.
io::Tour one_scene(const std::string& members);

}  // namespace roofscape::tests
