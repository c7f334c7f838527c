#include "app/session/palette_entries.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>

#include "app/core/strings.h"
#include "app/session/file_list.h"
#include "engine/base/ascii.h"
#include "engine/base/read_number.h"
#include "engine/base/text_match.h"
#include "engine/blocks/block.h"
#include "engine/frameworks/synonyms.h"
#include "engine/scenario/scenario_fields.h"
#include "widgets/canvas/number_format.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app {

using engine::is_digit;

namespace {

using widgets::TextTable;

// In small letters, and numbers in one piece however they are grouped: 16384.
std::string plain(std::string_view text) {
  std::string out = engine::small_letters(text);
  constexpr std::string_view gap = widgets::kNarrowSpace;
  for (std::size_t at = out.find(gap); at != std::string::npos; at = out.find(gap, at)) out.erase(at, gap.size());
  return out;
}

// The words as they were typed: "30M" and "30m" are different numbers.
std::vector<std::string> words_of(std::string_view typed) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : typed) {
    if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

constexpr std::size_t kShortestChoice = 4;  // letters of a value that names its field, so that "fp8" finds more

constexpr double kAfterVerbs = 3;  // more than match() gives for beginning a title

std::vector<std::string> plain(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) out.push_back(plain(word));
  return out;
}

// The last words of a list, with blanks between.
std::string joined_from(const std::vector<std::string>& words, std::size_t first) {
  std::string out;
  for (std::size_t i = first; i < words.size(); ++i) out += (out.empty() ? "" : " ") + words[i];
  return out;
}

bool starts_word(std::string_view text, std::size_t at) {
  return at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0;
}

// How well all words are found in a title or an id; none if one is missing. Shorter titles go before longer ones.
std::optional<double> match(const std::vector<std::string>& words, std::string_view title, std::string_view id) {
  const std::string t = plain(title), i = plain(id);
  double score = 0;
  for (const std::string& word : words) {
    double best = -1;
    for (const std::string& text : {t, i})
      for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        double s = 1 + static_cast<double>(word.size()) / static_cast<double>(text.size() + 1);
        if (starts_word(text, at)) s += 2;
        if (at == 0) s += 1;
        if (text == word) s += 3;
        best = std::max(best, s);
      }
    if (best < 0) return std::nullopt;
    score += best;
  }
  return words.empty() ? 0 : score / static_cast<double>(words.size()) - static_cast<double>(t.size()) * 0.001;
}

// Whether every word begins a word of the title or the id.
bool begin_words(const std::vector<std::string>& words, std::string_view title, std::string_view id) {
  const std::string t = plain(title), i = plain(id);
  const auto begins = [](const std::string& text, const std::string& word) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
      if (starts_word(text, at)) return true;
    return false;
  };
  return !words.empty() && std::all_of(words.begin(), words.end(),
                                       [&](const std::string& word) { return begins(t, word) || begins(i, word); });
}

std::string label_of(const TextTable& texts, const engine::Field& field) {
  const std::string path(field.path);
  if (texts.has("field." + path + ".label")) return std::string(texts.text("field." + path + ".label"));
  return widgets::quantity_label(texts, path);
}

bool is_number(const engine::Field& field) {
  return field.kind == engine::FieldKind::integer || field.kind == engine::FieldKind::number;
}

// Whether a choice of the field begins with the word, by its name in a file or by its name in the window.
bool choice_begins_with(const TextTable& texts, const engine::Field& field, std::size_t i, std::string_view word) {
  const std::string choice(field.choices[i]);
  return plain(choice).starts_with(word) ||
         plain(texts.text("choice." + std::string(field.path) + "." + choice)).starts_with(word);
}

// What was typed as a value of the field.
std::optional<double> value_of(const TextTable& texts, const engine::Field& field, const std::string& typed) {
  const std::string word = plain(typed);
  if (field.kind == engine::FieldKind::boolean) {
    if (word == "on" || word == "true" || word == "yes") return 1;
    if (word == "off" || word == "false" || word == "no") return 0;
    return std::nullopt;
  }
  if (field.kind == engine::FieldKind::choice) {
    for (std::size_t i = 0; i < field.choices.size(); ++i)
      if (choice_begins_with(texts, field, i, word)) return static_cast<double>(i);
    return std::nullopt;
  }
  const engine::NumberReading number = engine::read_number(typed, field.unit);
  return number && engine::in_domain(field, *number) ? number.value : std::nullopt;
}

}  // namespace

std::vector<PaletteEntry> palette_entries(const Session& session, const TextTable& texts,
                                          std::span<const Command> commands, std::string_view typed,
                                          const std::function<bool(const Command&)>& usable, std::size_t most,
                                          std::span<const TourName> tours) {
  std::vector<PaletteEntry> all;
  const std::vector<std::string> as_typed = words_of(typed), words = plain(as_typed);
  const auto add = [&](PaletteKind kind, std::string title, std::string detail, std::string value, double bonus,
                       const std::vector<std::string>& wanted, double number = 0) {
    if (const auto score = match(wanted, title, value))
      all.push_back({kind, std::move(title), std::move(detail), std::move(value), number, *score + bonus});
  };
  // A word that says what is looked for need not be in the name: "explain mfu", "open llama", "set tensor 8".
  struct Verb {
    std::string_view word;
    PaletteKind kind;
  };
  std::optional<PaletteKind> only;
  if (words.size() > 1)
    for (const Verb& verb :
         {Verb{"explain", PaletteKind::quantity}, Verb{"why", PaletteKind::quantity}, Verb{"set", PaletteKind::field},
          Verb{"open", PaletteKind::scenario}, Verb{"model", PaletteKind::model},
          Verb{"cluster", PaletteKind::cluster}, Verb{"calc", PaletteKind::block}, Verb{"pin", PaletteKind::pin},
          Verb{"tour", PaletteKind::tour}})
      if (words.front() == verb.word) only = verb.kind;
  const std::vector<std::string> rest = only ? std::vector<std::string>(words.begin() + 1, words.end()) : words;
  const auto wanted = [&](PaletteKind kind) -> const std::vector<std::string>& {
    return only == kind ? rest : words;
  };
  const double chosen = 4;
  const auto bonus = [&](PaletteKind kind, double usual) { return only == kind ? chosen : usual; };

  for (const Command& c : commands) {
    if (c.category == Category::hidden || (usable && !usable(c))) continue;
    const std::string key = "command." + std::string(c.id);
    const std::string title(texts.text(key));
    // Also by other words for what it does: "import" for opening a file.
    if (!texts.has(key + ".words") || match(words, title, c.id))
      add(PaletteKind::command, title, key_text(c.key), std::string(c.id), 0.6, words);
    else if (const auto score = match(words, texts.text(key + ".words"), c.id))
      all.push_back({PaletteKind::command, title, key_text(c.key), std::string(c.id), 0, *score + 0.6});
  }
  // A path that was typed or pasted.
  if (const std::string path = joined_from(as_typed, only == PaletteKind::scenario ? 1 : 0);
      path.find('/') != std::string::npos) {
    const std::filesystem::path file = typed_path(path, {});
    std::error_code unknown;
    if (std::filesystem::is_regular_file(file, unknown))
      all.push_back({PaletteKind::file, texts.format("ui.palette.file", {file.string()}), {}, file.string(), 0, 9});
  }
  // "tensor 8", "slo 500 ms", "schedule interleaved": the first words name the field, the last say the value.
  const std::vector<std::string>& set = wanted(PaletteKind::field);
  const std::size_t verb = words.size() - set.size();
  const std::string whole = joined_from(set, 0);
  for (const engine::Field& field : engine::scenario_fields()) {
    const std::string label = label_of(texts, field), path(field.path);
    const std::size_t most_words = is_number(field) ? 4 : 1;
    // By its label, or what frameworks call it: "TP 8", "dp_shard 16".
    const auto match_field = [&](const std::vector<std::string>& name) -> std::optional<double> {
      constexpr double kExact = 4;
      if (const auto ours = match(name, label, path)) return ours;
      const engine::NamedField* named = engine::find_named_field(joined_from(name, 0));
      return named != nullptr && named->path == field.path ? std::optional(kExact) : std::nullopt;
    };
    for (std::size_t n = 1; n < set.size() && n <= most_words; ++n) {
      const std::string entered = joined_from(as_typed, verb + set.size() - n);
      // Digits, so that no name is taken for a number that cannot be read.
      if (is_number(field) && entered.find_first_of("0123456789") == std::string::npos) continue;
      const std::vector<std::string> name(set.begin(), set.end() - static_cast<std::ptrdiff_t>(n));
      const auto score = match_field(name);
      if (!score) continue;
      const std::string now = field_value_text(field, field.get(session.scenario()));
      if (const auto value = value_of(texts, field, entered)) {
        all.push_back({PaletteKind::field, texts.format("ui.palette.set", {label, field_value_text(field, *value)}),
                       texts.format("ui.palette.now", {now}), path, *value, *score + bonus(PaletteKind::field, 3)});
      } else if (is_number(field) && is_digit(entered.front())) {
        // What cannot be set says why, and typing goes on from there.
        const engine::NumberReading read = engine::read_number(entered, field.unit);
        all.push_back(
            {PaletteKind::complete,
             texts.format("ui.palette.refused", {label, texts.write(read ? engine::domain_of(field) : read.remedy)}),
             read ? texts.format("ui.palette.now", {now}) : texts.write(read.problem), path + " ", 0,
             *score + bonus(PaletteKind::field, 1)});
      }
    }
    // A value that has a name needs no more than it: "calibrated", "interleaved".
    if (field.kind == engine::FieldKind::choice && whole.size() >= kShortestChoice)
      for (std::size_t i = 0; i < field.choices.size(); ++i) {
        if (!choice_begins_with(texts, field, i, whole)) continue;
        all.push_back({PaletteKind::field,
                       texts.format("ui.palette.set", {label, field_value_text(field, static_cast<double>(i))}),
                       texts.format("ui.palette.now", {field_value_text(field, field.get(session.scenario()))}), path,
                       static_cast<double>(i), bonus(PaletteKind::field, 2)});
      }
    if (only == PaletteKind::pin)
      if (const auto score = match_field(rest))
        all.push_back({PaletteKind::pin,
                       texts.format("ui.palette.pin", {label}),
                       {},
                       path,
                       0,
                       *score + bonus(PaletteKind::pin, 0)});
    if (const auto score = match_field(set); score && !set.empty())
      all.push_back({PaletteKind::complete, texts.format("ui.palette.field", {label}),
                     texts.format("ui.palette.now", {field_value_text(field, field.get(session.scenario()))}),
                     path + " ", 0, *score + bonus(PaletteKind::field, 0.3)});
  }
  const auto& quantities = session.report().quantities;
  for (const engine::Quantity& row : engine::kQuantities) {
    const auto q = engine::find_quantity(row.id);
    if (!q || engine::is_input(row) || engine::is_indexed(row)) continue;
    const auto value = quantities[*q];
    if (!value) continue;
    add(PaletteKind::quantity, widgets::quantity_label(texts, row.id), texts.amount(*value, row.unit),
        std::string(row.id), bonus(PaletteKind::quantity, 0.2), wanted(PaletteKind::quantity));
  }
  struct Presets {
    PaletteKind kind;
    io::PresetKind preset;
  };
  for (const Presets& p :
       {Presets{PaletteKind::scenario, io::PresetKind::scenario}, Presets{PaletteKind::model, io::PresetKind::model},
        Presets{PaletteKind::cluster, io::PresetKind::cluster}, Presets{PaletteKind::cluster, io::PresetKind::chip}})
    for (const io::Preset& preset : session.library().list(p.preset)) {
      auto score = match(wanted(p.kind), preset.name, preset.id);
      for (const std::string& alias : preset.aliases)
        if (const auto by_alias = match(wanted(p.kind), alias, preset.id); by_alias && (!score || *by_alias > *score))
          score = by_alias;
      if (score) all.push_back({p.kind, preset.name, {}, preset.id, 0, *score + bonus(p.kind, 0.1)});
    }
  for (const TourName& tour : tours)
    add(PaletteKind::tour, tour.title, {}, tour.id, bonus(PaletteKind::tour, 0.1), wanted(PaletteKind::tour));
  for (const engine::BuildingBlock& block : engine::blocks()) {
    const std::string about(texts.text("calc." + std::string(block.id)));
    const std::vector<std::string>& names = wanted(PaletteKind::block);
    auto score = match(names, block.id, about);
    if (const auto by_words = match(names, texts.text("calc." + std::string(block.id) + ".words"), block.id))
      score = std::max(score, by_words);
    if (score)
      all.push_back({PaletteKind::block, std::string(block.id), about, std::string(block.id), 0,
                     *score + bonus(PaletteKind::block, 0)});
  }
  // What can be done with a word goes before the presets that are named with it.
  const bool done = std::any_of(all.begin(), all.end(), [&](const PaletteEntry& entry) {
    return entry.kind == PaletteKind::command && begin_words(words, entry.title, entry.value);
  });
  for (PaletteEntry& entry : all)
    if (done && (entry.kind == PaletteKind::scenario || entry.kind == PaletteKind::model ||
                 entry.kind == PaletteKind::cluster))
      entry.score -= kAfterVerbs;
  // What has just this name goes before all that merely contain it.
  for (PaletteEntry& entry : all)
    if (engine::match_of(typed, entry.title, entry.value) == engine::Match::exact) entry.score += 10;
  std::stable_sort(all.begin(), all.end(),
                   [](const PaletteEntry& a, const PaletteEntry& b) { return a.score > b.score; });
  if (all.size() > most) all.resize(most);
  return all;
}

}  // namespace roofscape::app
