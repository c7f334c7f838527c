#include "engine/io/json/result.h"

#include <algorithm>
#include <new>

#include "engine/base/utf8.h"

namespace roofscape::io {
namespace {

// One line: control characters become spaces.
void append_line(std::string& out, std::string_view text) {
  for (const char c : text) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
}

// A number that goes on for lines says no more than its beginning: runs of digits are cut.
std::string with_short_numbers(std::string text) {
  constexpr std::size_t kLongest = 40, kShown = 20;
  constexpr std::string_view kDigits = "0123456789", kDots = "...";
  for (std::size_t at = text.find_first_of(kDigits); at != std::string::npos; at = text.find_first_of(kDigits, at)) {
    const std::size_t end = std::min(text.find_first_not_of(kDigits, at), text.size());
    if (end - at > kLongest) {
      text.replace(at + kShown, end - at - kShown, kDots);
      at += kShown + kDots.size();
    } else {
      at = end;
    }
  }
  return text;
}

}  // namespace

std::string to_text(const InputError& error, const engine::Words& words) {
  constexpr std::size_t kLongestPath = 200;
  std::string out;
  const auto add = [&](std::string_view part) {
    if (part.empty()) return;
    if (!out.empty()) out += ": ";
    append_line(out, part);
  };
  add(error.file);
  add(engine::whole_characters(error.path, kLongestPath));
  add(words.write(error.place));
  add(with_short_numbers(words.write(error.message)));
  if (!error.remedy.empty()) {
    out += "; ";
    append_line(out, with_short_numbers(words.write(error.remedy)));
  }
  return out;
}

InputError error_of(const std::exception& thrown) {
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr)
    return {{}, {}, engine::say("error.no_memory"), engine::say("error.no_memory.remedy")};
  return {{}, {}, std::string(thrown.what()), engine::say("error.report_this")};
}

std::string listed(std::span<const std::string_view> words) {
  std::string out;
  for (const std::string_view word : words) {
    if (!out.empty()) out += ", ";
    out += word;
  }
  return out;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  const std::string_view shown = engine::whole_characters(text, kLongest);
  std::string out = "\"";
  append_line(out, shown);
  if (shown.size() < text.size()) out += "...";
  return out + "\"";
}

}  // namespace roofscape::io
