// Flags of Megatron-LM and what they are in a scenario. One table for reading, writing and for names in `--set`.
#pragma once

#include <span>
#include <string_view>

namespace roofscape::io {

// A flag whose value is that of a field, as it is.
struct FlagField {
  std::string_view flag, field;
};
std::span<const FlagField> megatron_fields();
// Empty: no such flag is a field by itself.
std::string_view megatron_field_of(std::string_view flag);
// Whether the flag is known and decides nothing that is computed: learning rates, logging, data, saving.
bool megatron_without_effect(std::string_view flag);
// Whether the flag is known and says what communication runs under work, which one share of assumptions stands for.
bool megatron_overlaps(std::string_view flag);
// Whether the flag is known and changes what is computed, and nothing here stands for it.
bool megatron_not_modelled(std::string_view flag);

}  // namespace roofscape::io
