#include "widgets/ui/interaction.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/utf8.h"

namespace roofscape::widgets {

namespace {

constexpr double kDoubleClick_s = 0.35;
constexpr float kStill_px = 0.5f;  // what a pointer that is held still moves at most

}  // namespace

std::uint64_t Interaction::hash(std::string_view id) {
  std::uint64_t h = 14695981039346656037ull;  // FNV-1a
  for (const char c : id) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return h == 0 ? 1 : h;
}

void Interaction::begin(const UiInput& input, const Rect& window) {
  (void)window;
  const bool moved = moved_ = !(input.pointer == last_pointer_);
  input_ = input;
  if (carried_tab_) input_.keys.push_back(*std::exchange(carried_tab_, std::nullopt));
  entry_was_open_ = entry_id_ != 0;
  for (std::size_t b = 0; b < 2; ++b) {
    pressed_[b] = input.down[b] && !was_down_[b];
    released_[b] = !input.down[b] && was_down_[b];
    was_down_[b] = input.down[b];
  }
  press_taken_ = false;
  double_click_ = false;
  if (pressed_[0]) {
    double_click_ = input.now_s - last_press_s_ < kDoubleClick_s && distance(input.pointer, last_press_point_) < 6;
    last_press_s_ = double_click_ ? -1 : input.now_s;
    last_press_point_ = press_point_ = input.pointer;
  }
  dragged_ = !pressed_[0] && (dragged_ || std::abs(input.pointer.x - press_point_.x) > kStill_px);
  if (pressed_[0] || pressed_[1]) keyboard_last_ = false;
  active_seen_ = entry_seen_ = focus_seen_ = focus_moved_ = false;
  focus_rect_.reset();
  cursor_ = Cursor::arrow;
  wake_in_ = -1;
  hint_ = {};
  hover_next_ = 0;
  if (moved || pressed_[0] || pressed_[1]) last_pointer_ = input.pointer;
  if (moved || pressed_[0] || pressed_[1] || input.wheel != 0 || input.wheel_across != 0) parked_ = false;
  if (parked_) input_.pointer = UiInput{}.pointer;
  popup_.fresh = false;

  // Tab walks over the controls of the last frame, in the order they were drawn.
  if (!popup_.open && entry_id_ == 0 && !stops_.empty()) {
    const bool back = take({Key::tab, false, true, false});
    if (back || take(Key::tab)) {
      const auto at = std::find_if(stops_.begin(), stops_.end(), [&](const Stop& s) { return s.id == focus_; });
      const auto count = static_cast<std::ptrdiff_t>(stops_.size());
      std::ptrdiff_t next = back ? count - 1 : 0;
      if (at != stops_.end()) next = (at - stops_.begin() + (back ? count - 1 : 1)) % count;
      focus_ = stops_[static_cast<std::size_t>(next)].id;
      keyboard_last_ = focus_moved_ = true;
    }
  }
  stops_.clear();
}

void Interaction::end() {
  if (released_[0] || !input_.down[0] || !active_seen_) active_ = 0;
  if (!input_.down[1]) active_right_ = 0;
  if (!entry_seen_) entry_id_ = 0;
  // A Tab that ended an entry goes on to the next control, as it does everywhere else.
  if (entry_was_open_ && entry_id_ == 0)
    for (const KeyPress& k : input_.keys)
      if (k.key == Key::tab && !k.control) carried_tab_ = k;
  if (carried_tab_) wake_after(0);
  if (pressed_[0] && !press_taken_ && !popup_.open) focus_ = 0;
  if (hover_next_ != hover_) {
    hover_ = hover_next_;
    hover_since_ = input_.now_s;
  }
}

ItemState Interaction::item(std::string_view id, const Rect& r, const Rect& clip, Focus focus) {
  const std::uint64_t key = hash(id);
  ItemState s;
  const Rect visible = intersection(r, clip);
  const bool free = !blocked() && (active_ == 0 || active_ == key);
  s.hovered = free && visible.contains(input_.pointer);
  if (s.hovered) hover_next_ = key;
  if (s.hovered && pressed_[0] && !press_taken_) {
    press_taken_ = s.pressed = true;
    active_ = key;
    s.double_clicked = double_click_;
    focus_ = focus == Focus::tab_stop ? key : 0;
  }
  if (s.hovered && pressed_[1]) active_right_ = key;
  if (active_ == key) {
    active_seen_ = true;
    s.held = input_.down[0];
    if (released_[0] && visible.contains(input_.pointer)) s.clicked = true;
  }
  if (active_right_ == key && released_[1] && s.hovered) s.right_clicked = true;
  if (focus == Focus::tab_stop && !covered_) {
    stops_.push_back({key, r});
    s.focused = focus_ == key;
    if (s.focused) {
      focus_seen_ = true;
      focus_rect_ = r;
      s.ring = keyboard_last_;
      if (!popup_.open && entry_id_ == 0 && take(Key::enter)) s.clicked = true;
    }
  }
  if (entry_id_ == key) entry_seen_ = true;
  return s;
}

bool Interaction::take(KeyPress press) {
  const auto it = std::find(input_.keys.begin(), input_.keys.end(), press);
  if (it == input_.keys.end()) return false;
  input_.keys.erase(it);
  return true;
}

void Interaction::drop_plain_keys() {
  std::erase_if(input_.keys,
                [](const KeyPress& k) { return !k.control && !k.alt && static_cast<unsigned>(k.key) < 128; });
}

void Interaction::set_focus(std::string_view id) {
  focus_ = hash(id);
  keyboard_last_ = focus_moved_ = true;
}

float Interaction::take_wheel(const Rect& r) {
  if (blocked() || !r.contains(input_.pointer)) return 0;
  return std::exchange(input_.wheel, 0.0f);
}

float Interaction::take_wheel_across(const Rect& r) {
  if (blocked() || !r.contains(input_.pointer)) return 0;
  const float across = std::exchange(input_.wheel_across, 0.0f);
  return across + (input_.shift ? std::exchange(input_.wheel, 0.0f) : 0.0f);
}

void Interaction::start_entry(std::string_view id, std::string text) {
  entry_id_ = hash(id);
  entry_seen_ = true;
  focus_ = entry_id_;
  entry_.text = std::move(text);
  entry_.anchor = 0;
  entry_.caret = entry_.text.size();
}

Interaction::EntryEvent Interaction::run_entry() {
  entry_seen_ = true;
  std::string& text = entry_.text;
  std::size_t& caret = entry_.caret;
  std::size_t& anchor = entry_.anchor;
  caret = std::min(caret, text.size());
  anchor = std::min(anchor, text.size());
  bool changed = false;
  const auto selection = [&] { return std::pair{std::min(caret, anchor), std::max(caret, anchor)}; };
  const auto replace_selection = [&](std::string_view with) {
    const auto range = selection();
    text.replace(range.first, range.second - range.first, with);
    caret = anchor = range.first + with.size();
    changed = true;
  };
  if (!input_.typed.empty()) replace_selection(std::exchange(input_.typed, {}));
  EntryEvent done = EntryEvent::none;
  std::vector<KeyPress> left;
  for (const KeyPress& k : input_.keys) {
    const auto move = [&](std::size_t to) {
      caret = to;
      if (!k.shift) anchor = to;
    };
    if (k.key == Key::enter || k.key == Key::tab) {
      done = EntryEvent::accepted;
      if (k.key == Key::tab) left.push_back(k);
    } else if (k.key == Key::escape) {
      done = EntryEvent::cancelled;
    } else if (k.key == Key::left) {
      move(engine::previous_character(text, caret));
    } else if (k.key == Key::right) {
      move(engine::next_character(text, caret));
    } else if (k.key == Key::home || k.key == Key::up) {
      move(0);
    } else if (k.key == Key::end || k.key == Key::down) {
      move(text.size());
    } else if (k.key == Key::backspace) {
      if (caret == anchor) anchor = engine::previous_character(text, caret);
      replace_selection("");
    } else if (k.key == Key::del) {
      if (caret == anchor) anchor = engine::next_character(text, caret);
      replace_selection("");
    } else if (k.control && k.key == key_of('A')) {
      anchor = 0;
      caret = text.size();
    } else if (k.control && (k.key == key_of('C') || k.key == key_of('X'))) {
      const auto range = selection();
      if (write_clipboard != nullptr && range.first != range.second)
        write_clipboard(text.substr(range.first, range.second - range.first));
      if (k.key == key_of('X')) replace_selection("");
    } else if (k.control && k.key == key_of('V')) {
      if (read_clipboard != nullptr) {
        std::string pasted = read_clipboard();
        std::erase_if(pasted, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
        replace_selection(pasted);
      }
    } else if (k.control || k.alt || k.key >= Key::f1) {
      left.push_back(k);  // commands still work
    }
  }
  input_.keys = std::move(left);
  if (done != EntryEvent::none) return done;
  return changed ? EntryEvent::changed : EntryEvent::none;
}

void Interaction::open_popup(std::string_view owner, const Rect& anchor, std::vector<Option> options, int selected,
                             float min_width) {
  popup_ = {};
  popup_.open = popup_.fresh = true;
  popup_.owner = hash(owner);
  popup_.owner_name = owner;
  popup_.anchor = anchor;
  popup_.options = std::move(options);
  popup_.selected = popup_.highlighted = selected;
  popup_.min_width = min_width;
}

std::optional<int> Interaction::popup_choice(std::string_view owner) {
  if (!popup_.chosen || popup_.owner != hash(owner)) return std::nullopt;
  return std::exchange(popup_.chosen, std::nullopt);
}

double Interaction::rested(std::string_view id) const {
  return hover_ == hash(id) ? input_.now_s - hover_since_ : -1;
}

void Interaction::hint(std::string_view id, const Rect& avoid, Readout readout, std::string about, double delay_s,
                       const Rect& within) {
  if (blocked() || active_ != 0) return;
  hover_next_ = hash(id);
  const double rest = hover_ == hover_next_ ? input_.now_s - hover_since_ : 0;
  if (rest + 1e-3 >= delay_s) {
    hint_ = {std::move(readout), std::move(about), avoid, within, true};
  } else {
    wake_after(delay_s - rest);
  }
}

}  // namespace roofscape::widgets
