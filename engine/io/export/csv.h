// A field of a CSV file as RFC 4180 has it.
#pragma once

#include <string>
#include <string_view>

namespace roofscape::io {

// In quotation marks where the text holds the separator, a quotation mark or a line's end. A text that a spreadsheet would
// take for a formula (it begins with = + - @ and is no number) gets an apostrophe before it.
std::string csv_field(std::string_view text, char separator = ',');

}  // namespace roofscape::io
