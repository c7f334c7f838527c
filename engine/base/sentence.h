// A sentence for a person, before it is in any language: the key of its text (assets/strings/<language>.json) and what
// is put into it. Engine and readers answer with these; who has the texts writes them (Words). So a language is one
// file, and nothing below the texts has words of its own.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roofscape::engine {

// A key is written out where the sentence is said, never put together, so that a search for it finds the place.
class SentenceKey {
 public:
  consteval SentenceKey(const char* key) : text_(key) {}  // NOLINT: meant to convert
  constexpr std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

struct Sentence {
  Sentence() = default;
  // What stands as it is in every language: a word of the input, a name, a number, what the system said.
  Sentence(std::string as_it_is) : verbatim(std::move(as_it_is)) {}  // NOLINT: meant to convert
  Sentence(std::string_view as_it_is) : verbatim(as_it_is) {}        // NOLINT: meant to convert
  Sentence(const char*) = delete;                                    // words of ours have a key

  bool empty() const { return key.empty() && verbatim.empty(); }
  bool operator==(const Sentence&) const = default;

  std::string_view key;  // of the text; empty: `verbatim` is all
  std::string verbatim;
  std::vector<Sentence> parts;  // {0}, {1}, ... of the text
  std::optional<double> count;  // what the form of the text goes with ("key.one", "key.other"); none: one form
};

template <class Part>
Sentence sentence_part(Part&& part) {
  if constexpr (std::integral<std::remove_cvref_t<Part>>)
    return Sentence(std::to_string(part));
  else
    return Sentence(std::forward<Part>(part));
}

// The text of a key with these parts: sentences, words of the input, whole numbers.
template <class... Parts>
Sentence say(SentenceKey key, Parts&&... parts) {
  Sentence out;
  out.key = key.text();
  (out.parts.push_back(sentence_part(std::forward<Parts>(parts))), ...);
  return out;
}

// The same in the form that goes with a count, which is {0}.
template <class... Parts>
Sentence say_count(SentenceKey key, std::integral auto count, Parts&&... parts) {
  Sentence out = say(key, count, std::forward<Parts>(parts)...);
  out.count = static_cast<double>(count);
  return out;
}

// Whoever has the texts of a language.
class Words {
 public:
  virtual ~Words() = default;
  virtual std::string write(const Sentence&) const = 0;

 protected:
  Words() = default;
  Words(const Words&) = default;
  Words(Words&&) = default;
  Words& operator=(const Words&) = default;
  Words& operator=(Words&&) = default;
};

}  // namespace roofscape::engine
