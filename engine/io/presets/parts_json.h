// The parts of a scenario as JSON: chip, model, cluster, and single fields of the table. For the .cpp files of
// engine/io.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/json/field_json.h"
#include "engine/io/json/json_text.h"
#include "engine/io/json/nearest.h"
#include "engine/io/presets/preset_library.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::io {

// Where a part is being read: for messages, and to find what it names.
struct PartContext {
  std::string_view file;
  std::string path;  // of the part in its file; empty at the top
  const PresetLibrary& library;
  std::filesystem::path folder;  // of the file, for parts that are files of their own
  std::string_view id;           // of a preset; empty for inline parts

  std::string at(std::string_view member) const {
    return path.empty() ? std::string(member) : path + "." + std::string(member);
  }
  PartContext inner(std::string_view member) const { return {file, at(member), library, folder, {}}; }
  InputError error(std::string where, engine::Sentence message, engine::Sentence remedy = {}) const {
    return {std::string(file), std::move(where), std::move(message), std::move(remedy)};
  }
};

Result<engine::Chip> read_chip(const Json& json, const PartContext& context);
Result<engine::TransformerShape> read_model(const Json& json, const PartContext& context);
Result<engine::Cluster> read_cluster(const Json& json, const PartContext& context);

OrderedJson chip_json(const engine::Chip& chip, const PresetLibrary& library);
OrderedJson model_json(const engine::TransformerShape& model, const PresetLibrary& library);
OrderedJson cluster_json(const engine::Cluster& cluster, const PresetLibrary& library);

// A figure of a chip, changed by hand; its source then says so.
Failure read_chip_figure(const engine::ChipFieldRow& row, const Json& json, std::string where, engine::Chip& chip);

// The first member of an object that is not among the known ones, as an error that names the nearest.
Failure check_members(const Json& object, std::span<const std::string_view> known, const PartContext& context);
// "format" and "version", if they are there.
Failure check_format(const Json& object, std::string_view format, const PartContext& context);
Failure check_format(const Json& object, std::string_view format, std::string_view file);  // of a whole file
Failure read_text(const Json& object, std::string_view key, const PartContext& context, std::string& out);

}  // namespace roofscape::io
