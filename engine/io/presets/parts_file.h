// Parts that are named by a text: a preset's id, or the path of a JSON file beside the one that names it. For the
// .cpp files of engine/io.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/io/json/json_text.h"
#include "engine/io/presets/parts_json.h"
#include "engine/io/presets/preset_json.h"

namespace roofscape::io {

// A name that can only be a file: it ends in ".json" or has a folder in it.
inline bool looks_like_file(std::string_view name) {
  return name.ends_with(".json") || name.find('/') != std::string_view::npos;
}

// Calls `take` with what a name that is no preset's id refers to: the part itself where the name is one, else what
// stands in that file. An error names the nearest preset.
Failure find_named_part(const std::string& name, PresetKind kind, const PartContext& context,
                        const std::function<void(const Json&, const PartContext&)>& take);

// The part that `reader` makes of it.
template <class Part, class Reader>
Result<Part> read_named_part(const std::string& name, PresetKind kind, const PartContext& context, Reader reader) {
  std::optional<Result<Part>> part;
  if (auto failure = find_named_part(name, kind, context,
                                     [&](const Json& json, const PartContext& inner) { part = reader(json, inner); }))
    return *std::move(failure);
  return *std::move(part);
}

Result<engine::Chip> resolve_chip(const Json& json, const PartContext& context);

}  // namespace roofscape::io
