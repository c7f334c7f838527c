#include "engine/io/tour/tour_edit.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "engine/io/json/json_text.h"
#include "engine/io/json/pretty.h"
#include "engine/io/scenario/scenario_json.h"

namespace roofscape::io {

namespace {

// What was read as a tour may be taken apart again without care: it has a list of scenes.
Result<OrderedJson> opened(std::string_view text, std::string_view file, const PresetLibrary& library) {
  if (const auto tour = read_tour(text, file, library); !tour) return tour.error();
  return OrderedJson::parse(text);
}

Result<std::string> closed(const OrderedJson& json, std::string_view file, const PresetLibrary& library) {
  std::string text = pretty_text(json);
  if (const auto tour = read_tour(text, file, library); !tour) return tour.error();
  return text;
}

constexpr std::size_t kLongestId = 48;  // leaves room for a number

// "more-tensor-ways": of the title, and no other scene's.
std::string id_for(const std::string& title, const OrderedJson& scenes) {
  std::string id;
  for (const char c : title)
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      id += c;
    else if (c >= 'A' && c <= 'Z')
      id += static_cast<char>(c - 'A' + 'a');
    else if (!id.empty() && id.back() != '-')
      id += '-';
  if (id.size() > kLongestId) id.resize(kLongestId);
  while (!id.empty() && id.back() == '-') id.pop_back();
  if (id.empty() || (id.front() >= '0' && id.front() <= '9')) id = id.empty() ? "scene" : "scene-" + id;
  const auto taken = [&scenes](const std::string& wanted) {
    return std::any_of(scenes.begin(), scenes.end(), [&](const OrderedJson& scene) {
      const auto has = scene.find("id");
      return has != scene.end() && *has == wanted;
    });
  };
  if (!taken(id)) return id;
  for (int number = 2;; ++number)
    if (const std::string next = id + "-" + std::to_string(number); !taken(next)) return next;
}

// A text that has other languages keeps them.
void set_words(OrderedJson& scene, const char* key, const std::string& words) {
  OrderedJson& member = scene[key];
  if (member.is_object())
    member[std::string(kTourLanguage)] = words;
  else
    member = words;
}

void set_words(OrderedJson& scene, const SceneDraft& draft) {
  set_words(scene, "title", draft.title);
  set_words(scene, "question", draft.question);
  const auto answer = scene.find("answer");
  if (answer == scene.end() || *answer != draft.answer) {
    // Of another answer the old choices, form and range say nothing.
    for (const char* of_the_old : {"form", "range", "choices", "readings", "claims"}) scene.erase(of_the_old);
    scene["answer"] = draft.answer;
    scene["guess"] = {number_json(draft.guess.first), number_json(draft.guess.second)};
  }
  for (const auto& [key, word] : {std::pair{"mark", &draft.mark}, {"mark_of", &draft.mark_of}}) {
    if (word->empty())
      scene.erase(key);
    else
      scene[key] = *word;
  }
  set_words(scene, "sentence", draft.sentence);
}

}  // namespace

Result<std::string> with_scene(std::string_view text, std::string_view file, std::string_view title,
                               const SceneDraft& draft, const PresetLibrary& library) {
  OrderedJson json;
  if (text.empty()) {
    json["format"] = "roofscape/tour";
    json["version"] = 1;
    json["title"] = title;
    json["scenes"] = OrderedJson::array();
  } else {
    auto read = opened(text, file, library);
    if (!read) return read.error();
    json = std::move(read).value();
  }
  OrderedJson scene;
  scene["id"] = id_for(draft.title, json["scenes"]);
  scene["title"] = draft.title;
  if (draft.preset.empty())
    scene["scenario"] = OrderedJson::parse(write_scenario(draft.scenario, library));
  else
    scene["scenario"] = draft.preset;
  if (!draft.preset.empty() && !draft.set.empty()) scene["set"] = draft.set;
  if (draft.with.empty())
    scene["figure"] = draft.figure;
  else
    scene["figure"] = {{"name", draft.figure}, {"with", draft.with}};
  if (!draft.controls.empty()) scene["controls"] = draft.controls;
  set_words(scene, draft);
  json["scenes"].push_back(std::move(scene));
  return closed(json, file, library);
}

Result<std::string> with_words(std::string_view text, std::string_view file, std::size_t index,
                               const SceneDraft& draft, const PresetLibrary& library) {
  auto json = opened(text, file, library);
  if (!json) return json.error();
  OrderedJson& scenes = json.value()["scenes"];
  if (index < scenes.size()) set_words(scenes[index], draft);
  return closed(json.value(), file, library);
}

Result<std::string> with_scene_moved(std::string_view text, std::string_view file, std::size_t index, int by,
                                     const PresetLibrary& library) {
  auto json = opened(text, file, library);
  if (!json) return json.error();
  OrderedJson& scenes = json.value()["scenes"];
  const std::size_t other = by < 0 ? index - 1 : index + 1;
  if (index < scenes.size() && other < scenes.size()) std::swap(scenes[index], scenes[other]);
  return closed(json.value(), file, library);
}

Result<std::string> without_scene(std::string_view text, std::string_view file, std::size_t index,
                                  const PresetLibrary& library) {
  auto json = opened(text, file, library);
  if (!json) return json.error();
  OrderedJson& scenes = json.value()["scenes"];
  if (index < scenes.size() && scenes.size() > 1) scenes.erase(index);
  return closed(json.value(), file, library);
}

}  // namespace roofscape::io
