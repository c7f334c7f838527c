#include "engine/io/huggingface/hf_config.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/io/huggingface/hf_reader.h"
#include "engine/model/model_check.h"
#include "engine/scenario/scenario.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::io {

using engine::say;
using engine::Sentence;
using engine::TransformerShape;

const Json* HfReader::member(std::string_view key) const {
  const Json* in = &json_;
  while (true) {
    const std::size_t dot = key.find('.');
    const auto found = in->is_object() ? in->find(key.substr(0, dot)) : in->end();
    if (found == in->end()) return nullptr;
    if (dot == std::string_view::npos) return &*found;
    in = &*found;
    key.remove_prefix(dot + 1);
  }
}

bool HfReader::is_null(std::string_view key) const {
  const Json* found = member(key);
  return found != nullptr && found->is_null();
}

bool HfReader::is(std::string_view keys, int value) const {
  const Json* found = find(keys);
  return found != nullptr && *found == value;
}

const Json* HfReader::find(std::string_view keys, std::string* name) const {
  if (keys.empty()) return nullptr;
  while (true) {
    const std::size_t bar = keys.find('|');
    const std::string_view key = keys.substr(0, bar);
    if (const Json* found = member(key); found != nullptr && !found->is_null()) {
      if (name != nullptr) *name = std::string(key);
      return found;
    }
    if (bar == std::string_view::npos) return nullptr;
    keys.remove_prefix(bar + 1);
  }
}

void HfReader::fail(std::string_view key, Sentence message, Sentence remedy) {
  if (!failure_)
    failure_ = place_.error(place_.at(key.substr(0, key.find('|'))), std::move(message), std::move(remedy));
}

int HfReader::size(std::string_view field_path, std::string_view keys, std::optional<int> fallback) {
  if (failed()) return 0;
  const engine::Field* field = engine::find_field(field_path);
  std::string name;
  const Json* value = find(keys, &name);
  if (value == nullptr || field == nullptr) {
    if (!fallback) {
      fail(keys, say("error.missing"), say("error.config.size.remedy"));
      return 0;
    }
    return *fallback;
  }
  if (value->is_array() && !value->empty() && std::equal(value->begin() + 1, value->end(), value->begin()))
    value = &value->front();
  engine::Scenario scenario;
  if (auto failure = read_field(*field, *value, place_.at(name), place_.file, scenario)) {
    failure_ = std::move(failure);
    return 0;
  }
  return static_cast<int>(field->get(scenario));
}

int HfReader::count(std::string_view keys, int fallback, int maximum) {
  std::string name;
  const Json* value = find(keys, &name);
  if (failed() || value == nullptr) return fallback;
  const double number = value->is_number() ? value->get<double>() : -1;
  if (!(number >= 0) || number > maximum || number != std::floor(number)) {
    fail(name, say("error.out_of_range", shown(*value)), say("error.number.whole_between", 0, maximum));
    return fallback;
  }
  return static_cast<int>(number);
}

bool HfReader::flag(std::string_view keys, bool fallback) {
  std::string name;
  const Json* value = find(keys, &name);
  if (failed() || value == nullptr) return fallback;
  if (!value->is_boolean())
    fail(name, say("error.not_boolean", shown(*value)), say("error.config.not_boolean.remedy"));
  return value->is_boolean() ? value->get<bool>() : fallback;
}

std::string HfReader::text(std::string_view keys) const {
  const Json* value = find(keys);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

const Json* HfReader::list(std::string_view key) {
  const Json* value = find(key);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) fail(key, is_kind(*value), say("error.expected.list"));
  return value->is_array() ? value : nullptr;
}

namespace {

std::string word(bool value) { return value ? "true" : "false"; }

void read_sizes(HfReader& in, const HfFamily& family, TransformerShape& m) {
  const HfKeys& keys = *family.keys;
  const HfDefaults& defaults = family.defaults;
  const auto known = [](int value) { return value > 0 ? std::optional<int>(value) : std::nullopt; };
  const auto tell = [&in](std::string_view key, int value) {
    if (!in.has(key) && !in.failed())
      in.note(std::string(key.substr(0, key.find('|'))) + " is not given: " + std::to_string(value));
  };
  m.n_layers = in.size("model.n_layers", keys.layers, std::nullopt);
  m.d_model = in.size("model.d_model", keys.width, std::nullopt);
  m.n_heads = in.size("model.n_heads", keys.heads, known(defaults.heads));
  if (defaults.heads > 0) tell(keys.heads, m.n_heads);
  m.vocab_size = in.size("model.vocab_size", "vocab_size", known(defaults.vocab));
  if (defaults.vocab > 0) tell("vocab_size", m.vocab_size);
  m.max_context_tokens = in.size("model.max_context_tokens", keys.context, 0);
  if (in.failed()) return;
  const int times = defaults.ff_times_width;
  m.d_ff = in.size("model.d_ff", keys.ff, times > 0 ? std::optional<int>(times * m.d_model) : std::nullopt);
  if (!keys.ff.empty() && times > 0) tell(keys.ff, m.d_ff);
  const bool as_heads = defaults.kv_heads == 0 || in.is_null(keys.kv_heads);
  m.n_kv_heads = in.size("model.n_kv_heads", keys.kv_heads, as_heads ? m.n_heads : defaults.kv_heads);
  if (!keys.kv_heads.empty()) tell(keys.kv_heads, m.n_kv_heads);
  const bool divides = m.n_heads > 0 && m.d_model % m.n_heads == 0;
  m.d_head = in.size("model.d_head", keys.head_dim,
                     defaults.head_dim > 0 ? defaults.head_dim
                     : divides             ? m.d_model / m.n_heads
                                           : 1);
  if (defaults.head_dim > 0) tell(keys.head_dim, m.d_head);
  if (defaults.head_dim == 0 && !in.has(keys.head_dim) && !divides)
    in.fail(keys.heads, say("error.config.heads_width", m.n_heads, m.d_model),
            keys.head_dim.empty() ? say("error.config.heads_width.remedy") : say("error.config.head_dim.remedy"));
  if (!in.failed() && m.n_heads % m.n_kv_heads != 0)
    in.fail(keys.kv_heads, say("error.config.kv_heads", m.n_kv_heads, m.n_heads),
            say("error.config.kv_heads.remedy"));
}

// Layers of their own kinds, by name; this counts over any rule of the class.
void read_layer_types(HfReader& in, TransformerShape& m) {
  const Json* types = in.list("layer_types");
  if (types == nullptr || in.failed()) return;
  if (types->size() != static_cast<std::size_t>(m.n_layers))
    return in.fail("layer_types", say("error.config.layer_types", types->size(), m.n_layers));
  int local = 0;
  for (std::size_t i = 0; i < types->size(); ++i) {
    const Json& type = (*types)[i];
    if (type == "sliding_attention" || type == "chunked_attention")
      ++local;
    else if (type != "full_attention")
      return in.fail("layer_types." + std::to_string(i), say("error.config.layer", shown(type)));
  }
  const int window = in.size("model.local_attention.window_tokens", "sliding_window|attention_chunk_size", 0);
  if (local > 0 && window == 0 && m.local_attention.window_tokens == 0)
    return in.fail("sliding_window", say("error.missing"), say("error.config.window.remedy"));
  if (window > 0) m.local_attention.window_tokens = window;
  m.local_attention.n_local_layers = local;
}

std::string model_name(HfReader& in, std::string_view file) {
  std::string name = in.text("_name_or_path|name");
  if (name.starts_with('/') || name.starts_with('.')) name = std::filesystem::path(name).filename().string();
  if (!name.empty()) return name;
  const std::filesystem::path path{std::string(file)};
  if (path.stem() == "config" && path.has_parent_path()) return path.parent_path().filename().string();
  return path.stem().string();
}

const HfFamily* find_family(std::string_view type) {
  for (const HfFamily& family : hf_families())
    if (family.type == type) return &family;
  return nullptr;
}

// By "architectures" where there is no model_type.
const HfFamily* find_architecture(const Json& json) {
  const auto found = json.find("architectures");
  if (found == json.end() || !found->is_array() || found->empty() || !(*found)[0].is_string()) return nullptr;
  for (const HfFamily& family : hf_families())
    if (!family.architecture.empty() && family.architecture == (*found)[0].get_ref<const std::string&>())
      return &family;
  return nullptr;
}

InputError unknown_type(const Json& json, const HfPlace& place, const std::string& type) {
  if (!type.empty()) {
    return place.error(place.at("model_type"), say("error.config.type", in_quotes(type)),
                       say("error.config.type.remedy"));
  }
  const bool has_key = json.contains("model_type");
  return place.error(place.at("model_type"), has_key ? is_kind(json.at("model_type")) : say("error.missing"),
                     say("error.config.model_type.remedy"));
}

Result<HfModel> read_family(const Json& json, const HfPlace& place, const HfFamily& family) {
  HfReader in(json, place);
  HfModel out;
  out.model_type = std::string(family.type);
  TransformerShape& m = out.shape;
  if (in.flag("is_encoder_decoder", false))
    in.fail("model_type", say("error.config.encoder", in_quotes(family.type)), say("error.config.encoder.remedy"));
  read_sizes(in, family, m);
  m.norms_per_layer = family.norms_per_layer;
  for (const HfFlag& flag : family.flags) {
    m.*flag.member = flag.key.empty() ? flag.value : in.flag(flag.key, flag.value);
    const std::string said = std::string(flag.key) + " is not given: " + word(flag.value);
    if (!flag.key.empty() && !in.has(flag.key) &&
        std::find(in.notes().begin(), in.notes().end(), said) == in.notes().end())
      in.note(said);
  }
  for (const HfStep step : family.steps)
    if (step != nullptr && !in.failed()) step(in, family.defaults, m);
  if (!in.failed()) read_layer_types(in, m);
  if (in.has("num_nextn_predict_layers") && in.count("num_nextn_predict_layers", 0, 1000) > 0)
    in.note("num_nextn_predict_layers: layers that predict further tokens are left out");
  if (!in.failed())
    if (const auto fault = engine::model_fault(m))
      in.fail(fault->field,
              say("error.config.impossible", fmt::format("{:g}", fault->value), fmt::format("{:g}", fault->limit)),
              say("error.config.impossible.remedy", fmt::format("{:g}", fault->remedy.front().value)));
  if (in.failed()) return *in.failure();
  m.name = model_name(in, place.file);
  out.notes = std::move(in.notes());
  return out;
}

}  // namespace

bool is_hf_config(const Json& json) {
  return json.is_object() && !json.contains("format") &&
         (json.contains("model_type") || json.contains("architectures"));
}

bool is_hf_config(std::string_view text) {
  const auto json = parse_json(text, {});
  return json && is_hf_config(json.value());
}

Result<HfModel> read_hf_json(const Json& json, const HfPlace& place) {
  if (!json.is_object()) return place.error(place.path, is_kind(json), say("error.config.remedy"));
  const std::string type = text_member(json, "model_type");
  const HfFamily* family = type.empty() ? find_architecture(json) : find_family(type);
  const auto inner = json.find("text_config");
  // A model of several parts whose text model is told of on its own; older files have its sizes beside the other parts.
  const bool has_parts = inner != json.end() && inner->is_object() &&
                         (family == nullptr || find_family(text_member(*inner, "model_type")) != nullptr);
  Result<HfModel> read = unknown_type(json, place, type);
  if (family != nullptr && !has_parts) {
    read = read_family(json, place, *family);
  } else if (has_parts) {
    const HfPlace inside{place.file, place.at("text_config")};
    const std::string inner_type = text_member(*inner, "model_type");
    const HfFamily* text_family = find_family(inner_type);
    if (text_family == nullptr) return unknown_type(*inner, inside, inner_type);
    read = read_family(*inner, inside, *text_family);
    if (read)
      read->notes.insert(read->notes.begin(),
                         "only text_config is read: the other parts of " + in_quotes(type) + " are left out");
  }
  if (!read) return read;
  read->stored = read_hf_stored(json);
  if (!read->stored && has_parts) read->stored = read_hf_stored(*inner);
  TransformerShape& m = read->shape;
  m.source = "config.json of Hugging Face, model_type " + read->model_type;
  for (std::size_t i = 0; i < read->notes.size(); ++i) m.source += (i == 0 ? ": " : "; ") + read->notes[i];
  return read;
}

Result<HfModel> read_hf_config(std::string_view text, std::string_view file) {
  const auto json = parse_json(text, file);
  if (!json) return json.error();
  return read_hf_json(json.value(), HfPlace{file, {}});
}

}  // namespace roofscape::io
