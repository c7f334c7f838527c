#include "engine/io/import/shell_interpreter.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "engine/base/utf8.h"

namespace roofscape::io {

namespace {

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
}  // namespace

void ShellInterpreter::run_source(const ShellSource& source, int depth) {
  if (depth > kMostDeep) return;
  const std::vector<ShellToken> tokens = shell_tokens(source);
  Range range{&source, &tokens, 0, tokens.size()};
  run(range, depth);
}

void ShellInterpreter::set(std::string_view name, std::string_view value, int line) {
  ShellText text;
  for (const char c : value) text.push_back({c, false, 0, line});
  variables_.set(name, {std::move(text)});
}

void ShellInterpreter::finish() {
  for (const auto& [name, fields] : variables_.all())
    if (fields.size() == 1) out_.variables[name] = word_of(fields[0], 0);
}

bool ShellInterpreter::run(Range& range, int depth) {
  while (!range.done() && !stopped_) {
    if (++steps_ > kMostSteps || exhausted()) {
      stopped_ = true;
      return true;
    }
    statement(range, depth);
  }
  return stopped_;
}

void ShellInterpreter::statement(Range& range, int depth) {
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
  } else if (kind == ShellToken::Kind::document) {
    ++range.at;
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

bool ShellInterpreter::is_function(const Range& range) {
  return range.at + 2 < range.end && is_shell_name(range.text(range.at)) && range.text(range.at + 1) == "(" &&
         range.text(range.at + 2) == ")";
}

void ShellInterpreter::define(Range& range) {
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
      const std::size_t begin = function.tokens.front().begin;
      std::size_t stop = begin;  // a here-document ends behind the tokens of its line
      for (const ShellToken& token : function.tokens) stop = std::max(stop, token.end);
      function.source.text = range.source->text.substr(begin, stop - begin);
      if (!range.source->lines.empty())
        function.source.lines.assign(range.source->lines.begin() + static_cast<std::ptrdiff_t>(begin),
                                     range.source->lines.begin() + static_cast<std::ptrdiff_t>(stop));
      for (ShellToken& token : function.tokens) {
        token.begin -= begin;
        token.end -= begin;
        if (token.target_end > 0) token.target_begin -= begin, token.target_end -= begin;
      }
    }
    functions_.insert_or_assign(name, std::move(function));
  }
  range.at = end;
}

void ShellInterpreter::gap(ShellGap::Kind kind, const Range& range, std::size_t at) {
  if (out_.gaps.size() >= 200) return;
  std::string written;
  for (std::size_t i = at; i < range.end && i < at + 12; ++i) {
    const std::string_view word = range.text(i);
    if (word == "\n" || word == ";" || word == "then" || word == "do") break;
    written += (written.empty() ? "" : " ") + std::string(engine::whole_characters(word, 40));
  }
  out_.gaps.push_back(
      {kind, std::move(written), at < range.end ? range.source->line_at((*range.tokens)[at].begin) : range.line()});
}

void ShellInterpreter::simple(Range& range, int depth) {
  const std::size_t first = range.at;
  const std::int32_t line = range.line();
  std::size_t stop = first;
  const auto of_command = [](ShellToken::Kind kind) {
    return kind == ShellToken::Kind::word || kind == ShellToken::Kind::document;
  };
  while (stop < range.end && of_command((*range.tokens)[stop].kind)) ++stop;
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
  for (std::size_t i = first; i < at; ++i)
    for (const ShellText& field : variables_.expand(*range.source, (*range.tokens)[i].begin, (*range.tokens)[i].end))
      command.environment.push_back(word_of(field, range.source->line_at((*range.tokens)[i].begin)));
  Fields fields;
  std::vector<const ShellToken*> documents;
  for (std::size_t i = at; i < stop; ++i) {
    const ShellToken& token = (*range.tokens)[i];
    if (token.kind == ShellToken::Kind::document) {
      documents.push_back(&token);
      continue;
    }
    for (ShellText& field : variables_.expand(*range.source, token.begin, token.end)) {
      command.words.push_back(word_of(field, range.source->line_at(token.begin)));
      fields.push_back(std::move(field));
    }
  }
  if (command.words.empty()) return;
  const std::string& name = command.words[0].text;
  if (name == "cat" || name == "tee")
    for (const ShellToken* document : documents) write_file(range, *document, command);
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
      out_.gaps.push_back({ShellGap::Kind::other_file, command.words.size() > 1 ? command.words[1].text : "", line});
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

void ShellInterpreter::write_file(const Range& range, const ShellToken& document, const ShellCommand& command) {
  std::string name;
  bool adds = document.adds;
  if (command.words[0].text == "tee") {
    adds = false;
    for (std::size_t i = 1; name.empty() && i < command.words.size(); ++i)
      if (command.words[i].text == "-a" || command.words[i].text == "--append")
        adds = true;
      else if (!command.words[i].text.starts_with('-'))
        name = command.words[i].text;
  } else if (document.target_end > document.target_begin) {
    name = plain(variables_.value(*range.source, document.target_begin, document.target_end));
  }
  if (name.empty()) return;
  // Between double quotes a shell puts the same in.
  ShellSource body;
  const auto add = [&](char c, std::size_t at) {
    body.text += c;
    body.lines.push_back(range.source->line_at(at));
  };
  if (!document.literal) add('"', document.begin);
  for (std::size_t at = document.begin; at < document.end; ++at) {
    const char c = range.source->text[at];
    if (!document.literal && c == '"') add('\\', at);
    add(c, at);
  }
  if (!document.literal) add('"', document.end);
  std::string text = body.text;
  if (!document.literal) {
    text.clear();
    // What stays open stands as $NAME, without the punctuation that means something to a file.
    std::uint8_t before = 0;
    for (const ShellChar& c : variables_.value(body, 0, body.text.size())) {
      if (c.open == 0)
        text += c.c;
      else if (before == 0)
        text += '$';
      if (c.open != 0 && (std::isalnum(static_cast<unsigned char>(c.c)) != 0 || c.c == '_')) text += c.c;
      before = c.open;
    }
  }
  std::string& file = out_.files[name];
  if (!adds) file.clear();
  const auto rows = std::count(file.begin(), file.end(), '\n');
  const auto first = static_cast<std::ptrdiff_t>(range.source->line_at(document.begin)) - 1;
  if (first > rows) file.append(static_cast<std::size_t>(first - rows), '\n');
  file += text;
  total_ += file.size();
  if (total_ > 2'000'000) stopped_ = true;
}

void ShellInterpreter::call(const Function& function, const Fields& fields, int depth) {
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

void ShellInterpreter::again(const Fields& fields, int depth) {
  ShellText text;
  for (const ShellText& field : fields) {
    if (!text.empty()) text.push_back({' ', false, 0, text.back().line});
    text.insert(text.end(), field.begin(), field.end());
  }
  if (!text.empty()) run_source(ShellSource::of_text(text), depth + 1);
}

bool ShellInterpreter::increments(std::string_view word) {
  if (word.find("++") == std::string_view::npos && word.find("--") == std::string_view::npos) return false;
  return true;
}

void ShellInterpreter::assign(const Range& range, std::size_t i) {
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

}  // namespace roofscape::io
