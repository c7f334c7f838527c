#include "engine/io/presets/calibration_origin.h"

#include <map>
#include <nlohmann/json.hpp>

#include "engine/io/presets/resources.h"

namespace roofscape::io {

struct CalibrationOrigins::Files {
  std::map<std::string, nlohmann::json, std::less<>> read;

  const nlohmann::json& operator[](const std::string& file) {
    const auto [place, is_new] = read.try_emplace(file);
    if (is_new) place->second = nlohmann::json::parse(embedded_text(file), nullptr, false);
    return place->second;
  }
};

CalibrationOrigins::CalibrationOrigins() : files_(std::make_shared<Files>()) {}

std::optional<CalibrationOrigin> CalibrationOrigins::find(std::string_view source, engine::SoftwareStack stack,
                                                          engine::Calibrated parameter) {
  const std::string id(engine::kCalibrationRows[static_cast<std::size_t>(parameter)].id);
  const std::string stack_id(engine::kSoftwareStackIds[stack]);
  std::string file(source);
  // A file inherits from one that inherits from none; the limit is for files that are wrong.
  for (int generation = 0; generation < 3; ++generation) {
    const nlohmann::json& json = (*files_)[file];
    if (!json.is_object()) return std::nullopt;
    const nlohmann::json* member = nullptr;
    const bool heir =
        !json.contains("inherits") && !json.contains(nlohmann::json::json_pointer("/stacks/" + stack_id));
    const engine::SoftwareStack from = heir ? engine::forerunner(stack) : stack;
    if (from != stack && engine::starts_layers(parameter)) return std::nullopt;
    for (const auto& at :
         {nlohmann::json::json_pointer("/stacks/" + std::string(engine::kSoftwareStackIds[from]) + "/" + id),
          nlohmann::json::json_pointer("/parameters/" + id)})
      if (member == nullptr && json.contains(at) && json.at(at).is_object()) member = &json.at(at);
    if (member == nullptr) {
      const auto parent = json.find("inherits");
      if (parent == json.end() || !parent->is_string()) return std::nullopt;
      file = "presets/calibration/" + parent->get<std::string>() + ".json";
      continue;
    }
    CalibrationOrigin out;
    out.file = file;
    out.searched = member->contains("start");
    if (const auto text = member->find("source"); text != member->end() && text->is_string())
      out.statement = text->get<std::string>();
    if (out.searched)
      out.decided = {member->value("runs", std::size_t{0}), member->value("sources", std::size_t{0}),
                     member->value("low", 0.0), member->value("high", 0.0)};
    return out;
  }
  return std::nullopt;
}

}  // namespace roofscape::io
