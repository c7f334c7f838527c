// roofscape-cli tour: the tours there are, one of them as text, checked, or as slides.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/core/export.h"
#include "app/core/fonts.h"
#include "app/core/strings.h"
#include "app/core/text_columns.h"
#include "app/tours/scene_slide.h"
#include "app/tours/tour_check.h"
#include "app/tours/tour_page.h"
#include "app/tours/tour_text.h"
#include "engine/io/json/files.h"

namespace roofscape::app::cli {

using engine::say;
namespace {

namespace fs = std::filesystem;

struct TourOptions {
  std::string name;  // id of a tour, or a file
  bool check = false, texts = false;
  std::string folder, format, theme, size;
};

void add_options(OptionList& list, TourOptions& options) {
  list.optional("name", options.name, "cli.tour.name");
  list.flag("--check", options.check, "cli.tour.check");
  list.option("--export", options.folder, "cli.tour.export");
  list.option("--format", options.format, "cli.tour.format");
  list.option("--theme", options.theme, "cli.figure.theme", theme_names());
  list.option("--size", options.size, "cli.tour.size");
  list.flag("--texts", options.texts, "cli.tour.texts");
}

int print_tours(const Context& context) {
  std::vector<io::InputError> problems;
  Columns columns({false, true, false});
  for (const io::Tour& tour : io::load_tours(context.library, problems))
    columns.add({tour.id, context.texts.count("tour.scenes", static_cast<double>(tour.scenes.size())),
                 std::string(tour.title.in(language_of(context.texts)))});
  for (const io::InputError& problem : problems) complain(context.texts, problem);
  return print(context.texts, columns.text(0), problems.empty() ? kGood : kBadInput);
}

int check(const Context& context, const io::Tour& tour) {
  const std::vector<io::InputError> findings = check_tour(tour, context.library, context.texts);
  for (const io::InputError& finding : findings) complain(context.texts, finding);
  if (!findings.empty()) return kHasErrors;
  return print(context.texts,
               tour.id + ": " + context.texts.count("tour.checked", static_cast<double>(tour.scenes.size())) + "\n",
               kGood);
}

// "03-tensor-16-answer.pdf"
std::string slide_name(const io::Tour& tour, std::size_t scene, bool answer, FileFormat format) {
  return fmt::format("{:02}-{}-{}{}", scene + 1, tour.scenes[scene].id, answer ? "answer" : "question",
                     extension_of(format));
}

int write_slides(const Context& context, const io::Tour& tour, const TourOptions& options) {
  const auto format = parse_format(options.format.empty() ? "pdf" : options.format);
  if (!format) return refuse(context.texts, format.error());
  if (format.value() == FileFormat::csv || format.value() == FileFormat::json)
    return refuse(
        context.texts,
        {{}, "--format", say("error.cli.tour.format", options.format), say("error.cli.tour.format.remedy")});
  const auto theme = load_theme(options.theme.empty() ? "projector" : options.theme, context.folder);
  if (!theme) return refuse(context.texts, theme.error());
  const auto page_theme = load_theme(options.theme.empty() ? "light" : options.theme, context.folder);
  if (!page_theme) return refuse(context.texts, page_theme.error());
  ExportOptions form;
  if (const auto error = set_size(options.size.empty() ? "1280x720px" : options.size, form))
    return refuse(context.texts, *error);
  form.em = scene_em(form.width, form.height);
  const auto fonts = load_fonts();
  if (!fonts) return refuse(context.texts, fonts.error());
  const fs::path folder = options.folder;
  if (const auto error = make_folder(options.folder)) return refuse(context.texts, *error);
  std::string written;
  TourPlay play(tour);
  for (std::size_t i = 0; i < tour.scenes.size(); ++i) {
    const SceneValues values(tour.scenes[i], context.library);
    for (const bool answer : {false, true}) {
      play.go_to(i);
      if (answer) play.reveal();
      SlideText text = slide_text(play, values, context.texts);
      text.hint.clear();
      widgets::StudyCache studies;
      const SceneFigures figures{tour.scenes[i],  values,  context.texts, theme.value(),
                                 context.library, studies, answer};
      widgets::FigureHead head;
      head.title = text.title;
      head.takeaway = answer ? text.sentence : text.question;
      // A slide has margins of its own: it is laid out on the whole page, wherever its ink ends.
      const Drawing drawing{head, theme.value(), form,
                            [&](widgets::Canvas& canvas, const widgets::Rect&, const widgets::HeadParts&) {
                              const SlideLayout layout = lay_out_slide(canvas, canvas.bounds(), text, 0, false);
                              draw_slide(canvas, theme.value(), layout, text);
                              draw_scene_figures(canvas, layout.figure, figures);
                            },
                            [] { return std::string(); }};
      const fs::path file = folder / slide_name(tour, i, answer, format.value());
      if (const auto error = export_drawing(drawing, file, form, fonts.value())) return refuse(context.texts, *error);
      written += file.string() + '\n';
    }
  }
  const fs::path handout = folder / "handout.md";
  if (const auto error = io::write_file_atomically(handout, tour_handout(tour, context.library, context.texts)))
    return refuse(context.texts, *error);
  written += handout.string() + '\n';
  const auto page = tour_page(tour, context.library, context.texts, page_theme.value(), fonts.value());
  if (!page) return refuse(context.texts, page.error());
  const fs::path page_file = folder / "page.html";
  if (const auto error = io::write_file_atomically(page_file, page.value())) return refuse(context.texts, *error);
  return print(context.texts, written + page_file.string() + '\n', kGood);
}

int run(const Context& context, const TourOptions& options) {
  const bool other = options.check || options.texts || !options.folder.empty();
  if (options.name.empty() && other)
    return refuse(context.texts, {{}, {}, say("error.cli.tour.name"), say("error.cli.tour.name.remedy")});
  for (const auto& [option, given] :
       {std::pair{"--format", &options.format}, {"--theme", &options.theme}, {"--size", &options.size}})
    if (options.folder.empty() && !given->empty())
      return refuse(context.texts,
                    {{}, option, say("error.cli.tour.export_only"), say("error.cli.tour.export_only.remedy")});
  if (options.name.empty()) return print_tours(context);
  if (int{options.check} + int{options.texts} + int{!options.folder.empty()} > 1)
    return refuse(context.texts, {{}, {}, say("error.cli.tour.one"), say("error.cli.tour.one.remedy")});
  const auto tour = io::load_tour(options.name, context.library);
  if (!tour) return refuse(context.texts, tour.error());
  if (options.texts) return print(context.texts, io::tour_texts(tour.value()), kGood);
  if (options.check) return check(context, tour.value());
  if (!options.folder.empty()) return write_slides(context, tour.value(), options);
  return print(context.texts, tour_document(tour.value(), context.library, context.texts), kGood);
}

}  // namespace

const Command tour_command = command<TourOptions, add_options, run>("tour", "cli.tour");

}  // namespace roofscape::app::cli
