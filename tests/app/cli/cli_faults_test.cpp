// A disk that is full or broken, and too little memory: the command says so in one line, and leaves the file it was to
// write as it was, or whole. The faults are made by a library that is loaded before the C library (faults.cpp).
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/app/cli/cli_run.h"
#include "tests/capture_binding.h"

namespace roofscape {
namespace {

using test::Outcome;
using test::run;
using test::TemporaryFolder;

// Commands that write a file.
struct Writes {
  const char *arguments, *file;
};
constexpr Writes kWriting[] = {
    {"figure step llama3-8b-8-h100 -o out.svg", "out.svg"},
    {"figure pipeline gpt3-175b-1024-a100 -o out.pdf", "out.pdf"},
    {"figure memory llama3-8b-8-h100 -o out.png", "out.png"},
    {"figure roofline llama3-8b-8-h100 -o out.html", "out.html"},
    {"figure step llama3-8b-8-h100 -o out.csv", "out.csv"},
    {"figure step llama3-8b-8-h100 -o out.svg --caption out.tex", "out.tex"},
    {"trace gpt3-175b-1024-a100 -o out.json", "out.json"},
    {"trace gpt3-175b-1024-a100 -o out.csv", "out.csv"},
    {"export-flags llama3-8b-8-h100 --for megatron -o out.sh", "out.sh"},
    {"import --cluster dgx-h100 -o out.json -- torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 "
     "--hidden-size 4096 --num-attention-heads 32 --seq-length 4096 --global-batch-size 64 --vocab-size 32000",
     "out.json"},
};
constexpr const char* kPrinting[] = {
    "eval llama3-8b-8-h100 --json",
    "search llama3-8b-8-h100",
    "search llama3-8b-8-h100 --json",
    "sweep llama3-8b-8-h100 --vary parallelism.tensor=1,2",
    "check llama3-8b-8-h100",
    "explain llama3-8b-8-h100 step.time_s",
    "compare llama3-8b-8-h100 --measured step=12.1s",
    "validate",
    "tour intro --check",
};

Outcome run_with(const std::string& fault, const TemporaryFolder& folder, const std::string& arguments) {
  return run(folder, arguments, "LD_PRELOAD='" ROOFSCAPE_FAULTS "' ROOFSCAPE_FAULT=" + fault);
}

bool is_one_line(const std::string& text) { return !text.empty() && text.find('\n') == text.size() - 1; }

TEST_CASE("a disk that fails leaves the old file or the new one, and is told of in one line") {
  for (const auto& [arguments, file] : kWriting) {
    const TemporaryFolder clean;
    REQUIRE(run(clean, arguments).code == 0);
    const std::string made = test::text_of(clean.path() / file);
    bool was_reached = false;
    for (const std::string fault : {"write=1", "write=2", "fsync=1", "fsync=2", "rename=1"}) {
      CAPTURE_BINDING(arguments);
      CAPTURE(fault);
      const TemporaryFolder folder;
      folder.write(file, "old");
      const Outcome o = run_with(fault, folder, arguments);
      const std::string left = test::text_of(folder.path() / file);
      if (o.code == 0) {  // fewer such calls than that
        CHECK(left == made);
        continue;
      }
      was_reached = true;
      CHECK(o.code == 2);
      CHECK(is_one_line(o.err));
      CHECK((left == "old" || left == made));
      for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
        CHECK(std::filesystem::exists(clean.path() / entry.path().filename()));  // nothing half made beside it
    }
    CHECK(was_reached);
  }
}

TEST_CASE("a folder that may not be written to is told of in one line, and the old file stays") {
  for (const auto& [arguments, file] : kWriting) {
    CAPTURE_BINDING(arguments);
    const TemporaryFolder folder;
    folder.write(file, "old");
    const Outcome o = run_with("create=1", folder, arguments);
    CHECK(o.code == 2);
    CHECK(is_one_line(o.err));
    CHECK(o.err.find(std::string(file) + ": cannot be written: Read-only file system") != std::string::npos);
    CHECK(test::text_of(folder.path() / file) == "old");
    CHECK(folder.count() == 1);
  }
  const TemporaryFolder folder;  // what only prints needs no file
  for (const char* const arguments : kPrinting) CHECK(run_with("create=1", folder, arguments).code <= 1);
}

TEST_CASE("too little memory is told of in one line, and nothing half made is left") {
  bool was_reached = false;
  const auto check = [&](const TemporaryFolder& folder, const std::string& arguments, int bytes) {
    const Outcome o = run_with("allocate_above=" + std::to_string(bytes), folder, arguments);
    CAPTURE(arguments);
    CAPTURE(bytes);
    CAPTURE(o.err);
    CHECK((o.code >= 0 && o.code <= 2));
    if (o.code != 2) return o.code;
    was_reached = true;
    CHECK(is_one_line(o.err));
    CHECK(o.err.find("out of memory") != std::string::npos);
    return o.code;
  };
  for (const int bytes : {2'000, 30'000, 100'000, 400'000}) {
    for (const auto& [arguments, file] : kWriting) {
      const TemporaryFolder folder;
      folder.write(file, "old");
      const int code = check(folder, arguments, bytes);
      const std::string left = test::text_of(folder.path() / file);
      CHECK((code == 2) == (left == "old"));
    }
    const TemporaryFolder folder;
    for (const char* const arguments : kPrinting) check(folder, arguments, bytes);
    CHECK(folder.count() == 0);
  }
  CHECK(was_reached);
}

}  // namespace
}  // namespace roofscape
