// Numbers as people type them, with their units: "13B", "40 %", "8,960", "500 ms", "64 GiB", "1.2 TB/s", "3 days".
// One reader for every place a number is typed: value boxes, the palette, `--set`, `--vary`, `calc key=value`.
//
// Rules
//  - A number without a unit is in the base unit (seconds, bytes, FLOP/s), whatever the box shows at the time.
//  - A share without a sign is a fraction up to 1 ("0.5" is 50 %) and a percentage from 2 on ("35" is 35 %); between
//    the two it is refused, since it may be either.
//  - k, M, G (or B), T, P, E are thousands, millions and so on; Ki, Mi, Gi, Ti are powers of 1024. A lone "m" is
//    refused: it may be milli, mega or minutes. "Gb" is refused where bytes are meant; "400 Gb/s" is bits a second.
//  - Commas, spaces and underscores group digits in threes; a comma is never a decimal point.
//  - A unit of another kind ("500 ms" for bytes) is refused, and the answer names what is taken.
#pragma once

#include <optional>
#include <string_view>

#include "engine/base/sentence.h"
#include "engine/base/unit.h"

namespace roofscape::engine {

struct NumberReading {
  std::optional<double> value;  // in the base unit, finite; none: it could not be read, and
  Sentence problem, remedy;     // these say why and what to type instead
  explicit operator bool() const { return value.has_value(); }
  double operator*() const { return *value; }
};

NumberReading read_number(std::string_view text, const Unit& unit);

// Whether the text ends in a unit or a prefix of its own, so that the base unit does not apply: "30 ms", "2k", "40%".
bool names_unit(std::string_view text);

// What is taken for this unit, with an example: "bytes, such as 80 GB".
Sentence expected_number(const Unit& unit);

}  // namespace roofscape::engine
