// A tour as it is being given: which scene is shown, what the class guessed, what is revealed, and the score. No drawing.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "app/tours/scene_values.h"
#include "widgets/canvas/geometry.h"

namespace roofscape::app {

struct ScenePlay {
  bool revealed = false;
  std::optional<std::size_t> chosen;  // of the choices
  std::optional<double> guess;        // of a number, beside the choices
  float across = -1;  // where a point was dropped along the other axis, of its length; negative: nowhere
  std::vector<widgets::Point> sketch;  // drawn by hand, as fractions of the plot
  bool guessed() const { return chosen || guess; }
};

inline constexpr double kRightWithin = 0.25;  // of the answer, a number that is guessed

// Right and answered among the scenes that were revealed after a guess.
struct TourScore {
  int right = 0, answered = 0;
};

class TourPlay {
 public:
  explicit TourPlay(io::Tour tour, std::size_t scene = 0);

  const io::Tour& tour() const { return tour_; }
  std::size_t index() const { return index_; }
  std::size_t count() const { return tour_.scenes.size(); }
  const io::TourScene& scene() const { return tour_.scenes[index_]; }
  const ScenePlay& play() const { return plays_[index_]; }
  const ScenePlay& play(std::size_t scene) const { return plays_[scene]; }

  void go_to(std::size_t scene);  // the last one where there are fewer
  // On: reveals what is covered, then the next scene. False: the tour is at its end.
  bool step_on();
  // Back: covers what is revealed, then the scene before. False: at the beginning.
  bool step_back();
  void reveal() { plays_[index_].revealed = true; }
  void cover() { plays_[index_].revealed = false; }
  void choose(std::size_t choice);  // nothing once it is revealed
  void guess(double value);         // the same; takes the place of a choice, as that does of it
  ScenePlay& play() { return plays_[index_]; }
  // Keeps the guess as it is now, for `undo`, which takes the last change of it back; false: there is none.
  void keep();
  bool can_undo() const { return !play().revealed && !kept_.empty(); }
  bool undo();
  void forget();  // all guesses, from the beginning

  // Whether the guess of a scene is right; nothing without one. A number is within a quarter of the answer.
  std::optional<bool> is_right(std::size_t scene, const SceneValues& values) const;
  void note_score(std::size_t scene, bool right);  // kept when a scene is revealed
  TourScore score() const;

 private:
  io::Tour tour_;
  std::size_t index_ = 0;
  std::vector<ScenePlay> plays_;
  std::vector<std::optional<bool>> right_;
  std::vector<ScenePlay> kept_;  // of this scene, before each change
};

}  // namespace roofscape::app
