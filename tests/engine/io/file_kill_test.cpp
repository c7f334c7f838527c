// A file is whole whenever its writer is killed: old or new, never half of one.
#include <doctest/doctest.h>

#include <sys/resource.h>

#include <string>

#include "engine/io/json/files.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/killed.h"

namespace roofscape {
namespace {

TEST_CASE("a file that is written when its writer is killed has the old text or the new one") {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "file.txt";
  const std::string texts[] = {std::string(300'000, 'a'), std::string(500'000, 'b')};
  folder.write("file.txt", texts[0]);
  std::mt19937 random(20);
  // Each writer begins with the text that is not there. A loaded machine lets few of them come to their first file: so
  // until both texts were left behind, and at least 60 of them, the later ones with longer to live.
  int left_a = 0, kills = 0, longest_us = 4000;
  for (bool both = false; kills < 60 || (!both && kills < 3000); ++kills) {
    if (kills % 60 == 59 && longest_us < 1'000'000) longest_us *= 2;
    const std::size_t first = test::text_of(file) == texts[0] ? 1 : 0;
    REQUIRE(test::killed_at_random(random, longest_us, [&](auto&& start_timer) {
      start_timer();
      for (std::size_t i = first;; ++i) (void)io::write_file_atomically(file, texts[i % 2]);
    }));
    const std::string text = test::text_of(file);
    CHECK((text == texts[0] || text == texts[1]));
    left_a += text == texts[0];
    both = left_a > 0 && left_a <= kills;
  }
  CHECK(left_a > 0);
  CHECK(left_a < kills);
}

TEST_CASE("what cannot be written whole is not written: the old file stays, and nothing beside it") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("file.txt", "old");
  // A limit on the size of files stands for a full disk: the kernel refuses in the middle of the text.
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(io::write_file_atomically(file, std::string(100'000, 'x')).has_value() ? 7 : 0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(test::text_of(file) == "old");
  CHECK(folder.count() == 1);
}

}  // namespace
}  // namespace roofscape
