#include "engine/io/import/shell_expand.h"

#include <algorithm>
#include <charconv>

#include "engine/base/ascii.h"

namespace roofscape::io {

bool is_name_start(char c) { return engine::is_letter(c) || c == '_'; }
bool is_name_character(char c) { return is_name_start(c) || engine::is_digit(c); }
bool is_shell_name(std::string_view word) {
  return !word.empty() && is_name_start(word[0]) && std::all_of(word.begin(), word.end(), is_name_character);
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
    if (is_name_start(next)) {
      std::size_t end = i + 1;
      while (end < raw.size() && is_name_character(raw[end])) ++end;
      parameter(raw.substr(i + 1, end - i - 1), raw.substr(i, end - i), quoted, line(&raw[i]));
      return end;
    }
    if (engine::is_digit(next) || std::string_view("@*#?$!-").find(next) != std::string_view::npos) {
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
    if (!name.empty() && engine::is_digit(name[0])) {
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
    if (!inner.empty() && is_name_start(inner[0]))
      while (size < inner.size() && is_name_character(inner[size])) ++size;
    else if (!inner.empty() && engine::is_digit(inner[0]))
      while (size < inner.size() && engine::is_digit(inner[size])) ++size;
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
    const std::uint8_t kind = is_name_start(name[0]) ? kOpenName : kOpenOther;
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
          while (stop < word.size() && is_name_character(word[stop])) ++stop;
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

ShellVariables::Fields ShellVariables::expand_nested(std::string_view written, int depth) {
  ShellExpansion expansion(*this, false, depth);
  expansion.run(written, nullptr);
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

}  // namespace roofscape::io
