#include "engine/io/presets/parts_file.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/io/json/files.h"

namespace roofscape::io {

Failure find_named_part(const std::string& name, PresetKind kind, const PartContext& context,
                        const std::function<void(const Json&, const PartContext&)>& take) {
  if (name.starts_with('{')) {  // the part itself
    const auto inline_part = parse_json(name, context.file);
    if (!inline_part) return inline_part.error();
    take(inline_part.value(), context);
    return std::nullopt;
  }
  if (!looks_like_file(name)) {
    const InputError error = context.library.not_meant(kind, name);
    return context.error(context.path, error.message, error.remedy);
  }
  const std::filesystem::path path = context.folder / std::filesystem::path(name);
  const auto text = read_file(path);
  if (!text)
    return context.error(context.path,
                         engine::say("error.unreadable_inside", in_quotes(path.string()), text.error().message),
                         text.error().remedy);
  const std::string file = path.string();
  const auto json = parse_json(text.value(), file);
  if (!json) return json.error();
  take(json.value(), PartContext{file, {}, context.library, path.parent_path(), path.stem().string()});
  return std::nullopt;
}

}  // namespace roofscape::io
