// Usage: bench_frame [PRESET [PLACE]], of one figure, "panels", "search" or "follow" alone.
// A recorded drag over the batch, headless: how long it takes from the slider's move to the finished draw lists, with
// all default panels at 1080p, on the preset with the longest pipeline; then the same with the search open, which
// works on other threads while the slider moves; then of the control that is pinned under the projector, with each
// figure of a training step. Prints the median, the 99th percentile and the longest, in processor time of the thread.
// Last, how long after a move of a control the window shows the list of the best plans of the new scenario, and all that
// is counted, mapped and drawn of its space: by the clock, since other threads make it, in frames two milliseconds
// apart. And how old what it shows is while the control does not rest, at a screen's rate: what is shown, exact or so
// far, and the exact list.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/io/scenario/scenario_json.h"
#include "tests/app/window/ui_harness.h"
#include "tests/bench/clocks.h"
#include "widgets/figures/figures.h"

namespace {

using namespace roofscape;

std::string largest_preset() {
  std::string best;
  std::size_t most = 0;
  for (const io::Preset& p : test::presets().list(io::PresetKind::scenario)) {
    const auto loaded = io::load_scenario(p.id, test::presets());
    if (!loaded.ok()) continue;
    const std::size_t size = engine::evaluate(loaded.value()).pipeline.orders.ops.size();
    if (best.empty() || size > most) best = p.id, most = size;
  }
  return best;
}

void open_search(test::Harness& h) {
  h.key({widgets::Key::f7});
  h.parts.searching.wait();
  h.step(2);
}

// The track of the slider, which is held now; nothing: the scenario has no such slider.
std::optional<widgets::Rect> hold(test::Harness& h, const std::string& slider) {
  if (!h.reach(slider)) return std::nullopt;
  const widgets::Rect track = h.place(slider + ".track")->rect;
  h.move({track.x + track.w * 0.4f, track.centre().y});
  h.press();
  return track;
}

// To and fro over the middle of the track, as a hand does.
void move_along(const widgets::Rect& track, float phase) {
  widgets::compat::move_pointer(track.x + track.w * (0.5f + 0.4f * std::sin(phase)), track.centre().y);
}

// Over the whole window: one figure with the controls that are pinned under it.
void open_wall(test::Harness& h, const std::string& figure) {
  h.key({widgets::Key::f5});
  for (std::size_t i = 0; i < widgets::figures().size(); ++i)
    if (widgets::figures()[i].name == figure) h.parts.panels.projector.figure = i;
  h.step(2);
}

// `place`: "panels", "search", or a figure of the projector.
void drag(const std::string& preset, const std::string& slider, int frames, const std::string& place) {
  test::Harness h(preset);
  if (place == "search")
    open_search(h);
  else if (place != "panels")
    open_wall(h, place);
  const auto track = hold(h, slider);
  if (!track) return;
  std::vector<double> ms;
  const std::size_t before = h.parts.session.evaluations(), started = h.parts.searching.started();
  for (int i = 0; i < frames; ++i) {
    move_along(*track, static_cast<float>(i) * 0.11f);
    const double begin = bench::thread_ms();
    h.step();
    ms.push_back(bench::thread_ms() - begin);
  }
  h.release();
  std::sort(ms.begin(), ms.end());
  const auto at = [&](double share) {
    return ms[std::min(ms.size() - 1, static_cast<std::size_t>(share * static_cast<double>(ms.size())))];
  };
  std::printf("%-28s %-34s %-14s median %.2f ms  p99 %.2f ms  longest %.2f ms  (%zu evaluations, %zu searches)\n",
              preset.c_str(), slider.c_str(), place.c_str(), at(0.5), at(0.99), ms.back(),
              h.parts.session.evaluations() - before, h.parts.searching.started() - started);
}

void print_times(const std::string& preset, const std::string& control, const char* what, std::vector<double> ms,
                 const std::string& of) {
  if (ms.empty()) return;
  std::sort(ms.begin(), ms.end());
  std::printf("%-28s %-34s %-14s median %.1f ms  p99 %.1f ms  longest %.1f ms  (%zu %s)\n", preset.c_str(),
              control.c_str(), what, ms[ms.size() / 2], ms[(ms.size() - 1) * 99 / 100], ms.back(), ms.size(),
              of.c_str());
}

// A control that is moved from place to place with the search open: a slider that is held, or the choice of what is
// kept for the backward pass, which has no places between.
class Hand {
 public:
  Hand(test::Harness& h, std::string control) : h_(h), control_(std::move(control)) {
    if (control_ != kChoice) track_ = hold(h, control_);
  }
  Hand(const Hand&) = delete;
  Hand& operator=(const Hand&) = delete;
  ~Hand() {
    if (track_) h_.release();
  }
  // False: to the same notch.
  bool move_to(float phase) {
    const std::size_t before = h_.parts.session.evaluations();
    if (track_) {
      move_along(*track_, phase);
    } else if (control_ == kChoice) {
      engine::Scenario s = h_.scenario();
      const int policies = static_cast<int>(engine::kEnumCount<engine::CheckpointPolicy>);
      s.checkpointing.policy = static_cast<engine::CheckpointPolicy>(static_cast<int>(phase * 3) % policies);
      h_.parts.session.update(s, false);
    }
    h_.step();
    return h_.parts.session.evaluations() > before;
  }

  static constexpr const char* kChoice = "checkpointing.policy";

 private:
  test::Harness& h_;
  std::string control_;
  std::optional<widgets::Rect> track_;
};

test::Harness in_mode(const std::string& preset, engine::Mode mode) {
  engine::Scenario s = test::preset(preset);
  s.assumptions.mode = mode;
  return test::Harness(s, preset, 1920, 1080);
}

double ms_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// A move, and then frames until the list, and the rest, have followed.
void follow(const std::string& preset, engine::Mode mode, const std::string& control, int moves) {
  test::Harness h = in_mode(preset, mode);
  open_search(h);
  Hand hand(h, control);
  std::vector<double> list_ms, whole_ms;
  double plans = 0;
  for (int i = 0; i < moves; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    if (!hand.move_to(static_cast<float>(i) * 0.7f)) continue;
    const auto& found = h.parts.panels.search.found;
    bool listed = false;
    while (found == nullptr || !(found->query.scenario == h.scenario()) || !found->counted()) {
      if (!listed && found != nullptr && found->query.scenario == h.scenario() && found->listed()) {
        list_ms.push_back(ms_since(begin));
        listed = true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      h.step();
    }
    whole_ms.push_back(ms_since(begin));
    if (!listed) list_ms.push_back(whole_ms.back());  // the whole came between two frames
    plans = found->query.serves() ? found->serving.plans : found->result.plans;
  }
  const std::string of = "moves, " + std::to_string(static_cast<long>(plans)) + " plans at the last";
  print_times(preset, control, "list", list_ms, of);
  print_times(preset, control, "whole", whole_ms, of);
}

// Frames of a screen's rate in which the control moves without a rest: how old what the search shows is in each, by
// when the window had the scenario that it belongs to.
void replay(const std::string& preset, engine::Mode mode, const std::string& control, int frames) {
  test::Harness h = in_mode(preset, mode);
  open_search(h);
  Hand hand(h, control);
  struct Frame {
    engine::Scenario scenario;
    std::chrono::steady_clock::time_point begin;
  };
  std::vector<Frame> seen;
  std::vector<double> shown_ms, exact_ms;
  // What belongs to the present scenario is as new as can be; anything else is as old as the move that it lacks.
  const auto age = [&](const app::SearchOutcome& shown) -> std::optional<double> {
    for (std::size_t k = seen.size(); k-- > 0;)
      if (shown.query.scenario == seen[k].scenario) return k + 1 == seen.size() ? 0.0 : ms_since(seen[k + 1].begin);
    return std::nullopt;  // from before the first move
  };
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < frames; ++i) {
    std::this_thread::sleep_until(start + i * std::chrono::microseconds(16'667));
    const auto begin = std::chrono::steady_clock::now();
    hand.move_to(static_cast<float>(i) * 0.11f);
    if (seen.empty() || !(seen.back().scenario == h.scenario())) seen.push_back({h.scenario(), begin});
    const app::SearchView& search = h.parts.panels.search;
    const bool exact = search.found && (search.found->listed() || search.found->counted());
    if (const auto ms = search.found ? age(*search.found) : std::nullopt) shown_ms.push_back(*ms);
    if (const auto& of = exact ? search.found : search.latest)
      if (const auto ms = age(*of)) exact_ms.push_back(*ms);
  }
  print_times(preset, control, "drag: shown", shown_ms, "frames");
  print_times(preset, control, "drag: exact", exact_ms, "frames");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string preset = argc > 1 ? argv[1] : largest_preset();
  const std::string only = argc > 2 ? argv[2] : "";
  constexpr int kFrames = 1000, kWallFrames = 200;
  for (const char* place : {"panels", "search"})
    if (only.empty() || only == place)
      for (const char* slider : {"workload.global_batch_sequences", "parallelism.fsdp", "workload.sequence_length"})
        drag(preset, slider, kFrames, place);
  if (only.empty()) drag("llama3-70b-serving-8-h100", "workload.prompt_tokens", kFrames, "search");
  // On the wall: the first pinned control, which any plan has.
  for (const widgets::FigureRow& row : widgets::figures())
    if (row.subject != widgets::Subject::serving && (only.empty() || only == row.name))
      drag(preset, "parallelism.tensor", kWallFrames, std::string(row.name));
  if (!only.empty() && only != "follow") return 0;
  constexpr int kMoves = 40, kReplayed = 300;
  for (const engine::Mode mode : {engine::Mode::ideal, engine::Mode::calibrated}) {
    std::printf("%s\n", mode == engine::Mode::ideal ? "ideal" : "calibrated");
    for (const char* control :
         {"workload.global_batch_sequences", "workload.sequence_length", "parallelism.tensor", Hand::kChoice}) {
      follow("llama3-405b-16k-h100", mode, control, kMoves);
      replay("llama3-405b-16k-h100", mode, control, kReplayed);
    }
    for (const char* serving : {"llama3-70b-serving-8-h100", "deepseek-v3-h800-wide-expert"})
      follow(serving, mode, "workload.prompt_tokens", kMoves);
  }
  return 0;
}
