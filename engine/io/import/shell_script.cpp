#include "engine/io/import/shell_script.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "engine/io/import/document.h"
#include "engine/io/import/shell_expand.h"
#include "engine/io/import/shell_sbatch.h"
#include "engine/io/import/shell_tests.h"
#include "engine/io/import/shell_text.h"

namespace roofscape::io {

using engine::say;

namespace {

constexpr int kMostDeep = 24;  // functions, eval and control structures inside each other
constexpr std::size_t kMostCommands = 20'000;
constexpr std::size_t kMostSteps = 400'000;

using Fields = ShellVariables::Fields;

ShellWord word_of(const ShellText& text, std::int32_t line) {
  ShellWord out;
  out.text = plain(text);
  out.line = text.empty() ? line : text[0].line;
  for (const ShellChar& c : text)
    if (c.open != 0) {
      out.open += c.c;
      out.substitution |= c.open == kOpenSubstitution;
    }
  return out;
}

bool assigns(std::string_view word) {  // NAME=..., NAME+=..., NAME[2]=...
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  std::string_view name = word.substr(0, equals);
  if (name.ends_with('+')) name.remove_suffix(1);
  if (name.ends_with(']')) name = name.substr(0, name.find('['));
  return is_shell_name(name);
}

class Interpreter {
 public:
  explicit Interpreter(ShellScript& out) : out_(out) {}

  void run_source(const ShellSource& source, int depth) {
    if (depth > kMostDeep) return;
    const std::vector<ShellToken> tokens = shell_tokens(source);
    Range range{&source, &tokens, 0, tokens.size()};
    run(range, depth);
  }
  void set(std::string_view name, std::string_view value, int line) {
    ShellText text;
    for (const char c : value) text.push_back({c, false, 0, line});
    variables_.set(name, {std::move(text)});
  }
  void finish() {
    for (const auto& [name, fields] : variables_.all())
      if (fields.size() == 1) out_.variables[name] = word_of(fields[0], 0);
  }
  bool exhausted() const {
    return variables_.exhausted() || steps_ > kMostSteps || out_.commands.size() >= kMostCommands;
  }

 private:
  struct Range {
    const ShellSource* source;
    const std::vector<ShellToken>* tokens;
    std::size_t at, end;

    bool done() const { return at >= end; }
    const ShellToken& token() const { return (*tokens)[at]; }
    std::string_view text(std::size_t i) const {
      const ShellToken& t = (*tokens)[i];
      return std::string_view(source->text).substr(t.begin, t.end - t.begin);
    }
    bool is(std::string_view word) const { return !done() && text(at) == word; }
    std::int32_t line() const { return done() ? 0 : source->line_at(token().begin); }
  };
  struct Function {
    ShellSource source;
    std::vector<ShellToken> tokens;
  };

  // Statements up to the end of the range. True: the script ends here.
  bool run(Range& range, int depth) {
    while (!range.done() && !stopped_) {
      if (++steps_ > kMostSteps || exhausted()) {
        stopped_ = true;
        return true;
      }
      statement(range, depth);
    }
    return stopped_;
  }

  void statement(Range& range, int depth) {
    const std::string_view word = range.text(range.at);
    const ShellToken::Kind kind = range.token().kind;
    if (kind == ShellToken::Kind::newline) {
      ++range.at;
      skip_ = false;
    } else if (kind == ShellToken::Kind::op) {
      ++range.at;
      if (word == "&&") {
        skip_ = skip_ || !last_.value_or(false);
        if (!last_) gap(ShellGap::Kind::condition, range, range.at);
      } else if (word == "||") {
        skip_ = last_.value_or(true);
      } else if (word != "(" && word != ")") {
        skip_ = false;
        last_ = true;
      }
    } else if (word == "if") {
      conditional(range, depth);
    } else if (word == "for" || word == "while" || word == "until" || word == "select") {
      loop(range, depth);
    } else if (word == "case") {
      choose(range, depth);
    } else if (word == "{" || word == "}" || word == "do" || word == "done" || word == "then" || word == "fi" ||
               word == "esac" || word == "!") {
      ++range.at;
    } else if (word == "function" || is_function(range)) {
      define(range);
    } else {
      simple(range, depth);
    }
  }

  static bool is_function(const Range& range) {
    return range.at + 2 < range.end && is_shell_name(range.text(range.at)) && range.text(range.at + 1) == "(" &&
           range.text(range.at + 2) == ")";
  }

  // Past what begins with `open` here, to after the word that closes it.
  static std::size_t after(const Range& range, std::string_view open, std::string_view close) {
    int level = 0;
    for (std::size_t i = range.at; i < range.end; ++i) {
      if (range.text(i) == open) ++level;
      if (range.text(i) == close && --level == 0) return i + 1;
    }
    return range.end;
  }

  void define(Range& range) {
    if (range.is("function")) ++range.at;
    if (range.done()) return;
    const std::string name(range.text(range.at));
    ++range.at;
    while (!range.done() && (range.is("(") || range.is(")") || range.token().kind == ShellToken::Kind::newline))
      ++range.at;
    if (!range.is("{")) return;
    const std::size_t end = after(range, "{", "}");
    if (functions_.size() < 500) {
      Function function;
      function.tokens.assign(range.tokens->begin() + static_cast<std::ptrdiff_t>(range.at + 1),
                             range.tokens->begin() + static_cast<std::ptrdiff_t>(std::max(range.at + 1, end - 1)));
      // The tokens of a function lie in its own copy of the text.
      if (!function.tokens.empty()) {
        const std::size_t begin = function.tokens.front().begin, stop = function.tokens.back().end;
        function.source.text = range.source->text.substr(begin, stop - begin);
        if (!range.source->lines.empty())
          function.source.lines.assign(range.source->lines.begin() + static_cast<std::ptrdiff_t>(begin),
                                       range.source->lines.begin() + static_cast<std::ptrdiff_t>(stop));
        for (ShellToken& token : function.tokens) {
          token.begin -= begin;
          token.end -= begin;
        }
      }
      functions_.insert_or_assign(name, std::move(function));
    }
    range.at = end;
  }

  void gap(ShellGap::Kind kind, const Range& range, std::size_t at) {
    if (out_.gaps.size() >= 200) return;
    std::string written;
    for (std::size_t i = at; i < range.end && i < at + 12; ++i) {
      const std::string_view word = range.text(i);
      if (word == "\n" || word == ";" || word == "then" || word == "do") break;
      written += (written.empty() ? "" : " ") + std::string(word.substr(0, 40));
    }
    out_.gaps.push_back(
        {kind, std::move(written), at < range.end ? range.source->line_at((*range.tokens)[at].begin) : range.line()});
  }

  // Where the parts of an `if` begin: then, elif, else, fi of this level.
  void conditional(Range& range, int depth) {
    const std::size_t end = after(range, "if", "fi");
    std::size_t test = range.at + 1;
    bool open = false, done = false;
    while (test < end && !stopped_) {
      // The test runs up to its `then`, the branch up to the next word of this level.
      std::size_t then = test;
      while (then < end && range.text(then) != "then") ++then;
      std::size_t stop = then + 1;
      int level = 0;
      for (; stop < end; ++stop) {
        const std::string_view word = range.text(stop);
        if (word == "if") ++level;
        if (word == "fi" && level-- == 0) break;
        if (level == 0 && (word == "elif" || word == "else")) break;
      }
      if (!done) {
        const std::optional<bool> answer = condition(range, test, then, depth);
        if (!answer) {
          gap(ShellGap::Kind::condition, range, test);
          open = true;
        } else if (*answer && !open) {
          branch(range, then + 1, stop, depth);
          done = true;
        }
      }
      if (stop < end && range.text(stop) == "elif") {
        test = stop + 1;
        continue;
      }
      if (stop < end && range.text(stop) == "else" && !done && !open) {
        branch(range, stop + 1, end - 1, depth);
      }
      break;
    }
    range.at = end;
  }

  void branch(const Range& range, std::size_t from, std::size_t to, int depth) {
    if (depth >= kMostDeep || from >= to) return;
    Range inside{range.source, range.tokens, from, std::min(to, range.end)};
    last_ = true;
    skip_ = false;
    run(inside, depth + 1);
    skip_ = false;
  }

  // What two tests come to, one after the other; without && or || the last one counts.
  static std::optional<bool> joined(std::optional<bool> left, std::string_view joint, std::optional<bool> right) {
    if (joint != "&&" && joint != "||") return right;
    const bool decisive = joint == "||";
    if ((left && *left == decisive) || (right && *right == decisive)) return decisive;
    if (left && right) return !decisive;
    return std::nullopt;
  }

  // The commands of a test in a row; the last one that ran answers.
  std::optional<bool> condition(const Range& range, std::size_t from, std::size_t to, int depth) {
    if (depth >= kMostDeep) return std::nullopt;
    Range inside{range.source, range.tokens, from, std::min(to, range.end)};
    bool negated = false;
    if (inside.is("!")) {
      negated = true;
      ++inside.at;
    }
    std::optional<bool> answer;
    bool tests = false;
    std::string_view joint;
    while (!inside.done()) {
      const std::string_view word = inside.text(inside.at);
      if (inside.token().kind != ShellToken::Kind::word) {
        if (word == "&&" || word == "||") joint = word;
        ++inside.at;
        continue;
      }
      if (word != "[" && word != "[[" && word != "test" && word != "true" && word != "false" &&
          !word.starts_with("(("))
        return std::nullopt;
      const std::optional<bool> one = test(inside);
      tests = true;
      answer = joined(answer, joint, one);
    }
    if (!tests || !answer) return std::nullopt;
    return *answer != negated;
  }

  // [ ... ], [[ ... ]], test ..., true, false; the range ends up behind it.
  std::optional<bool> test(Range& range) {
    const std::string_view program = range.text(range.at);
    if (program.starts_with("((")) {
      const std::string inside(program.substr(2, program.size() >= 4 ? program.size() - 4 : 0));
      ++range.at;
      for (const std::string_view op : {"==", "!=", ">=", "<=", ">", "<"}) {
        const std::size_t at = inside.find(op);
        if (at == std::string::npos) continue;
        const auto a = variables_.arithmetic(std::string_view(inside).substr(0, at));
        const auto b = variables_.arithmetic(std::string_view(inside).substr(at + op.size()));
        if (!a || !b) return std::nullopt;
        return op == "=="   ? *a == *b
               : op == "!=" ? *a != *b
               : op == ">=" ? *a >= *b
               : op == "<=" ? *a <= *b
               : op == ">"  ? *a > *b
                            : *a < *b;
      }
      const auto value = variables_.arithmetic(inside);
      return value ? std::optional(*value != 0) : std::nullopt;
    }
    ++range.at;
    if (program == "true") return true;
    if (program == "false") return false;
    const std::string_view close = program == "[" ? "]" : program == "[[" ? "]]" : std::string_view();
    std::vector<ShellText> words;
    while (!range.done()) {
      const std::string_view word = range.text(range.at);
      if (!close.empty() && word == close) {
        ++range.at;
        break;
      }
      if (range.token().kind != ShellToken::Kind::word && (program != "[[" || word == "\n" || word == ";")) break;
      if (range.token().kind != ShellToken::Kind::word) {
        ShellText op;
        for (const char c : word) op.push_back({c, true, 0, 0});
        words.push_back(std::move(op));
      } else {
        words.push_back(variables_.value(*range.source, range.token().begin, range.token().end));
      }
      ++range.at;
    }
    return test_of(words);
  }

  void loop(Range& range, int depth) {
    const bool counts = range.is("for") || range.is("select");
    const std::size_t end = after(range, "do", "done");  // nested loops have their own do ... done
    std::size_t body = range.at;
    while (body < end && range.text(body) != "do") ++body;
    gap(ShellGap::Kind::loop, range, range.at);
    if (counts && range.at + 1 < body && is_shell_name(range.text(range.at + 1))) {
      // What it is changes from round to round.
      ShellText open;
      for (const char c : "$" + std::string(range.text(range.at + 1)))
        open.push_back({c, true, kOpenOther, range.line()});
      variables_.set(range.text(range.at + 1), {std::move(open)});
    }
    if (body + 1 < end) branch(range, body + 1, end - 1, depth);
    range.at = std::max(end, range.at + 1);
  }

  void choose(Range& range, int depth) {
    const std::size_t end = after(range, "case", "esac");
    std::size_t at = range.at + 1;
    std::optional<std::string> subject;
    if (at < end)
      subject = decided_text(variables_.value(*range.source, (*range.tokens)[at].begin, (*range.tokens)[at].end));
    while (at < end && range.text(at) != "in") ++at;
    ++at;
    bool taken = false;
    if (!subject) gap(ShellGap::Kind::case_list, range, range.at);
    while (at + 1 < end && subject && !taken) {
      bool matches = false, open = false;
      while (at + 1 < end && range.text(at) != ")") {
        const ShellToken& token = (*range.tokens)[at];
        if (token.kind == ShellToken::Kind::word) {
          const std::string_view written = range.text(at);
          if (written == "*")
            matches = true;
          else if (written.find_first_of("*?[") != std::string_view::npos)
            open = true;
          else if (decided_text(variables_.value(*range.source, token.begin, token.end)) == subject)
            matches = true;
        }
        ++at;
      }
      std::size_t stop = ++at;
      int level = 0;
      for (; stop + 1 < end; ++stop) {
        if (range.text(stop) == "case") ++level;
        if (range.text(stop) == "esac") --level;
        if (level == 0 && range.text(stop) == ";;") break;
      }
      if (open && !matches) {
        gap(ShellGap::Kind::case_list, range, range.at);
        break;
      }
      if (matches) {
        branch(range, at, std::min(stop, end - 1), depth);
        taken = true;
      }
      at = stop + 1;
    }
    range.at = end;
  }

  // One command: assignments before it, its words, what it does to the variables.
  void simple(Range& range, int depth) {
    const std::size_t first = range.at;
    const std::int32_t line = range.line();
    std::size_t stop = first;
    while (stop < range.end && (*range.tokens)[stop].kind == ShellToken::Kind::word) ++stop;
    range.at = std::max(stop, first + 1);
    if (skip_) return;
    const std::string_view program = range.text(first);
    if (program == "[" || program == "[[" || program == "test" || program.starts_with("((")) {
      Range inside = range;
      inside.at = first;
      if (program.starts_with("((") && increments(program)) {
        last_ = true;
        return;
      }
      last_ = test(inside);
      range.at = std::max(range.at, inside.at);
      return;
    }
    last_ = true;
    std::size_t at = first;
    while (at < stop && assigns(range.text(at))) ++at;
    if (at == stop) {
      for (std::size_t i = first; i < stop; ++i) assign(range, i);
      return;
    }
    if (program == "export" || program == "declare" || program == "local" || program == "readonly" ||
        program == "typeset") {
      for (std::size_t i = first + 1; i < stop; ++i)
        if (assigns(range.text(i))) assign(range, i);
      return;
    }
    ShellCommand command;
    command.line = line;
    Fields fields;
    for (std::size_t i = at; i < stop; ++i) {
      const ShellToken& token = (*range.tokens)[i];
      for (ShellText& field : variables_.expand(*range.source, token.begin, token.end)) {
        command.words.push_back(word_of(field, range.source->line_at(token.begin)));
        fields.push_back(std::move(field));
      }
    }
    if (command.words.empty()) return;
    const std::string& name = command.words[0].text;
    if (name == "exit" || name == "return") {
      stopped_ = name == "exit";
      return;
    }
    if (name == "unset") {
      for (const ShellWord& word : command.words) variables_.unset(word.text);
      return;
    }
    if (name == "source" || name == ".") {
      if (out_.gaps.size() < 200)
        out_.gaps.push_back(
            {ShellGap::Kind::other_file, command.words.size() > 1 ? command.words[1].text : "", line});
      return;
    }
    if (const auto function = functions_.find(name); function != functions_.end())
      return call(function->second, fields, depth);
    if (name == "eval") return again({fields.begin() + 1, fields.end()}, depth);
    // A text for another shell: `bash -c TEXT`, wherever it stands in a line (srun ... bash -c TEXT).
    for (std::size_t i = 0; i + 2 < command.words.size(); ++i) {
      const std::string_view shell =
          std::string_view(command.words[i].text).substr(command.words[i].text.rfind('/') + 1);
      if ((shell == "bash" || shell == "sh") && command.words[i + 1].text.starts_with('-') &&
          command.words[i + 1].text.ends_with('c')) {
        const ShellText text = fields[i + 2];
        if (i > 0) {
          command.words.resize(i);
          out_.commands.push_back(std::move(command));
        }
        return again({text}, depth);
      }
    }
    out_.commands.push_back(std::move(command));
  }

  void call(const Function& function, const Fields& fields, int depth) {
    if (depth >= kMostDeep) return;
    const Function copy = function;  // it may define itself anew
    Fields arguments(fields.begin() + 1, fields.end());
    std::swap(arguments, variables_.arguments);
    const bool inside = std::exchange(variables_.in_function, true);
    Range range{&copy.source, &copy.tokens, 0, copy.tokens.size()};
    run(range, depth + 1);
    variables_.in_function = inside;
    std::swap(arguments, variables_.arguments);
  }

  // Words joined and read once more.
  void again(const Fields& fields, int depth) {
    ShellText text;
    for (const ShellText& field : fields) {
      if (!text.empty()) text.push_back({' ', false, 0, text.back().line});
      text.insert(text.end(), field.begin(), field.end());
    }
    if (!text.empty()) run_source(ShellSource::of_text(text), depth + 1);
  }

  // ((i++)), ((n += 1)): of loops; whatever was counted is not known any more.
  bool increments(std::string_view word) {
    if (word.find("++") == std::string_view::npos && word.find("--") == std::string_view::npos) return false;
    return true;
  }

  void assign(const Range& range, std::size_t i) {
    const ShellToken& token = (*range.tokens)[i];
    const std::string_view word = range.text(i);
    const std::size_t equals = word.find('=');
    std::string_view name = word.substr(0, equals);
    const bool adds = name.ends_with('+');
    if (adds) name.remove_suffix(1);
    std::string_view index;
    if (const std::size_t bracket = name.find('['); bracket != std::string_view::npos) {
      index = name.substr(bracket + 1, name.size() - bracket - 2);
      name = name.substr(0, bracket);
    }
    const std::size_t begin = token.begin + equals + 1;
    Fields value;
    if (adds || !index.empty())
      if (const Fields* before = variables_.find(name)) value = *before;
    if (index.empty() && equals + 1 < word.size() && word[equals + 1] == '(') {
      // The elements: the inside as words of their own.
      std::size_t end = token.end;
      if (range.source->text[end - 1] == ')' && end - 1 > begin) --end;
      ShellSource inside;
      inside.text = range.source->text.substr(begin + 1, end - begin - 1);
      if (!range.source->lines.empty())
        inside.lines.assign(range.source->lines.begin() + static_cast<std::ptrdiff_t>(begin + 1),
                            range.source->lines.begin() + static_cast<std::ptrdiff_t>(end));
      for (const ShellToken& element : shell_tokens(inside))
        if (element.kind == ShellToken::Kind::word)
          for (ShellText& field : variables_.expand(inside, element.begin, element.end))
            value.push_back(std::move(field));
    } else {
      const ShellText text = variables_.value(*range.source, begin, token.end);
      if (!index.empty()) {
        const auto n = variables_.arithmetic(index);
        if (!n || *n < 0 || *n > 4096) return;
        if (value.size() <= static_cast<std::size_t>(*n)) value.resize(static_cast<std::size_t>(*n) + 1);
        value[static_cast<std::size_t>(*n)] = text;
      } else if (adds && !value.empty()) {
        value[0].insert(value[0].end(), text.begin(), text.end());
      } else {
        value = {text};
      }
    }
    total_ += value.size();
    if (total_ > 2'000'000) {
      stopped_ = true;
      return;
    }
    for (ShellText& field : value)
      for (ShellChar& c : field) c.quoted = false;  // quotes end with the word they stand in
    variables_.set(name, std::move(value));
  }

  ShellScript& out_;
  ShellVariables variables_;
  std::map<std::string, Function, std::less<>> functions_;
  std::optional<bool> last_ = true;  // what the command before came to
  bool skip_ = false;                // the rest of an && or || that does not run
  bool stopped_ = false;
  std::size_t steps_ = 0, total_ = 0;
};

// What Slurm tells a job of its header.
void set_slurm(const ShellScript& script, Interpreter& interpreter) {
  constexpr std::pair<std::string_view, std::string_view> kTold[] = {
      {"nodes", "SLURM_NNODES"},
      {"nodes", "SLURM_JOB_NUM_NODES"},
      {"ntasks", "SLURM_NTASKS"},
      {"ntasks", "SLURM_NPROCS"},
      {"ntasks-per-node", "SLURM_NTASKS_PER_NODE"},
      {"gpus-per-node", "SLURM_GPUS_PER_NODE"},
      {"gpus-per-node", "SLURM_GPUS_ON_NODE"},
  };
  for (const SbatchOption& option : script.sbatch)
    for (const auto& [name, variable] : kTold)
      if (option.name == name && shell_whole(option.value)) interpreter.set(variable, option.value, option.line);
}

}  // namespace

Result<ShellScript> read_shell(std::string_view text, std::string_view file) {
  if (auto failure = check_text(text, file)) return *failure;
  if (text.find('\0') != std::string_view::npos)
    return InputError{std::string(file), {}, say("error.shell.binary"), say("error.file.not_ours")};
  ShellScript out;
  read_sbatch(text, out);
  Interpreter interpreter(out);
  set_slurm(out, interpreter);
  interpreter.run_source(ShellSource::of_file(text), 0);
  if (interpreter.exhausted())
    return InputError{std::string(file), {}, say("error.shell.too_long"), say("error.file.not_ours")};
  interpreter.finish();
  return out;
}

ShellScript shell_of_words(const std::vector<std::string>& words) {
  ShellScript out;
  ShellCommand command;
  for (const std::string& word : words) command.words.push_back({word, 0});
  out.commands.push_back(std::move(command));
  return out;
}

}  // namespace roofscape::io
