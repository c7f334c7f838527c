// Pictures of blocks: every block has one, and it shows what the block answers.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "engine/blocks/block_picture.h"
#include "tests/engine/blocks/filled_call.h"
#include "tests/english.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::filled_call;

namespace {

std::string_view unit_of(const BlockOutput& o) { return quantity(o.q).unit.symbol; }

// The same question typed again, with this input at another value.
BlockResult answered(const BlockCall& call, std::string_view name, double x) {
  BlockCall other(call.block());
  for (const BlockInput& in : call.block().inputs) {
    std::string text;
    if (in.name == name)
      text = in.is_numeric() ? fmt::format("{}", x) : std::string(in.choices[static_cast<std::size_t>(x)]);
    else if (call.is_typed(in.name))
      text = fmt::format("{}", call.number(in.name));
    if (!text.empty()) REQUIRE_FALSE(other.set(in.name, text).has_value());
  }
  other.complete(call.chip(), call.model());
  return run_block_plain(other);
}

}  // namespace

TEST_CASE("every block has a picture, of its own inputs and of outputs of one unit") {
  for (const BuildingBlock& block : blocks()) {
    CAPTURE(block.id);
    const BlockPicture& picture = picture_of(block);
    CHECK_FALSE(picture.outputs.empty());
    if (!picture.over.empty()) CHECK(block.find_input(picture.over) != nullptr);
    std::set<std::string_view> units;
    for (const std::string_view name : picture.outputs) {
      CAPTURE(name);
      const auto found = std::find_if(block.outputs.begin(), block.outputs.end(),
                                      [name](const BlockOutput& o) { return o.name == name; });
      REQUIRE(found != block.outputs.end());
      CHECK(found->kind == OutputKind::number);
      units.insert(unit_of(*found));
    }
    CHECK(units.size() == 1);
  }
}

TEST_CASE("the picture of a block that knows its inputs has something to show") {
  for (const BuildingBlock& block : blocks()) {
    CAPTURE(block.id);
    const PictureData data = picture_data(filled_call(block), picture_of(block));
    CHECK_FALSE(data.lines.empty());
    CHECK(data.missing.empty());
  }
}

TEST_CASE("a picture shows what the block answers at each point, and nothing where it refuses") {
  for (const BuildingBlock& block : blocks()) {
    const BlockCall call = filled_call(block);
    const BlockPicture& picture = picture_of(block);
    const PictureData data = picture_data(call, picture);
    for (std::size_t i = 0; i < data.x.size(); i += 7) {
      CAPTURE(block.id);
      CAPTURE(data.x[i]);
      const BlockResult result = answered(call, picture.over, data.x[i]);
      for (const PictureLine& line : data.lines) {
        const BlockAnswer* answer = result.error ? nullptr : result.find(line.output->name);
        if (answer == nullptr || answer->is_absent())
          CHECK(std::isnan(line.y[i]));
        else
          CHECK(line.y[i] == answer->numbers.front());
      }
    }
  }
}

TEST_CASE("the present value is a point of the curve, with the answer of the block") {
  for (const BuildingBlock& block : blocks()) {
    CAPTURE(block.id);
    const BlockCall call = filled_call(block);
    const PictureData data = picture_data(call, picture_of(block));
    if (!data.now || data.over == nullptr) continue;
    const auto at = std::find(data.x.begin(), data.x.end(), *data.now);
    REQUIRE(at != data.x.end());
    const BlockResult result = run_block_plain(call);
    for (const PictureLine& line : data.lines)
      if (const BlockAnswer* answer = result.find(line.output->name); !answer->is_absent())
        CHECK(line.y[static_cast<std::size_t>(at - data.x.begin())] == answer->numbers.front());
  }
}

TEST_CASE("any input of a block can be the axis of its picture, and its values ascend inside the domain") {
  for (const BuildingBlock& block : blocks()) {
    if (block.id == "batching-simulation" || block.id == "pipeline") continue;  // each point is a simulation
    const BlockCall call = filled_call(block);
    for (const BlockInput* over : picture_inputs(block)) {
      CAPTURE(block.id);
      CAPTURE(over->name);
      const PictureAnswer asked = picture_with(block, over->name, {});
      REQUIRE_FALSE(asked.error.has_value());
      const PictureData data = picture_data(call, asked.picture);
      REQUIRE(data.x.size() >= 2);
      for (std::size_t i = 1; i < data.x.size(); ++i) CHECK(data.x[i] > data.x[i - 1]);
      if (over->is_numeric()) {
        CHECK(data.x.front() >= over->low);
        CHECK(data.x.back() <= over->high);
      }
    }
  }
}

TEST_CASE("a split that does not come out even has no number, and the others keep theirs") {
  BlockCall call(*find_block("sharded-matmul"));
  for (const auto& [name, text] : {std::pair{"rows", "1024"}, {"contraction_size", "6144"}, {"columns", "8192"}})
    REQUIRE_FALSE(call.set(name, text).has_value());
  call.complete(tests::library().find_chip("tpu-v5p"), nullptr);
  const std::vector<std::string> shown{"reduce_after_s"};
  const PictureAnswer asked = picture_with(call.block(), "contraction_ways", shown);
  const PictureData data = picture_data(call, asked.picture);
  REQUIRE(data.lines.size() == 1);
  const auto at = [&](double x) {
    return data.lines.front()
        .y[static_cast<std::size_t>(std::find(data.x.begin(), data.x.end(), x) - data.x.begin())];
  };
  CHECK(std::isnan(at(5)));
  CHECK(std::isfinite(at(6)));
  CHECK(std::isfinite(at(8)));
}

TEST_CASE("without what its outputs need a picture is empty and names it") {
  BlockCall call(*find_block("decode"));
  call.complete(tests::library().find_chip("h100-sxm"), nullptr);
  const PictureData data = picture_data(call, picture_of(call.block()));
  CHECK(data.lines.empty());
  CHECK(std::find(data.missing.begin(), data.missing.end(), "context") != data.missing.end());
}

TEST_CASE("a picture that cannot be is refused with what there is") {
  const BuildingBlock& block = *find_block("p2p");
  const auto error_of = [&](std::string_view over, std::vector<std::string> shown) {
    const PictureAnswer asked = picture_with(block, over, shown);
    REQUIRE(asked.error.has_value());
    return test::in_english(io::InputError{{}, asked.error->input, asked.error->message, asked.error->remedy});
  };
  CHECK(error_of("wrapped", {}) ==
        "over: wrapped is no input that a figure of p2p can be over; there are: bytes, axis_bytes_per_s, "
        "link_bytes_per_s, ports, hop_s, none");
  CHECK(error_of("", {"speed"}) ==
        "show: speed is no number that p2p answers; there are: hops, first_byte_s, transfer_s, time_s");
  CHECK(error_of("", {"time_s", "hops"}) == "show: hops has another unit than time_s; show outputs of one unit");
  const std::vector<std::string> list{"cumulative_chips"};
  const PictureAnswer asked = picture_with(*find_block("pod"), "chips_per_host", list);
  REQUIRE(asked.error.has_value());
  CHECK(test::in_english(asked.error->message) == "cumulative_chips is a list");
}
