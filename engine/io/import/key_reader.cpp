#include "engine/io/import/key_reader.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace roofscape::io {

using engine::say;
using engine::Sentence;

namespace {

// The next of several names, cut off the front.
std::string_view cut_name(std::string_view& names) {
  const std::size_t bar = names.find('|');
  const std::string_view name = names.substr(0, bar);
  names = bar == std::string_view::npos ? std::string_view() : names.substr(bar + 1);
  return name;
}

bool same_value(const Node& a, const Node& b) {
  return a.kind == b.kind && a.text == b.text && a.items.size() == b.items.size() &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), same_value);
}

Sentence shown_node(const Node& node) {
  if (node.is_list()) return say("error.kind.list");
  if (node.is_map()) return say("error.kind.object");
  return in_quotes(node.text);
}

// '*' stands for any letters.
bool fits_pattern(std::string_view name, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t at = star; at <= name.size(); ++at)
    if (fits_pattern(name.substr(at), rest)) return true;
  return false;
}

}  // namespace

void KeyReader::add_members(const Node& map, const std::string& prefix) {
  for (std::size_t i = 0; i < map.items.size(); ++i) {
    const Node& item = map.items[i];
    std::string name = prefix.empty() ? map.keys[i] : prefix + "." + map.keys[i];
    if (item.is_map() && !item.items.empty())
      add_members(item, name);
    else
      keys_.push_back({std::move(name), item, {}});
  }
}

void KeyReader::add(const Node& document) {
  if (document.is_map()) add_members(document, {});
}

void KeyReader::add(std::string key, Node value, std::string open) {
  keys_.push_back({std::move(key), std::move(value), std::move(open)});
}

void KeyReader::pass_over(const ShellWord& word) {
  if (!word.open.empty() && !is_own_arguments(word)) plan_.warn(say("import.open_arguments", word.text), word.line);
}

KeyReader::Key* KeyReader::find(std::string_view names) {
  Key* found = nullptr;
  while (!names.empty()) {
    const std::string_view name = cut_name(names);
    for (Key& key : keys_) {
      if (key.name != name) continue;
      key.used = true;
      if (key.value.is_null() || !key.open.empty()) continue;
      if (found == nullptr)
        found = &key;
      else if (!same_value(found->value, key.value))
        contradiction(origin(*found), found->value.text, origin(key), key.value.text);
    }
  }
  return found;
}

bool KeyReader::has(std::string_view names) { return find(names) != nullptr; }

bool KeyReader::has_any(std::initializer_list<std::string_view> keys) {
  return std::any_of(keys.begin(), keys.end(), [&](std::string_view key) { return has(key); });
}

std::optional<Origin> KeyReader::like(std::string_view pattern) const {
  for (const Key& key : keys_)
    if (fits_pattern(key.name, pattern) && !key.value.is_null()) return origin(key);
  return std::nullopt;
}

bool KeyReader::is_list(std::string_view names) {
  const Key* key = find(names);
  return key != nullptr && key->value.is_list();
}

bool KeyReader::is_word(std::string_view names, std::string_view word) {
  const Key* key = find(names);
  return key != nullptr && key->value.is_scalar() && key->value.text == word;
}

Maybe<double> KeyReader::number(std::string_view names, double least, double most) {
  const Key* key = find(names);
  if (key == nullptr || failed()) return std::nullopt;
  const Sentence remedy =
      say("error.give", say("error.domain.number", fmt::format("{:g}", least), fmt::format("{:g}", most)));
  if (key->value.kind != Node::Kind::number)
    fail(origin(*key), say("error.not_a_number", shown_node(key->value)), remedy);
  else if (key->value.number < least || key->value.number > most)
    fail(origin(*key), say("error.out_of_range", shown_node(key->value)), remedy);
  else
    return Stated<double>{key->value.number, origin(*key)};
  return std::nullopt;
}

Maybe<int> KeyReader::whole(std::string_view names, int least, int most) {
  const Key* key = find(names);
  if (key == nullptr || failed()) return std::nullopt;
  const Sentence remedy = say("error.give", say("error.domain.whole", std::to_string(least), std::to_string(most)));
  const double value = key->value.number;
  if (key->value.kind != Node::Kind::number || value != std::floor(value))
    fail(origin(*key), say("error.not_whole", shown_node(key->value)), remedy);
  else if (value < least || value > most)
    fail(origin(*key), say("error.out_of_range", shown_node(key->value)), remedy);
  else
    return Stated<int>{static_cast<int>(value), origin(*key)};
  return std::nullopt;
}

int KeyReader::degree(std::string_view names, std::string_view field, int most, const Sentence& usual) {
  const auto stated = whole(names, 1, most);
  if (stated)
    plan_.state(field, stated->value, stated->origin);
  else
    plan_.assume(field, 1, usual);
  return stated ? stated->value : 1;
}

Maybe<bool> KeyReader::flag(std::string_view names) {
  const Key* key = find(names);
  if (key == nullptr || failed()) return std::nullopt;
  if (key->value.kind == Node::Kind::boolean) return Stated<bool>{key->value.number != 0, origin(*key)};
  fail(origin(*key), say("error.not_boolean", shown_node(key->value)),
       say("error.give", say("error.domain.boolean")));
  return std::nullopt;
}

Maybe<std::string> KeyReader::word(std::string_view names) {
  const Key* key = find(names);
  if (key == nullptr || failed()) return std::nullopt;
  if (key->value.is_scalar()) return Stated<std::string>{key->value.text, origin(*key)};
  fail(origin(*key), say("error.not_text", shown_node(key->value)));
  return std::nullopt;
}

KeyReader::List KeyReader::list(std::string_view names) {
  const Key* key = find(names);
  if (key == nullptr || failed()) return {};
  if (key->value.is_list()) return {&key->value, origin(*key)};
  fail(origin(*key), say("error.not_list", shown_node(key->value)));
  return {};
}

void KeyReader::without_effect(std::initializer_list<std::string_view> patterns, const Sentence& why) {
  leave_out(patterns, [&why](const Key&) { return why; });
}

void KeyReader::not_modelled_when_on(std::initializer_list<std::string_view> patterns) {
  leave_out(patterns, [](const Key& key) {
    const Node& value = key.value;
    const bool counts = value.kind == Node::Kind::boolean || value.kind == Node::Kind::number;
    const bool off = key.open.empty() &&
                     (counts ? value.number == 0 : value.is_null() || value.text.empty() || value.text == "none");
    return off ? say("import.ignored.no_effect") : say("import.ignored.not_modelled");
  });
}

template <class Why>
void KeyReader::leave_out(std::initializer_list<std::string_view> patterns, const Why& why) {
  for (Key& key : keys_)
    for (const std::string_view pattern : patterns)
      if (!key.used && fits_pattern(key.name, pattern)) {
        key.used = true;
        plan_.no_effect(origin(key), why(key));
      }
}

void KeyReader::finish(std::initializer_list<KeyField> fields) {
  for (const Key& key : keys_) {
    if (!key.used) {
      plan_.not_understood(origin(key));
      continue;
    }
    const auto row = std::find_if(fields.begin(), fields.end(),
                                  [&](const KeyField& f) { return fits_pattern(key.name, f.pattern); });
    const std::string_view field = row == fields.end() ? std::string_view() : row->field;
    if (!key.open.empty()) {
      if (told(key)) continue;
      plan_.warn(say("import.key.open", key.name, in_quotes(key.open)), key.value.line);
      if (!field.empty()) plan_.missing.push_back({std::string(field), "--set " + std::string(field) + "=..."});
    } else if (!field.empty() && !told(key)) {
      plan_.read.push_back(
          {key.name, key.value.line, std::string(field), key.value.is_list() ? "[...]" : key.value.text});
    }
  }
}

// Whether the receipt has the key already.
bool KeyReader::told(const Key& key) const {
  const auto is = [&](std::string_view name, int line) { return name == key.name && line == key.value.line; };
  const auto any = [&](const auto& rows) {
    return std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return is(row.key, row.line); });
  };
  const auto of = [&](const auto& stated) { return stated && is(stated->origin.key, stated->origin.line); };
  return any(plan_.read) || any(plan_.ignored) ||
         std::any_of(plan_.fields.begin(), plan_.fields.end(),
                     [&](const StatedField& f) { return is(f.origin.key, f.origin.line); }) ||
         of(plan_.model) || of(plan_.shape) || of(plan_.chips) || of(plan_.chips_per_node) || of(plan_.data) ||
         of(plan_.fsdp) || of(plan_.layers_per_stage) || of(plan_.layout) || of(plan_.memory_share) ||
         of(plan_.train_steps) || of(plan_.train_sequences);
}

void KeyReader::fail(const Origin& origin, Sentence message, Sentence remedy) {
  if (failure_) return;
  failure_ = line_error(file_, origin.line, std::move(message), std::move(remedy));
  failure_->path = origin.key;
}

void KeyReader::not_possible(const Origin& origin, std::string_view value, std::string_view choices) {
  fail(origin, say("error.not_possible", in_quotes(value)), say("error.give", say("error.domain.choice", choices)));
}

void KeyReader::contradiction(const Origin& a, std::string_view a_value, const Origin& b, std::string_view b_value) {
  const auto named = [](const Origin& origin, std::string_view value) {
    const std::string text = origin.key + " " + std::string(value);
    return origin.line > 0 ? say("import.key.on_line", text, origin.line) : Sentence(text);
  };
  fail(b, say("import.key.contradiction", named(a, a_value), named(b, b_value)), say("error.json.twice.remedy"));
}

}  // namespace roofscape::io
