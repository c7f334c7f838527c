#include "app/tours/tour_play.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace roofscape::app {

TourPlay::TourPlay(io::Tour tour, std::size_t scene)
    : tour_(std::move(tour)), plays_(tour_.scenes.size()), right_(tour_.scenes.size()) {
  go_to(scene);
}

void TourPlay::go_to(std::size_t scene) {
  index_ = std::min(scene, tour_.scenes.size() - 1);
  kept_.clear();
}

bool TourPlay::step_on() {
  if (!play().revealed) {
    reveal();
    return true;
  }
  if (index_ + 1 >= count()) return false;
  go_to(index_ + 1);
  return true;
}

bool TourPlay::step_back() {
  if (play().revealed) {
    cover();
    return true;
  }
  if (index_ == 0) return false;
  go_to(index_ - 1);
  return true;
}

void TourPlay::choose(std::size_t choice) {
  ScenePlay& play = plays_[index_];
  if (play.revealed || choice >= scene().choices.size()) return;
  play.chosen = play.chosen == choice ? std::nullopt : std::optional(choice);
  play.guess.reset();
}

void TourPlay::guess(double value) {
  ScenePlay& play = plays_[index_];
  if (play.revealed) return;
  play.guess = value;
  play.chosen.reset();
}

void TourPlay::keep() { kept_.push_back(play()); }

bool TourPlay::undo() {
  if (!can_undo()) return false;
  play() = std::move(kept_.back());
  kept_.pop_back();
  return true;
}

void TourPlay::forget() {
  kept_.clear();
  plays_.assign(plays_.size(), {});
  right_.assign(right_.size(), std::nullopt);
  index_ = 0;
}

std::optional<bool> TourPlay::is_right(std::size_t scene, const SceneValues& values) const {
  const ScenePlay& play = plays_[scene];
  if (play.chosen) return tour_.scenes[scene].choices[*play.chosen].right;
  const auto answer = values.answer();
  if (!play.guess || !answer) return std::nullopt;
  return std::abs(*play.guess - answer->value) <= kRightWithin * std::abs(answer->value);
}

void TourPlay::note_score(std::size_t scene, bool right) { right_[scene] = right; }

TourScore TourPlay::score() const {
  TourScore score;
  for (const auto& one : right_) {
    if (!one) continue;
    ++score.answered;
    if (*one) ++score.right;
  }
  return score;
}

}  // namespace roofscape::app
