#include "engine/io/scenario/scenario_walk.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/io/json/nearest.h"
#include "engine/io/presets/parts_json.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::io {

std::vector<std::string_view> known_members(std::string_view path) {
  std::vector<std::string_view> members;
  if (path.empty()) members = {"format", "version", "name", "made_from", "source", "model", "cluster", "$schema"};
  if (path == "cluster") members = {"chip", "chips"};
  if (path == "pipeline") members = {kLayersMember, kOrderMember, kOrderScheduleMember};
  for (const engine::Field& field : engine::scenario_fields()) {
    std::string_view rest = field.path;
    if (!path.empty()) {
      if (!rest.starts_with(path) || rest.size() <= path.size() || rest[path.size()] != '.') continue;
      rest.remove_prefix(path.size() + 1);
    }
    rest = rest.substr(0, rest.find('.'));
    if (std::find(members.begin(), members.end(), rest) == members.end()) members.push_back(rest);
  }
  return members;
}

engine::Sentence unknown_field_remedy(std::string_view parent, std::string_view member) {
  const std::vector<std::string_view> siblings = known_members(parent);
  const std::string prefix = parent.empty() ? std::string() : std::string(parent) + ".";
  if (engine::find_field(prefix + std::string(member)) != nullptr) return engine::say("error.scenario.nested");
  if (std::find(siblings.begin(), siblings.end(), member) != siblings.end())
    return engine::say("error.scenario.only_in_file");
  if (const std::string_view near = nearest_word(member, siblings); !near.empty())
    return did_you_mean(prefix + std::string(near));
  // Right word, wrong place: "tensor" at the top.
  std::vector<std::string_view> last_words;
  for (const engine::Field& field : engine::scenario_fields()) {
    const std::size_t dot = field.path.rfind('.');
    last_words.push_back(dot == std::string_view::npos ? field.path : field.path.substr(dot + 1));
  }
  if (const std::string_view near = nearest_word(member, last_words); !near.empty()) {
    for (std::size_t i = 0; i < last_words.size(); ++i)
      if (last_words[i] == near) return did_you_mean(engine::scenario_fields()[i].path);
  }
  return did_you_mean(member, siblings);
}

}  // namespace roofscape::io
