#include "app/session/measured_job.h"

#include <exception>
#include <utility>

#include "engine/io/measured/measured_input.h"

namespace roofscape::app {

void MeasuredJob::tell() {
  const std::lock_guard lock(mutex_);
  if (wake_) wake_();
}

void MeasuredJob::start(std::vector<std::string> inputs) {
  cancel();
  stop_ = false;
  reading_ = true;
  progress_ = 0;
  thread_ = std::jthread([this, inputs = std::move(inputs)] {
    io::MeasuredOptions options;
    options.progress = [this](double share) {
      // The window is told about each hundredth.
      if (share - progress_ >= 0.01) {
        progress_ = share;
        tell();
      }
      return !stop_;
    };
    auto read = [&]() -> decltype(io::read_measured_run(inputs, options)) {
      try {
        return io::read_measured_run(inputs, options);
      } catch (const std::exception& error) {
        return io::error_of(error);
      }
    }();
    {
      const std::lock_guard lock(mutex_);
      if (!stop_) done_ = std::move(read);
    }
    reading_ = false;
    tell();
  });
}

void MeasuredJob::cancel() {
  stop_ = true;
  wait();
  const std::lock_guard lock(mutex_);
  done_.reset();
}

void MeasuredJob::wait() {
  if (thread_.joinable()) thread_.join();
}

void MeasuredJob::set_wake(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

std::optional<io::Result<engine::MeasuredRun>> MeasuredJob::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(done_, std::nullopt);
}

}  // namespace roofscape::app
