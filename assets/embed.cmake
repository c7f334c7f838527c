# Script (cmake -P): writes OUTPUT, a C++ file that puts the bytes of every file listed in LIST (one path a line, relative
# to ROOT) into the program. The assembler reads them: compilers take seconds for literals of this size.
file(STRINGS "${LIST}" paths)
set(bytes "")
set(names "")
set(entries "")
set(index 0)
foreach(path IN LISTS paths)
  set(name "roofscape_resource_${index}")
  string(APPEND bytes "${name}: .incbin \"${ROOT}/${path}\"\n")
  string(APPEND names "extern const char ${name}[];\n")
  math(EXPR next "${index} + 1")
  string(APPEND entries "      {\"${path}\", text(roofscape_resource_${index}, roofscape_resource_${next})},\n")
  set(index ${next})
endforeach()
string(APPEND bytes "roofscape_resource_${index}: .byte 0\n")
string(APPEND names "extern const char roofscape_resource_${index}[];\n")
file(WRITE "${OUTPUT}.new" "// Written by assets/embed.cmake from the list of JSON files of the tree.
#include <cstddef>

#include \"engine/io/presets/resources.h\"

asm(R\"(.pushsection .rodata
${bytes}.popsection)\");

extern \"C\" {
${names}}

namespace roofscape::io {

std::span<const Resource> embedded_resources() {
  const auto text = [](const char* from, const char* to) {
    return std::string_view(from, static_cast<std::size_t>(to - from));
  };
  static const Resource resources[] = {
${entries}  };
  return resources;
}

}  // namespace roofscape::io
")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${OUTPUT}.new")
