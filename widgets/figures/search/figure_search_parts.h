// What the figures of a search share: the result they draw, how a plan is called, and what is said of one when
// pointed at.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/search/plan_dimensions.h"
#include "engine/search/search.h"
#include "engine/search/serving_search.h"
#include "widgets/figures/common/figure.h"

namespace roofscape::widgets::search {

// A result, of plans that train or of those that serve, with the scenario it belongs to. Null: there is none yet.
template <class Result>
struct ShownSearch {
  const Result* result = nullptr;
  const engine::Scenario* scenario = nullptr;
  double capacity_bytes = 0;  // 0: not known
  // Whether there is something to draw: some plan was priced, whether it fits or not.
  bool priced() const {
    return result != nullptr && result->finished && !(result->best.empty() && result->sample.empty());
  }
  bool fits() const { return result != nullptr && !result->best.empty(); }
  const auto& best() const { return result->best.front(); }
};
using TrainingShown = ShownSearch<engine::SearchResult>;
using ServingShown = ShownSearch<engine::ServingSearchResult>;
// The window's, or what it searches, or else the whole space, searched now and kept among the studies.
TrainingShown shown_of(const FigureInput& input);
ServingShown serving_shown_of(const FigureInput& input);

// The memory of a chip that evaluate() counts with; 0: not known.
double capacity_of(StudyCache& studies, const engine::Scenario& scenario);

// All plans of a result in one order, the index of the tags: the best, the front, the sample, the present plan.
struct AnyPlan {
  const engine::Plan* plan = nullptr;
  double step_time_s = 0, memory_bytes = 0;
  double mfu = 0;  // 0: not kept of this plan
  bool fits = true;
};
std::size_t plan_count(const engine::SearchResult& result);
AnyPlan plan_at(const engine::SearchResult& result, std::size_t index);
std::size_t front_index(const engine::SearchResult& result, std::size_t i);
std::size_t sample_index(const engine::SearchResult& result, std::size_t i);
std::size_t present_index(const engine::SearchResult& result);
// Nothing: the result has no such plan, or none is asked for.
std::optional<std::size_t> index_of(const engine::SearchResult& result, const std::optional<engine::Plan>& plan);

// "fsdp 128, tensor 8, pipeline 16"; one chip is "1 chip".
std::string plan_words(const TextTable& texts, const engine::Plan& plan);
// "keep all", "matmuls": what a layer keeps, in a word.
std::string policy_word(const TextTable& texts, engine::CheckpointPolicy policy);
std::string schedule_word(const TextTable& texts, const engine::Plan& plan);
// The name of a setting, as where it is pinned; and a value of it, or of another choice or number of plans.
std::string setting_label(const TextTable& texts, const engine::PlanDimension& setting);
std::string value_word(const TextTable& texts, const engine::PlanDimension& dimension, double value);
// "optimizer", "both": what is on the host; a dash: nothing.
std::string offload_word(const TextTable& texts, const engine::Plan& plan);
// What the other plan of the same mesh and schedule chooses otherwise: "ZeRO-3, offload: both".
std::string knobs_words(const TextTable& texts, const engine::Plan& plan, const engine::Plan& other);
// The choices of a plan as tab-separated text, and their names.
const std::string& plan_fields_head();
std::string plan_fields(const TextTable& texts, const engine::Plan& plan);
// "tensor: at most 8": what keeps a plan out of a search.
std::string limit_words(const TextTable& texts, const engine::BrokenLimit& limit);
// "does not fit", "outside of the limits (tensor: at most 8)": why the present plan does not count.
std::string broken_words(const TextTable& texts, const engine::BrokenConstraint& broken);
// "best 4.96 s in 67 GB; now does not count: does not fit", from the brief takeaway.
std::string takeaway_out(const FigureInput& input, FigureHead& head, const engine::BrokenConstraint& broken);
// "+12 %", "0 %".
std::string against_text(double value, double best);
// "67.1 GB, 84 %", or by how much it passes the capacity; 0: that is not known.
std::string memory_text(const FigureInput& input, double bytes, double capacity_bytes);
Readout readout_of(const FigureInput& input, const TrainingShown& shown, const AnyPlan& plan, bool present);

// What stands in the middle where there is nothing to draw.
std::string empty_text(const FigureInput& input, const TrainingShown& shown);
// That plans are being searched, how far where that is known, or that a person stopped it.
std::string none_yet_text(const FigureInput& input);
// "10 752 of 12 000".
std::string used_chips_words(const TextTable& texts, double used, double all);
// "10 752, 8192": of SearchResult::chip_counts those that leave chips idle; empty where none does.
std::string fewer_chips(std::span<const int> chip_counts);
// "4.96 s at 67 GB; this plan 9.23 s, +86 %".
FigureHead head_of(const FigureInput& input, std::string_view figure);

}  // namespace roofscape::widgets::search
