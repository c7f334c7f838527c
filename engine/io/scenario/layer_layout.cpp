#include "engine/io/scenario/layer_layout.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "engine/base/text_pieces.h"
#include "engine/io/json/json_text.h"
#include "engine/pipeline/schedule.h"

namespace roofscape::io {

using engine::say;
using engine::Sentence;

namespace {

constexpr std::size_t kMostModules = 1 << 20;
constexpr std::string_view kBlank = " \t\r\n\"',";

InputError error_of(Sentence message, Sentence remedy) { return {{}, {}, std::move(message), std::move(remedy)}; }

// The layout with its repetitions written out; stops at a bar too many or a parenthesis that is not closed.
class Expansion {
 public:
  explicit Expansion(std::string_view text) {
    for (const char c : text)
      if (kBlank.find(c) == std::string_view::npos) text_ += c;
  }

  Result<std::string> expand() {
    std::string out;
    if (auto failure = sequence(out, 0)) return *std::move(failure);
    if (at_ < text_.size()) return error_of(say("error.layout.closed"), say("error.layout.example"));
    return out;
  }

 private:
  // Up to the end or the parenthesis that ends it.
  Failure sequence(std::string& out, int depth) {
    constexpr int kMostDepth = 16;
    while (at_ < text_.size() && text_[at_] != ')') {
      std::string item;
      if (text_[at_] == '(') {
        ++at_;
        if (depth == kMostDepth) return error_of(say("error.layout.deep"), say("error.layout.example"));
        if (auto failure = sequence(item, depth + 1)) return failure;
        if (at_ == text_.size()) return error_of(say("error.layout.open"), say("error.layout.example"));
        ++at_;
      } else if (std::string_view("EtmL|").find(text_[at_]) != std::string_view::npos) {
        item = text_[at_++];
      } else {
        return error_of(say("error.layout.no_part", in_quotes(std::string_view(text_).substr(at_, 1))),
                        say("error.layout.example"));
      }
      const auto times = repetitions();
      if (!times || item.size() * *times + out.size() > kMostModules)
        return error_of(say("error.layout.repetition"), say("error.layout.example"));
      for (std::size_t i = 0; i < *times; ++i) out += item;
    }
    return std::nullopt;
  }

  std::optional<std::size_t> repetitions() {
    if (at_ == text_.size() || text_[at_] != '*') return 1;
    std::size_t value = 0;
    const char* const begin = text_.data() + at_ + 1;
    const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (problem != std::errc() || value > kMostModules) return std::nullopt;
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  std::string text_;
  std::size_t at_ = 0;
};

Result<std::vector<int>> read_megatron(std::string_view text) {
  auto expanded = Expansion(text).expand();
  if (!expanded) return expanded.error();
  const std::string& modules = expanded.value();
  if (modules.find('m') != std::string::npos)
    return error_of(say("error.layout.further_tokens"), say("error.layout.further_tokens.remedy"));
  const auto count = [&](char c) { return std::count(modules.begin(), modules.end(), c); };
  if (count('E') > 1 || count('L') > 1 || (count('E') == 1 && modules.front() != 'E') ||
      (count('L') == 1 && modules.back() != 'L'))
    return error_of(say("error.layout.ends"), say("error.layout.example"));
  std::vector<int> layers(1, 0);
  for (const char c : modules)
    if (c == '|')
      layers.push_back(0);
    else if (c == 't')
      ++layers.back();
  return layers;
}

Result<std::vector<int>> read_torchtitan(std::string_view text) {
  constexpr std::string_view kLayer = "layers.";
  const Sentence remedy = say("error.layout.modules");
  const auto json = parse_json(text, {});
  if (!json) return error_of(json.error().message, remedy);
  std::vector<int> layers;
  int next = 0;
  for (const Json& stage : json.value()) {
    if (!stage.is_array()) return error_of(say("error.not_list", shown(stage)), remedy);
    layers.push_back(0);
    for (const Json& module : stage) {
      if (!module.is_string()) return error_of(say("error.not_text", shown(module)), remedy);
      const std::string& name = module.get_ref<const std::string&>();
      if (!name.starts_with(kLayer)) continue;
      if (name.substr(kLayer.size()) != std::to_string(next))
        return error_of(say("error.layout.order", in_quotes(name), next), say("error.layout.order.remedy"));
      ++next, ++layers.back();
    }
  }
  return layers;
}

}  // namespace

bool is_layer_layout(std::string_view text) {
  text = engine::trimmed(text, kBlank);
  if (text.empty() || text.size() > kMaxTextBytes) return false;
  if (text.front() == '[')
    return text.find_first_not_of(kBlank, 1) != std::string_view::npos &&
           text[text.find_first_not_of(kBlank, 1)] == '[';
  return text.find_first_not_of("EtmL|()*0123456789, \t\r\n") == std::string_view::npos &&
         text.find('t') != std::string_view::npos;
}

Result<std::vector<int>> read_layer_layout(std::string_view text) {
  text = engine::trimmed(text, kBlank);
  auto layers = !text.empty() && text.front() == '[' ? read_torchtitan(text) : read_megatron(text);
  if (layers && (layers.value().empty() || layers.value().size() > engine::kMaxVirtualStages))
    return error_of(say("error.layout.stages"), say("error.layout.example"));
  return layers;
}

Failure take_layer_layout(std::string_view text, engine::Scenario& scenario) {
  auto layers = read_layer_layout(text);
  if (!layers) return layers.error();
  const auto stages = static_cast<int>(layers.value().size()), devices = scenario.parallelism.pipeline;
  if (stages % devices != 0)
    return error_of(say("error.layout.uneven", stages, devices), say("error.layout.uneven.remedy"));
  const int chunks = stages / devices;
  engine::PipelinePlan& plan = scenario.pipeline;
  const engine::ScheduleFacts& facts = engine::facts_of(plan.schedule);
  if (facts.fixed_chunks != engine::kAnyChunks && facts.fixed_chunks != chunks)
    plan.schedule = chunks == 1 ? engine::ScheduleKind::one_f_one_b : engine::ScheduleKind::interleaved_1f1b;
  plan.virtual_stages = chunks;
  plan.layers_per_stage = std::move(layers).value();
  return std::nullopt;
}

std::string megatron_layout(const std::vector<int>& layers) {
  std::vector<std::string> stages;
  for (const int n : layers)
    stages.push_back(n > 3 ? fmt::format("t*{}", n) : std::string(static_cast<std::size_t>(n), 't'));
  if (stages.empty()) return {};
  stages.front().insert(0, "E");
  stages.back() += 'L';
  std::string out;
  for (std::size_t i = 0; i < stages.size();) {
    std::size_t same = i + 1;
    while (same < stages.size() && stages[same] == stages[i]) ++same;
    const std::size_t times = same - i;
    // The last stage has no bar behind it, so it is never one of a repetition: it has the head.
    if (times > 2)
      out += fmt::format("({}|)*{}", stages[i], times);
    else
      for (std::size_t k = i; k < same; ++k) out += stages[k] + (k + 1 < stages.size() ? "|" : "");
    i = same;
  }
  return out;
}

std::string torchtitan_modules(const std::vector<int>& layers) {
  OrderedJson out = OrderedJson::array();
  int next = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    OrderedJson stage = OrderedJson::array();
    if (i == 0) stage.push_back("tok_embeddings");
    for (int k = 0; k < layers[i]; ++k) stage.push_back("layers." + std::to_string(next++));
    if (i + 1 == layers.size()) stage.push_back("norm"), stage.push_back("output");
    out.push_back(std::move(stage));
  }
  return out.dump();
}

}  // namespace roofscape::io
