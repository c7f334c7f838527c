// The four cases of a sharded matrix multiplication (scaling book, chapter 3) on the model's MLP and the plan's
// tensor ranks: In [tokens, d_model] x W [d_model, d_ff] = Out, what has to move in each case and how long each way
// to do it takes; and the MLP's two matrices split by columns, then by rows, beside gathering before each (chapter
// 5).
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/collective_kind.h"
#include "engine/base/enum_table.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

enum class Split : std::uint8_t { none, rows, columns };
enum class Operand : std::uint8_t { in, weights, out, hidden };
inline constexpr EnumTable<Operand> kOperandIds{"in", "weights", "out", "hidden"};

// One collective of a way.
struct MatmulMove {
  CollectiveKind kind = CollectiveKind::all_gather;
  Operand operand = Operand::in;
  double bytes = 0, seconds = 0;
};

struct MatmulWay {
  std::vector<MatmulMove> moves;
  double math_s = 0;   // on one rank
  double moves_s = 0;  // all moves, one after the other
  double seconds = 0;  // the longer of both
};

struct MatmulCase {
  int number = 1;  // as the book counts
  Split in = Split::none, weights = Split::none, out = Split::none;
  bool partial = false;  // every rank has a part of the sum of all of Out
  std::vector<MatmulWay> ways;
};

struct ShardedMatmulStudy {
  int ranks = 1;         // the plan's tensor degree; where that is 1, a node's or a torus axis of four
  bool assumed = false;  // the plan has no tensor parallelism
  double rows = 0, contraction = 0, columns = 0;
  std::vector<MatmulCase> cases;
  MatmulWay gathered, column_row;  // of the two matrices of the MLP
  bool known() const { return !cases.empty(); }
};

ShardedMatmulStudy sharded_matmul_study(const Scenario&);

}  // namespace roofscape::engine
