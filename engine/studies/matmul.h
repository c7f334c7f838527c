// One matrix multiplication of the model on one chip over the rows it takes at a time: what the roofline lets it
// reach, and the critical batch from which arithmetic decides, for each mix of number types the chip has a peak for
// (scaling book, chapters 1, 7 and 12). FLOPs and bytes are those of the layer's operation in the plan; weights of
// experts that a rank holds are read whole.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/enum_table.h"
#include "engine/report/report.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

inline constexpr std::array kStudiedMatmuls{OperationKind::gate_up, OperationKind::down, OperationKind::qkv,
                                            OperationKind::attention_out, OperationKind::logits};

enum class DtypeMix : std::uint8_t {
  bf16,          // weights and arithmetic
  int8_weights,  // arithmetic in bf16
  int8,          // all
  fp8,           // all; only chips whose fp8 is faster than their bf16
};
inline constexpr EnumTable<DtypeMix> kDtypeMixIds{"bf16", "int8_weights", "int8", "fp8"};

struct MatmulLine {
  DtypeMix mix = DtypeMix::bf16;
  double peak = 0;                      // FLOP/s
  double weight_bytes = 0;              // that a call reads
  std::vector<double> flop_per_s;       // by MatmulStudy::rows
  std::optional<double> critical_rows;  // none: never limited by arithmetic
};

struct MatmulStudy {
  std::vector<double> rows;       // ascending, even in the logarithm; critical batches and rows_now are on it
  std::vector<MatmulLine> lines;  // bf16 first
  std::size_t own = 0;            // the line that computes as the plan does, where there is one; else bf16
  double rows_now = 0;            // tokens of a microbatch on one chip
  double flops_a_row = 0;
  bool known() const { return !lines.empty(); }
};

MatmulStudy matmul_study(const Scenario&, OperationKind which);

}  // namespace roofscape::engine
