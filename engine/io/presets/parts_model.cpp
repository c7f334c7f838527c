// Models as JSON: a config.json of Hugging Face (hf_config.h), or the members of the field table under "model.",
// groups such as "moe" as objects.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/huggingface/hf_reader.h"
#include "engine/io/presets/parts_json.h"
#include "engine/scenario/scenario_title.h"

namespace roofscape::io {

using engine::say;
using engine::Sentence;

namespace {

using engine::Field;
using engine::TransformerShape;

constexpr std::string_view kPrefix = "model.";
// Without these a model has no size. Others have a default; n_kv_heads and d_head follow from them.
constexpr std::string_view kRequired[] = {"n_layers", "d_model", "d_ff", "n_heads", "vocab_size"};

std::vector<const Field*> model_fields() {
  std::vector<const Field*> fields;
  for (const Field& field : engine::scenario_fields())
    if (field.path.starts_with(kPrefix)) fields.push_back(&field);
  return fields;
}

std::string_view path_in_model(const Field& field) { return field.path.substr(kPrefix.size()); }
// "moe" of "moe.d_ff_expert"; empty for members of the model itself.
std::string_view group_of(const Field& field) {
  const std::string_view path = path_in_model(field);
  const std::size_t dot = path.find('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}
std::string_view member_of(const Field& field) { return field.path.substr(field.path.rfind('.') + 1); }

// The members of one group (empty: the model itself) that are there.
Failure read_group(const Json& json, std::string_view group, const PartContext& context, engine::Scenario& scenario) {
  for (const Field* field : model_fields()) {
    if (group_of(*field) != group) continue;
    const auto found = json.find(member_of(*field));
    if (found == json.end()) continue;
    if (auto failure = read_field(*field, *found, context.at(member_of(*field)), context.file, scenario))
      return failure;
  }
  return std::nullopt;
}

// "moe": {...}. Null is as good as leaving it out.
Failure read_groups(const Json& json, std::span<const std::string_view> groups, const PartContext& context,
                    engine::Scenario& scenario) {
  for (const std::string_view group : groups) {
    const auto found = json.find(group);
    if (found == json.end() || found->is_null()) continue;
    const PartContext inner = context.inner(group);
    if (!found->is_object()) return context.error(inner.path, is_kind(*found), say("error.expected.fields"));
    std::vector<std::string_view> known;
    for (const Field* field : model_fields())
      if (group_of(*field) == group) known.push_back(member_of(*field));
    if (auto failure = check_members(*found, known, inner)) return failure;
    if (auto failure = read_group(*found, group, inner, scenario)) return failure;
  }
  return std::nullopt;
}

// "edited": ["n_layers", "moe.d_ff_expert"]: sizes the source does not hold for. A name that ends in "(edited)" was
// given before they were.
Failure read_edits(const Json& json, const PartContext& context, TransformerShape& model) {
  model.edits = {};  // reading is not editing
  const auto found = json.find("edited");
  if (found == json.end()) return std::nullopt;
  if (!found->is_array())
    return context.error(context.at("edited"), say("error.is_no_list"), say("error.model.edited.remedy"));
  const std::span<const Field> fields = engine::scenario_fields();
  for (const Json& entry : *found) {
    if (!entry.is_string()) return context.error(context.at("edited"), say("error.not_text", shown(entry)));
    const std::string path = std::string(kPrefix) + entry.get_ref<const std::string&>();
    std::size_t i = 0;
    while (i < fields.size() && fields[i].path != path) ++i;
    if (i == fields.size())
      return context.error(context.at("edited"),
                           say("error.model.no_field", in_quotes(entry.get_ref<const std::string&>())));
    model.edits.fields |= std::uint64_t{1} << i;
  }
  model.edits.named = model.edits.fields;
  if (model.name.ends_with(engine::kEditedSuffix)) {
    model.name.resize(model.name.size() - engine::kEditedSuffix.size());
    model.edits.named = 0;
  }
  return std::nullopt;
}

}  // namespace

Result<TransformerShape> read_model(const Json& json, const PartContext& context) {
  if (!json.is_object()) return context.error(context.path, is_kind(json), say("error.model.remedy"));
  if (is_hf_config(json)) {
    auto config = read_hf_json(json, {context.file, context.path});
    if (!config) return config.error();
    config->shape.id = std::string(context.id);
    return std::move(config->shape);
  }
  std::vector<std::string_view> known{"format", "version", "id", "name", "source", "edited", "aliases"}, groups;
  for (const Field* field : model_fields()) {
    const std::string_view group = group_of(*field);
    if (group.empty()) {
      known.push_back(member_of(*field));
    } else if (std::find(groups.begin(), groups.end(), group) == groups.end()) {
      groups.push_back(group);
      known.push_back(group);
    }
  }
  if (auto failure = check_members(json, known, context)) return *failure;
  if (auto failure = check_format(json, "roofscape/model", context)) return *failure;

  engine::Scenario scenario;
  TransformerShape& model = scenario.model;
  model.id = std::string(context.id);
  if (context.id.empty())
    if (auto failure = read_text(json, "id", context, model.id)) return *failure;
  if (auto failure = read_text(json, "name", context, model.name)) return *failure;
  if (auto failure = read_text(json, "source", context, model.source)) return *failure;
  for (const std::string_view member : kRequired)
    if (!json.contains(member)) {
      const Field* field = engine::find_field(std::string(kPrefix) + std::string(member));
      return context.error(context.at(member), say("error.missing"),
                           field == nullptr ? Sentence() : say("error.give", engine::domain_of(*field)));
    }
  if (auto failure = read_group(json, {}, context, scenario)) return *failure;
  if (auto failure = read_groups(json, groups, context, scenario)) return *failure;
  // As model configs have it: without its own key, every head has its keys and values, and heads share d_model.
  if (!json.contains("n_kv_heads")) model.n_kv_heads = model.n_heads;
  if (!json.contains("d_head")) {
    if (model.d_model % model.n_heads != 0)
      return context.error(context.at("n_heads"), say("error.model.not_multiple"), say("error.model.d_head.remedy"));
    model.d_head = model.d_model / model.n_heads;
  }
  if (auto failure = read_edits(json, context, model)) return *failure;
  return model;
}

OrderedJson model_json(const TransformerShape& model, const PresetLibrary& library) {
  if (const TransformerShape* preset = library.find_model(model.id); preset != nullptr && *preset == model)
    return model.id;
  OrderedJson json;
  if (!model.id.empty()) json["id"] = model.id;
  json["name"] = engine::model_title(model);
  json["source"] = model.source;
  const std::span<const Field> fields = engine::scenario_fields();
  for (std::size_t i = 0; i < fields.size() && i < 64; ++i)
    if ((model.edits.fields >> i & 1) != 0)
      json["edited"].push_back(std::string(fields[i].path.substr(kPrefix.size())));
  engine::Scenario scenario;
  const engine::Scenario defaults;
  scenario.model = model;
  for (const Field* field : model_fields()) {
    const double value = field->get(scenario);
    const std::string_view group = group_of(*field);
    const std::string_view member = member_of(*field);
    // What only some models have is written for these only.
    const bool common =
        group.empty() &&
        (std::find(std::begin(kRequired), std::end(kRequired), member) != std::end(kRequired) ||
         member == "n_kv_heads" || member == "d_head" || member == "gated_mlp" || member == "tied_embeddings");
    if (!common && value == field->get(defaults)) continue;
    OrderedJson& object = group.empty() ? json : json[std::string(group)];
    object[std::string(member)] = field_json(*field, value);
  }
  return json;
}

}  // namespace roofscape::io
