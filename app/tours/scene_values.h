// The numbers of a scene: its states evaluated, and its formulas and texts written with them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/blocks/block_picture.h"
#include "engine/io/export/block_json.h"
#include "engine/io/tour/tour.h"
#include "engine/report/report.h"
#include "widgets/plot/text_table.h"

namespace roofscape::app {

// The language of a table, as tours name it: "en".
std::string_view language_of(const widgets::TextTable& texts);

// A plan with its report.
struct PlanState {
  engine::Scenario scenario;
  engine::Report report;
};
// A building block with its answers.
struct BlockState {
  io::BlockQuestion question;
  engine::BlockResult result;
};

class SceneValues {
 public:
  // Evaluates all states of the scene. `library` must outlive this.
  SceneValues(const io::TourScene& scene, const io::PresetLibrary& library);

  const io::TourScene& scene() const { return scene_; }
  const PlanState* plan(std::string_view state = io::kShownState) const;    // null: none of that name, or a block
  const BlockState* block(std::string_view state = io::kShownState) const;  // null: none of that name, or a plan
  // What a figure of the scene draws of a state that is a block: made once, not frame by frame.
  const engine::PictureData& picture(std::size_t figure, std::string_view state) const;
  // The shown state with something changed by the audience.
  void set_shown(engine::Scenario scenario);
  void set_shown_input(std::string_view input, double value);

  std::optional<io::TourNumber> compute(const io::TourFormula& formula) const;
  std::optional<io::TourNumber> answer() const { return answer_; }
  // What a mark of the figure stands at, and the answer if it stood there.
  std::optional<double> marked() const;
  std::optional<double> answer_at(double mark) const;

  // Text with its numbers written; a number without a value is a dash.
  std::string write(const io::TourText& text, const widgets::TextTable& texts) const;
  std::string write(io::TourNumber number, std::string_view form, const widgets::TextTable& texts) const;
  // The answer as it is written, or the text of the right choice.
  std::string answer_text(const widgets::TextTable& texts) const;
  std::string choice_text(std::size_t choice, const widgets::TextTable& texts) const;
  // A guessed number, as the answer is written.
  std::string guess_text(double guess, const widgets::TextTable& texts) const;
  std::optional<double> choice_value(std::size_t choice) const;
  // Some of the choices are below zero: what is more is written with its sign, too.
  bool tells_change() const;

 private:
  struct Named {
    std::string name;
    std::variant<std::monostate, PlanState, BlockState> of;
    mutable std::vector<std::optional<engine::PictureData>> pictures;  // by figure, as far as they were drawn
  };
  const Named* find(std::string_view state) const;
  std::optional<io::TourNumber> look_up(const io::TourReference& reference) const;
  std::string write(const io::TourPiece& piece, const widgets::TextTable& texts) const;

  const io::TourScene& scene_;
  std::vector<Named> states_;
  std::optional<io::TourNumber> answer_;
};

}  // namespace roofscape::app
