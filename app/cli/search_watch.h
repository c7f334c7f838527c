// What a long search shows while it runs: how far it is, on a terminal, in one line that is gone at the end. Ctrl+C
// ends the search, so that what was found until then can be printed; a second one ends the program.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "engine/base/sentence.h"
#include "engine/search/progress.h"

namespace roofscape::app::cli {

class SearchWatch {
 public:
  // Both must outlive it. One at a time.
  SearchWatch(const engine::Words& words, engine::SearchProgress& progress);
  ~SearchWatch();
  SearchWatch(const SearchWatch&) = delete;
  SearchWatch& operator=(const SearchWatch&) = delete;

 private:
  void show(std::stop_token stop);
  const engine::Words& words_;
  engine::SearchProgress& progress_;
  void (*signal_before_)(int) = nullptr;
  std::mutex mutex_;
  std::condition_variable_any over_;
  std::jthread thread_;
};

}  // namespace roofscape::app::cli
