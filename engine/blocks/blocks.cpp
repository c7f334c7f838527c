// The table of building blocks, and the inputs that many of them share.
#include "engine/blocks/spec.h"
#include "engine/model/layer_operations.h"

namespace roofscape::engine {

namespace block_table {

const Sourced* chip_figure(const Chip& chip, std::string_view field) {
  for (const ChipFieldRow& row : kChipFields)
    if (row.id == field) return chip[row.field].value ? &chip[row.field] : nullptr;
  return nullptr;
}

const Sourced* peak_of(const Chip& chip, const BlockCall& call) {
  const std::string_view dtype = call.word("dtype");
  return chip_figure(chip, dtype == "fp8"    ? "peak_fp8_dense_flops_per_s"
                           : dtype == "int8" ? "peak_int8_dense_ops_per_s"
                           : dtype == "int4" ? "peak_int4_dense_ops_per_s"
                           : dtype == "fp4"  ? "peak_fp4_dense_flops_per_s"
                           : dtype == "fp16" ? "peak_fp16_dense_flops_per_s"
                           : dtype == "tf32" ? "peak_tf32_dense_flops_per_s"
                           : dtype == "fp32" ? "peak_fp32_vector_flops_per_s"
                                             : "peak_bf16_dense_flops_per_s");
}

In dtype_input() { return choice("dtype", {"bf16", "fp16", "fp8", "int8", "int4", "fp4", "tf32", "fp32"}); }
In peak_input() { return number("peak_flops_per_s", Q::peak_flops).chip(peak_of); }
In hbm_input() { return number("hbm_bytes_per_s", Q::hbm_bandwidth).of("hbm_bytes_per_s"); }
In axis_input() {
  return number("axis_bytes_per_s", Q::ici_axis_bandwidth).of("ici_bytes_per_s_per_axis_bidirectional");
}
In element_input(double bytes) { return number("element_bytes", Q::element_width).def(bytes); }

std::vector<In> model_inputs() {
  using Shape = TransformerShape;
  const auto flag_of = [](std::string_view name, bool fallback, std::optional<double> (*of)(const Shape&)) {
    In in = flag(name, fallback);
    return in.model(of);
  };
  return {
      number("n_layers", Q::n_layers).model([](const Shape& m) { return std::optional<double>(m.n_layers); }),
      number("d_model", Q::d_model).model([](const Shape& m) { return std::optional<double>(m.d_model); }),
      number("d_ff", Q::d_ff).model([](const Shape& m) { return std::optional<double>(m.d_ff); }),
      number("n_heads", Q::n_heads).model([](const Shape& m) { return std::optional<double>(m.n_heads); }),
      number("n_kv_heads", Q::n_kv_heads)
          .model([](const Shape& m) { return std::optional<double>(m.n_kv_heads); })
          .from("n_heads", [](const BlockCall& c) { return std::optional(c.number("n_heads")); }),
      number("d_head", Q::d_head)
          .model([](const Shape& m) { return std::optional<double>(m.d_head); })
          .from("d_model / n_heads",
                [](const BlockCall& c) { return std::optional(c.number("d_model") / c.number("n_heads")); }),
      number("vocab_size", Q::vocab_size).model([](const Shape& m) { return std::optional<double>(m.vocab_size); }),
      flag_of("gated_mlp", true, [](const Shape& m) { return std::optional(m.gated_mlp ? 1.0 : 0.0); }),
      flag_of("tied_embeddings", false, [](const Shape& m) { return std::optional(m.tied_embeddings ? 1.0 : 0.0); })};
}

namespace {
LayerWidths<double> widths_of(const TransformerShape& m) {
  Inputs<double> in;
  in.model = make_model_dims<double>(m, nullptr);
  in.degrees.fill({1, 1.0});
  return layer_widths(in, LayerKey{});
}
std::optional<double> if_latent(const TransformerShape& m, double x) {
  return m.is_mla() ? std::optional(x) : std::nullopt;
}
}  // namespace

In attention_width_input() {
  return number("attention_width", Q::attention_width).model([](const TransformerShape& m) {
    return if_latent(m, widths_of(m).attention);
  });
}
std::vector<In> width_inputs() {
  return {number("active_d_ff", Q::active_ff).model([](const TransformerShape& m) {
            return m.is_moe() ? std::optional(widths_of(m).ff) : std::nullopt;
          }),
          attention_width_input(), number("kv_width", Q::kv_width).model([](const TransformerShape& m) {
            return if_latent(m, widths_of(m).kv);
          })};
}

}  // namespace block_table

std::span<const BuildingBlock> blocks() {
  static const std::vector<BuildingBlock> all = [] {
    std::vector<BuildingBlock> table;
    const auto add = [&table](BlockTopic topic, std::vector<BuildingBlock> family) {
      for (BuildingBlock& block : family) {
        block.topic = topic;
        table.push_back(std::move(block));
      }
    };
    add(BlockTopic::roofline, block_table::roofline_blocks());
    add(BlockTopic::hardware, block_table::hardware_blocks());
    add(BlockTopic::network, block_table::network_blocks());
    add(BlockTopic::sharding, block_table::sharding_blocks());
    add(BlockTopic::model, block_table::model_blocks());
    add(BlockTopic::memory, block_table::memory_blocks());
    add(BlockTopic::bounds, block_table::bounds_blocks());
    add(BlockTopic::parallelism, block_table::parallelism_blocks());
    add(BlockTopic::pipeline, block_table::pipeline_blocks());
    add(BlockTopic::run, block_table::run_blocks());
    add(BlockTopic::serving, block_table::serving_blocks());
    add(BlockTopic::serving, block_table::serving_limit_blocks());
    return table;
  }();
  return all;
}

const BuildingBlock* find_block(std::string_view id) {
  for (const BuildingBlock& block : blocks())
    if (block.id == id) return &block;
  return nullptr;
}

}  // namespace roofscape::engine
