// Launch files of the frameworks beside Megatron-LM, written for tests in the layouts of the frameworks' own, with what each
// comes to. Those with a name are here for variants of them.
#pragma once

#include <string_view>
#include <vector>

namespace roofscape::test {

struct LaunchCase {
  std::string_view name, text, cluster;
  std::string_view format;
  std::vector<std::string_view> values;   // "path=value" of the scenario; "model=" its name
  std::vector<std::string_view> missing;  // all of them
};
const std::vector<LaunchCase>& launch_cases();

extern const std::string_view kTitan, kTitanStages, kMaxtext, kMaxtextExperts, kDeepspeed, kDeepspeedOld, kNanotron,
    kTitanLine, kVllm;

}  // namespace roofscape::test
