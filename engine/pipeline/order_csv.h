// Orders as the CSV of torch.distributed.pipelining (its _PipelineScheduleRuntime._load_csv): a row a rank, a cell an
// operation as stage, kind, microbatch, such as 2F0; F forward, B whole backward, I input gradient, W weight
// gradient, (0F1;1B0)OVERLAP_F_B a pair that runs as one. Empty cells say nothing about time,
// only order; they are dropped, as is what moves data (SEND_F, RECV_F, SEND_B, RECV_B, UNSHARD,
// RESHARD, REDUCE_GRAD): the simulator sends what is needed when it is there. Numbers count from 0, as in torch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/sentence.h"
#include "engine/pipeline/schedule.h"

namespace roofscape::engine {

// What an order breaks, and where: row and column count from 1, as a spreadsheet shows them. Of an operation that is
// missing, the cell that waits for it or the end of the row that should have it.
struct OrderFault {
  std::size_t row = 0, column = 0;
  Sentence message;  // without the place
};
// "row 2, column 3: 1F0 stands a second time".
Sentence in_words(const OrderFault&);

struct OrderFromCsv {
  Orders orders;            // runs: every operation is there once and none waits forever
  std::size_t dropped = 0;  // cells of operations that move data
};

// `microbatches` of the step; 0: as many as the file names. Anything wrong leaves `out` without meaning. Stages that
// fall in two halves, of which no microbatch passes both, are two directions (Orders::route_length).
std::optional<OrderFault> read_order_csv(std::string_view text, std::uint32_t microbatches, OrderFromCsv& out);

// A row a device, without empty cells between.
std::string order_csv(const Orders&);

}  // namespace roofscape::engine
