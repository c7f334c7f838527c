// It opens a scenario, a session or a model's config.json, and says where a scenario is saved. What exists is
// replaced only when asked.
#include "app/panels/file_chooser.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/session/file_list.h"
#include "app/session/settings.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNameLine = "file.name";
constexpr float kChooserWidth = 720, kChooserHeight = 560;
constexpr std::size_t kMostRecentRows = 6;

std::string without_tilde(const std::string& path, const char* home) {
  if (home != nullptr && home[0] == '/' && path.starts_with(std::string(home) + "/"))
    return "~" + path.substr(std::string_view(home).size());
  return path;
}

bool is_folder(const fs::path& path) {
  std::error_code unknown;
  return fs::is_directory(path, unknown);
}
bool is_there(const fs::path& path) {
  std::error_code unknown;
  return fs::exists(path, unknown);
}

// One row of the list: a recent file, or an entry of the folder.
struct Row {
  std::string text;
  fs::path path;
  bool folder = false, heading = false;
};

class Chooser {
 public:
  Chooser(PanelContext& ctx, const Rect& window, bool saves, FileChooserState& files)
      : ctx_(ctx), files_(files), window_(window), saves_(saves) {}

  SheetReply run() {
    begin();
    Rect r = sheet_ground(ctx_, window_, std::min(window_.w - ctx_.px(24), ctx_.px(kChooserWidth)),
                          std::min(window_.h - ctx_.px(24), ctx_.px(kChooserHeight)));
    const auto clip = ctx_.ui.canvas.clip(r);
    r = r.inset(ctx_.px(24), ctx_.px(16));
    const Theme& t = ctx_.ui.theme;
    const Rect head = r.cut_top(ctx_.px(34));
    ctx_.ui.canvas.text({head.x, head.centre().y}, ctx_.text(saves() ? "command.file.save_as" : "command.file.open"),
                        ctx_.style(t.ink, 1.25f, Weight::bold));
    r.cut_top(ctx_.px(4));
    const Rect box = r.cut_top(std::round(ctx_.px(30)));
    rebuild();
    keys();  // before the line takes them
    const auto event = text_box(ctx_.ui, box, kNameLine);
    if (ctx_.ui.io.entry().text != files_.typed) {
      files_.typed = ctx_.ui.io.entry().text;
      files_.highlighted = -1;
      files_.scroll = 0;
      files_.problem.clear();
      files_.replaces.clear();
    }
    rebuild();
    Rect foot = r.cut_bottom(std::round(ctx_.px(kControlHeight)));
    r.cut_bottom(ctx_.px(10));
    told(r.cut_top(ctx_.px(26)));
    list(r);
    buttons(foot, event);
    return {closed_, std::move(chosen_)};
  }

 private:
  bool saves() const { return saves_; }

  void begin() {
    Interaction& io = ctx_.ui.io;
    if (files_.started && io.editing(kNameLine)) return;
    if (!files_.started) {
      const fs::path& file = ctx_.session.file();
      if (saves() && !file.empty()) files_.folder = file.parent_path();
      std::error_code unknown;
      if (files_.folder.empty() || !is_folder(files_.folder))
        files_.folder = saves() || is_there(scenario_folder()) ? scenario_folder() : fs::current_path(unknown);
      files_.typed = saves() ? ctx_.session.scenario().name : std::string();
      if (saves() && !file.empty()) files_.typed = file.filename().string();
      files_.highlighted = -1;
      files_.scroll = 0;
      files_.problem.clear();
      files_.replaces.clear();
      files_.started = true;
    }
    io.start_entry(kNameLine, files_.typed);
  }

  void type(std::string text) {
    files_.typed = std::move(text);
    ctx_.ui.io.start_entry(kNameLine, files_.typed);
    ctx_.ui.io.entry().anchor = ctx_.ui.io.entry().caret;
    files_.highlighted = -1;
    files_.scroll = 0;
    files_.problem.clear();
    files_.replaces.clear();
    rebuild();
  }

  void enter_folder(const fs::path& folder) {
    // What was typed as a name stays where a scenario is saved.
    std::string name = saves() ? typed_place(files_.typed, files_.folder).letters : std::string();
    if (is_folder(files_.folder / name)) name.clear();
    files_.folder = folder;
    type(std::move(name));
  }

  // In the rows that are shown now; indices into them never outlive this function's next call.
  void rebuild() {
    rows_.clear();
    const TypedPlace place = typed_place(files_.typed, files_.folder);
    const bool named = saves() && files_.typed.find('/') == std::string::npos;
    if (!saves() && files_.typed.empty() && !files_.recent.empty()) {
      rows_.push_back({std::string(ctx_.text("ui.files.recent")), {}, false, true});
      for (std::size_t i = 0; i < files_.recent.size() && i < kMostRecentRows; ++i)
        rows_.push_back({without_tilde(files_.recent[i], std::getenv("HOME")), files_.recent[i], false, false});
    }
    rows_.push_back(
        {ctx_.format("ui.files.in", {without_tilde(place.folder.string(), std::getenv("HOME"))}), {}, false, true});
    if (place.folder.has_relative_path()) rows_.push_back({"..", place.folder.parent_path(), true, false});
    // A name to save under is no search.
    for (const FileEntry& e : list_folder({place.folder, named ? std::string() : place.letters}))
      rows_.push_back({e.folder ? e.name + "/" : e.name, place.folder / e.name, e.folder, false});
    files_.highlighted = std::min(files_.highlighted, static_cast<int>(rows_.size()) - 1);
  }

  void walk(int by) {
    if (rows_.empty()) return;
    const int last = static_cast<int>(rows_.size()) - 1, step = by > 0 ? 1 : -1;
    int at = std::clamp(files_.highlighted + by, 0, last);
    while (at > 0 && at < last && rows_[static_cast<std::size_t>(at)].heading) at += step;
    if (!rows_[static_cast<std::size_t>(at)].heading) files_.highlighted = at;
  }

  void keys() {
    Interaction& io = ctx_.ui.io;
    if (io.take(Key::down)) walk(1);
    if (io.take(Key::up)) walk(-1);
    if (io.take(Key::page_down)) walk(10);
    if (io.take(Key::page_up)) walk(-10);
    if (!io.take(Key::tab)) return;
    if (std::string text = completed(files_.typed, files_.folder); text != files_.typed) type(std::move(text));
  }

  // Where a scenario with this name is written to.
  fs::path target() const {
    const fs::path path = typed_path(files_.typed, files_.folder);
    if (path.extension() == ".json") return path;
    if (files_.typed.find('/') == std::string::npos) return files_.folder / (file_stem(files_.typed) + ".json");
    return path.string() + ".json";
  }

  void told(const Rect& line) {
    const Theme& t = ctx_.ui.theme;
    std::string words(ctx_.text("ui.files.keys"));
    Colour colour = t.ink3;
    if (!files_.problem.empty()) {
      words = files_.problem;
      colour = t.err;
    } else if (!files_.replaces.empty()) {
      words = ctx_.format("ui.files.replace", {files_.replaces.string()});
      colour = t.warn;
    } else if (saves() && !files_.typed.empty()) {
      words = ctx_.format("ui.files.target", {without_tilde(target().string(), std::getenv("HOME"))});
    }
    const TextStyle small = ctx_.style(colour, kSmallText);
    ctx_.ui.canvas.text({line.x, line.centre().y}, ellipsize(ctx_.ui.canvas, words, small, line.w), small);
  }

  void list(const Rect& r) {
    const Theme& t = ctx_.ui.theme;
    Interaction& io = ctx_.ui.io;
    ctx_.ui.canvas.frame(r, {t.line, std::max(1.0f, ctx_.px(1)), {}}, ctx_.px(3));
    const auto clip = ctx_.ui.canvas.clip(r.inset(1));
    const float row_h = std::round(ctx_.px(26));
    const int fit = std::max(1, static_cast<int>((r.h - ctx_.px(6)) / row_h)), count = static_cast<int>(rows_.size());
    if (r.contains(io.pointer()) && io.input().wheel != 0) {
      files_.scroll -= std::round(io.input().wheel * 3);
      files_.highlighted = -1;
    }
    if (files_.highlighted >= 0) {  // what the arrows reach comes into sight
      const auto at = static_cast<float>(files_.highlighted);
      files_.scroll = confined(files_.scroll, at - static_cast<float>(fit - 1), at);
    }
    files_.scroll = confined(files_.scroll, 0.0f, static_cast<float>(std::max(0, count - fit)));
    float y = r.y + ctx_.px(3);
    std::optional<std::size_t> clicked;
    for (auto i = static_cast<std::size_t>(files_.scroll); i < rows_.size() && y + row_h <= r.bottom(); ++i) {
      const Row& row = rows_[i];
      const Rect line{r.x + ctx_.px(3), y, r.w - ctx_.px(6), row_h};
      y += row_h;
      if (row.heading) {
        const TextStyle s = ctx_.style(t.ink3, kSmallText);
        ctx_.ui.canvas.text({line.x + ctx_.px(9), line.centre().y},
                            ellipsize(ctx_.ui.canvas, row.text, s, line.w - ctx_.px(18)), s);
        continue;
      }
      ctx_.ui.probe.report("file#" + row.path.string(), line, ctx_.ui.canvas.clip_rect());
      const bool over = line.contains(io.pointer());
      if (static_cast<int>(i) == files_.highlighted || over)
        ctx_.ui.canvas.rect(line, {.colour = static_cast<int>(i) == files_.highlighted ? t.ctlh : t.ctl}, ctx_.px(3));
      const TextStyle s = ctx_.style(row.folder ? t.ink2 : t.ink);
      ctx_.ui.canvas.text({line.x + ctx_.px(20), line.centre().y},
                          ellipsize(ctx_.ui.canvas, row.text, s, line.w - ctx_.px(30)), s);
      if (over && io.pressed_now()) clicked = i;
    }
    if (!clicked) return;
    const Row row = rows_[*clicked];  // a copy: what follows makes the list anew
    if (row.folder)
      enter_folder(row.path);
    else if (saves())
      type(row.path.filename().string());
    else
      chosen_ = row.path.string();
  }

  void accept() {
    if (!saves()) {
      if (files_.highlighted >= 0 && static_cast<std::size_t>(files_.highlighted) < rows_.size()) {
        const Row row = rows_[static_cast<std::size_t>(files_.highlighted)];
        if (row.heading) return;
        if (row.folder)
          enter_folder(row.path);
        else
          chosen_ = row.path.string();
        return;
      }
      if (files_.typed.empty()) return;
      const fs::path path = typed_path(files_.typed, files_.folder);
      if (is_folder(path)) return enter_folder(path);
      if (is_there(path)) {
        chosen_ = path.string();
        return;
      }
      // The one file that has these letters is meant by them.
      const Row* only = nullptr;
      for (const Row& row : rows_)
        if (!row.heading && !row.folder && only == nullptr)
          only = &row;
        else if (!row.heading && row.text != "..")
          return void(none(path));
      if (only != nullptr)
        chosen_ = only->path.string();
      else
        none(path);
      return;
    }
    if (files_.typed.empty()) return;
    if (const fs::path path = typed_path(files_.typed, files_.folder); is_folder(path)) return enter_folder(path);
    const fs::path file = target();
    const bool own = file == ctx_.session.file() && !ctx_.session.file_changed();
    if (is_there(file) && !own && files_.replaces != file) {
      files_.replaces = file;  // asks
      return;
    }
    chosen_ = file.string();
  }
  void none(const fs::path& path) { files_.problem = ctx_.format("ui.files.none", {path.string()}); }

  void buttons(Rect foot, Interaction::EntryEvent event) {
    const Rect ok = foot.cut_right(ctx_.px(120));
    foot.cut_right(ctx_.px(10));
    const Rect no = foot.cut_right(ctx_.px(120));
    const bool asks = !files_.replaces.empty();
    const std::string_view word = asks ? "ui.files.replace.ok" : saves() ? "ui.save.ok" : "ui.files.open";
    if (!chosen_.empty()) return close();
    const bool yes = button(ctx_.ui, ok, "save.ok", ctx_.text(word), true);
    const bool cancel = button(ctx_.ui, no, "save.cancel", ctx_.text("ui.save.cancel"));
    if (yes || event == Interaction::EntryEvent::accepted) accept();
    if (!chosen_.empty() || cancel || event == Interaction::EntryEvent::cancelled) close();
  }
  void close() {
    ctx_.ui.io.stop_entry();
    files_.started = false;
    files_.replaces.clear();
    if (!chosen_.empty()) {
      std::error_code unknown;
      files_.folder = fs::path(chosen_).parent_path();
    }
    closed_ = true;
  }

  PanelContext& ctx_;
  FileChooserState& files_;
  Rect window_;
  bool saves_;
  bool closed_ = false;
  std::vector<Row> rows_;
  std::string chosen_;
};

}  // namespace

SheetReply file_chooser(PanelContext& ctx, const Rect& window, bool saves, FileChooserState& state) {
  return Chooser(ctx, window, saves, state).run();
}

}  // namespace roofscape::app
