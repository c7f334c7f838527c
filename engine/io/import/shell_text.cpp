#include "engine/io/import/shell_text.h"

#include <algorithm>
#include <cctype>

namespace roofscape::io {

std::string plain(const ShellText& text) {
  std::string out;
  out.reserve(text.size());
  for (const ShellChar& c : text) out += c.c;
  return out;
}

ShellSource ShellSource::of_file(std::string_view text) {
  ShellSource out;
  out.text.reserve(text.size());
  out.lines.reserve(text.size());
  std::int32_t line = 1;
  for (const char c : text) {
    if (c == '\r') continue;  // of lines that end as Windows has them
    out.text += c;
    out.lines.push_back(line);
    if (c == '\n') ++line;
  }
  return out;
}

ShellSource ShellSource::of_text(const ShellText& text) {
  ShellSource out;
  for (const ShellChar& c : text) {
    out.text += c.c;
    out.lines.push_back(c.line);
  }
  return out;
}

namespace {

constexpr int kMostNested = 40;

std::size_t end_of_single(std::string_view text, std::size_t at) {
  const std::size_t end = text.find('\'', at + 1);
  return end == std::string_view::npos ? text.size() : end + 1;
}

std::size_t piece_end(std::string_view text, std::size_t at, int depth);

std::size_t end_of_double(std::string_view text, std::size_t at, int depth) {
  for (std::size_t i = at + 1; i < text.size();) {
    if (text[i] == '\\') {
      i += 2;
    } else if (text[i] == '"') {
      return i + 1;
    } else if (text[i] == '$' && i + 1 < text.size() && (text[i + 1] == '(' || text[i + 1] == '{')) {
      i = piece_end(text, i, depth + 1);
    } else {
      ++i;
    }
  }
  return text.size();
}

// `at` is on the opening bracket.
std::size_t end_of_brackets(std::string_view text, std::size_t at, char close, int depth) {
  const char open = text[at];
  int level = 0;
  for (std::size_t i = at; i < text.size();) {
    const char c = text[i];
    if (c == '\\') {
      i += 2;
      continue;
    }
    if (c == '\'' || c == '"' || c == '`' ||
        (c == '$' && i + 1 < text.size() && (text[i + 1] == '(' || text[i + 1] == '{'))) {
      i = piece_end(text, i, depth + 1);
      continue;
    }
    // A comment inside an array or a substitution, which may hold any bracket.
    if (c == '#' && close == ')' && i > at &&
        (std::isspace(static_cast<unsigned char>(text[i - 1])) != 0 || text[i - 1] == '(')) {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (c == open) ++level;
    if (c == close && --level == 0) return i + 1;
    ++i;
  }
  return text.size();
}

std::size_t piece_end(std::string_view text, std::size_t at, int depth) {
  if (at >= text.size() || depth > kMostNested) return text.size();
  switch (text[at]) {
    case '\'':
      return end_of_single(text, at);
    case '"':
      return end_of_double(text, at, depth);
    case '`': {
      std::size_t i = at + 1;
      while (i < text.size() && text[i] != '`') i += text[i] == '\\' ? 2 : 1;
      return std::min(i + 1, text.size());
    }
    case '(':
      return end_of_brackets(text, at, ')', depth);
    case '$':
      if (at + 1 < text.size() && text[at + 1] == '(') return end_of_brackets(text, at + 1, ')', depth);
      if (at + 1 < text.size() && text[at + 1] == '{') return end_of_brackets(text, at + 1, '}', depth);
      return at + 1;
    default:
      return at + 1;
  }
}

bool names_array(std::string_view word) {  // "NAME=" or "NAME+="
  if (!word.ends_with('=')) return false;
  word.remove_suffix(word.ends_with("+=") ? 2 : 1);
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
}

class Tokens {
 public:
  explicit Tokens(const ShellSource& source) : text_(source.text) {}

  std::vector<ShellToken> read() {
    while (at_ < text_.size()) step();
    return std::move(out_);
  }

 private:
  using Kind = ShellToken::Kind;

  // An operator or the end of a line: what follows is another command.
  void push(Kind kind, std::size_t size) {
    out_.push_back(token(kind, at_, at_ + size));
    at_ += size;
    target_ = {};
    documents_ = 0;
  }

  static ShellToken token(Kind kind, std::size_t begin, std::size_t end) {
    ShellToken out;
    out.kind = kind, out.begin = begin, out.end = end;
    return out;
  }

  void step() {
    const char c = text_[at_];
    if (c == ' ' || c == '\t') {
      ++at_;
    } else if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
      at_ += 2;
    } else if (c == '\n') {
      push(Kind::newline, 1);
      here_documents();
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '<' || c == '>') {
      redirection();
    } else if (c == ';' || c == '&' || c == '|') {
      const bool twice = at_ + 1 < text_.size() && text_[at_ + 1] == c;
      if (c == '&' && at_ + 1 < text_.size() && text_[at_ + 1] == '>')
        redirection();
      else
        push(Kind::op, twice ? 2 : 1);
    } else if (c == '(' && at_ + 1 < text_.size() && text_[at_ + 1] == '(') {
      const std::size_t end = shell_piece_end(text_, at_);  // ((...)): a test or an assignment of numbers
      out_.push_back(token(Kind::word, at_, end));
      at_ = end;
    } else if (c == '(' || c == ')') {
      push(Kind::op, 1);
    } else {
      word();
    }
  }

  void word() {
    const std::size_t begin = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\') {
        at_ = std::min(at_ + 2, text_.size());
      } else if (c == '\'' || c == '"' || c == '`' || c == '$') {
        at_ = shell_piece_end(text_, at_);
      } else if (c == '(' && names_array(text_.substr(begin, at_ - begin))) {
        at_ = shell_piece_end(text_, at_);
        break;
      } else if (c == '<' || c == '>') {
        // "2>&1": a number before it is no word.
        const std::string_view before = text_.substr(begin, at_ - begin);
        if (!before.empty() && std::all_of(before.begin(), before.end(), [](char d) { return d >= '0' && d <= '9'; }))
          return redirection();
        break;
      } else if (c == ' ' || c == '\t' || c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' || c == ')') {
        break;
      } else {
        ++at_;
      }
    }
    out_.push_back(token(Kind::word, begin, at_));
  }

  // Past the operator and its target. Here-documents are noted by the word that ends them, and what a command writes
  // by where it goes.
  void redirection() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (text_[at_] == '<' || text_[at_] == '>' || text_[at_] == '&' || text_[at_] == '|'))
      ++at_;
    const std::string_view op = text_.substr(begin, at_ - begin);
    if (op.starts_with('<') && at_ < text_.size() && text_[at_] == '(') {  // <(...)
      at_ = shell_piece_end(text_, at_);
      return;
    }
    if (op == "<<" && at_ < text_.size() && text_[at_] == '-') ++at_;
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    const std::size_t target = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\'' || c == '"' || c == '`' || c == '$')
        at_ = shell_piece_end(text_, at_);
      else if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == ';' || c == '&' || c == '|' || c == '(' ||
               c == ')' || c == '<' || c == '>')
        break;
      else
        ++at_;
    }
    const bool of_output = begin == 0 || text_[begin - 1] < '2' || text_[begin - 1] > '9';
    if ((op == ">" || op == ">>" || op == ">|") && of_output) target_ = {target, at_, op == ">>"};
    if (op == "<<") {
      std::string end(text_.substr(target, at_ - target));
      const std::size_t quoted = std::erase_if(end, [](char c) { return c == '\'' || c == '"' || c == '\\'; });
      if (end.empty()) return;
      ShellToken document = token(Kind::document, at_, at_);
      document.literal = quoted > 0;
      pending_.push_back({out_.size(), std::move(end)});
      out_.push_back(document);
      ++documents_;
    }
    // Either may come first: cat > FILE << EOF, cat << EOF > FILE.
    for (std::size_t i = pending_.size() - std::min(documents_, pending_.size()); i < pending_.size(); ++i) {
      ShellToken& document = out_[pending_[i].token];
      document.target_begin = target_.begin, document.target_end = target_.end, document.adds = target_.adds;
    }
  }

  void here_documents() {
    for (const Pending& each : pending_) {
      ShellToken& document = out_[each.token];
      document.begin = document.end = at_;
      while (at_ < text_.size()) {
        const std::size_t stop = std::min(text_.find('\n', at_), text_.size());
        std::string_view row = text_.substr(at_, stop - at_);
        at_ = std::min(stop + 1, text_.size());
        while (row.starts_with('\t')) row.remove_prefix(1);
        if (row == each.end) break;
        document.end = at_;
      }
    }
    pending_.clear();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<ShellToken> out_;
  struct Pending {
    std::size_t token;
    std::string end;
  };
  std::vector<Pending> pending_;  // here-documents of this line
  std::size_t documents_ = 0;     // and how many of them are this command's
  struct Target {
    std::size_t begin = 0, end = 0;
    bool adds = false;
  };
  Target target_;  // of this command
};

}  // namespace

std::size_t shell_piece_end(std::string_view text, std::size_t at) {
  return std::min(piece_end(text, at, 0), text.size());
}

std::vector<ShellToken> shell_tokens(const ShellSource& source) { return Tokens(source).read(); }

}  // namespace roofscape::io
