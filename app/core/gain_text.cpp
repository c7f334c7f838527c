#include "app/core/gain_text.h"

#include <cmath>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "widgets/canvas/number_format.h"

namespace roofscape::app {

std::string gain_text(const engine::Gain& gain, const widgets::TextTable& texts) {
  using engine::GainMeasure;
  if (gain.measure == GainMeasure::settles) return {};
  const std::string after =
      gain.after > 0 ? texts.amount(gain.after, gain.timed ? engine::unit::seconds : engine::unit::tokens_per_s)
                     : std::string();
  const double percent = 100 * gain.change();
  const std::string change = fmt::format("{}{:.{}f}\u202f%", percent < 0 ? "\u2212" : "+", std::abs(percent),
                                         std::abs(percent) < 10 ? 1 : 0);
  return texts.format("gain." + std::string(engine::kGainIds[gain.measure]),
                      {after, change, widgets::format(gain.memory_bytes, engine::unit::bytes)});
}

}  // namespace roofscape::app
