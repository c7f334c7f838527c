// A tour: scenes for a lecture, each a question about one plan or building block, what the class predicts, and what is
// revealed. What ships is in presets/tours, a user's own in the folder "tours" of the preset folder. Numbers are formulas
// (formula.h), evaluated and written when a scene is shown; app/tours does that.
//
//   { "format": "roofscape/tour", "version": 1, "title": "...", "about": "...",
//     "scenes": [ { "id": "tensor-16", "title": "...", "scenario": "llama3-70b-v5p-pod", "set": ["parallelism.tensor=16"],
//                   "states": {"before": []}, "figure": "overlap", "controls": ["parallelism.tensor"],
//                   "question": "...", "answer": "mfu", "range": [0.4, 0.5], "choices": [0.98, 0.82, "answer", 0.7],
//                   "sentence": "... {mfu|whole_percent} ..." } ] }
//
// Every text is a text, which is English, or an object of texts by language: {"en": "...", "ko": "..."}.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/io/json/result.h"
#include "engine/io/presets/preset_library.h"
#include "engine/io/tour/formula.h"
#include "engine/scenario/scenario.h"

namespace roofscape::io {

inline constexpr std::string_view kTourLanguage = "en";  // of a text that does not say
inline constexpr std::string_view kShownState = "";
inline constexpr std::string_view kBeforeState = "before";  // drawn until the answer is revealed

// A text in the languages that it was written in.
struct TourText {
  std::map<std::string, std::string, std::less<>> by_language;
  bool empty() const { return by_language.empty(); }
  // In this language, else in English, else in any.
  std::string_view in(std::string_view language) const;
};

// A building block with its inputs as typed after `calc NAME`.
struct TourBlock {
  std::string name;
  std::vector<std::string> inputs;
};

// What a scene is about, or what it is compared with: a plan, or a building block.
struct TourState {
  std::string name;
  std::variant<engine::Scenario, TourBlock> of;
  std::string preset;  // the scenario's id or file; empty: written in the tour
  std::vector<std::string> set;
  const engine::Scenario* scenario() const { return std::get_if<engine::Scenario>(&of); }
  const TourBlock* block() const { return std::get_if<TourBlock>(&of); }
};

struct TourFigure {
  std::string name;               // of the table of figures; empty: that of the block
  std::vector<std::string> with;  // "tier=dcn"; of a block "over=batch", "show=time_s"
};

// One of the answers to choose from: a number, a text, or the answer itself.
struct TourChoice {
  TourFormula value;  // empty: `text` is all
  TourText text;
  std::string mark;  // a tag of the figure, which is ticked for this choice; empty: none is
  bool right = false;
};

// Where on the figure a number is guessed: "bar:step.time_s", "point:block.now.speedup", "sketch:block.now.speedup", "x", "y".
struct TourMark {
  enum class Kind : std::uint8_t {
    none,    // on an axis of its own
    x,       // a line across the x axis
    y,       // a level of the y axis
    bar,     // the end of the bar `tag`, along the x axis
    point,   // the dot `tag`: its height counts, where it is dropped across does not
    sketch,  // a line drawn by hand, whose height at the dot `tag` counts
  };
  Kind kind = Kind::none;
  std::string tag;
  std::string of;  // the name in the answer that the axis counts; empty: the answer itself
  bool along_x() const { return kind == Kind::x || kind == Kind::bar; }
};

struct TourScene {
  std::string id;
  TourText title, question, sentence, notes;
  TourText context;               // above the question: what is given
  TourText source;                // chapter or paper
  std::vector<TourState> states;  // the first is the one that is shown
  std::vector<TourFigure> figures;
  std::vector<std::string> controls;  // fields that the audience may move, at most three
  TourFormula answer;                 // empty: a text is the answer
  std::string form;                   // how it is written (kTourForms, a unit's symbol, or as its unit says)
  std::optional<std::pair<double, double>> range;  // where the answer is expected: a change of the model is noticed
  std::optional<std::pair<double, double>> guess;  // a number to guess, between these
  TourMark mark;                                   // where on the figure it is guessed
  std::vector<TourChoice> choices;
  std::vector<TourFormula> readings;   // what the question might also be taken to ask: no wrong choice may be near it
  std::vector<TourFormula> claims;     // comparisons that the sentence rests on
  std::vector<std::string> highlight;  // tags of the figure, framed when the answer is revealed
  std::vector<std::string> cover;      // tags of the figure, covered until then
  bool covered = true;                 // the whole figure is, where there is no `cover` and no state "before"
  bool runs = true;                    // the plan can run; false: that it cannot is the answer

  const TourState& shown() const { return states.front(); }
  const TourState* state(std::string_view name) const;
  bool has_before() const { return state(kBeforeState) != nullptr; }
};

struct Tour {
  std::string id, origin;  // the file it came from
  bool from_user = false;
  int order = 100;  // among all tours
  TourText title, about;
  std::vector<TourScene> scenes;
};

// The tour of this text; `file` is for messages, and files that it names are beside it. `id`: the file's name.
Result<Tour> read_tour(std::string_view text, std::string_view file, const PresetLibrary& library);
// Texts of another language for a tour that was read: {"intro.title": "...", "tensor-16.question": "..."}, by the id of a
// scene. What the tour does not have is an error.
Failure translate_tour(Tour& tour, std::string_view language, std::string_view text, std::string_view file,
                       const PresetLibrary& library);
// The English texts of a tour as such a file.
std::string tour_texts(const Tour& tour);

// ---- those there are ----

struct TourPlace {
  std::string id, origin;
  bool from_user = false;
};
// What ships, with those of the library's folder over it, by id.
std::vector<TourPlace> tour_places(const PresetLibrary& library);
// One of them by its id, or the path of a file, with the translations that ship. Errors name the nearest.
Result<Tour> load_tour(const std::string& id_or_path, const PresetLibrary& library);
// All of them in their order. What cannot be read is reported and left out.
std::vector<Tour> load_tours(const PresetLibrary& library, std::vector<InputError>& problems);

}  // namespace roofscape::io
