// Lists of whole numbers as Python programs take them for an option: "[0]*3+[1]*58", "([1]*3+[0]*1)*12", "1,1,0". Read as
// data; nothing is evaluated beyond + and *.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace roofscape::io {

// None: it is no such list, or is longer than 10,000.
std::optional<std::vector<int>> read_repeated_list(std::string_view text);

}  // namespace roofscape::io
