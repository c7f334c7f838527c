#include "widgets/canvas/theme.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace roofscape::widgets {
namespace {

struct ColourKey {
  const char* key;
  Colour Theme::*member;
};
constexpr ColourKey kColours[] = {
    {"win", &Theme::win},   {"panel", &Theme::panel}, {"ctl", &Theme::ctl},   {"ctlh", &Theme::ctlh},
    {"line", &Theme::line}, {"edge", &Theme::edge},   {"grid", &Theme::grid}, {"axis", &Theme::axis},
    {"ink", &Theme::ink},   {"ink2", &Theme::ink2},   {"ink3", &Theme::ink3}, {"inv", &Theme::inv},
    {"bub", &Theme::bub},   {"ok", &Theme::ok},       {"warn", &Theme::warn}, {"err", &Theme::err}};

struct NumberKey {
  const char* key;
  float Theme::*member;
};
constexpr NumberKey kNumbers[] = {{"width.data", &Theme::data_width},   {"width.axis", &Theme::axis_width},
                                  {"width.grid", &Theme::grid_width},   {"width.edge", &Theme::edge_width},
                                  {"size.marker", &Theme::marker_size}, {"hatch.opacity", &Theme::hatch_opacity}};

constexpr std::string_view kHues[kHueCount] = {"blue",   "sky",       "orange", "green",
                                               "yellow", "vermilion", "purple", "grey"};

std::string hue_key(std::size_t hue, bool fill) {
  return fmt::format("hue.{}.{}", kHues[hue], fill ? "fill" : "line");
}

// Collects what is wrong so that one error names everything.
struct Reader {
  const std::map<std::string, std::string>& tokens;
  std::string missing, malformed;

  const std::string* find(const std::string& key) {
    const auto it = tokens.find(key);
    if (it != tokens.end()) return &it->second;
    missing += (missing.empty() ? "" : ", ") + key;
    return nullptr;
  }
  void wrong(const std::string& key, const std::string& text, const char* wanted) {
    malformed += fmt::format("{}{} is \"{}\", not {}", malformed.empty() ? "" : "; ", key, text, wanted);
  }
  void read(const std::string& key, Colour& out) {
    const std::string* text = find(key);
    if (!text) return;
    if (const auto colour = parse_colour(*text))
      out = *colour;
    else
      wrong(key, *text, "a colour like #14181D");
  }
  void read(const std::string& key, float& out) {
    const std::string* text = find(key);
    if (!text) return;
    double value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error == std::errc{} && end == text->data() + text->size() && std::isfinite(value) && value >= 0)
      out = static_cast<float>(value);
    else
      wrong(key, *text, "a number of at least 0");
  }
};

}  // namespace

Theme Theme::from_tokens(const std::map<std::string, std::string>& tokens) {
  Theme theme;
  Reader reader{tokens, {}, {}};
  for (const ColourKey& k : kColours) reader.read(k.key, theme.*k.member);
  for (std::size_t hue = 0; hue < kHueCount; ++hue) {
    reader.read(hue_key(hue, true), theme.fills[hue]);
    reader.read(hue_key(hue, false), theme.lines[hue]);
  }
  for (const NumberKey& k : kNumbers) reader.read(k.key, theme.*k.member);
  if (!reader.missing.empty()) throw ThemeError("theme lacks " + reader.missing);
  if (!reader.malformed.empty()) throw ThemeError("theme: " + reader.malformed);
  return theme;
}

std::vector<std::string> Theme::keys() {
  std::vector<std::string> keys;
  for (const ColourKey& k : kColours) keys.emplace_back(k.key);
  for (std::size_t hue = 0; hue < kHueCount; ++hue) {
    keys.push_back(hue_key(hue, true));
    keys.push_back(hue_key(hue, false));
  }
  for (const NumberKey& k : kNumbers) keys.emplace_back(k.key);
  return keys;
}

std::string_view name_of(Hue hue) { return kHues[static_cast<std::size_t>(hue)]; }

}  // namespace roofscape::widgets
