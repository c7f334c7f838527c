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
using Stacks = decltype(SearchedValue::of);

// All of them.
Stacks all_stacks() {
  Stacks out;
  out.fill(true);
  return out;
}

// A stack, and those whose forerunner it is and of which the file, which inherits from none, has nothing.
Stacks with_heirs(std::size_t stack, const Json& stacks, bool inherits) {
  Stacks out{};
  for (std::size_t s = 0; s < engine::kSoftwareStacks; ++s) {
    const auto before = static_cast<std::size_t>(engine::forerunner(static_cast<engine::SoftwareStack>(s)));
    out[s] = s == stack || (before == stack && !inherits && !stacks.contains(engine::kSoftwareStackIds.ids()[s]));
  }
  return out;
}

Sentence remedy_of(const CalibrationRow& row) {
  return say("error.number.between", fmt::format("{:g}", row.least), fmt::format("{:g}", row.most));
}

// Writes the values of one object into the stacks that have them, which are named by one, or by none (kSoftwareStacks).
Failure read_values(const Json& json, const std::string& path, std::string_view file, CalibrationFile& out,
                    std::size_t named, const Stacks& stacks) {
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
    Stacks of = stacks;
    if (named < engine::kSoftwareStacks && engine::starts_layers(row->parameter))
      for (std::size_t s = 0; s < engine::kSoftwareStacks; ++s) of[s] = s == named;
    double start = number;
    if (const auto begin = member.value().find("start"); begin != member.value().end()) {
      if (!begin->is_number() || !(begin->get<double>() >= row->least) || begin->get<double>() > row->most)
        return fail(where + ".start", say("error.out_of_range", shown(*begin)), remedy_of(*row));
      start = begin->get<double>();
      out.searched.push_back({static_cast<std::size_t>(row->parameter), named, of});
      Decided& decided = out.decided.emplace_back();
      const auto number_of = [&](const char* key) {
        const auto found = member.value().find(key);
        return found != member.value().end() && found->is_number() ? found->get<double>() : 0.0;
      };
      decided = {static_cast<std::size_t>(std::max(0.0, number_of("runs"))),
                 static_cast<std::size_t>(std::max(0.0, number_of("sources"))), number_of("low"), number_of("high")};
    }
    if (named < engine::kSoftwareStacks)  // stacks with a value of their own do not follow the others
      for (SearchedValue& all : out.searched)
        if (all.stack == engine::kSoftwareStacks && all.parameter == static_cast<std::size_t>(row->parameter))
          for (std::size_t s = 0; s < engine::kSoftwareStacks; ++s) all.of[s] = all.of[s] && !of[s];
    for (std::size_t s = 0; s < engine::kSoftwareStacks; ++s) {
      if (!of[s]) continue;
      out.calibration.stacks[s][row->parameter] = number;
      out.start.stacks[s][row->parameter] = start;
    }
  }
  return std::nullopt;
}

// As "left_out" names a searched value.
std::string searched_name(const SearchedValue& value) {
  const std::string parameter(kCalibrationRows[value.parameter].id);
  return value.stack < engine::kSoftwareStacks
             ? std::string(engine::kSoftwareStackIds.ids()[value.stack]) + "." + parameter
             : parameter;
}

void put(Calibration& calibration, const SearchedValue& value, double x) {
  for (std::size_t s = 0; s < engine::kSoftwareStacks; ++s)
    if (value.of[s]) calibration.stacks[s].values[value.parameter] = x;
}

double of(const Calibration& calibration, const SearchedValue& value) {
  const auto first = std::find(value.of.begin(), value.of.end(), true);
  return first == value.of.end()
             ? 0
             : calibration.stacks[static_cast<std::size_t>(first - value.of.begin())].values[value.parameter];
}

// The calibrations without some runs: the parent's, where it has one of that name, with the file's values in it.
Failure read_left_out(const Json& json, std::string_view file, const CalibrationFile* parent, CalibrationFile& out) {
  const auto fail = [&](std::string where, Sentence message, Sentence remedy = {}) {
    return InputError{std::string(file), "left_out" + std::move(where), std::move(message), std::move(remedy)};
  };
  const auto put_own = [&out](Calibration& into, const Calibration& from) {
    for (const SearchedValue& value : out.searched) put(into, value, of(from, value));
    into.source = out.calibration.source;
  };
  if (parent != nullptr)
    for (std::size_t kind = 0; kind < kLeftOutKinds; ++kind)
      for (const auto& [name, calibration] : parent->left_out[kind]) {
        Calibration own = calibration;
        for (std::size_t s = 0; s < engine::kSoftwareStacks; ++s)
          for (std::size_t p = 0; p < kCalibrationRows.size(); ++p)
            if (out.calibration.stacks[s].values[p] != parent->calibration.stacks[s].values[p])
              own.stacks[s].values[p] = out.calibration.stacks[s].values[p];
        put_own(own, out.calibration);
        out.left_out[kind][name] = std::move(own);
      }
  if (json.is_null()) return std::nullopt;
  const auto values = json.find("values");
  if (!json.is_object() || values == json.end() || !values->is_array()) return fail({}, is_kind(json));
  std::vector<const SearchedValue*> order;
  for (const Json& name : *values) {
    const auto found = std::find_if(out.searched.begin(), out.searched.end(), [&](const SearchedValue& value) {
      return name.is_string() && searched_name(value) == name.get_ref<const std::string&>();
    });
    if (found == out.searched.end()) return fail(".values", say("error.calibration.unknown_parameter"));
    order.push_back(&*found);
  }
  for (std::size_t kind = 0; kind < kLeftOutKinds; ++kind) {
    const std::string id(kLeftOutIds.ids()[kind]);
    const auto groups = json.find(id);
    if (groups == json.end() || !groups->is_object()) continue;
    for (const auto& group : groups->items()) {
      const std::string where = "." + id + "." + group.key();
      if (!group.value().is_array() || group.value().size() != order.size())
        return fail(where, is_kind(group.value()));
      Calibration calibration = out.calibration;
      if (const auto inherited = out.left_out[kind].find(group.key()); inherited != out.left_out[kind].end())
        calibration = inherited->second;
      for (std::size_t i = 0; i < order.size(); ++i) {
        const Json& x = group.value()[i];
        const CalibrationRow& row = kCalibrationRows[order[i]->parameter];
        if (!x.is_number() || !(x.get<double>() >= row.least) || x.get<double>() > row.most)
          return fail(where, say("error.out_of_range", x.dump()), remedy_of(row));
        put(calibration, *order[i], x.get<double>());
      }
      out.left_out[kind][group.key()] = std::move(calibration);
    }
  }
  return std::nullopt;
}

}  // namespace

Result<CalibrationFile> read_calibration(std::string_view text, std::string_view file, std::string_view id,
                                         const std::function<const CalibrationFile*(std::string_view)>& parent) {
  const auto json = parse_json(text, file);
  if (!json) return json.error();
  const auto fail = [&](std::string where, Sentence message, Sentence remedy = {}) {
    return InputError{std::string(file), std::move(where), std::move(message), std::move(remedy)};
  };
  if (!json->is_object()) return fail({}, is_kind(json.value()), say("error.calibration.remedy"));
  constexpr std::string_view kKnown[] = {"format",   "version", "name",       "source", "chips",
                                         "inherits", "pull",    "parameters", "stacks", "left_out"};
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
  const CalibrationFile* base = nullptr;
  if (!out.inherits.empty()) {
    base = parent(out.inherits);
    if (base == nullptr) return fail("inherits", say("error.calibration.none", in_quotes(out.inherits)));
    out.calibration = out.start = base->calibration;
  }
  if (const auto pull = json->find("pull"); pull != json->end() && pull->is_number()) out.pull = pull->get<double>();
  out.calibration.source = std::string(file);
  if (const auto values = json->find("parameters"); values != json->end())
    if (auto failure = read_values(*values, "parameters", file, out, engine::kSoftwareStacks, all_stacks()))
      return *failure;
  if (const auto stacks = json->find("stacks"); stacks != json->end()) {
    if (!stacks->is_object()) return fail("stacks", is_kind(*stacks), say("error.calibration.stacks.remedy"));
    for (const auto& member : stacks->items()) {
      const auto stack = engine::kSoftwareStackIds.parse(member.key());
      if (!stack)
        return fail("stacks." + member.key(), say("error.calibration.unknown_software"),
                    did_you_mean(member.key(), engine::kSoftwareStackIds));
      const auto s = static_cast<std::size_t>(*stack);
      const Stacks of = with_heirs(s, *stacks, base != nullptr);
      if (auto failure = read_values(member.value(), "stacks." + member.key(), file, out, s, of)) return *failure;
    }
  }
  const auto left_out = json->find("left_out");
  if (auto failure = read_left_out(left_out != json->end() ? *left_out : Json(), file, base, out)) return *failure;
  return out;
}

Result<std::string> rewrite_calibration(std::string_view text, const CalibrationFile& file,
                                        const FittedCalibration& fitted) {
  OrderedJson json = OrderedJson::parse(text, nullptr, false);
  if (json.is_discarded()) return InputError{file.id, {}, say("error.calibration.no_json")};
  json["pull"] = number_json(fitted.pull);
  for (std::size_t i = 0; i < file.searched.size(); ++i) {
    const SearchedValue& value = file.searched[i];
    const std::string id(kCalibrationRows[value.parameter].id);
    OrderedJson& member = value.stack < engine::kSoftwareStacks
                              ? json["stacks"][std::string(engine::kSoftwareStackIds.ids()[value.stack])][id]
                              : json["parameters"][id];
    const Decided& decided = fitted.decided[i];
    const double start = member["start"].get<double>();
    OrderedJson written;
    written["value"] = number_json(of(fitted.calibration, value));
    written["start"] = number_json(start);
    if (decided.runs > 0) {
      written["runs"] = decided.runs;
      written["sources"] = decided.sources;
      if (decided.high > decided.low) {
        written["low"] = number_json(decided.low);
        written["high"] = number_json(decided.high);
      }
      written["source"] = "measured";
    } else {
      written["source"] = of(fitted.calibration, value) == start
                              ? "prior"
                              : "prior, lowered until the runs that completed fit in memory";
    }
    member = std::move(written);
  }
  json.erase("left_out");
  // Lists of numbers stand in one line each.
  std::vector<std::string> lists;
  const auto in_one_line = [&lists](const Json& list) {
    lists.push_back(list.dump());
    return fmt::format("@list {}@", lists.size() - 1);
  };
  bool any = false;
  for (const auto& groups : fitted.left_out) any = any || !groups.empty();
  if (any) {
    OrderedJson left_out;
    Json names = Json::array();
    for (const SearchedValue& value : file.searched) names.push_back(searched_name(value));
    left_out["values"] = in_one_line(names);
    for (std::size_t kind = 0; kind < kLeftOutKinds; ++kind)
      for (const auto& [name, calibration] : fitted.left_out[kind]) {
        Json numbers = Json::array();
        for (const SearchedValue& value : file.searched) numbers.push_back(Json(number_json(of(calibration, value))));
        left_out[std::string(kLeftOutIds.ids()[kind])][name] = in_one_line(numbers);
      }
    json["left_out"] = std::move(left_out);
  }
  std::string out = json.dump(2) + "\n";
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const std::string mark = fmt::format("\"@list {}@\"", i);
    out.replace(out.find(mark), mark.size(), lists[i]);
  }
  return out;
}

std::string_view shipped_calibration_text(std::string_view id) {
  return embedded_text("presets/calibration/" + std::string(id) + ".json");
}

std::vector<CalibrationFile> shipped_calibrations(std::vector<InputError>& problems) {
  constexpr std::string_view kFolder = "presets/calibration/";
  std::vector<CalibrationFile> out;
  const auto parent = [&out](std::string_view id) -> const CalibrationFile* {
    for (const CalibrationFile& file : out)
      if (file.id == id) return &file;
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
