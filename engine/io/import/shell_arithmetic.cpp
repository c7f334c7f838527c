// Whole-number arithmetic of a shell: $((...)), (( )), and the offsets of ${name:...}.
#include <cctype>
#include <charconv>

#include "engine/base/ascii.h"
#include "engine/io/import/shell_expand.h"

namespace roofscape::io {
namespace {

// sum := product (+|- product)*; product := unary (*|/|% unary)*; unary := -unary | (sum) | number | name
class Arithmetic {
 public:
  Arithmetic(ShellVariables& variables, std::string_view text, int depth)
      : variables_(variables), text_(text), depth_(depth) {}

  std::optional<std::int64_t> run() {
    if (depth_ > kMostNestedExpansions || !variables_.may_evaluate()) return std::nullopt;
    const auto value = choice();
    blanks();
    if (at_ != text_.size()) return std::nullopt;
    return value;
  }

 private:
  using Number = std::optional<std::int64_t>;
  static constexpr int kMostNested = 128;

  void blanks() {
    while (at_ < text_.size() && (std::isspace(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '"'))
      ++at_;
  }
  bool take(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  // a > b ? a : b
  Number choice() {
    if (++nested_ > kMostNested) return std::nullopt;
    const Number out = choice_inside();
    --nested_;
    return out;
  }
  Number choice_inside() {
    const Number test = comparison();
    if (!test || !take('?')) return test;
    const Number yes = choice();
    if (!yes || !take(':')) return std::nullopt;
    const Number no = choice();
    return !no ? std::nullopt : *test != 0 ? yes : no;
  }
  Number comparison() {
    const Number left = sum();
    blanks();
    if (!left || at_ >= text_.size()) return left;
    const std::string_view rest = text_.substr(at_);
    for (const std::string_view op : {"==", "!=", ">=", "<=", ">", "<"}) {
      if (!rest.starts_with(op)) continue;
      at_ += op.size();
      const Number right = sum();
      if (!right) return std::nullopt;
      const bool holds = op == "=="   ? *left == *right
                         : op == "!=" ? *left != *right
                         : op == ">=" ? *left >= *right
                         : op == "<=" ? *left <= *right
                         : op == ">"  ? *left > *right
                                      : *left < *right;
      return holds ? 1 : 0;
    }
    return left;
  }
  Number sum() {
    Number left = product();
    while (left) {
      const bool plus = take('+');
      if (!plus && !take('-')) return left;
      const Number right = product();
      std::int64_t out = 0;
      if (!right ||
          (plus ? __builtin_add_overflow(*left, *right, &out) : __builtin_sub_overflow(*left, *right, &out)))
        return std::nullopt;
      left = out;
    }
    return left;
  }
  Number product() {
    Number left = unary();
    while (left) {
      blanks();
      const char op = at_ < text_.size() ? text_[at_] : '\0';
      if (op != '*' && op != '/' && op != '%') return left;
      ++at_;
      const Number right = unary();
      std::int64_t out = 0;
      if (!right) return std::nullopt;
      if (op == '*') {
        if (__builtin_mul_overflow(*left, *right, &out)) return std::nullopt;
      } else {
        if (*right == 0 || (*right == -1 && *left == INT64_MIN)) return std::nullopt;
        out = op == '/' ? *left / *right : *left % *right;
      }
      left = out;
    }
    return left;
  }
  Number unary() {
    if (++nested_ > kMostNested) return std::nullopt;
    const Number out = unary_inside();
    --nested_;
    return out;
  }
  Number unary_inside() {
    if (take('-')) {
      const Number value = unary();
      if (!value || *value == INT64_MIN) return std::nullopt;
      return -*value;
    }
    if (take('+')) return unary();
    if (take('(')) {
      const Number value = choice();
      return take(')') ? value : std::nullopt;
    }
    blanks();
    if (at_ >= text_.size()) return std::nullopt;
    if (engine::is_digit(text_[at_])) return number();
    std::size_t end = at_;
    std::string_view name;
    if (text_[at_] == '$') {
      end = shell_piece_end(text_, at_);
      std::string_view written = text_.substr(at_, end - at_);
      if (written == "$") {
        while (end < text_.size() && is_name_character(text_[end])) ++end;
        written = text_.substr(at_, end - at_);
      }
      at_ = end;
      // Whatever a word may be: ${X:-8}, $X, $((...)).
      return value_of(variables_.expand_nested(written, depth_ + 1));
    }
    while (end < text_.size() && is_name_character(text_[end])) ++end;
    name = text_.substr(at_, end - at_);
    if (!is_shell_name(name)) return std::nullopt;
    at_ = end;
    const auto* value = variables_.find(name);
    return value == nullptr ? std::nullopt : value_of(*value);
  }
  Number value_of(const ShellVariables::Fields& fields) {
    if (fields.size() != 1) return std::nullopt;
    for (const ShellChar& c : fields[0])
      if (c.open != 0) return std::nullopt;
    const std::string text = plain(fields[0]);
    return Arithmetic(variables_, text, depth_ + 1).run();
  }
  Number number() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) return std::nullopt;
    at_ = static_cast<std::size_t>(end - text_.data());
    if (at_ < text_.size() && is_name_character(text_[at_]))
      return std::nullopt;  // 0x10, 1e3: nothing sizes are written in
    return value;
  }

  ShellVariables& variables_;
  std::string_view text_;
  int depth_;
  std::size_t at_ = 0;
  int nested_ = 0;
};

}  // namespace

std::optional<std::int64_t> ShellVariables::arithmetic(std::string_view expression, int depth) {
  return Arithmetic(*this, expression, depth).run();
}

}  // namespace roofscape::io
