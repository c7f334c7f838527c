#include "app/session/reduced_motion.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "app/session/settings.h"
#include "engine/base/text_pieces.h"
#include "engine/io/json/files.h"

namespace roofscape::app {

namespace {

struct Place {
  std::string_view file, group, key;
};
constexpr std::array<Place, 4> kPlaces{
    {{"gtk-4.0/settings.ini", "Settings", "gtk-enable-animations"},
     {"gtk-3.0/settings.ini", "Settings", "gtk-enable-animations"},
     {"kdeglobals", "KDE", "AnimationDurationFactor"},
     {"glib-2.0/settings/keyfile", "org/gnome/desktop/interface", "enable-animations"}}};

// The value of a key in an ini file; empty: it is not there.
std::string_view value_in(std::string_view text, const Place& place) {
  bool inside = false;
  std::string_view value;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = engine::trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('['))
      inside = line.ends_with(']') && line.substr(1, line.size() - 2) == place.group;
    else if (const std::size_t equals = line.find('=');
             inside && equals != std::string_view::npos && engine::trimmed(line.substr(0, equals)) == place.key)
      value = engine::trimmed(line.substr(equals + 1));
  }
  return value;
}

bool is_off(std::string_view value) {
  if (value == "false" || value == "FALSE" || value == "False") return true;
  double number = 1;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
  return read.ec == std::errc{} && read.ptr == value.data() + value.size() && number == 0;
}

}  // namespace

bool asks_for_stillness(const std::filesystem::path& config) {
  if (config.empty()) return false;
  return std::any_of(kPlaces.begin(), kPlaces.end(), [&](const Place& place) {
    std::error_code unknown;
    const std::filesystem::path file = config / place.file;
    if (!std::filesystem::is_regular_file(file, unknown)) return false;
    const auto text = io::read_file(file);
    return text.ok() && is_off(value_in(text.value(), place));
  });
}

bool system_asks_for_stillness() {
  const std::filesystem::path own = settings_file();  // <config>/roofscape/settings.json
  return asks_for_stillness(own.empty() ? own : own.parent_path().parent_path());
}

}  // namespace roofscape::app
