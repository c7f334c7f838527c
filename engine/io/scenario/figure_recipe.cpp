#include "engine/io/scenario/figure_recipe.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "engine/io/json/json_text.h"
#include "engine/io/json/nearest.h"
#include "engine/io/json/pretty.h"

namespace roofscape::io {
namespace {

struct TextMember {
  std::string_view name;
  std::string RecipeFigure::*member;
  bool file = false;  // relative to the recipe
};
constexpr std::array kTexts{TextMember{"figure", &RecipeFigure::figure},
                            TextMember{"scenario", &RecipeFigure::scenario},
                            TextMember{"output", &RecipeFigure::output, true},
                            TextMember{"baseline", &RecipeFigure::baseline},
                            TextMember{"measured", &RecipeFigure::measured, true},
                            TextMember{"theme", &RecipeFigure::theme},
                            TextMember{"size", &RecipeFigure::size},
                            TextMember{"venue", &RecipeFigure::venue},
                            TextMember{"head", &RecipeFigure::head},
                            TextMember{"caption", &RecipeFigure::caption, true},
                            TextMember{"font", &RecipeFigure::font},
                            TextMember{"text_size", &RecipeFigure::text_size},
                            TextMember{"dpi", &RecipeFigure::dpi},
                            TextMember{"svg_text", &RecipeFigure::svg_text}};
constexpr std::array kLists{std::pair{std::string_view("set"), &RecipeFigure::set},
                            std::pair{std::string_view("with"), &RecipeFigure::with}};
constexpr std::array kFlags{std::pair{std::string_view("bare"), &RecipeFigure::bare},
                            std::pair{std::string_view("svg_tooltips"), &RecipeFigure::svg_tooltips}};

struct Place {
  std::string_view file;
  std::string path;
  InputError error(std::string_view member, engine::Sentence message, engine::Sentence remedy = {}) const {
    std::string at = path;
    if (!member.empty()) at.append(at.empty() ? "" : ".").append(member);
    return {std::string(file), std::move(at), std::move(message), std::move(remedy)};
  }
};

Failure unknown(const Place& place, std::string_view member, std::vector<std::string_view> known) {
  const std::string_view near = nearest_word(member, known);
  return place.error(member, engine::say("error.unknown_field"),
                     near.empty() ? engine::say("error.recipe.known", listed(known)) : did_you_mean(near));
}

Failure read_figure(const Json& json, const Place& place, RecipeFigure& out) {
  if (!json.is_object()) return place.error({}, is_kind(json), engine::say("error.expected.fields"));
  const std::filesystem::path folder = std::filesystem::path(place.file).parent_path();
  for (const auto& [key, value] : json.items()) {
    const auto text =
        std::find_if(kTexts.begin(), kTexts.end(), [&key = key](const TextMember& m) { return m.name == key; });
    const auto list =
        std::find_if(kLists.begin(), kLists.end(), [&key = key](const auto& m) { return m.first == key; });
    const auto flag =
        std::find_if(kFlags.begin(), kFlags.end(), [&key = key](const auto& m) { return m.first == key; });
    if (text != kTexts.end()) {
      if (!value.is_string()) return place.error(key, is_kind(value), engine::say("error.expected.text"));
      std::string words = value.get<std::string>();
      if (text->file && words == "-") return place.error(key, engine::say("error.recipe.standard_output"));
      out.*(text->member) = text->file && !words.empty() ? (folder / words).string() : std::move(words);
    } else if (list != kLists.end()) {
      if (!value.is_array()) return place.error(key, is_kind(value), engine::say("error.expected.texts"));
      std::vector<std::string>& words = out.*(list->second);
      words.clear();
      for (const Json& word : value) {
        if (!word.is_string()) return place.error(key, is_kind(word), engine::say("error.expected.text"));
        words.push_back(word.get<std::string>());
      }
    } else if (flag != kFlags.end()) {
      if (!value.is_boolean()) return place.error(key, is_kind(value), engine::say("error.recipe.flag"));
      out.*(flag->second) = value.get<bool>();
    } else {
      std::vector<std::string_view> known;
      for (const TextMember& m : kTexts) known.push_back(m.name);
      for (const auto& m : kLists) known.push_back(m.first);
      for (const auto& m : kFlags) known.push_back(m.first);
      return unknown(place, key, std::move(known));
    }
  }
  // A scenario is a preset's id or a file.
  for (std::string* const scenario : {&out.scenario, &out.baseline}) {
    std::error_code ignored;
    if (const auto beside = folder / *scenario;
        !scenario->empty() && std::filesystem::is_regular_file(beside, ignored))
      *scenario = beside.string();
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<RecipeFigure>> read_recipe(std::string_view text, std::string_view file) {
  const Place top{file, {}};
  const auto json = parse_json(text, file);
  if (!json) return json.error();
  if (!json->is_object()) return top.error({}, is_kind(json.value()), engine::say("error.recipe.remedy"));
  if (text_member(json.value(), "format") != "roofscape/figures")
    return top.error("format", engine::say("error.recipe"), engine::say("error.recipe.remedy"));
  for (const auto& member : json->items())
    if (constexpr std::array<std::string_view, 4> kKnown{"format", "version", "all", "figures"};
        std::find(kKnown.begin(), kKnown.end(), member.key()) == kKnown.end())
      return *unknown(top, member.key(), {kKnown.begin(), kKnown.end()});
  RecipeFigure common;
  if (json->contains("all"))
    if (auto failure = read_figure(json->at("all"), {file, "all"}, common)) return *failure;
  if (!json->contains("figures") || !json->at("figures").is_array() || json->at("figures").empty())
    return top.error("figures", engine::say("error.recipe.empty"), engine::say("error.recipe.remedy"));
  std::vector<RecipeFigure> out;
  std::set<std::string> outputs;
  for (const Json& entry : json->at("figures")) {
    const Place place{file, "figures." + std::to_string(out.size())};
    RecipeFigure figure = common;
    if (auto failure = read_figure(entry, place, figure)) return *failure;
    for (const auto& [name, value] :
         {std::pair{"figure", &figure.figure}, {"scenario", &figure.scenario}, {"output", &figure.output}})
      if (value->empty())
        return place.error(name, engine::say("error.recipe.missing"), engine::say("error.recipe.missing.remedy"));
    if (!outputs.insert(figure.output).second)
      return place.error("output", engine::say("error.recipe.twice", figure.output),
                         engine::say("error.recipe.twice.remedy"));
    out.push_back(std::move(figure));
  }
  return out;
}

Result<std::string> add_figure(std::string_view text, std::string_view file, const RecipeFigure& figure) {
  OrderedJson recipe = {{"format", "roofscape/figures"}, {"version", 1}, {"figures", OrderedJson::array()}};
  if (!text.empty()) {
    if (const auto now = read_recipe(text, file); !now) return now.error();
    recipe = OrderedJson::parse(text);
  }
  OrderedJson entry;
  for (const TextMember& m : kTexts)
    if (!(figure.*(m.member)).empty()) entry[std::string(m.name)] = figure.*(m.member);
  for (const auto& [name, member] : kLists)
    if (!(figure.*member).empty()) entry[std::string(name)] = figure.*member;
  for (const auto& [name, member] : kFlags)
    if (figure.*member) entry[std::string(name)] = true;
  recipe["figures"].push_back(std::move(entry));
  std::string out = pretty_text(recipe);
  if (const auto then = read_recipe(out, file); !then) return then.error();
  return out;
}

}  // namespace roofscape::io
