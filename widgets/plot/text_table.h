// TextTable: every text a person reads, by key. Figures, panels and the command line take their words from here,
// never from literals. Where the table comes from (assets/strings/<lang>.json) is the caller's business. Errors: a
// key that is not there is shown as itself, so a missing text is seen instead of a gap.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/base/sentence.h"
#include "widgets/canvas/number_format.h"

namespace roofscape::widgets {

class TextTable : public engine::Words {
 public:
  struct KeyHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };
  using Texts = std::unordered_map<std::string, std::string, KeyHash, std::equal_to<>>;

  TextTable() = default;
  // `language`: whose rules of plural the table has (plural.h).
  explicit TextTable(Texts texts, std::string_view language = "en") : texts_(std::move(texts)), language_(language) {}

  bool has(std::string_view key) const { return texts_.find(key) != texts_.end(); }
  // The text of a key; the key itself where there is none. The view lives as long as the table (or the key).
  std::string_view text(std::string_view key) const;
  // The text with {0}, {1}, ... replaced by the arguments (already formatted values). "{2}" stands
  // where there are two arguments. "{0:chip|chips}" is the word that goes with argument 0 as it is read, a number: one
  // and other, or one, few and many, as the language counts.
  std::string format(std::string_view key, std::span<const std::string> arguments) const;
  std::string format(std::string_view key, std::initializer_list<std::string> arguments) const {
    return format(key, std::span<const std::string>(arguments.begin(), arguments.size()));
  }
  // The key of the form that goes with a number: "steps.one", "steps.few", "steps.many" or "steps.other". A table without
  // that form has "steps.other".
  std::string plural_key(std::string_view key, double number) const;
  // Its text: {0} is the number as a count, {1} and on are `more`.
  std::string count(std::string_view key, double number, std::initializer_list<std::string> more = {}) const;
  // A sentence of the engine with its parts, one within the other.
  std::string write(const engine::Sentence& sentence) const override;
  // A value with its unit, as format() writes it, but nouns ("unit.layers.one") in the language and form that go with
  // the number as it is printed.
  std::string amount(double value, const engine::Unit& unit, const NumberOptions& options = {}) const;
  std::string difference(double value, const engine::Unit& unit) const;  // the same, always with its sign
  std::string noun(const engine::Unit& unit, double value) const;  // the symbol where the table has no noun for it
  const Texts& all() const { return texts_; }

 private:
  Texts texts_;
  std::string language_ = "en";
};

}  // namespace roofscape::widgets
