#include "widgets/figures/search/figure_clusters_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/training/run.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/figure_head.h"

namespace roofscape::widgets::clusters {

using engine::ClusterAnswer;
using engine::ClusterRequest;
using engine::NamedCluster;

using Answers = std::vector<ClusterAnswer>;

Shown shown_of(const FigureInput& input) {
  const ClustersSeen none{.answers = {}, .among = {}, .waits = false};
  const ClustersSeen& seen = input.search != nullptr ? input.search->clusters : none;
  Shown shown{seen.answers, seen.request != nullptr ? *seen.request : ClusterRequest{}};
  if (!shown.answers.empty() || seen.waits) return shown;
  struct Key {
    engine::Scenario scenario;
    std::vector<NamedCluster> among;
    ClusterRequest request;
    bool operator==(const Key&) const = default;
  };
  const Key key{input.scenario, {seen.among.begin(), seen.among.end()}, shown.request};
  shown.answers = input.studies.get<Answers>(key, [&] {
    const std::vector<NamedCluster> among =
        key.among.empty() ? engine::clusters_around(input.scenario.cluster, input.scenario.cluster.chip.name)
                          : key.among;
    return engine::choose_cluster(input.scenario, among, key.request);
  });
  return shown;
}

double Measure::x(const ClusterAnswer& a) const {
  switch (over) {
    case Over::cost:
      return a.cost_usd;
    case Over::chips:
      return static_cast<double>(a.chips);
    case Over::energy:
      break;
  }
  return a.energy_kwh / kKwhPerMwh;
}

double Measure::y(const ClusterAnswer& a) const { return serves ? a.time_s * kMsPerS : engine::days_of(a.time_s); }

bool Measure::places(const ClusterAnswer& a) const {
  return a.runs && x(a) > 0 && y(a) > 0 && std::isfinite(x(a) + y(a));
}

std::string Measure::x_text(const TextTable& t, const ClusterAnswer& a) const {
  switch (over) {
    case Over::cost:
      return t.amount(a.cost_usd, engine::unit::dollars);
    case Over::chips:
      return format_count(static_cast<double>(a.chips));
    case Over::energy:
      break;
  }
  return t.amount(a.energy_kwh, engine::unit::kilowatt_hours);
}

std::string Measure::y_text(const TextTable& t, const ClusterAnswer& a) const {
  return serves ? format_duration(a.time_s) : t.amount(engine::days_of(a.time_s), engine::unit::days);
}

Measure measure_of(const FigureInput& input, const FigureView& view, std::span<const ClusterAnswer> answers) {
  Measure m{input.scenario.serves(), kOptions.chosen<Over>(view)};
  const auto is_priced = [](const ClusterAnswer& a) { return a.runs && std::isfinite(a.cost_usd); };
  if (m.over == Over::cost && std::none_of(answers.begin(), answers.end(), is_priced)) m.over = Over::chips;
  return m;
}

std::optional<ClusterAnswer> present_of(const FigureInput& input, const ClusterRequest& request) {
  return engine::present_answer({}, input.scenario, input.report, request);
}

std::string label_of(const FigureInput& input, std::span<const ClusterAnswer> answers, const ClusterAnswer& a) {
  const auto kind = [](const ClusterAnswer& b) -> const std::string& { return b.scenario.cluster.chip.name; };
  const bool one_kind = std::all_of(answers.begin(), answers.end(),
                                    [&](const ClusterAnswer&b) { return kind(b) == kind(answers.front()); }),
             one_count = std::all_of(answers.begin(), answers.end(),
                                     [&](const ClusterAnswer&b) { return b.chips == answers.front().chips; });
  const std::string count = format_count(static_cast<double>(a.chips)), chip = short_name(a.scenario.cluster.chip);
  const std::string label = one_kind    ? input.texts.format(chip_key(input, "figure.clusters.count"), {count})
                            : one_count ? chip
                                        : input.texts.format("figure.clusters.kind", {count, chip});
  return a.is_calibrated ? label : label + "*";
}

std::vector<const ClusterAnswer*> front_of(std::span<const ClusterAnswer> answers,
                                           const std::optional<ClusterAnswer>& present, const Measure& m) {
  std::vector<const ClusterAnswer*> out;
  for (const ClusterAnswer& a : answers)
    if (m.places(a)) out.push_back(&a);
  if (present && m.places(*present)) out.push_back(&*present);
  // Of those alike the answer, which has a name.
  std::stable_sort(out.begin(), out.end(), [&](const ClusterAnswer* a, const ClusterAnswer* b) {
    return std::pair(m.x(*a), m.y(*a)) < std::pair(m.x(*b), m.y(*b));
  });
  double fastest = std::numeric_limits<double>::infinity();
  std::erase_if(out, [&](const ClusterAnswer* a) {
    if (!(m.y(*a) < fastest)) return true;
    fastest = m.y(*a);
    return false;
  });
  return out;
}

}  // namespace roofscape::widgets::clusters
