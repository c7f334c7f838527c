// Any bytes as a kept session: what is read is written and read again as the same. Run by libFuzzer.
#include "engine/io/scenario/session_json.h"
#include "tests/fuzz/fuzz_words.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace roofscape;
  const auto session = io::read_session(fuzz::text_of(data, size), "fuzz.json", fuzz::library());
  if (!session) {
    fuzz::one_line(session.error());
    return 0;
  }
  const auto again =
      io::read_session(io::write_session(session.value(), fuzz::library()), "again.json", fuzz::library());
  if (!again || again->tabs.size() != session->tabs.size()) std::abort();
  for (std::size_t i = 0; i < again->tabs.size(); ++i)
    if (!(again->tabs[i].scenario == session->tabs[i].scenario)) std::abort();
  return 0;
}
