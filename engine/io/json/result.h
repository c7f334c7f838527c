// What reading can come to: a value, or one InputError that says what is wrong, where, and what to do about it.
// Nothing in engine/io throws across its interface.
#pragma once

#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "engine/base/sentence.h"

namespace roofscape::io {

struct InputError {
  std::string file;              // as the user named it; empty when there is none (--set)
  std::string path;              // dotted path of the field, "cluster.slice.1"; empty for the whole
  engine::Sentence message;      // what is wrong
  engine::Sentence remedy = {};  // what would be right; may be empty
  engine::Sentence place = {};   // where no path says it: "line 3, column 7"
};

// What a program that gives up says of what was thrown: out of memory, or a mistake of ours.
InputError error_of(const std::exception& thrown);

// "FILE: PATH: what is wrong; remedy" on one line, whatever bytes the parts hold.
std::string to_text(const InputError& error, const engine::Words& words);

// Words of the input or names as one list: "a, b, c".
std::string listed(std::span<const std::string_view> words);

// A piece of input put in quotation marks for a message: control characters replaced, long text cut.
std::string in_quotes(std::string_view text);

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}           // NOLINT: meant to convert
  Result(InputError error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: meant to convert

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  // Preconditions: ok() for the value, !ok() for the error.
  const T& value() const& { return *std::get_if<0>(&state_); }
  T& value() & { return *std::get_if<0>(&state_); }
  T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  const T* operator->() const { return std::get_if<0>(&state_); }
  T* operator->() { return std::get_if<0>(&state_); }
  const InputError& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, InputError> state_;
};

using Failure = std::optional<InputError>;

}  // namespace roofscape::io
