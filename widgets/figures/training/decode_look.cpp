#include "widgets/figures/training/decode_look.h"

#include "widgets/figures/common/quantity_look.h"
#include "widgets/figures/training/time_bars.h"

namespace roofscape::widgets {

using engine::Q;

namespace {

StepPart busiest_axis(const engine::Report& report) {
  const engine::CollectiveRow* longest = nullptr;
  for (const engine::CollectiveRow& row : report.collectives)
    if (longest == nullptr || row.time_s * row.calls_per_step > longest->time_s * longest->calls_per_step)
      longest = &row;
  return longest == nullptr ? StepPart::tensor : look_of(longest->axis);
}

}  // namespace

Q decides_decode(const engine::Report& report, Q part) {
  const auto longer = [&report](Q a, Q b) { return seconds_of(report, a) >= seconds_of(report, b) ? a : b; };
  if (part == Q::decode_attention) return longer(Q::decode_kv_read, Q::decode_attention_math);
  if (part == Q::decode_linear) return longer(Q::decode_weight_read, Q::decode_flops_time);
  return part;
}

Fill look_of_decode(const FigureInput& input, Q what, float em) {
  const bool network = what == Q::decode_exposed || what == Q::decode_network || what == Q::prefill_exposed;
  return network ? fill_of(input.theme, busiest_axis(input.report), em) : fill_of(input.theme, what, em);
}

}  // namespace roofscape::widgets
