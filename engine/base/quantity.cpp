#include "engine/base/quantity.h"

#include <algorithm>

namespace roofscape::engine {

// In the order of Q, which is that of the slots of a report: no formatter may sort them.
// clang-format off
constinit const std::array<Quantity, kQuantityCount> kQuantities{{
#define QUANTITY(name, id, symbol, unit, source) {id, symbol, unit, source},
#include "engine/base/report_quantities.def"
#include "engine/base/block_quantities.def"
#undef QUANTITY
}};
// clang-format on

IndexKind index_kind(const Quantity& row) {
  const std::size_t open = row.symbol.find('[');
  if (open == std::string_view::npos) return IndexKind::none;
  const std::string_view mark = row.symbol.substr(open, row.symbol.find(']') + 1 - open);
  return mark == "[]"     ? IndexKind::axis
         : mark == "[s]"  ? IndexKind::stage
         : mark == "[o]"  ? IndexKind::operation
         : mark == "[b]"  ? IndexKind::block
         : mark == "[la]" ? IndexKind::level_axis
         : mark == "[op]" ? IndexKind::product
         : mark == "[mx]" ? IndexKind::matrix
                          : IndexKind::block_axis;
}

bool is_of_a_run(Q q) {
  const Quantity& row = quantity(q);
  if (is_input(row)) return false;
  for (const Unit& timed : {unit::seconds, unit::tokens_per_s, unit::requests_per_s, unit::days, unit::hours,
                            unit::years, unit::kilowatt_hours, unit::chip_hours, unit::dollars})
    if (row.unit == timed) return true;
  for (const Q pure : {Q::mfu, Q::hfu, Q::pipeline_bubble_fraction, Q::pipeline_bubble_ideal,
                       Q::pipeline_bubble_to_work, Q::operation_achieved, Q::operation_share, Q::prefill_servers_q,
                       Q::prefill_chip_ratio, Q::prefill_load, Q::steady_load, Q::steady_batch, Q::max_batch,
                       Q::replica_max_batch, Q::critical_sequences, Q::serving_hour_tokens, Q::sustained_hour_tokens})
    if (q == pure) return true;
  return false;
}

std::optional<Q> find_quantity(std::string_view id) {
  const auto at =
      std::find_if(kQuantities.begin(), kQuantities.end(), [id](const Quantity& row) { return row.id == id; });
  if (at == kQuantities.end()) return std::nullopt;
  return static_cast<Q>(at - kQuantities.begin());
}

}  // namespace roofscape::engine
