// What the figure of clusters draws: the answers, what each comes to on the axes, and those that no other beats.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/search/cluster_choice.h"
#include "widgets/figures/common/figure.h"
#include "widgets/figures/common/figure_options.h"

namespace roofscape::widgets::clusters {

inline constexpr double kKwhPerMwh = 1e3;

struct Shown {
  std::span<const engine::ClusterAnswer> answers;  // none: nothing yet
  engine::ClusterRequest request;
};
// The window's, or else what is found now.
Shown shown_of(const FigureInput& input);

enum class Over : std::uint8_t { cost, chips, energy };
inline constexpr std::array<std::string_view, 3> kOvers{"cost", "chips", "energy"};
inline constexpr FigureOptions kOptions{OptionOf<Over>{"over", kOvers}};

// What an answer comes to on the axes: dollars, chips or megawatt-hours, and days or milliseconds.
struct Measure {
  bool serves = false;
  Over over = Over::cost;

  std::string_view id() const { return kOvers[static_cast<std::size_t>(over)]; }
  double x(const engine::ClusterAnswer& a) const;
  double y(const engine::ClusterAnswer& a) const;
  bool places(const engine::ClusterAnswer& a) const;
  std::string x_text(const TextTable& texts, const engine::ClusterAnswer& a) const;
  std::string y_text(const TextTable& texts, const engine::ClusterAnswer& a) const;
};
// By chips where cost is wanted and nothing has a price.
Measure measure_of(const FigureInput& input, const FigureView& view, std::span<const engine::ClusterAnswer> answers);

// What the scenario comes to as it is; nothing where it has no numbers.
std::optional<engine::ClusterAnswer> present_of(const FigureInput& input, const engine::ClusterRequest& request);

// What tells it from the others: "4 096 GPUs", or "H100 SXM", or both, "4 096 H100 SXM"; one without a published run has
// a star.
std::string label_of(const FigureInput& input, std::span<const engine::ClusterAnswer> answers,
                     const engine::ClusterAnswer& a);

// Those of the answers and of the present plan, where it has numbers, that have a place and that none of the others
// beats in both, by rising x.
std::vector<const engine::ClusterAnswer*> front_of(std::span<const engine::ClusterAnswer> answers,
                                                   const std::optional<engine::ClusterAnswer>& present,
                                                   const Measure& m);

}  // namespace roofscape::widgets::clusters
