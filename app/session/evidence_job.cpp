#include "app/session/evidence_job.h"

#include <exception>
#include <utility>

#include "engine/evidence/evidence_points.h"

namespace roofscape::app {

void EvidenceJob::run(const io::PresetLibrary& library) {
  std::shared_ptr<const engine::EvidenceSet> made;
  std::optional<io::InputError> problem;
  try {
    const auto files = io::load_evidence(library);
    if (files)
      made = std::make_shared<const engine::EvidenceSet>(evidence::evidence_set(files.value(), library));
    else
      problem = files.error();
  } catch (const std::exception& error) {
    problem = io::error_of(error);
  }
  const std::lock_guard lock(mutex_);
  done_ = std::move(made);
  problem_ = std::move(problem);
  if (wake_) wake_();
}

void EvidenceJob::start(std::shared_ptr<const io::PresetLibrary> presets) {
  if (std::exchange(started_, true)) return;
  thread_ = std::jthread([this, presets = std::move(presets)] { run(*presets); });
}

void EvidenceJob::set_wake(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

void EvidenceJob::wait() {
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<const engine::EvidenceSet> EvidenceJob::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(done_, nullptr);
}

std::optional<io::InputError> EvidenceJob::take_problem() {
  const std::lock_guard lock(mutex_);
  return std::exchange(problem_, {});
}

}  // namespace roofscape::app
