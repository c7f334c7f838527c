#include "engine/io/import/command_keys.h"

#include <algorithm>

#include "engine/io/import/document.h"

namespace roofscape::io {

namespace {

constexpr std::size_t kLongestNested = std::size_t{64} << 10;

bool is_flag(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && !plain_number(word) && word != "-";
}

// Flags that have no value, by their names.
bool switches(std::string_view flag) {
  flag.remove_prefix(std::min(flag.find_first_not_of('-'), flag.size()));
  for (const std::string_view beginning : {"no", "enable", "disable"})
    if (flag.starts_with(beginning) && flag.size() > beginning.size() &&
        (flag[beginning.size()] == '-' || flag[beginning.size()] == '_'))
      return true;
  return false;
}

bool says_whether(std::string_view word) {
  const Node::Kind kind = plain_scalar(word, 0).kind;
  return kind == Node::Kind::boolean || kind == Node::Kind::number;
}

// Whether the word behind a flag is its value. What only a shell could know may be nothing, or further flags.
bool has_value(const std::vector<ShellWord>& words, std::size_t flag) {
  if (flag + 1 == words.size() || is_flag(words[flag + 1].text)) return false;
  const ShellWord& next = words[flag + 1];
  if (switches(words[flag].text)) return next.open.empty() && says_whether(next.text);
  return next.open.empty() || !is_own_arguments(next);
}

// Whether a word behind the value of a flag may be a further one of it: of a list of names or sizes.
bool takes_several(std::string_view flag) {
  for (const std::string_view ending : {"-name", "-names", "-modules", "-sizes", "-files", "-middleware", "-origins"})
    if (flag.ends_with(ending)) return true;
  return false;
}

}  // namespace

std::vector<ShellCommand> commands_of(const ShellScript& script) {
  std::vector<ShellCommand> out;
  for (const ShellCommand& command : script.commands) {
    out.push_back(command);
    for (const ShellWord& word : command.words) {
      std::string_view text = word.text;
      if (text.starts_with("--") && text.find('=') < text.find(' ')) text.remove_prefix(text.find('=') + 1);
      if (text.find(' ') == std::string_view::npos || text.size() > kLongestNested) continue;
      auto nested = read_shell(text, {});
      if (!nested) continue;
      for (ShellCommand& inner : nested->commands) {
        if (inner.words.size() < 2) continue;
        for (ShellWord& part : inner.words) part.line += word.line - 1;
        inner.line += word.line - 1;
        out.push_back(std::move(inner));
      }
    }
  }
  return out;
}

std::string full_flag(std::string_view written, std::span<const ShortFlag> shorts) {
  std::string name(written);
  std::replace(name.begin(), name.end(), '_', '-');
  for (const ShortFlag& known : shorts)
    if (name == known.name) return std::string(known.stands_for);
  return name;
}

std::vector<LooseWord> take_flags(const ShellCommand& command, std::span<const ShortFlag> shorts, KeyReader& keys) {
  std::vector<LooseWord> loose;
  std::string latest;
  for (std::size_t i = 0; i < command.words.size(); ++i) {
    const ShellWord& word = command.words[i];
    if (!is_flag(word.text)) {
      loose.push_back({word, latest});
      continue;
    }
    const std::size_t sign = word.text.find('=');
    std::string name = full_flag(std::string_view(word.text).substr(0, sign), shorts);
    latest = name;
    std::string value, open = word.open;
    bool stated = sign != std::string::npos;
    if (stated) {
      value = word.text.substr(sign + 1);
    } else if (has_value(command.words, i)) {
      value = command.words[i + 1].text;
      open = command.words[i + 1].open;
      stated = true;
      ++i;
    }
    Node node;
    if (stated) {
      node = plain_scalar(value, word.line);
      if (node.is_null() && open.empty()) node.kind = Node::Kind::text;
    } else {
      if (name.starts_with("--no-"))
        name.erase(2, 3), node.number = 0;
      else
        node.number = 1;
      node.kind = Node::Kind::boolean;
      node.text = node.number != 0 ? "true" : "false";
      node.line = word.line;
    }
    keys.add(std::move(name), std::move(node), std::move(open));
  }
  return loose;
}

Maybe<std::string> take_served_name(const std::vector<LooseWord>& words, std::string_view names, KeyReader& keys,
                                    LaunchPlan& plan) {
  const LooseWord* served = nullptr;
  if (!words.empty() && words.front().behind.empty()) {
    served = &words.front();
  } else if (!words.empty() && !keys.like(names)) {
    const LooseWord& last = words.back();
    if (last.word.open.empty() && last.word.text.find('=') == std::string::npos && !says_whether(last.word.text) &&
        !takes_several(last.behind))
      served = &last;
  }
  for (const LooseWord& loose : words)
    if (&loose != served) keys.pass_over(loose.word);
  if (served == nullptr) return std::nullopt;
  const ShellWord& name = served->word;
  if (name.open.empty()) return Stated<std::string>{name.text, {name.text, name.line}};
  plan.missing.push_back({"model", "--set model=..."});
  return std::nullopt;
}

void take_settings(const std::vector<ShellWord>& words, KeyReader& keys) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const ShellWord& word = words[i];
    if (!is_flag(word.text)) {
      keys.pass_over(word);
      continue;
    }
    const std::size_t sign = word.text.find('=');
    std::string name = word.text.substr(0, sign);
    name.erase(0, name.find_first_not_of('-'));
    std::replace(name.begin(), name.end(), '-', '_');
    const bool follows = has_value(words, i);
    if (sign != std::string::npos) {
      keys.add(std::move(name), plain_scalar(word.text.substr(sign + 1), word.line), word.open);
    } else if (follows) {
      keys.add(std::move(name), plain_scalar(words[i + 1].text, word.line), words[i + 1].open);
      ++i;
    } else {
      const std::size_t last = name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1;
      const bool off = name.compare(last, 3, "no_") == 0;
      if (off) name.erase(last, 3);
      keys.add(std::move(name), plain_scalar(off ? "false" : "true", word.line));
    }
  }
}

}  // namespace roofscape::io
