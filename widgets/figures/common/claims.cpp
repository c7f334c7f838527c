#include "widgets/figures/common/claims.h"

#include <utility>

#include "widgets/canvas/number_format.h"

namespace roofscape::widgets {

using engine::Q;
using From = Claim::From;

namespace {

double sum_of(const engine::Report& report, const Claim& claim) {
  double sum = 0;
  for (const Q q : claim.of) sum += report.quantities.value_or(q, 0);
  return claim.over ? sum / report.quantities.value_or(*claim.over, 0) : sum;
}

Claim valued(const FigureInput& input, Claim claim) {
  claim.value = claimed(input.report, input.baseline ? &input.baseline->report : nullptr, claim).value_or(0);
  return claim;
}

}  // namespace

std::string say(FigureHead& head, Claim claim) {
  std::string shown = claim.shown;
  head.claims.push_back(std::move(claim));
  return shown;
}

std::optional<double> claimed(const engine::Report& report, const engine::Report* baseline, const Claim& claim) {
  if (claim.from == From::report) return sum_of(report, claim);
  if (claim.from > From::growth || baseline == nullptr) return std::nullopt;
  const double then = sum_of(*baseline, claim);
  if (claim.from == From::baseline) return then;
  const double difference = sum_of(report, claim) - then;
  return claim.from == From::difference ? difference : difference / then;
}

Claim claim_of(const FigureInput& input, Q q) {
  Claim claim = valued(input, {{q}, {}, 0, {}});
  claim.shown = input.texts.amount(claim.value, engine::quantity(q).unit);
  return claim;
}

Claim claim_of(const FigureInput& input, Q q, std::string shown) {
  return valued(input, {{q}, {}, 0, std::move(shown)});
}

Claim share_claim(const FigureInput& input, std::vector<Q> of, Q over) {
  Claim claim = valued(input, {std::move(of), over, 0, {}});
  claim.shown = format_share(claim.value);
  return claim;
}

Claim baseline_claim(const FigureInput& input, Q q) {
  Claim claim = valued(input, {{q}, {}, 0, {}, From::baseline});
  claim.shown = input.texts.amount(claim.value, engine::quantity(q).unit);
  return claim;
}

Claim difference_claim(const FigureInput& input, Q q) {
  Claim claim = valued(input, {{q}, {}, 0, {}, From::difference});
  claim.shown = input.texts.amount(claim.value, engine::quantity(q).unit, {.sign = true});
  return claim;
}

Claim growth_claim(const FigureInput& input, Q q, std::string shown) {
  return valued(input, {{q}, {}, 0, std::move(shown), From::growth});
}

Claim data_claim(std::string column, double value, std::string shown) {
  return {{}, {}, value, std::move(shown), From::data, std::move(column)};
}

Claim own_claim(std::string definition, double value, std::string shown) {
  return {{}, {}, value, std::move(shown), From::own, std::move(definition)};
}

Claim beside_claim(std::string definition, double value, std::string shown) {
  return {{}, {}, value, std::move(shown), From::beside, std::move(definition)};
}

Claim name_claim(std::string name) { return {{}, {}, 0, std::move(name), From::name}; }

}  // namespace roofscape::widgets
