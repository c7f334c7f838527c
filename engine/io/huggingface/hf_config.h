// A model's config.json in the form of Hugging Face transformers, read as the shape of the model. Which keys a model
// type has, what its class takes for those that are missing and which parts it has, is a table (hf_families.cpp); a
// type that is not in it is an error that names it, never a guess. Sizes that a file has to state are errors when
// they are missing, even where the class has a default: a file with other names for its keys would else come out as
// another model.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/json/result.h"
#include "engine/scenario/scenario.h"
#include "engine/scenario/transformer_shape.h"

namespace roofscape::io {

// The formats of a checkpoint, as a server reads and multiplies them. weights none: the method is not known.
struct HfStored {
  engine::Dtype weights = engine::Dtype::none, compute = engine::Dtype::bf16;
  engine::Dtype kv_cache = engine::Dtype::none;  // none: the checkpoint does not say
  std::string written;                           // "mxfp4", "modelopt nvfp4"
};

struct HfModel {
  engine::TransformerShape shape;  // its source says which defaults were taken
  std::string model_type;
  std::optional<HfStored> stored;  // its quantization_config; none: 16 bits
  std::vector<std::string> notes;  // in English: what was not in the file, or is left out of the model
};

// Whether a text is such a config (and no scenario or preset of ours); false for what is not JSON.
bool is_hf_config(std::string_view text);

// `file` is for messages and, where the config names no model, for its name.
Result<HfModel> read_hf_config(std::string_view text, std::string_view file);

}  // namespace roofscape::io
