// A tour over the whole window: the scene as a slide, with its choices to click, its figure to point at once the answer is
// revealed, the derivation of the answer on demand, notes and the score.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "app/panels/derivation_panel.h"
#include "app/panels/figure_cell.h"
#include "app/tours/guess_mark.h"
#include "app/tours/scene_slide.h"

namespace roofscape::app {

struct TourState {
  std::unique_ptr<TourPlay> play;                    // null: none is open
  std::shared_ptr<const io::PresetLibrary> presets;  // what its values were evaluated with
  std::unique_ptr<SceneValues> values;               // of the scene, as its sentence tells it
  std::unique_ptr<SceneValues> bent;  // a block after the audience moved its inputs; null: it is as told
  bool notes = false, score = false;
  double revealed_s = -1;  // when the answer was asked for, while its mark still moves; negative: it stands
  // Where the guess stands on the figure, as it was last laid out.
  struct Mark {
    std::size_t scene = 0;
    widgets::Rect area;
    float em = 0;
    std::string language;
    std::optional<MarkPlace> place;
  };
  std::optional<Mark> mark;
  bool axes_kept = false;               // of the scene's figures, for both its states
  bool drags = false, dropped = false;  // the guess is held; it was given up, and the button is still down
  DerivationState derivation;           // of the answer, in place of the sentence
  bool open() const { return play != nullptr; }
};

// The slide of this frame, before anything of it is drawn: where the controls stand, and its words.
struct TourFrame {
  SlideText text;
  SlideLayout layout;
  std::vector<std::string> controls;  // shown once the answer is revealed
};
TourFrame tour_frame(const PanelContext& ctx, const widgets::Rect& window, const TourState& state);
// Controls of a plan return the edited one; those of a block bend it.
engine::Scenario tour_dock(PanelContext& ctx, const TourFrame& frame, TourState& state, engine::Scenario scenario);
// The rest. What is chosen is written into the play; a click on the hint asks for the command "tour.next".
engine::Scenario tour_panel(PanelContext& ctx, const widgets::Rect& window, const TourFrame& frame, TourState& state,
                            FiguresState& figures, engine::Scenario scenario);
// Whether the axes of the figures are held from the question to the answer.
bool holds_axes(const TourState& state);
// Gives the guess up that is being dragged; false: none is.
bool drop_guess(TourState& state);
// Whether the answer is one quantity that a derivation can be opened of; its id.
std::string derivable_answer(const TourState& state);

}  // namespace roofscape::app
