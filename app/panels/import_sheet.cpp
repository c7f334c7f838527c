#include "app/panels/import_sheet.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "app/core/receipt_text.h"
#include "app/core/strings.h"
#include "app/panels/field_text.h"
#include "app/panels/panel_parts.h"
#include "engine/evaluate/evaluate.h"
#include "widgets/canvas/number_format.h"
#include "widgets/plot/plot.h"

namespace roofscape::app {

using namespace widgets;
using engine::Q;

void ImportSheetState::show(LaunchImport read, std::shared_ptr<const LaunchImport> of_tab) {
  draft = std::move(read);
  opened = std::move(of_tab);
  changed = false;
  problem.clear();
  judged.reset();
}

namespace {

constexpr float kReceiptWidth = 980, kReceiptHeight = 680, kReceiptRow = 24, kLineColumn = 44;

class ReceiptSheet {
 public:
  ReceiptSheet(PanelContext& ctx, const Rect& window, ImportSheetState& state)
      : ctx_(ctx), t_(ctx.ui.theme), window_(window), state_(state) {}

  SheetReply run() {
    if (!state_.draft) return {true, {}};
    Rect r = sheet_ground(ctx_, window_, std::min(window_.w - ctx_.px(24), ctx_.px(kReceiptWidth)),
                          std::min(window_.h - ctx_.px(24), ctx_.px(kReceiptHeight)));
    const auto clip = ctx_.ui.canvas.clip(r);
    r = r.inset(ctx_.px(24), ctx_.px(14));
    const io::Imported& read = state_.draft->imported();
    const Rect head = r.cut_top(ctx_.px(36));
    const TextStyle bold = ctx_.style(t_.ink, 1.25f, Weight::bold);
    ctx_.ui.canvas.text(
        {head.x, head.centre().y},
        ellipsize(ctx_.ui.canvas, ctx_.format("ui.import.title", {short_file(), std::string(read.format_name)}), bold,
                  head.w),
        bold);
    chips(r.cut_top(std::round(ctx_.px(kRowHeight + 4))));
    verdict(r.cut_top(std::round(ctx_.px(26))));
    Rect foot = r.cut_bottom(std::round(ctx_.px(kControlHeight)));
    r.cut_bottom(ctx_.px(10));
    rows(r);
    return buttons(foot);
  }

 private:
  const LaunchImport& draft() const { return *state_.draft; }
  std::string short_file() const {
    const std::size_t slash = draft().file().rfind('/');
    return slash == std::string::npos ? draft().file() : draft().file().substr(slash + 1);
  }

  void took(const io::Failure& failure) {
    state_.problem = failure ? io::to_text(*failure, ctx_.ui.texts) : std::string();
    if (!failure) state_.changed = true;
  }
  void ask_cluster(std::string wish) {
    ctx_.ui.io.clear_focus();
    io::ImportRequest request = draft().request();
    request.cluster = std::move(wish);
    took(state_.draft->ask(std::move(request), ctx_.session.library()));
  }

  // The chip or cluster, and how many, where these can be said apart.
  void chips(Rect line) {
    const io::PresetLibrary& library = ctx_.session.library();
    const std::string wish = draft().request().cluster;
    const std::string name = wish.substr(0, wish.rfind(':'));
    ctx_.ui.canvas.text({line.x, line.centre().y}, ctx_.text("field.cluster.label"), ctx_.style(t_.ink2));
    line.cut_left(ctx_.px(110));
    const float h = std::round(ctx_.px(kControlHeight));
    line = {line.x, std::round(line.centre().y - h / 2), line.w, h};
    std::vector<Option> options;
    std::vector<std::string> ids;
    int now = -1;
    const auto add = [&](const io::Preset& preset, std::string detail, bool separated) {
      if (preset.id == name) now = static_cast<int>(ids.size());
      options.push_back(preset_option(preset, std::move(detail), separated));
      options.back().listed = true;
      ids.push_back(preset.id);
    };
    bool first = true;
    for (const io::Preset& p : library.list(io::PresetKind::chip))
      if (library.find_chip(p.id) != nullptr) add(p, {}, false);
    for (const io::Preset& p : library.list(io::PresetKind::cluster))
      if (const engine::Cluster* cluster = library.find_cluster(p.id)) {
        add(p, format_count(static_cast<double>(engine::chip_count(*cluster))), std::exchange(first, false));
      }
    if (now < 0) {
      now = static_cast<int>(options.size());
      const bool stated = draft().ready();
      options.push_back(
          {stated ? draft().imported().scenario.cluster.chip.name : std::string(ctx_.text("ui.import.choose_chips")),
           {},
           true,
           true,
           0});
      ids.emplace_back();
    }
    const Rect choice = line.cut_left(std::min(ctx_.px(330), line.w * 0.5f));
    const int next =
        drop_down(ctx_.ui, choice, "import.cluster", options, now,
                  {std::string(ctx_.text("field.cluster.label")), {}}, ctx_.text("ui.import.cluster.about"));
    if (next != now && next >= 0 && !ids[static_cast<std::size_t>(next)].empty()) {
      const std::string& id = ids[static_cast<std::size_t>(next)];
      // A number that was given stays, where a chip takes the place of another.
      const std::size_t colon = wish.rfind(':');
      const bool keeps = colon != std::string::npos && library.find_cluster(id) == nullptr;
      return ask_cluster(keeps ? id + wish.substr(colon) : id);
    }
    line.cut_left(ctx_.px(10));
    const bool known = draft().ready() || !chips_missing();
    const io::ReadValue* stated_count = draft().origin_of("cluster.chips");
    const std::string count = !known && stated_count != nullptr ? stated_count->value
                              : known ? std::to_string(engine::chip_count(draft().imported().scenario.cluster))
                                      : std::string();
    const Rect box = line.cut_left(ctx_.px(110));
    if (const auto typed = typed_line(ctx_, box, "import.chips", count, ctx_.text("ui.import.how_many"));
        typed && *typed != count) {
      const std::string chip =
          library.find_chip(name) != nullptr ? name : draft().imported().scenario.cluster.chip.id;
      std::string digits;
      for (const char c : *typed)
        if (c >= '0' && c <= '9') digits += c;
      ask_cluster(digits.empty() ? chip : chip + ":" + digits);
    }
    line.cut_left(ctx_.px(8));
    const bool stated = draft().counted() && draft().request().cluster.find(':') == std::string::npos;
    const std::string_view note = draft().guessed() ? "ui.import.chips.guessed"
                                  : stated          ? "ui.import.chips.of_file"
                                                    : "ui.import.chips";
    const TextStyle small = ctx_.style(t_.ink3, kSmallText);
    ctx_.ui.canvas.text({line.x, line.centre().y}, ellipsize(ctx_.ui.canvas, ctx_.text(note), small, line.w), small);
  }

  bool chips_missing() const {
    const io::Imported& read = draft().imported();
    return read.is_missing("cluster") || read.is_missing("cluster.chip") || read.is_missing("cluster.chips");
  }

  void judge() {
    const engine::Scenario& s = draft().imported().scenario;
    if (state_.judged && state_.judged->scenario == s) return;
    const engine::Report report = engine::evaluate(s);
    ImportSheetState::Judged out{s, {}, !report.has_errors() && report.fits()};
    const auto add = [&](std::string words) {
      out.words += (out.words.empty() ? "" : std::string(" ") + "· ") + std::move(words);
    };
    if (report.has_errors())
      add(std::string(ctx_.text("ui.import.cannot_run")));
    else if (std::string words = memory_text(report, ctx_.ui.texts); !words.empty())
      add(std::move(words));
    using Fact = std::pair<std::string_view, Q>;
    const std::array<Fact, 2> training{Fact{"check.row.step", Q::step_time}, Fact{"check.row.mfu", Q::mfu}};
    const std::array<Fact, 2> serving{Fact{"check.row.token", Q::time_per_output_token},
                                      Fact{"check.row.ttft", Q::ttft}};
    for (const auto& [key, quantity] : s.serves() ? serving : training)
      if (const auto value = report.quantities[quantity]; value && !report.has_errors())
        add(std::string(ctx_.text(key)) + " " + ctx_.ui.texts.amount(*value, engine::quantity(quantity).unit, {}));
    state_.judged = std::move(out);
  }

  // What comes of the plan as it is read, or what keeps it from being computed.
  void verdict(const Rect& line) {
    std::string words;
    Colour colour = t_.ink;
    if (!state_.problem.empty()) {
      words = state_.problem;
      colour = t_.err;
    } else if (!draft().ready()) {
      words = ctx_.format("ui.import.lacks", {missing_names()});
      colour = t_.warn;
    } else {
      judge();
      words = state_.judged->words;
      colour = state_.judged->good ? t_.ink : t_.err;
    }
    const TextStyle s = ctx_.style(colour);
    ctx_.ui.canvas.text({line.x, line.centre().y}, ellipsize(ctx_.ui.canvas, words, s, line.w), s);
    const ItemState item = ctx_.ui.item("import.verdict", line, Interaction::Focus::none);
    if (item.hovered) ctx_.ui.io.hint("import.verdict", line, {words, {}});
  }

  std::string field_name(const std::string& path) const {
    return engine::find_field(path) != nullptr || ctx_.ui.texts.has("field." + path + ".label")
               ? std::string(ctx_.text("field." + path + ".label"))
               : path;
  }
  std::string missing_names() const {
    std::string names;
    for (const io::MissingValue& value : draft().imported().missing)
      names += (names.empty() ? "" : ", ") + field_name(value.field);
    return names;
  }

  // What is missing is typed one value after the other, from the first on; Escape ends that.
  void ask_for_missing(bool from_start) {
    if (!from_start && (state_.asked.empty() || ctx_.ui.io.editing_any())) return;
    std::string next;
    for (const io::MissingValue& value : draft().imported().missing)
      if (next.empty() && value.field != "model" && !value.field.starts_with("cluster") &&
          value.option != "--cluster")
        next = value.field;
    if (!from_start && next == state_.asked) next.clear();  // it was not given
    state_.asked = next;
    if (!next.empty()) ctx_.ui.io.start_entry("import." + next, {});
  }

  // ---- the list ----

  Rect next_row() {
    const Rect row{view_.x, std::round(y_), view_.w - ctx_.px(14), std::round(ctx_.px(kReceiptRow))};
    y_ += row.h;
    return row;
  }
  bool seen(const Rect& row) const { return row.bottom() >= view_.y && row.y <= view_.bottom(); }

  void heading(std::string_view key, std::size_t count) {
    y_ += ctx_.px(6);
    const Rect row = next_row();
    if (!seen(row)) return;
    ctx_.ui.canvas.text(
        {row.x, row.centre().y},
        ctx_.format("ui.import.section", {std::string(ctx_.text(key)), format_count(static_cast<double>(count))}),
        ctx_.style(t_.ink2, kSmallText, Weight::bold));
  }

  void cell(float x, const Rect& row, float width, std::string_view text, Colour colour,
            HAlign align = HAlign::left) {
    if (width <= 0) return;
    TextStyle s = ctx_.style(colour);
    const std::string shown = ellipsize(ctx_.ui.canvas, text, s, width - ctx_.px(8));
    s.halign = align;
    ctx_.ui.canvas.text({align == HAlign::right ? x + width - ctx_.px(10) : x, row.centre().y}, shown, s);
  }

  // Line, key, value and what they are for. What is too long stands in full where it is pointed at.
  void row(int line, std::string_view key, std::string_view value, std::string_view last, Colour colour) {
    const Rect r = next_row();
    if (!seen(r)) return;
    const std::string id = fmt::format("import.row.{}", number_++);
    const ItemState item = ctx_.ui.item(id, r, Interaction::Focus::none);
    if (item.hovered) {
      ctx_.ui.canvas.rect(r, {.colour = t_.ctl}, ctx_.px(3));
      Readout tip{std::string(key), {}};
      if (!value.empty()) tip.rows.emplace_back(ctx_.text("ui.import.value"), std::string(value));
      if (line > 0) tip.rows.emplace_back(short_file(), ctx_.ui.texts.write(engine::say("import.line", line)));
      ctx_.ui.io.hint(id, r, tip, std::string(last));
    }
    const float left = ctx_.px(kLineColumn), rest = r.w - left;
    if (line > 0) cell(r.x, r, left, std::to_string(line), t_.ink3, HAlign::right);
    if (value.empty() && last.empty()) return cell(r.x + left, r, rest, key, colour);
    const float keys = std::round(rest * 0.36f), values = value.empty() ? 0 : std::round(rest * 0.22f);
    cell(r.x + left, r, keys, key, colour);
    cell(r.x + left + keys, r, values, value, colour);
    cell(r.x + left + keys + values, r, rest - keys - values, last, t_.ink2);
  }

  // A control for a value that the file lacks, or that was given here.
  void control(const std::string& path, const std::string& now, std::string_view option) {
    const Rect r = next_row();
    if (!seen(r)) return;
    const float left = ctx_.px(kLineColumn), keys = std::round((r.w - left) * 0.36f);
    cell(r.x + left, r, keys, field_name(path), t_.ink);
    const float h = std::min(r.h - ctx_.px(2), std::round(ctx_.px(kBoxHeight)));
    const Rect box{r.x + left + keys, std::round(r.centre().y - h / 2), ctx_.px(230), h};
    if (path.starts_with("cluster") || option == "--cluster")
      return cell(box.x, r, r.right() - box.x, ctx_.text("ui.import.above"), t_.ink2);
    cell(box.right() + ctx_.px(12), r, r.right() - box.right() - ctx_.px(12), path, t_.ink3);
    if (path == "model") return model_choice(box);
    if (const auto typed = typed_line(ctx_, box, "import." + path, now, ctx_.text("ui.import.give"));
        typed && *typed != now)
      given_.emplace_back(path, *typed);
  }

  void model_choice(const Rect& box) {
    std::vector<Option> options;
    std::vector<std::string> ids;
    for (const io::Preset& p : ctx_.session.library().list(io::PresetKind::model)) {
      options.push_back(preset_option(p));
      ids.push_back(p.id);
    }
    const int none = static_cast<int>(options.size());
    options.push_back({std::string(ctx_.text("ui.import.choose_model")), {}, true, true, 0});
    const int next = drop_down(ctx_.ui, box, "import.model", options, none);
    if (next >= 0 && next < none) given_.emplace_back("model", ids[static_cast<std::size_t>(next)]);
  }

  void rows(const Rect& r) {
    ctx_.ui.canvas.frame(r, {t_.line, std::max(1.0f, ctx_.px(1)), {}}, ctx_.px(3));
    view_ = r.inset(ctx_.px(8), ctx_.px(2));
    const auto clip = ctx_.ui.canvas.clip(view_);
    const ScrollRegion scroll = begin_scroll(ctx_.ui, "import.receipt", view_);
    y_ = scroll.content_top;
    const io::Imported read = draft().imported();  // a copy: controls read the file anew
    const auto texts = [&](const engine::Sentence& s) { return ctx_.ui.texts.write(s); };
    if (!read.missing.empty()) {
      heading("import.receipt.missing", read.missing.size());
      for (const io::MissingValue& value : read.missing) control(value.field, {}, value.option);
    }
    if (!draft().request().set.empty()) {
      heading("ui.import.given", draft().request().set.size());
      const std::vector<std::string> set = draft().request().set;
      for (const std::string& one : set) {
        const std::size_t equals = one.find('=');
        control(one.substr(0, equals), one.substr(equals + 1), {});
      }
    }
    for (const bool error : {true, false}) {
      const auto count = static_cast<std::size_t>(std::count_if(
          read.notices.begin(), read.notices.end(), [&](const io::ImportNotice& n) { return n.error == error; }));
      if (count == 0) continue;
      heading(error ? "import.receipt.errors" : "import.receipt.warnings", count);
      for (const io::ImportNotice& notice : read.notices)
        if (notice.error == error) row(notice.line, texts(notice.text), {}, {}, error ? t_.err : t_.warn);
    }
    if (!read.overridden.empty()) heading("import.receipt.overridden", read.overridden.size());
    for (const io::OverriddenValue& value : read.overridden)
      row(value.line, value.key, value.value, ctx_.format("import.receipt.by", {value.by}), t_.ink);
    if (!read.read.empty()) heading("import.receipt.read", read.read.size());
    for (const io::ReadValue& value : read.read) row(value.line, value.key, value.value, value.field, t_.ink);
    if (!read.assumed.empty()) heading("import.receipt.assumed", read.assumed.size());
    for (const io::AssumedValue& value : read.assumed) row(0, value.field, value.value, texts(value.why), t_.ink);
    for (const bool understood : {true, false}) {
      const auto count = static_cast<std::size_t>(
          std::count_if(read.ignored.begin(), read.ignored.end(),
                        [&](const io::IgnoredKey& key) { return key.understood == understood; }));
      if (count == 0) continue;
      heading(understood ? "import.receipt.ignored" : "import.receipt.unknown", count);
      for (const io::IgnoredKey& key : read.ignored)
        if (key.understood == understood)
          row(key.line, key.key, {}, understood ? texts(key.why) : std::string(), understood ? t_.ink2 : t_.warn);
    }
    end_scroll(ctx_.ui, scroll, y_ + ctx_.px(8));
    if (!given_.empty()) {
      ctx_.ui.io.clear_focus();  // the next Enter is for the sheet
      // Ended with Enter, whatever it was begun with: the next value is asked for.
      if (!ctx_.ui.io.pressed_now()) state_.asked = given_.back().first;
    }
    for (const auto& [path, value] : given_) took(state_.draft->give(path, value, ctx_.session.library()));
  }

  SheetReply buttons(Rect foot) {
    const bool opens = state_.opened == nullptr, ready = draft().ready();
    const Rect ok = foot.cut_right(ctx_.px(130));
    foot.cut_right(ctx_.px(10));
    const Rect no = foot.cut_right(ctx_.px(110));
    foot.cut_right(ctx_.px(10));
    const Rect copy = foot.cut_left(ctx_.px(130));
    foot.cut_left(ctx_.px(12));
    if (button(ctx_.ui, copy, "import.copy", ctx_.text("ui.import.copy")))
      ctx_.requests.copied = receipt_text(draft().imported(), draft().file(), ctx_.ui.texts);
    // A plan that was edited since it was read.
    const bool replaces =
        !opens && state_.changed && !(ctx_.session.scenario() == state_.opened->imported().scenario);
    const TextStyle small = ctx_.style(replaces ? t_.warn : t_.ink3, kSmallText);
    ctx_.ui.canvas.text(
        {foot.x, foot.centre().y},
        ellipsize(ctx_.ui.canvas, ctx_.text(replaces ? "ui.import.replaces" : "ui.import.rule"), small, foot.w),
        small);
    const bool enter = !ctx_.ui.io.editing_any() && !ctx_.ui.io.popup().open && ctx_.ui.io.take(Key::enter);
    if (!opens && !state_.changed)
      return {button(ctx_.ui, ok, "import.ok", ctx_.text("ui.import.done"), true) || enter, {}};
    const bool cancel = button(ctx_.ui, no, "import.cancel", ctx_.text("ui.save.cancel"));
    const bool yes =
        button(ctx_.ui, ok, "import.ok", ctx_.text(opens ? "ui.import.open" : "ui.import.apply"), ready) || enter;
    if (yes && ready) return {true, kAcceptImport};
    if (yes) state_.problem = ctx_.format("ui.import.lacks", {missing_names()});
    ask_for_missing(yes);
    return {cancel, {}};
  }

  PanelContext& ctx_;
  const Theme& t_;
  Rect window_;
  ImportSheetState& state_;
  Rect view_{};
  float y_ = 0;
  int number_ = 0;
  std::vector<std::pair<std::string, std::string>> given_;
};

}  // namespace

SheetReply import_sheet(PanelContext& ctx, const Rect& window, ImportSheetState& state) {
  return ReceiptSheet(ctx, window, state).run();
}

}  // namespace roofscape::app
