// What is read from files and written to them: scenarios, models, presets, pictures of figures.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/core/export.h"
#include "app/core/strings.h"
#include "app/panels/export_sheet.h"
#include "app/session/file_list.h"
#include "app/shell/workspace.h"
#include "engine/inputs/inputs.h"
#include "engine/io/huggingface/hf_config.h"
#include "engine/io/import/open_scenario.h"
#include "engine/io/json/files.h"
#include "engine/io/presets/preset_json.h"
#include "engine/io/scenario/figure_recipe.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/scenario_title.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/figures.h"

namespace roofscape::app {

using namespace widgets;

namespace {
constexpr const char* kModelConfig = "config.json";
}  // namespace

void Workspace::open(const std::string& id_or_path) {
  const io::PresetLibrary& library = session_.library();
  if (library.find_scenario_text(id_or_path) == nullptr) {
    const io::Preset* model = io::model_meant(id_or_path, library);
    if (model == nullptr) return open_file(id_or_path);
    // On one node of the chips that are open: a mesh of thousands for another model would mostly not be possible.
    const engine::Cluster& here = session_.scenario().cluster;
    const std::string one_node = here.chip.id + ":" + std::to_string(here.node_size);
    const auto read = io::import_model(*model, {one_node, {}, {}}, library);
    if (!read.ok()) return session_.say(message_of(read.error(), texts_));
    return open_beside(read.value().scenario, {});
  }
  leave_tour();
  session_.open(id_or_path, texts_);
}

void Workspace::take_model(std::string_view config, const std::string& file) {
  auto read = io::read_hf_config(config, file);
  if (!read.ok()) {
    session_.say(message_of(read.error(), texts_));
    return;
  }
  engine::Scenario changed = session_.scenario();
  changed.model = read->shape;
  if (read->stored && read->stored->weights != engine::Dtype::none && changed.serves()) {
    changed.precision.weights = read->stored->weights;
    changed.precision.compute = engine::served_compute(read->stored->compute, changed.cluster.chip);
    changed.precision.kv_cache = read->stored->kv_cache;
  }
  session_.remember_model(changed.model);
  std::string notes;
  for (const std::string& note : read->notes) notes += (notes.empty() ? "" : "; ") + note;
  Message message{false, texts_.format("ui.model.read", {changed.model.name, file, read->model_type}), {}, true};
  message.detail =
      notes.empty() ? std::string(texts_.text("ui.model.read.whole")) : texts_.format("ui.model.read.notes", {notes});
  session_.update(std::move(changed), false);
  session_.say(std::move(message));
}

bool Workspace::take_launch(std::string_view text, const std::string& file) {
  if (!io::reads_as_launch(text)) return false;
  auto read = LaunchImport::read(std::string(text), file, session_.scenario().cluster, session_.library());
  if (!read.ok()) {
    session_.say(message_of(read.error(), texts_));
    return true;
  }
  ImportSheetState& sheet = panels_.sheets.import;
  if (!read->imported().complete()) {
    sheet.waiting.push_back(std::move(read).value());
    return true;
  }
  open_launch(read.value());
  sheet.show(std::move(read).value(), session_.launch());
  panels_.sheets.shown = Sheet::import;
  return true;
}

void Workspace::open_launch(LaunchImport read) {
  const engine::Scenario& plan = read.imported().scenario;
  Message message{
      read.imported().has_errors(),
      texts_.format("ui.import.read",
                    {read.file(), std::string(read.imported().format_name),
                     format_count(static_cast<double>(engine::chip_count(plan.cluster))), plan.cluster.chip.name}),
      std::string(texts_.text("ui.import.read.detail")), true};
  open_beside(plan, {});
  session_.set_launch(std::make_shared<const LaunchImport>(std::move(read)));
  session_.say(std::move(message));
}

void Workspace::accept_import() {
  ImportSheetState& sheet = panels_.sheets.import;
  if (!sheet.draft) return;
  LaunchImport read = *std::exchange(sheet.draft, std::nullopt);
  if (sheet.opened == nullptr || sheet.opened != session_.launch()) return open_launch(std::move(read));
  session_.update(read.imported().scenario, false);
  session_.set_launch(std::make_shared<const LaunchImport>(std::move(read)));
  session_.say({false, std::string(texts_.text("ui.import.applied")), {}});
}

void Workspace::show_receipt() {
  if (session_.launch() == nullptr) return;
  panels_.sheets.import.show(*session_.launch(), session_.launch());
  panels_.sheets.shown = Sheet::import;
}

void Workspace::show_next_receipt() {
  ImportSheetState& sheet = panels_.sheets.import;
  if (sheet.waiting.empty() || panels_.sheets.shown != Sheet::none) return;
  LaunchImport next = std::move(sheet.waiting.front());
  sheet.waiting.erase(sheet.waiting.begin());
  sheet.show(std::move(next), nullptr);
  panels_.sheets.shown = Sheet::import;
}

void Workspace::read_measured(std::vector<std::string> inputs, const std::string& name) {
  panels_.sheets.shown = Sheet::measured;
  start_measured({std::move(inputs), name});
}

void Workspace::start_measured(io::SavedMeasured from) {
  panels_.sheets.measured.name = from.name;
  panels_.sheets.measured.reading = 0;
  measuring_.start(from.inputs);
  measured_from_ = std::move(from);
}

// What is being read is of the tab that was shown; that tab reads it again when it is back.
void Workspace::stop_measured() {
  if (!panels_.sheets.measured.reading) return;
  measuring_.cancel();
  panels_.sheets.measured.reading.reset();
}

void Workspace::forget_measured() {
  stop_measured();
  session_.set_measured({});
  ++measured_changes_;
}

void Workspace::take_measured() {
  MeasuredSheetState& sheet = panels_.sheets.measured;
  if (!sheet.reading) {
    // A session that was kept has what its run is read from.
    if (const auto& of = session_.measured(); of && of->run == nullptr && !of->unreadable) start_measured(of->from);
    return;
  }
  sheet.reading = measuring_.progress();
  auto done = measuring_.take();
  if (!done && measuring_.reading()) return;
  sheet.reading.reset();
  const bool asked = panels_.sheets.shown == Sheet::measured;
  if (!done) {  // given up
    if (asked && session_.measured_run() == nullptr) panels_.sheets.shown = Sheet::none;
    if (const auto& of = session_.measured(); of && of->run == nullptr) session_.set_measured({});
    return;
  }
  if (!done->ok()) {
    if (asked) panels_.sheets.shown = Sheet::none;
    if (const auto& of = session_.measured(); of && of->run == nullptr)
      session_.set_measured(MeasuredBeside{of->from, nullptr, true});
    return session_.say(message_of(done->error(), texts_));
  }
  session_.set_measured(MeasuredBeside{std::move(measured_from_),
                                       std::make_shared<const engine::MeasuredRun>(std::move(*done).value()), false});
  ++measured_changes_;
}

std::size_t Workspace::current_figure() const {
  const std::size_t count = figures().size();
  if (panels_.projector.open && panels_.projector.figure < count) return panels_.projector.figure;
  if (panels_.figures.maximised && *panels_.figures.maximised < count) return *panels_.figures.maximised;
  const std::optional<std::size_t> focused = panels_.figures.focused;
  if (cover() == Cover::search) {
    // Of those over the list the one pointed at last, or the first.
    std::vector<std::string> over{"clusters"};
    if (panels_.search.shows(SearchView::About::plans)) {
      const auto& two = shown_figures(panels_.search, session_.scenario());
      over.assign(two.begin(), two.end());
    }
    const bool is_over =
        focused && *focused < count && std::find(over.begin(), over.end(), figures()[*focused].name) != over.end();
    if (const FigureRow* first = find_figure(over.front()); !is_over && first != nullptr) return figure_index(*first);
  }
  return focused && *focused < count ? *focused : 0;
}

std::string Workspace::exported_name() const {
  if (cover() == Cover::table) return std::string(texts_.text(panels_.table.title()));
  if (shows_block()) return std::string(panels_.workbench.shown().id);
  return std::string(texts_.text("command.figure." + std::string(figures()[current_figure()].name)));
}

FigureView Workspace::shown_view(std::size_t figure) const {
  FigureView shown;
  shown.choices = panels_.figures.choices[figure];
  if (figures()[figure].timeline != nullptr) panels_.figures.pipeline.show_in(shown);
  return shown;
}

FigureInput Workspace::own_figure_input(const widgets::Theme& theme, widgets::StudyCache& studies,
                                        const SearchSeen& found) const {
  const engine::MeasuredRun* const run = session_.measured_run();
  return {session_.scenario(),
          session_.report(),
          texts_,
          theme,
          studies,
          baseline_ ? &baseline_->baseline : nullptr,
          run != nullptr ? std::span(run->operations) : std::span<const engine::MeasuredOperation>(),
          session_.library().chips(),
          evidence_.get(),
          &found,
          nullptr,
          run};
}

void Workspace::save_table() {
  const ExportChoice& choice = settings_.export_as;
  const std::filesystem::path folder =
      choice.folder.empty() ? export_folder() : typed_path(choice.folder, export_folder());
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  const std::filesystem::path file = free_name(folder / (std::string(panels_.table.file_name()) + ".csv"));
  if (const auto failure = io::write_file_atomically(file, csv_of(panels_.table.shown(session_, texts_).table)))
    return session_.say({true, io::to_text(*failure, texts_), {}});
  session_.say({false, texts_.format("ui.exported", {file.string()}), {}});
}

void Workspace::export_current_figure() {
  if (cover() == Cover::table) return save_table();
  if (settings_.export_as.asked) return write_exported();
  panels_.sheets.shown = Sheet::export_figure;
}

void Workspace::write_exported() {
  const ExportChoice& choice = settings_.export_as;
  auto paper = load_theme(choice.theme);
  if (!paper.ok()) paper = load_theme("print");
  if (!paper.ok()) return session_.say({true, io::to_text(paper.error(), texts_), {}});
  const FigureRow& row = figures()[current_figure()];
  const SearchSeen found = found_here();
  const FigureInput input = own_figure_input(paper.value(), studies_, found);
  studies_.begin_frame(std::numeric_limits<std::int64_t>::max());  // a file is whole
  const FigureView shown = shown_view(current_figure());
  const Workbench::Kept* const block = shows_block() ? &panels_.workbench.reply(session_) : nullptr;
  if (block != nullptr && !block->reply.question)
    return session_.say({true, std::string(texts_.text("ui.exported.nothing")), {}});
  ExportOptions options = block != nullptr ? block_figure_size() : default_size(row);
  if (choice.size != "figure")
    if (const auto failure = set_size(choice.size, options))
      return session_.say({true, texts_.write(failure->message), texts_.write(failure->remedy)});
  const Drawing drawing = block != nullptr
                              ? drawing_of({block->reply.question->call, block->data, texts_, paper.value()})
                              : drawing_of(row, input, shown, &session_.library());
  const std::filesystem::path folder =
      choice.folder.empty() ? export_folder() : typed_path(choice.folder, export_folder());
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  // One name for all formats, free in each: nothing that is there is replaced.
  const std::string stem = block != nullptr
                               ? std::string(block->block)
                               : file_stem(engine::scenario_title(session_.scenario())) + "-" + std::string(row.name);
  const auto file_of = [&](int number, std::size_t format) {
    return folder / (stem + (number > 1 ? "-" + std::to_string(number) : std::string()) +
                     std::string(extension_of(static_cast<FileFormat>(format))));
  };
  const auto taken = [&](int number) {
    for (std::size_t i = 0; i < choice.formats.size(); ++i)
      if (std::error_code unknown;
          choice.formats[i] && std::filesystem::exists(std::filesystem::symlink_status(file_of(number, i), unknown)))
        return true;
    return false;
  };
  int number = 1;
  while (number < 10000 && taken(number)) ++number;
  std::string written;
  for (std::size_t i = 0; i < choice.formats.size(); ++i) {
    if (!choice.formats[i]) continue;
    const std::filesystem::path file = file_of(number, i);
    if (const auto failure = export_drawing(drawing, file, options, fonts_))
      return session_.say({true, io::to_text(*failure, texts_), {}});
    written += written.empty() ? file.string() : ", " + file.extension().string();
  }
  session_.say({false, texts_.format("ui.exported", {written}), {}});
}

// A recipe names scenarios: a preset or a file as it is, else one that is written beside it.
void Workspace::add_to_recipe() {
  if (!settings_.export_as.asked) {
    panels_.sheets.shown = Sheet::export_figure;
    return;
  }
  if (shows_block() || cover() == Cover::table)
    return session_.say({true, std::string(texts_.text("ui.recipe.nothing")), {}});
  const ExportChoice& choice = settings_.export_as;
  const std::filesystem::path folder =
      choice.folder.empty() ? export_folder() : typed_path(choice.folder, export_folder());
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  const auto tell = [&](const io::InputError& error) { session_.say(message_of(error, texts_)); };
  const FigureRow& row = figures()[current_figure()];
  const std::string stem = file_stem(engine::scenario_title(session_.scenario()));
  std::optional<io::InputError> failure;
  const auto named = [&](const engine::Scenario& scenario, const std::string& name) {
    const std::filesystem::path file = free_name(folder / (name + ".json"));
    if (auto problem = io::write_file_atomically(file, io::write_scenario(scenario, session_.library())))
      failure = std::move(*problem);
    return file.filename().string();
  };
  io::RecipeFigure figure;
  figure.figure = row.name;
  figure.scenario = session_.saved() ? session_.origin() : named(session_.scenario(), stem);
  if (baseline_ && !failure) figure.baseline = named(baseline_->scenario, stem + "-baseline");
  if (failure) return tell(*failure);
  const FigureView shown = shown_view(current_figure());
  for (std::size_t i = 0; i < row.options.size(); ++i)
    if (shown.choices[i] != 0)
      figure.with.push_back(std::string(row.options[i].key) + "=" +
                            std::string(row.options[i].choices[shown.choices[i]]));
  if (const auto& measured = session_.measured(); measured && measured->from.inputs.size() == 1)
    if (std::filesystem::exists(measured->from.inputs.front(), failed) && row.measures != widgets::Measures::nothing)
      figure.measured = measured->from.inputs.front();
  if (choice.theme != "print") figure.theme = choice.theme;
  if (choice.size != "figure") figure.size = choice.size;
  std::size_t format = 0;
  while (format < choice.formats.size() && !choice.formats[format]) ++format;
  const std::string ending(
      extension_of(static_cast<FileFormat>(format < choice.formats.size() ? format : std::size_t{0})));
  const std::filesystem::path recipe = folder / "figures.json";
  std::string text;
  if (std::filesystem::exists(recipe, failed)) {
    auto read = io::read_file(recipe.string());
    if (!read) return tell(read.error());
    text = std::move(read).value();
  }
  // An output of its own: a number where the recipe has the name already.
  const std::string output = stem + "-" + std::string(row.name);
  for (int number = 1;; ++number) {
    figure.output = output + (number > 1 ? "-" + std::to_string(number) : std::string()) + ending;
    if (text.find('"' + figure.output + '"') == std::string::npos) break;
  }
  const auto added = io::add_figure(text, recipe.string(), figure);
  if (!added) return tell(added.error());
  if (const auto problem = io::write_file_atomically(recipe, added.value())) return tell(*problem);
  session_.say({false, texts_.format("ui.recipe.added", {figure.output, recipe.string()}),
                texts_.format("ui.recipe.make", {recipe.string()})});
}

std::string Workspace::figure_data() {
  if (cover() == Cover::table) return tsv_of(panels_.table.shown(session_, texts_).table);
  if (shows_block()) {
    const Workbench::Kept& kept = panels_.workbench.reply(session_);
    if (!kept.reply.question) return {};
    return widgets::block_figure_data({kept.reply.question->call, kept.data, texts_, theme_});
  }
  const FigureRow& row = figures()[current_figure()];
  widgets::StudyCache studies;  // of this scenario, which need not be the one that is drawn
  const SearchSeen found = found_here();
  return widgets::figure_data(row, own_figure_input(theme_, studies, found), shown_view(current_figure()));
}

void Workspace::save() {
  // What has no file yet, or whose file is not what it was, is asked for.
  if (session_.file().empty() || session_.file_changed()) {
    panels_.sheets.files.started = false;
    panels_.sheets.shown = Sheet::save_as;
    panels_.sheets.saving = Saved::scenario;
    return;
  }
  if (session_.save(session_.file(), texts_))
    session_.say({false, texts_.format("ui.saved", {session_.file().string()}), {}});
}

void Workspace::save_as(const std::filesystem::path& file) {
  std::error_code failed;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), failed);
  if (!session_.save(file, texts_)) return;
  remember_file(file.string());
  session_.say({false, texts_.format("ui.saved", {file.string()}), {}});
}

void Workspace::take_sheet(Sheet sheet, const std::string& answer) {
  if (sheet == Sheet::open) return open_file(answer);
  if (sheet == Sheet::export_figure) {
    settings_.export_as.asked = true;
    if (answer == kAddToRecipe) return add_to_recipe();
    return write_exported();
  }
  if (sheet == Sheet::scene) return save_scene();
  if (sheet == Sheet::leave) {
    leaves_ = true;
    if (actions_.close) actions_.close();
    return;
  }
  if (sheet == Sheet::import) return accept_import();
  if (sheet == Sheet::measured) {
    if (answer == kForgetMeasured) return forget_measured();
    return measuring_.cancel();
  }
  if (panels_.sheets.saving != Saved::scenario) return save_preset(answer);
  // What was typed as a name, not as a file, is the scenario's from now on. The one it has stands as it is.
  const std::string& typed = panels_.sheets.files.typed;
  if (typed.find('/') == std::string::npos && !typed.ends_with(".json") && typed != session_.scenario().name) {
    engine::Scenario renamed = session_.scenario();
    engine::set_name(renamed, typed);
    session_.update(std::move(renamed), false);
  }
  save_as(answer);
}

void Workspace::save_preset(const std::string& name) {
  const bool model = panels_.sheets.saving == Saved::model;
  const io::PresetKind kind = model ? io::PresetKind::model : io::PresetKind::cluster;
  const std::filesystem::path folder = preset_folder(session_.library(), kind);
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  engine::Scenario named = session_.scenario();
  const std::string id = file_stem(name);
  if (model) {
    engine::set_model_name(named.model, name);
    named.model.id = id;
  }
  const std::filesystem::path file = folder / (id + ".json");
  const std::string text = model ? io::write_model_preset(named.model, session_.library())
                                 : io::write_cluster_preset(named.cluster, name, session_.library());
  if (const auto failure = io::write_file_atomically(file, text)) {
    session_.say({true, io::to_text(*failure, texts_), {}});
    return;
  }
  session_.update(std::move(named), false);
  // Jobs go on with the presets they were started with.
  const auto anew = std::make_shared<const io::PresetLibrary>(preset_root(session_.library()));
  session_.use_presets(anew);
  tabs_.use_presets(anew);
  session_.say({false, texts_.format("ui.saved", {file.string()}), {}});
}

void Workspace::open_scenario_list() {
  list_.clear();
  std::vector<Option> options;
  const auto add = [&](std::string id, std::string text, std::string detail, bool separated) {
    options.push_back({std::move(text), std::move(detail), true, separated, static_cast<int>(list_.size())});
    list_.push_back(std::move(id));
  };
  int number = 0, selected = -1;
  for (const io::Preset& p : session_.library().list(io::PresetKind::scenario)) {
    ++number;
    if (p.id == session_.preset_id()) selected = number - 1;
    add(p.id, p.name, number <= 9 ? "Alt+" + std::to_string(number) : std::string(), false);
  }
  std::error_code failed;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator at(scenario_folder(), failed), end; !failed && at != end;
       at.increment(failed)) {
    const std::filesystem::path& path = at->path();
    std::error_code none;
    if (path.extension() == ".json" && session_.library().find_scenario_text(path.stem().string()) == nullptr)
      files.push_back(path);
    else if (std::filesystem::exists(path / kModelConfig, none))
      files.push_back(path / kModelConfig);
  }
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i < files.size(); ++i) {
    // A model's folder as it was downloaded is called after it.
    const bool model = files[i].filename() == kModelConfig;
    add(files[i].string(), model ? files[i].parent_path().filename().string() : files[i].stem().string(),
        model ? std::string(texts_.text("field.model.label")) : std::string(), i == 0);
  }
  const Probe::Place* name = probe_.find("scenario.name");
  interaction_.open_popup("scenario.list", name != nullptr ? name->rect : Rect{window_.centre().x, 40, 1, 1},
                          std::move(options), selected);
}

void Workspace::take_list_choice() {
  take_deck_choice();
  if (const auto tour = interaction_.popup_choice("tour.list");
      tour && *tour >= 0 && static_cast<std::size_t>(*tour) < list_.size())
    return open_tour(list_[static_cast<std::size_t>(*tour)], tour_places_[list_[static_cast<std::size_t>(*tour)]]);
  const auto choice = interaction_.popup_choice("scenario.list");
  if (choice && *choice >= 0 && static_cast<std::size_t>(*choice) < list_.size())
    open(list_[static_cast<std::size_t>(*choice)]);
}

}  // namespace roofscape::app
