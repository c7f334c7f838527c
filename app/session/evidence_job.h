// EvidenceJob: predicts the published measurements beside the window, once for a library of presets, so that neither
// the first frame nor any later one waits for it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "engine/io/presets/preset_library.h"
#include "engine/studies/evidence.h"

namespace roofscape::app {

class EvidenceJob {
 public:
  EvidenceJob() = default;
  EvidenceJob(const EvidenceJob&) = delete;
  EvidenceJob& operator=(const EvidenceJob&) = delete;

  // Starts unless it was started before, and keeps these presets until the end, whatever the window takes in their
  // place meanwhile.
  void start(std::shared_ptr<const io::PresetLibrary> presets);
  // Called from the job's thread at its end; nobody is after an empty one is set.
  void set_wake(std::function<void()> wake);
  void wait();  // until it has ended
  // What was computed, given once; null before the end and from the second call on.
  std::shared_ptr<const engine::EvidenceSet> take();
  // What could not be read, given once; empty: nothing.
  std::optional<io::InputError> take_problem();

 private:
  void run(const io::PresetLibrary& library);
  bool started_ = false;
  std::mutex mutex_;
  std::function<void()> wake_;
  std::shared_ptr<const engine::EvidenceSet> done_;
  std::optional<io::InputError> problem_;
  std::jthread thread_;  // last: it ends before what it writes to
};

}  // namespace roofscape::app
