#include "app/tours/tour_check.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "app/core/export.h"
#include "app/core/fonts.h"
#include "app/core/strings.h"
#include "app/tours/guess_mark.h"
#include "app/tours/scene_values.h"
#include "engine/blocks/block_picture.h"
#include "engine/io/json/nearest.h"
#include "widgets/canvas/canvas_record.h"
#include "widgets/figures/figures.h"

namespace roofscape::app {

using engine::say;
using widgets::FigureRow;
using widgets::TextTable;

namespace {

// Choices that differ by less are the same to an audience; a wrong one so near to another reading is right under it.
constexpr double kAlike = 0.03, kNearReading = 0.08;
constexpr double kHand = 0.01;  // of an axis
// Of the figure that marks are looked for in: that of a slide.
constexpr float kCheckedEm = 21;
constexpr widgets::Rect kCheckedFigure{0, 0, 800, 520};

bool alike(double a, double b, double share) { return std::abs(a - b) <= share * std::max(std::abs(a), std::abs(b)); }

class SceneCheck {
 public:
  SceneCheck(const io::Tour& tour, std::size_t index, const io::PresetLibrary& library, const TextTable& texts,
             std::vector<io::InputError>& out)
      : tour_(tour),
        scene_(tour.scenes[index]),
        path_("scenes." + std::to_string(index)),
        library_(library),
        texts_(texts),
        values_(scene_, library),
        out_(out) {}

  void run() {
    check_states();
    for (std::size_t i = 0; i < scene_.figures.size(); ++i)
      check_figure(scene_.figures[i], scene_.figures.size() < 2 ? "figure" : "figures." + std::to_string(i));
    check_mark();
    check_texts();
    check_answer();
    check_choices();
    for (std::size_t i = 0; i < scene_.claims.size(); ++i) {
      const auto holds = values_.compute(scene_.claims[i]);
      if (!holds)
        say_at("claims." + std::to_string(i), say("error.tour.no_value", io::in_quotes(scene_.claims[i].text())),
               say("error.tour.no_value.remedy"));
      else if (holds->value == 0)
        say_at("claims." + std::to_string(i), say("error.tour.claim.false", scene_.claims[i].text()),
               say("error.tour.claim.false.remedy"));
    }
  }

 private:
  void say_at(const std::string& member, engine::Sentence message, engine::Sentence remedy) {
    out_.push_back({tour_.origin, path_ + "." + member, std::move(message), std::move(remedy)});
  }

  void check_states() {
    for (const io::TourState& state : scene_.states) {
      const std::string where = state.name.empty() ? "scenario" : "states." + state.name;
      if (const BlockState* block = values_.block(state.name)) {
        if (block->result.error) say_at(where, block->result.error->message, block->result.error->remedy);
        continue;
      }
      const PlanState* plan = values_.plan(state.name);
      if (plan == nullptr) continue;
      const bool shown = state.name.empty();
      if (plan->report.has_errors() && (scene_.runs || !shown)) {
        for (const engine::Diagnostic& d : plan->report.diagnostics)
          if (d.severity == engine::Severity::error) {
            const std::string title = "diagnostic." + std::string(d.code) + ".title";
            say_at(where, say("error.tour.cannot_run", texts_.text(title)), say("error.tour.cannot_run.remedy"));
            break;
          }
      } else if (!plan->report.has_errors() && !scene_.runs && shown) {
        say_at("runs", say("error.tour.runs"), say("error.tour.runs.remedy"));
      }
    }
  }

  void check_figure(const io::TourFigure& figure, const std::string& where) {
    if (const BlockState* block = values_.block()) {
      if (!figure.name.empty())
        return say_at(where, say("error.tour.figure.block"), say("error.tour.figure.block.remedy"));
      const auto asked =
          engine::picture_with(block->question.call.block(), with_of(figure, "over"), shown_of(figure));
      if (asked.error) say_at(where + ".with", asked.error->message, asked.error->remedy);
      return;
    }
    const FigureRow* row = widgets::find_figure(figure.name);
    if (row == nullptr) {
      std::vector<std::string_view> names;
      for (const FigureRow& one : widgets::figures()) names.push_back(one.name);
      return say_at(where, say("error.tour.figure", io::in_quotes(figure.name)),
                    io::did_you_mean(figure.name, names));
    }
    widgets::FigureView view;
    for (const std::string& option : figure.with)
      if (const auto error = choose(*row, option, view))
        return say_at(where + ".with", error->message, error->remedy);
    const PlanState* plan = values_.plan();
    if (plan == nullptr) return;
    if (!widgets::shows(*row, plan->scenario))
      return say_at(where, say("error.tour.figure.kind", row->name), say("error.tour.figure.kind.remedy"));
    if (row->needs == widgets::Needs::baseline && !scene_.has_before())
      return say_at(where, say("error.tour.figure.baseline", row->name), say("error.tour.state.none"));
    if (row->needs == widgets::Needs::stages && plan->scenario.parallelism.pipeline == 1)
      say_at(where, say("error.tour.figure.stages", row->name), say("error.tour.figure.stages.remedy"));
  }

  // What is guessed on the figure is there, and read on an axis that the answer lies on.
  void check_mark() {
    if (!guesses_on_figure(scene_)) return;
    const auto fonts = load_fonts();
    const auto theme = load_theme("projector");
    if (!fonts.ok() || !theme.ok()) return;
    const widgets::RecordCanvas canvas(fonts.value(), kCheckedEm, kCheckedFigure);
    widgets::StudyCache studies;
    widgets::HeldAxes axes;
    const auto place = mark_place(canvas, canvas.bounds(),
                                  {scene_, values_, texts_, theme.value(), library_, studies, false, &axes, nullptr});
    for (std::size_t i = 0; place && i < place->choices.size(); ++i)
      if (const std::string& mark = scene_.choices[i].mark; !mark.empty() && place->choices[i].empty())
        say_at("choices." + std::to_string(i) + ".mark", say("error.tour.mark.none", io::in_quotes(mark)),
               say("error.tour.mark.none.remedy"));
    if (scene_.mark.kind == io::TourMark::Kind::none) return;
    if (!place)
      return say_at("mark", say("error.tour.mark.none", io::in_quotes(scene_.mark.tag)),
                    say("error.tour.mark.none.remedy"));
    const auto answer = values_.answer();
    const auto there = values_.answer_at(place->answer);
    const widgets::Scale& axis = place->along_x ? place->frame.x : place->frame.y;
    const double unit = place->along_x ? place->frame.frame.x.unit : place->frame.frame.y.unit;
    // As far as a hand can tell on it, too.
    const auto beside = values_.answer_at(
        axis.value(axis.position(place->answer / unit) + kHand * (axis.end() - axis.begin())) * unit);
    const bool told = answer && beside && alike(answer->value, *beside, kRightWithin);
    if (!told || !there || !alike(answer->value, *there, 1e-9) || !axis.contains(place->answer / unit))
      say_at("mark", say("error.tour.mark.axis", io::in_quotes(scene_.answer.text())),
             say("error.tour.mark_of.remedy"));
  }

  void check_texts() {
    std::vector<std::pair<std::string, const io::TourText*>> all{{"title", &scene_.title},
                                                                 {"context", &scene_.context},
                                                                 {"question", &scene_.question},
                                                                 {"sentence", &scene_.sentence},
                                                                 {"notes", &scene_.notes}};
    for (std::size_t i = 0; i < scene_.choices.size(); ++i)
      all.emplace_back("choices." + std::to_string(i), &scene_.choices[i].text);
    for (const auto& [where, text] : all)
      for (const auto& entry : text->by_language) {
        engine::Sentence problem;
        const auto pieces = io::cut_text(entry.second, problem);
        if (!pieces) continue;  // the reader has said so
        for (const io::TourPiece& piece : *pieces)
          if (!piece.formula.empty() && piece.form != "name" && !values_.compute(piece.formula))
            say_at(where, say("error.tour.no_value", io::in_quotes(piece.formula.text())),
                   say("error.tour.no_value.remedy"));
      }
  }

  std::string written(double value) const { return values_.guess_text(value, texts_); }

  void check_answer() {
    if (scene_.answer.empty()) return;
    const auto answer = values_.answer();
    if (!answer)
      return say_at("answer", say("error.tour.no_value", io::in_quotes(scene_.answer.text())),
                    say("error.tour.no_value.remedy"));
    if (scene_.range && (answer->value < scene_.range->first || answer->value > scene_.range->second))
      say_at("range",
             say("error.tour.range", written(answer->value), written(scene_.range->first),
                 written(scene_.range->second)),
             say("error.tour.range.remedy"));
    if (scene_.guess && (answer->value < scene_.guess->first || answer->value > scene_.guess->second))
      say_at("guess",
             say("error.tour.guess", written(answer->value), written(scene_.guess->first),
                 written(scene_.guess->second)),
             say("error.tour.range.remedy"));
  }

  void check_choices() {
    for (std::size_t i = 0; i < scene_.choices.size(); ++i) {
      const std::string where = "choices." + std::to_string(i);
      const auto value = values_.choice_value(i);
      if (!scene_.choices[i].value.empty() && !value)
        say_at(where, say("error.tour.no_value", io::in_quotes(scene_.choices[i].value.text())),
               say("error.tour.no_value.remedy"));
      for (std::size_t k = 0; k < i; ++k) {
        const auto other = values_.choice_value(k);
        const std::string a = values_.choice_text(k, texts_), b = values_.choice_text(i, texts_);
        if (a == b || (value && other && alike(*value, *other, kAlike)))
          say_at(where, say("error.tour.alike", a, b),
                 say("error.tour.alike.remedy", std::to_string(std::lround(kAlike * 100))));
      }
      if (scene_.choices[i].right || !value) continue;
      for (const io::TourFormula& reading : scene_.readings)
        if (const auto right = values_.compute(reading); right && alike(*value, right->value, kNearReading))
          say_at(where, say("error.tour.reading", values_.choice_text(i, texts_), io::in_quotes(reading.text())),
                 say("error.tour.reading.remedy"));
    }
  }

 public:
  // "over=batch" of a figure's options.
  static std::string with_of(const io::TourFigure& figure, std::string_view key) {
    for (const std::string& option : figure.with)
      if (option.starts_with(key) && option.size() > key.size() && option[key.size()] == '=')
        return option.substr(key.size() + 1);
    return {};
  }
  static std::vector<std::string> shown_of(const io::TourFigure& figure) {
    std::vector<std::string> out;
    for (const std::string& option : figure.with)
      if (option.starts_with("show=")) out.push_back(option.substr(5));
    return out;
  }

 private:
  const io::Tour& tour_;
  const io::TourScene& scene_;
  std::string path_;
  const io::PresetLibrary& library_;
  const TextTable& texts_;
  SceneValues values_;
  std::vector<io::InputError>& out_;
};

}  // namespace

std::vector<io::InputError> check_tour(const io::Tour& tour, const io::PresetLibrary& library,
                                       const TextTable& texts) {
  std::vector<io::InputError> out;
  for (std::size_t i = 0; i < tour.scenes.size(); ++i) SceneCheck(tour, i, library, texts, out).run();
  return out;
}

}  // namespace roofscape::app
