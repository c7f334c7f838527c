// NewestRequest: what jobs of searches share. A thread of the job's works on one request at a time; the newest takes the
// place of what waits, what runs can be stopped, and one that was stopped by a person is not taken up again unless that is
// wished. What counts as the same request, and what is done with a result, is the job's own.
//
// All members may be called by one thread (the window's); `wake` is called by the job's own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "app/session/background_workers.h"
#include "engine/io/json/result.h"
#include "engine/search/progress.h"

namespace roofscape::app {

enum class JobState : std::uint8_t { idle, running, cancelled };

template <class Query>
class NewestRequest {
 public:
  using State = JobState;

  NewestRequest(const NewestRequest&) = delete;
  NewestRequest& operator=(const NewestRequest&) = delete;

  // Stops what runs and forgets what waits; the same request is not taken again until again().
  void cancel() {
    const std::scoped_lock lock(mutex_);
    if (queued_)
      cancelled_ = std::exchange(queued_, std::nullopt);
    else if (running_)
      cancelled_ = running_;
    if (progress_) progress_->stop = true;
  }
  void again() {
    const std::scoped_lock lock(mutex_);
    cancelled_.reset();
  }
  State state() const {
    const std::scoped_lock lock(mutex_);
    if (cancelled_) return State::cancelled;
    return running_ || queued_ ? State::running : State::idle;
  }
  // Why a request had to be given up, such as for want of memory, given once; it counts as cancelled. Empty: nothing.
  std::optional<io::InputError> take_problem() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(problem_, {});
  }
  // Called when there is something to show, and whenever a request has ended, whatever its end; it must not call the job.
  // Empty: nobody.
  void set_wake(std::function<void()> wake) {
    const std::scoped_lock lock(mutex_);
    wake_ = std::move(wake);
  }
  // Returns when nothing runs or waits.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !queued_ && !running_; });
  }

 protected:
  NewestRequest() = default;
  ~NewestRequest() = default;

  // What follows is called with the lock held.

  // Nothing waits, nobody is told any more, and what runs ends: before threads are joined.
  void leave() {
    wake_ = nullptr;
    queued_.reset();
    if (progress_) progress_->stop = true;
  }
  // Whether a request that `is_asked` is cancelled; any other is forgotten.
  template <class IsAsked>
  bool is_cancelled(const IsAsked& is_asked) {
    if (cancelled_ && is_asked(*cancelled_)) return true;
    cancelled_.reset();
    return false;
  }
  bool goes_on() const { return running_ && !progress_->stop; }  // what runs, and was not stopped

  // The loop of the job's thread. `work` does a request without the lock; `end` is called with it afterwards, told whether
  // what was done is wanted.
  template <class Work, class End>
  void serve(std::stop_token stop, const Work& work, const End& end) {
    lower_priority();
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return queued_.has_value(); })) {
      running_ = std::exchange(queued_, std::nullopt);
      progress_ = std::make_shared<engine::SearchProgress>();
      begun_ = std::chrono::steady_clock::now();
      ++started_;
      const Query query = *running_;
      const std::shared_ptr<engine::SearchProgress> progress = progress_;
      lock.unlock();
      std::optional<io::InputError> problem;
      try {
        work(query, *progress);
      } catch (const std::exception& error) {
        problem = io::error_of(error);
      }
      lock.lock();
      // Stopped after its last part it is finished all the same, but whoever stopped it does not want it.
      end(!problem && !progress->stop);
      if (problem) {
        problem_ = std::move(problem);
        if (!queued_) cancelled_ = running_;  // not tried over and over
      }
      running_.reset();
      progress_.reset();
      changed_.notify_all();
      if (wake_) wake_();
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Query> queued_, running_, cancelled_;
  std::shared_ptr<engine::SearchProgress> progress_;  // of what runs
  std::chrono::steady_clock::time_point begun_;       // what runs
  std::size_t started_ = 0;                           // so far
  std::optional<io::InputError> problem_;
  std::function<void()> wake_;
};

}  // namespace roofscape::app
