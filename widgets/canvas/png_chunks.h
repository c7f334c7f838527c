// What Cairo leaves out of a PNG: how large it is on paper, and texts. Both are chunks of the PNG specification (pHYs,
// tEXt), put behind the header.
#pragma once

#include <string>
#include <string_view>

namespace roofscape::widgets {

// `png` with its resolution, in pixels per metre, and, unless `text` is empty, a text under `keyword` (both Latin-1, the
// keyword 1 to 79 characters). What is no PNG comes back as it is.
std::string with_png_chunks(std::string png, double pixels_per_metre, std::string_view keyword,
                            std::string_view text);

}  // namespace roofscape::widgets
