#include "engine/io/import/repeated_list.h"

#include <cctype>
#include <charconv>

namespace roofscape::io {

namespace {

constexpr std::size_t kLongest = 10'000;
using List = std::optional<std::vector<int>>;

// sum := term (+ term)*; term := item (* number)*; item := [numbers] | (sum)
class RepeatedList {
 public:
  explicit RepeatedList(std::string_view text) : text_(text) {}

  List run() {
    List out = sum(0);
    blanks();
    return out && at_ == text_.size() && !out->empty() ? out : std::nullopt;
  }

 private:
  void blanks() {
    while (at_ < text_.size() &&
           (std::isspace(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '\'' || text_[at_] == '"'))
      ++at_;
  }
  bool take(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::optional<int> number() {
    blanks();
    int value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) return std::nullopt;
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }
  List sum(int depth) {
    if (depth > 16) return std::nullopt;
    List out = term(depth);
    while (out && take('+')) {
      const List more = term(depth);
      if (!more || out->size() + more->size() > kLongest) return std::nullopt;
      out->insert(out->end(), more->begin(), more->end());
    }
    return out;
  }
  List term(int depth) {
    List out = item(depth);
    while (out && take('*')) {
      const auto times = number();
      if (!times || out->size() * static_cast<std::size_t>(*times) > kLongest) return std::nullopt;
      const std::vector<int> once = *out;
      out->clear();
      for (int i = 0; i < *times; ++i) out->insert(out->end(), once.begin(), once.end());
    }
    return out;
  }
  List item(int depth) {
    if (take('(')) {
      List out = sum(depth + 1);
      return take(')') ? out : std::nullopt;
    }
    const bool bracket = take('[');
    std::vector<int> out;
    do {
      const auto value = number();
      if (!value || out.size() >= kLongest) return std::nullopt;
      out.push_back(*value);
    } while (take(','));
    if (bracket && !take(']')) return std::nullopt;
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::vector<int>> read_repeated_list(std::string_view text) { return RepeatedList(text).run(); }

}  // namespace roofscape::io
