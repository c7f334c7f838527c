// Chips as JSON.
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/io/presets/parts_json.h"
#include "engine/scenario/domains.h"

namespace roofscape::io {

using engine::say;
using engine::Sentence;

namespace {

using engine::Chip;
using engine::ChipFieldRow;
using engine::Sourced;

Failure read_value(const ChipFieldRow& row, const Json& json, const std::string& where, std::string_view file,
                   Sourced& out) {
  if (json.is_null()) return std::nullopt;
  const auto fail = [&](Sentence message) {
    return InputError{std::string(file), where, std::move(message),
                      engine::is_whole(row) ? say("error.chip.whole_figure") : say("error.chip.figure")};
  };
  if (!json.is_number()) return fail(say("error.not_a_number", shown(json)));
  const double number = json.get<double>();
  if (!(number > 0) || number > engine::largest(row)) return fail(say("error.out_of_range", json.dump()));
  if (engine::is_whole(row) && number != std::floor(number)) return fail(say("error.not_whole", json.dump()));
  out.value = number;
  return std::nullopt;
}

Failure read_figure(const ChipFieldRow& row, const Json& json, const PartContext& context, Sourced& out) {
  const std::string where = context.at(row.id);
  const Json* value = &json;
  if (json.is_object()) {
    constexpr std::string_view kMembers[] = {"value", "source", "assumed"};
    const PartContext inner = context.inner(row.id);
    if (auto failure = check_members(json, kMembers, inner)) return failure;
    if (auto failure = read_text(json, "source", inner, out.source)) return failure;
    if (const auto found = json.find("assumed"); found != json.end()) {
      if (!found->is_boolean())
        return inner.error(inner.at("assumed"), say("error.not_boolean", shown(*found)),
                           say("error.expected.boolean"));
      out.assumed = found->get<bool>();
    }
    const auto found = json.find("value");
    if (found == json.end())
      return context.error(where, say("error.chip.no_value"), say("error.chip.no_value.remedy"));
    value = &*found;
  }
  return read_value(row, *value, where, context.file, out);
}

Failure read_pod(const Json& json, const PartContext& context, std::array<int, 3>& pod) {
  const std::string where = context.at("pod_shape");
  if (!json.is_array() || json.empty() || json.size() > 3)
    return context.error(where, is_kind(json), say("error.chip.pod.remedy"));
  pod = {1, 1, 1};
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (!json[i].is_number_integer() || json[i] < 1 || json[i] > engine::kMostPodChips)
      return context.error(where + "." + std::to_string(i), say("error.out_of_range", shown(json[i])),
                           say("error.number.whole_between", 1, engine::kMostPodChips));
    pod[i] = json[i].get<int>();
  }
  return std::nullopt;
}

}  // namespace

Result<Chip> read_chip(const Json& json, const PartContext& context) {
  if (!json.is_object()) return context.error(context.path, is_kind(json), say("error.chip.remedy"));
  std::vector<std::string_view> known{"format",       "version",   "id",         "name",   "vendor",
                                      "interconnect", "pod_shape", "pod_source", "aliases"};
  for (const ChipFieldRow& row : engine::kChipFields) known.push_back(row.id);
  if (auto failure = check_members(json, known, context)) return *failure;
  if (auto failure = check_format(json, "roofscape/chip", context)) return *failure;

  Chip chip;
  chip.id = std::string(context.id);
  if (auto failure = read_text(json, "name", context, chip.name)) return *failure;
  if (auto failure = read_text(json, "vendor", context, chip.vendor)) return *failure;
  if (auto failure = read_text(json, "pod_source", context, chip.pod_source)) return *failure;
  if (context.id.empty())
    if (auto failure = read_text(json, "id", context, chip.id)) return *failure;
  const auto interconnect = json.find("interconnect");
  if (interconnect == json.end())
    return context.error(context.at("interconnect"), say("error.missing"), say("error.chip.interconnect.remedy"));
  if (*interconnect == "torus")
    chip.interconnect = engine::Interconnect::torus;
  else if (*interconnect == "switched")
    chip.interconnect = engine::Interconnect::switched;
  else
    return context.error(context.at("interconnect"), say("error.not_known", shown(*interconnect)),
                         say("error.chip.interconnect.remedy"));
  if (const auto pod = json.find("pod_shape"); pod != json.end() && !pod->is_null())
    if (auto failure = read_pod(*pod, context, chip.pod_shape)) return *failure;
  for (const ChipFieldRow& row : engine::kChipFields) {
    const auto found = json.find(row.id);
    if (found == json.end())
      chip[row.field].source = "not given";
    else if (auto failure = read_figure(row, *found, context, chip[row.field]))
      return *failure;
  }
  // A chip written out by hand is calibrated as the preset it says it is.
  if (const Chip* preset = context.library.find_chip(chip.id)) chip.calibration = preset->calibration;
  return chip;
}

Failure read_chip_figure(const ChipFieldRow& row, const Json& json, std::string where, Chip& chip) {
  Sourced figure;
  if (auto failure = read_value(row, json, where, {}, figure)) return failure;
  figure.source = std::string(engine::kSetByHand);
  chip[row.field] = std::move(figure);
  return std::nullopt;
}

OrderedJson chip_json(const Chip& chip, const PresetLibrary& library) {
  if (const Chip* preset = library.find_chip(chip.id); preset != nullptr && *preset == chip) return chip.id;
  OrderedJson json;
  if (!chip.id.empty()) json["id"] = chip.id;
  json["name"] = chip.name;
  json["vendor"] = chip.vendor;
  const bool torus = chip.interconnect == engine::Interconnect::torus;
  json["interconnect"] = torus ? "torus" : "switched";
  if (chip.pod_shape != std::array<int, 3>{1, 1, 1}) json["pod_shape"] = chip.pod_shape;
  if (!chip.pod_source.empty()) json["pod_source"] = chip.pod_source;
  for (const ChipFieldRow& row : engine::kChipFields) {
    const Sourced& figure = chip[row.field];
    OrderedJson entry;
    entry["value"] = figure.value ? number_json(*figure.value) : OrderedJson(nullptr);
    entry["source"] = figure.source;
    if (figure.assumed) entry["assumed"] = true;
    json[std::string(row.id)] = std::move(entry);
  }
  return json;
}

}  // namespace roofscape::io
