// The receipt of an import as text for a terminal.
#pragma once

#include <string>

#include "engine/io/import/imported.h"
#include "widgets/plot/text_table.h"

namespace roofscape::app {

std::string receipt_text(const io::Imported& imported, const std::string& file, const widgets::TextTable& texts);

}  // namespace roofscape::app
