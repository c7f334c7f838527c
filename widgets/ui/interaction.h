// Interaction: what the pointer and the keyboard mean to the controls of one window. Controls are functions that run
// every frame; what must outlive a frame (which one is held, which has the focus, the text being typed, the open
// list) is here, and only here. It knows nothing of Dear ImGui: the window and the tests fill a UiInput.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "widgets/canvas/canvas.h"
#include "widgets/canvas/theme.h"
#include "widgets/plot/text_table.h"
#include "widgets/ui/probe.h"

namespace roofscape::widgets {

// Letters and digits are their capital ASCII codes, by physical position on a US keyboard.
enum class Key : std::uint16_t {
  none = 0,
  equal = '=',
  minus = '-',
  left = 256,
  right,
  up,
  down,
  home,
  end,
  page_up,
  page_down,
  tab,
  enter,
  escape,
  backspace,
  del,
  f1,
  f2,
  f3,
  f4,
  f5,
  f6,
  f7,
  f8,
  f9,
  f10,
  f11,
  f12,
};
constexpr Key key_of(char letter_or_digit) { return static_cast<Key>(letter_or_digit); }

struct KeyPress {
  Key key = Key::none;
  bool control = false, shift = false, alt = false;
  friend constexpr bool operator==(const KeyPress&, const KeyPress&) = default;
};

// One frame's input.
struct UiInput {
  Point pointer{-1, -1};
  std::array<bool, 2> down{};  // left, right
  float wheel = 0;             // notches, up positive
  float wheel_across = 0;      // notches, left positive
  bool control = false, shift = false, alt = false;
  std::vector<KeyPress> keys;
  std::vector<Key> released;  // letters that were let go
  std::string typed;          // UTF-8
  double now_s = 0;
};

// What happened to one control in this frame.
struct ItemState {
  bool hovered = false;
  bool pressed = false;  // the button went down on it
  bool held = false;     // it went down on it and is still down, wherever the pointer is
  bool clicked = false;  // down and up again inside it, or Enter while it has the focus
  bool right_clicked = false;
  bool double_clicked = false;
  bool focused = false;  // receives keys
  bool ring = false;     // and shows it (the keyboard was used last)
};

enum class Cursor : std::uint8_t { arrow, hand, text, resize_x, resize_y };

// One line of a list that opens under a control.
struct Option {
  std::string text, detail;
  bool enabled = true;
  bool separated = false;                 // a line above it
  int value = 0;                          // what choosing it gives
  bool checked = false;                   // marked as being on
  bool heading = false;                   // names the entries below it; cannot be chosen
  std::string id = {};                    // another name it is found by when something is typed
  bool listed = false;                    // its detail stands in the open list alone
  std::vector<std::string> aliases = {};  // and more of such names
  std::string shorter = {};               // shown in a closed list that its text does not fit
};

class Interaction {
 public:
  void begin(const UiInput& input, const Rect& window);
  void end();

  const UiInput& input() const { return input_; }
  Point pointer() const { return input_.pointer; }
  Point drag_origin() const { return press_point_; }
  bool dragged_sideways() const { return dragged_; }  // the pointer has left its column since, wherever it is now
  bool pressed_now() const { return pressed_[0]; }    // the left button went down in this frame
  // The right button was let go over this region, which no list or sheet lies over.
  bool right_click_in(const Rect& r) const { return released_[1] && !blocked() && r.contains(input_.pointer); }

  // ---- items ----
  enum class Focus : std::uint8_t { none, tab_stop };
  // Reports a control and says what happens to it. `clip` is the region it is visible in.
  ItemState item(std::string_view id, const Rect& r, const Rect& clip, Focus focus = Focus::tab_stop);
  bool anything_held() const { return active_ != 0; }
  bool holds(std::string_view id) const { return active_ != 0 && active_ == hash(id); }
  bool blocked() const { return popup_.open || covered_; }  // something is open over everything else
  // While covered, items are drawn but neither pointed at nor reached by Tab (a sheet lies over them).
  void set_covered(bool covered) { covered_ = covered; }
  // True once for a key nobody has taken yet.
  bool take(KeyPress press);
  bool take(Key key) { return take(KeyPress{key}); }
  void drop_plain_keys();  // letters and digits without Ctrl, so that typing at a list runs no command
  bool pointer_moved() const { return moved_; }
  // Until the pointer is used again it points at nothing: what stands under it was changed by other means.
  void park_pointer() { parked_ = active_ == 0 && active_right_ == 0; }
  void set_focus(std::string_view id);
  void clear_focus() { focus_ = 0; }
  bool focus_moved() const { return focus_moved_; }
  std::optional<Rect> focus_rect() const { return focus_rect_; }
  std::string take_typed() { return std::exchange(input_.typed, {}); }
  float take_wheel(const Rect& r);         // notches over this region, 0 if taken
  float take_wheel_across(const Rect& r);  // the same sideways: of such a wheel, or of the other with Shift

  // ---- typed entry: one at a time ----
  struct Entry {
    std::string text;
    std::size_t caret = 0, anchor = 0;  // bytes; the selection lies between them
  };
  bool editing(std::string_view id) const { return entry_id_ != 0 && entry_id_ == hash(id); }
  bool editing_any() const { return entry_id_ != 0; }
  void start_entry(std::string_view id, std::string text);
  void stop_entry() { entry_id_ = 0; }
  const Entry& entry() const { return entry_; }
  Entry& entry() { return entry_; }
  enum class EntryEvent : std::uint8_t { none, changed, accepted, cancelled };
  // Applies this frame's typing to the entry.
  EntryEvent run_entry();
  std::string (*read_clipboard)() = nullptr;
  void (*write_clipboard)(const std::string&) = nullptr;

  // ---- the open list ----
  struct Popup {
    static constexpr std::size_t kSearchedFrom = 13;  // entries of a list long enough to be searched
    bool open = false;
    std::uint64_t owner = 0;
    std::string owner_name;
    Rect anchor;
    std::vector<Option> options;
    int selected = -1;     // index of the present choice
    int highlighted = -1;  // index under the pointer or arrows
    float scroll = 0;
    float min_width = 0;
    Rect rect;  // where it was drawn
    std::optional<int> chosen;
    bool fresh = false;  // opened in this frame
    // Letters typed at the list: it shows the entries that have them, a short one goes to the first.
    std::string typed;
    double typed_s = 0;  // when the last of them was
    bool searched() const { return options.size() >= kSearchedFrom; }
  };
  void open_popup(std::string_view owner, const Rect& anchor, std::vector<Option> options, int selected,
                  float min_width = 0);
  bool popup_open(std::string_view owner) const { return popup_.open && popup_.owner == hash(owner); }
  void close_popup() { popup_.open = false; }
  // The value chosen in this owner's list, once.
  std::optional<int> popup_choice(std::string_view owner);
  Popup& popup() { return popup_; }

  // ---- hover texts ----
  // Seconds the pointer has rested on this control; negative if it is not there.
  double rested(std::string_view id) const;
  struct Hint {
    Readout readout;
    std::string about;
    Rect avoid;
    Rect within;  // where it stands if there is room for it; empty: anywhere in the window
    bool show = false;
  };
  // Offers a text for what is under the pointer; shown once it has rested there for `delay_s`.
  void hint(std::string_view id, const Rect& avoid, Readout readout, std::string about = {}, double delay_s = 0.4,
            const Rect& within = {});
  const Hint& current_hint() const { return hint_; }
  // Seconds until something changes without input; negative: never.
  double wake_in() const { return wake_in_; }
  // Asks for a frame in so many seconds though nothing happens (playback).
  void wake_after(double seconds) { wake_in_ = wake_in_ < 0 ? seconds : std::min(wake_in_, seconds); }

  void set_cursor(Cursor c) { cursor_ = c; }
  Cursor cursor() const { return cursor_; }

  // Scroll offsets by region.
  struct Scroll {
    float offset = 0, content = 0;
    float grab = 0;
    std::uint64_t chosen = 0;   // the row that was brought into sight, as its hash
    bool shows_chosen = false;  // this frame
  };
  Scroll& scroll(std::string_view id) { return scrolls_[hash(id)]; }

  static std::uint64_t hash(std::string_view id);

 private:
  struct Stop {
    std::uint64_t id = 0;
    Rect rect;
  };
  UiInput input_;
  std::array<bool, 2> was_down_{};
  std::array<bool, 2> pressed_{}, released_{};
  bool double_click_ = false, press_taken_ = false;
  double last_press_s_ = -1;
  Point press_point_{}, last_press_point_{}, last_pointer_{-1, -1};
  std::uint64_t active_ = 0, active_right_ = 0, focus_ = 0, hover_ = 0, hover_next_ = 0;
  bool active_seen_ = false, covered_ = false, moved_ = false, dragged_ = false, parked_ = false;
  double hover_since_ = 0;
  bool keyboard_last_ = false, focus_moved_ = false, focus_seen_ = false;
  std::optional<Rect> focus_rect_;
  std::vector<Stop> stops_;
  std::uint64_t entry_id_ = 0;
  bool entry_seen_ = false, entry_was_open_ = false;
  std::optional<KeyPress> carried_tab_;
  Entry entry_;
  Popup popup_;
  Hint hint_;
  double wake_in_ = -1;
  Cursor cursor_ = Cursor::arrow;
  std::map<std::uint64_t, Scroll> scrolls_;
};

// What a control needs to draw itself.
struct Ui {
  Canvas& canvas;
  const Theme& theme;
  const TextTable& texts;
  Interaction& io;
  Probe& probe;
  float px(float scale_1_pixels) const { return canvas.px(scale_1_pixels); }
  float em() const { return canvas.em(); }
  // An item that is also reported to the probe.
  ItemState item(std::string_view id, const Rect& r, Interaction::Focus focus = Interaction::Focus::tab_stop) {
    probe.report(id, r, canvas.clip_rect());
    return io.item(id, r, canvas.clip_rect(), focus);
  }
};

}  // namespace roofscape::widgets
