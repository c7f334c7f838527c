#include "widgets/figures/search/figure_search_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/evaluate/evaluate.h"
#include "engine/scenario/checkpoint_policies.h"
#include "engine/scenario/mesh_size.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/training/figure_memory_parts.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape::widgets::search {

using engine::Plan;
using engine::SearchResult;
using engine::ServingSearchResult;
using memory::bytes_text;

namespace {

constexpr std::size_t kBest = 20, kSample = 1500;

struct Key {
  engine::Scenario scenario;
  engine::PlanSpace space;
  bool operator==(const Key&) const = default;
};

struct Capacity {
  double bytes = 0;
};

// The window's result, or else what `search_now` finds.
template <class Result, class SearchNow>
ShownSearch<Result> shown_search(const FigureInput& input, const Result* SearchSeen::*result, SearchNow search_now) {
  ShownSearch<Result> shown;
  if (input.search != nullptr && (input.search->*result != nullptr || input.search->waits)) {
    shown.result = input.search->*result;
    shown.scenario = input.search->scenario;
  } else {
    shown.scenario = &input.scenario;
    shown.result = &search_now();
  }
  if (shown.scenario != nullptr) shown.capacity_bytes = capacity_of(input.studies, *shown.scenario);
  return shown;
}

template <class Request>
Request for_picture(Request request) {
  request.limit = kBest;
  request.sample = kSample;
  request.merge_alike = true;
  return request;
}

}  // namespace

double capacity_of(StudyCache& studies, const engine::Scenario& scenario) {
  return studies
      .get<Capacity>(
          scenario,
          [&] { return Capacity{engine::evaluate(scenario).quantities.value_or(engine::Q::hbm_capacity, 0)}; })
      .bytes;
}

TrainingShown shown_of(const FigureInput& input) {
  return shown_search<SearchResult>(input, &SearchSeen::result, [&]() -> const SearchResult& {
    const engine::PlanSpace* space = input.search != nullptr ? input.search->space : nullptr;
    const Key key{input.scenario, space != nullptr ? *space : engine::space_of(input.scenario)};
    return input.studies.get<SearchResult>(key, [&] {
      engine::SearchRequest request;
      request.space = key.space;
      request.cells = true;
      return engine::search(input.scenario, for_picture(request));
    });
  });
}

ServingShown serving_shown_of(const FigureInput& input) {
  ServingShown shown =
      shown_search<ServingSearchResult>(input, &SearchSeen::serving, [&]() -> const ServingSearchResult& {
        return input.studies.get<ServingSearchResult>(input.scenario, [&] {
          return engine::search_serving(input.scenario, for_picture(engine::serving_request_of(input.scenario)));
        });
      });
  if (shown.result != nullptr) shown.capacity_bytes = shown.result->capacity_bytes;
  return shown;
}

std::size_t front_index(const SearchResult& result, std::size_t i) { return result.best.size() + i; }
std::size_t sample_index(const SearchResult& result, std::size_t i) {
  return front_index(result, result.front.size()) + i;
}
std::size_t present_index(const SearchResult& result) { return sample_index(result, result.sample.size()); }
std::size_t plan_count(const SearchResult& result) { return present_index(result) + 1; }

AnyPlan plan_at(const SearchResult& result, std::size_t index) {
  const auto of = [](const engine::RankedPlan& r) {
    return AnyPlan{&r.plan, r.step_time_s, r.memory_bytes, r.mfu, true};
  };
  if (index < result.best.size()) return of(result.best[index]);
  index -= result.best.size();
  if (index < result.front.size()) return of(result.front[index]);
  index -= result.front.size();
  if (index < result.sample.size()) {
    const engine::SampledPlan& s = result.sample[index];
    return {&s.plan, s.step_time_s, s.memory_bytes, 0, s.fits};
  }
  AnyPlan present = of(result.present);
  present.fits = !(result.present_shortage.missing_bytes > 0);
  return present;
}

std::optional<std::size_t> index_of(const SearchResult& result, const std::optional<Plan>& plan) {
  if (!plan) return std::nullopt;
  for (std::size_t i = 0; i < plan_count(result); ++i)
    if (*plan_at(result, i).plan == *plan) return i;
  return std::nullopt;
}

std::string plan_words(const TextTable& texts, const Plan& plan) {
  std::string out;
  const auto add = [&](std::string_view axis, int degree) {
    if (degree <= 1) return;
    if (!out.empty()) out += texts.text("figure.list_separator");
    out += texts.format("figure.axis." + std::string(axis), {format_count(degree)});
  };
  add("data", plan.data);
  add("fsdp", plan.fsdp);
  add("tensor", plan.tensor);
  add("context", plan.context);
  add("expert", plan.expert);
  add("pipeline", plan.pipeline);
  return out.empty() ? std::string(texts.text("figure.search.one_chip")) : out;
}

std::string policy_word(const TextTable& texts, engine::CheckpointPolicy policy) {
  return std::string(texts.text("figure.search.policy." + std::string(engine::policy_id(policy))));
}

std::string offload_word(const TextTable& texts, const Plan& plan) {
  const int which = (plan.offload_optimizer ? 1 : 0) + (plan.offload_activations ? 2 : 0);
  if (which == 0) return std::string(kNoValue);
  return std::string(texts.text("ui.search.offload." + std::to_string(which)));
}

std::string knobs_words(const TextTable& texts, const Plan& plan, const Plan& other) {
  std::string out;
  const auto add = [&](std::string words) {
    if (!out.empty()) out += texts.text("figure.list_separator");
    out += words;
  };
  if (other.policy != plan.policy) add(policy_word(texts, other.policy));
  if (other.microbatch_sequences != plan.microbatch_sequences)
    add(texts.format("figure.search.microbatch_of", {format_count(other.microbatch_sequences)}));
  if (other.zero_stage != plan.zero_stage)
    add(texts.format("figure.search.zero_of", {format_count(other.zero_stage)}));
  if (other.sequence_parallel != plan.sequence_parallel)
    add(std::string(texts.text(other.sequence_parallel ? "figure.search.sp" : "figure.search.no_sp")));
  if (other.offload_optimizer != plan.offload_optimizer || other.offload_activations != plan.offload_activations)
    add(other.offload_optimizer || other.offload_activations
            ? texts.format("figure.search.offload_of", {offload_word(texts, other)})
            : std::string(texts.text("figure.search.no_offload")));
  for (const engine::PlanDimension& dimension : engine::plan_dimensions())
    if (dimension.setting != nullptr && dimension.is_knob && dimension.get(other) != dimension.get(plan))
      add(texts.format("figure.search.setting_of",
                       {setting_label(texts, dimension), value_word(texts, dimension, dimension.get(other))}));
  return out;
}

std::string setting_label(const TextTable& texts, const engine::PlanDimension& setting) {
  return std::string(texts.text("ui.search.dimension." + std::string(setting.name)));
}

std::string value_word(const TextTable& texts, const engine::PlanDimension& dimension, double value) {
  if (dimension.field->kind == engine::FieldKind::number) return format(value, dimension.field->unit);
  if (dimension.field->kind != engine::FieldKind::choice) return format_count(value);
  return std::string(texts.text("choice." + std::string(dimension.path) + "." +
                                std::string(dimension.field->choices[static_cast<std::size_t>(value)])));
}

const std::string& plan_fields_head() {
  static const std::string kHead = [] {
    std::string head =
        "data\tfsdp\ttensor\tcontext\texpert\tpipeline\tzero\tsequence parallel\tmicrobatch\tschedule\tchunks\t"
        "checkpointing\toffload optimizer\toffload activations";
    for (const engine::PlanDimension& dimension : engine::plan_dimensions())
      if (dimension.setting != nullptr) {
        std::string name(dimension.name);
        std::ranges::replace(name, '_', ' ');
        head += "\t" + name;
      }
    return head;
  }();
  return kHead;
}

std::string plan_fields(const TextTable& texts, const Plan& p) {
  const auto yes = [](bool b) { return b ? "yes" : "no"; };
  std::string settings;
  for (const engine::PlanDimension& dimension : engine::plan_dimensions())
    if (dimension.setting != nullptr) settings += "\t" + value_word(texts, dimension, dimension.get(p));
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}{}", p.data, p.fsdp, p.tensor, p.context,
                     p.expert, p.pipeline, p.zero_stage, yes(p.sequence_parallel), p.microbatch_sequences,
                     engine::schedule_id(p.schedule), p.virtual_stages, policy_word(texts, p.policy),
                     yes(p.offload_optimizer), yes(p.offload_activations), settings);
}

std::string schedule_word(const TextTable& texts, const Plan& plan) {
  if (plan.pipeline == 1) return std::string(kNoValue);
  const std::string name(texts.text("choice.pipeline.schedule." + std::string(engine::schedule_id(plan.schedule))));
  return plan.virtual_stages > 1 ? texts.format("figure.search.chunks", {name, format_count(plan.virtual_stages)})
                                 : name;
}

namespace {
// A value of what a limit is of, in words: of a choice of plans that train, or of a number of those that serve.
std::string limit_value(const TextTable& t, std::string_view dimension, double value) {
  if (dimension == "policy") return policy_word(t, static_cast<engine::CheckpointPolicy>(value));
  const engine::PlanDimension* of = engine::find_plan_dimension(dimension);
  if (of != nullptr && of->field->kind == engine::FieldKind::boolean)
    return std::string(t.text(value != 0 ? "figure.mesh-map.limit.on" : "figure.mesh-map.limit.off"));
  return of != nullptr ? value_word(t, *of, value) : format_count(value);
}

}  // namespace

std::string limit_words(const TextTable& t, const engine::BrokenLimit& limit) {
  const engine::PlanDimension* of = engine::find_plan_dimension(limit.dimension);
  const std::string name = of != nullptr && of->setting != nullptr
                               ? setting_label(t, *of)
                               : std::string(t.text("figure.mesh-map.limit." + std::string(limit.dimension)));
  const engine::Allowed& a = limit.allowed;
  if (limit.dimension == "tensor_nodes") return name;
  if (!a.only.empty()) {
    std::string values;
    for (const double value : a.only) {
      if (!values.empty()) values += t.text("figure.list_separator");
      values += limit_value(t, limit.dimension, value);
    }
    return t.format("figure.mesh-map.limit.only", {name, values});
  }
  if (std::isfinite(a.max))
    return t.format("figure.mesh-map.limit.most", {name, limit_value(t, limit.dimension, a.max)});
  return t.format("figure.mesh-map.limit.least", {name, limit_value(t, limit.dimension, a.min)});
}

std::string broken_words(const TextTable& t, const engine::BrokenConstraint& broken) {
  const std::string key = "figure.search.out." + std::string(engine::kBrokenConstraintIds[broken.kind]);
  return broken.limit ? t.format(key, {limit_words(t, *broken.limit)}) : std::string(t.text(key));
}

std::string takeaway_out(const FigureInput& input, FigureHead& head, const engine::BrokenConstraint& broken) {
  const std::string words = say(head, name_claim(broken_words(input.texts, broken)));
  return input.texts.format("figure.search.takeaway.out", {head.brief, words});
}

std::string used_chips_words(const TextTable& texts, double used, double all) {
  return texts.format("clusters.used_chips", {format_count(used), format_count(all)});
}

std::string fewer_chips(std::span<const int> chip_counts) {
  std::string out;
  for (std::size_t i = 1; i < chip_counts.size(); ++i) out += (i > 1 ? ", " : "") + format_count(chip_counts[i]);
  return out;
}

std::string against_text(double value, double best) {
  const double percent = 100 * (value / best - 1);
  const double rounded = std::round(10 * percent) / 10;
  if (rounded == 0) return format_fixed(0, 1) + std::string(kNarrowSpace) + "%";
  // Rounded once: 319.48 is 319, not 320.
  return (rounded > 0 ? "+" : std::string(kMinus)) +
         format_fixed(std::abs(percent), std::abs(rounded) < 99.95 ? 1 : 0) + std::string(kNarrowSpace) + "%";
}

std::string memory_text(const FigureInput& input, double bytes, double capacity_bytes) {
  if (!(capacity_bytes > 0)) return bytes_text(bytes);
  if (bytes > capacity_bytes)
    return input.texts.format("figure.search.memory_over", {bytes_text(bytes), bytes_text(bytes - capacity_bytes)});
  return input.texts.format("figure.search.memory_of", {bytes_text(bytes), format_share(bytes / capacity_bytes)});
}

Readout readout_of(const FigureInput& input, const TrainingShown& shown, const AnyPlan& plan, bool present) {
  const TextTable& t = input.texts;
  const Plan& p = *plan.plan;
  Readout r;
  r.title = plan_words(t, p);
  if (present) r.title = t.format("figure.search.present", {r.title});
  std::string time = format_duration(plan.step_time_s);
  if (shown.fits() && plan.fits && !(present && shown.result->present_breaks))
    time = t.format("figure.search.time_against", {time, against_text(plan.step_time_s, shown.best().step_time_s)});
  r.rows.emplace_back(t.text("figure.search.time"), std::move(time));
  r.rows.emplace_back(t.text("figure.search.memory"), memory_text(input, plan.memory_bytes, shown.capacity_bytes));
  if (const double chips = engine::mesh_chips(p),
      all = static_cast<double>(engine::chip_count(shown.scenario->cluster));
      chips < all)
    r.rows.emplace_back(t.text("ui.search.column.chips"), used_chips_words(t, chips, all));
  if (!plan.fits)
    if (const engine::Shortage s = engine::shortage_of(*shown.scenario, p); s.missing_bytes > 0)
      r.rows.emplace_back(
          t.text("figure.search.fullest"),
          t.format("figure.search.fullest_stage", {format_count(s.device), quantity_label(t, s.part)}));
  const std::string separator(t.text("figure.list_separator"));
  if (p.pipeline > 1) r.rows.emplace_back(t.text("figure.search.schedule"), schedule_word(t, p));
  std::string layer = policy_word(t, p.policy) + separator +
                      t.format("figure.search.microbatch_of", {format_count(p.microbatch_sequences)}) + separator +
                      t.format("figure.search.zero_of", {format_count(p.zero_stage)});
  if (p.tensor > 1 && !p.sequence_parallel) layer += separator + std::string(t.text("figure.search.no_sp"));
  if (p.offload_optimizer || p.offload_activations)
    layer += separator + t.format("figure.search.offload_of", {offload_word(t, p)});
  r.rows.emplace_back(t.text("figure.search.keeps"), std::move(layer));
  return r;
}

std::string none_yet_text(const FigureInput& input) {
  const TextTable& t = input.texts;
  if (input.search != nullptr && input.search->stopped) return std::string(t.text("ui.search.cancelled"));
  if (input.search != nullptr && input.search->progress > 0)
    return t.format("ui.search.first", {format_share(input.search->progress)});
  return std::string(t.text("figure.search.none_yet"));
}

std::string empty_text(const FigureInput& input, const TrainingShown& shown) {
  const TextTable& t = input.texts;
  if (shown.result == nullptr) return none_yet_text(input);
  if (!shown.result->finished) return std::string(t.text("figure.search.unknown_chip"));
  return std::string(t.text("figure.search.nothing"));
}

FigureHead head_of(const FigureInput& input, std::string_view figure) {
  const TextTable& t = input.texts;
  FigureHead head;
  head.title = t.text("figure." + std::string(figure) + ".title");
  const TrainingShown shown = shown_of(input);
  if (shown.result == nullptr || !shown.result->finished) return head;
  if (!shown.fits()) {
    const double plans = static_cast<double>(shown.result->plans);
    head.takeaway = t.format("figure.search.takeaway.none",
                             {say(head, beside_claim("search.plans", plans, format_count(plans)))});
    return head;
  }
  // The one marked 1: another as fast may take less memory, and ends the front.
  const engine::RankedPlan& best = shown.best();
  const auto time = [&](double seconds) {
    return say(head, data_claim("step s", seconds, format_duration(seconds)));
  };
  head.brief = t.format("figure.search.takeaway.brief",
                        {time(best.step_time_s),
                         say(head, data_claim("memory bytes", best.memory_bytes, bytes_text(best.memory_bytes)))});
  head.takeaway = head.brief;
  const double now = shown.result->present.step_time_s;
  if (shown.result->present_breaks)
    head.takeaway = takeaway_out(input, head, *shown.result->present_breaks);
  else if (shown.result->present_legal && now > 0)
    head.takeaway =
        t.format("figure.search.takeaway", {head.brief, time(now),
                                            say(head, own_claim("search.against_best", now / best.step_time_s - 1,
                                                                against_text(now, best.step_time_s)))});
  return head;
}

}  // namespace roofscape::widgets::search
