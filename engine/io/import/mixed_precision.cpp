#include "engine/io/import/mixed_precision.h"

#include <array>
#include <utility>

#include "engine/base/ascii.h"

namespace roofscape::io {

using engine::say;

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

std::string_view format_of_dtype(std::string_view dtype) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kFormats{
      {{"bfloat16", "bf16"}, {"float16", "fp16"}, {"float32", "fp32"}}};
  for (const auto& [theirs, ours] : kFormats)
    if (theirs == dtype) return ours;
  return {};
}

void state_mixed_precision(LaunchPlan& plan, std::string_view type, const Origin& origin, std::string_view written) {
  for (const auto& [field, word] : precision_choices(type))
    plan.state_choice(field, word, origin, std::string(written));
}

void assume_mixed_precision(LaunchPlan& plan, std::string_view type, const engine::Sentence& why) {
  for (const auto& [field, word] : precision_choices(type)) plan.assume_choice(field, word, why);
}

void state_optimizer(LaunchPlan& plan, const std::string& name, const Origin& origin) {
  const std::string words = engine::ascii_lower(name);
  const auto has = [&words](std::string_view part) { return words.find(part) != std::string::npos; };
  const bool adam = has("adam") && !has("ademamix"), four = adam && has("4bit");
  const char* kind = words == "muon" ? "muon_fp32" : four || (adam && has("8bit")) ? "adam_8bit" : nullptr;
  if (kind != nullptr)
    plan.restate_choice("precision.optimizer", kind, origin, name);
  else if (adam)
    plan.read.push_back({origin.key, origin.line, "precision.optimizer", name});
  else
    plan.warn(say("import.optimizer_unknown", in_quotes(name)), origin.line);
  if (four) plan.warn(say("import.nearest", name, std::string("adam_8bit")), origin.line);
}

}  // namespace roofscape::io
