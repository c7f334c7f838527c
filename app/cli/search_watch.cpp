#include "app/cli/search_watch.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace roofscape::app::cli {
namespace {

using namespace std::chrono_literals;
constexpr auto kPatience = 1s;  // before anything is shown
constexpr auto kBetween = 250ms;

// Of the search that runs. A signal handler may use an atomic that needs no lock, and little else.
std::atomic<std::atomic<bool>*> stops{nullptr};
static_assert(std::atomic<std::atomic<bool>*>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

extern "C" void stop_search(int signal) {
  if (std::atomic<bool>* stop = stops.load()) stop->store(true);
  std::signal(signal, SIG_DFL);
}

bool on_terminal() {
#if __has_include(<unistd.h>)
  return isatty(STDERR_FILENO) == 1;
#else
  return false;
#endif
}

}  // namespace

SearchWatch::SearchWatch(const engine::Words& words, engine::SearchProgress& progress)
    : words_(words), progress_(progress) {
  stops = &progress.stop;
  signal_before_ = std::signal(SIGINT, stop_search);
  if (on_terminal()) thread_ = std::jthread([this](std::stop_token stop) { show(std::move(stop)); });
}

SearchWatch::~SearchWatch() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  std::signal(SIGINT, signal_before_);
  stops = nullptr;
}

void SearchWatch::show(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  bool shown = false;
  const auto is_over = [&](auto wait) {
    over_.wait_for(lock, stop, wait, [] { return false; });
    return stop.stop_requested();
  };
  if (is_over(kPatience)) return;
  do {
    const std::size_t total = progress_.total, done = progress_.done;
    if (total == 0) continue;
    const engine::Sentence line =
        engine::say("cli.search.progress", fmt::format("{:.0f}", 100.0 * double(done) / double(total)));
    fmt::print(stderr, "\r{}", words_.write(line));
    std::fflush(stderr);
    shown = true;
  } while (!is_over(kBetween));
  if (shown) fmt::print(stderr, "\r\033[K");
}

}  // namespace roofscape::app::cli
