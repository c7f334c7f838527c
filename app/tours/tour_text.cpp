#include "app/tours/tour_text.h"

#include <vector>

#include "app/core/text_columns.h"
#include "app/tours/scene_values.h"

namespace roofscape::app {

using widgets::TextTable;

namespace {

constexpr std::size_t kWidth = 100;

std::string number_of(std::size_t i) { return std::to_string(i + 1); }

}  // namespace

std::string tour_document(const io::Tour& tour, const io::PresetLibrary& library, const TextTable& texts) {
  std::string out = tour.id + ": " + std::string(tour.title.in(language_of(texts))) + "\n";
  if (!tour.about.empty()) out += wrapped("", std::string(tour.about.in(language_of(texts))), kWidth) + "\n";
  for (std::size_t i = 0; i < tour.scenes.size(); ++i) {
    const io::TourScene& scene = tour.scenes[i];
    const SceneValues values(scene, library);
    out += "\n" + number_of(i) + ". " + values.write(scene.title, texts) + " [" + scene.id + "]\n";
    if (!scene.context.empty()) out += wrapped("   ", values.write(scene.context, texts), kWidth) + "\n";
    out += wrapped("   ", values.write(scene.question, texts), kWidth) + "\n";
    for (std::size_t k = 0; k < scene.choices.size(); ++k)
      out += std::string(scene.choices[k].right ? "   * " : "     ") + values.choice_text(k, texts) + "\n";
    out += "   = " + values.answer_text(texts) + "\n";
    out += wrapped("   ", values.write(scene.sentence, texts), kWidth) + "\n";
    if (!scene.source.empty()) out += "   (" + values.write(scene.source, texts) + ")\n";
  }
  return out;
}

std::string tour_handout(const io::Tour& tour, const io::PresetLibrary& library, const TextTable& texts) {
  std::string questions, answers, notes;
  for (std::size_t i = 0; i < tour.scenes.size(); ++i) {
    const io::TourScene& scene = tour.scenes[i];
    const SceneValues values(scene, library);
    const std::string head = number_of(i) + ". **" + values.write(scene.title, texts) + "**";
    questions += head + "\n\n   ";
    if (!scene.context.empty()) questions += values.write(scene.context, texts) + "\n   ";
    questions += values.write(scene.question, texts) + "\n";
    for (std::size_t k = 0; k < scene.choices.size(); ++k)
      questions += "   - [ ] " + values.choice_text(k, texts) + "\n";
    questions += "\n";
    answers += head + ": " + values.answer_text(texts) + "\n\n   " + values.write(scene.sentence, texts) + "\n";
    if (!scene.source.empty()) answers += "   (" + values.write(scene.source, texts) + ")\n";
    answers += "\n";
    if (!scene.notes.empty()) notes += head + "\n\n   " + values.write(scene.notes, texts) + "\n\n";
  }
  std::string out = "# " + std::string(tour.title.in(language_of(texts))) + "\n\n";
  if (!tour.about.empty()) out += std::string(tour.about.in(language_of(texts))) + "\n\n";
  out += "## " + std::string(texts.text("tour.handout.questions")) + "\n\n" + questions;
  out += "## " + std::string(texts.text("tour.handout.answers")) + "\n\n" + answers;
  if (!notes.empty()) out += "## " + std::string(texts.text("tour.handout.notes")) + "\n\n" + notes;
  return out;
}

}  // namespace roofscape::app
