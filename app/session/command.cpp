#include "app/session/command.h"

#include <array>

namespace roofscape::app {

using widgets::Key;
using widgets::KeyPress;

const Command* find_command(std::span<const Command> commands, std::string_view id) {
  for (const Command& c : commands)
    if (c.id == id) return &c;
  return nullptr;
}

std::string key_text(const KeyPress& key) {
  if (key.key == Key::none) return {};
  std::string text;
  if (key.control) text += "Ctrl+";
  if (key.shift) text += "Shift+";
  if (key.alt) text += "Alt+";
  const auto code = static_cast<unsigned>(key.key);
  if (key.key == widgets::key_of(' ')) return text + "Space";
  if (key.key == Key::equal) return text + "plus";
  if (key.key == Key::minus) return text + "minus";
  struct Named {
    Key key;
    std::string_view name;
  };
  constexpr std::array kNamed{
      Named{Key::escape, "Esc"},          Named{Key::tab, "Tab"},     Named{Key::enter, "Enter"},
      Named{Key::home, "Home"},           Named{Key::end, "End"},     Named{Key::page_up, "Page Up"},
      Named{Key::page_down, "Page Down"}, Named{Key::left, "\u2190"}, Named{Key::right, "\u2192"},
      Named{Key::up, "\u2191"},           Named{Key::down, "\u2193"}, Named{Key::backspace, "Backspace"},
      Named{Key::del, "Delete"}};
  for (const Named& named : kNamed)
    if (key.key == named.key) return text.append(named.name);
  if (key.key >= Key::f1 && key.key <= Key::f12)
    return text + "F" + std::to_string(code - static_cast<unsigned>(Key::f1) + 1);
  if (code < 128) text += static_cast<char>(code);
  return text;
}

}  // namespace roofscape::app
