#include "engine/io/import/shell_expand.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace roofscape::io {

namespace {

constexpr int kMostNestedExpansions = 16;

bool name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool name_character(char c) { return name_start(c) || (c >= '0' && c <= '9'); }

}  // namespace

bool is_shell_name(std::string_view word) {
  return !word.empty() && name_start(word[0]) && std::all_of(word.begin(), word.end(), name_character);
}

const ShellVariables::Fields* ShellVariables::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

void ShellVariables::unset(std::string_view name) {
  if (const auto found = values_.find(name); found != values_.end()) values_.erase(found);
}

// One word on its way to fields.
class ShellExpansion {
 public:
  ShellExpansion(ShellVariables& variables, bool split, int depth)
      : variables_(variables), split_(split), depth_(depth) {}

  void run(std::string_view raw, const std::int32_t* lines) {
    lines_ = lines;
    base_ = raw.data();
    expand(raw, false);
    if (started_) fields_.push_back(std::move(current_));
  }
  ShellVariables::Fields take() { return std::move(fields_); }

 private:
  using Fields = ShellVariables::Fields;

  std::int32_t line(const char* at) const { return lines_ == nullptr ? 0 : lines_[at - base_]; }

  void put(char c, bool quoted, std::uint8_t open, std::int32_t at_line) {
    if (++variables_.made_ > ShellVariables::kMostCharacters) return;
    current_.push_back({c, quoted, open, at_line});
    started_ = true;
  }
  void put_open(std::string_view written, std::uint8_t kind, std::int32_t at_line) {
    for (const char c : written) put(c, true, kind, at_line);
    started_ = true;
  }
  void end_field() {
    if (started_) fields_.push_back(std::move(current_));
    current_.clear();
    started_ = false;
  }
  // A value inside a word: its own blanks split it unless it is quoted.
  void put_value(const ShellText& value, bool quoted) {
    if (quoted) started_ = true;
    for (const ShellChar& c : value) {
      const bool blank = c.c == ' ' || c.c == '\t' || c.c == '\n';
      if (blank && !quoted && split_ && c.open == 0)
        end_field();
      else
        put(c.c, quoted || c.open != 0, c.open, c.line);
    }
  }
  void put_fields(const Fields& values, bool quoted, bool joined) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) {
        if (!split_ || (joined && quoted))
          put(' ', quoted, 0, values[i].empty() ? 0 : values[i][0].line);
        else
          end_field();
      }
      put_value(values[i], quoted);
    }
  }

  void expand(std::string_view raw, bool quoted) {
    for (std::size_t i = 0; i < raw.size() && !variables_.exhausted();) {
      const char c = raw[i];
      if (c == '\\') {
        if (i + 1 >= raw.size()) {
          ++i;
        } else if (raw[i + 1] == '\n') {
          i += 2;
        } else if (quoted && std::string_view("$`\"\\").find(raw[i + 1]) == std::string_view::npos) {
          put(c, true, 0, line(&raw[i]));
          ++i;
        } else {
          put(raw[i + 1], true, 0, line(&raw[i]));
          i += 2;
        }
      } else if (c == '\'' && !quoted) {
        const std::size_t end = shell_piece_end(raw, i);
        started_ = true;
        for (std::size_t k = i + 1; k + 1 < end || (k < end && raw[k] != '\''); ++k)
          put(raw[k], true, 0, line(&raw[k]));
        i = end;
      } else if (c == '"' && !quoted) {
        const std::size_t end = shell_piece_end(raw, i);
        started_ = true;
        const bool closed = end > i + 1 && raw[end - 1] == '"';
        expand(raw.substr(i + 1, end - i - 1 - (closed ? 1 : 0)), true);
        i = end;
      } else if (c == '`') {
        const std::size_t end = shell_piece_end(raw, i);
        put_open(raw.substr(i, end - i), kOpenSubstitution, line(&raw[i]));
        i = end;
      } else if (c == '$' && i + 1 < raw.size()) {
        i = dollar(raw, i, quoted);
      } else {
        put(c, quoted, 0, line(&raw[i]));
        ++i;
      }
    }
  }

  std::size_t dollar(std::string_view raw, std::size_t i, bool quoted) {
    const char next = raw[i + 1];
    if (next == '(') {
      const std::size_t end = shell_piece_end(raw, i);
      const std::string_view written = raw.substr(i, end - i);
      if (written.starts_with("$((") && written.ends_with("))") && written.size() >= 5) {
        if (const auto value = variables_.arithmetic(written.substr(3, written.size() - 5), depth_ + 1)) {
          for (const char digit : std::to_string(*value)) put(digit, quoted, 0, line(&raw[i]));
          return end;
        }
        put_open(written, kOpenOther, line(&raw[i]));
        return end;
      }
      put_open(written, kOpenSubstitution, line(&raw[i]));
      return end;
    }
    if (next == '{') {
      const std::size_t end = shell_piece_end(raw, i);
      const std::string_view written = raw.substr(i, end - i);
      if (written.size() < 3 || !written.ends_with('}') || depth_ > kMostNestedExpansions)
        put_open(written, kOpenOther, line(&raw[i]));
      else
        parameter(written.substr(2, written.size() - 3), written, quoted, line(&raw[i]));
      return end;
    }
    if (next == '\'' && !quoted) return i + 1;  // $'...': read as '...'
    if (name_start(next)) {
      std::size_t end = i + 1;
      while (end < raw.size() && name_character(raw[end])) ++end;
      parameter(raw.substr(i + 1, end - i - 1), raw.substr(i, end - i), quoted, line(&raw[i]));
      return end;
    }
    if (std::isdigit(static_cast<unsigned char>(next)) != 0 ||
        std::string_view("@*#?$!-").find(next) != std::string_view::npos) {
      parameter(raw.substr(i + 1, 1), raw.substr(i, 2), quoted, line(&raw[i]));
      return i + 2;
    }
    put('$', quoted, 0, line(&raw[i]));
    return i + 1;
  }

  // None: nothing sets it. Fields of an array, of $@ or of one value.
  std::optional<Fields> lookup(std::string_view name) const {
    if (name == "@" || name == "*") {
      if (variables_.in_function) return variables_.arguments;
      return std::nullopt;
    }
    if (!name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) != 0) {
      std::size_t n = 0;
      std::from_chars(name.data(), name.data() + name.size(), n);
      if (variables_.in_function && n >= 1 && n <= variables_.arguments.size())
        return Fields{variables_.arguments[n - 1]};
      if (variables_.in_function && n >= 1) return Fields{ShellText{}};
      return std::nullopt;
    }
    const Fields* value = variables_.find(name);
    return value == nullptr ? std::nullopt : std::optional(*value);
  }

  // What stands in ${...}.
  void parameter(std::string_view inner, std::string_view written, bool quoted, std::int32_t at_line) {
    const bool counts = inner.size() > 1 && inner[0] == '#';
    if (counts) inner.remove_prefix(1);
    std::size_t size = 0;
    if (!inner.empty() && name_start(inner[0]))
      while (size < inner.size() && name_character(inner[size])) ++size;
    else if (!inner.empty() && std::isdigit(static_cast<unsigned char>(inner[0])) != 0)
      while (size < inner.size() && std::isdigit(static_cast<unsigned char>(inner[size])) != 0) ++size;
    else if (!inner.empty() && (inner[0] == '@' || inner[0] == '*'))
      size = 1;
    const std::string_view name = inner.substr(0, size);
    std::string_view rest = inner.substr(size);
    std::string_view index;
    bool indexed = false;
    if (rest.starts_with('[')) {
      const std::size_t close = rest.find(']');
      if (close == std::string_view::npos) return put_open(written, kOpenOther, at_line);
      index = rest.substr(1, close - 1);
      indexed = true;
      rest = rest.substr(close + 1);
    }
    if (name.empty()) return put_open(written, kOpenOther, at_line);
    const std::uint8_t kind = name_start(name[0]) ? kOpenName : kOpenOther;
    const bool all = name == "@" || name == "*" || index == "@" || index == "*";
    std::optional<Fields> value = lookup(name);
    if (value && !all) {  // one element; the first of an array
      std::int64_t n = 0;
      if (indexed) {
        const auto given = variables_.arithmetic(index, depth_ + 1);
        if (!given) return put_open(written, kOpenOther, at_line);
        n = *given;
      }
      if (n < 0 || static_cast<std::size_t>(n) >= value->size())
        value = value->empty() && !indexed ? std::optional(Fields{ShellText{}}) : std::nullopt;
      else
        value = Fields{(*value)[static_cast<std::size_t>(n)]};
    }
    if (counts) {
      if (!value || !rest.empty()) return put_open(written, kOpenOther, at_line);
      const std::size_t n = all ? value->size() : (*value)[0].size();
      for (const char digit : std::to_string(n)) put(digit, quoted, 0, at_line);
      return;
    }
    if (rest.empty()) {
      if (value)
        put_fields(*value, quoted, name == "*" || index == "*");
      else
        put_open(written, kind, at_line);
      return;
    }
    alternatives(name, rest, value, written, quoted, at_line, kind);
  }

  // ${X:-word} and its like.
  void alternatives(std::string_view name, std::string_view rest, const std::optional<Fields>& value,
                    std::string_view written, bool quoted, std::int32_t at_line, std::uint8_t kind) {
    const bool colon = rest.starts_with(':');
    if (colon) rest.remove_prefix(1);
    if (rest.empty()) return put_open(written, kOpenOther, at_line);
    const char op = rest[0];
    const std::string_view word = rest.substr(1);
    const bool nothing = !value || value->empty() || (value->size() == 1 && (*value)[0].empty());
    const bool missing = !value || (colon && nothing);
    switch (op) {
      case '-':
      case '=':
        if (!missing) return put_fields(*value, quoted, false);
        if (op == '=' && is_shell_name(name)) {
          ShellExpansion one(variables_, false, depth_ + 1);
          one.run_inside(word, *this);
          Fields made = one.take();
          if (made.empty()) made.push_back({});
          variables_.set(name, made);
          return put_fields(made, quoted, false);
        }
        ++depth_;
        if (quoted) started_ = true;
        expand_default(word, quoted);
        --depth_;
        return;
      case '+':
        if (missing) {
          if (quoted) started_ = true;
          return;
        }
        ++depth_;
        expand_default(word, quoted);
        --depth_;
        return;
      case '?':
        if (!missing) return put_fields(*value, quoted, false);
        return put_open(written, kind, at_line);
      default:
        return put_open(written, kOpenOther, at_line);
    }
  }

  // The word of ${X:-word}: quotes in it count even inside quotes.
  void expand_default(std::string_view word, bool quoted) {
    if (depth_ > kMostNestedExpansions) return put_open(word, kOpenOther, word.empty() ? 0 : line(word.data()));
    if (quoted && word.size() >= 2 && word.front() == '"' && word.back() == '"')
      word = word.substr(1, word.size() - 2);
    if (quoted || !split_) return expand(word, quoted);
    // Blanks of the word split it.
    for (std::size_t i = 0; i < word.size();) {
      const std::size_t blank = std::min(word.find_first_of(" \t\n", i), word.size());
      const std::size_t quote = std::min(word.find_first_of("\"'$`", i), word.size());
      if (quote < blank) {
        const std::size_t end = shell_piece_end(word, quote);
        std::size_t stop = end;
        if (word[quote] == '$' && end == quote + 1)
          while (stop < word.size() && name_character(word[stop])) ++stop;
        expand(word.substr(i, stop - i), false);
        i = stop;
      } else {
        expand(word.substr(i, blank - i), false);
        if (blank < word.size()) end_field();
        i = blank + 1;
      }
    }
  }
  void run_inside(std::string_view raw, const ShellExpansion& outer) {
    lines_ = outer.lines_;
    base_ = outer.base_;
    expand(raw, false);
    if (started_) fields_.push_back(std::move(current_));
  }

  ShellVariables& variables_;
  bool split_;
  int depth_;
  const std::int32_t* lines_ = nullptr;
  const char* base_ = nullptr;
  Fields fields_;
  ShellText current_;
  bool started_ = false;
};

ShellVariables::Fields ShellVariables::expand(const ShellSource& source, std::size_t begin, std::size_t end,
                                              bool split) {
  ShellExpansion expansion(*this, split, 0);
  expansion.run(std::string_view(source.text).substr(begin, end - begin),
                source.lines.empty() ? nullptr : source.lines.data() + begin);
  return expansion.take();
}

ShellText ShellVariables::value(const ShellSource& source, std::size_t begin, std::size_t end) {
  Fields fields = expand(source, begin, end, false);
  ShellText out;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) out.push_back({' ', false, 0, out.empty() ? 0 : out.back().line});
    out.insert(out.end(), fields[i].begin(), fields[i].end());
  }
  return out;
}

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
    if (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) return number();
    std::size_t end = at_;
    std::string_view name;
    if (text_[at_] == '$') {
      end = shell_piece_end(text_, at_);
      std::string_view written = text_.substr(at_, end - at_);
      if (written == "$") {
        while (end < text_.size() && name_character(text_[end])) ++end;
        written = text_.substr(at_, end - at_);
      }
      at_ = end;
      // Whatever a word may be: ${X:-8}, $X, $((...)).
      ShellExpansion word(variables_, false, depth_ + 1);
      word.run(written, nullptr);
      return value_of(word.take());
    }
    while (end < text_.size() && name_character(text_[end])) ++end;
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
    if (at_ < text_.size() && name_character(text_[at_]))
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
