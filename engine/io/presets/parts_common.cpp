// Members and texts: what the readers of chip, model, cluster and scenario share.
#include <nlohmann/json.hpp>

#include "engine/io/json/nearest.h"
#include "engine/io/presets/parts_json.h"

namespace roofscape::io {

Failure check_members(const Json& object, std::span<const std::string_view> known, const PartContext& context) {
  for (const auto& member : object.items()) {
    bool found = false;
    for (const std::string_view name : known) found = found || name == member.key();
    if (!found)
      return context.error(context.at(member.key()), engine::say("error.unknown_field"),
                           did_you_mean(member.key(), known));
  }
  return std::nullopt;
}

Failure check_format(const Json& object, std::string_view format, std::string_view file) {
  const auto error = [file](const char* member, engine::Sentence message, engine::Sentence remedy) {
    return InputError{std::string(file), member, std::move(message), std::move(remedy)};
  };
  if (const auto found = object.find("format"); found != object.end() && *found != Json(std::string(format)))
    return error("format", engine::say("error.is", shown(*found)),
                 engine::say("error.expected.this", in_quotes(format)));
  if (const auto found = object.find("version"); found != object.end()) {
    if (!found->is_number_integer() || *found < 1)
      return error("version", engine::say("error.is", shown(*found)), engine::say("error.expected.this", 1));
    if (*found > 1)
      return error("version", engine::say("error.newer", shown(*found)), engine::say("error.newer.remedy"));
  }
  return std::nullopt;
}
Failure check_format(const Json& object, std::string_view format, const PartContext& context) {
  Failure failure = check_format(object, format, context.file);
  if (failure) failure->path = context.at(failure->path);
  return failure;
}

Failure read_text(const Json& object, std::string_view key, const PartContext& context, std::string& out) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  if (!found->is_string())
    return context.error(context.at(key), engine::say("error.is_not_text", kind_of(*found)),
                         engine::say("error.text.remedy"));
  out = found->get<std::string>();
  return std::nullopt;
}

}  // namespace roofscape::io
