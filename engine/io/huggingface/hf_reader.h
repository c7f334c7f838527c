// Reading one config of Hugging Face key by key. For the .cpp files of engine/io.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/io/huggingface/hf_config.h"
#include "engine/io/json/field_json.h"
#include "engine/io/json/json_text.h"
#include "engine/scenario/transformer_shape.h"

namespace roofscape::io {

// Looks like a config of Hugging Face, not like a file of ours.
bool is_hf_config(const Json& json);

// The file that is read, and where in it.
struct HfPlace {
  std::string_view file;
  std::string path;

  std::string at(std::string_view key) const {
    return path.empty() ? std::string(key) : path + "." + std::string(key);
  }
  InputError error(std::string where, engine::Sentence message, engine::Sentence remedy = {}) const {
    return {std::string(file), std::move(where), std::move(message), std::move(remedy)};
  }
};
Result<HfModel> read_hf_json(const Json& json, const HfPlace& place);
std::optional<HfStored> read_hf_stored(const Json& json);

// One config (or the text_config inside one). The first thing that is wrong is kept; everything after it reads as
// zero.
class HfReader {
 public:
  HfReader(const Json& json, const HfPlace& place) : json_(json), place_(place) {}

  // Keys may be several names of one thing, "n_layer|num_hidden_layers"; the first that is there counts. One may lie
  // inside another, "attn_config.alibi".
  bool has(std::string_view keys) const { return find(keys) != nullptr; }  // and is not null
  bool is_null(std::string_view key) const;
  bool is(std::string_view keys, int value) const;
  // A size of the field table's domain; `fallback` where it is missing or null, an error if there is none. A list that
  // has the same number for each layer is that number.
  int size(std::string_view field, std::string_view keys, std::optional<int> fallback);
  int count(std::string_view keys, int fallback, int maximum);  // a whole number from 0; for what no field stands for
  bool flag(std::string_view keys, bool fallback);
  std::string text(std::string_view keys) const;
  const Json* list(std::string_view key);  // null if there is none

  void fail(std::string_view key, engine::Sentence message, engine::Sentence remedy = {});
  void note(std::string text) { notes_.push_back(std::move(text)); }
  bool failed() const { return failure_.has_value(); }
  const Failure& failure() const { return failure_; }
  std::vector<std::string>& notes() { return notes_; }

 private:
  const Json* find(std::string_view keys, std::string* name = nullptr) const;
  const Json* member(std::string_view key) const;  // null if there is none

  const Json& json_;
  const HfPlace& place_;
  Failure failure_;
  std::vector<std::string> notes_;
};

// Names of the sizes every model has. Empty: this type has no such key.
struct HfKeys {
  std::string_view layers, width, ff, heads, kv_heads, head_dim, context;
};
struct HfFlag {
  bool engine::TransformerShape::*member;
  std::string_view key;  // empty: all models of this type are so
  bool value;            // where the key is missing
};
// What a class takes for sizes that are missing. 0: kv_heads as many as heads, head_dim width / heads, the others are
// errors.
struct HfDefaults {
  int heads = 0, kv_heads = 0, head_dim = 0, vocab = 0;
  int ff_times_width = 0;  // ff as a multiple of the width
  int window = 0;          // 0: none
  int window_group = 6;    // layers of which the last is global, where windows come in groups
  int dense_layers = 0;    // before those with experts
  int shared_experts = 0;
};
using HfStep = void (*)(HfReader&, const HfDefaults&, engine::TransformerShape&);

struct HfFamily {
  std::string_view type;          // model_type
  std::string_view architecture;  // of files without a model_type
  const HfKeys* keys;
  HfDefaults defaults;
  std::span<const HfFlag> flags;
  int norms_per_layer;
  HfStep steps[2];  // experts, windows and what else is particular; null: nothing
};
std::span<const HfFamily> hf_families();

}  // namespace roofscape::io
