// Parts that are named by a text: a preset's id, or the path of a JSON file beside the one that names it. For the
// .cpp files of engine/io.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/io/json/files.h"
#include "engine/io/presets/parts_json.h"
#include "engine/io/presets/preset_json.h"

namespace roofscape::io {

// A name that can only be a file: it ends in ".json" or has a folder in it.
inline bool looks_like_file(std::string_view name) {
  return name.ends_with(".json") || name.find('/') != std::string_view::npos;
}

// What a name that is no preset's id refers to: the part in that file, or an error that names the nearest preset.
template <class Part, class Reader>
Result<Part> read_named_part(const std::string& name, PresetKind kind, const PartContext& context, Reader reader) {
  if (name.starts_with('{')) {  // the part itself
    auto inline_part = parse_json(name, context.file);
    if (!inline_part) return inline_part.error();
    return reader(inline_part.value(), context);
  }
  if (!looks_like_file(name)) {
    const InputError error = context.library.not_meant(kind, name);
    return context.error(context.path, error.message, error.remedy);
  }
  const std::filesystem::path path = context.folder / std::filesystem::path(name);
  auto text = read_file(path);
  if (!text)
    return context.error(context.path,
                         engine::say("error.unreadable_inside", in_quotes(path.string()), text.error().message),
                         text.error().remedy);
  const std::string file = path.string();
  auto json = parse_json(text.value(), file);
  if (!json) return json.error();
  const std::string id = path.stem().string();
  return reader(json.value(), PartContext{file, {}, context.library, path.parent_path(), id});
}

Result<engine::Chip> resolve_chip(const Json& json, const PartContext& context);

}  // namespace roofscape::io
