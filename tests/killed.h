// Runs something in a process of its own and kills it at a random moment, by a timer in that process: nothing waits.
#pragma once

#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

namespace roofscape::test {

// `work` never ends by itself, and calls what it is given when the timer may start. False if it ended, or could not be
// started.
template <class Work>
bool killed_at_random(std::mt19937& random, int most_microseconds, Work&& work) {
  const auto after = 1 + static_cast<int>(random() % static_cast<unsigned>(most_microseconds));
  const pid_t child = ::fork();
  if (child < 0) return false;
  if (child == 0) {
    ::signal(SIGALRM, SIG_DFL);  // ends the process wherever it is
    work([after] {
      const itimerval timer{{0, 0}, {after / 1'000'000, after % 1'000'000}};
      ::setitimer(ITIMER_REAL, &timer, nullptr);
    });
    ::_exit(0);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFSIGNALED(status);
}

}  // namespace roofscape::test
