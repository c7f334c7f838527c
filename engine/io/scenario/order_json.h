// The order of operations of a pipeline as part of a scenario's JSON, and from a CSV file of torch's
// (engine/pipeline/order_csv.h).
#pragma once

#include <string>
#include <string_view>

#include "engine/io/json/json_text.h"
#include "engine/pipeline/given_order.h"
#include "engine/scenario/scenario.h"

namespace roofscape::io {

// pipeline.order: a list of texts, a row of the CSV for each device. `pipeline`: the object it stands in. It stands for
// that object's "order_schedule"; where that is left out for its "schedule", where that can be.
Failure read_order(const Json& json, const Json& pipeline, std::string where, std::string_view file,
                   engine::Scenario& scenario);
// Into the members of `pipeline`, whose schedule is `schedule`.
void write_order(const engine::ListedOrder& order, engine::ScheduleKind schedule, OrderedJson& pipeline);

// Whether a text begins as such a file does: with an operation, a pair or a transfer. It need not be right.
bool is_order_csv(std::string_view text);
// The scenario runs the order of a file, with its schedule and chunks. An error names row and column.
Failure take_order_csv(std::string_view csv, std::string file, engine::Scenario& scenario);

}  // namespace roofscape::io
