#include "app/core/fonts.h"

#include <string>
#include <vector>

namespace roofscape::app {

using engine::say;

io::Result<widgets::FontStack> load_fonts(std::string_view family) {
  std::vector<std::string> families = widgets::FontStack::default_families();
  if (!family.empty()) families.emplace(families.begin(), family);
  widgets::FontStack fonts(families);
  if (fonts.faces().empty()) return io::InputError{{}, {}, say("error.fonts.none"), say("error.fonts.none.remedy")};
  for (const widgets::MissingFont& missing : fonts.missing())
    if (!family.empty() && missing.family == family)
      return io::InputError{
          {}, "--font", say("error.figure.font", io::in_quotes(family)), say("error.figure.font.remedy")};
  return fonts;
}

}  // namespace roofscape::app
