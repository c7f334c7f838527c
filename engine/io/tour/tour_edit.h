// Editing a tour's file scene by scene, as the window does. Each takes the text of the file and returns the text after the
// edit; what the edit does not concern stays as it was written. The result is a tour that can be read, or an error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/io/tour/tour.h"

namespace roofscape::io {

// A scene as it is put together from what a window shows.
struct SceneDraft {
  std::string title, question, sentence;
  std::string answer;                     // a formula (formula.h)
  std::pair<double, double> guess{0, 1};  // what is guessed lies between these
  engine::Scenario scenario;              // what it shows
  std::string preset;                     // the preset it came from; empty: the scenario is written whole
  std::vector<std::string> set;           // what differs from the preset
  std::string figure;                     // of the table of figures
  std::vector<std::string> with;          // its choices: "tier=dcn"
  std::vector<std::string> controls;      // fields that may be moved after the answer
  std::string mark, mark_of;              // what is guessed on the figure: "bar:step.time_s"; empty: nothing
};

// A scene at the end. An empty text begins a tour of this title.
Result<std::string> with_scene(std::string_view text, std::string_view file, std::string_view title,
                               const SceneDraft& draft, const PresetLibrary& library);
// The words, the answer and its range of scene `index` as in the draft; what it shows stays.
Result<std::string> with_words(std::string_view text, std::string_view file, std::size_t index,
                               const SceneDraft& draft, const PresetLibrary& library);
// Scene `index` before or after its neighbour; as it was at the ends.
Result<std::string> with_scene_moved(std::string_view text, std::string_view file, std::size_t index, int by,
                                     const PresetLibrary& library);
Result<std::string> without_scene(std::string_view text, std::string_view file, std::size_t index,
                                  const PresetLibrary& library);

}  // namespace roofscape::io
