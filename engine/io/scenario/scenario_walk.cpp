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

namespace {

// Of a name joined by underscores; short ones ("of") tell nothing.
std::vector<std::string_view> words_of(std::string_view name) {
  std::vector<std::string_view> words;
  while (!name.empty()) {
    const std::string_view word = name.substr(0, name.find('_'));
    if (word.size() > 2) words.push_back(word);
    name.remove_prefix(std::min(name.size(), word.size() + 1));
  }
  return words;
}

}  // namespace

std::string_view field_like(std::string_view name, std::optional<engine::WorkloadKind> kind) {
  std::vector<std::string_view> lasts, words;
  std::vector<std::string_view> of_lasts, of_words;  // the paths that these are of
  for (const engine::Field& field : engine::scenario_fields()) {
    if (kind && !engine::applies(field, *kind)) continue;
    const std::string_view last = field.path.substr(field.path.rfind('.') + 1);  // of a path without a dot all of it
    lasts.push_back(last), of_lasts.push_back(field.path);
    if (field.path.starts_with("assumptions.custom.")) continue;  // constants of the model: a plan's words mean none
    for (const std::string_view word : words_of(last)) words.push_back(word), of_words.push_back(field.path);
  }
  const auto path_of = [](std::string_view one, const auto& among, const auto& paths) {
    return paths[static_cast<std::size_t>(std::find(among.begin(), among.end(), one) - among.begin())];
  };
  if (const std::string_view near = nearest_word(name, lasts); !near.empty()) return path_of(near, lasts, of_lasts);
  // A single word is one of many: no more than a letter of it may be wrong.
  if (const std::string_view near = nearest_word(name, words); !near.empty())
    if (name.starts_with(near) || near.starts_with(name) || edit_distance(name, near) <= 1)
      return path_of(near, words, of_words);
  // A word of several that one field alone has too.
  for (const std::string_view word : words_of(name))
    if (std::count(words.begin(), words.end(), word) == 1) return path_of(word, words, of_words);
  return {};
}

engine::Sentence unknown_field_remedy(std::string_view parent, std::string_view member,
                                      std::optional<engine::WorkloadKind> kind) {
  const std::vector<std::string_view> siblings = known_members(parent);
  const std::string prefix = parent.empty() ? std::string() : std::string(parent) + ".";
  if (engine::find_field(prefix + std::string(member)) != nullptr) return engine::say("error.scenario.nested");
  if (std::find(siblings.begin(), siblings.end(), member) != siblings.end())
    return engine::say("error.scenario.only_in_file");
  if (const std::string_view near = nearest_word(member, siblings); !near.empty())
    return did_you_mean(prefix + std::string(near));
  // Right word, wrong place: "tensor" at the top.
  if (const std::string_view path = field_like(member, kind); !path.empty()) return did_you_mean(path);
  return did_you_mean(member, siblings);
}

}  // namespace roofscape::io
