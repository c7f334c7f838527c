#include "engine/io/import/mixed_precision.h"

#include <array>
#include <utility>

namespace roofscape::io {

namespace {

using PrecisionChoices = std::array<std::pair<std::string_view, std::string_view>, 5>;

PrecisionChoices precision_choices(std::string_view type) {
  const bool full = type == "fp32";
  const bool narrow = type == "fp8" || type == "nvfp4" || type == "mxfp4";
  const std::string_view stored = narrow ? "bf16" : type;
  return {{{"precision.compute", type},
           {"precision.weights", stored},
           {"precision.gradients", stored},
           {"precision.optimizer", "adam_fp32"},
           {"precision.master_weights", full ? "none" : "fp32"}}};
}

}  // namespace

void state_mixed_precision(LaunchPlan& plan, std::string_view type, const Origin& origin, std::string_view written) {
  for (const auto& [field, word] : precision_choices(type))
    plan.state_choice(field, word, origin, std::string(written));
}

void assume_mixed_precision(LaunchPlan& plan, std::string_view type, const engine::Sentence& why) {
  for (const auto& [field, word] : precision_choices(type)) plan.assume_choice(field, word, why);
}

}  // namespace roofscape::io
