// What a figure shows, as tab-separated text with a head line: for the clipboard and a spreadsheet. Base units.
#pragma once

#include <string>
#include <string_view>

#include "engine/report.h"
#include "widgets/text_table.h"

namespace roofscape::app {

std::string figure_data(std::string_view figure, const engine::Report& report, const widgets::TextTable& texts);

}  // namespace roofscape::app
