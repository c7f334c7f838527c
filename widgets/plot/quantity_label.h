// The texts of a quantity, by its value of Q or by its id, which may name one of several of a kind
// ("links.bytes_per_s[fsdp]"): that index is not part of the texts.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/quantity.h"
#include "widgets/plot/text_table.h"

namespace roofscape::widgets {

// A few words: "step time".
std::string quantity_label(const TextTable& texts, engine::Q q);
std::string quantity_label(const TextTable& texts, std::string_view id);
// A sentence.
std::string quantity_about(const TextTable& texts, engine::Q q);
std::string quantity_about(const TextTable& texts, std::string_view id);

// Where the number of a line of a derivation comes from: the rule of its formula, or the publication or setting of an
// input. The engine says it in English, in parts ("sum of the parts; scaling book ch. 4"); a part that the table knows as
// "source.<part>" is said in its language.
std::string source_text(const TextTable& texts, std::string_view source);

// 70.6 B, 107 M, 882: parameters count in billions, not giga. `trim_zeros`: 405 B, 7 B.
std::string parameters_text(const TextTable& texts, double parameters, bool trim_zeros = false);

}  // namespace roofscape::widgets
