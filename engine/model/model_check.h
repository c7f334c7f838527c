// What no model can be, whatever is done with it. Shared by everything that takes a shape: diagnostics of scenarios (the
// window's editor and imports show these), and the building blocks that count a model.
#pragma once

#include <optional>
#include <string_view>

#include "engine/base/fixed_list.h"
#include "engine/scenario/transformer_shape.h"

namespace roofscape::engine {

struct ModelEdit {
  std::string_view field;  // of a scenario
  double value = 0;
};

struct ModelFault {
  std::string_view code;                // of the diagnostic
  std::string_view field;               // scenario field to blame
  double value = 0, limit = 0;          // what stands there, and what it may not exceed, or has to divide
  FixedList<ModelEdit, 2> remedy = {};  // the nearest shape without this fault
};

// The first such fault; none: the shape can be counted.
std::optional<ModelFault> model_fault(const TransformerShape&);

}  // namespace roofscape::engine
