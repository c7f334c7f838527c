// What no model can be, whatever is done with it. Shared by everything that takes a shape: diagnostics of scenarios (the
// window's editor and imports show these), and the building blocks that count a model.
#pragma once

#include <optional>
#include <string_view>

#include "engine/model/transformer_shape.h"

namespace roofscape::engine {

struct ModelFault {
  std::string_view code;    // of the diagnostic
  std::string_view field;   // scenario field to blame
  double value = 0, limit = 0;  // what stands there, and what it may not exceed, or has to divide
  std::optional<double> fix;    // a value of the field that is possible
};

// The first such fault; none: the shape can be counted.
std::optional<ModelFault> model_fault(const TransformerShape&);

}  // namespace roofscape::engine
