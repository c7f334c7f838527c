#include "engine/io/presets/calibration_json.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/io/presets/parts_json.h"
#include "engine/io/presets/resources.h"

namespace roofscape::io {

using engine::say;
using engine::Sentence;

namespace {

using engine::Calibration;
using engine::CalibrationRow;
using engine::kCalibrationRows;

Sentence remedy_of(const CalibrationRow& row) {
  return say("error.number.between", fmt::format("{:g}", row.least), fmt::format("{:g}", row.most));
}

// Writes the values of one object into some of the stacks.
Failure read_values(const Json& json, const std::string& path, std::string_view file, CalibrationFile& out,
                    std::size_t first, std::size_t last) {
  const auto fail = [&](std::string where, Sentence message, Sentence remedy = {}) {
    return InputError{std::string(file), std::move(where), std::move(message), std::move(remedy)};
  };
  if (!json.is_object()) return fail(path, is_kind(json), say("error.calibration.parameters.remedy"));
  std::vector<std::string_view> known;
  for (const CalibrationRow& row : kCalibrationRows) known.push_back(row.id);
  for (const auto& member : json.items()) {
    const std::string where = path + "." + member.key();
    const auto row = std::find_if(kCalibrationRows.begin(), kCalibrationRows.end(),
                                  [&](const CalibrationRow& r) { return r.id == member.key(); });
    if (row == kCalibrationRows.end())
      return fail(where, say("error.calibration.unknown_parameter"), did_you_mean(member.key(), known));
    if (!member.value().is_object())
      return fail(where, is_kind(member.value()), say("error.calibration.value.remedy"));
    const auto value = member.value().find("value");
    if (value == member.value().end() || !value->is_number())
      return fail(where + ".value", say("error.no_number"), remedy_of(*row));
    const double number = value->get<double>();
    if (!(number >= row->least) || number > row->most)
      return fail(where + ".value", say("error.out_of_range", value->dump()), remedy_of(*row));
    double start = number;
    if (const auto begin = member.value().find("start"); begin != member.value().end()) {
      if (!begin->is_number() || !(begin->get<double>() >= row->least) || begin->get<double>() > row->most)
        return fail(where + ".start", say("error.out_of_range", shown(*begin)), remedy_of(*row));
      start = begin->get<double>();
      SearchedValue& searched = out.searched.emplace_back(SearchedValue{
          static_cast<std::size_t>(row->parameter), last - first == 1 ? first : engine::kSoftwareStacks, {}});
      for (std::size_t s = first; s < last; ++s) searched.of[s] = true;
    }
    if (last - first == 1)  // a stack with a value of its own does not follow the others
      for (SearchedValue& all : out.searched)
        if (all.stack == engine::kSoftwareStacks && all.parameter == static_cast<std::size_t>(row->parameter))
          all.of[first] = false;
    for (std::size_t s = first; s < last; ++s) {
      out.calibration.stacks[s][row->parameter] = number;
      out.start.stacks[s][row->parameter] = start;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<CalibrationFile> read_calibration(std::string_view text, std::string_view file, std::string_view id,
                                         const std::function<const Calibration*(std::string_view)>& parent) {
  const auto json = parse_json(text, file);
  if (!json) return json.error();
  const auto fail = [&](std::string where, Sentence message, Sentence remedy = {}) {
    return InputError{std::string(file), std::move(where), std::move(message), std::move(remedy)};
  };
  if (!json->is_object()) return fail({}, is_kind(json.value()), say("error.calibration.remedy"));
  constexpr std::string_view kKnown[] = {"format", "version",  "name",       "source",
                                         "chips",  "inherits", "parameters", "stacks"};
  for (const auto& member : json->items())
    if (std::find(std::begin(kKnown), std::end(kKnown), member.key()) == std::end(kKnown))
      return fail(member.key(), say("error.unknown_field"), did_you_mean(member.key(), kKnown));
  CalibrationFile out;
  out.id = std::string(id);
  out.name = text_member(json.value(), "name");
  out.source = text_member(json.value(), "source");
  out.inherits = text_member(json.value(), "inherits");
  if (const auto chips = json->find("chips"); chips != json->end()) {
    if (!chips->is_array()) return fail("chips", is_kind(*chips), say("error.calibration.chips.remedy"));
    for (std::size_t i = 0; i < chips->size(); ++i) {
      if (!(*chips)[i].is_string())
        return fail("chips." + std::to_string(i), say("error.is_no_text"), say("error.calibration.chip.remedy"));
      out.chips.push_back((*chips)[i].get<std::string>());
    }
  }
  if (!out.inherits.empty()) {
    const Calibration* base = parent(out.inherits);
    if (base == nullptr) return fail("inherits", say("error.calibration.none", in_quotes(out.inherits)));
    out.calibration = out.start = *base;
  }
  out.calibration.source = std::string(file);
  if (const auto values = json->find("parameters"); values != json->end())
    if (auto failure = read_values(*values, "parameters", file, out, 0, engine::kSoftwareStacks)) return *failure;
  if (const auto stacks = json->find("stacks"); stacks != json->end()) {
    if (!stacks->is_object()) return fail("stacks", is_kind(*stacks), say("error.calibration.stacks.remedy"));
    for (const auto& member : stacks->items()) {
      const auto stack = engine::kSoftwareStackIds.parse(member.key());
      if (!stack)
        return fail("stacks." + member.key(), say("error.calibration.unknown_software"),
                    did_you_mean(member.key(), engine::kSoftwareStackIds));
      const auto s = static_cast<std::size_t>(*stack);
      if (auto failure = read_values(member.value(), "stacks." + member.key(), file, out, s, s + 1)) return *failure;
    }
  }
  return out;
}

Result<std::string> rewrite_calibration(std::string_view text, std::string_view file, const Calibration& fitted,
                                        std::string_view origin) {
  OrderedJson json = OrderedJson::parse(text, nullptr, false);
  if (json.is_discarded()) return InputError{std::string(file), {}, say("error.calibration.no_json")};
  const auto put = [&](OrderedJson& values, const engine::CalibrationValues& from) {
    for (const CalibrationRow& row : kCalibrationRows) {
      const auto member = values.find(std::string(row.id));
      if (member == values.end() || !member->contains("start")) continue;
      (*member)["value"] = number_json(from[row.parameter]);
      (*member)["source"] = std::string(origin);
    }
  };
  if (json.contains("parameters")) put(json["parameters"], fitted.stacks[0]);
  if (json.contains("stacks"))
    for (std::size_t s = 0; s < engine::kSoftwareStacks; ++s)
      if (const std::string id(engine::kSoftwareStackIds.ids()[s]); json["stacks"].contains(id))
        put(json["stacks"][id], fitted.stacks[s]);
  return json.dump(2) + "\n";
}

std::string_view shipped_calibration_text(std::string_view id) {
  return embedded_text("presets/calibration/" + std::string(id) + ".json");
}

std::vector<CalibrationFile> shipped_calibrations(std::vector<InputError>& problems) {
  constexpr std::string_view kFolder = "presets/calibration/";
  std::vector<CalibrationFile> out;
  const auto parent = [&out](std::string_view id) -> const Calibration* {
    for (const CalibrationFile& file : out)
      if (file.id == id) return &file.calibration;
    return nullptr;
  };
  struct Waiting {
    std::string id, inherits;
    std::string_view path, text;
  };
  std::vector<Waiting> waiting;
  for (const Resource& resource : embedded_resources()) {
    if (!resource.path.starts_with(kFolder)) continue;
    const auto json = parse_json(resource.text, resource.path);
    waiting.push_back({std::filesystem::path(resource.path).stem().string(),
                       json ? text_member(json.value(), "inherits") : std::string(), resource.path, resource.text});
  }
  // Parents first; what is left when none can be read any more waits for one that is not there.
  for (bool progress = true; progress && !waiting.empty();) {
    progress = false;
    for (std::size_t i = 0; i < waiting.size();) {
      const Waiting& next = waiting[i];
      if (!next.inherits.empty() && parent(next.inherits) == nullptr) {
        ++i;
        continue;
      }
      auto file = read_calibration(next.text, next.path, next.id, parent);
      if (file)
        out.push_back(std::move(file).value());
      else
        problems.push_back(file.error());
      waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
      progress = true;
    }
  }
  for (const Waiting& left : waiting)
    problems.push_back({std::string(left.path), "inherits", say("error.calibration.none", in_quotes(left.inherits))});
  return out;
}

}  // namespace roofscape::io
