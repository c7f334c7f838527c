// What frameworks call the fields of a scenario: one table, by which plans are written for them, and by which their names
// are accepted where a field is named (`--set TP=8`, the constraints of a search, the palette); so is the last part of
// a field's own path (`--set tensor=8`).
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "engine/frameworks/framework.h"

namespace roofscape::engine {

// A choice in a framework's word and in that of the field.
using WordPair = std::pair<std::string_view, std::string_view>;

struct Synonym {
  Framework framework;
  std::string_view
      key;  // as the framework writes it: "tensor-model-parallel-size", "parallelism.tensor_parallel_degree"
  std::string_view path;  // of the field
  std::span<const WordPair> words =
      {};  // of a choice; a word may stand for another, the first for a choice is written
};
std::span<const Synonym> synonyms();

// The key that a framework's files have for a field; empty: the table has none.
std::string_view key_for(Framework, std::string_view path);
// The word that it has for a choice of the field; empty: none.
std::string_view word_for(Framework, std::string_view path, std::string_view choice);

// A field by any framework's name for it, written as there or shortened as in papers (TP, dp_shard): without regard to
// case, to leading dashes and to whether words are joined by dashes, underscores or not at all. Of a dotted key the last
// part will do, and of a field's own path, which comes first: "mode" is assumptions.mode. A name of two fields is
// nobody's, but for the axes of the mesh: "tensor" is parallelism.tensor. Null: no field has it.
struct NamedField {
  std::string_view path;
  std::span<const WordPair> words;
};
const NamedField* find_named_field(std::string_view name);
// The field's word for a choice that was named with a framework's; the word itself where it is no framework's.
std::string_view choice_named(const NamedField&, std::string_view word);
// The choice of a field that frameworks have this word for; empty: none has, or two mean different choices.
std::string_view choice_called(std::string_view path, std::string_view word);

}  // namespace roofscape::engine
