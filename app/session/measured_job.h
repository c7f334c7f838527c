// MeasuredJob: reads what a real run left behind beside the window: a trace may be hundreds of megabytes.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/io/json/result.h"
#include "engine/studies/measured_run.h"

namespace roofscape::app {

class MeasuredJob {
 public:
  MeasuredJob() = default;
  MeasuredJob(const MeasuredJob&) = delete;
  MeasuredJob& operator=(const MeasuredJob&) = delete;
  ~MeasuredJob() { cancel(); }

  // Files or lines (engine/io/measured/measured_input.h). What was being read is given up.
  void start(std::vector<std::string> inputs);
  void cancel();
  void wait();
  bool reading() const { return reading_; }
  double progress() const { return progress_; }  // 0 to 1
  // Called from the job's thread as it goes on and at its end; nobody is after an empty one is set.
  void set_wake(std::function<void()> wake);
  // What was read or why it was not, given once; none: it goes on, or it was given up.
  std::optional<io::Result<engine::MeasuredRun>> take();

 private:
  void tell();
  std::atomic<bool> reading_ = false, stop_ = false;
  std::atomic<double> progress_ = 0;
  std::mutex mutex_;
  std::function<void()> wake_;
  std::optional<io::Result<engine::MeasuredRun>> done_;
  std::jthread thread_;  // last: it ends before what it writes to
};

}  // namespace roofscape::app
