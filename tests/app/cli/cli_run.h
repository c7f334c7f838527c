// Runs roofscape-cli as a user does.
#pragma once

#include <string>

#include "tests/engine/io/io_fixture.h"

namespace roofscape::test {

struct Outcome {
  int code = -1;
  std::string out, err;
};

// Arguments that are refused, and words of the answer.
struct Refusal {
  const char *arguments, *answer;
};

// Runs the program through the shell in an empty folder; `arguments` may quote as a shell does, and redirect what it reads.
// `environment`: more of it, as VARIABLE=VALUE.
Outcome run(const TemporaryFolder& folder, const std::string& arguments, const std::string& environment = {});

Outcome run(const std::string& arguments);

}  // namespace roofscape::test
