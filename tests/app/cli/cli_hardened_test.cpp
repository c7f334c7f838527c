// What SECURITY.md promises of the programs that are built for people, read from the program itself.
#include <doctest/doctest.h>
#include <elf.h>

#include <cstring>
#include <string>

#include "tests/app/cli/cli_run.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/test_paths.h"

namespace roofscape {
namespace {

template <class T>
T read_at(const std::string& file, std::size_t offset) {
  T out{};
  REQUIRE(offset + sizeof(T) <= file.size());
  std::memcpy(&out, file.data() + offset, sizeof(T));
  return out;
}

// Of the dynamic section: the value of an entry; 0: there is none.
Elf64_Xword dynamic_value(const std::string& file, const Elf64_Phdr& section, Elf64_Sxword tag) {
  for (std::size_t at = section.p_offset; at < section.p_offset + section.p_filesz; at += sizeof(Elf64_Dyn)) {
    const auto entry = read_at<Elf64_Dyn>(file, at);
    if (entry.d_tag == tag) return entry.d_un.d_val;
  }
  return 0;
}

TEST_CASE("the program lies at random addresses, its function tables are read-only, its stacks guarded") {
  const std::string file = test::text_of(test::cli_program());
  const auto head = read_at<Elf64_Ehdr>(file, 0);
  REQUIRE(std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0);
  CHECK(head.e_type == ET_DYN);
  bool has_relro = false, binds_now = false;
  for (std::size_t i = 0; i < head.e_phnum; ++i) {
    const auto part = read_at<Elf64_Phdr>(file, head.e_phoff + i * head.e_phentsize);
    has_relro |= part.p_type == PT_GNU_RELRO;
    if (part.p_type == PT_GNU_STACK) CHECK((part.p_flags & PF_X) == 0);
    if (part.p_type == PT_DYNAMIC)
      binds_now = (dynamic_value(file, part, DT_FLAGS) & DF_BIND_NOW) != 0 ||
                  (dynamic_value(file, part, DT_FLAGS_1) & DF_1_NOW) != 0;
  }
  CHECK(has_relro);
  CHECK(binds_now);
  CHECK(file.find("__stack_chk_fail") != std::string::npos);
}

}  // namespace
}  // namespace roofscape
