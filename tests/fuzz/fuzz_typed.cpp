// What is typed, and small files: the first byte chooses the reader, the rest is its text, where a reader takes several
// words one a line. What is taken lies in its domain and comes back as it was; what is not is refused in one line. Run by
// libFuzzer.
#include <cmath>
#include <cstdio>
#include <vector>

#include "app/session/settings.h"
#include "engine/base/read_number.h"
#include "engine/evaluate/evaluate.h"
#include "engine/io/export/block_json.h"
#include "engine/io/export/sweep.h"
#include "engine/io/import/named_clusters.h"
#include "engine/io/import/open_scenario.h"
#include "engine/io/scenario/figure_file.h"
#include "engine/io/scenario/layer_layout.h"
#include "engine/io/scenario/order_json.h"
#include "engine/io/tour/formula.h"
#include "engine/search/plan_space.h"
#include "tests/engine/invariants.h"
#include "tests/fuzz/fuzz_words.h"
#include "widgets/canvas/theme.h"

namespace {

using namespace roofscape;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

std::vector<std::string> lines_of(std::string_view text) {
  constexpr std::size_t kMostLines = 12;
  std::vector<std::string> lines;
  while (!text.empty() && lines.size() < kMostLines) {
    const std::size_t cut = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, cut));
    text.remove_prefix(std::min(cut + 1, text.size()));
  }
  return lines;
}

template <class Read>
bool answered(const Read& read) {
  if (!read) fuzz::one_line(read.error());
  return read.ok();
}

const engine::Scenario& plan(const char* id) {
  static const engine::Scenario training = [] {
    engine::Scenario s = io::load_scenario("llama3-8b-8-h100", fuzz::library()).value();
    s.parallelism.fsdp = 4, s.parallelism.pipeline = 2;
    return s;
  }();
  static const engine::Scenario serving = io::load_scenario("llama3-70b-serving-8-h100", fuzz::library()).value();
  return std::string_view(id) == "training" ? training : serving;
}

// A chip, a model and an order may be files, which are not what is tried here.
bool names_a_file(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.find('.') == 0 || text.starts_with("pipeline.order=");
}

void assignments(std::string_view text) {
  for (const char* id : {"training", "serving"}) {
    engine::Scenario s = plan(id);
    for (const std::string& line : lines_of(text)) {
      if (names_a_file(line)) continue;
      const engine::Scenario before = s;
      if (const auto failure = io::set_field(s, line, fuzz::library())) {
        fuzz::one_line(*failure);
        expect(s == before, "a refused assignment changed the scenario");
      }
    }
    for (const engine::Field& field : engine::scenario_fields())
      expect(engine::in_domain(field, field.get(s)), "a field outside of its domain");
    expect(tests::round_trip_fault(s, fuzz::library()).empty(), "a scenario that is not read back");
    if (engine::chip_count(s.cluster) <= 1 << 20)
      expect(tests::report_fault(engine::evaluate(s)).empty(), "a report with a fault");
  }
}

void calculation(std::string_view text) {
  std::vector<std::string> words = lines_of(text);
  if (words.empty()) return;
  const std::string block = std::move(words.front());
  words.erase(words.begin());
  for (const std::string& word : words)
    if (names_a_file(word)) return;
  const auto question = io::read_block_question(block, words, fuzz::library());
  if (!answered(question)) return;
  const auto result = io::answer(question.value());
  if (!answered(result)) return;
  for (const engine::BlockAnswer& one : result->answers)
    for (const double x : one.numbers) expect(std::isfinite(x), "an answer that is no number");
  (void)io::block_json(question.value(), result.value());
}

void formulas(std::string_view text) {
  engine::Sentence problem;
  const auto pieces = io::cut_text(text, problem);
  if (!pieces) return fuzz::one_line({"fuzz", {}, problem, {}});
  for (const io::TourPiece& piece : *pieces) {
    const auto value = piece.formula.compute([](const io::TourReference& name) -> std::optional<io::TourNumber> {
      if (name.name.size() % 5 == 0) return std::nullopt;
      return io::TourNumber{static_cast<double>(name.name.size()) - 4,
                            name.name.size() % 2 == 0 ? engine::unit::seconds : engine::unit::one};
    });
    expect(!value || std::isfinite(value->value), "a formula that is no number");
    const auto again = io::TourFormula::parse(piece.formula.text(), problem);
    expect(piece.formula.empty() || again.has_value(), "a formula's own text is none");
  }
}

void orders(std::string_view text) {
  engine::Scenario s = plan("training");
  if (const auto failure = io::take_order_csv(text, "fuzz.csv", s)) return fuzz::one_line(*failure);
  expect(tests::round_trip_fault(s, fuzz::library()).empty(), "an order that is not read back");
  expect(tests::report_fault(engine::evaluate(s)).empty(), "a report with a fault");
}

void layouts(std::string_view text) {
  (void)io::is_layer_layout(text);
  const auto layers = io::read_layer_layout(text);
  if (!answered(layers)) return;
  const auto again = io::read_layer_layout(io::megatron_layout(layers.value()));
  expect(again.ok() && again.value() == layers.value(), "a layout that is not read back");
}

void settings(std::string_view text) {
  const auto read = app::settings_in(text, "fuzz.json");
  if (!answered(read)) return;
  const auto again = app::settings_in(app::settings_text(read.value()), "again.json");
  expect(again.ok() && again.value() == read.value(), "settings that are not read back");
}

void themes(std::string_view text) {
  const auto read = io::read_flat_map(text, "fuzz.json");
  if (!answered(read)) return;
  try {
    const widgets::Theme theme = widgets::Theme::from_tokens(read.value());
    expect(std::isfinite(theme.data_width) && std::isfinite(theme.marker_size), "a width that is no number");
  } catch (const widgets::ThemeError&) {
  }
}

void strings(std::string_view text) {
  const auto read = io::read_flat_map(text, "fuzz.json");
  if (!answered(read)) return;
  for (const char* language : {"en", "ko", "ru"}) {
    const widgets::TextTable table({read->begin(), read->end()}, language);
    for (const auto& [key, value] : read.value()) {
      (void)table.format(key, {"1", "two"});
      (void)table.count(key, 2, {"x"});
    }
    (void)table.amount(2.5, engine::unit::layers);
    (void)table.write(engine::say("error.give", std::string("a")));
  }
}

void numbers(std::string_view text) {
  for (const engine::Field& field : engine::scenario_fields()) {
    const engine::NumberReading read = engine::read_number(text, field.unit);
    expect(read ? std::isfinite(*read) : !read.problem.empty(), "a number that is none");
  }
}

void constraints(std::string_view text) {
  engine::PlanSpace space = engine::space_of(plan("training"));
  for (const std::string& line : lines_of(text)) {
    const std::size_t cut = std::min(line.find('='), line.size());
    const std::string_view value = std::string_view(line).substr(std::min(cut + 1, line.size()));
    for (const auto how :
         {engine::ConstraintKind::pinned, engine::ConstraintKind::at_least, engine::ConstraintKind::at_most})
      if (const auto error = engine::constrain(space, std::string_view(line).substr(0, cut), value, how))
        fuzz::one_line({"fuzz", {}, error->message, error->remedy});
  }
}

void sweeps(std::string_view text) {
  std::vector<io::VariedField> varied;
  std::size_t rows = 1;
  for (const std::string& line : lines_of(text)) {
    if (names_a_file(line)) return;
    auto field = io::read_varied_field(line);
    if (!answered(field)) return;
    rows *= field->values.size();
    varied.push_back(std::move(field).value());
    if (rows > 64) return;
  }
  const auto quantities = io::read_sweep_quantities("", engine::WorkloadKind::serving);
  if (!varied.empty() && answered(quantities)) {
    const auto table = io::run_sweep(plan("serving"), std::move(varied), quantities.value(), fuzz::library());
    if (answered(table)) (void)io::sweep_csv(table.value());
  }
}

void launch_words(std::string_view text) {
  for (const std::string& word : lines_of(text))
    if (names_a_file(word)) return;
  (void)answered(io::open_words(lines_of(text), {"h100-sxm:64", {}}, fuzz::library()));
}

void clusters(std::string_view text) {
  if (names_a_file(text)) return;
  std::vector<engine::NamedCluster> named;
  if (const auto error = io::add_named_clusters(text, "--on", fuzz::library(), named)) fuzz::one_line(*error);
  expect(named.size() <= io::kMostNamedClusters + 20, "more clusters than there may be");
  for (const engine::NamedCluster& one : named)
    expect(engine::chip_count(one.cluster) >= 1, "a cluster without chips");
}

void pictures(std::string_view bytes) {
  if (io::is_picture(bytes)) (void)answered(io::scenario_in_file(std::string(bytes), "fuzz.png", fuzz::library()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr void (*kReaders[])(std::string_view) = {assignments, calculation,  formulas, orders,  layouts,
                                                    settings,    themes,       strings,  numbers, sweeps,
                                                    constraints, launch_words, pictures, clusters};
  if (size == 0) return 0;
  // Letters, so that the files to begin with can be read: "a" assigns, "b" calculates.
  const auto reader = static_cast<std::size_t>(static_cast<std::uint8_t>(data[0] - 'a')) % std::size(kReaders);
  kReaders[reader](fuzz::text_of(data + 1, size - 1));
  return 0;
}
