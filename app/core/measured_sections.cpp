#include "app/core/measured_sections.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/core/text_columns.h"
#include "engine/base/utf8.h"
#include "engine/scenario/scenario_fields.h"
#include "widgets/canvas/number_format.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::app {

using namespace widgets;
using engine::MeasuredKernels;

namespace {

constexpr std::size_t kMostClosing = 6;

std::string seconds(double s) { return format_duration(s); }
std::string signed_seconds(double s) { return (s < 0 ? "-" : s > 0 ? "+" : "") + format_duration(std::abs(s)); }
std::string known(const std::optional<double>& value, std::string (*write)(double)) {
  return value ? write(*value) : std::string(kNoValue);
}
std::string percent(double share) { return format_percent(share); }
std::string bytes(double value) { return format(value, engine::unit::bytes); }
std::string tera(double value) { return format(value, engine::unit::flop); }

std::string difference(const std::optional<double>& predicted, const std::optional<double>& measured) {
  if (!predicted || !measured || *predicted <= 0) return std::string(kNoValue);
  const double share = *measured / *predicted - 1;
  return (share < 0 ? "-" : "+") + format_percent(std::abs(share));
}

class Sections {
 public:
  Sections(const MeasuredAnswer& answer, const TextTable& texts) : a_(answer), texts_(texts) {}

  std::vector<MeasuredSection> run() {
    headline();
    sum();
    kernels();
    collectives();
    idle();
    memory();
    closing();
    return std::move(out_);
  }

 private:
  std::string text(std::string_view key) const { return std::string(texts_.text(key)); }
  MeasuredSection& section(std::string_view title, std::vector<std::string_view> head) {
    MeasuredSection& out = out_.emplace_back();
    out.title = text(title);
    for (const std::string_view key : head) out.head.push_back(key.empty() ? std::string() : text(key));
    return out;
  }

  void headline() {
    const engine::MeasuredComparison& c = a_.comparison;
    MeasuredSection& s =
        section("measured.step", {"", "measured.predicted", "measured.measured", "measured.difference"});
    s.rows.push_back({text(c.step_follows ? "measured.step.follows" : "measured.step.time"),
                      known(c.predicted_s, seconds), known(c.measured_s, seconds),
                      difference(c.predicted_s, c.measured_s)});
    if (c.predicted_mfu || c.measured_mfu)
      s.rows.push_back({"MFU", known(c.predicted_mfu, percent), known(c.measured_mfu, percent),
                        difference(c.predicted_mfu, c.measured_mfu)});
    if (a_.run.mfu)
      s.rows.push_back(
          {text("measured.mfu.stated"), std::string(kNoValue), percent(*a_.run.mfu), std::string(kNoValue)});
    if (c.framework_flops)
      s.rows.push_back({text("measured.flops"), known(c.model_flops, tera), known(c.framework_flops, tera),
                        difference(c.model_flops, c.framework_flops)});
  }

  void sum() {
    const engine::MeasuredComparison& c = a_.comparison;
    if (!c.predicted_s || !c.measured_s) return;
    MeasuredSection& s =
        section("measured.sum", {"", "measured.predicted", "measured.measured", "measured.difference"});
    s.summed = true;
    for (const engine::StepTermRow& row : c.terms)
      s.rows.push_back({text("measured.term." + std::string(engine::kStepTerms[row.term])), seconds(row.predicted_s),
                        known(row.measured_s, seconds),
                        row.measured_s ? signed_seconds(*row.measured_s - row.predicted_s) : std::string(kNoValue)});
    s.rows.push_back({text("measured.unexplained"), {}, {}, signed_seconds(c.unexplained_s)});
    s.rows.push_back({text("measured.total"), seconds(*c.predicted_s), seconds(*c.measured_s),
                      signed_seconds(*c.measured_s - *c.predicted_s)});
  }

  void kernels() {
    if (!a_.run.kernels) return;
    const MeasuredKernels& k = *a_.run.kernels;
    MeasuredSection& s = section("measured.kernels", {"", "measured.calls", "measured.busy", "measured.own"});
    for (std::size_t i = 0; i < k.work.size(); ++i)
      if (k.work[i].count > 0)
        s.rows.push_back({text("measured.work." + std::string(engine::kWorkKinds.ids()[i])),
                          format_count(std::round(k.work[i].count)), seconds(k.work[i].seconds),
                          k.timeline ? seconds(k.work[i].own_s) : std::string(kNoValue)});
    for (const auto& [name, time] : k.unknown)
      s.rows.push_back({texts_.format("measured.kernel", {std::string(engine::whole_characters(name, 60))}),
                        {},
                        seconds(time),
                        {}});
  }

  void collectives() {
    if (!a_.run.kernels) return;
    const MeasuredKernels& k = *a_.run.kernels;
    MeasuredSection s;
    s.title = text("measured.collectives");
    for (const std::string_view key :
         {"", "measured.calls", "measured.busy", "measured.exposed", "measured.link", "measured.waiting"})
      s.head.push_back(key == std::string_view() ? std::string() : text(key));
    for (std::size_t i = 0; i < k.collectives.size(); ++i) {
      const engine::CollectiveTime& time = k.collectives[i];
      if (time.count <= 0) continue;
      s.rows.push_back({text("measured.collective." + std::string(engine::kMeasuredCollectives.ids()[i])),
                        format_count(std::round(time.count)), seconds(time.seconds),
                        k.timeline ? seconds(time.exposed_s) : std::string(kNoValue), known(time.link_s, seconds),
                        time.link_s ? seconds(time.seconds - *time.link_s) : std::string(kNoValue)});
    }
    if (!s.rows.empty()) out_.push_back(std::move(s));
  }

  void idle() {
    if (!a_.run.kernels || !a_.run.kernels->timeline) return;
    const MeasuredKernels& k = *a_.run.kernels;
    MeasuredSection& s = section("measured.idle", {"", "measured.measured"});
    if (k.idle_host_s + k.idle_launch_s > 0) {
      s.rows.push_back({text("measured.idle.host"), seconds(k.idle_host_s)});
      s.rows.push_back({text("measured.idle.launch"), seconds(k.idle_launch_s)});
    }
    if (k.idle_s > 0) s.rows.push_back({text("measured.idle.unknown"), seconds(k.idle_s)});
    if (s.rows.empty()) s.rows.push_back({text("measured.idle.none"), seconds(0)});
  }

  void memory() {
    const auto &allocated = a_.run.allocated_bytes, &reserved = a_.run.reserved_bytes;
    if (!allocated && !reserved) return;
    const auto &predicted = a_.comparison.predicted_bytes, &capacity = a_.comparison.capacity_bytes;
    MeasuredSection& s = section("measured.memory", {"", "measured.bytes", "measured.difference"});
    s.rows.push_back({text("measured.memory.predicted"), known(predicted, bytes), {}});
    if (allocated)
      s.rows.push_back({text("measured.memory.allocated"), bytes(*allocated), difference(predicted, allocated)});
    if (reserved) {
      s.rows.push_back({text("measured.memory.reserved"), bytes(*reserved), difference(predicted, reserved)});
      if (allocated) s.rows.push_back({text("measured.memory.cached"), bytes(*reserved - *allocated), {}});
      if (capacity) s.rows.push_back({text("measured.memory.outside"), bytes(*capacity - *reserved), {}});
    }
  }

  void closing() {
    if (!a_.comparison.predicted_s || !a_.comparison.measured_s) return;
    MeasuredSection& s = section("measured.closing", {"", "measured.now", "measured.needed", "measured.at_limit"});
    if (a_.closing.empty()) s.rows.push_back({text("measured.closing.none"), {}, {}, {}});
    std::size_t shown = 0;
    for (const engine::ClosingAssumption& row : a_.closing) {
      if (++shown > kMostClosing) break;
      const std::string label = "field." + std::string(row.field->path) + ".label";
      s.rows.push_back({texts_.has(label) ? text(label) : quantity_label(texts_, row.field->path),
                        texts_.amount(row.now, row.field->unit),
                        row.needed ? texts_.amount(*row.needed, row.field->unit) : text("measured.cannot"),
                        row.needed ? std::string(kNoValue) : seconds(row.furthest_step_s)});
    }
  }

  const MeasuredAnswer& a_;
  const TextTable& texts_;
  std::vector<MeasuredSection> out_;
};

}  // namespace

MeasuredAnswer measured_answer(const engine::Scenario& scenario, const engine::Report& report,
                               engine::MeasuredRun run) {
  MeasuredAnswer out{std::move(run), {}, {}};
  out.comparison = engine::compare_measured(scenario, report, out.run);
  if (out.comparison.measured_s) out.closing = engine::closing_assumptions(scenario, *out.comparison.measured_s);
  return out;
}

std::vector<MeasuredSection> measured_sections(const MeasuredAnswer& answer, const TextTable& texts) {
  return Sections(answer, texts).run();
}

std::string measured_text(const MeasuredAnswer& answer, const TextTable& texts) {
  std::string out;
  for (const MeasuredSection& section : measured_sections(answer, texts)) {
    std::vector<bool> right(section.head.size(), true);
    right.front() = false;
    Columns table(std::move(right));
    table.add(section.head);
    for (const auto& row : section.rows) table.add(row);
    out += (out.empty() ? "" : "\n") + section.title + '\n' + table.text(2);
  }
  return out;
}

}  // namespace roofscape::app
