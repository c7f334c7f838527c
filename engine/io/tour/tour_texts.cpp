// The texts of tours in their languages.
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/sentence.h"
#include "engine/io/json/nearest.h"
#include "engine/io/json/pretty.h"
#include "engine/io/presets/parts_json.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/io/tour/tour.h"
#include "engine/io/tour/tour_check.h"

namespace roofscape::io {

using engine::say;

namespace {

// Every text of a tour by the key that translations have for it.
template <class TourOf, class Use>
void for_each_text(TourOf& tour, Use use) {
  use("title", tour.title);
  use("about", tour.about);
  for (auto& scene : tour.scenes) {
    use(scene.id + ".title", scene.title);
    use(scene.id + ".context", scene.context);
    use(scene.id + ".question", scene.question);
    for (std::size_t i = 0; i < scene.choices.size(); ++i)
      use(scene.id + ".choices." + std::to_string(i), scene.choices[i].text);
    use(scene.id + ".sentence", scene.sentence);
    use(scene.id + ".notes", scene.notes);
    use(scene.id + ".source", scene.source);
  }
}

}  // namespace

std::string_view TourText::in(std::string_view language) const {
  if (const auto found = by_language.find(language); found != by_language.end()) return found->second;
  if (const auto found = by_language.find(kTourLanguage); found != by_language.end()) return found->second;
  return by_language.empty() ? std::string_view() : std::string_view(by_language.begin()->second);
}

Failure translate_tour(Tour& tour, std::string_view language, std::string_view text, std::string_view file,
                       const PresetLibrary& library) {
  const auto map = read_flat_map(text, file);
  if (!map) return map.error();
  std::map<std::string, TourText*, std::less<>> texts;
  for_each_text(tour, [&texts](std::string key, TourText& words) {
    if (!words.empty()) texts.emplace(std::move(key), &words);
  });
  for (const auto& [key, words] : map.value()) {
    const auto found = texts.find(key);
    if (found == texts.end()) {
      std::vector<std::string_view> keys;
      for (const auto& one : texts) keys.push_back(one.first);
      return InputError{std::string(file), key, say("error.tour.translation", in_quotes(tour.id)),
                        did_you_mean(key, keys)};
    }
    found->second->by_language[std::string(language)] = words;
  }
  // A formula that a translation breaks is as bad as one that the tour breaks.
  for (const TourScene& scene : tour.scenes)
    if (auto failure = check_tour_texts(scene, {file, scene.id, library, {}, {}})) return failure;
  return std::nullopt;
}

std::string tour_texts(const Tour& tour) {
  OrderedJson json = OrderedJson::object();
  for_each_text(tour, [&json](const std::string& key, const TourText& words) {
    if (!words.empty()) json[key] = std::string(words.in(kTourLanguage));
  });
  return pretty_text(json);
}

}  // namespace roofscape::io
