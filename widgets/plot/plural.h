#pragma once

// Which form of a noun goes with a number: the cardinal rules of the Unicode CLDR (version 45) for the languages there
// are words for. A language that is not listed has English rules.

#include <cstdint>
#include <string_view>

#include "engine/base/enum_table.h"

namespace roofscape::widgets {

enum class PluralForm : std::uint8_t { one, few, many, other };
// Ends of keys in the strings files: "ui.pin.edits.one", "ui.pin.edits.other".
inline constexpr engine::EnumTable<PluralForm> kPluralFormIds{"one", "few", "many", "other"};

// `language`: "en", "ko", "ru", also with a region ("en-GB"). The number as it is shown: 1.5 is no whole number.
PluralForm plural_form(std::string_view language, double number);

}  // namespace roofscape::widgets
