#include "engine/scenario/scenario_title.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "engine/base/digit_groups.h"
#include "engine/pipeline/given_order.h"
#include "engine/scenario/domains.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::engine {
namespace {

constexpr std::uint64_t kNothing = 2;  // no fingerprint is even

// FNV-1a over the values; odd, so never 0.
class Fingerprint {
 public:
  void add(double value) { add_bits(std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value)); }
  void add(std::string_view text) {
    for (const char c : text) add_bits(static_cast<unsigned char>(c));
    add_bits(text.size());
  }
  std::uint64_t value() const { return hash_ | 1; }

 private:
  void add_bits(std::uint64_t bits) { hash_ = (hash_ ^ bits) * 1099511628211ULL, hash_ ^= hash_ >> 29; }
  std::uint64_t hash_ = 14695981039346656037ULL;
};

NameStamp stamp_of(const Scenario& s) {
  Fingerprint model, cluster, plan;
  for (const Field& field : scenario_fields()) {
    if (field.path.starts_with("assumptions.")) continue;
    Fingerprint& part = field.path.starts_with("model.")     ? model
                        : field.path.starts_with("cluster.") ? cluster
                                                             : plan;
    part.add(field.get(s));
  }
  for (const int layers : s.pipeline.layers_per_stage) plan.add(layers);
  if (s.pipeline.order)
    for (const char c : s.pipeline.order->csv) plan.add(c);
  const Chip& chip = s.cluster.chip;
  cluster.add(static_cast<double>(chip.interconnect));
  for (const int side : chip.pod_shape) cluster.add(side);
  for (const Sourced& figure : chip.fields) cluster.add(figure.value.value_or(-1));
  for (const FabricLevel& level : s.cluster.fabric) {
    cluster.add(level.degree);
    cluster.add(level.bytes_per_s_per_child);
    cluster.add(level.in_network_reduction ? 1 : 0);
  }
  return {model.value(), cluster.value(), plan.value()};
}

bool is_stamped(const NameStamp& stamp) { return stamp.plan != 0; }

std::string edited_name(std::string_view name) {
  return std::string(name) + (name.ends_with(kEditedSuffix) ? "" : std::string(kEditedSuffix));
}

std::string derived_title(const Scenario& s) {
  return fmt::format("{}{} on {} {}", s.serves() ? "Serving " : "", model_title(s.model),
                     digit_groups(std::to_string(chip_count(s.cluster))), chip_title(s.cluster.chip));
}

}  // namespace

void set_name(Scenario& s, std::string name) {
  s.name = std::move(name);
  s.stamp = stamp_of(s);
}

void set_title(Scenario& s, std::string_view title, std::string made_from) {
  const bool plan_alone = title == made_from || title == edited_name(made_from);
  set_name(s, std::move(made_from));
  // What it was made from is not here any more: a stamp that nothing has.
  s.stamp.plan = kNothing;
  if (!plan_alone) s.stamp.model = kNothing;
}

std::string scenario_title(const Scenario& s) {
  if (s.name.empty() || !is_stamped(s.stamp)) return s.name;
  const NameStamp now = stamp_of(s);
  if (now.model != s.stamp.model || now.cluster != s.stamp.cluster) return derived_title(s);
  return now.plan == s.stamp.plan ? s.name : edited_name(s.name);
}

std::string_view scenario_source(const Scenario& s) {
  if (!is_stamped(s.stamp)) return s.source;
  const NameStamp now = stamp_of(s);
  const bool same = now.model == s.stamp.model && now.cluster == s.stamp.cluster && now.plan == s.stamp.plan;
  return same ? std::string_view(s.source) : std::string_view();
}

void set_model_name(TransformerShape& model, std::string name) {
  model.name = std::move(name);
  model.edits.named = model.edits.fields;
}

std::string model_title(const TransformerShape& model) {
  return model.edits.fields == model.edits.named || model.name.empty() ? model.name : edited_name(model.name);
}

std::string_view model_source(const TransformerShape& model, std::string_view path) {
  const std::span<const Field> fields = scenario_fields();
  for (std::size_t i = 0; i < fields.size() && i < 64; ++i)
    if (fields[i].path == path && (model.edits.fields >> i & 1) != 0) return kSetByHand;
  return model.source;
}

std::string model_source(const TransformerShape& model) {
  if (model.edits.fields == 0) return model.source;
  std::string edited;
  const std::span<const Field> fields = scenario_fields();
  for (std::size_t i = 0; i < fields.size() && i < 64; ++i)
    if ((model.edits.fields >> i & 1) != 0)
      edited += (edited.empty() ? "" : ", ") + std::string(fields[i].path.substr(std::string_view("model.").size()));
  return fmt::format("{}{}{}: {}", model.source, model.source.empty() ? "" : "; ", kSetByHand, edited);
}

std::string chip_title(const Chip& chip) {
  const bool edited = std::any_of(chip.fields.begin(), chip.fields.end(),
                                  [](const Sourced& figure) { return figure.source == kSetByHand; });
  return edited && !chip.name.empty() ? edited_name(chip.name) : chip.name;
}

}  // namespace roofscape::engine
