// A tour as one HTML page that needs no network: each scene with its figure covered, the choices, and the answer once it is
// asked for. Figures are pictures inside the page, texts are escaped, the score is counted by the page itself.
#pragma once

#include <string>
#include <string_view>

#include "app/tours/tour_play.h"
#include "engine/io/json/result.h"
#include "widgets/canvas/font_stack.h"
#include "widgets/canvas/theme.h"

namespace roofscape::app {

// Errors: a figure could not be drawn.
io::Result<std::string> tour_page(const io::Tour& tour, const io::PresetLibrary& library,
                                  const widgets::TextTable& texts, const widgets::Theme& theme,
                                  const widgets::FontStack& fonts);
// Text as it stands in HTML, between tags and in quoted attributes.
std::string html_text(std::string_view text);

}  // namespace roofscape::app
