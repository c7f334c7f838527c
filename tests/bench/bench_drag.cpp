// How fast the search beside the window follows a drag: sliders of the 16k-H100 preset moved through their places, each
// with the request of the window while a control is held, on two workers, with what was found before as seeds. Prints
// the median, the 99th percentile and the longest of each slider, by the clock and in processor time of the process:
// of the whole search, of its list, which is told before all else, and of the list so far, which shows first.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "app/session/search_preferences.h"
#include "engine/io/presets/preset_library.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/search/search.h"
#include "engine/search/searched_scenario.h"
#include "tests/bench/clocks.h"

namespace {

using namespace roofscape;

double clock_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Step {
  double clock = 0, cpu = 0;
};

void print(const char* what, std::vector<Step> steps) {
  if (steps.empty()) return;
  std::printf("  %-11s %3zu places ", what, steps.size());
  for (double Step::*of : {&Step::clock, &Step::cpu}) {
    std::sort(steps.begin(), steps.end(), [of](const Step& a, const Step& b) { return a.*of < b.*of; });
    std::printf("  %s median %6.1f p99 %6.1f longest %6.1f ms", of == &Step::clock ? "clock" : "  cpu",
                steps[steps.size() / 2].*of, steps[(steps.size() - 1) * 99 / 100].*of, steps.back().*of);
  }
  std::printf("\n");
}

class Drag {
 public:
  // What the window does when the scenario is another: it searches where a search reads another.
  Step move_to(const engine::Scenario& s) {
    engine::SearchRequest request = app::request_of(s, app::SearchPreferences{});
    request.sample = 300;
    if (found_.finished) {
      const double clock = clock_ms(), cpu = bench::process_ms();
      known_.seeds = memory_.seeds;
      if (engine::search_known(s, request, known_).best.empty()) std::printf("nothing known fits\n");
      so_far_ = {clock_ms() - clock, bench::process_ms() - cpu};
    }
    const double clock = clock_ms(), cpu = bench::process_ms();
    if (!found_.finished || !(request == request_) ||
        !(engine::searched_scenario(s) == engine::searched_scenario(scenario_))) {
      found_ = engine::search(
          s, request, nullptr, 2,
          [](const std::function<void(std::size_t)>& work) {
            std::jthread other(work, 1);
            work(0);
          },
          &memory_,
          [&](const engine::SearchResult&) {
            listed_ = {clock_ms() - clock, bench::process_ms() - cpu};
          });
    } else {
      engine::place_present(s, request, found_);
      listed_ = {clock_ms() - clock, bench::process_ms() - cpu};
    }
    scenario_ = s, request_ = request;
    return {clock_ms() - clock, bench::process_ms() - cpu};
  }
  double plans() const { return found_.plans; }
  Step so_far() const { return so_far_; }
  Step listed() const { return listed_; }

 private:
  engine::Scenario scenario_;
  engine::SearchRequest request_;
  engine::SearchResult found_;
  engine::SearchMemory memory_, known_;
  Step so_far_, listed_;
};

}  // namespace

int main(int argc, char** argv) {
  const io::PresetLibrary library;
  const auto loaded = io::load_scenario(argc > 1 ? argv[1] : "llama3-405b-16k-h100-8k", library);
  if (!loaded.ok()) return 2;
  for (const engine::Mode mode : {engine::Mode::ideal, engine::Mode::calibrated}) {
    engine::Scenario base = loaded.value();
    base.assumptions.mode = mode;
    Drag drag;
    const Step first = drag.move_to(base);
    std::printf("%s: %.0f plans, first %.1f ms clock, %.1f ms cpu\n",
                mode == engine::Mode::ideal ? "ideal" : "calibrated", drag.plans(), first.clock, first.cpu);
    std::vector<Step> all, so_far, listed;
    const auto dragged = [&](const char* name, int places, const std::function<void(engine::Scenario&, int)>& edit) {
      std::vector<Step> steps;
      for (int i = 0; i < 2 * places; ++i) {
        engine::Scenario s = base;
        edit(s, i < places ? i : 2 * places - 1 - i);  // there and back
        steps.push_back(drag.move_to(s));
        so_far.push_back(drag.so_far());
        listed.push_back(drag.listed());
      }
      print(name, steps);
      all.insert(all.end(), steps.begin(), steps.end());
    };
    dragged("batch", 20, [](engine::Scenario& s, int i) { s.workload.global_batch_sequences = 512 + 128 * i; });
    dragged("sequence", 20, [](engine::Scenario& s, int i) { s.workload.sequence_length = 4096 + 1024 * i; });
    dragged("checkpoints", 8, [](engine::Scenario& s, int i) {
      s.checkpointing.policy = static_cast<engine::CheckpointPolicy>(i % 8);
    });
    dragged("tensor", 4, [](engine::Scenario& s, int i) {
      const int ranks = s.parallelism.fsdp * s.parallelism.tensor;
      s.parallelism.tensor = 1 << i;
      s.parallelism.fsdp = ranks / s.parallelism.tensor;
    });
    print("all", all);
    print("its list", listed);
    print("so far", so_far);
  }
}
