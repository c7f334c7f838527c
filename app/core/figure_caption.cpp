#include "app/core/figure_caption.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace roofscape::app {
namespace {

// With its first letter in capitals, unless it begins with what is written so, such as "bf16" or "fsdp 8".
std::string capitalized(std::string sentence) {
  const auto at = [&](std::size_t i) { return i < sentence.size() ? static_cast<unsigned char>(sentence[i]) : 0u; };
  const auto small = [&](std::size_t i) { return at(i) >= 'a' && at(i) <= 'z'; };
  std::size_t end = 0;
  while (small(end)) ++end;
  if (end > 0) {
    const bool plain =
        (at(end) == ' ' || at(end) == ',' || at(end) == ':' || at(end) == '-') && sentence.substr(0, end) != "fsdp";
    if (plain) sentence[0] = static_cast<char>(at(0) - 'a' + 'A');
  } else if (at(0) == 0xd0 && at(1) >= 0xb0 && at(1) <= 0xbf) {  // Cyrillic a to p
    sentence[1] = static_cast<char>(at(1) - 0x20);
  } else if (at(0) == 0xd1 && at(1) >= 0x80 && at(1) <= 0x8f) {  // r to ya
    sentence[0] = static_cast<char>(0xd0), sentence[1] = static_cast<char>(at(1) + 0x20);
  }
  return sentence;
}

void add_sentence(std::string& out, const std::string& sentence) {
  if (sentence.empty()) return;
  if (!out.empty()) out += ' ';
  out += capitalized(sentence);
  if (!sentence.ends_with('.') && !sentence.ends_with("\u2026")) out += '.';
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 27> kLatex{{
    {"\\", "\\textbackslash{}"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"%", "\\%"},
    {"&", "\\&"},
    {"$", "\\$"},
    {"#", "\\#"},
    {"_", "\\_"},
    {"~", "\\textasciitilde{}"},
    {"^", "\\textasciicircum{}"},
    {"<", "\\textless{}"},
    {">", "\\textgreater{}"},
    {"\u202f", "\\,"},
    {"\u00a0", "~"},
    {"\u00d7", "$\\times$"},
    {"\u2212", "$-$"},
    {"\u00b1", "$\\pm$"},
    {"\u00b5", "$\\mu$"},
    {"\u2248", "$\\approx$"},
    {"\u2264", "$\\leq$"},
    {"\u2265", "$\\geq$"},
    {"\u221e", "$\\infty$"},
    {"\u2192", "$\\rightarrow$"},
    {"\u2191", "$\\uparrow$"},
    {"\u2020", "\\textdagger{}"},
    {"\u2026", "\\ldots{}"},
    {"\u2014", "---"},
}};

}  // namespace

std::string caption_text(const widgets::FigureHead& head) {
  std::string out;
  for (const std::string* part : {&head.title, &head.takeaway, &head.context}) add_sentence(out, *part);
  return out;
}

std::string caption_latex(const widgets::FigureHead& head) {
  const std::string text = caption_text(head);
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    bool special = false;
    for (const auto& [sign, latex] : kLatex) {
      if (!rest.starts_with(sign)) continue;
      out += latex;
      rest.remove_prefix(sign.size());
      special = true;
      break;
    }
    if (special) continue;
    out += rest.front();
    rest.remove_prefix(1);
  }
  return out;
}

io::Result<std::string> caption_file(const widgets::FigureHead& head, const std::filesystem::path& file) {
  if (file.extension() == ".tex") return caption_latex(head) + "%\n";  // no space before what follows
  if (file.extension() == ".txt") return caption_text(head) + "\n";
  return io::InputError{
      file.string(), {}, engine::say("error.figure.caption"), engine::say("error.figure.caption.remedy")};
}

}  // namespace roofscape::app
